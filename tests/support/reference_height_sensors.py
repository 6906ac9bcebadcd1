"""Sensors with height a second time, in float64 Python, written from csrc/RULES.md alone.

What sensors have as in the plane is inherited from reference_sensors.py and reference_teams.py.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import hypot

import numpy as np
from reference_height_fight import (
    INBOUND,
    OWN,
    Body,
    Fight,
    Missile,
    time_to_go,
    unit,
    whole_steps,
)
from reference_height_pilots import PEACEFUL, HeightPilot
from reference_height_teams import HeightTeams
from reference_noise import quality
from reference_sensors import LINKED, LIVE, MEMORY, UNSEEN, Contact, Sensed, SensedPilot
from reference_teams import SensedTeamPilot, SensedTeams

SEEKERS = INBOUND  # that are observed


class HighSensors:
    """Sensors in space: what they have otherwise than in the plane, and what is observed by them.

    A cone is about the velocity. The notch hides a target only where the sensor looks down on it.
    """

    def straight_on(self, body: Body, time: float) -> Body:
        state = np.zeros(7)
        state[:3], state[3:7] = body.position + time * body.velocity, body.state[3:7]
        return Body(state)

    def echo(self, fighter: Body) -> float:
        [number] = [n for n, other in enumerate(self.fighters) if other is fighter]
        own = self.types[number].aircraft["cross_section"]
        return (own / self.p["radar_cross_section"]) ** 0.25

    def jammer(self, fighter: Body) -> float:
        [number] = [n for n, other in enumerate(self.fighters) if other is fighter]
        return super().jammer(fighter) * self.types[number].aircraft["jammer"]

    def at_rest(self, body: Body) -> Body:
        return Body(np.array([*body.position, 1.0, 0.0, 0.0, 0.0]))

    def bearing_ahead(self, body: Body, x: float, y: float) -> float:
        return body.seen(unit(np.array([x, y, 0.0])))[0]

    def direction_to(self, body: Body, other: Body) -> Sequence[float]:
        return body.seen(unit(other.position - body.position))

    def left(self, body: Body, other: Body) -> float:
        return body.seen(unit(other.position - body.position))[1]

    def vectors(self, body: Body) -> tuple[np.ndarray, np.ndarray]:
        return body.position, body.velocity

    def body_of(self, place: np.ndarray, velocity: np.ndarray, before: Body) -> Body:
        speed = hypot(*velocity)
        direction = velocity / speed if speed >= 1 else before.direction
        return Body(np.array([*place, *direction, speed]))

    def is_notched(self, looker: Body, target: Body) -> bool:
        down = (looker.z - target.z) - self.p["radar_look_down"] * self.range(looker, target)
        return self.below("look down", 0, down) and super().is_notched(looker, target)

    def burnt_out(self, missile: Missile) -> bool:
        fields = self.fields_of(missile)
        return missile.age >= whole_steps(fields["burn_time"] + fields["sustain_time"], self.dt)

    # Observation

    def heard_values(self, seat: int) -> dict[str, float]:
        """Returns the features of the seekers with a lock on a fighter, by their bearings."""
        own, out = self.fighters[seat], {}
        lines = [(m.position - own.position) * (1, 1, 0) for m in self.seekers_on(seat)]
        bearings = sorted((own.seen(unit(line))[:2] for line in lines), reverse=True)
        for rank, (ahead, left) in enumerate(bearings[:SEEKERS], 1):
            features = {"present": 1.0, "ahead": ahead, "left": left}
            out |= {f"seeker_{rank}_{name}": value for name, value in features.items()}
        return out

    def guided_values(self, seat: int) -> dict[str, float]:
        """Returns the features of the own missiles, whose targets are where they are believed."""
        own, out = self.fighters[seat], {}
        shots = [(m, self.contact_of(m)) for m in self.own_missiles(seat)]
        shots.sort(key=lambda shot: (time_to_go(shot[0], shot[1].body), -shot[0].age))
        for rank, (shot, contact) in enumerate(shots[:OWN], 1):
            features = self.shown(own, shot, contact.body)
            if not contact.is_track:
                features |= dict.fromkeys(("nearness", "urgency", "reach", "above"), 0.0)
            belief = self.beliefs[self.key(shot)]
            features |= {"supported": float(contact.is_track), "active": float(belief.locked)}
            out |= {f"own_missile_{rank}_{name}": value for name, value in features.items()}
        return out

    def contact_values(self, seat: int, enemy: int, contact: Contact) -> dict[str, float]:
        """Returns the features of a track."""
        own, body, aircraft = self.fighters[seat], contact.body, self.types[enemy].aircraft
        distance = self.range(own, body)
        return self.place_of(own, body) | {
            "speed": body.speed,
            "age": contact.age * self.dt,
            "live": quality(contact) * (contact.source == LIVE),
            "own_reach": self.reaches(seat, enemy)[0].r_max(own, body) - distance,
            "reach": self.reaches(enemy, seat)[0].r_max(body, own) - distance,
            **self.performance(aircraft, body),
        }


@dataclass(kw_only=True)
class HeightSensed(HighSensors, Sensed, Fight):
    """One against one with sensors and height."""

    def observe(self, seat: int) -> dict[str, float]:
        """Returns the values of a fighter's features, but for those that are 0."""
        own, contact = self.fighters[seat], self.contacts[seat]
        out = self.own_values(seat) | {"own_echo": self.echo(own)}
        if contact.is_track:
            features = self.contact_values(seat, 1 - seat, contact)
            out["track_live"], out["track_age"] = features.pop("live"), features.pop("age")
            out["track_memory"] = quality(contact) * (contact.source == MEMORY)
            out["own_reach"] = features.pop("own_reach")
            for key, value in features.items():
                out[f"{'own' if key.startswith('aspect') else 'enemy'}_{key}"] = value
        if heard := self.heard(seat):
            line, tracked = heard
            out["receiver_tracked" if tracked else "receiver_searched"] = 1.0
            bearing = own.seen(unit(np.array([*line, 0.0])))
            out["receiver_ahead"], out["receiver_left"] = bearing[:2]
        out |= self.kind_values(seat, contact) | self.systems_values(seat)
        return out | self.heard_values(seat) | self.guided_values(seat)

    def kind_values(self, seat: int, contact: Contact) -> dict[str, float]:
        """Returns the features of each kind of missile, where there are several."""
        own, body, out = self.fighters[seat], contact.body, {}
        distance = self.range(own, body)
        for kind, left in enumerate(own.left if len(own.left) > 1 else ()):
            name = ("first", "second", "third")[kind]
            out[f"own_{name}_ammunition"] = left
            both = self.reach[seat], self.reach[1 - seat]
            mine, its = (of[kind if kind < len(of) else 0] for of in both)
            if contact.is_track:
                out[f"own_{name}_reach"] = mine.r_max(own, body) - distance
                out[f"enemy_{name}_reach"] = its.r_max(body, own) - distance
        return out


