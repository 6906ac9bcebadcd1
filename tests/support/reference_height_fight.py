"""Fights with height a second time, in float64 Python, written from csrc/RULES.md alone.

`Fight` plays decisions and observes; reference_height_pilots.py has the pilots. The law of flight
is reference_height.py's. What a fight has as in the plane is inherited from reference.py.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import cos, hypot, pi, radians, sin, sqrt

import numpy as np
import reference_height as law
from reference import BLUE, LONGEST_TIME_TO_GO, RED, Engagement, Parameters, clip, whole_steps
from reference_height import Fields
from reference_height_reach import HEIGHTS, find_nez, fly_level

from midrange_puffer import _core
from midrange_puffer.game.parameters import PARAMETERS

UP = law.UP
HEIGHT_DRAW = 256
TYPE_DRAW, AIRCRAFT_DRAWS, MISSILE_DRAWS = 257, (258, 259), (260, 261)
WINGMAN_DRAW = 262  # of the aircraft of the second fighter of each side
CLOCK = 300.0  # s
NEAR_FIGHTER, NEAR_MISSILE, NEAR_TIME = 10_000.0, 5_000.0, 10.0
INBOUND, OWN = 3, 2  # missiles that are observed


@dataclass(frozen=True)
class Types:
    """The fields of a side's aircraft and of each kind of its missiles, varied by its factors."""

    aircraft: Fields
    missiles: Sequence[Fields]


@dataclass
class Body:
    """A state of reference_height.py: x y z dx dy dz v, a fighter's with its actuators."""

    state: np.ndarray

    position = property(lambda self: self.state[:3])
    direction = property(lambda self: self.state[3:6])
    z = property(lambda self: float(self.state[2]))
    speed = property(lambda self: float(self.state[6]))
    velocity = property(lambda self: self.state[6] * self.state[3:6])
    x = property(lambda self: float(self.state[0]))
    y = property(lambda self: float(self.state[1]))

    @property
    def level(self) -> np.ndarray:
        """The horizontal part of the direction, as a unit vector."""
        ahead = self.state[3:6] * (1, 1, 0)
        return ahead / hypot(*ahead)

    # Cosine and sine of the heading, for what is as in the plane.
    c = property(lambda self: float(self.level[0]))
    s = property(lambda self: float(self.level[1]))

    def seen(self, vector: np.ndarray) -> tuple[float, float, float]:
        """Returns a vector in the own frame: ahead, left, up."""
        left = np.cross(UP, self.level)
        return float(vector @ self.level), float(vector @ left), float(vector[2])


@dataclass
class Fighter(Body):
    """A fighter; its state is also of rudder, climb and throttle. `left` is by kind."""

    left: list[int]
    alive: bool = True
    last_launch: int | None = None
    pressed: int = 0

    ammo = property(lambda self: sum(self.left))


@dataclass
class Missile(Body):
    """A missile, of an age in steps and a kind from 0."""

    owner: int = RED
    age: int = 0
    kind: int = 0
    target: int | None = None  # by default the other one of two

    def __post_init__(self) -> None:
        if self.target is None:
            self.target = 1 - self.owner


def sight(origin: Body, other: Body) -> tuple[np.ndarray, np.ndarray, float]:
    """Returns the other's relative position and velocity, and the range."""
    r = other.position - origin.position
    return r, other.velocity - origin.velocity, hypot(*r)


def unit(r: np.ndarray) -> np.ndarray:
    return r / hypot(*r)


def time_to_go(missile: Body, target: Body) -> float:
    r, w, distance = sight(missile, target)
    closing = -float(r @ w) / distance
    return min(distance / closing, LONGEST_TIME_TO_GO) if closing > 0 else LONGEST_TIME_TO_GO


def off_nose(body: Body, other: Body) -> float:
    """Returns the cosine of the angle in space between the velocity and the line to another."""
    return float(body.direction @ unit(sight(body, other)[0]))


def least_distance(r0: np.ndarray, r1: np.ndarray) -> float:
    """Returns the least length of the line of sight while it goes from r0 to r1."""
    d = r1 - r0
    tau = clip(-(r0 @ d) / (d @ d), 0, 1) if d @ d > 0 else 0.0
    return hypot(*(r0 + tau * d))


