"""Paths of fighters and missiles in an engagement, for plots, pages and viewers."""

import math
from bisect import bisect_right
from dataclasses import dataclass, field

import numpy as np

from midrange_puffer.game.contacts import (
    LINKED,
    LIVE,
    MEMORY,
    ContactPath,
    Course,
    contact_places,
    note_contacts,
)
from midrange_puffer.game.parameters import RADAR, SEATS, sizes_of
from midrange_puffer.game.simulation import SOURCES, Simulation

SPEED_OF_SOUND = 340.0  # m/s, of which Mach numbers are
# The state or end of a missile's flight. `lost`: its target was killed by another missile.
FLYING, HIT, SPENT, LOST = "flying", "hit", "spent", "lost"
# Guidance of a missile: by its target's last believed position; by its fighter's track; by its own
# seeker's lock; in teams, by the track of a wingman's radar. Without sensors its seeker has a lock.
ALONE, SUPPORTED, ACTIVE, RELAYED = range(4)


_BY_SOURCE = np.full(len(SOURCES), ALONE)  # by the source of the contact with the target
_BY_SOURCE[[LIVE, MEMORY, LINKED]] = SUPPORTED, SUPPORTED, RELAYED


@dataclass
class BodyPath(Course):
    """The flight of one body.

    Attributes:
        rudder: Position, -1 (right) to 1 (left).
        load: Lateral acceleration, positive to the left [g].
    """

    rudder: list[float] = field(default_factory=list)
    load: list[float] = field(default_factory=list)


@dataclass
class FighterPath(BodyPath):
    """A fighter's flight, up to its death.

    Attributes:
        number: Of the fighter; red's come first.
        side: Red (0) or blue (1).
        throttle: Position, 0 to 1.
        ammo: Missiles left.
        died: Time of death [s]; None while it lives.
    """

    number: int = 0
    side: int = 0
    throttle: list[float] = field(default_factory=list)
    ammo: list[int] = field(default_factory=list)
    died: float | None = None


@dataclass
class MissilePath(BodyPath):
    """A missile's flight, from its launch to its end.

    A missile that flies less than a decision leaves little data: its path goes straight to the
    target that it hits, or stays at the launch point, and its target is the nearest enemy.

    Attributes:
        owner: The fighter that launched it.
        targets: The fighter that it flew at, for every time noted. When a target has died, the next
            target is noted in the same decision.
        launched, burnt_out: Times of launch and of the motor's end [s].
        fate: FLYING, HIT, SPENT or LOST.
        guided: ALONE, SUPPORTED, ACTIVE or RELAYED, for every time noted.
    """

    owner: int = 0
    launched: float = 0.0
    burnt_out: float = 0.0
    fate: str = FLYING
    targets: list[int] = field(default_factory=list)
    guided: list[int] = field(default_factory=list)

    @property
    def target(self) -> int:
        """The fighter that it flew at last; after a hit the fighter that it has hit."""
        return self.targets[-1]


