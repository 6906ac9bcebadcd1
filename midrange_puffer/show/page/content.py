"""What the page shows: a fight flown again, noted and packed."""

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields

import numpy as np

from midrange_puffer.game.belief import believed
from midrange_puffer.game.contact_path import TRACKS, ContactPath
from midrange_puffer.game.envelope import game_envelope
from midrange_puffer.game.launch_zone import SHOWN, launch_zone
from midrange_puffer.game.pair import nearest_enemy, pair_graph
from midrange_puffer.game.parameters import RADAR, SEATS, callsigns, is_team
from midrange_puffer.game.paths import SPEED_OF_SOUND, BodyPath, Paths
from midrange_puffer.game.simulation import Simulation
from midrange_puffer.game.spacetime import SpaceTime
from midrange_puffer.names import shown
from midrange_puffer.replays.replay import Replay
from midrange_puffer.show.page.packing import Packed, pack, pack_coarsely

INTERVAL = 1.0  # s, about, from one space-time graph to the next
# Graphs of a fighter, and of all fighters of teams together: in longer fights they are farther
# apart, or the page grows too large.
MOST, MOST_OF_ALL = 300, 1600
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
    paths = Paths(sim)
    most = min(MOST, MOST_OF_ALL // len(paths.fighters))
    every = max(round(max(INTERVAL, replay.duration / most) / decision), 1)
    graphs: list[list[SpaceTime]] = [[] for _ in paths.fighters]
    beliefs: list[list[SpaceTime]] = [[] for _ in paths.fighters]
    fighters, contacts, threats = [], [], []
    # Of teams the page shows the truth alone.
    has_sensors = sim.parameters["sensing"] == RADAR and not is_team(sim.parameters)
    for count, _ in enumerate(itertools.chain([sim], replay.play(sim))):
        if count:
            paths.note()
            progress(1)
        if count % every == 0:
            fighters.append(sim.fighters)
            threats.append([nearest_enemy(sim, 0, path.number) for path in paths.fighters])
            _note_graphs(sim, graphs, threats[-1])
            if has_sensors:
                contacts.append(sim.contacts)
                _note_graphs(sim, beliefs, threats[-1], as_believed=True)
    if has_sensors:
        known = [
            {
                "contact": _pack_path(paths.contacts[seat]),
                "graph": _pack_graphs(beliefs[seat]),
                "zones": pack_coarsely(
                    _zones(sim.parameters, _known(fighters, contacts, seat), threats)
                ),
            }
            for seat in range(len(SEATS))
        ]
    return {
        "names": [shown(name) for name in replay.names],
        "sizes": paths.sizes,
        "callsigns": callsigns(paths.sizes),
        "outcome": shown(replay.outcome),
        "length": paths.time,
        "gravity": sim.parameters["gravity"],
        "mach": SPEED_OF_SOUND,
        "fighters": [_pack_path(path) for path in paths.fighters],
        "missiles": [_pack_path(path) for path in paths.missiles],
        "interval": every * decision,
        "threats": threats,
        "graphs": [_pack_graphs(of_fighter) for of_fighter in graphs],
        "zones": pack_coarsely(_zones(sim.parameters, fighters, threats)),
        "radar": {name: sim.parameters[name] for name in _CONE} if has_sensors else None,
        "known": known if has_sensors else [],
    }


def _note_graphs(
    sim: Simulation,
    graphs: Sequence[list[SpaceTime]],
    threats: Sequence[int],
    as_believed: bool = False,
) -> None:
    """Add a graph for every fighter that is alive, of the true game or as its side believes it.

    Args:
        threats: the enemy that each fighter's graph is about.
    """
    for number in np.flatnonzero(sim.fighters["alive"][0]).tolist():
        game = believed(sim, 0, number) if as_believed else sim
        graphs[number].append(pair_graph(game, 0, number, threats[number]))


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
    parameters: Mapping[str, float],
    fighters: Sequence[Mapping[str, np.ndarray]],
    threats: Sequence[Sequence[int]],
) -> np.ndarray:
    """The launch zones of all fighters and of their threats, in m.

    On bearings counter-clockwise from the nose on, all round; not-a-number without a missile or
    unless both live.

    Args:
        fighters: their states at each time.
        threats: the enemy of each fighter at each time.

    Returns:
        [times, fighters, edges, BEARINGS], each fighter's zone against its threat. In teams
        [times, 2 * fighters, edges, BEARINGS]: after it the threat's zone against that fighter.
    """
    state = {
        name: np.concatenate([row[name] for row in fighters])[:, :, None]
        for name in ("heading", "speed", "ammo", "alive")
    }
    enemies = np.array(threats)[:, :, None]
    other = {name: np.take_along_axis(values, enemies, axis=1) for name, values in state.items()}
    own = _zones_of(parameters, state, other)
    if enemies.shape[1] == len(SEATS):  # each is the other's threat
        return own
    pairs = np.stack([own, _zones_of(parameters, other, state)], axis=2)
    return pairs.reshape(len(own), -1, *own.shape[2:])


def _zones_of(
    parameters: Mapping[str, float], own: Mapping[str, np.ndarray], other: Mapping[str, np.ndarray]
) -> np.ndarray:
    """The zones of fighters against others, states [times, fighters, 1] each."""
    bearings = own["heading"] + np.linspace(0, 2 * np.pi, BEARINGS, endpoint=False)
    headings = own["heading"], other["heading"]
    speeds = own["speed"], other["speed"]
    envelope = game_envelope(parameters)
    zones = [launch_zone(envelope, edge, bearings, headings, speeds) for edge in SHOWN]
    may_fire = (own["ammo"] > 0) & (own["alive"] > 0) & (other["alive"] > 0)
    return np.where(may_fire[:, :, None], np.stack(zones, axis=2), np.nan)


def _pack_path(path: BodyPath | ContactPath) -> dict[str, object]:
    """Its single values as they are, its lists as columns."""
    values = {field.name: getattr(path, field.name) for field in fields(path)}
    lists = {name: value for name, value in values.items() if isinstance(value, list)}
    single = {name: value for name, value in values.items() if name not in lists}
    return {**single, "columns": list(lists), "entries": pack(list(lists.values()))}


def _pack_graphs(graphs: list[SpaceTime]) -> dict[str, object]:
    """The graphs of one fighter, one after another; points are relative to where it is."""
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
