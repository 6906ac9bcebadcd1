"""Contacts in games with sensors: their course over time, and an engagement as believed."""

import math
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import product

import numpy as np

from midrange_puffer.game.observation import HEARD, RADAR_FEATURES, team_rows
from midrange_puffer.game.parameters import (
    EFFECT_NEEDS,
    FULL,
    JAMMERS,
    NOISE,
    PARAMETERS,
    RADAR,
    has_systems,
    is_team,
    sizes_of,
)
from midrange_puffer.game.readings import SOURCES, TRACKING
from midrange_puffer.game.settable import NO_SYSTEMS
from midrange_puffer.game.simulation import Simulation
from midrange_puffer.game.targets import duel_parameters

# The source of a contact, as an index into SOURCES.
UNSEEN, LIVE, MEMORY, LOST, LINKED = range(len(SOURCES))
TRACKS = tuple(SOURCES.index(name) for name in TRACKING)
# Levels of the warning receiver for an enemy's radar.
SILENT, SEARCHED, TRACKED = range(3)
_SAME_BEARING = math.cos(math.radians(0.1))  # 0.1 degrees, far above the rounding of bearings
# With height the observation begins alike.
_PLACE = {feature.name: place for place, feature in enumerate(RADAR_FEATURES)}


@dataclass
class Course:
    """The course of a body, or of the belief about one: lists with an entry for each noted time.

    Attributes:
        times: Since the start [s].
        x, y: Position [m].
        speed: [m/s]
        heading: Counter-clockwise from +x [rad].
        z: With height: height [m]; empty in the plane, as is the next one.
        climb: Angle of the climb [rad].
    """

    times: list[float] = field(default_factory=list)
    x: list[float] = field(default_factory=list)
    y: list[float] = field(default_factory=list)
    speed: list[float] = field(default_factory=list)
    heading: list[float] = field(default_factory=list)
    z: list[float] = field(default_factory=list)
    climb: list[float] = field(default_factory=list)

    def at(self, time: float) -> int | None:
        """Returns the index of the last entry not after `time`; None before the first."""
        index = bisect_right(self.times, time) - 1
        return index if index >= 0 else None


@dataclass
class ContactPath(Course):
    """A fighter's contact with an enemy over time, and the warnings of that enemy's radar.

    The course is the believed one.

    Attributes:
        fighter, enemy: The fighter that has the contact, and the enemy.
        source: An index into `SOURCES`.
        age: Time since the enemy was last seen [s].
        deviation: Standard deviation of the believed place [m]; 0 without noise.
        heard: Warning of that enemy's radar: SILENT, SEARCHED or TRACKED.
        bearing: Direction of that radar, counter-clockwise from +x [rad].
    """

    fighter: int = 0
    enemy: int = 1
    source: list[int] = field(default_factory=list)
    age: list[float] = field(default_factory=list)
    deviation: list[float] = field(default_factory=list)
    heard: list[int] = field(default_factory=list)
    bearing: list[float] = field(default_factory=list)


def note_contacts(contacts: list[ContactPath], sim: Simulation, env: int, time: float) -> None:
    """Adds the simulation's present state to all contacts, as an entry at `time` [s]."""
    state = {name: values[env] for name, values in sim.contacts.items()}
    places = contact_places(sim)
    heard = (_heard_in_team if is_team(sim.parameters) else _heard)(contacts, sim, env)
    for path, (level, bearing) in zip(contacts, heard, strict=True):
        place = places[path.fighter, path.enemy]
        path.times.append(time)
        for name in ("x", "y", "heading", "speed"):
            getattr(path, name).append(float(state[name][place]))
        if "z" in state:
            path.z.append(float(state["z"][place]))
            path.climb.append(climb_angle(float(state["vz"][place]), path.speed[-1]))
        path.source.append(int(state["source"][place]))
        path.deviation.append(float(state["deviation"][place]))
        path.age.append(float(state["age"][place] * sim.parameters["physics_dt"]))
        path.heard.append(level)
        path.bearing.append(bearing)


def climb_angle(rise: float, speed: float) -> float:
    """Returns the angle of a climb [rad] from the speed upward and the speed [m/s]; 0 at rest."""
    return math.asin(min(max(rise / max(speed, 1e-3), -1.0), 1.0))


def quality(source: int, age: float) -> tuple[bool, bool, float]:
    """Returns the order of contacts: those with a track are best, and of several the one seen last.

    Args:
        source: An index into `SOURCES`.
        age: Time since the enemy was last seen, in any unit.
    """
    return source in TRACKS, source != UNSEEN, -age


def best_contact(contacts: Sequence[ContactPath]) -> ContactPath:
    """Returns a side's belief about one enemy over time, from its fighters' contacts with it.

    At each time it is the best by `quality`. The warnings are left out: they are of
    one fighter.
    """
    best = ContactPath(fighter=contacts[0].fighter, enemy=contacts[0].enemy)
    lists = [name for name, values in vars(contacts[0]).items() if isinstance(values, list)]
    for i in range(len(contacts[0].times)):
        chosen = max(contacts, key=lambda path: quality(path.source[i], path.age[i]))
        for name in lists:
            if name not in ("heard", "bearing") and (values := getattr(chosen, name)):
                getattr(best, name).append(values[i])
    return best


