"""The sensors of csrc/RULES.md a second time, in float64, written from that text alone.

`Sensed` is an engagement with sensors, `SensedPilot` a pilot in it.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import cos, floor, hypot, radians

import numpy as np
import reference_noise as noise
from reference import Body, Engagement, Fighter, Missile, off_boresight
from reference_pilots import Pilot

from midrange_puffer import _core

UNSEEN, LIVE, MEMORY, LOST, LINKED = range(5)


@dataclass
class Contact:
    """A fighter's knowledge of its enemy."""

    body: Body = field(default_factory=lambda: Body(0, 0, 1, 0, 0))
    source: int = UNSEEN
    age: int = 0  # steps since the enemy was last seen, once there was a track
    seen: int = -1  # steps for which the radar has seen it without a break
    # With noise: covariances [2, 2] of place and velocity along the line of sight and across it.
    along: np.ndarray = field(default_factory=lambda: np.zeros((2, 2)))
    across: np.ndarray = field(default_factory=lambda: np.zeros((2, 2)))

    @property
    def is_track(self) -> bool:
        return self.source in (LIVE, MEMORY, LINKED)


@dataclass
class Belief:
    """A missile's knowledge of its target."""

    body: Body
    locked: bool = False
    unseen: int = 0  # steps since the seeker of a locked missile saw the target
    is_decoyed: bool = False  # at the last update


@dataclass
class Systems:
    """A fighter's radar and chaff."""

    silent: bool = False
    chaff: int = 0
    cloud: Body | None = None  # where the last one is
    cloud_end: int = 0  # time at which it is gone


def straight_on(body: Body, time: float) -> Body:
    vx, vy = body.velocity
    return Body(body.x + time * vx, body.y + time * vy, body.c, body.s, body.speed)


