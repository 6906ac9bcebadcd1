"""Where everything went in an engagement: what plots, pages and viewers draw."""

from bisect import bisect_right
from dataclasses import dataclass, field

import numpy as np

from midrange_puffer.parameters import SEATS
from midrange_puffer.sim import Simulation

# How a missile's flight has gone so far, or ended. `lost`: its target was killed by another one.
FLYING, HIT, SPENT, LOST = "flying", "hit", "spent", "lost"


@dataclass
class Track:
    """The flight of one body, an entry of each list for every time it was noted.

    Attributes:
        times: Since the start [s].
        x, y: [m]
        speed: [m/s]
        heading: Counter-clockwise from +x [rad].
        rudder: Position, -1 (right) to 1 (left).
        load: Lateral acceleration, positive to the left [g].
    """

    times: list[float] = field(default_factory=list)
    x: list[float] = field(default_factory=list)
    y: list[float] = field(default_factory=list)
    speed: list[float] = field(default_factory=list)
    heading: list[float] = field(default_factory=list)
    rudder: list[float] = field(default_factory=list)
    load: list[float] = field(default_factory=list)

    def at(self, time: float) -> int | None:
        """Index of the last entry not after `time`; None before the first."""
        index = bisect_right(self.times, time) - 1
        return index if index >= 0 else None


@dataclass
class FighterTrack(Track):
    """A fighter's flight, up to its death.

    Attributes:
        seat: Red (0) or blue (1).
        throttle: Position, 0 to 1.
        ammo: Missiles left.
        died: When [s]; None while it lives.
    """

    seat: int = 0
    throttle: list[float] = field(default_factory=list)
    ammo: list[int] = field(default_factory=list)
    died: float | None = None


@dataclass
class MissileTrack(Track):
    """A missile's flight, from its launch to its end.

    Attributes:
        owner, target: Fighters.
        launched, burnt_out: When it starts, and when its motor stops [s].
        fate: FLYING, HIT, SPENT or LOST.
    """

    owner: int = 0
    target: int = 1
    launched: float = 0.0
    burnt_out: float = 0.0
    fate: str = FLYING