def logarithm(a: float, b: float) -> float:
    """Returns ln(a/b) as the core takes it."""
    z = (a - b) / (a + b)
    return 2 * sum(z**n / n for n in (1, 3, 5, 7, 9))


def motor(fields: Fields, age: int, dt: float) -> float:
    """Returns the thrust of a missile during the step that begins at an age [m/s^2]."""
    boost = clip(fields["burn_time"] / dt - age, 0, 1)
    all_of_it = clip((fields["burn_time"] + fields["sustain_time"]) / dt - age, 0, 1)
    return fields["thrust"] * boost + fields["sustain_thrust"] * (all_of_it - boost)


def uniform4(seed: int, engagement: int, episode: int, draw: int) -> list[float]:
    """Returns the four random numbers of a draw, in [0, 1)."""
    key = seed & 0xFFFFFFFF, seed >> 32
    return [(bits >> 8) / 2**24 for bits in _core.philox4x32((engagement, episode, draw, 0), key)]


def start(
    p: Parameters, seed: int, engagement: int, episode: int
) -> tuple[list[Fighter], list[float]]:
    """Returns the fighters at the start of an episode, and the heights of scripted pilots."""

    def between(name: str, share: float) -> float:
        return p[f"{name}_min"] + share * (p[f"{name}_max"] - p[f"{name}_min"])

    far, turn, *_ = uniform4(seed, engagement, episode, 0)
    draws = uniform4(seed, engagement, episode, 1)
    mean, difference, *pilots = uniform4(seed, engagement, episode, HEIGHT_DRAW)
    most = radians(p["start_off_boresight_max_deg"])
    fighters = []
    for seat, side in ((RED, 1), (BLUE, -1)):
        bearing = 2 * pi * turn + (0 if seat == RED else pi)  # of the enemy
        heading = bearing + (2 * draws[seat] - 1) * most
        x, y = (-between("start_range", far) / 2 * f(bearing) for f in (cos, sin))
        extra = p["start_height_difference_max"] * (difference - 0.5)
        z = between("start_height", mean) + side * extra
        speed = between("start_speed", draws[2 + seat])
        state = [x, y, z, cos(heading), sin(heading), 0, speed, 0, 0, 1]
        fighters.append(Fighter(np.array(state), left=full_load(p, seat)))
    return fighters, [between("pilot_height", share) for share in pilots]


def loaded(p: Parameters, seat: int) -> dict[str, int]:
    """Returns the load of a side's fighters; empty without one."""
    text = p[f"{('red', 'blue')[seat]}_missiles"]
    parts = [part.split(":") for part in text.split(",")] if text else []
    return {name: int(count) for name, count in parts}


def full_load(p: Parameters, seat: int) -> list[int]:
    """Returns the missiles that a side's fighters start with, of each kind of the game."""
    kinds = max(1, *(len(loaded(p, side)) for side in (RED, BLUE)))
    counts = [*loaded(p, seat).values()] or [p["ammunition"]]
    return [*counts, 0, 0][:kinds]


@dataclass(frozen=True)
class Drawn:
    """The names of a side's types, those of missiles by kind, and the factors of each."""

    aircraft: str
    missiles: Sequence[str]
    aircraft_factors: Sequence[float]  # of thrust, drag, lift and induced drag
    missile_factors: Sequence[float]  # of thrust, drag, lift and burn time


def type_names(p: Parameters, name: str) -> list[str]:
    """Returns the types that a mix may name: the package's, then the user's own of its kind."""
    package = PARAMETERS[name].choices
    heads = [part.split()[0].partition("=") for part in p["types"].split(",") if part]
    return [*package, *(own for own, _, base in heads if base in package)]


def draw(
    p: Parameters, seed: int, engagement: int, episode: int, seat: int, place: int = 0
) -> Drawn:
    """Returns what a side draws for an episode, with the aircraft of a fighter in it."""
    side = ("red", "blue")[seat]
    numbers = uniform4(seed, engagement, episode, TYPE_DRAW)
    if place:
        numbers[:2] = uniform4(seed, engagement, episode, WINGMAN_DRAW + place - 1)[:2]

    def chosen(kind: str, number: float) -> str:
        order = type_names(p, f"{side}_{kind}")
        shares = dict.fromkeys(order, 0.0)
        for part in p[f"{side}_{kind}"].split(","):
            name, _, share = part.partition(":")
            shares[name] = float(share or 1)
        ends = np.cumsum([*shares.values()]) / sum(shares.values())
        return order[int(np.searchsorted(ends, number, side="right"))]

    def factors(kind: str, draws: Sequence[int]) -> list[float]:
        spread = p[f"{kind}_spread"]
        return [1 + spread * (2 * u - 1) for u in uniform4(seed, engagement, episode, draws[seat])]

    missiles = [*loaded(p, seat)] or [chosen("missile", numbers[2 + seat])]
    return Drawn(
        chosen("aircraft", numbers[seat]), missiles,
        factors("aircraft", AIRCRAFT_DRAWS), factors("missile", MISSILE_DRAWS),
    )  # fmt: skip


