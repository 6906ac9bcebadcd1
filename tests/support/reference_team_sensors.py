"""Teams with sensors by csrc/RULES.md a second time, written from that text alone."""

from copy import copy
from dataclasses import dataclass, field

from reference import Body, Fighter, Missile
from reference_sensors import LINKED, LIVE, LOST, Belief, Contact, Sensed, SensedPilot, straight_on
from reference_teams import Teams, nose_cosine


@dataclass
class SensedTeams(Sensed, Teams):
    """A fight of teams with sensors."""

    contacts: dict[tuple[int, int], Contact] = field(default_factory=dict)  # by fighter, enemy
    pairs: frozenset[int] = frozenset()  # fighters that the pilot `pair` flies

    def contact_of(self, missile: Missile) -> Contact:
        return self.contacts[missile.owner, missile.target]

    def contact_with_enemy(self, seat: int) -> Contact:
        return self.contacts[seat, self.targets[seat]]

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
                contact.body = straight_on(tracked[0].body, time)
            if contact.is_track and not other.alive:
                contact.source = LOST

    def finds(self, missile: Missile, enemy: Fighter) -> bool:
        return self.sees("seeker", missile, enemy, self.p["seeker_range"])

    def retarget(self, missile: Missile, target: int) -> None:
        super().retarget(missile, target)
        belief = Belief(straight_on(self.fighters[target], 0), locked=True)
        self.beliefs[self.key(missile)] = belief
        # It is believed to be there now, which an update after these steps must not fly on.
        belief.body = straight_on(belief.body, -(self.time - self.updated) * self.dt)

    def radars(self, seat: int) -> list[tuple[int, tuple[float, float], bool]]:
        """The radars that a receiver hears: whose, where, and whether it tracks."""
        own, out = self.fighters[seat], []
        for enemy in self.members(1 - self.side(seat)):
            if direction := self.hears(own, self.fighters[enemy]):
                out.append((enemy, direction, self.contacts[enemy, seat].source == LIVE))
        return out

    def heard(self, seat: int) -> tuple[tuple[float, float], bool] | None:
        """The one that presses most."""
        own, radars = self.fighters[seat], self.radars(seat)
        pressing = [radar for radar in radars if radar[2]] or radars
        most = self.least("boresight", pressing, lambda r: -nose_cosine(own, self.fighters[r[0]]))
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
        """Whether a missile of a fighter's has no lock."""
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
