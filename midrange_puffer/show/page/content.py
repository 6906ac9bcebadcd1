"""The data of a fight's page: the fight is flown again, recorded and packed."""

import base64
import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, fields

import numpy as np
import numpy.typing as npt

from midrange_puffer.errors import UsageError
from midrange_puffer.game.contacts import TRACKS, ContactPath, believed
from midrange_puffer.game.envelope import SHOWN, game_envelope, launch_zone
from midrange_puffer.game.parameters import RADAR, SEATS, callsigns, has_height, is_team
from midrange_puffer.game.paths import SPEED_OF_SOUND, BodyPath, Paths, air
from midrange_puffer.game.shots import FlyOuts, flight_at
from midrange_puffer.game.simulation import Simulation
from midrange_puffer.game.spacetime import SpaceTime, nearest_enemy, pair_graph
from midrange_puffer.names import shown
from midrange_puffer.replays.replay import Replay
from midrange_puffer.replays.told import tell

INTERVAL = 1.0  # about the shortest time between two space-time graphs [s]
# Most graphs of one fighter, and of all fighters of teams. In longer fights the interval is longer,
# so that the page does not become too large.
MOST, MOST_OF_ALL = 300, 1600
BEARINGS = 48  # points of a launch zone
# With height zones are flown out, which takes time: about the shortest time between two [s], the
# most of one fighter, and the bearings that are flown; between these ranges are interpolated.
HEIGHT_INTERVAL, MOST_WITH_HEIGHT, FLOWN_BEARINGS = 2.0, 60, 24
HEIGHTS = range(0, 21_000, 1000)  # m, for which a page with height has the speed of sound

MISSING = -32768  # not-a-number, in int16
GREATEST = 32767

_CONE = ("radar_half_angle_deg", "radar_range_nose")  # parameters of a radar's cone

# Fields of a missile's prediction besides its points.
_PREDICTION = ("slot", "owner", "target", "hits", "miss", "ended", "harmless")

Packed = dict[str, object]


