"""What the page shows: a fight flown again, noted and packed."""

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields

import numpy as np

from midrange_puffer.game.belief import believed
from midrange_puffer.game.contact_path import TRACKS, ContactPath
from midrange_puffer.game.envelope import game_envelope
from midrange_puffer.game.launch_zone import SHOWN, launch_zone
from midrange_puffer.game.parameters import RADAR, SEATS
from midrange_puffer.game.paths import SPEED_OF_SOUND, BodyPath, Paths
from midrange_puffer.game.simulation import Simulation
from midrange_puffer.game.spacetime import SpaceTime, spacetime
from midrange_puffer.names import shown
from midrange_puffer.replays.replay import Replay
from midrange_puffer.show.page.packing import Packed, pack, pack_coarsely

INTERVAL = 1.0  # s, about, from one space-time graph to the next
MOST = 300  # graphs of a seat: in longer fights they are farther apart, or the page grows too large
BEARINGS = 48

_CONE = ("radar_half_angle_deg", "radar_range_nose")  # what a radar's cone is drawn by

# What a prediction of a missile's flight says, besides its points.
_PREDICTION = ("slot", "owner", "target", "hits", "miss", "ended", "harmless")


def collect(replay: Replay, progress: Callable[[int], None]) -> dict[str, object]:
    """Fly a fight again and note all that its page shows, as JSON takes it.

    Args:
        replay: of the fight.
        progress: called with the number of decisions flown since.

    Raises:
        ReplayError: It does not go as it went.
    """
    sim = replay.simulation()
    decision = sim.parameters["physics_dt"] * sim.parameters["substeps"]
    every = max(round(max(INTERVAL, replay.duration / MOST) / decision), 1)
    paths = Paths(sim)
    graphs: tuple[list[SpaceTime], ...] = ([], [])
    beliefs: tuple[list[SpaceTime], ...] = ([], [])
    fighters, contacts = [], []
    has_sensors = sim.parameters["sensing"] == RADAR
    for count, _ in enumerate(itertools.chain([sim], replay.play(sim))):
        if count:
            paths.note()
            progress(1)
        if count % every == 0:
            fighters.append(sim.fighters)
            _note_graphs(sim, graphs)
            if has_sensors:
                contacts.append(sim.contacts)
                _note_graphs(sim, beliefs, as_believed=True)
    if has_sensors:
        known = [
            {
                "contact": _pack_path(paths.contacts[seat]),
                "graph": _pack_graphs(beliefs[seat]),
                "zones": pack_coarsely(_zones(sim.parameters, _known(fighters, contacts, seat))),
            }
            for seat in range(len(SEATS))
        ]
    return {
        "names": [shown(name) for name in replay.names],
        "outcome": shown(replay.outcome),
        "length": paths.time,
        "gravity": sim.parameters["gravity"],
        "mach": SPEED_OF_SOUND,
        "fighters": [_pack_path(path) for path in paths.fighters],
        "missiles": [_pack_path(path) for path in paths.missiles],
        "interval": every * decision,
        "graphs": [_pack_graphs(of_seat) for of_seat in graphs],
        "zones": pack_coarsely(_zones(sim.parameters, fighters)),
        "radar": {name: sim.parameters[name] for name in _CONE} if has_sensors else None,
        "known": known if has_sensors else [],
    }


def _note_graphs(
    sim: Simulation, graphs: Sequence[list[SpaceTime]], as_believed: bool = False
) -> None:
    """Add a graph for every seat that is alive, of the true game or as that seat believes it."""
    for seat in range(len(SEATS)):
        if sim.fighters["alive"][0, seat]:
            game = believed(sim, 0, seat) if as_believed else sim
            graphs[seat].append(spacetime(game, 0, seat))


