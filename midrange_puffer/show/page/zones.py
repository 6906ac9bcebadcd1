"""Launch zones of a page, of shots at many times: looked up in the plane, flown out with height."""

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

import numpy as np

from midrange_puffer.game.envelope import SHOWN, game_envelope
from midrange_puffer.game.envelope_lookup import launch_zone
from midrange_puffer.game.parameters import Parameters
from midrange_puffer.game.paths import Paths
from midrange_puffer.game.shots import Flight, FlyOuts
from midrange_puffer.game.types import AIRCRAFT

BEARINGS = 48  # points of a launch zone
FLOWN_BEARINGS = 24  # those that are flown out with height; between them ranges are interpolated


class Shot(NamedTuple):
    """A shot whose launch zone is shown.

    Attributes:
        own, enemy: Flights of the launcher and the target.
        side: The launcher's side.
        kind: The place of the missile's type in the launcher's loadout.
        target: The target's number.
    """

    own: Flight
    enemy: Flight
    side: int
    kind: int
    target: int


def look_up_zones(parameters: Parameters, shots: Sequence[Sequence[Shot | None]]) -> np.ndarray:
    """Returns the launch zones of shots in the plane, for the headings and speeds of both.

    Bearings are counter-clockwise from the launcher's nose. Zones of None are not-a-number.

    Args:
        parameters: Parameters of the game.
        shots: [times][rows], or None where nothing can be fired.

    Returns:
        Ranges [times, rows, edges, BEARINGS] [m]; `SHOWN` names the edges.
    """
    zones = _no_zones(shots)
    fired = _fired(shots)
    if not fired:
        return zones
    own, enemies = [shot.own for shot in fired.values()], [shot.enemy for shot in fired.values()]
    headings = _column(a.heading for a in own), _column(b.heading for b in enemies)
    speeds = _column(a.speed for a in own), _column(b.speed for b in enemies)
    bearings = headings[0] + np.linspace(0, 2 * np.pi, BEARINGS, endpoint=False)
    envelope = game_envelope(parameters)
    edges = [launch_zone(envelope, edge, bearings, headings, speeds) for edge in SHOWN]
    zones[tuple(np.transpose([*fired]))] = np.stack(edges, axis=1)
    return zones


def fly_zones(
    fly_outs: FlyOuts,
    paths: Paths,
    shots: Sequence[Sequence[Shot | None]],
    progress: Callable[[int], None],
) -> np.ndarray:
    """Returns the same as `look_up_zones` with height, by fly-outs of the types.

    Args:
        fly_outs: Of the fight.
        paths: Its paths, with the types and factors that it has drawn.
        shots: As of `look_up_zones`.
        progress: Called with the number of shots whose bearings are done.
    """
    zones = _no_zones(shots)
    groups: dict[tuple, list[tuple[int, int]]] = {}  # shots of one type at one type
    fired = _fired(shots)
    for place, shot in fired.items():
        target = shot.target if paths.factors else paths.types[AIRCRAFT][shot.target][0]
        key = shot.side, shot.kind, target
        groups.setdefault(key, []).append(place)
    fine = np.arange(BEARINGS) * (FLOWN_BEARINGS / BEARINGS)
    nodes = np.arange(FLOWN_BEARINGS + 1)
    for places in groups.values():
        _, _, side, kind, target = fired[places[0]]
        pairs = [(fired[place].own, fired[place].enemy) for place in places]
        flown = fly_outs.zones(side, pairs, FLOWN_BEARINGS, kind=kind, target=target)
        progress(len(places))
        for place, edges in zip(places, flown, strict=True):
            zones[place] = [np.interp(fine, nodes, [*edge, edge[0]]) for edge in edges]
    return zones


def _no_zones(shots: Sequence[Sequence[Shot | None]]) -> np.ndarray:
    """Returns zones of not-a-numbers for shots [times][rows]."""
    return np.full((len(shots), len(shots[0]), len(SHOWN), BEARINGS), np.nan)


def _fired(shots: Sequence[Sequence[Shot | None]]) -> dict[tuple[int, int], Shot]:
    """Returns the shots that are not None, by their times and rows."""
    return {
        (time, row): shot
        for time, rows in enumerate(shots)
        for row, shot in enumerate(rows)
        if shot is not None
    }


def _column(values: Iterable[float]) -> np.ndarray:
    """Returns values as an array [n, 1]."""
    return np.array([*values])[:, None]
