"""The line of a mission, which the attacker has to cross."""

from dataclasses import dataclass

from midrange_puffer.game.parameters import ESCORT, has_mission, sizes_of
from midrange_puffer.game.simulation import Simulation


@dataclass(frozen=True)
class Line:
    """The line of a mission.

    Attributes:
        way: Direction of the attack, straight across the line, a unit vector.
        at: Its distance from the origin along `way` [m].
        attacker: The side that attacks: red (0) or blue (1).
        transport: Number of the fighter that has to cross it; None: any attacker.
    """

    way: tuple[float, float]
    at: float
    attacker: int
    transport: int | None

    def distance(self, x: float, y: float) -> float:
        """Returns the distance from a place to the line [m]; below 0 beyond it."""
        return self.at - (self.way[0] * x + self.way[1] * y)

    def foot(self, x: float, y: float) -> tuple[float, float]:
        """Returns the point of the line that is nearest to a place [m]."""
        ahead = self.distance(x, y)
        return x + ahead * self.way[0], y + ahead * self.way[1]

    def ends(self, x: float, y: float, half: float) -> tuple[tuple[float, float], ...]:
        """Returns the two points of the line `half` metres to both sides of a place's foot."""
        foot_x, foot_y = self.foot(x, y)
        (ahead_x, ahead_y) = self.way
        return (
            (foot_x - half * ahead_y, foot_y + half * ahead_x),
            (foot_x + half * ahead_y, foot_y - half * ahead_x),
        )


def line_of(sim: Simulation, env: int = 0) -> Line | None:
    """Returns the line of an engagement; None if it has no mission."""
    if not has_mission(sim.parameters):
        return None
    state = {name: values[env, 0] for name, values in sim.core.read("engagement").items()}
    attacker, (red, blue) = int(state["attacker"]) - 1, sizes_of(sim.parameters)
    last = red - 1 if attacker == 0 else red + blue - 1
    transport = last if sim.parameters["mission"] == ESCORT else None
    way = float(state["line_x"]), float(state["line_y"])
    return Line(way, float(state["line_at"]), attacker, transport)