def _known(
    fighters: Sequence[Mapping[str, np.ndarray]],
    contacts: Sequence[Mapping[str, np.ndarray]],
    seat: int,
) -> list[dict[str, np.ndarray]]:
    """States of the fighters, of which the enemy's are what a seat knows: perhaps it may fire."""
    out = []
    for state, contact in zip(fighters, contacts, strict=True):
        known = {name: state[name].copy() for name in ("heading", "speed", "ammo", "alive")}
        for name in ("heading", "speed"):
            known[name][0, 1 - seat] = contact[name][0, seat]
        known["ammo"][0, 1 - seat] = 1
        known["alive"][0, 1 - seat] = contact["source"][0, seat] in TRACKS
        out.append(known)
    return out


def _zones(
    parameters: Mapping[str, float], fighters: Sequence[Mapping[str, np.ndarray]]
) -> np.ndarray:
    """The launch zones of both fighters against each other, [times, seats, edges, BEARINGS] in m.

    On bearings counter-clockwise from the nose on, all round; not-a-number without a missile or
    unless both live.
    """
    state = {
        name: np.concatenate([row[name] for row in fighters])[:, :, None]
        for name in ("heading", "speed", "ammo", "alive")
    }
    other = {name: values[:, ::-1] for name, values in state.items()}
    bearings = state["heading"] + np.linspace(0, 2 * np.pi, BEARINGS, endpoint=False)
    headings = state["heading"], other["heading"]
    speeds = state["speed"], other["speed"]
    envelope = game_envelope(parameters)
    zones = [launch_zone(envelope, edge, bearings, headings, speeds) for edge in SHOWN]
    may_fire = (state["ammo"] > 0) & (state["alive"] > 0) & (other["alive"] > 0)
    return np.where(may_fire[:, :, None], np.stack(zones, axis=2), np.nan)


def _pack_path(path: BodyPath | ContactPath) -> dict[str, object]:
    """Its single values as they are, its lists as columns."""
    values = {field.name: getattr(path, field.name) for field in fields(path)}
    lists = {name: value for name, value in values.items() if isinstance(value, list)}
    single = {name: value for name, value in values.items() if name not in lists}
    return {**single, "columns": list(lists), "entries": pack(list(lists.values()))}


def _pack_graphs(graphs: list[SpaceTime]) -> dict[str, object]:
    """The graphs of one seat, one after another; points are relative to where it is."""
    origins = np.array([graph.own[0] for graph in graphs])
    missiles = [missile for graph in graphs for missile in graph.missiles]
    counts = [len(graph.missiles) for graph in graphs]
    around = np.repeat(origins, counts, axis=0)
    escapes = [graph.escapes for graph in graphs]
    shots = _filled([graph.shots for graph in graphs], escapes[0].shape)
    fronts = _filled([graph.fronts for graph in graphs], (len(graphs[0].times), 1, 2))
    return {
        "times": graphs[0].times.tolist(),
        "origins": pack(origins),
        "own": _pack_points([graph.own for graph in graphs], origins),
        "escapes": _pack_points(escapes, origins),
        "escapeMiss": pack(_filled([graph.escape_miss for graph in graphs], (2,))),
        "shots": _pack_points(shots, origins),
        "fronts": _pack_points(fronts, origins),
        "missiles": {
            "counts": counts,
            "points": _pack_points([missile.points for missile in missiles], around),
            "escapeMiss": pack([missile.escape_miss for missile in missiles]),
            "columns": _PREDICTION,
            "entries": pack([[getattr(part, name) for part in missiles] for name in _PREDICTION]),
        },
    }


def _filled(arrays: Sequence[np.ndarray | None], otherwise: tuple[int, ...]) -> list[np.ndarray]:
    """Arrays of one shape, not-a-number for those absent; of shape `otherwise` if all are."""
    shape = next((array.shape for array in arrays if array is not None), otherwise)
    return [np.full(shape, np.nan) if array is None else array for array in arrays]


def _pack_points(points: Sequence[np.ndarray], origins: np.ndarray) -> Packed:
    """Points [..., 2], each of `points` relative to its origin [m]."""
    return pack_coarsely([part - origin for part, origin in zip(points, origins, strict=True)])