@dataclass
class Sensed(Engagement):
    """One fight with sensors."""

    contacts: list[Contact] = field(default_factory=lambda: [Contact(), Contact()])
    beliefs: dict[tuple[int, int], Belief] = field(default_factory=dict)  # by owner and launch
    draws: tuple[int, int, int] = (0, 0, 0)  # the key of noise: seed, engagement, episode
    systems: list[Systems] = field(default_factory=list)  # of each fighter, in games with them

    def key(self, missile: Missile) -> tuple[int, int]:
        """Returns a missile's owner and launch time: a fighter launches one at a time."""
        return missile.owner, self.time - missile.age

    def contact_of(self, missile: Missile) -> Contact:
        """Returns the contact of its fighter with its target."""
        return self.contacts[missile.owner]

    def contact_with_enemy(self, seat: int) -> Contact:
        """Returns the contact with the enemy that a fighter flies against."""
        return self.contacts[seat]

    def has_track(self, seat: int) -> bool:
        return self.contacts[seat].is_track

    def aim(self, missile: Missile) -> Body:
        """Returns the true target with a lock, else the belief of the last update."""
        belief = self.beliefs.setdefault(self.key(missile), Belief(self.contact_of(missile).body))
        if belief.locked and belief.unseen == 0:
            return super().aim(missile)
        body = self.straight_on(belief.body, (self.time - self.updated) * self.dt)
        # Where it passes the place that it believes in, it turns sharply, to this side or that.
        self.margins.append(("phantom", self.range(missile, body)))
        return body

    def straight_on(self, body: Body, time: float) -> Body:
        """Returns a body that has flown straight on for a time."""
        return straight_on(body, time)

    def echo(self, fighter: Body) -> float:
        """Returns by how much farther sensors see a fighter; the plane has no types."""
        return 1.0

    def at_rest(self, body: Body) -> Body:
        """Returns a body that does not move, in the place of another."""
        return Body(body.x, body.y, 1.0, 0.0, 0.0)

    def burnt_out(self, missile: Missile) -> bool:
        return missile.age >= self.steps("missile_burn_time")

    def __post_init__(self) -> None:
        super().__post_init__()
        self.updated = self.time

    def sees(self, sensor: str, looker: Body, target: Body, reach: float) -> bool:
        """Returns True if a sensor of this body sees the target."""
        half_angle = self.p[f"{sensor}_half_angle_deg"]
        ahead = self.ahead(looker, target)
        in_cone = half_angle >= 180 or not self.below("cone", ahead, cos(radians(half_angle)))
        near = not self.below("sensor range", reach, self.range(looker, target))
        return in_cone and near and not self.is_notched(looker, target)

    def is_notched(self, looker: Body, target: Body) -> bool:
        radial = abs(target.speed * self.ahead(target, looker))
        return self.below("notch", radial, self.p["radar_notch_speed"])

    def radar_range(self, looker: Body, target: Body) -> float:
        toward = self.ahead(target, looker)
        end = self.p["radar_range_nose" if toward > 0 else "radar_range_tail"]
        reach = self.p["radar_range_beam"] * (1 - toward**2) + end * toward**2
        return reach * self.echo(target)

    def jammer(self, fighter: Body) -> float:
        """Returns the burn-through range of a fighter's jammer; 0 if it has none."""
        [number] = [n for n, other in enumerate(self.fighters) if other is fighter]
        return self.p[("red_jammer", "blue_jammer")[self.side(number)]]

    def burn_through(self, target: Body, reach: float) -> float:
        """Returns how far a radar with this range sees a target that may jam."""
        jammer = self.jammer(target)
        return min(reach, jammer * (reach / self.p["radar_range_nose"]) ** 2) if jammer else reach

    def homes(self, missile: Missile, target: Body) -> bool:
        """Returns True if a seeker homes on a target's jammer."""
        if not self.jammer(target):
            return False
        half_angle = self.p["seeker_half_angle_deg"]
        ahead = self.ahead(missile, target)
        in_cone = half_angle >= 180 or not self.below("cone", ahead, cos(radians(half_angle)))
        far = self.p["home_on_jam_range"]
        return in_cone and not self.below("sensor range", far, self.range(missile, target))

    def radiates(self, missile: Missile) -> bool:
        """Returns True if the target hears the seeker of a missile with a lock."""
        target = self.fighters[missile.target]
        near = self.p["seeker_range"]
        return not self.jammer(target) or not self.below(
            "sensor range", near, self.range(missile, target)
        )

    # Emission control and chaff

    def decide(self, controls: Sequence[Sequence[float]]) -> Sequence[float]:
        """Plays one decision; in games with systems their level is the last number but one."""
        if self.systems:
            self.work_systems([control[-2] for control in controls])
            controls = [(*control[:-2], control[-1]) for control in controls]
        return super().decide(controls)

    def work_systems(self, commands: Sequence[float]) -> None:
        for fighter, own, command in zip(self.fighters, self.systems, commands, strict=True):
            level = 0 if command != command else min(max(floor(command + 0.5), 0), 3)
            own.silent = self.p["emission_control"] == "on" and level in (1, 3)
            if level >= 2 and fighter.alive and own.chaff > 0 and self.time >= own.cloud_end:
                own.chaff -= 1
                own.cloud_end = self.time + self.steps("chaff_time")
                own.cloud = self.straight_on(fighter, 0)

    def system_of(self, fighter: Body) -> Systems:
        """Returns a fighter's systems."""
        numbers = [n for n, other in enumerate(self.fighters) if other is fighter]
        return self.systems[numbers[0]] if self.systems else Systems()

    def is_decoyed(self, looker: Body, target: Body, number: int, late: float) -> bool:
        """Returns True if a cloud decoys a sensor, for whose chance it draws by a number."""
        own = self.system_of(target)
        if self.time >= own.cloud_end:
            return False
        across = 1 - abs(target.speed * self.ahead(target, looker)) / self.p["chaff_speed"]
        chance = self.p["chaff_chance"] * max(across, 0) * late
        seed, engagement, episode = self.draws
        counter = engagement, episode, own.cloud_end, number % 2**32
        [first, *_] = _core.philox4x32(counter, (seed & 0xFFFFFFFF, seed >> 32))
        return self.below("chaff", (first >> 8) / 2**24, chance)

    def decoys_radar(self, own: Fighter, enemy: Fighter, contact: Contact) -> bool:
        return self.is_decoyed(own, enemy, 4096 + self.number_of(contact), 1)

    def decoys_seeker(self, missile: Missile) -> bool:
        target = self.fighters[missile.target]
        time, late = self.p["chaff_time_to_go"], 1.0
        if time > 0:
            late = min(self.time_to_go(missile, target) / time, 1)
        launch = self.time - missile.age
        number = 4096 + self.number_of(self.contact_of(missile)) + 65536 * (1 + launch)
        return self.is_decoyed(missile, target, number, late)

    def update_picture(self, steps: int) -> None:
        time = (self.time - self.updated) * self.dt
        self.updated = self.time
        self.update_contacts(steps, time)
        for missile in self.missiles:
            self.update_belief(missile, steps, time)
        self.missiles = [m for m in self.missiles if not self.is_lost(m)]

    def update_contacts(self, steps: int, time: float) -> None:
        red, blue = self.fighters
        self.update_contact(red, blue, self.contacts[0], steps, time)
        self.update_contact(blue, red, self.contacts[1], steps, time)

    def update_contact(
        self, own: Fighter, enemy: Fighter, contact: Contact, steps: int, time: float
    ) -> None:
        """Updates a contact by the own radar."""
        if contact.is_track:
            contact.body = self.straight_on(contact.body, time)
        reach = self.radar_range(own, enemy)
        within = self.burn_through(enemy, reach)
        sees = own.alive and enemy.alive and self.sees("radar", own, enemy, within)
        sees = sees and not self.system_of(own).silent
        sees = sees and not self.decoys_radar(own, enemy, contact)
        if noise.is_noisy(self.p):
            self.filter(own, enemy, contact, sees, reach, time)
        contact.seen = (0 if contact.seen < 0 else contact.seen + steps) if sees else -1
        contact.age += steps
        if sees and (contact.is_track or contact.seen >= self.steps("radar_acquire_time")):
            contact.source, contact.age = LIVE, 0
            if not noise.is_noisy(self.p):
                contact.body = self.straight_on(enemy, 0)
        elif contact.is_track:
            kept = contact.age <= self.steps("track_memory")
            contact.source = MEMORY if kept else LOST
        elif contact.source == UNSEEN:
            contact.age = 0

    def filter(
        self, own: Body, enemy: Body, contact: Contact, sees: bool, reach: float, time: float
    ) -> None:
        """Filters a measurement, if there is one, into a contact that has not been updated yet."""
        if not contact.is_track and contact.seen >= 0 and sees:
            contact.body = self.straight_on(contact.body, time)
        acceleration = self.p["track_acceleration"]
        contact.along, contact.across = (
            noise.grown(covariance, time, acceleration)
            for covariance in (contact.along, contact.across)
        )
        if not sees:
            return
        left = self.left(own, enemy)
        self.margins.append(("side", left))
        numbers = noise.numbers(self.draws, self.time, self.number_of(contact))
        line, moves = self.vectors(own)[0], self.vectors(enemy)
        m = noise.measure(self.p, line, *moves, reach, left < 0, numbers)
        if not contact.is_track and contact.seen < 0:
            state = noise.first(m, self.p["track_speed"])
        else:
            covariances = contact.along, contact.across
            state = noise.filtered(m, *self.vectors(contact.body), *covariances)
        place, velocity, contact.along, contact.across = state
        contact.body = self.body_of(place, velocity, contact.body)

    def number_of(self, contact: Contact) -> int:
        contacts = self.contacts.values() if isinstance(self.contacts, dict) else self.contacts
        return next(number for number, other in enumerate(contacts) if other is contact)

    def contacts_of(self, seat: int) -> list[Contact]:
        """Returns all contacts of a fighter."""
        return [self.contacts[seat]]

    def systems_values(self, seat: int) -> dict[str, float]:
        """Returns the features of a fighter's systems, but for those that are 0."""
        if not self.systems:
            return {}
        own, fighter = self.systems[seat], self.fighters[seat]
        out = {"systems_emits": float(not own.silent)}
        out["systems_chaff"] = own.chaff / max(self.p["chaff"], 1)
        if self.time < own.cloud_end:
            out["systems_cloud_time"] = (own.cloud_end - self.time) * self.dt
            distance = self.range(fighter, own.cloud)
            out["systems_cloud_nearness"] = noise.NEAR_TRACK / (noise.NEAR_TRACK + distance)
            names = ("ahead", "left", "up")
            bearing = self.direction_to(fighter, own.cloud) if distance > 1 else ()
            out |= {f"systems_cloud_{name}": v for name, v in zip(names, bearing, strict=False)}
        return out

    def direction_to(self, body: Body, other: Body) -> Sequence[float]:
        """Returns the unit vector to another body in a body's frame."""
        return off_boresight(body, other.x - body.x, other.y - body.y)

    def bearing_ahead(self, body: Body, x: float, y: float) -> float:
        """Returns the cosine of the bearing of (x, y) from a body's nose, on the ground."""
        return off_boresight(body, x, y)[0]

    def left(self, body: Body, other: Body) -> float:
        """Returns how far to the left of a body's nose another one is: a sine."""
        return off_boresight(body, other.x - body.x, other.y - body.y)[1]

    def vectors(self, body: Body) -> tuple[np.ndarray, np.ndarray]:
        """Returns the place and the velocity of a body in space."""
        return np.array([body.x, body.y, 0.0]), np.array([*body.velocity, 0.0])

    def body_of(self, place: np.ndarray, velocity: np.ndarray, before: Body) -> Body:
        """Returns a body at a place with a velocity; a slow one keeps its direction."""
        speed = hypot(*velocity)
        c, s = velocity[:2] / speed if speed >= 1 else (before.c, before.s)
        return Body(*place[:2], c, s, speed)

    def update_belief(self, missile: Missile, steps: int, time: float) -> None:
        belief, contact = self.beliefs[self.key(missile)], self.contact_of(missile)
        belief.body = self.straight_on(belief.body, time)
        if contact.is_track and not belief.locked:
            belief.body = contact.body
        target = self.fighters[missile.target]
        reach = self.p["seeker_range"] * self.echo(target)
        distance = self.range(missile, belief.body)
        looks = not self.below("sensor range", reach, distance)
        homes = self.homes(missile, target)
        finds = looks and self.sees("seeker", missile, target, reach)
        belief.is_decoyed = finds and not homes and self.decoys_seeker(missile)
        if belief.is_decoyed:
            cloud = self.system_of(target).cloud
            belief.body, belief.locked, belief.unseen = self.at_rest(cloud), False, 0
        elif homes or finds:
            belief.body, belief.locked, belief.unseen = self.straight_on(target, 0), True, 0
        elif belief.locked:
            belief.unseen += steps
            if belief.unseen > self.steps("seeker_memory"):
                belief.locked, belief.unseen = False, 0
                belief.body = contact.body if contact.is_track else belief.body

    def is_lost(self, missile: Missile) -> bool:
        belief = self.beliefs[self.key(missile)]
        knows = belief.locked or belief.is_decoyed or self.contact_of(missile).is_track
        return self.burnt_out(missile) and not knows

    def seekers_on(self, seat: int) -> list[Missile]:
        """Returns the missiles that its receiver warns of."""
        return [
            missile
            for missile in self.inbound(seat)
            if (belief := self.beliefs.get(self.key(missile))) and belief.locked
            if self.radiates(missile)
        ]

    def heard(self, seat: int) -> tuple[tuple[float, float], bool] | None:
        """Returns the direction of the radar that its receiver hears, and True if it tracks."""
        direction = self.hears(self.fighters[seat], self.fighters[1 - seat])
        return direction and (direction, self.contacts[1 - seat].source == LIVE)

    def hears(self, own: Fighter, enemy: Fighter) -> tuple[float, float] | None:
        """Returns the direction of an enemy's radar that a receiver hears."""
        x, y = enemy.x - own.x, enemy.y - own.y
        half_angle = self.p["radar_half_angle_deg"]
        ahead = self.ahead(enemy, own)
        in_cone = half_angle >= 180 or not self.below("cone", ahead, cos(radians(half_angle)))
        reach = self.p["receiver_range"] * self.p["radar_range_nose"]
        near = not self.below("sensor range", reach, self.range(own, enemy))
        in_cone = in_cone and not self.system_of(enemy).silent
        in_cone = in_cone or self.jammer(enemy) > 0
        return (x, y) if in_cone and near and own.alive and enemy.alive else None


