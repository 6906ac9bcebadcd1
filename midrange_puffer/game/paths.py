"""Paths of fighters and missiles in an engagement, for plots, web pages and viewers."""

import math
from bisect import bisect_right
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from midrange_puffer.game.contacts import (
    LINKED,
    LIVE,
    MEMORY,
    ContactPath,
    Course,
    climb_angle,
    contact_places,
    note_contacts,
)
from midrange_puffer.game.flown_types import DrawnTypes, drawn_types
from midrange_puffer.game.mission_line import line_of
from midrange_puffer.game.parameters import RADAR, SEATS, has_systems, kinds_of, sizes_of
from midrange_puffer.game.readings import SOURCES
from midrange_puffer.game.simulation import Simulation
from midrange_puffer.game.types import AIRCRAFT, MISSILE, parse_types, types_of

STEEP = math.radians(10)  # a direction farther above or below the horizon is high or low
# The state or end of a missile's flight. LOST: another missile killed its target.
FLYING, HIT, SPENT, LOST = "flying", "hit", "spent", "lost"
# The source of a missile's guidance:
# * ALONE: the last believed position of its target;
# * SUPPORTED: the track of its fighter's radar;
# * ACTIVE: the lock of its own seeker; always in games without sensors;
# * RELAYED: in teams, the track of an ally's radar.
ALONE, SUPPORTED, ACTIVE, RELAYED = range(4)


_BY_SOURCE = np.full(len(SOURCES), ALONE)  # guidance by source of the contact with the target
_BY_SOURCE[[LIVE, MEMORY, LINKED]] = SUPPORTED, SUPPORTED, RELAYED

# "aircraft" -> of each fighter, and "missile" -> of each side, of each type in its loadout -> the
# name of its type and of the type of the package that this is based on; empty in the plane.
Types = dict[str, list[list[tuple[str, str]]]]


@dataclass
class BodyPath(Course):
    """The flight of one body.

    Attributes:
        rudder: Position, -1 (right) to 1 (left).
        load: Lateral acceleration, positive to the left [g]. With height it is the mean since the
            entry before, and so is `lift`.
        lift: With height: the upward part of the acceleration by lift, 1 in level flight [g]; empty
            in the plane.
    """

    rudder: list[float] = field(default_factory=list)
    load: list[float] = field(default_factory=list)
    lift: list[float] = field(default_factory=list)

    def place(self, index: int = -1) -> tuple[float, ...]:
        """Returns the position at an entry [m]: x and y, with height also z."""
        flat = self.x[index], self.y[index]
        return (*flat, self.z[index]) if self.z else flat


@dataclass
class FighterPath(BodyPath):
    """A fighter's flight, up to its death.

    Attributes:
        number: Number of the fighter; red's fighters come first.
        side: Red (0) or blue (1).
        throttle: Position, 0 to 1.
        ammo: Missiles left.
        ammo_2, ammo_3: Those of the second and third type in a loadout; empty without a loadout.
        silent: 1 while its radar is silent; this and the next ones are empty without emission
            control and chaff.
        chaff: Cartridges left.
        cloud_x, cloud_y, cloud_z: Place of its cloud of chaff [m]; not-a-number without one.
        died: Time of death [s]; None while it lives.
    """

    number: int = 0
    side: int = 0
    throttle: list[float] = field(default_factory=list)
    ammo: list[int] = field(default_factory=list)
    ammo_2: list[int] = field(default_factory=list)
    ammo_3: list[int] = field(default_factory=list)
    silent: list[int] = field(default_factory=list)
    chaff: list[int] = field(default_factory=list)
    cloud_x: list[float] = field(default_factory=list)
    cloud_y: list[float] = field(default_factory=list)
    cloud_z: list[float] = field(default_factory=list)
    died: float | None = None

    def cloud(self, index: int = -1) -> tuple[float, float, float] | None:
        """Returns the place of its cloud of chaff at an entry [m]; None without one."""
        if not self.cloud_x or math.isnan(self.cloud_x[index]):
            return None
        return self.cloud_x[index], self.cloud_y[index], self.cloud_z[index]

    def note_systems(self, systems: Mapping[str, np.ndarray]) -> None:
        """Adds an entry of its systems, from those of all fighters, `Simulation.systems`."""
        own = {name: values[self.number].item() for name, values in systems.items()}
        self.silent.append(own["silent"])
        self.chaff.append(own["chaff"])
        for values, name in ((self.cloud_x, "x"), (self.cloud_y, "y"), (self.cloud_z, "z")):
            values.append(own[name] if own["cloud"] else math.nan)

    def missiles_left(self, index: int = -1) -> tuple[int, ...]:
        """Returns the missiles of each type in its loadout that are left at an entry."""
        others = [values[index] for values in (self.ammo_2, self.ammo_3) if values]
        return (self.ammo[index] - sum(others), *others)