@dataclass(kw_only=True)
class HeightSensedTeams(HighSensors, SensedTeams, HeightTeams):
    """Teams with sensors and height."""

    def observe(self, seat: int) -> dict[str, float]:
        """Returns the values of a fighter's features, but for those that are 0."""
        own, side = self.fighters[seat], self.side(seat)
        if not own.alive:
            return {}
        out = self.own_values(seat) | {"own_echo": self.echo(own)}
        for name, of in (("own", side), ("enemy", 1 - side)):
            out[f"{name}_survivors"] = len(self.living(of))
        allies = sorted(set(self.living(side)) - {seat}, key=lambda n: self.distance(seat, n))
        for rank, number in enumerate(allies, 1):
            features = self.ally_values(seat, number).items()
            out |= {f"ally_{rank}_{name}": value for name, value in features}
        tracks = [n for n in self.living(1 - side) if self.known(seat, n)]
        tracks.sort(key=lambda n: self.range(own, self.known(seat, n)))
        for rank, number in enumerate(tracks, 1):
            contact = self.contacts[seat, number]
            features = self.contact_values(seat, number, contact) | {
                "present": 1.0,
                "linked": quality(contact) * (contact.source == LINKED),
                "inbound": len(self.inbound(number)),
            }
            out |= {f"enemy_{rank}_{name}": value for name, value in features.items()}
        out |= self.radar_values(seat) | self.heard_values(seat) | self.systems_values(seat)
        return out | self.guided_values(seat)

    def distance(self, seat: int, number: int) -> float:
        return self.range(self.fighters[seat], self.fighters[number])

    def ally_values(self, seat: int, number: int) -> dict[str, float]:
        """Returns what an ally reports."""
        values = self.other_values(seat, number)
        for name in ("own_reach", "reach", "inbound", "urgency"):
            del values[name]
        values["tracked"] = sum(tracks for _, _, tracks in self.radars(number))
        return values | {"locked": len(self.seekers_on(number))}

    def radar_values(self, seat: int) -> dict[str, float]:
        """Returns the features of the radars that a fighter hears."""
        own, out = self.fighters[seat], {}
        lines = [(t, own.seen(unit(np.array([*line, 0.0])))) for _, line, t in self.radars(seat)]
        lines.sort(key=lambda radar: (-radar[0], -radar[1][0]))
        for rank, (tracked, (ahead, left, _)) in enumerate(lines, 1):
            features = {"present": 1.0, "tracked": float(tracked), "ahead": ahead, "left": left}
            out |= {f"radar_{rank}_{name}": value for name, value in features.items()}
        return out


