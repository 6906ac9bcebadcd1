"""Warnings of inbound missiles: their direction, their time to impact, and advice."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from midrange_puffer.game.parameters import RADAR, has_height
from midrange_puffer.game.paths import clock
from midrange_puffer.game.shots import FlyOuts
from midrange_puffer.game.simulation import Simulation
from midrange_puffer.game.spacetime import SpaceTime, pair_graph
from midrange_puffer.replays.session import Session
from midrange_puffer.show.play.debrief import EscapeCheck
from midrange_puffer.show.play.launch import judge_shot
from midrange_puffer.show.play.words import TOO_LATE
from midrange_puffer.show.view.moment import Moment, moment

BEHIND = math.radians(150)  # a missile at a larger bearing is behind and should stay there
LOW = 1_500.0  # m: below it no dive is advised
INTERVAL = 0.2  # s of the fight between two checks of the space-time graph
HEIGHT_INTERVAL = 0.5  # the same with height, where shots are flown out, too


@dataclass(frozen=True)
class Threat:
    """A missile in the air that flies at a human's fighter.

    Attributes:
        bearing: From the nose, positive to the left [rad].
        seconds: Time to impact at the present closing speed; None if the distance grows or is
            unknown.
        outrun: True if the missile misses, provided both fighters hold their controls.
        above: Angle of the missile above the horizon [rad]; 0 in the plane.
    """

    bearing: float
    seconds: float | None
    outrun: bool
    above: float = 0.0

    @property
    def words(self) -> str:
        """The warning, with its direction."""
        place = clock(self.bearing, self.above)
        if self.outrun:
            return f"missile {place}: outrun"
        soon = "" if self.seconds is None else f"  {self.seconds:.0f} s"
        return f"MISSILE  {place}{soon}"


def find_threats(sim: Simulation, graph: SpaceTime, number: int | None = None) -> list[Threat]:
    """Returns the missiles that fly at the fighter of a space-time graph, the shortest time first.

    Missiles that are outrun come last.

    Args:
        sim: The simulation of the engagement.
        graph: The fighter's graph.
        number: The fighter's number in the simulation; None: the graph's seat (one against one).
    """
    number = graph.seat if number is None else number
    threats = []
    for prediction in graph.missiles:
        if prediction.target == graph.seat:
            hit = prediction.ended if prediction.hits else None
            is_harmless = prediction.harmless is not None
            threats.append(threat_of(sim, number, prediction.slot, hit, is_harmless))
    return sorted(threats, key=urgency)


def urgency(threat: Threat) -> tuple[bool, float]:
    """Returns what threats are sorted by: their times; those that are outrun come last."""
    return threat.outrun, math.inf if threat.seconds is None else threat.seconds


def threat_of(
    sim: Simulation, number: int, slot: int, hit: float | None, is_harmless: bool
) -> Threat:
    """Returns the threat of a missile to a fighter.

    Args:
        sim: The simulation of the engagement.
        number: The fighter's number.
        slot: The missile's slot.
        hit: Time until it hits while both fighters hold their controls [s]; None if it misses.
        is_harmless: True if it then comes no nearer.
    """
    fighter = {name: values[0, number] for name, values in sim.fighters.items()}
    missile = {name: values[0, slot] for name, values in sim.missiles.items()}
    axes = [axis for axis in ("x", "y", "z") if axis in missile]
    away = np.array([missile[axis] - fighter[axis] for axis in axes], float)
    speed = np.array([missile[f"v{axis}"] - fighter[f"v{axis}"] for axis in axes], float)
    distance = float(np.linalg.norm(away))
    closing = -float(away @ speed) / max(distance, 1.0)
    seconds = distance / closing if closing > 0 else None
    bearing = math.remainder(math.atan2(away[1], away[0]) - fighter["heading"], math.tau)
    above = math.asin(away[2] / max(distance, 1.0)) if len(axes) == 3 else 0.0
    misses = hit is None and (is_harmless or closing <= 0)
    return Threat(bearing, seconds if hit is None else hit, misses, above)


def heard_threats(known: Moment, fighter: int) -> list[Threat]:
    """Returns the missiles that a fighter's receiver warns of, the one nearest the nose first."""
    heading = known.fighters[fighter].heading
    bearings = [
        math.remainder(warning.bearing - heading, math.tau)
        for warning in known.warnings
        if warning.is_seeker and warning.fighter == fighter
    ]
    return [Threat(bearing, None, outrun=False) for bearing in sorted(bearings, key=abs)]


