"""Inbound missiles, as a pilot is warned of them: from where, how soon, and what to do."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from midrange_puffer.game.simulation import Simulation
from midrange_puffer.game.spacetime import SpaceTime
from midrange_puffer.show.view.moment import Moment

BEHIND = math.radians(150)  # from here on a missile is behind, and to be kept there


@dataclass(frozen=True)
class Threat:
    """A missile in the air that goes for a seat.

    Attributes:
        bearing: from the nose, positive to the left [rad].
        seconds: until it is here if it goes on closing in as it does; None if it falls back.
        outrun: whether it comes to nothing if both fighters hold their controls.
    """

    bearing: float
    seconds: float | None
    outrun: bool

    @property
    def clock(self) -> int:
        """The hour at which it is, with the nose at twelve."""
        return round(-self.bearing / (math.tau / 12)) % 12 or 12

    @property
    def words(self) -> str:
        """The warning."""
        where = f"{self.clock} o'clock"
        if self.outrun:
            return f"missile {where}: outrun"
        soon = "" if self.seconds is None else f"  {self.seconds:.0f} s"
        return f"MISSILE  {where}{soon}"


def find_threats(sim: Simulation, graph: SpaceTime, number: int | None = None) -> list[Threat]:
    """The missiles that go for the fighter of a space-time graph, the most pressing first.

    Args:
        number: of that fighter in the simulation; in one against one the graph's seat.
    """
    number = graph.seat if number is None else number
    fighter = {name: values[0, number] for name, values in sim.fighters.items()}
    threats = []
    for one in graph.missiles:
        if one.target != graph.seat:
            continue
        missile = {name: values[0, one.slot] for name, values in sim.missiles.items()}
        away = np.array([missile[axis] - fighter[axis] for axis in ("x", "y")], float)
        speed = np.array([missile[axis] - fighter[axis] for axis in ("vx", "vy")], float)
        distance = float(np.hypot(*away))
        closing = -float(away @ speed) / max(distance, 1.0)
        seconds = distance / closing if closing > 0 else None
        bearing = math.remainder(math.atan2(away[1], away[0]) - fighter["heading"], math.tau)
        is_outrun = not one.hits and (one.harmless is not None or closing <= 0)
        threats.append(Threat(bearing, one.ended if one.hits else seconds, is_outrun))
    return sorted(threats, key=lambda one: (one.outrun, _soon(one)))


def heard_threats(known: Moment, fighter: int) -> list[Threat]:
    """The missiles that the receiver of a fighter warns of, the one nearest its nose first."""
    heading = known.fighters[fighter].heading
    bearings = [
        math.remainder(warning.bearing - heading, math.tau)
        for warning in known.warnings
        if warning.is_seeker and warning.fighter == fighter
    ]
    return [Threat(bearing, None, outrun=False) for bearing in sorted(bearings, key=abs)]


def _soon(threat: Threat) -> float:
    """Seconds, of which there is no end where it falls back; 0 is the most pressing."""
    return math.inf if threat.seconds is None else threat.seconds


def advice(threats: Sequence[Threat]) -> str:
    """What keeps the most pressing one off; nothing where none presses."""
    if not threats or threats[0].outrun:
        return ""
    bearing = threats[0].bearing
    if abs(bearing) >= BEHIND:
        return "keep it behind you"
    return f"turn {'right' if bearing > 0 else 'left'} until it is behind you"
