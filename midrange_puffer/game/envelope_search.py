"""The search for missile envelopes: a grid of geometries, bounds of ranges, and edges of hits.

The search flies shots by a function that the caller gives. It takes any ranges of a cell (one
geometry of the grid) and returns which of them hit. These ranges need not be one interval. So the
search first scans all ranges with some spacing: it sees and counts all stretches of hits and all
gaps that are longer than this spacing. It then refines each edge: a range that hits, with a range
that misses at most `RESOLUTION` beyond it.

Where hits and misses alternate within the spacing, the result is one of several such edges. This
happens within some hundred metres of the longest range of a hit. There it matters whether the
missile arrives before the physics step in which it is spent.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike

from midrange_puffer import _core

RESOLUTION = 50.0  # m
# Spacing of the scan: a share of the range, within limits [m]. It is finer at short ranges, where
# one turn more or less of the target decides.
SPACING, LEAST_SPACING, MOST_SPACING = 0.07, 100.0, 2500.0
# Spacing of a coarse scan, which takes about half the time and may overlook short stretches.
COARSE_SPACING, COARSE_LEAST = 0.15, 200.0
POINTS = 7  # shots at once between a hit and a miss; two rounds do, as (7 + 1)^2 > 2500 / 50

LONGEST_FLIGHT = 300.0  # s; the core ends a fly-out then
FARTHEST = 400_000.0  # m, end of the search: twice the longest range at a start
FALL = 15_000.0  # m, that a missile may fall to its target
_STEP = 0.25  # s, time step of `_straight_flight`
_MARGIN, _MARGIN_SHARE = 100.0, 0.01  # m and share of the range: error of _STEP


@dataclass(frozen=True)
class Grid:
    """Geometries of a shot: off-boresight angle, aspect, and the speeds of launcher and target.

    The off-boresight angle is the angle from the line launcher-target to the launcher's nose,
    positive to the left. The grid has only noses to the left; others are mirrored. The aspect is
    the angle from the line target-launcher to the target's velocity, positive counter-clockwise.

    The nodes of both are spaced evenly in diamond angles, which need no trigonometric function. A
    diamond angle has the sign of the angle. Its size is d = |sin| / (|cos| + |sin|) ahead (cos >=
    0) and 2 - d behind: 0, 1 and 2 at 0, 90 and 180 degrees.

    Attributes:
        off: number of nodes from 0, nose-on, to 2, tail-on.
        aspect: number of nodes from -2, tail-on, over 0, nose-on, up to the one before 2, which
            would be tail-on again; even.
        launch_speeds, target_speeds: rising [m/s].
    """

    off: int
    aspect: int
    launch_speeds: tuple[float, ...]
    target_speeds: tuple[float, ...]

    @property
    def shape(self) -> tuple[int, int, int, int]:
        """Number of nodes of each axis."""
        return self.off, self.aspect, len(self.launch_speeds), len(self.target_speeds)

    @property
    def off_angles(self) -> np.ndarray:
        """Diamond angles of the off-boresight nodes, [off]."""
        return np.linspace(0, 2, self.off)

    @property
    def aspect_angles(self) -> np.ndarray:
        """Diamond angles of the aspect nodes, [aspect]."""
        return np.arange(self.aspect) * 4 / self.aspect - 2

    def aspect_node(self, angle: float) -> int:
        """Returns the index of the node nearest to an aspect, given as a diamond angle."""
        distance = np.abs(self.aspect_angles - angle)
        return int(np.minimum(distance, 4 - distance).argmin())

    def shots(self) -> np.ndarray:
        """Returns a shot for every cell, `_core.SHOT` [cells], with range and evasion 0."""
        shots = np.zeros(self.shape, _core.SHOT)
        shots["nose"] = direction(self.off_angles)[:, None, None, None]
        shots["aspect"] = direction(self.aspect_angles)[:, None, None]
        shots["launch_speed"] = np.array(self.launch_speeds)[:, None]
        shots["target_speed"] = self.target_speeds
        return shots.ravel()


def direction(diamond: np.ndarray) -> np.ndarray:
    """Returns the unit vectors of diamond angles between -2 and 2, float32 [..., 2]."""
    size = np.abs(diamond)
    vector = np.stack([1 - size, np.copysign(np.minimum(size, 2 - size), diamond)], axis=-1)
    return (vector / np.linalg.norm(vector, axis=-1, keepdims=True)).astype(np.float32)


# The longest possible range of a hit


def farthest(
    parameters: Mapping[str, float],
    aspect: np.ndarray,
    launch_speeds: ArrayLike,
    target_speeds: ArrayLike,
) -> np.ndarray:
    """Returns ranges [m] beyond which no shot hits a target that flies on, at most `FARTHEST`.

    It assumes a missile that flies straight to the meeting point, since any turn would slow it
    down, and any target speed between the present one and the one that the target can hold.

    Args:
        parameters: the parameters of flight and missiles.
        aspect: float [aspects, 2], unit vectors of the target's velocity in a frame whose x axis
            points from the target to the launcher.
        launch_speeds, target_speeds: [launches] and [targets], m/s.

    Returns:
        float64 [aspects, launches, targets].
    """
    times, reach = _straight_flight(parameters, np.asarray(launch_speeds, float))
    times, reach = times[:, None, None, None], reach[:, None, :, None]
    ahead, aside = np.abs(aspect.T.astype(float))[:, :, None, None]
    ahead = np.copysign(ahead, aspect[:, 0, None, None])
    speeds = np.asarray(target_speeds, float)
    held = np.minimum(speeds, _top_speed(parameters))
    # By the law of cosines, a target that is met after flying `way` was launched at from a range of
    # way * ahead + sqrt(reach^2 - (way * aside)^2). The maximum is at way = reach * ahead / aside.
    with np.errstate(divide="ignore"):
        way = np.clip(reach * ahead / aside, held * times, speeds * times)
    room = reach**2 - (way * aside) ** 2
    ranges = np.where(room >= 0, way * ahead + np.sqrt(np.maximum(room, 0)), 0)
    return np.minimum((1 + _MARGIN_SHARE) * ranges.max(axis=0) + _MARGIN, FARTHEST)


def farthest_with_height(
    missile: Mapping[str, float],
    aspect: np.ndarray,
    launch_speeds: ArrayLike,
    target_speeds: ArrayLike,
) -> np.ndarray:
    """Returns ranges [m] beyond which no shot hits with height, at most `FARTHEST`.

    It assumes a missile that falls `FALL` at once, then flies straight and without drag for all its
    life, and a target that keeps its speed.

    Args:
        missile: fields of the missile's type.
        aspect, launch_speeds, target_speeds: as of `farthest`.

    Returns:
        float64 [aspects, launches, targets].
    """
    life, boost = missile["life"], min(missile["burn_time"], missile["life"])
    sustain = min(missile["sustain_time"], life - boost)
    gained = missile["thrust"] * boost * (life - boost / 2)
    gained += missile["sustain_thrust"] * sustain * (life - boost - sustain / 2)
    launches = np.asarray(launch_speeds, float)[None, :, None]
    targets = np.asarray(target_speeds, float)[None, None, :]
    launches = np.sqrt(launches**2 + 2 * 9.8 * FALL)
    closing = np.maximum(aspect[:, 0, None, None].astype(float), 0) * targets
    return np.minimum(_MARGIN + gained + life * (launches + closing), FARTHEST)


def _straight_flight(
    parameters: Mapping[str, float], launch_speeds: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Returns times [s], and the distances [times, launches] [m] of missiles in straight flight.

    The distance includes the hit radius: it is that of a target which the missile hits.
    """
    drag = parameters["gravity"] / parameters["missile_terminal_speed"] ** 2
    burn_time = parameters["missile_burn_time"]
    speed = launch_speeds
    reach = [np.full(len(speed), parameters["missile_launch_offset"])]
    reach[0] += parameters["missile_hit_radius"]
    flying = np.ones(len(speed), bool)
    while flying.any() and len(reach) * _STEP <= LONGEST_FLIGHT:
        burning = np.clip(burn_time / _STEP + 1 - len(reach), 0, 1)
        thrust = parameters["missile_thrust"] * burning
        after = (speed + thrust * _STEP) / (1 + drag * speed * _STEP)  # as the core's step
        reach.append(reach[-1] + flying * _STEP * (speed + after) / 2)
        flying &= (burning > 0) | (after >= parameters["missile_spent_speed"])
        speed = after
    return np.arange(len(reach)) * _STEP, np.array(reach)