class HeightSensedPilot(SensedPilot, HeightPilot):
    """A scripted pilot with height that knows what its sensors show it."""

    def control(self, fight: HighSensors, seat: int) -> tuple[float, float, float, float]:
        if self.name in PEACEFUL:
            return HeightPilot.control(self, fight, seat)
        rudder = self.steer(fight, fight.fighters[seat], *self.course(fight, seat))
        contact = fight.contact_with_enemy(seat)
        shot = self.shot(fight, seat, contact.body) if contact.is_track else 0
        return rudder, self.climb(fight, seat), 1.0, float(shot)

    def is_threatened(self, fight: HighSensors, seat: int) -> bool:
        return bool(fight.seekers_on(seat)) and self.tactics.evade_time > 0

    def search(self, fight: HighSensors, seat: int) -> tuple[float, float]:
        fighter, contact = fight.fighters[seat], fight.contact_with_enemy(seat)
        if not contact.is_track and (fight.heard(seat) or contact.source == UNSEEN):
            x, y = super().search(fight, seat)
            return x / hypot(x, y), y / hypot(x, y)
        return fight.line(fighter, contact.body)

    def across(self, fight: HighSensors, fighter: Body, x: float, y: float) -> tuple[float, float]:
        return super().across(fight, fighter, x / hypot(x, y), y / hypot(x, y))


class HeightSensedTeamPilot(SensedTeamPilot, HeightSensedPilot):
    """The same in a team."""

    def control(self, fight: HeightSensedTeams, seat: int) -> tuple[float, ...]:
        rudder, climb, throttle, fire = HeightSensedPilot.control(self, fight, seat)
        partner = fight.partner(seat)
        if partner is not None and partner < seat and self.control(fight, partner)[3]:
            fire = 0.0
        return rudder, climb, throttle, fire if fight.guides_for(seat) is None else 0.0


def place_of_contact(sizes: Sequence[int], fighter: int, enemy: int) -> int:
    """Returns the place of a contact among those of the core: red's come first."""
    red, blue = sizes
    if fighter < red:
        return fighter * blue + enemy - red
    return red * blue + (fighter - red) * red + enemy
