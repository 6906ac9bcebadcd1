"""Closed forms of the flight law without load limit, and the numbers of the base airframes.

Straight flight and circles have exact solutions: v dv/dx = a - Cd v^2 is linear in v^2. SI units.
"""

from dataclasses import dataclass
from math import atanh, cosh, exp, log, sqrt, tanh

GRAVITY = 9.8
HIT_RADIUS = 100.0
BURN_TIME = 10.0


@dataclass(frozen=True)
class Body:
    terminal_speed: float
    turn_radius: float
    lift_drag: float
    thrust: float

    @property
    def zero_lift_drag(self) -> float:
        return GRAVITY / self.terminal_speed**2

    def drag(self, rudder: float = 0.0) -> float:
        induced = 1 / (4 * self.zero_lift_drag * self.lift_drag**2)
        return self.zero_lift_drag + induced * (rudder / self.turn_radius) ** 2

    def rest_speed(self, rudder: float = 0.0, throttle: float = 1.0) -> float:
        """Returns the speed of equal thrust and drag: P1 straight, P2 in a turn."""
        return sqrt(throttle * self.thrust / self.drag(rudder))

    def boost(self, speed: float, time: float) -> tuple[float, float]:
        """Returns distance and speed after thrusting straight for `time` (P4)."""
        top = self.rest_speed()
        tau = top / self.thrust
        phi = atanh(speed / top)
        end = time / tau + phi
        return top * tau * log(cosh(end) / cosh(phi)), top * tanh(end)

    def coast(self, speed: float, time: float) -> tuple[float, float]:
        """Returns distance and speed after coasting straight for `time` (P5)."""
        end = speed / (1 + self.zero_lift_drag * speed * time)
        return log(speed / end) / self.zero_lift_drag, end

    def coast_to(self, speed: float, end_speed: float) -> tuple[float, float]:
        """Returns distance and time of slowing to `end_speed` (P5 inverted)."""
        distance = log(speed / end_speed) / self.zero_lift_drag
        return distance, (1 / end_speed - 1 / speed) / self.zero_lift_drag

    def speed_on_circle(self, speed: float, rudder: float, throttle: float, arc: float) -> float:
        """Returns the speed after flying an arc of that length (P6)."""
        rest2 = self.rest_speed(rudder, throttle) ** 2
        return sqrt(rest2 + (speed**2 - rest2) * exp(-2 * self.drag(rudder) * arc))


FIGHTER = Body(terminal_speed=400, turn_radius=1000, lift_drag=5, thrust=14.7)
MISSILE = Body(terminal_speed=400, turn_radius=1000, lift_drag=2, thrust=147)


def chase_reach(speed: float) -> float:
    """Returns the distance that a burnt-out missile gains on a fighter that runs at top speed."""
    top = FIGHTER.rest_speed()
    distance, time = MISSILE.coast_to(speed, top)
    return distance - top * time