def _top_speed(parameters: Mapping[str, float]) -> float:
    """Returns the speed at which a fighter's full thrust equals its drag [m/s]."""
    pull = parameters["fighter_thrust"] / parameters["gravity"]
    return parameters["fighter_terminal_speed"] * np.sqrt(pull)


# Edges of hits


class Fly(Protocol):
    """A function that flies shots at targets."""

    def __call__(
        self, cells: np.ndarray, ranges: np.ndarray, evasions: Sequence[int]
    ) -> np.ndarray:
        """Returns True for each shot that hits in all `evasions`, bool [n].

        Args:
            cells: int [n], the shots' geometries.
            ranges: float [n], m.
            evasions: numbers of the ways in which the target may fly.
        """
        ...


@dataclass(frozen=True)
class Edges:
    """The edges of hits of each cell, all arrays [cells].

    A stretch is a run of ranges at which shots hit a target that flies on.

    Attributes:
        minimum, aero: float32, ends of the widest stretch [m]; both 0 if no shot hits.
        cold: float32, the longest range in that stretch at which a shot hits in every `cold`
            evasion [m]; `minimum` if there is none.
        nez: float32, the same for all evasions, the end of the no-escape zone [m].
        inner: float32, start of the run of ranges up to `nez` at which no evasion escapes [m].
        stretches: int32, number of stretches that the scan saw.
        gaps: int32, number of runs of ranges between `minimum` and `nez` at which the scan saw an
            evasion escape.
    """

    minimum: np.ndarray
    inner: np.ndarray
    nez: np.ndarray
    cold: np.ndarray
    aero: np.ndarray
    stretches: np.ndarray
    gaps: np.ndarray