def varied(aircraft: Fields, missiles: Sequence[Fields], drawn: Drawn) -> Types:
    """Returns the fields of types, so changed that the law has the drawn factors."""
    thrust, drag, lift, induced = drawn.aircraft_factors
    plane = dict(aircraft) | {
        "thrust": aircraft["thrust"] * thrust,
        "terminal_speed": aircraft["terminal_speed"] / sqrt(drag),
        "turn_radius": aircraft["turn_radius"] / lift,
        "lift_drag": aircraft["lift_drag"] / sqrt(drag * induced),
    }
    return Types(plane, [varied_missile(missile, drawn.missile_factors) for missile in missiles])


def varied_missile(missile: Fields, factors: Sequence[float]) -> Fields:
    """Returns the fields of a missile, likewise."""
    thrust, drag, lift, burn = factors
    return dict(missile) | {
        "thrust": missile["thrust"] * thrust,
        "sustain_thrust": missile["sustain_thrust"] * thrust,
        "terminal_speed": missile["terminal_speed"] / sqrt(drag),
        "turn_radius": missile["turn_radius"] / lift,
        "lift_drag": missile["lift_drag"] / sqrt(drag),
        "burn_time": missile["burn_time"] * burn,
        "sustain_time": missile["sustain_time"] * burn,
    }


class Reach:
    """The pilots' estimates of the ranges of a type of missile against a type of aircraft."""

    def __init__(self, p: Parameters, missile: Fields, enemy: Fields) -> None:
        self.p, self.missile, self.enemy = p, missile, enemy
        self.thin = [law.air(z)[0] for z in HEIGHTS]
        self.flown = np.array([fly_level(p, missile, z) for z in HEIGHTS])

    @cached_property
    def escapes(self) -> list[float]:
        """R_NEZ at the two heights."""
        return [find_nez(self.p, self.missile, self.enemy, z) for z in HEIGHTS]

    def r_max(self, shooter: Body, target: Body) -> float:
        """Returns R_max."""
        (low, low_time), (high, high_time) = self.flown
        first, second = self.thin
        longer = (high_time - low_time) / (second - first)
        most = first + (self.missile["life"] - low_time) / longer
        thin = min(law.air(0.7 * shooter.z + 0.3 * target.z)[0], most)
        share = (thin - first) / (second - first)
        toward = off_nose(target, shooter) * target.speed
        return low + share * (high - low) + (low_time + share * (high_time - low_time)) * toward

    def r_nez(self, shooter: Body, target: Body) -> float:
        """Returns R_NEZ."""
        share = (law.air((shooter.z + target.z) / 2)[0] - self.thin[0]) / np.diff(self.thin)[0]
        return self.escapes[0] + share * (self.escapes[1] - self.escapes[0])