def advice(threats: Sequence[Threat], height: float | None = None, is_late: bool = False) -> str:
    """Returns the manoeuvre against the first of the missiles; "" if none must be avoided.

    Args:
        threats: The missiles.
        height: The fighter's height [m]; None in the plane.
        is_late: True if no escape evades them any more.
    """
    if not threats or threats[0].outrun:
        return ""
    if is_late:
        return TOO_LATE
    bearing = threats[0].bearing
    words = f"turn {'right' if bearing > 0 else 'left'} until it is behind you"
    if abs(bearing) >= BEHIND:
        words = "keep it behind you"
    return words if height is None or height < LOW else f"dive, and {words}"


class Lookout:
    """Regular computations of each human's space-time graph, for warnings and for the debriefing.

    The space-time graph predicts, for the next seconds, which missiles hit the human's fighter and
    whether a full turn away to the left or to the right evades them, with height in a dive.

    * The debriefing uses the true graph, in games with and without sensors.
    * The warnings use the true graph in games without sensors. With sensors they use the fighter's
      warning receiver.

    Args:
        session: The session with the humans.

    Attributes:
        checks: By side, an `EscapeCheck` for each time at which missiles flew at the fighter.
        threats: By side, the missiles that the human is warned of. Without sensors, the missile
            with the shortest time to impact comes first; with sensors, the one nearest the nose.
        late: By side, true if no escape evades the missiles that the human is warned of. With
            sensors that is unknown to the human, and stays false.
        shots: With height, by side: whether a missile fired now hits, by the target's evasion. With
            sensors the target flies as believed; without a track there is nothing.
    """

    def __init__(self, session: Session) -> None:
        self._session = session
        self.checks: dict[int, list[EscapeCheck]] = {side: [] for side in session.sides}
        self.threats: dict[int, list[Threat]] = {side: [] for side in session.sides}
        self.late: dict[int, bool] = dict.fromkeys(session.sides, False)
        self.shots: dict[int, dict[str, bool]] = {}
        self._interval = INTERVAL
        self._fly_outs: FlyOuts | None = None
        if has_height(session.sim.parameters):
            self._interval = HEIGHT_INTERVAL
            self._fly_outs = FlyOuts(session.sim.parameters, session.paths.types)
        self._looked = -self._interval

    def look(self) -> None:
        """Updates `checks` and `threats`, if enough time has passed since the last time."""
        sim, paths = self._session.sim, self._session.paths
        if paths.time - self._looked < self._interval:
            return
        self._looked = paths.time
        for side, fighter in self._session.sides.items():
            graph = pair_graph(sim, 0, fighter)
            inbound = [m.escape_miss for m in graph.missiles if m.target == graph.seat]
            self.threats[side] = (
                heard_threats(moment(paths, side=side), fighter)
                if sim.parameters["sensing"] == RADAR
                else find_threats(sim, graph, fighter)
            )
            is_open = any(all(misses[way] > 0 for misses in inbound) for way in (0, 1))
            self.late[side] = not is_open and sim.parameters["sensing"] != RADAR
            if inbound:
                self.checks[side].append(EscapeCheck(paths.time, is_open))
            if self._fly_outs is not None:
                self.shots[side] = judge_shot(self._session, self._fly_outs, fighter)

    def forget(self, fighter: int) -> None:
        """Clears checks and threats of the human that has just taken over a fighter."""
        for side, flown in self._session.sides.items():
            if flown == fighter:
                self.checks[side], self.threats[side] = [], []

    def cut_back(self) -> None:
        """Removes all entries after the fight's present time, once the fight was rewound."""
        now = self._session.paths.time
        self._looked = now - self._interval
        for side, checks in self.checks.items():
            self.checks[side] = [check for check in checks if check.time <= now]
            self.threats[side] = []