def collect(replay: Replay, progress: Callable[[int], None]) -> dict[str, object]:
    """Flies a fight again and returns the data of its page, ready for JSON.

    Args:
        replay: The fight.
        progress: Called with 1 after every decision.

    Raises:
        ReplayError: The replay gives other states than recorded.
        UsageError: The fight has height, and teams or sensors.
    """
    sim = replay.simulation()
    high = has_height(sim.parameters)
    if high and (is_team(sim.parameters) or sim.parameters["sensing"] == RADAR):
        raise UsageError(
            "a page: with dimensions = 3 only of one against one with full information; write a "
            "film or a recording"
        )
    flown = replay.decisions // 2 if high else replay.decisions  # the rest is for zones
    advance = _scaled(progress, replay.decisions, flown)
    decision = sim.parameters["physics_dt"] * sim.parameters["substeps"]
    paths = Paths(sim)
    most = min(MOST, MOST_OF_ALL // len(paths.fighters))
    every = max(round(max(INTERVAL, replay.duration / most) / decision), 1)
    graphs: list[list[SpaceTime]] = [[] for _ in paths.fighters]
    beliefs: list[list[SpaceTime]] = [[] for _ in paths.fighters]
    fighters, contacts, threats = [], [], []
    # In teams the page shows only the truth.
    has_sensors = sim.parameters["sensing"] == RADAR and not is_team(sim.parameters)
    for count, _ in enumerate(itertools.chain([sim], replay.play(sim))):
        if count:
            paths.note()
            advance(1)
        if count % every == 0:
            fighters.append(sim.fighters)
            threats.append([nearest_enemy(sim, 0, path.number) for path in paths.fighters])
            _add_graphs(sim, graphs, threats[-1])
            if has_sensors:
                contacts.append(sim.contacts)
                _add_graphs(sim, beliefs, threats[-1], as_believed=True)
    known = [
        {
            "contact": _pack_path(paths.contacts[seat]),
            "graph": _pack_graphs(beliefs[seat]),
            "zones": pack_coarsely(
                _zones(sim.parameters, _known(fighters, contacts, seat), threats)
            ),
        }
        for seat in (range(len(SEATS)) if has_sensors else ())
    ]
    zone_interval = every * decision
    if high:
        zone_interval = max(HEIGHT_INTERVAL, paths.time / MOST_WITH_HEIGHT)
        zones = _flown_zones(replay, paths, zone_interval, progress, replay.decisions - flown)
    else:
        zones = _zones(sim.parameters, fighters, threats)
    return _flown(replay, paths) | {
        "sound": sound_table() if high else None,
        "interval": every * decision,
        "zoneInterval": zone_interval,
        "threats": threats,
        "graphs": [_pack_graphs(of_fighter) for of_fighter in graphs],
        "zones": pack_coarsely(zones),
        "radar": {name: sim.parameters[name] for name in _CONE} if has_sensors else None,
        "known": known,
    }


def _scaled(progress: Callable[[int], None], total: int, share: int) -> Callable[[int], None]:
    """Returns a function that counts up to `total`, and meanwhile reports `share` to `progress`."""
    done = 0

    def advance(count: int) -> None:
        nonlocal done
        before, done = done, done + count
        progress(share * done // total - share * before // total)

    return advance


def sound_table() -> dict[str, list[float]]:
    """Returns heights [m] and the speeds of sound there [m/s]."""
    return {"heights": [*HEIGHTS], "speeds": [air(z)[1] for z in HEIGHTS]}


def _flown_zones(
    replay: Replay,
    paths: Paths,
    interval: float,
    progress: Callable[[int], None],
    share: int,
) -> np.ndarray:
    """Returns the launch zones of both fighters with height, as `_zones`, by fly-outs.

    They are of times `interval` seconds apart. All together `progress` is called with `share`.
    """
    times = np.arange(int(paths.time / interval + 1e-6) + 1) * interval
    zones = np.full((len(times), len(SEATS), len(SHOWN), BEARINGS), np.nan)
    end = min(np.inf if path.died is None else path.died for path in paths.fighters)
    shown = [
        [n for n, time in enumerate(times) if time < end and path.ammo[path.at(time) or 0]]
        for path in paths.fighters
    ]
    advance = _scaled(progress, FLOWN_BEARINGS * sum(map(len, shown)), share)
    fly_outs = FlyOuts(replay.parameters, paths.types, paths.factors)
    fine = np.arange(BEARINGS) * (FLOWN_BEARINGS / BEARINGS)
    nodes = np.arange(FLOWN_BEARINGS + 1)
    for side, rows in enumerate(shown):
        if not rows:
            continue
        own, enemy = paths.fighters[side], paths.fighters[1 - side]
        pairs = [(flight_at(own, times[n]), flight_at(enemy, times[n])) for n in rows]
        flown = fly_outs.zones(side, pairs, FLOWN_BEARINGS, advance)
        for n, edges in zip(rows, flown, strict=True):
            zones[n, side] = [np.interp(fine, nodes, [*edge, edge[0]]) for edge in edges]
    return zones


def _flown(replay: Replay, paths: Paths) -> dict[str, object]:
    """Returns a fight's names and paths."""
    return {
        "names": [shown(name) for name in replay.names],
        "sizes": paths.sizes,
        "callsigns": callsigns(paths.sizes),
        "outcome": shown(replay.outcome),
        "told": [
            [told.start, told.fighter, told.ordered, told.words] for told in tell(replay, paths)
        ],
        "length": paths.time,
        "gravity": replay.parameters["gravity"],
        "mach": SPEED_OF_SOUND,
        "line": None if paths.line is None else asdict(paths.line),
        "fighters": [_pack_path(path) for path in paths.fighters],
        "missiles": [_pack_path(path) for path in paths.missiles],
    }


def _add_graphs(
    sim: Simulation,
    graphs: Sequence[list[SpaceTime]],
    threats: Sequence[int],
    as_believed: bool = False,
) -> None:
    """Adds a graph of each living fighter and its threat, in the true or the believed game."""
    for number in np.flatnonzero(sim.fighters["alive"][0]).tolist():
        game = believed(sim, 0, number) if as_believed else sim
        graphs[number].append(pair_graph(game, 0, number, threats[number]))


def _known(
    fighters: Sequence[Mapping[str, np.ndarray]],
    contacts: Sequence[Mapping[str, np.ndarray]],
    seat: int,
) -> list[dict[str, np.ndarray]]:
    """Returns the fighters' states as a seat knows them; the enemy is assumed to have missiles."""
    states = []
    for state, contact in zip(fighters, contacts, strict=True):
        known = {name: state[name].copy() for name in ("heading", "speed", "ammo", "alive")}
        for name in ("heading", "speed"):
            known[name][0, 1 - seat] = contact[name][0, seat]
        known["ammo"][0, 1 - seat] = 1
        known["alive"][0, 1 - seat] = contact["source"][0, seat] in TRACKS
        states.append(known)
    return states


def _zones(
    parameters: Mapping[str, float],
    fighters: Sequence[Mapping[str, np.ndarray]],
    threats: Sequence[Sequence[int]],
) -> np.ndarray:
    """Returns the launch zones of all fighters and of their threats [m].

    Bearings are counter-clockwise from the nose. A zone is not-a-number if its fighter has no
    missile or if one of the two is dead.

    Args:
        parameters: Parameters of the game.
        fighters: States at each time.
        threats: The enemy of each fighter at each time.

    Returns:
        In one against one [times, fighters, edges, BEARINGS]: each fighter's zone against its
        threat. In teams [times, 2 * fighters, edges, BEARINGS]: the zone of each fighter is
        followed by the zone of its threat against it.
    """
    state = {
        name: np.concatenate([row[name] for row in fighters])[:, :, None]
        for name in ("heading", "speed", "ammo", "alive")
    }
    enemies = np.array(threats)[:, :, None]
    other = {name: np.take_along_axis(values, enemies, axis=1) for name, values in state.items()}
    own = _zones_against(parameters, state, other)
    if enemies.shape[1] == len(SEATS):  # each fighter is the other's threat
        return own
    pairs = np.stack([own, _zones_against(parameters, other, state)], axis=2)
    return pairs.reshape(len(own), -1, *own.shape[2:])


def _zones_against(
    parameters: Mapping[str, float], own: Mapping[str, np.ndarray], other: Mapping[str, np.ndarray]
) -> np.ndarray:
    """Returns the zones of fighters against others, states [times, fighters, 1] each."""
    bearings = own["heading"] + np.linspace(0, 2 * np.pi, BEARINGS, endpoint=False)
    headings = own["heading"], other["heading"]
    speeds = own["speed"], other["speed"]
    envelope = game_envelope(parameters)
    zones = [launch_zone(envelope, edge, bearings, headings, speeds) for edge in SHOWN]
    may_fire = (own["ammo"] > 0) & (own["alive"] > 0) & (other["alive"] > 0)
    return np.where(may_fire[:, :, None], np.stack(zones, axis=2), np.nan)


def _pack_path(path: BodyPath | ContactPath) -> dict[str, object]:
    """Packs a path: single values unchanged, lists as columns; empty lists are left out."""
    values = {field.name: getattr(path, field.name) for field in fields(path)}
    single = {name: value for name, value in values.items() if not isinstance(value, list)}
    lists = {name: value for name, value in values.items() if name not in single and value}
    return {**single, "columns": list(lists), "entries": pack(list(lists.values()))}


def _pack_graphs(graphs: list[SpaceTime]) -> dict[str, object]:
    """Packs the graphs of one fighter; points are relative to the fighter's place."""
    origins = np.array([graph.own[0] for graph in graphs])
    missiles = [missile for graph in graphs for missile in graph.missiles]
    counts = [len(graph.missiles) for graph in graphs]
    missile_origins = np.repeat(origins, counts, axis=0)
    escapes = [graph.escapes for graph in graphs]
    shots = _filled([graph.shots for graph in graphs], escapes[0].shape)
    fronts = _filled([graph.fronts for graph in graphs], (len(graphs[0].times), 1, len(origins.T)))
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
            "points": _pack_points([missile.points for missile in missiles], missile_origins),
            "escapeMiss": pack([missile.escape_miss for missile in missiles]),
            "columns": _PREDICTION,
            "entries": pack([[getattr(part, name) for part in missiles] for name in _PREDICTION]),
        },
    }