def search(
    fly: Fly,
    limits: np.ndarray,
    plain: int,
    cold: Sequence[int],
    others: Sequence[int],
    is_coarse: bool = False,
) -> Edges:
    """Finds the edges of every cell to within `RESOLUTION`, always on the side of the hits.

    Always minimum <= inner <= nez <= cold <= aero. Further evasions in `others` can only reduce
    `nez`.

    Args:
        fly: flies shots of these cells.
        limits: float [cells], ranges beyond which no shot can hit [m].
        plain: number of the evasion in which the target flies on.
        cold: numbers of the evasions of `Edges.cold`.
        others: numbers of all other evasions.
        is_coarse: True for the coarse scan.
    """
    ranges = scan_ranges(limits.max(), is_coarse)
    hits = _scan(fly, ranges[None] <= limits[:, None], ranges, [plain])
    first, last = widest_stretch(hits, ranges)
    places, rows = np.arange(len(ranges)), np.arange(len(limits))
    stretch = hits & (first[:, None] <= places) & (places <= last[:, None])
    hits_cold = _scan(fly, stretch, ranges, cold)
    hits_all = _scan(fly, hits_cold, ranges, others)
    every = (plain, *cold, *others)
    last_all = last_place(hits_all)
    minimum = _near_end(fly, ranges, first, [plain])
    inner = _near_end(fly, ranges, _run_starts(hits_all)[rows, last_all], every)
    return Edges(
        minimum,
        np.where(last_all < 0, minimum, inner),
        _far_end(fly, hits_all, stretch, ranges, minimum, every),
        _far_end(fly, hits_cold, stretch, ranges, minimum, (plain, *cold)),
        _far_end(fly, stretch, stretch, ranges, minimum, [plain]),
        count_runs(hits),
        count_runs(stretch & ~hits_all & (places < last_all[:, None])),
    )


