"""Teams, with and without sensors, by csrc/RULES.md a second time, written from that text alone."""

from collections.abc import Sequence
from copy import copy, deepcopy
from dataclasses import dataclass, field
from math import cos, hypot, radians

import reference_noise as noise
from reference import (
    BLUE,
    BLUE_WINS,
    DRAW,
    RED,
    RED_WINS,
    Body,
    Engagement,
    Fighter,
    Missile,
    guidance,
    least_distance,
    off_boresight,
    whole_steps,
)
from reference_pilots import Pilot
from reference_sensors import (
    LINKED,
    LIVE,
    LOST,
    Belief,
    Contact,
    Sensed,
    SensedPilot,
)


@dataclass
class Teams(Engagement):
    """A fight of more than one on a side."""

    red_size: int = 1
    targets: dict[int, int] = field(default_factory=dict)  # of the pilots, by fighter
    chosen: dict[int, int] = field(default_factory=dict)  # time from which they may choose again
    ghosts: dict[int, Fighter] = field(default_factory=dict)  # who died in this decision, flying on

    def side(self, seat: int) -> int:
        return RED if seat < self.red_size else BLUE

    def members(self, side: int) -> list[int]:
        return [seat for seat in range(len(self.fighters)) if self.side(seat) == side]

    def living(self, side: int) -> list[int]:
        return [seat for seat in self.members(side) if self.fighters[seat].alive]

    def enemy_of(self, seat: int) -> Fighter:
        """Returns the enemy that its pilot flies against."""
        return self.fighters[self.targets[seat]]

    def nearest(self, seat: int) -> Fighter | None:
        """Returns the nearest living enemy."""
        own = self.fighters[seat]
        enemies = [self.fighters[e] for e in self.living(1 - self.side(seat))]
        return self.least("range", enemies, lambda enemy: self.range(own, enemy))

    def least(self, what: str, items: list, key) -> object | None:
        """Returns the item with the least key, or None, and keeps the margin to the next item."""
        ordered = sorted(items, key=key)
        if len(ordered) > 1:
            self.margins.append((what, key(ordered[1]) - key(ordered[0])))
        return ordered[0] if ordered else None

    # One decision

    def decide(self, controls: Sequence[Sequence[float]]) -> list[float]:
        """Plays one decision with (rudder, throttle, fire) of all fighters; returns all rewards."""
        seats = range(len(self.fighters))
        merits = [self.merit(seat) for seat in seats]
        dead = {side: len(self.members(side)) - len(self.living(side)) for side in (RED, BLUE)}
        commands = [self.read(control) for control in controls]
        self.launch([fire for _, _, fire in commands])
        for _ in range(self.p["substeps"]):
            self.step(commands)
        self.find_new_targets()
        self.update_picture(self.p["substeps"])
        self.count_pressing()
        self.judge()
        losses = {side: len(self.members(side)) - len(self.living(side)) for side in (RED, BLUE)}
        pressure = self.p["reward_pressure"] * self.p["substeps"] * self.dt
        gains = [
            (0.0 if self.outcome else self.merit(seat)) - merits[seat]
            + pressure * self.geometry(seat)
            for seat in seats
        ]  # fmt: skip
        means, shares = {}, {}
        for side in (RED, BLUE):
            members = self.members(side)
            means[side] = sum(gains[seat] for seat in members) / len(members)
            shares[side] = (losses[side] - dead[side]) / len(members)
        return [self.reward(seat, gains[seat], means, shares) for seat in seats]

    def reward(self, seat: int, gain: float, means: dict, shares: dict) -> float:
        side, f = self.side(seat), self.p["reward_team"]
        kills = self.p["reward_kill"] * (shares[1 - side] - shares[side])
        return (1 - f) * gain + f * means[side] - means[1 - side] + self.result(side) + kills

    def launch(self, fire: Sequence[bool]) -> None:
        interval = self.steps("launch_interval")
        for seat, fighter in enumerate(self.fighters):
            rested = fighter.last_launch is None or self.time - fighter.last_launch >= interval
            if not (fire[seat] and rested and fighter.alive and fighter.ammo > 0):
                continue
            target = self.shot_at(seat)
            if target is None:
                continue
            self.spend(fighter)
            fighter.last_launch = self.time
            missile = self.missile_of(fighter, seat)
            missile.target = target
            self.missiles.append(missile)

    def spend(self, fighter: Fighter) -> None:
        """Takes a missile from a fighter."""
        fighter.ammo -= 1

    def shot_at(self, seat: int) -> int | None:
        """Returns the target of a shot: the pilot's, else the enemy nearest the nose."""
        if seat in self.targets:
            target = self.targets[seat]
            return target if self.known(seat, target) else None
        own = self.fighters[seat]
        enemies = [e for e in self.living(1 - self.side(seat)) if self.known(seat, e)]
        return self.least("boresight", enemies, lambda e: -self.ahead(own, self.known(seat, e)))

    def step(self, commands: Sequence[tuple[float, float, bool]]) -> None:
        missiles, lines = self.missiles, [self.toward_target(m) for m in self.missiles]
        orders = [guidance(m, self.aim(m), self.p) for m in missiles]
        alive = [fighter.alive for fighter in self.fighters]
        for seat, (rudder, throttle, _) in enumerate(commands):
            if alive[seat] or seat in self.ghosts:
                self.fly_fighter(self.ghosts.get(seat, self.fighters[seat]), rudder, throttle)
        for missile, order in zip(missiles, orders, strict=True):
            self.fly_missile(missile, order)
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

    def die(self, seat: int) -> None:
        if self.fighters[seat].alive:
            self.ghosts[seat] = deepcopy(self.fighters[seat])
            self.fighters[seat].alive = False

    def aim(self, missile: Missile) -> Body:
        target = self.target_of(missile)
        if missile.target in self.ghosts:  # it may fly through: there a millimetre is a sharp turn
            self.margins.append(("phantom", hypot(*self.toward_target(missile))))
        return target

    def target_of(self, missile: Missile) -> Body:
        """Returns the target, also if it has died in this decision."""
        return self.ghosts.get(missile.target, self.fighters[missile.target])

    def toward_target(self, missile: Missile) -> tuple[float, float]:
        target = self.target_of(missile)
        return target.x - missile.x, target.y - missile.y

    def find_new_targets(self) -> None:
        """Finds new targets for the missiles whose targets died in this decision."""
        self.ghosts.clear()
        self.retargeted = 0
        keep = []
        for missile in self.missiles:
            if not self.fighters[missile.target].alive:
                target = self.new_target(missile)
                if target is None:
                    continue
                self.retarget(missile, target)
                self.retargeted += 1
            keep.append(missile)
        self.missiles = keep

    def retarget(self, missile: Missile, target: int) -> None:
        missile.target = target

    def new_target(self, missile: Missile) -> int | None:
        enemies = self.living(1 - self.side(missile.owner))
        seen = [seat for seat in enemies if self.finds(missile, self.fighters[seat])]
        return self.least("cone", seen, lambda e: -self.ahead(missile, self.fighters[e]))

    def finds(self, missile: Missile, enemy: Fighter) -> bool:
        """Returns True if the seeker of a missile without a target sees an enemy."""
        least = cos(radians(self.p["seeker_half_angle_deg"]))
        near = self.below("range", self.range(missile, enemy), self.p["seeker_range"])
        return near and not self.below("cone", self.ahead(missile, enemy), least)

    def count_pressing(self) -> None:
        if not self.steps("pressing_margin"):
            return
        for seat, fighter in enumerate(self.fighters):
            enemy = self.nearest(seat)
            if not fighter.alive or enemy is None:
                continue
            if self.below("beam", 0, self.ahead(fighter, enemy) * self.range(fighter, enemy)):
                fighter.pressed += self.p["substeps"]

    def judge(self) -> None:
        red, blue = len(self.living(RED)), len(self.living(BLUE))
        time_is_up = self.time >= self.steps("time_limit")
        nothing_left = not self.missiles and all(
            fighter.ammo == 0 or not fighter.alive for fighter in self.fighters
        )
        if not red and not blue:
            self.outcome = DRAW
        elif not red or not blue:
            if time_is_up or not self.missiles:
                self.outcome = RED_WINS if red else BLUE_WINS
        elif time_is_up or nothing_left:
            self.outcome, self.truncated = self.by_survivors(red, blue), time_is_up

    def by_survivors(self, red: int, blue: int) -> int:
        if red != blue:
            return RED_WINS if red > blue else BLUE_WINS
        margin = self.steps("pressing_margin")
        lead = sum(self.fighters[seat].pressed for seat in self.members(RED))
        lead -= sum(self.fighters[seat].pressed for seat in self.members(BLUE))
        if not margin or abs(lead) < margin:
            return DRAW
        return RED_WINS if lead > 0 else BLUE_WINS

    # Rewards

    def geometry(self, seat: int) -> float:
        fighter, enemy = self.fighters[seat], self.nearest(seat)
        if not fighter.alive or enemy is None:
            return 0.0
        scale = self.p["reward_geometry_range"]
        return (1 + self.ahead(fighter, enemy)) / 2 * scale / (scale + self.range(fighter, enemy))

    def merit(self, seat: int) -> float:
        fighter, p = self.fighters[seat], self.p
        if not fighter.alive:
            return 0.0
        load = self.full_load(seat)
        ammunition = fighter.ammo / load if load else 0.0
        scale = p["reward_threat_time"]
        threats = [scale / (scale + self.time_to_go(m, fighter)) for m in self.inbound(seat)]
        return (
            p["reward_geometry"] * self.geometry(seat)
            + p["reward_ammunition"] * ammunition
            - p["reward_threat"] * max(threats, default=0.0)
        )

    # Pilots

    def share_targets(self, side: int, pilots: dict[int, Pilot]) -> None:
        """Gives a target to each pilot of a side that may choose one."""
        mine = [seat for seat in self.living(side) if seat in pilots]
        mine = [seat for seat in mine if self.guides_for(seat) is None]
        free = [
            seat
            for seat in mine
            if self.time >= self.chosen.get(seat, 0) or not self.known(seat, self.targets[seat])
        ]
        taken = [self.targets[seat] for seat in mine if seat not in free]
        enemies = self.living(1 - side)
        while choices := [(f, e) for f in free for e in enemies if self.known(f, e)]:
            ordered = sorted(choices, key=lambda c: self.objections(*c, taken, pilots))
            seat, enemy = ordered[0]
            self.note_choice([self.objections(*c, taken, pilots) for c in ordered[:2]])
            self.targets[seat] = enemy
            self.chosen[seat] = self.time + whole_steps(self.p["pilot_target_time"], self.dt)
            taken.append(enemy)
            free.remove(seat)
        for seat in self.living(side):
            if (partner := self.guides_for(seat)) is not None:
                self.targets[seat] = self.targets[partner]

    # `SensedTeams` overrides these

    def known(self, seat: int, enemy: int) -> Body | None:
        """Returns an enemy's body as a fighter knows it, or None."""
        return self.fighters[enemy] if self.fighters[enemy].alive else None

    def menaces(self, enemy: int) -> bool:
        """Returns True if an enemy's missiles fly at the side."""
        return any(m.owner == enemy for m in self.missiles)

    def guides_for(self, seat: int) -> int | None:
        """Returns the partner whose missiles a fighter's radar guides, or None."""
        return None

    def r_max(self, pilot: Pilot, seat: int, enemy: int) -> float:
        """Returns a pilot's R_max on an enemy that it knows."""
        known = self.known(seat, enemy)
        return pilot.r_max(known, self.ahead(known, self.fighters[seat]))

    def note_choice(self, best: list[tuple[int, int, float]]) -> None:
        if len(best) > 1 and best[0][:2] == best[1][:2]:
            self.margins.append(("range", best[1][2] - best[0][2]))

    def objections(
        self, seat: int, enemy: int, taken: list[int], pilots: dict[int, Pilot]
    ) -> tuple[int, int, float]:
        """Returns the objections to a target, the weightiest first."""
        own, other = self.fighters[seat], self.known(seat, enemy)
        margin = self.range(own, other) - self.r_max(pilots[seat], seat, enemy)
        if self.menaces(enemy):
            margin -= self.p["pilot_cover"]
        return taken.count(enemy), len(self.inbound(enemy)), margin


