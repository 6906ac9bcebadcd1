"""The scripted pilots with height a second time, written from csrc/RULES.md alone.

They fly as in the plane, by the horizontal parts of their courses: `Pilot` of reference_pilots.py
gets a body's horizontal place and heading.
"""

from collections.abc import Sequence
from dataclasses import replace
from math import cos, radians, sin

import numpy as np
from reference import Parameters, clip
from reference_height_fight import Body, Fight, Fighter, Missile, Reach, off_nose, sight
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
        if name == "ace":
            self.tactics = replace(
                self.tactics,
                far=1.75 * self.tactics.far,
                near=1.3 * self.tactics.near,
                reserve=self.tactics.reserve + 1,
                evade_time=1.5 * self.tactics.evade_time,
                guard=4 * self.tactics.guard,
            )

    def control(self, fight: Fight, seat: int) -> tuple[float, float, float, float]:
        """Returns the controls for the next decision."""
        if self.name == "straight":
            return 0.0, 0.0, 1.0, 0.0
        if self.name == "weave":
            return self.weave(fight), 0.0, 1.0, 0.0
        fighter, enemy = fight.fighters[seat], fight.enemy_of(seat)
        rudder = self.steer(fight, fighter, *self.course(fight, seat))
        return rudder, self.climb(fight, seat), 1.0, float(self.shot(fight, seat, enemy))

    def steer(self, fight: Fight, fighter: Body, x: float, y: float) -> float:
        """Returns the rudder toward a course, which is the horizontal part of a unit vector."""
        ahead, left, _ = fighter.seen(np.array([x, y, 0]))
        if ahead < 0:
            return -1.0 if fight.below("side", left, 0) else 1.0
        return clip(self.p["pilot_steering"] * left, -1, 1)

    def climb(self, fight: Fight, seat: int) -> float:
        """Returns a dive while it evades, else what brings it to its height."""
        fighter = fight.fighters[seat]
        if self.is_threatened(fight, seat):
            return -self.p["pilot_dive"]
        sine = (self.heights[seat] - fighter.z) / (CLIMB_TIME * fighter.speed)
        most = sin(radians(fight.types[seat].aircraft["climb_max_deg"]))
        return clip(sine, -STEEPEST, STEEPEST) / most

    def is_threatened(self, fight: Fight, seat: int) -> bool:
        """True if it evades a missile."""
        fighter = fight.fighters[seat]
        return any(self.evades(fight, shot, fighter) for shot in fight.inbound(seat))

    def spare(self, fight: Fight, missile: Missile, fighter: Body) -> float:
        """Returns by what distance a missile could run the fighter down, guard included."""
        facing = (1 + off_nose(fighter, missile)) / 2
        gain = fight.chase(missile, fighter, PURSUED)
        return gain - sight(fighter, missile)[2] + self.tactics.guard * facing

    def shot(self, fight: Fight, seat: int, enemy: Fighter) -> int:
        """Returns the kind that it would launch, were that allowed, from 1; 0 for none."""
        fighter, reach = fight.fighters[seat], fight.reaches(seat, fight.enemy_seat(seat))
        limit = cos(radians(self.p["pilot_fire_off_boresight_deg"]))
        on_the_nose = fight.below("boresight", limit, off_nose(fighter, enemy))
        if not on_the_nose or len(fight.own_missiles(seat)) >= self.tactics.salvo:
            return 0
        several = len(fighter.left) > 1
        kinds = [
            kind
            for kind, of in enumerate(reach)
            if self.in_range(fight, fighter, enemy, of) and (fighter.left[kind] or not several)
        ]
        return 1 + min(kinds, key=lambda kind: reach[kind].r_max(fighter, enemy)) if kinds else 0

    def in_range(self, fight: Fight, fighter: Fighter, enemy: Fighter, reach: Reach) -> bool:
        """True if its tactics fire a missile of such a reach."""
        distance = fight.range(fighter, enemy)
        far = self.tactics.far * reach.r_max(fighter, enemy)
        near = self.tactics.near * reach.r_nez(fighter, enemy)
        probes = fight.below("range", distance, far) and fighter.ammo > self.tactics.reserve
        return fight.below("range", distance, near) or probes
