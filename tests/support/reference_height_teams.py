"""Teams with height a second time, in float64 Python, written from csrc/RULES.md alone.

What teams have as in the plane is inherited from reference_teams.py, and what fights with height
have from reference_height_fight.py.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import hypot

import numpy as np
from reference_height_fight import (
    INBOUND,
    NEAR_TIME,
    OWN,
    Fight,
    Fighter,
    Missile,
    Reach,
    least_distance,
    time_to_go,
)
from reference_teams import Teams

SIDES = 2


@dataclass(kw_only=True)
class HeightTeams(Fight, Teams):
    """A fight of teams with height; `types` are of each fighter."""

    reach: Mapping[tuple[int, int], Reach]  # of a fighter's missiles on an enemy, by both

    count_pressing, geometry = Teams.count_pressing, Teams.geometry
    target_of = Teams.target_of

    def reaches(self, seat: int, enemy: int) -> Sequence[Reach]:
        return [self.reach[seat, enemy]]

    def enemy_seat(self, seat: int) -> int:
        return self.targets[seat]

    def r_max(self, pilot: object, seat: int, enemy: int) -> float:
        return self.reach[seat, enemy].r_max(self.fighters[seat], self.known(seat, enemy))

    def full_load(self, seat: int) -> int:
        return super().full_load(self.side(seat))

    def missiles_of(self, seat: int) -> Reach:
        """Returns the estimates for a fighter's missiles; R_max is the same for all enemies."""
        return self.reach[seat, self.members(1 - self.side(seat))[0]]

    # One decision

    launch = Teams.launch

    def spend(self, fighter: Fighter) -> None:
        fighter.left[0] -= 1

    def missile_of(self, fighter: Fighter, seat: int) -> Missile:
        state = fighter.state[:7].copy()
        state[:3] += self.p["missile_launch_offset"] * fighter.direction
        return Missile(state, owner=seat, target=seat)

    def toward_target(self, missile: Missile) -> np.ndarray:
        return self.target_of(missile).position - missile.position

    def step(self, commands: Sequence[tuple[tuple[float, float], float, int]]) -> None:
        missiles, lines = self.missiles, [self.toward_target(m) for m in self.missiles]
        asked = [self.asked(m) for m in missiles]
        alive = [fighter.alive for fighter in self.fighters]
        for seat, (stick, throttle, _) in enumerate(commands):
            self.fly_fighter(seat, stick, throttle)
            if seat in self.ghosts:
                self.fly_body(self.ghosts[seat], seat, stick, throttle)
        for missile, lift in zip(missiles, asked, strict=True):
            self.fly_missile(missile, lift)
        self.time += 1
        passes = [
            least_distance(line, self.toward_target(m))
            for m, line in zip(missiles, lines, strict=True)
        ]
        self.missiles = []
        for missile, passed in zip(missiles, passes, strict=True):
            hit = self.below("fuze", passed, self.p["missile_hit_radius"])
            if hit and alive[missile.target]:
                self.die(missile.target)
            elif not self.spent(missile):
                self.missiles.append(missile)
        for seat, fighter in enumerate(self.fighters):
            if fighter.alive and self.below("ground", fighter.z, 0):
                self.die(seat)
        self.straighten()

    def aim(self, missile: Missile) -> Fighter:
        if missile.target in self.ghosts:  # it may fly through: there a millimetre is a sharp turn
            self.margins.append(("phantom", hypot(*self.toward_target(missile))))
        return self.target_of(missile)

    # Observation

    def observe(self, seat: int) -> dict[str, float]:
        """Returns the values of a fighter's features, but for the rows that are zeros."""
        own, side = self.fighters[seat], self.side(seat)
        if not own.alive:
            return {}
        out = self.own_values(seat)
        for name, of in (("own", side), ("enemy", 1 - side)):
            out[f"{name}_survivors"] = len(self.living(of))
        for kind, of in (("ally", side), ("enemy", 1 - side)):
            others = [n for n in self.living(of) if n != seat]
            others.sort(key=lambda n: self.range(own, self.fighters[n]))
            for rank, number in enumerate(others, 1):
                features = self.other_values(seat, number).items()
                out |= {f"{kind}_{rank}_{name}": value for name, value in features}
        for kind, shots, count in (
            ("inbound", self.inbound(seat), INBOUND),
            ("own_missile", self.own_missiles(seat), OWN),
        ):
            shots.sort(key=lambda m: (time_to_go(m, self.target_of(m)), -m.age))
            for rank, shot in enumerate(shots[:count], 1):
                features = self.shown(own, shot, self.target_of(shot)).items()
                out |= {f"{kind}_{rank}_{name}": value for name, value in features}
        return out

    def other_values(self, seat: int, number: int) -> dict[str, float]:
        """Returns the features of another fighter."""
        own, other = self.fighters[seat], self.fighters[number]
        stores = self.stores(other, number)
        kept = ("speed", "rudder", "ammunition", "reload", "lift_limit", "thrust")
        times = [time_to_go(m, other) for m in self.inbound(number)]
        return self.place_of(own, other) | {
            "present": 1.0,
            **{name: stores[name] for name in kept},
            "climb": other.state[8],
            "own_reach": self.missiles_of(seat).r_max(own, other) - self.range(own, other),
            "reach": self.missiles_of(number).r_max(other, own) - self.range(own, other),
            "inbound": len(times),
            "urgency": NEAR_TIME / (NEAR_TIME + min(times)) if times else 0.0,
        }