# Teams with sensors


@dataclass
class SensedTeams(Sensed, Teams):
    """A fight of teams with sensors."""

    contacts: dict[tuple[int, int], Contact] = field(default_factory=dict)  # by fighter, enemy
    pairs: frozenset[int] = frozenset()  # fighters that the pilot `pair` flies

    def contact_of(self, missile: Missile) -> Contact:
        return self.contacts[missile.owner, missile.target]

    def contact_with_enemy(self, seat: int) -> Contact:
        return self.contacts[seat, self.targets[seat]]

    def contacts_of(self, seat: int) -> list[Contact]:
        return [contact for (own, _), contact in self.contacts.items() if own == seat]

    def known(self, seat: int, enemy: int) -> Body | None:
        contact = self.contacts[seat, enemy]
        return contact.body if contact.is_track and self.fighters[enemy].alive else None

    def update_contacts(self, steps: int, time: float) -> None:
        before = {key: copy(contact) for key, contact in self.contacts.items()}
        for (seat, enemy), contact in self.contacts.items():
            own, other = self.fighters[seat], self.fighters[enemy]
            self.update_contact(own, other, contact, steps, time)
            tracked = [
                before[ally, enemy]
                for ally in self.members(self.side(seat))
                if ally != seat and before[ally, enemy].source == LIVE
            ]
            if tracked and contact.source != LIVE:
                contact.source, contact.age = LINKED, steps
                own_track = [before[seat, enemy]] * (before[seat, enemy].source == LIVE)
                best = min((*own_track, *tracked), key=lambda c: c.along[0, 0] + c.across[0, 0])
                contact.body = self.straight_on(best.body, time)
                if noise.is_noisy(self.p):
                    contact.along, contact.across = (
                        noise.grown(covariance, time, self.p["track_acceleration"])
                        for covariance in (best.along, best.across)
                    )
            if contact.is_track and not other.alive:
                contact.source = LOST

    def finds(self, missile: Missile, enemy: Fighter) -> bool:
        reach = self.p["seeker_range"] * self.echo(enemy)
        return self.sees("seeker", missile, enemy, reach)

    def retarget(self, missile: Missile, target: int) -> None:
        super().retarget(missile, target)
        belief = Belief(self.straight_on(self.fighters[target], 0), locked=True)
        self.beliefs[self.key(missile)] = belief
        # It is believed to be there now, which an update after these steps must not fly on.
        belief.body = self.straight_on(belief.body, -(self.time - self.updated) * self.dt)

    def radars(self, seat: int) -> list[tuple[int, tuple[float, float], bool]]:
        """Returns the radars that a receiver hears: owner, direction, and True if it tracks."""
        own, out = self.fighters[seat], []
        for enemy in self.members(1 - self.side(seat)):
            if direction := self.hears(own, self.fighters[enemy]):
                out.append((enemy, direction, self.contacts[enemy, seat].source == LIVE))
        return out

    def heard(self, seat: int) -> tuple[tuple[float, float], bool] | None:
        """Returns the direction of the radar whose nose is nearest, and True if it tracks."""
        own, radars = self.fighters[seat], self.radars(seat)
        pressing = [radar for radar in radars if radar[2]] or radars
        most = self.least("boresight", pressing, lambda r: -off_boresight(own, *r[1])[0])
        return most and most[1:]

    def menaces(self, enemy: int) -> bool:
        members = self.members(1 - self.side(enemy))
        return any(who == enemy and tracks for f in members for who, _, tracks in self.radars(f))

    # The pilot `pair`

    def partner(self, seat: int) -> int | None:
        members = self.members(self.side(seat))
        place = members.index(seat) ^ 1
        if place >= len(members):
            return None
        both = {seat, members[place]}
        fly = both <= self.pairs and all(self.fighters[f].alive for f in both)
        return members[place] if fly else None

    def unlocked(self, seat: int) -> bool:
        """Returns True if a missile of a fighter has no lock."""
        missiles = self.own_missiles(seat)
        return any(not (b := self.beliefs.get(self.key(m))) or not b.locked for m in missiles)

    def guides_for(self, seat: int) -> int | None:
        partner = self.partner(seat)
        guides = partner is not None and self.unlocked(partner) and not self.unlocked(seat)
        return partner if guides else None


