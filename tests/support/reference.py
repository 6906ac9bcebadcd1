"""The rules of csrc/RULES.md a second time, in plain float64 Python, written from that text alone.

Slow and obvious on purpose: the core is tested against it. The pilots are in reference_pilots.py.

Parameters are a mapping with every name of csrc/params.h (`game.parameters.resolve`).
SI units, angles in radians, headings counter-clockwise from +x, positive rudder to the left.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import ceil, hypot

RED, BLUE = 0, 1
OPEN, RED_WINS, BLUE_WINS, DRAW = range(4)

WHOLE_STEP_SLACK = 1e-4
LONGEST_TIME_TO_GO = 100.0

Parameters = Mapping[str, float]


def clip(value: float, low: float, high: float) -> float:
    return low if value < low else high if value > high else value


def whole_steps(seconds: float, dt: float) -> int:
    return ceil(seconds / dt - WHOLE_STEP_SLACK)


@dataclass(frozen=True)
class Airframe:
    """The constants of the flight law of a kind of body."""

    gravity: float
    terminal_speed: float
    turn_radius: float
    lift_drag: float
    load_limit: float

    @classmethod
    def of(cls, kind: str, p: Parameters) -> "Airframe":
        names = ("terminal_speed", "turn_radius", "lift_drag", "load_limit")
        return cls(p["gravity"], *(p[f"{kind}_{name}"] for name in names))

    @cached_property
    def zero_lift_drag(self) -> float:
        return self.gravity / self.terminal_speed**2

    @cached_property
    def induced_drag(self) -> float:
        return 1 / (4 * self.zero_lift_drag * self.lift_drag**2)

    def lift(self, rudder: float, speed: float) -> float:
        """Returns Cl, the curvature of the path [1/m], after the load limit."""
        lift = rudder / self.turn_radius
        if self.load_limit > 0:
            limit = self.load_limit * self.gravity / speed**2
            lift = clip(lift, -limit, limit)
        return lift

    def drag(self, lift: float) -> float:
        """Returns Cd [1/m]."""
        return self.zero_lift_drag + self.induced_drag * lift**2


@dataclass
class Body:
    """Position, unit direction of the velocity, speed and rudder."""

    x: float
    y: float
    c: float
    s: float
    speed: float
    rudder: float = 0.0

    @property
    def velocity(self) -> tuple[float, float]:
        return self.speed * self.c, self.speed * self.s

    def fly(self, airframe: Airframe, thrust: float, dt: float) -> None:
        """Moves one physics step along an arc."""
        lift = airframe.lift(self.rudder, self.speed)
        drag = airframe.drag(lift)
        speed = (self.speed + thrust * dt) / (1 + drag * self.speed * dt)
        length = dt * (self.speed + speed) / 2
        angle = length * lift
        m = 1 + angle**2 / 12
        h = m * angle / 2
        w = 1 / (1 + h**2)
        p, r = self.c - h * self.s, self.s + h * self.c
        self.x += length * m * w * p
        self.y += length * m * w * r
        self.c, self.s = self.c - 2 * h * w * r, self.s + 2 * h * w * p
        self.speed = speed


@dataclass
class Fighter(Body):
    throttle: float = 1.0
    ammo: int = 6
    alive: bool = True
    last_launch: int | None = None
    pressed: int = 0


@dataclass
class Missile(Body):
    owner: int = RED
    age: int = 0
    target: int | None = None  # by default the other one of two

    def __post_init__(self) -> None:
        if self.target is None:
            self.target = 1 - self.owner


def motor_thrust(age: int, p: Parameters) -> float:
    return p["missile_thrust"] * clip(p["missile_burn_time"] / p["physics_dt"] - age, 0, 1)


def relative(origin: Body, other: Body) -> tuple[float, float, float, float]:
    """Returns position and velocity of `other` seen from `origin`."""
    (vx, vy), (ux, uy) = other.velocity, origin.velocity
    return other.x - origin.x, other.y - origin.y, vx - ux, vy - uy


def guidance(missile: Body, target: Body, p: Parameters) -> float:
    """Returns the rudder command of pure proportional navigation."""
    rx, ry, wx, wy = relative(missile, target)
    # N * LOS rate / v, where the LOS rate is (r × w) / r²
    divisor = max((rx**2 + ry**2) * missile.speed**2, 1)
    lift = p["missile_navigation"] * (rx * wy - ry * wx) * missile.speed / divisor
    return clip(p["missile_turn_radius"] * lift, -1, 1)


def least_distance(r0: tuple[float, float], r1: tuple[float, float]) -> float:
    """Returns the least distance from the origin to the segment from r0 to r1."""
    dx, dy = r1[0] - r0[0], r1[1] - r0[1]
    length2 = dx**2 + dy**2
    tau = clip(-(r0[0] * dx + r0[1] * dy) / length2, 0, 1) if length2 > 0 else 0.0
    return hypot(r0[0] + tau * dx, r0[1] + tau * dy)


def time_to_go(missile: Body, target: Body) -> float:
    rx, ry, wx, wy = relative(missile, target)
    distance = hypot(rx, ry)
    closing = -(rx * wx + ry * wy) / distance if distance > 0 else 0.0
    if closing <= 0:
        return LONGEST_TIME_TO_GO
    return min(distance / closing, LONGEST_TIME_TO_GO)


def off_boresight(fighter: Body, x: float, y: float) -> tuple[float, float]:
    """Returns cosine and sine of the angle from the nose to (x, y); (0, 0) is ahead."""
    distance = hypot(x, y)
    if distance == 0:
        return 1.0, 0.0
    return (
        (fighter.c * x + fighter.s * y) / distance,
        (fighter.c * y - fighter.s * x) / distance,
    )


@dataclass
class Engagement:
    """One fight: state, one decision at a time, outcome and rewards."""

    p: Parameters
    fighters: list[Fighter]
    missiles: list[Missile] = field(default_factory=list)
    time: int = 0
    outcome: int = OPEN
    truncated: bool = False
    retargeted: int = 0  # missiles that went for another target after the last decision; in teams
    # By how much each yes or no of the last decision was one, to tell near calls: (what, margin).
    margins: list[tuple[str, float]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.dt = self.p["physics_dt"]
        self.fighter_airframe = Airframe.of("fighter", self.p)
        self.missile_airframe = Airframe.of("missile", self.p)

    def steps(self, name: str) -> int:
        return whole_steps(self.p[name], self.dt)

    def side(self, seat: int) -> int:
        return seat

    def inbound(self, seat: int) -> list[Missile]:
        return [m for m in self.missiles if m.target == seat]

    def own_missiles(self, seat: int) -> list[Missile]:
        return [m for m in self.missiles if m.owner == seat]

    def enemy_of(self, seat: int) -> Fighter:
        return self.fighters[1 - seat]

    def below(self, what: str, value: float, limit: float) -> bool:
        """Returns True if value < limit, and keeps the margin."""
        self.margins.append((what, value - limit))
        return value < limit

    # One decision

    def decide(self, controls: Sequence[Sequence[float]]) -> tuple[float, float]:
        """Plays one decision with (rudder, throttle, fire) of both seats; returns both rewards."""
        before = self.potential(RED)
        commands = [self.read(control) for control in controls]
        self.launch([fire for _, _, fire in commands])
        for _ in range(self.p["substeps"]):
            self.step(commands)
        self.update_picture(self.p["substeps"])
        self.count_pressing()
        self.judge()
        change = (0.0 if self.outcome else self.potential(RED)) - before
        seconds = self.p["substeps"] * self.dt
        pressing = self.geometry(RED) - self.geometry(BLUE)
        shaping = change + self.p["reward_pressure"] * seconds * pressing
        return self.result(RED) + shaping, self.result(BLUE) - shaping

    def result(self, seat: int) -> float:
        """Returns the reward of the outcome for a seat; 0 while it is open."""
        if not self.outcome:
            return 0.0
        won = {RED_WINS: RED, BLUE_WINS: BLUE}.get(self.outcome)
        kind = "draw" if won is None else "win" if won == seat else "loss"
        return self.p[f"reward_{kind}"]

    @staticmethod
    def read(control: Sequence[float]) -> tuple[float, float, bool]:
        rudder, throttle, fire = (0.0 if value != value else value for value in control)
        return clip(rudder, -1, 1), clip(throttle, 0, 1), fire > 0.5

    def launch(self, fire: Sequence[bool]) -> None:
        interval = self.steps("launch_interval")
        for seat, fighter in enumerate(self.fighters):
            rested = fighter.last_launch is None or self.time - fighter.last_launch >= interval
            enemy = self.fighters[1 - seat]
            may = fighter.alive and enemy.alive and fighter.ammo > 0 and self.has_track(seat)
            if fire[seat] and rested and may:
                fighter.ammo -= 1
                fighter.last_launch = self.time
                self.missiles.append(self.missile_of(fighter, seat))

    def missile_of(self, fighter: Fighter, seat: int) -> Missile:
        ahead = self.p["missile_launch_offset"]
        x, y = fighter.x + ahead * fighter.c, fighter.y + ahead * fighter.s
        return Missile(x, y, fighter.c, fighter.s, fighter.speed, owner=seat)

    def step(self, commands: Sequence[tuple[float, float, bool]]) -> None:
        """Advances by one physics step."""
        before = [self.toward_target(m) for m in self.missiles]
        missile_commands = [guidance(m, self.aim(m), self.p) for m in self.missiles]
        for fighter, (rudder, throttle, _) in zip(self.fighters, commands, strict=True):
            if fighter.alive:
                self.fly_fighter(fighter, rudder, throttle)
        for missile, command in zip(self.missiles, missile_commands, strict=True):
            self.fly_missile(missile, command)
        self.time += 1

        passes = [
            least_distance(r0, self.toward_target(m))
            for m, r0 in zip(self.missiles, before, strict=True)
        ]
        hits = [self.below("fuze", d, self.p["missile_hit_radius"]) for d in passes]
        for missile, hit in zip(self.missiles, hits, strict=True):
            if hit:
                self.fighters[missile.target].alive = False
        self.missiles = [
            m
            for m, hit in zip(self.missiles, hits, strict=True)
            if not hit and self.fighters[m.target].alive and not self.spent(m)
        ]

    # What a game with sensors has otherwise: reference_sensors.py

    def has_track(self, seat: int) -> bool:
        """Returns True if a fighter has a track of its enemy."""
        return True

    def aim(self, missile: Missile) -> Body:
        """Returns the body that a missile flies at."""
        return self.fighters[missile.target]

    def update_picture(self, steps: int) -> None:
        """Updates contacts and beliefs by the sensors, after so many physics steps."""

    def fly_fighter(self, fighter: Fighter, rudder: float, throttle: float) -> None:
        rudder_travel = self.p["fighter_rudder_rate"] * self.dt
        throttle_travel = self.p["fighter_throttle_rate"] * self.dt
        fighter.rudder += clip(rudder - fighter.rudder, -rudder_travel, rudder_travel)
        fighter.throttle += clip(throttle - fighter.throttle, -throttle_travel, throttle_travel)
        fighter.fly(self.fighter_airframe, fighter.throttle * self.p["fighter_thrust"], self.dt)

    def fly_missile(self, missile: Missile, command: float) -> None:
        travel = self.p["missile_rudder_rate"] * self.dt
        missile.rudder += clip(command - missile.rudder, -travel, travel)
        missile.fly(self.missile_airframe, motor_thrust(missile.age, self.p), self.dt)
        missile.age += 1

    def time_to_go(self, missile: Missile, target: Fighter) -> float:
        return time_to_go(missile, target)

    def range(self, fighter: Body, other: Body) -> float:
        return hypot(other.x - fighter.x, other.y - fighter.y)

    def line(self, fighter: Body, other: Body) -> tuple[float, float]:
        """Returns the line to another body; only its direction counts."""
        return other.x - fighter.x, other.y - fighter.y

    def ahead(self, body: Body, other: Body) -> float:
        """Returns the cosine of the angle at which a body sees another off its nose."""
        return off_boresight(body, other.x - body.x, other.y - body.y)[0]

    def toward_target(self, missile: Missile) -> tuple[float, float]:
        target = self.fighters[missile.target]
        return target.x - missile.x, target.y - missile.y

    def spent(self, missile: Missile) -> bool:
        burnt_out = missile.age >= self.steps("missile_burn_time")
        return burnt_out and self.below("spent", missile.speed, self.p["missile_spent_speed"])

    def count_pressing(self) -> None:
        """Counts the fighters that press: the enemy is ahead of their beam. Needs a margin."""
        if not self.steps("pressing_margin"):
            return
        for fighter, enemy in zip(self.fighters, reversed(self.fighters), strict=True):
            dx, dy, _, _ = relative(fighter, enemy)
            if fighter.alive and self.below("beam", 0, dx * fighter.c + dy * fighter.s):
                fighter.pressed += self.p["substeps"]

    def without_a_kill(self) -> int:
        """Returns the result of a fight that both survive."""
        red, blue = (fighter.pressed for fighter in self.fighters)
        margin = self.steps("pressing_margin")
        if not margin or abs(red - blue) < margin:
            return DRAW
        return RED_WINS if red > blue else BLUE_WINS

    def judge(self) -> None:
        """Sets the outcome from the state at the end of a decision."""
        red, blue = (fighter.alive for fighter in self.fighters)
        time_is_up = self.time >= self.steps("time_limit")
        if not red and not blue:
            self.outcome = DRAW
        elif red != blue:
            if time_is_up or not self.missiles:
                self.outcome = RED_WINS if red else BLUE_WINS
        elif time_is_up:
            self.outcome, self.truncated = self.without_a_kill(), True
        elif not self.missiles and all(fighter.ammo == 0 for fighter in self.fighters):
            self.outcome = self.without_a_kill()

    # Rewards

    def potential(self, seat: int) -> float:
        return self.merit(seat) - self.merit(1 - seat)

    def geometry(self, seat: int) -> float:
        fighter, enemy = self.fighters[seat], self.fighters[1 - seat]
        x, y = enemy.x - fighter.x, enemy.y - fighter.y
        scale = self.p["reward_geometry_range"]
        return (1 + off_boresight(fighter, x, y)[0]) / 2 * scale / (scale + hypot(x, y))

    def full_load(self, seat: int) -> int:
        return self.p["ammunition"]

    def merit(self, seat: int) -> float:
        fighter, p = self.fighters[seat], self.p
        load = self.full_load(seat)
        ammunition = fighter.ammo / load if load else 0.0
        scale = p["reward_threat_time"]
        threats = [scale / (scale + self.time_to_go(m, fighter)) for m in self.inbound(seat)]
        return (
            p["reward_geometry"] * self.geometry(seat)
            + p["reward_ammunition"] * ammunition
            - p["reward_threat"] * max(threats, default=0.0)
        )