class Tracks:
    """Follows one engagement of a simulation, from now on.

    Args:
        sim: whose `step` is followed by a `note` every time.
        env: which of its engagements.
    """

    def __init__(self, sim: Simulation, env: int = 0) -> None:
        self._sim = sim
        self._env = env
        self._slots: dict[int, tuple[int, MissileTrack]] = {}  # in the air: age, and its track
        self.fighters = [FighterTrack(seat=seat) for seat in range(len(SEATS))]
        self.missiles: list[MissileTrack] = []
        self.note()

    @property
    def time(self) -> float:
        """Of the simulation [s]."""
        return float(self._sim.time[self._env] * self._sim.parameters["physics_dt"])

    def note(self) -> None:
        """Add where everything is now."""
        fighters = {name: values[self._env] for name, values in self._sim.fighters.items()}
        missiles = {name: values[self._env] for name, values in self._sim.missiles.items()}
        killed = []
        for track in self.fighters:
            if track.died is not None:
                continue
            self._add(track, fighters, track.seat, "fighter")
            track.throttle.append(float(fighters["throttle"][track.seat]))
            track.ammo.append(int(fighters["ammo"][track.seat]))
            if not fighters["alive"][track.seat]:
                track.died = self.time
                killed.append(track)
        ended = self._note_missiles(missiles)
        for track in ended:
            track.fate = LOST if self.fighters[track.target].died is not None else SPENT
        for victim in killed:
            self._mark_hit(victim, [track for track in ended if track.target == victim.seat])

    def cut_back(self) -> None:
        """Forget what is later than the simulation, which has been restored to an earlier state."""
        step = self._sim.parameters["physics_dt"]
        end = self.time + step / 2
        self.missiles = [track for track in self.missiles if track.launched < end - step]
        for track in (*self.fighters, *self.missiles):
            keep = bisect_right(track.times, end)
            for values in vars(track).values():
                if isinstance(values, list):
                    del values[keep:]
        for fighter in self.fighters:
            if fighter.died is not None and fighter.died > end:
                fighter.died = None
        missiles = {name: values[self._env] for name, values in self._sim.missiles.items()}
        tracks = {(track.owner, round(track.launched / step)): track for track in self.missiles}
        self._slots = {}
        for slot in np.flatnonzero(missiles["active"]):
            age = int(missiles["age"][slot])
            track = tracks[missiles["owner"][slot], round(self.time / step) - age]
            track.fate = FLYING
            self._slots[slot] = age, track

    def _note_missiles(self, missiles: dict[str, np.ndarray]) -> list[MissileTrack]:
        """Extend the missiles' tracks; return those that have ended."""
        before, self._slots = self._slots, {}
        ended = []
        for slot in np.flatnonzero(missiles["active"]):
            age, track = before.pop(slot, (0, None))
            if track is None or missiles["age"][slot] <= age:
                if track:  # another one has taken its slot
                    ended.append(track)
                track = self._launched(missiles, slot)
            self._add(track, missiles, slot, "missile")
            self._slots[slot] = int(missiles["age"][slot]), track
        return [*ended, *(track for _, track in before.values())]

    def _launched(self, missiles: dict[str, np.ndarray], slot: int) -> MissileTrack:
        """A new missile's track, begun where its launcher was."""
        parameters = self._sim.parameters
        owner, target = int(missiles["owner"][slot]), int(missiles["target"][slot])
        launched = self.time - float(missiles["age"][slot]) * parameters["physics_dt"]
        track = MissileTrack(owner=owner, target=target, launched=launched)
        track.burnt_out = launched + parameters["missile_burn_time"]
        shooter = self.fighters[owner]
        if launched < self.time and (index := shooter.at(launched + 1e-3)) is not None:
            track.times.append(launched)
            for name in ("x", "y", "speed", "heading"):
                getattr(track, name).append(getattr(shooter, name)[index])
            track.rudder.append(0.0)
            track.load.append(0.0)
        self.missiles.append(track)
        return track

    def _mark_hit(self, victim: FighterTrack, ended: list[MissileTrack]) -> None:
        """Of the missiles that ended with their target, the nearest one has hit it.

        There is none to be seen where it was launched in the very decision.
        """
        if not ended:
            return
        x, y = victim.x[-1], victim.y[-1]
        hit = min(ended, key=lambda track: np.hypot(track.x[-1] - x, track.y[-1] - y))
        for name in ("speed", "heading", "rudder", "load"):
            getattr(hit, name).append(getattr(hit, name)[-1])
        hit.times.append(victim.times[-1])
        hit.x.append(x)
        hit.y.append(y)
        hit.fate = HIT

    def _add(self, track: Track, bodies: dict[str, np.ndarray], index: int, kind: str) -> None:
        """Add an entry of what fighters and missiles have in common."""
        track.times.append(self.time)
        for name in ("x", "y", "speed", "heading", "rudder"):
            getattr(track, name).append(float(bodies[name][index]))
        track.load.append(
            load_factor(self._sim.parameters, kind, track.speed[-1], track.rudder[-1])
        )


def load_factor(parameters: dict[str, float], kind: str, speed: float, rudder: float) -> float:
    """Lateral acceleration [g] of a "fighter" or "missile", positive to the left."""
    load = speed**2 * rudder / parameters[f"{kind}_turn_radius"] / parameters["gravity"]
    limit = parameters[f"{kind}_load_limit"]
    return float(np.clip(load, -limit, limit)) if limit else load


def energy_height(parameters: dict[str, float], speed: float) -> float:
    """Specific energy as a height, v² / 2g [m]; the plane is flat."""
    return speed**2 / (2 * parameters["gravity"])


def outcome_words(sim: Simulation, env: int = 0) -> str:
    """The outcome of an engagement, as "open", "red wins" or "draw by time"."""
    outcome, alive = sim.outcome[env], sim.fighters["alive"][env]
    if outcome == 0:
        return "open"
    if outcome in (1, 2):
        return f"{SEATS[outcome - 1]} wins"
    if sim.truncated[env]:
        return "draw by time"
    return "draw, no missiles left" if alive.any() else "mutual kill"