def scan_ranges(limit: float, is_coarse: bool = False) -> np.ndarray:
    """Returns the ranges [m] of the scan, from 0 to beyond `limit`."""
    share, least, most = SPACING, LEAST_SPACING, MOST_SPACING
    if is_coarse:
        share, least, most = COARSE_SPACING, COARSE_LEAST, np.inf
    ranges = [0.0]
    while ranges[-1] <= limit:
        ranges.append(ranges[-1] + min(max(share * ranges[-1], least), most))
    return np.array(ranges)


def widest_stretch(hits: np.ndarray, ranges: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Returns the first and last index of the widest run of hits, int [cells]; or 0 and -1.

    Args:
        hits: bool [cells, ranges].
        ranges: [ranges], rising [m].
    """
    starts = _run_starts(hits)
    last = np.where(hits, ranges - ranges[starts], -1).argmax(axis=1)
    rows = np.arange(len(hits))
    return starts[rows, last], np.where(hits.any(axis=1), last, -1)


def count_runs(marks: np.ndarray) -> np.ndarray:
    """Returns the number of runs of True in each row of bool [rows, columns], int32."""
    return _begins(marks).sum(axis=1, dtype=np.int32)


def last_place(marks: np.ndarray) -> np.ndarray:
    """Returns the index of the last True in each row of bool [rows, columns]; -1 without one."""
    last = marks.shape[1] - 1 - marks[:, ::-1].argmax(axis=1)
    return np.where(marks.any(axis=1), last, -1)


def _begins(marks: np.ndarray) -> np.ndarray:
    """Returns True at the first entry of each run of True, bool [rows, columns]."""
    return marks & ~np.pad(marks, ((0, 0), (1, 0)))[:, :-1]


def _run_starts(marks: np.ndarray) -> np.ndarray:
    """Returns the index at which the run of each True begins, int; elsewhere without meaning."""
    return np.maximum.accumulate(np.where(_begins(marks), np.arange(marks.shape[1]), 0), axis=1)


def _scan(fly: Fly, where: np.ndarray, ranges: np.ndarray, evasions: Sequence[int]) -> np.ndarray:
    """Returns True where `where` is True and the shot hits in all `evasions`: [cells, ranges]."""
    hits = np.zeros_like(where)
    cells, places = np.nonzero(where)
    hits[cells, places] = fly(cells, ranges[places], evasions)
    return hits


def _near_end(
    fly: Fly, ranges: np.ndarray, first: np.ndarray, evasions: Sequence[int]
) -> np.ndarray:
    """Returns the near edge [m] of the hits that begin at index `first` of the scan."""
    return _refine(fly, ranges[first], ranges[np.maximum(first - 1, 0)], evasions)


def _far_end(
    fly: Fly,
    hits: np.ndarray,
    stretch: np.ndarray,
    ranges: np.ndarray,
    minimum: np.ndarray,
    evasions: Sequence[int],
) -> np.ndarray:
    """Returns the far edge [m] of `hits`.

    In a cell without any, the edge is searched from `minimum` to the first hit of `stretch`.
    """
    last = last_place(hits)
    inside = np.where(last < 0, minimum, ranges[last])
    outside = np.where(last < 0, ranges[stretch.argmax(axis=1)], ranges[last + 1])
    return _refine(fly, inside, outside, evasions)


def _refine(
    fly: Fly, inside: np.ndarray, outside: np.ndarray, evasions: Sequence[int]
) -> np.ndarray:
    """Returns the last range [m] that hits, from `inside`, a hit, on to `outside`, a miss."""
    inside, outside = inside.astype(np.float32), outside.astype(np.float32)
    while len(cells := np.flatnonzero(np.abs(outside - inside) > RESOLUTION)):
        share = np.arange(POINTS + 2, dtype=np.float32) / (POINTS + 1)
        near, far = inside[cells, None], outside[cells, None]
        points = near + (far - near) * share
        hits = np.zeros(points.shape, bool)
        hits[:, 0] = True
        hits[:, 1:-1] = fly(np.repeat(cells, POINTS), points[:, 1:-1].ravel(), evasions).reshape(
            -1, POINTS
        )
        miss = hits.argmin(axis=1)
        rows = np.arange(len(cells))
        inside[cells], outside[cells] = points[rows, miss - 1], points[rows, miss]
    return inside