class SensedTeamPilot(SensedPilot):
    """A scripted pilot of a team that knows what its sensors show it."""

    def control(self, engagement: SensedTeams, seat: int) -> tuple[float, float, float]:
        rudder, throttle, fire = super().control(engagement, seat)
        partner = engagement.partner(seat)
        is_second = partner is not None and partner < seat
        if is_second and self.control(engagement, partner)[2]:
            fire = 0.0
        return rudder, throttle, fire if engagement.guides_for(seat) is None else 0.0

    def course(self, engagement: SensedTeams, seat: int) -> tuple[float, float]:
        evades = engagement.seekers_on(seat) and self.tactics.evade_time > 0
        guides = engagement.guides_for(seat) is not None
        if self.name != "pair" or evades or not (guides or engagement.unlocked(seat)):
            return super().course(engagement, seat)
        fighter, to_enemy = engagement.fighters[seat], self.search(engagement, seat)
        if not guides and self.is_guided(engagement, seat):
            return -to_enemy[0], -to_enemy[1]
        return self.off_the_enemy(engagement, fighter, to_enemy, self.widest)

    def is_guided(self, engagement: SensedTeams, seat: int) -> bool:
        partner = engagement.partner(seat)
        if partner is None or engagement.guides_for(partner) != seat:
            return False
        return engagement.contacts[partner, engagement.targets[seat]].source == LIVE