def contact_places(sim: Simulation) -> dict[tuple[int, int], tuple[int, ...]]:
    """Returns the index in `sim.contacts` of an engagement, by (fighter, enemy)."""
    red, blue = sizes_of(sim.parameters)
    if not is_team(sim.parameters):
        return {(0, 1): (0,), (1, 0): (1,)}
    enemies = product(range(red), range(red, red + blue))
    places = {(own, enemy): (own, enemy - red) for own, enemy in enemies}
    return places | {(enemy, own): (enemy, own) for own, enemy in places}


Heard = Iterator[tuple[int, float]]  # level of the warning, and direction of the radar [rad]


def _heard(contacts: list[ContactPath], sim: Simulation, env: int) -> Heard:
    """Yields the warning for each contact in one against one, from the observations."""
    views, headings = sim.observe()[env], sim.fighters["heading"][env]
    for path in contacts:
        view = {name: views[path.fighter, place] for name, place in _PLACE.items()}
        level = SEARCHED * bool(view["receiver_searched"])
        level += TRACKED * bool(view["receiver_tracked"])
        off_nose = np.arctan2(view["receiver_left"], view["receiver_ahead"])
        yield level, float(headings[path.fighter] + off_nose)


def _heard_in_team(contacts: list[ContactPath], sim: Simulation, env: int) -> Heard:
    """Yields the warning for each contact in teams, from the observations.

    An observation does not name the enemy whose radar is heard: its bearing identifies it.
    """
    game = sim.parameters
    dimensions, systems = game["dimensions"], has_systems(game)
    kinds = team_rows(*sizes_of(game), RADAR, dimensions, game["mission"], systems)
    [heard] = [kind for kind in kinds if kind.kind == HEARD]
    rows = slice(heard.place, heard.place + heard.rows * heard.features)
    views, fighters = sim.observe()[env], {n: v[env] for n, v in sim.fighters.items()}
    for path in contacts:
        own, enemy = path.fighter, path.enemy
        dx, dy = (fighters[name][enemy] - fighters[name][own] for name in "xy")
        bearing = math.atan2(dy, dx)
        level = SILENT
        for present, tracked, ahead, left in views[own, rows].reshape(-1, heard.features):
            off = float(fighters["heading"][own]) + math.atan2(left, ahead) - bearing
            if present and math.cos(off) > _SAME_BEARING:
                level = TRACKED if tracked else SEARCHED
        yield level, bearing


def believed(sim: Simulation, env: int, fighter: int, enemy: int | None = None) -> Simulation:
    """Returns the engagement as a fighter believes it: one against one, with full information.

    It serves to compute the fighter's space-time graph and launch zones. In the result, red's
    fighter has number 0 and blue's number 1, also if they have other numbers in `sim`:

    * The own fighter and its missiles at this enemy are copied from `sim`.
    * The enemy is where the fighter's contact says, with its rudder centred and no missile fired.
      If the fighter has no track, the enemy is dead, because its shots cannot be predicted.
    * The enemy's missiles are left out, because the fighter knows no distance to them.
    * The clock starts anew.

    With full information missiles fly at the enemy's position, so here the own missiles fly at the
    believed position. In `sim` they may fly at another one, for example by the lock of their
    seeker.

    Args:
        sim: a game with sensors; it is not changed.
        env: the engagement.
        fighter: the fighter whose belief is computed.
        enemy: the enemy; None: the first of the other side.
    """
    places = contact_places(sim)
    if enemy is None:
        enemy = next(other for own, other in places if own == fighter)
    contact = {name: values[env][places[fighter, enemy]] for name, values in sim.contacts.items()}
    side = int(fighter >= sizes_of(sim.parameters)[0])
    game = duel_parameters(sim, env, *sorted((fighter, enemy)))
    names = (*NOISE, *JAMMERS, *EFFECT_NEEDS, "chaff", "emission_control")
    out = Simulation(1, **dict(game, sensing=FULL, **{n: PARAMETERS[n].default for n in names}))
    out.core.set_fighter(0, side, sim.core.get_fighter(env, fighter) | NO_SYSTEMS)
    state = out.core.get_fighter(0, 1 - side)
    for name in ("x", "y", "z", "speed"):
        state[name] = float(contact.get(name, 0.0))
    if contact["source"] in TRACKS:
        if contact["speed"] >= 1e-3:  # else any direction will do
            for axis in "xyz":
                along = contact.get(f"v{axis}", 0.0)
                state[f"direction_{axis}"] = float(along / contact["speed"])
    else:
        state["alive"] = 0
    out.core.set_fighter(0, 1 - side, state)
    missiles = {name: values[env] for name, values in sim.missiles.items()}
    mine = (missiles["owner"] == fighter) & (missiles["target"] == enemy)
    slots = (mine & (missiles["active"] == 1)).nonzero()[0].tolist()
    for number, slot in enumerate(slots):
        seats = {"owner": side, "target": 1 - side}
        place = number if is_team(sim.parameters) else slot  # a team has more slots than `out`
        out.core.set_missile(0, place, sim.core.get_missile(env, slot) | seats)
    return out