class Paths:
    """Follows one engagement of a simulation, from now on.

    Args:
        sim: the simulation; call `note` after each `step`.
        env: the engagement.

    Attributes:
        sizes: The fighters of red and of blue.
        fighters, missiles: Their paths. Fighters are in the order of their numbers.
        contacts: Of each fighter with each enemy; empty without sensors.
    """

    def __init__(self, sim: Simulation, env: int = 0) -> None:
        self._sim = sim
        self._env = env
        self._has_sensors = sim.parameters["sensing"] == RADAR
        self._slots: dict[int, tuple[int, MissilePath]] = {}  # in the air: age, and its path
        self._hits = self._hit_counts()
        self.sizes = sizes_of(sim.parameters)
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

    def note(self) -> None:
        """Adds the present moment to all paths."""
        fighters = {name: values[self._env] for name, values in self._sim.fighters.items()}
        missiles = self._missiles()
        if self._has_sensors:
            note_contacts(self.contacts, self._sim, self._env, self.time)
        killed = []
        for path in self.fighters:
            if path.died is not None:
                continue
            self._add(path, fighters, path.number, "fighter")
            path.throttle.append(float(fighters["throttle"][path.number]))
            path.ammo.append(int(fighters["ammo"][path.number]))
            if not fighters["alive"][path.number]:
                path.died = self.time
                killed.append(path)
        known = len(self.missiles)
        ended = self._note_missiles(missiles)
        unseen = self._add_unseen(self.missiles[known:])
        for path in (*ended, *unseen):
            path.fate = LOST if self.fighters[path.target].died is not None else SPENT
        if killed:
            self._mark_hits(killed, ended, unseen)
        for path in unseen:
            if path.fate != HIT:
                self._end(path, path.x[0], path.y[0], path.target)

    def cut_back(self) -> None:
        """Removes all entries later than the simulation, after it was restored to a snapshot."""
        step = self._sim.parameters["physics_dt"]
        end = self.time + step / 2
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
                path = paths[missiles["owner"][slot], round(self.time / step) - age]
                path.fate = FLYING
            else:  # dropped above with those launched in the next decision
                path = self._launched(missiles, slot)
                self._add_missile(path, missiles, slot)
            self._slots[slot] = age, path

    def _missiles(self) -> dict[str, np.ndarray]:
        """Returns all slots, with the guidance of the missiles in them."""
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
                if path:  # another one has taken its slot
                    ended.append(path)
                path = self._launched(missiles, slot)
            self._add_missile(path, missiles, slot)
            self._slots[slot] = int(missiles["age"][slot]), path
        return [*ended, *(path for _, path in before.values())]

    def _add_unseen(self, seen: list[MissilePath]) -> list[MissilePath]:
        """Adds paths of missiles that were launched and ended since the last time; returns them.

        Their launchers' missile counts show them.

        Args:
            seen: the missiles launched since then that are in the air.
        """
        owners = [path.owner for path in seen]
        unseen = []
        for shooter in self.fighters:
            if len(shooter.times) > 1 and shooter.times[-1] == self.time:
                fired = shooter.ammo[-2] - shooter.ammo[-1]
                for _ in range(fired - owners.count(shooter.number)):
                    target = self._nearest_enemy(shooter)
                    unseen.append(self._begin(shooter.number, target, shooter.times[-2]))
        return unseen

    def _nearest_enemy(self, shooter: FighterPath) -> int:
        """Returns the nearest enemy that lived at the start of the last decision."""

        def order(path: FighterPath) -> tuple[bool, float]:
            index = path.at(shooter.times[-2])
            if index is None:
                return True, math.inf
            away = math.dist((path.x[index], path.y[index]), (shooter.x[-2], shooter.y[-2]))
            return path.times[-1] < self.time, away

        enemies = (path for path in self.fighters if path.side != shooter.side)
        return min(enemies, key=order).number

    def _launched(self, missiles: dict[str, np.ndarray], slot: int) -> MissilePath:
        """Returns the path of a new missile in the air."""
        owner, target = int(missiles["owner"][slot]), int(missiles["target"][slot])
        # In whole steps, so that it equals the time of its launcher's entry to the bit.
        launched = int(self._sim.time[self._env]) - int(missiles["age"][slot])
        return self._begin(owner, target, launched * self._sim.parameters["physics_dt"])

    def _begin(self, owner: int, target: int, launched: float) -> MissilePath:
        """Returns a new missile's path, which begins at its launcher."""
        path = MissilePath(owner=owner, launched=launched)
        path.burnt_out = launched + self._sim.parameters["missile_burn_time"]
        shooter = self.fighters[owner]
        if launched < self.time and (index := shooter.at(launched + 1e-3)) is not None:
            path.times.append(launched)
            for name in ("x", "y", "speed", "heading"):
                getattr(path, name).append(getattr(shooter, name)[index])
            path.rudder.append(0.0)
            path.load.append(0.0)
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
        """Marks the missiles that have hit the fighters killed now.

        Of the missiles that ended with their target, and of those unseen, it was the nearest
        whose owner has a new hit. Victims with a missile seen to end come first.
        """
        before, self._hits = self._hits, self._hit_counts()
        left = self._hits - before

        seen = {path.target for path in ended}
        for victim in sorted(killed, key=lambda fighter: fighter.number not in seen):
            x, y = victim.x[-1], victim.y[-1]
            paths = [path for path in ended if path.target == victim.number]
            paths += [path for path in unseen if self.fighters[path.owner].side != victim.side]
            paths = [path for path in paths if left[path.owner] and path.fate != HIT]
            if paths:
                hit = min(paths, key=lambda path: math.dist((path.x[-1], path.y[-1]), (x, y)))
                self._end(hit, x, y, victim.number)
                hit.fate = HIT
                left[hit.owner] -= 1

    def _end(self, path: MissilePath, x: float, y: float, target: int) -> None:
        """Adds the end of a missile that is no longer in the air, by its last entry."""
        path.times.append(self.time)
        path.x.append(x)
        path.y.append(y)
        for name in ("speed", "heading", "rudder", "load", "guided"):
            getattr(path, name).append(getattr(path, name)[-1])
        path.targets.append(target)

    def _add_missile(self, path: MissilePath, missiles: dict[str, np.ndarray], slot: int) -> None:
        self._add(path, missiles, slot, "missile")
        path.targets.append(int(missiles["target"][slot]))
        path.guided.append(int(missiles["guided"][slot]))

    def _add(self, path: BodyPath, bodies: dict[str, np.ndarray], index: int, kind: str) -> None:
        """Adds an entry of the values that fighters and missiles share."""
        path.times.append(self.time)
        for name in ("x", "y", "speed", "heading", "rudder"):
            getattr(path, name).append(float(bodies[name][index]))
        path.load.append(load_factor(self._sim.parameters, kind, path.speed[-1], path.rudder[-1]))


def load_factor(parameters: dict[str, float], kind: str, speed: float, rudder: float) -> float:
    """Returns the lateral acceleration [g] of a "fighter" or "missile", positive to the left."""
    load = speed**2 * rudder / parameters[f"{kind}_turn_radius"] / parameters["gravity"]
    limit = parameters[f"{kind}_load_limit"]
    return float(np.clip(load, -limit, limit)) if limit else load


def outcome_words(sim: Simulation, env: int = 0) -> str:
    """Returns the outcome of an engagement, as "open", "red wins" or "draw by time".

    In teams it also counts the living, as "red wins, 3 of 4 left" or "blue wins by time, 2 to 3".
    """
    outcome = sim.outcome[env]
    if outcome == 0:
        return "open"
    sizes = sizes_of(sim.parameters)
    sides = np.split(sim.fighters["alive"][env], [sizes[0]])
    left = [int(side.sum()) for side in sides]
    how = " by time" if sim.truncated[env] else ", no missiles left" if min(left) else ""
    if outcome not in (1, 2):
        words = f"draw{how}" if any(left) else "mutual kill"
    elif sum(sizes) == 2:  # also by a pressing_margin
        words = f"{SEATS[outcome - 1]} wins"
    else:
        words = f"{SEATS[outcome - 1]} wins{how}"
    if sum(sizes) == 2 or not any(left):
        return words
    if min(left):
        return f"{words}, {left[0]} to {left[1]}"
    return f"{words}, {max(left)} of {sizes[outcome - 1]} left"