@dataclass(kw_only=True)
class Fight(Engagement):
    """One fight with height. A control is (rudder, climb, throttle, fire)."""

    types: Sequence[Types]  # of red and blue
    reach: Sequence[Sequence[Reach]]  # of red's missiles and of blue's, by kind
    fighters: list[Fighter]
    missiles: list[Missile] = field(default_factory=list)

    def read(self, control: Sequence[float]) -> tuple[tuple[float, float], float, int]:
        """Returns a control as it is obeyed: rudder and climb, throttle, kind to fire or 0."""
        rudder, climb, throttle, fire = (0.0 if value != value else value for value in control)
        kinds = len(self.fighters[RED].left)
        shot = 0 if fire <= 0.5 else int(min(fire + 0.5, kinds))
        return (clip(rudder, -1, 1), clip(climb, -1, 1)), clip(throttle, 0, 1), shot

    def launch(self, fire: Sequence[int]) -> None:
        for seat, (fighter, kind) in enumerate(zip(self.fighters, fire, strict=True)):
            last, interval = fighter.last_launch, self.steps("launch_interval")
            rested = last is None or self.time - last >= interval
            alive = fighter.alive and self.fighters[1 - seat].alive and self.has_track(seat)
            if kind and rested and alive and fighter.left[kind - 1] > 0:
                fighter.left[kind - 1] -= 1
                fighter.last_launch = self.time
                state = fighter.state[:7].copy()
                state[:3] += self.p["missile_launch_offset"] * fighter.direction
                self.missiles.append(Missile(state, owner=seat, kind=kind - 1))

    def target_of(self, missile: Missile) -> Fighter:
        return self.fighters[missile.target]

    def reaches(self, seat: int, enemy: int) -> Sequence[Reach]:
        """Returns the reach of a fighter's missiles on an enemy, by kind."""
        return self.reach[seat]

    def enemy_seat(self, seat: int) -> int:
        """Returns the number of the enemy that a fighter's pilot flies against."""
        return 1 - seat

    def fields_of(self, missile: Missile) -> Fields:
        return self.types[missile.owner].missiles[missile.kind]

    def step(self, commands: Sequence[tuple[tuple[float, float], float, int]]) -> None:
        """Advances by one physics step; the last one of a decision restores the directions."""
        before = [sight(m, self.fighters[m.target]) for m in self.missiles]
        asked = [self.asked(m) for m in self.missiles]
        for seat, (stick, throttle, _) in enumerate(commands):
            self.fly_fighter(seat, stick, throttle)
        for missile, lift in zip(self.missiles, asked, strict=True):
            self.fly_missile(missile, lift)
        self.time += 1

        passes = [
            least_distance(r0, sight(m, self.fighters[m.target])[0])
            for m, (r0, _, _) in zip(self.missiles, before, strict=True)
        ]
        hits = [self.below("fuze", d, self.p["missile_hit_radius"]) for d in passes]
        for missile, hit in zip(self.missiles, hits, strict=True):
            if hit:
                self.fighters[missile.target].alive = False
        for fighter in self.fighters:
            if fighter.alive and self.below("ground", fighter.z, 0):
                fighter.alive = False
        self.missiles = [
            m
            for m, hit in zip(self.missiles, hits, strict=True)
            if not hit and self.fighters[m.target].alive and not self.spent(m)
        ]
        self.straighten()

    def asked(self, missile: Missile) -> np.ndarray:
        """Returns the lift that guidance asks for."""
        r, w, _ = sight(missile, self.aim(missile))
        fields, g = self.fields_of(missile), self.p["gravity"]
        return law.guide(fields, r, w, missile.direction, missile.speed, g)

    def straighten(self) -> None:
        """Restores the lengths of all directions after the last step of a decision."""
        if self.time % self.p["substeps"] == 0:
            for body in (*self.fighters, *self.missiles):
                if getattr(body, "alive", True):
                    body.state[3:6] *= 1.5 - body.direction @ body.direction / 2

    def fly_fighter(self, seat: int, stick: tuple[float, float], throttle: float) -> None:
        """Moves the actuators of a fighter, and flies it while it lives."""
        self.fly_body(self.fighters[seat], seat, stick, throttle)

    def fly_body(
        self, fighter: Fighter, seat: int, stick: tuple[float, float], throttle: float
    ) -> None:
        rates = [self.p[f"fighter_{name}_rate"] for name in ("rudder", "climb", "throttle")]
        most = np.array(rates) * self.dt
        state, g = fighter.state, self.p["gravity"]
        state[7:10] = np.clip((*stick, throttle), state[7:10] - most, state[7:10] + most)
        if fighter.alive:
            forces = law.fighter_forces(self.types[seat].aircraft, state, g)
            fighter.state = law.step(state, *forces, self.dt, g)

    def fly_missile(self, missile: Missile, asked: np.ndarray) -> None:
        g, fields = self.p["gravity"], self.fields_of(missile)
        across, slowed = law.missile_forces(fields, missile.state, asked, g)
        pushed = motor(fields, missile.age, self.dt)
        missile.state = law.step(missile.state, across, slowed, pushed, self.dt, g)
        missile.age += 1

    def spent(self, missile: Missile) -> bool:
        fields, target = self.fields_of(missile), self.target_of(missile)
        if missile.age >= whole_steps(fields["life"], self.dt) or self.below(
            "ground", missile.z, 0
        ):
            return True
        if missile.age < whole_steps(fields["burn_time"] + fields["sustain_time"], self.dt):
            return False
        energy2 = missile.speed**2 + 2 * self.p["gravity"] * (missile.z - target.z)
        return self.below("spent", sqrt(max(energy2, 0)), fields["spent_speed"])

    def chase(self, missile: Missile, fighter: Body, faster: float = 0) -> float:
        """Returns what a missile gains on a fighter that runs, by so much faster than now [m]."""
        fields, g = self.fields_of(missile), self.p["gravity"]
        density = law.air((missile.z + fighter.z) / 2)[1]
        drag = 1.15 * density * g / fields["terminal_speed"] ** 2
        speed, running = missile.speed, fighter.speed + faster
        boost = max(fields["burn_time"] - missile.age * self.dt, 0)
        left = max(fields["burn_time"] + fields["sustain_time"] - missile.age * self.dt, 0)
        impulse = fields["thrust"] * boost + fields["sustain_thrust"] * (left - boost)
        burnt = (speed + impulse) / (1 + drag * speed * left)
        gain = left * ((speed + burnt) / 2 - running)
        end = max(running, fields["spent_speed"])
        burnt = max(burnt, end)
        return gain + (logarithm(burnt, end) - running * (1 / end - 1 / burnt)) / drag

    def count_pressing(self) -> None:
        """Counts the fighters that press, with the enemy ahead of their beam in space."""
        for fighter, enemy in zip(self.fighters, reversed(self.fighters), strict=True):
            ahead = off_nose(fighter, enemy)
            if self.steps("pressing_margin") and fighter.alive and self.below("beam", 0, ahead):
                fighter.pressed += self.p["substeps"]

    # Rewards

    def full_load(self, seat: int) -> int:
        return sum(full_load(self.p, seat))

    def geometry(self, seat: int) -> float:
        fighter, enemy = self.fighters[seat], self.fighters[1 - seat]
        scale = self.p["reward_geometry_range"]
        return (1 + off_nose(fighter, enemy)) / 2 * scale / (scale + sight(fighter, enemy)[2])

    def time_to_go(self, missile: Missile, target: Fighter) -> float:
        return time_to_go(missile, target)

    def range(self, fighter: Body, other: Body) -> float:
        return sight(fighter, other)[2]

    def ahead(self, body: Body, other: Body) -> float:
        return off_nose(body, other)

    def line(self, fighter: Body, other: Body) -> tuple[float, float]:
        """Returns the horizontal part of the unit vector to another body."""
        x, y, _ = unit(sight(fighter, other)[0])
        return float(x), float(y)

    # Observation

    def observe(self, seat: int) -> dict[str, float]:
        """Returns the values of a fighter's features, not yet divided by their scales."""
        own, enemy = self.fighters[seat], self.fighters[1 - seat]
        distance, sees = self.range(own, enemy), self.place_of(own, enemy)
        out = self.own_values(seat) | {
            "own_reach": self.reach[seat][0].r_max(own, enemy) - distance,
            "enemy_reach": self.reach[1 - seat][0].r_max(enemy, own) - distance,
            "enemy_climb": enemy.state[8],
        }
        out |= {f"enemy_{key}": value for key, value in self.stores(enemy, 1 - seat).items()}
        for key, value in sees.items():
            out[f"{'own' if key.startswith('aspect') else 'enemy'}_{key}"] = value
        for kind, of, target, count in (
            ("inbound", self.inbound(seat), own, INBOUND),
            ("own_missile", self.own_missiles(seat), enemy, OWN),
        ):
            shots = sorted(of, key=lambda m: (time_to_go(m, target), -m.age))[:count]
            for number in range(1, count + 1):
                out |= dict.fromkeys(_MISSILE[kind, number], 0.0)
            for number, shot in enumerate(shots, 1):
                features = self.shown(own, shot, target).items()
                out |= {f"{kind}_{number}_{name}": value for name, value in features}
        return out | self.loads(seat)

    def own_values(self, seat: int) -> dict[str, float]:
        """Returns the features of the own fighter."""
        own, left = self.fighters[seat], (self.steps("time_limit") - self.time) * self.dt
        out = {
            "time_left": left * min(1, CLOCK / self.p["time_limit"]),
            "own_throttle": own.state[9],
            "own_climb": own.state[8],
            "own_height": own.z,
            "own_climb_sine": own.direction[2],
            "own_density": law.air(own.z)[1],
            "own_mach": own.speed * sqrt(law.air(own.z)[2]),
            "own_energy": self.energy(own),
        }
        return out | {f"own_{key}": value for key, value in self.stores(own, seat).items()}

    def place_of(self, own: Body, other: Body) -> dict[str, float]:
        """Returns the features of where and how another flies."""
        r, w, distance = sight(own, other)
        out = {
            "range": distance,
            "nearness": NEAR_FIGHTER / (NEAR_FIGHTER + distance),
            "closing": -(r @ w) / distance,
            "los_rate": (r[0] * w[1] - r[1] * w[0]) / distance**2,
            "los_rate_up": w[2] / distance - r[2] * (r @ w) / distance**3,
            "off_nose": off_nose(own, other),
            "above": other.z - own.z,
            "energy": self.energy(other) - self.energy(own),
        }
        axes = ("ahead", "left", "up")
        out |= dict(zip(axes, own.seen(unit(r)), strict=True))
        out |= _named("heading", axes, own.seen(other.direction))
        return out | _named("aspect", axes[:2], other.seen(-unit(r)))

    def loads(self, seat: int) -> dict[str, float]:
        """Returns the features of each kind of missile, where there are several."""
        out, names = {}, ("first", "second", "third")
        for who, side in (("own", seat), ("enemy", 1 - seat)):
            fighter, enemy = self.fighters[side], self.fighters[1 - side]
            for kind, left in enumerate(fighter.left if len(fighter.left) > 1 else ()):
                reach = self.reach[side][kind if kind < len(self.reach[side]) else 0]
                out[f"{who}_{names[kind]}_ammunition"] = left
                r_max = reach.r_max(fighter, enemy)
                out[f"{who}_{names[kind]}_reach"] = r_max - self.range(fighter, enemy)
        return out

    def energy(self, fighter: Fighter) -> float:
        """Returns the height plus that which the speed would buy."""
        return fighter.z + fighter.speed**2 / (2 * self.p["gravity"])

    def stores(self, fighter: Fighter, seat: int) -> dict[str, float]:
        """Returns the features that are of both fighters."""
        last, interval = fighter.last_launch, self.steps("launch_interval")
        wait = 0 if last is None else max(last + interval - self.time, 0)
        return {
            "alive": float(fighter.alive),
            "speed": fighter.speed,
            "rudder": fighter.state[7],
            "ammunition": fighter.ammo,
            "reload": wait * self.dt,
            "in_air": len(self.own_missiles(seat)),
            **self.performance(self.types[seat].aircraft, fighter),
        }

    def performance(self, aircraft: Fields, body: Body) -> dict[str, float]:
        """Returns the features of what an aircraft can do where it flies."""
        limit = law.lift_limit(aircraft, body.z, body.speed, self.p["gravity"])
        return {"lift_limit": limit, "thrust": law.thrust(aircraft, body.z, body.speed)}

    def shown(self, own: Fighter, missile: Missile, target: Fighter) -> dict[str, float]:
        """Returns the features of a missile."""
        distance = sight(missile, target)[2]
        axes = ("ahead", "left", "up")
        out = {
            "present": 1.0,
            "nearness": NEAR_MISSILE / (NEAR_MISSILE + distance),
            "urgency": NEAR_TIME / (NEAR_TIME + time_to_go(missile, target)),
            "speed": missile.speed,
            "reach": self.chase(missile, target) - distance,
            "above": missile.z - target.z,
        }
        out |= dict(zip(axes, own.seen(unit(sight(own, missile)[0])), strict=True))
        return out | _named("heading", axes, own.seen(missile.direction))


_MISSILE = {
    (kind, number): [
        name
        for name, *_ in _core.feature_rows(_core.HEIGHTS[0])
        if name.startswith(f"{kind}_{number}_")
    ]
    for kind, count in (("inbound", INBOUND), ("own_missile", OWN))
    for number in range(1, count + 1)
}


def _named(prefix: str, names: Sequence[str], values: Sequence[float]) -> dict[str, float]:
    return {f"{prefix}_{name}": value for name, value in zip(names, values, strict=False)}