@dataclass
class MissilePath(BodyPath):
    """A missile's flight, from its launch to its end.

    Paths are noted once a decision, so a flight within one decision is not seen. Its path is then a
    straight line to the target that it hits. If it hits nothing, it stays at the launch point, and
    the nearest enemy counts as its target.

    Attributes:
        owner: The fighter that launched it.
        targets: Its target at every noted time. When a target has died, the next target is noted in
            the same decision.
        launched, burnt_out: Times of launch and of the motor's end [s].
        fate: FLYING, HIT, SPENT or LOST.
        guided: ALONE, SUPPORTED, ACTIVE or RELAYED, for every noted time.
        kind: Place of its type in the loadout of its owner.
    """

    owner: int = 0
    kind: int = 0
    launched: float = 0.0
    burnt_out: float = 0.0
    fate: str = FLYING
    targets: list[int] = field(default_factory=list)
    guided: list[int] = field(default_factory=list)

    @property
    def target(self) -> int:
        """Its last target; after a hit, the fighter that it has hit."""
        return self.targets[-1]


class Paths:
    """The paths of one engagement of a simulation, from the time of construction on.

    Args:
        sim: the simulation; call `note` after each `step`.
        env: the engagement.

    Attributes:
        sizes: Numbers of red's and blue's fighters.
        fighters: Paths of the fighters, in the order of their numbers.
        missiles: Paths of the missiles.
        contacts: Each fighter's contact with each enemy; empty in games without sensors.
        gravity: Of the game [m/s²].
        types: The types that the fight has drawn.
        factors: The factors that it has drawn, of each fighter, as of `DrawnTypes`; empty in the
            plane.
        line: The line of a mission; None without one.
    """

    def __init__(self, sim: Simulation, env: int = 0) -> None:
        self._sim = sim
        self._env = env
        self.gravity: float = sim.parameters["gravity"]
        self.types, self._motor_times = _types(sim, env)
        self.factors = [fighter.factors for fighter in drawn_types(sim.core, env)]
        self._has_sensors = sim.parameters["sensing"] == RADAR
        self._has_loadouts = kinds_of(sim.parameters) > 1
        self._has_systems = has_systems(sim.parameters)
        self._slots: dict[int, tuple[int, MissilePath]] = {}  # missiles in the air: age, path
        self._hits = self._hit_counts()
        self._now = 0.0  # the time of the last note, as `time` asks the simulation
        self.sizes = sizes_of(sim.parameters)
        self.line = line_of(sim, env)
        self.fighters = [
            FighterPath(number=number, side=side)
            for number, side in enumerate(np.repeat(range(len(SEATS)), self.sizes).tolist())
        ]
        self.missiles: list[MissilePath] = []
        self.contacts = [
            ContactPath(fighter=own.number, enemy=enemy.number)
            for own in self.fighters
            for enemy in self.fighters
            if self._has_sensors and own.side != enemy.side
        ]
        self.note()

    @property
    def time(self) -> float:
        """The simulation's time [s]."""
        return float(self._sim.time[self._env] * self._sim.parameters["physics_dt"])

    @property
    def has_height(self) -> bool:
        """True if the fight is in three dimensions."""
        return bool(self.fighters[0].z)

    @property
    def transport(self) -> int | None:
        """Number of the transport of a mission, which flies itself; None without one."""
        return None if self.line is None else self.line.transport

    def note(self) -> None:
        """Adds the simulation's present state to all paths."""
        self._now = self.time
        fighters = {name: values[self._env] for name, values in self._sim.fighters.items()}
        loadouts = self._sim.ammo_by_type[self._env] if self._has_loadouts else None
        systems = {}
        if self._has_systems:
            systems = {name: values[self._env] for name, values in self._sim.systems.items()}
        missiles = self._missiles()
        if self._has_sensors:
            note_contacts(self.contacts, self._sim, self._env, self._now)
        killed = []
        for path in self.fighters:
            if path.died is not None:
                continue
            self._add(path, fighters, path.number, "fighter")
            path.throttle.append(float(fighters["throttle"][path.number]))
            path.ammo.append(int(fighters["ammo"][path.number]))
            if systems:
                path.note_systems(systems)
            if loadouts is not None:
                for values, left in zip(
                    (path.ammo_2, path.ammo_3), loadouts[path.number][1:], strict=True
                ):
                    values.append(int(left))
            if not fighters["alive"][path.number]:
                path.died = self._now
                killed.append(path)
        count = len(self.missiles)
        ended = self._note_missiles(missiles)
        unseen = self._add_unseen(self.missiles[count:])
        for path in (*ended, *unseen):
            path.fate = LOST if self.fighters[path.target].died is not None else SPENT
        if killed:
            self._mark_hits(killed, ended, unseen)
        for path in unseen:
            if path.fate != HIT:
                self._end(path, path.place(0), path.target)

    def cut_back(self) -> None:
        """Removes all entries after the simulation's time, once it was restored to a snapshot."""
        step = self._sim.parameters["physics_dt"]
        self._now = self.time
        end = self._now + step / 2
        self.missiles = [path for path in self.missiles if path.launched < end - step]
        for path in (*self.fighters, *self.missiles, *self.contacts):
            keep = bisect_right(path.times, end)
            for values in vars(path).values():
                if isinstance(values, list):
                    del values[keep:]
        for fighter in self.fighters:
            if fighter.died is not None and fighter.died > end:
                fighter.died = None
        self._hits = self._hit_counts()
        missiles = self._missiles()
        paths = {(path.owner, round(path.launched / step)): path for path in self.missiles}
        self._slots = {}
        for slot in np.flatnonzero(missiles["active"]):
            age = int(missiles["age"][slot])
            if age:
                path = paths[missiles["owner"][slot], round(self._now / step) - age]
                path.fate = FLYING
            else:  # launched just now, so its path was dropped above
                path = self._launched(missiles, slot)
                self._add_missile(path, missiles, slot)
            self._slots[slot] = age, path

    def _missiles(self) -> dict[str, np.ndarray]:
        """Returns the fields of all missile slots, with "guided": the source of guidance."""
        missiles = {name: values[self._env] for name, values in self._sim.missiles.items()}
        guided = np.full(len(missiles["active"]), ACTIVE)
        if self._has_sensors:
            locked = self._sim.beliefs["locked"][self._env]
            sources, places = self._sim.contacts["source"][self._env], contact_places(self._sim)
            for slot in np.flatnonzero(missiles["active"]):
                target = int(missiles["owner"][slot]), int(missiles["target"][slot])
                guided[slot] = ACTIVE if locked[slot] else _BY_SOURCE[sources[places[target]]]
        return missiles | {"guided": guided}

    def _note_missiles(self, missiles: dict[str, np.ndarray]) -> list[MissilePath]:
        """Extends the missiles' paths; returns those that have ended."""
        before, self._slots = self._slots, {}
        ended = []
        for slot in np.flatnonzero(missiles["active"]):
            age, path = before.pop(slot, (0, None))
            if path is None or missiles["age"][slot] <= age:
                if path:  # a new missile has taken its slot
                    ended.append(path)
                path = self._launched(missiles, slot)
            self._add_missile(path, missiles, slot)
            self._slots[slot] = int(missiles["age"][slot]), path
        return [*ended, *(path for _, path in before.values())]

    def _add_unseen(self, seen: list[MissilePath]) -> list[MissilePath]:
        """Adds paths of missiles that were launched and ended since the last `note`; returns them.

        They are found by the missile counts of their launchers.

        Args:
            seen: the missiles that were launched since then and are in the air.
        """
        owners = [path.owner for path in seen]
        unseen = []
        for shooter in self.fighters:
            if len(shooter.times) > 1 and shooter.times[-1] == self._now:
                fired = shooter.ammo[-2] - shooter.ammo[-1]
                for _ in range(fired - owners.count(shooter.number)):
                    target = self._nearest_enemy(shooter)
                    unseen.append(self._begin(shooter.number, target, shooter.times[-2]))
        return unseen

    def _nearest_enemy(self, shooter: FighterPath) -> int:
        """Returns the enemy nearest at the start of the last decision, of those alive then."""

        def order(path: FighterPath) -> tuple[bool, float]:
            index = path.at(shooter.times[-2])
            if index is None:
                return True, math.inf
            away = math.dist(path.place(index), shooter.place(-2))
            return path.times[-1] < self._now, away

        enemies = (path for path in self.fighters if path.side != shooter.side)
        return min(enemies, key=order).number

    def _launched(self, missiles: dict[str, np.ndarray], slot: int) -> MissilePath:
        """Returns the path of a missile that is in the air and has none yet."""
        owner, target = int(missiles["owner"][slot]), int(missiles["target"][slot])
        # Computed from whole steps, so that it equals the noted time of the launcher to the bit.
        launched = int(self._sim.time[self._env]) - int(missiles["age"][slot])
        kind = int(missiles["kind"][slot]) if "kind" in missiles else 0
        return self._begin(owner, target, launched * self._sim.parameters["physics_dt"], kind)

    def _begin(self, owner: int, target: int, launched: float, kind: int = 0) -> MissilePath:
        """Returns a new missile's path, which begins at its launcher's position."""
        path = MissilePath(owner=owner, launched=launched, kind=kind)
        shooter = self.fighters[owner]
        path.burnt_out = launched + self._motor_times[shooter.side][kind]
        if launched < self._now and (index := shooter.at(launched + 1e-3)) is not None:
            path.times.append(launched)
            for name in ("x", "y", "speed", "heading"):
                getattr(path, name).append(getattr(shooter, name)[index])
            path.rudder.append(0.0)
            path.load.append(0.0)
            if shooter.z:
                path.z.append(shooter.z[index])
                path.climb.append(shooter.climb[index])
                path.lift.append(math.cos(path.climb[-1]))
            path.targets.append(target)
            path.guided.append(SUPPORTED if self._has_sensors else ACTIVE)
        self.missiles.append(path)
        return path

    def _hit_counts(self) -> np.ndarray:
        """Returns the number of hits of each fighter so far."""
        return self._sim.core.read("fighter")["hits"][self._env]

    def _mark_hits(
        self, killed: list[FighterPath], ended: list[MissilePath], unseen: list[MissilePath]
    ) -> None:
        """Marks the missiles that have hit the fighters killed in the last decision.

        The core does not tell which missile hit. Candidates are the missiles whose target was the
        victim when they ended, and the unseen ones of the other side; their owner's hit count must
        have risen. Of these the nearest is marked. Victims with a candidate of the first kind come
        first.
        """
        before, self._hits = self._hits, self._hit_counts()
        left = self._hits - before

        seen = {path.target for path in ended}
        for victim in sorted(killed, key=lambda fighter: fighter.number not in seen):
            place = victim.place()
            paths = [path for path in ended if path.target == victim.number]
            paths += [path for path in unseen if self.fighters[path.owner].side != victim.side]
            paths = [path for path in paths if left[path.owner] and path.fate != HIT]
            if paths:
                hit = min(paths, key=lambda path: math.dist(path.place(), place))
                self._end(hit, place, victim.number)
                hit.fate = HIT
                left[hit.owner] -= 1

    def _end(self, path: MissilePath, place: tuple[float, ...], target: int) -> None:
        """Adds the last entry of a missile that is no longer in the air, at the given position."""
        path.times.append(self._now)
        for values, value in zip((path.x, path.y, path.z), place, strict=False):
            values.append(value)
        for name in ("speed", "heading", "rudder", "load", "climb", "lift", "guided"):
            values = getattr(path, name)
            values.extend(values[-1:])  # none in the plane, where there is no climb
        path.targets.append(target)

    def _add_missile(self, path: MissilePath, missiles: dict[str, np.ndarray], slot: int) -> None:
        self._add(path, missiles, slot, "missile")
        path.targets.append(int(missiles["target"][slot]))
        path.guided.append(int(missiles["guided"][slot]))

    def _add(self, path: BodyPath, bodies: dict[str, np.ndarray], index: int, kind: str) -> None:
        """Adds an entry of the values that fighters and missiles have in common."""
        path.times.append(self._now)
        for name in ("x", "y", "speed", "heading", "rudder"):
            getattr(path, name).append(float(bodies[name][index]))
        if "z" not in bodies:
            load = load_factor(self._sim.parameters, kind, path.speed[-1], path.rudder[-1])
            path.load.append(load)
            return
        path.z.append(float(bodies["z"][index]))
        path.climb.append(climb_angle(float(bodies["vz"][index]), path.speed[-1]))
        left, up = _loads(path, self._sim.parameters["gravity"])
        path.load.append(left)
        path.lift.append(up)


