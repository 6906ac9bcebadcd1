"""The map of the missile envelope looked up a second time, in float64, from csrc/RULES.md alone.

And a map that is none of any missile's: whatever is the wrong way round shows in it.
"""

from dataclasses import dataclass
from itertools import product
from math import atan2, cos, pi, sin

import numpy as np

from midrange_puffer import _core
from midrange_puffer.game.envelope import Envelope


def turn(start: float, end: float) -> float:
    """Returns the angle from one direction to another, counter-clockwise, in [-pi, pi]."""
    return atan2(sin(end - start), cos(end - start))


def diamond(angle: float) -> float:
    """Returns the diamond angle, -2 ... 2, of one in radians, -pi ... pi."""
    flat = abs(sin(angle)) / (abs(sin(angle)) + abs(cos(angle)))
    flat = flat if abs(angle) < pi / 2 else 2 - flat
    return flat if angle >= 0 else -flat


def along(place: float, nodes: int) -> list[tuple[int, float]]:
    """Returns the nodes on both sides of a place on an axis and their weights."""
    below = min(int(place), nodes - 2)
    return [(below, 1 - (place - below)), (below + 1, place - below)]


def look_up(
    envelope: Envelope,
    ranges: np.ndarray,
    nose: float,
    aspect: float,
    launch_speed: float,
    target_speed: float,
) -> float:
    """Returns the map's ranges [m].

    Args:
        ranges: one of the envelope's.
        nose: from the line to the target to the shooter's velocity [rad].
        aspect: from the line to the shooter to the target's velocity [rad].
        launch_speed, target_speed: [m/s].
    """
    if nose < 0:
        nose, aspect = -nose, -aspect
    offs, aspects, *speeds = ranges.shape
    axes = [
        along(diamond(nose) / 2 * (offs - 1), offs),
        along((diamond(aspect) + 2) / 4 * aspects, aspects + 1),
    ]
    known = (envelope.launch_speeds, envelope.target_speeds)
    for speed, at, nodes in zip((launch_speed, target_speed), known, speeds, strict=True):
        axes.append(along(float(np.interp(speed, at, range(nodes))), nodes))
    total = 0.0
    for corners in product(*axes):
        (off, _), (side, _), (launch, _), (target, _) = corners
        weight = np.prod([weight for _, weight in corners])
        total += weight * float(ranges[off, side % aspects, launch, target])
    return total


def reach_of(
    envelope: Envelope, ranges: np.ndarray, shooter: dict[str, float], target: dict[str, float]
) -> float:
    """Returns the ranges of two fighters, each with x, y, speed, and vx and vy of any length."""
    line = atan2(target["y"] - shooter["y"], target["x"] - shooter["x"])
    nose = turn(line, atan2(shooter["vy"], shooter["vx"]))
    aspect = turn(line + pi, atan2(target["vy"], target["vx"]))
    return look_up(envelope, ranges, nose, aspect, shooter["speed"], target["speed"])


@dataclass(frozen=True)
class Crooked:
    """A map in which no two places are alike; a shot dead ahead or astern has no side, though."""

    launch_speeds: tuple[float, ...] = (220.0, 300.0, 380.0)
    target_speeds: tuple[float, ...] = (180.0, 330.0, 480.0)

    def _ranges(self, factor: int) -> np.ndarray:
        """Draws ranges as tests/support/state_hash.c does."""
        off, aspect, launch, target = np.indices(_core.MAP_SHAPE)
        offs, aspects, _, _ = _core.MAP_SHAPE
        one_side = np.minimum(aspect, aspects - aspect)
        aspect = np.where(off % (offs - 1) == 0, one_side, aspect)
        scattered = (7 * off + 5 * aspect + 11 * launch + 13 * target) * factor % 23
        return (4000 + 900 * scattered).astype(np.float32)

    @property
    def aero(self) -> np.ndarray:
        """[m], as all four."""
        return self._ranges(3)

    @property
    def nez(self) -> np.ndarray:
        """Not within R_aero: the core need not care."""
        return self._ranges(5)

    @property
    def cold(self) -> np.ndarray:
        """Neither."""
        return self._ranges(7)

    @property
    def minimum(self) -> np.ndarray:
        """In half of all places beyond R_NEZ."""
        return self._ranges(9)