def _filled(arrays: Sequence[np.ndarray | None], default: tuple[int, ...]) -> list[np.ndarray]:
    """Replaces None by not-a-number, in the others' shape, or `default` if all are None."""
    shape = next((array.shape for array in arrays if array is not None), default)
    return [np.full(shape, np.nan) if array is None else array for array in arrays]


def _pack_points(points: Sequence[np.ndarray], origins: np.ndarray) -> Packed:
    """Packs arrays of points [..., D], each relative to its origin [m]."""
    return pack_coarsely([part - origin for part, origin in zip(points, origins, strict=True)])


def pack(values: npt.ArrayLike) -> Packed:
    """Packs an array as float32 for JSON: little-endian numbers in base64."""
    return _pack(np.asarray(values, "<f4"), 1.0)


def pack_coarsely(values: npt.ArrayLike) -> Packed:
    """Packs an array as int16; the step is its greatest absolute value / 32767."""
    values = np.asarray(values, np.float64)
    scale = float(np.nanmax(np.abs(values), initial=0)) / GREATEST or 1.0
    numbers = np.where(np.isnan(values), MISSING, np.round(values / scale))
    return _pack(numbers.astype("<i2"), scale)


def _pack(values: np.ndarray, scale: float) -> Packed:
    data = base64.b64encode(values.tobytes()).decode()
    return {"type": values.dtype.name, "shape": values.shape, "scale": scale, "data": data}
