"""Launch zones of a page, of shots at many times: looked up in the plane, flown out with height."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from midrange_puffer.game.envelope import SHOWN, game_envelope, launch_zone
from midrange_puffer.game.parameters import Parameters
from midrange_puffer.game.paths import Types
from midrange_puffer.game.shots import Flight, FlyOuts
from midrange_puffer.game.types import AIRCRAFT

BEARINGS = 48  # points of a launch zone
FLOWN_BEARINGS = 24  # those that are flown out with height; between them ranges are interpolated


class Shot(NamedTuple):
    """A shot whose launch zone is shown.

    Attributes:
        own, enemy: Flights of the launcher and the target.
        side: The launcher's side.
        kind: The place of the missile's type in the launcher's load.
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
    places = _places(shots)
    if not places:
        return zones
    pairs = [shots[time][row] for time, row in places]
    headings, speeds = (
        [np.array([[getattr(flight, name)] for flight in flights]) for flights in _flights(pairs)]
        for name in ("heading", "speed")
    )
    bearings = headings[0] + np.linspace(0, 2 * np.pi, BEARINGS, endpoint=False)
    envelope = game_envelope(parameters)
    edges = [
        launch_zone(envelope, edge, bearings, tuple(headings), tuple(speeds)) for edge in SHOWN
    ]
    zones[tuple(np.transpose(places))] = np.stack(edges, axis=1)
    return zones


def fly_zones(
    parameters: Parameters,
    types: Types,
    shots: Sequence[Sequence[Shot | None]],
    progress: Callable[[int], None],
) -> np.ndarray:
    """Returns the same as `look_up_zones` with height, by fly-outs of the types.

    Args:
        parameters, shots: As of `look_up_zones`.
        types: As of `Paths.types`.
        progress: Called with the number of shots whose bearings are done.
    """
    zones = _no_zones(shots)
    fly_outs = FlyOuts(parameters, types)
    groups: dict[tuple, list[tuple[int, int]]] = {}  # shots of one type at one type
    for time, row in _places(shots):
        shot = shots[time][row]
        key = shot.side, shot.kind, *types[AIRCRAFT][shot.target]
        groups.setdefault(key, []).append((time, row))
    fine = np.arange(BEARINGS) * (FLOWN_BEARINGS / BEARINGS)
    nodes = np.arange(FLOWN_BEARINGS + 1)
    for places in groups.values():
        some = [shots[time][row] for time, row in places]
        _, _, side, kind, target = some[0]
        pairs = [(shot.own, shot.enemy) for shot in some]
        flown = fly_outs.zones(side, pairs, FLOWN_BEARINGS, kind=kind, target=target)
        progress(len(places))
        for place, edges in zip(places, flown, strict=True):
            zones[place] = [np.interp(fine, nodes, [*edge, edge[0]]) for edge in edges]
    return zones


def _no_zones(shots: Sequence[Sequence[Shot | None]]) -> np.ndarray:
    """Returns zones of not-a-numbers for shots [times][rows]."""
    return np.full((len(shots), len(shots[0]), len(SHOWN), BEARINGS), np.nan)


def _places(shots: Sequence[Sequence[Shot | None]]) -> list[tuple[int, int]]:
    """Returns the times and rows of shots that are not None."""
    return [
        (time, row)
        for time, rows in enumerate(shots)
        for row, shot in enumerate(rows)
        if shot is not None
    ]


def _flights(shots: Sequence[Shot]) -> tuple[list[Flight], list[Flight]]:
    """Returns the flights of the launchers, and those of the targets."""
    return [shot.own for shot in shots], [shot.enemy for shot in shots]
