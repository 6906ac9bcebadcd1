"""Missile envelopes with height: one map, a table of how its ranges change with both heights.

A missile reaches farther in thin air, so every range depends on the heights of launcher and target.
A map for each pair of heights would take hours. So there is one map, with both at `BASE`, and for
each edge a table of factors: the median ratio, over many geometries, of the range at two heights to
the range at `BASE`. A launcher that climbs or dives has another range, too: that is one more factor
for each edge, found in the same way. Ranges are on the ground.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from midrange_puffer import _core
from midrange_puffer.game.envelope import Envelope, build, find_edges, limits_of, relevant
from midrange_puffer.game.envelope_lookup import look_up
from midrange_puffer.game.envelope_search import Grid, direction

HEIGHTS = (1000.0, 4000.0, 7000.0, 10_000.0, 13_000.0)  # m, of the table, for both sides
BASE = 7000.0  # m, of both in the map
SCALED = ("nez", "cold", "aero")  # the edges that the table scales
CLIMB = 0.4226  # sine of 25 degrees, at which the factor of the climb is found
# The geometries of the table: off-boresight and aspect in diamond angles, and both speeds [m/s].
SAMPLE = Grid(5, 8, (250.0, 400.0), (250.0, 400.0))
SAMPLED_OFF = 2  # nodes of `SAMPLE` from nose-on that are flown: the others hit little
LEAST_RANGE = 2000.0  # m; ratios of shorter ranges are too noisy
_SPEEDS = (200.0, 350.0, 500.0)
GRID = Grid(9, 24, _SPEEDS, _SPEEDS)


@dataclass(frozen=True)
class HeightEnvelope:
    """An envelope for all heights of launcher and target.

    Attributes:
        base: the map with both at `BASE`.
        ratios: of each edge in `SCALED`, float64 [launcher's height, target's height] in the order
            of `HEIGHTS`: its range as a multiple of that at `BASE`.
        climbs: of each, the relative gain of range per sine of the launcher's climb.
    """

    base: Envelope
    ratios: Mapping[str, np.ndarray]
    climbs: Mapping[str, float]

    def ranges(
        self,
        edge: str,
        off_boresight: float | np.ndarray,
        aspect: float | np.ndarray,
        launch_speed: float | np.ndarray,
        target_speed: float | np.ndarray,
        height: float | np.ndarray,
        target_height: float | np.ndarray,
        climb_sine: float | np.ndarray = 0.0,
    ) -> np.ndarray:
        """Returns an edge of the envelope at any heights.

        Heights beyond `HEIGHTS` are clamped to their ends. The arrays may have any shapes that
        broadcast.

        Args:
            edge: one of `SCALED`.
            off_boresight, aspect, launch_speed, target_speed: as of `look_up`; the angles are
                as seen from above.
            height, target_height: of launcher and target [m].
            climb_sine: sine of the launcher's climb.

        Returns:
            Ranges on the ground [m].
        """
        geometry = map(np.asarray, (off_boresight, aspect, launch_speed, target_speed))
        places = [np.interp(z, HEIGHTS, range(len(HEIGHTS))) for z in (height, target_height)]
        factor = _bilinear(self.ratios[edge], *map(np.asarray, places))
        climb = np.maximum(1 + self.climbs[edge] * np.asarray(climb_sine), 0)
        return look_up(self.base, edge, *geometry) * factor * climb


def _bilinear(values: np.ndarray, rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
    """Returns values [rows, columns] at fractional indices."""
    last = len(values) - 2
    r, c = (np.minimum(np.floor(place).astype(int), last) for place in (rows, columns))
    x, y = rows - r, columns - c
    low = values[r, c] * (1 - y) + values[r, c + 1] * y
    return low * (1 - x) + (values[r + 1, c] * (1 - y) + values[r + 1, c + 1] * y) * x


def build_for_heights(
    parameters: Mapping[str, float], progress: Callable[[int], None] = lambda count: None
) -> HeightEnvelope:
    """Builds the envelope of a game with height by flying every shot out.

    Args:
        parameters: as of `envelope.build`.
        progress: called after each part of the work with its number of cells, of `cells` in all.
    """
    base = build(parameters, GRID, progress=progress, heights=(BASE, BASE))
    pairs = [(z, t) for z in HEIGHTS for t in HEIGHTS]
    level = {pair: _sampled(parameters, *pair, 0.0, progress) for pair in pairs}
    up, down = (_sampled(parameters, BASE, BASE, sine, progress) for sine in (CLIMB, -CLIMB))
    plain = level[BASE, BASE]
    ratios = {edge: np.ones((len(HEIGHTS),) * 2) for edge in SCALED}
    climbs = {}
    for edge in SCALED:
        is_long = plain[edge] > LEAST_RANGE
        if not is_long.any():
            raise ValueError(
                f"{parameters['red_missile']}: {edge} is nowhere above {LEAST_RANGE:g} m with both "
                f"at {BASE:g} m, so that there is no table of heights; give --height"
            )
        for number, pair in enumerate(pairs):
            ratio = np.median(level[pair][edge][is_long] / plain[edge][is_long])
            ratios[edge].flat[number] = ratio
        climbs[edge] = float(np.median((up[edge] - down[edge])[is_long] / plain[edge][is_long])) / (
            2 * CLIMB
        )
    return HeightEnvelope(base, ratios, climbs)


def cells() -> int:
    """Returns the number of cells that `build_for_heights` searches."""
    return int(np.prod(GRID.shape)) + (len(HEIGHTS) ** 2 + 2) * len(_sample_shots())


def ranges_by_height(
    parameters: Mapping[str, float], heights: np.ndarray, speed: float = 300.0
) -> dict[str, dict[str, np.ndarray]]:
    """Returns ranges where both fly level at the same height and speed, the launcher nose-on.

    Args:
        parameters: as of `envelope.build`.
        heights: [heights] [m].
        speed: of both [m/s].

    Returns:
        How the target flies -> each edge in `SCALED` -> float32 [heights] [m].
    """
    values = relevant(parameters)
    ranges = {}
    for name, ahead in (("target flies at the launcher", 1.0), ("target flies away", -1.0)):
        shots = np.zeros(len(heights), _core.SHOT)
        shots["nose"], shots["aspect"] = (1, 0), (ahead, 0)
        shots["launch_speed"] = shots["target_speed"] = speed
        shots["height"] = shots["target_height"] = heights
        limits = limits_of(values, np.array([[ahead, 0.0]]), [speed], [speed]).ravel()
        edges = find_edges(values, shots, np.repeat(limits, len(heights)))
        ranges[name] = {edge: getattr(edges, edge) for edge in SCALED}
    return ranges


def _sample_shots() -> np.ndarray:
    """Returns the shots of the table's geometries, without heights."""
    return SAMPLE.shots().reshape(SAMPLE.shape)[:SAMPLED_OFF].ravel()


def _sampled(
    parameters: Mapping[str, float],
    height: float,
    target_height: float,
    climb_sine: float,
    progress: Callable[[int], None],
) -> dict[str, np.ndarray]:
    """Returns the edges of the table's geometries at two heights, by name."""
    shots = _sample_shots()
    shots["height"], shots["target_height"], shots["climb_sine"] = height, target_height, climb_sine
    parameters = relevant(parameters)
    aspects = direction(SAMPLE.aspect_angles)
    limits = limits_of(parameters, aspects, SAMPLE.launch_speeds, SAMPLE.target_speeds)
    limits = np.broadcast_to(limits, SAMPLE.shape)[:SAMPLED_OFF].ravel()
    edges = find_edges(parameters, shots, limits, progress=progress)
    return {name: getattr(edges, name) for name in SCALED}
