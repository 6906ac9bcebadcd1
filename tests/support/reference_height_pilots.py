"""The scripted pilots with height a second time, written from csrc/RULES.md alone.

They fly as in the plane, by the horizontal parts of their courses: `Pilot` of reference_pilots.py
gets a body's horizontal place and heading.
"""

from collections.abc import Sequence
from math import cos, radians, sin

import numpy as np
from reference import Parameters, clip
from reference_height_fight import Body, Fight, Fighter, Missile, off_nose, sight
from reference_pilots import Pilot, tactics

PEACEFUL = ("straight", "weave")
CLIMB_TIME = 8.0  # s; in which it would reach its height
PURSUED = 60.0  # m/s; by which a fighter that runs gets faster
STEEPEST = 0.5  # sine


class HeightPilot(Pilot):
    """A scripted pilot: `control(fight, seat)` is its (rudder, climb, throttle, fire).

    Args:
        name: of the pilot.
        p: parameters whose draws are narrowed to one value, but for the heights.
        heights: at which it flies in the seats of red and blue [m].
    """

    def __init__(self, name: str, p: Parameters, heights: Sequence[float] = (0, 0)) -> None:
        self.name, self.p, self.heights = name, p, heights
        if name not in PEACEFUL:
            self.tactics = tactics(name, p)

    def control(self, fight: Fight, seat: int) -> tuple[float, float, float, float]:
        """Returns the controls for the next decision."""
        if self.name == "straight":
            return 0.0, 0.0, 1.0, 0.0
        if self.name == "weave":
            return self.weave(fight), 0.0, 1.0, 0.0
        fighter, enemy = fight.fighters[seat], fight.enemy_of(seat)
        rudder = self.steer(fight, fighter, *self.course(fight, seat))
        fires = self.wants_to_fire(fight, seat, enemy)
        return rudder, self.climb(fight, seat), 1.0, float(fires)

    def steer(self, fight: Fight, fighter: Body, x: float, y: float) -> float:
        """Returns the rudder toward a course, which is the horizontal part of a unit vector."""
        ahead, left, _ = fighter.seen(np.array([x, y, 0]))
        if ahead < 0:
            return -1.0 if fight.below("side", left, 0) else 1.0
        return clip(self.p["pilot_steering"] * left, -1, 1)

    def climb(self, fight: Fight, seat: int) -> float:
        """Returns a dive while it evades, else what brings it to its height."""
        fighter = fight.fighters[seat]
        if any(self.evades(fight, shot, fighter) for shot in fight.inbound(seat)):
            return -self.p["pilot_dive"]
        sine = (self.heights[seat] - fighter.z) / (CLIMB_TIME * fighter.speed)
        most = sin(radians(fight.types[seat].aircraft["climb_max_deg"]))
        return clip(sine, -STEEPEST, STEEPEST) / most

    def spare(self, fight: Fight, missile: Missile, fighter: Body) -> float:
        """Returns by what distance a missile could run the fighter down, guard included."""
        facing = (1 + off_nose(fighter, missile)) / 2
        gain = fight.chase(missile, fighter, PURSUED)
        return gain - sight(fighter, missile)[2] + self.tactics.guard * facing

    def wants_to_fire(self, fight: Fight, seat: int, enemy: Fighter) -> bool:
        """True if it would launch, were that allowed."""
        fighter, distance = fight.fighters[seat], fight.range(fight.fighters[seat], enemy)
        limit = cos(radians(self.p["pilot_fire_off_boresight_deg"]))
        on_the_nose = fight.below("boresight", limit, off_nose(fighter, enemy))
        far = self.tactics.far * fight.reach[seat].r_max(fighter, enemy)
        near = self.tactics.near * fight.reach[seat].r_nez(fighter, enemy)
        probes = fight.below("range", distance, far) and fighter.ammo > self.tactics.reserve
        in_range = fight.below("range", distance, near) or probes
        return on_the_nose and in_range and len(fight.own_missiles(seat)) < self.tactics.salvo