def _types(sim: Simulation, env: int) -> tuple[Types, list[list[float]]]:
    """Returns the `types` of an engagement, and how long each side's motors burn [s]."""
    red_size, _ = sizes_of(sim.parameters)
    drawn = drawn_types(sim.core, env)
    if not drawn:
        return {}, [[sim.parameters["missile_burn_time"]]] * len(SEATS)
    sides = drawn[0], drawn[red_size]
    changes = parse_types(sim.parameters["types"])
    fields = types_of(changes)[MISSILE]

    def named(name: str) -> tuple[str, str]:
        return name, changes[name].base if name in changes else name

    def burns(side: DrawnTypes, name: str) -> float:
        burn = fields[name]["burn_time"] + fields[name]["sustain_time"]
        return side.factors["missile_burn_time_factor"] * burn

    types = {
        AIRCRAFT: [[named(fighter.aircraft)] for fighter in drawn],
        MISSILE: [[named(name) for name in side.missiles] for side in sides],
    }
    return types, [[burns(side, name) for name in side.missiles] for side in sides]


def clock(bearing: float, above: float = 0.0) -> str:
    """Returns a direction in words, such as "2 o'clock high": an hour, with the nose at twelve.

    Args:
        bearing: From the nose, positive to the left [rad].
        above: Angle above the horizon [rad].
    """
    hour = round(-bearing / (math.tau / 12)) % 12 or 12
    level = " high" if above > STEEP else " low" if above < -STEEP else ""
    return f"{hour} o'clock{level}"


def _loads(path: BodyPath, gravity: float) -> tuple[float, float]:
    """Returns the mean acceleration by lift since the last entry, to the left and upward [g].

    Across the path, in a vertical plane v dγ/dt = up - g cos γ; to the left v cos γ dψ/dt = left.
    """
    climb, speed = path.climb[-1], path.speed[-1]
    if len(path.times) < 2 or path.times[-1] <= path.times[-2]:
        return 0.0, math.cos(climb)
    rate = speed / (path.times[-1] - path.times[-2]) / gravity
    turn = math.remainder(path.heading[-1] - path.heading[-2], 2 * math.pi)
    return rate * math.cos(climb) * turn, rate * (climb - path.climb[-2]) + math.cos(climb)


def load_factor(parameters: dict[str, float], kind: str, speed: float, rudder: float) -> float:
    """Returns the lateral acceleration [g] of a "fighter" or "missile", positive to the left."""
    load = speed**2 * rudder / parameters[f"{kind}_turn_radius"] / parameters["gravity"]
    limit = parameters[f"{kind}_load_limit"]
    return float(np.clip(load, -limit, limit)) if limit else load