def with_level(controls: Sequence[float], level: float) -> tuple[float, ...]:
    """Returns controls with the level of the systems, which stands before fire."""
    return (*controls[:-1], level, controls[-1])


class SensedPilot(Pilot):
    """A scripted pilot that knows what its sensors show it."""

    def control(self, engagement: Sensed, seat: int) -> tuple[float, float, float]:
        if self.name in ("straight", "weave"):
            return super().control(engagement, seat)
        x, y = self.course(engagement, seat)
        rudder = self.steer(engagement, engagement.fighters[seat], x, y)
        contact = engagement.contact_with_enemy(seat)
        fires = contact.is_track and self.wants_to_fire(engagement, seat, contact.body)
        return rudder, 1.0, float(fires)

    def course(self, engagement: Sensed, seat: int) -> tuple[float, float]:
        fighter, in_the_air = engagement.fighters[seat], engagement.own_missiles(seat)
        to_enemy = self.search(engagement, seat)
        seekers = engagement.seekers_on(seat)
        if seekers and self.tactics.evade_time > 0:
            if self.tactics.weave_deg is not None:
                return self.snake(engagement, to_enemy)
            return self.beam(engagement, fighter, self.nearest_nose(engagement, fighter, seekers))
        if self.notches(engagement, seat, in_the_air):
            return self.across(engagement, fighter, *engagement.heard(seat)[0])
        if self.tactics.wait_range is not None and self.waits(engagement, seat):
            known = engagement.contact_with_enemy(seat).body
            angle = self.degrees_at(engagement.range(fighter, known))
            return self.off_the_enemy(engagement, fighter, to_enemy, angle)
        if self.tactics.leaves and fighter.ammo == 0 and not in_the_air:
            return -to_enemy[0], -to_enemy[1]
        if in_the_air and self.delay_is_over(engagement, fighter):
            degrees = self.tactics.off_deg
            if degrees < 180 and self.needs_support(engagement, in_the_air):
                degrees = min(degrees, self.widest)
            return self.off_the_enemy(engagement, fighter, to_enemy, degrees)
        return to_enemy

    def level(self, engagement: Sensed, seat: int) -> float:
        """Returns the level of its systems."""
        if self.name in ("straight", "weave"):
            return 0.0
        p, own = engagement.p, engagement.fighters[seat]
        contacts = [contact for contact in engagement.contacts_of(seat) if contact.is_track]
        wide = cos(radians(p["radar_half_angle_deg"]))
        watched = [
            not engagement.below("cone", engagement.ahead(own, contact.body), wide)
            for contact in contacts
        ]
        guides = self.needs_support(engagement, engagement.own_missiles(seat))
        level = float(bool(contacts) and not any(watched) and not guides)
        seekers = engagement.seekers_on(seat)
        if seekers and self.tactics.evade_time > 0:
            nearest = self.nearest_nose(engagement, own, seekers)
            x, y = nearest.x - own.x, nearest.y - own.y
            along = abs(engagement.bearing_ahead(own, x, y)) * own.speed
            level += 2.0 * engagement.below("across", along, p["chaff_speed"])
        return level

    def waits(self, engagement: Sensed, seat: int) -> bool:
        """Returns True in the time of waiting: it does not know how many missiles are left."""
        has_track = engagement.contact_with_enemy(seat).is_track
        return has_track and engagement.time < engagement.steps("patient_time")

    def notches(self, engagement: Sensed, seat: int, in_the_air: list[Missile]) -> bool:
        """Returns True if a notcher turns its side to the radar that tracks it."""
        if self.name != "notcher" or self.needs_support(engagement, in_the_air):
            return False
        _, tracked = engagement.heard(seat) or (None, False)
        phase = engagement.time % engagement.steps("notcher_period")
        return tracked and phase < engagement.steps("notcher_time")

    @property
    def widest(self) -> float:
        """The angle off an enemy at which its radar still tracks it [deg]."""
        return max(self.p["radar_half_angle_deg"] - self.p["pilot_cone_margin_deg"], 0)

    def needs_support(self, engagement: Sensed, missiles: list[Missile]) -> bool:
        """Returns True if one of these missiles has no lock."""
        return any(not self.has_lock(engagement, missile) for missile in missiles)

    def has_lock(self, engagement: Sensed, missile: Missile) -> bool:
        belief = engagement.beliefs.get(engagement.key(missile))
        return belief is not None and belief.locked

    def search(self, engagement: Sensed, seat: int) -> tuple[float, float]:
        """Returns the direction of the enemy, or one in which it may be."""
        fighter, contact = engagement.fighters[seat], engagement.contact_with_enemy(seat)
        if not contact.is_track:
            if heard := engagement.heard(seat):
                return heard[0]
            if contact.source == UNSEEN:
                return fighter.c, fighter.s
        return contact.body.x - fighter.x, contact.body.y - fighter.y

    def nearest_nose(self, engagement: Sensed, fighter: Body, seekers: list[Missile]) -> Missile:
        """Returns the seeker nearest the nose."""
        ahead = [off_boresight(fighter, m.x - fighter.x, m.y - fighter.y)[0] for m in seekers]
        first = max(range(len(seekers)), key=lambda n: ahead[n])
        gaps = [ahead[first] - other for n, other in enumerate(ahead) if n != first]
        engagement.margins += [("boresight", gap) for gap in gaps]
        return seekers[first]

    def beam(self, engagement: Sensed, fighter: Body, other: Body) -> tuple[float, float]:
        """Across the line to another body, to the side that the nose is nearer."""
        return self.across(engagement, fighter, other.x - fighter.x, other.y - fighter.y)

    def across(self, engagement: Sensed, fighter: Body, x: float, y: float) -> tuple[float, float]:
        """Returns the direction across (x, y), to the side that the nose is nearer."""
        left = off_boresight(fighter, x, y)[1]
        return (-y, x) if engagement.below("side", left, 0) else (y, -x)
