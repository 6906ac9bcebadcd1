"""The scripted pilots of csrc/RULES.md a second time, written from that text alone.

Where a threshold is drawn from a range the two ends must be equal: the draw is not repeated here.
"""

from dataclasses import dataclass
from math import acos, cos, degrees, hypot, inf, log, pi, radians, sin, sqrt

from reference import (
    LONGEST_TIME_TO_GO,
    Airframe,
    Body,
    Engagement,
    Fighter,
    Missile,
    Parameters,
    clip,
    motor_thrust,
    off_boresight,
    relative,
    whole_steps,
)
from reference_envelope import reach_of

from midrange_puffer.game.envelope import game_envelope


def reach(p: Parameters) -> tuple[float, float]:
    """Returns distance and time in which a straight missile has slowed to `pilot_reach_speed`."""
    airframe = Airframe.of("missile", p)
    missile = Missile(0.0, 0.0, 1.0, 0.0, p["pilot_launch_speed"])
    burn = whole_steps(p["missile_burn_time"], p["physics_dt"])
    while missile.age < burn or missile.speed > p["pilot_reach_speed"]:
        missile.fly(airframe, motor_thrust(missile.age, p), p["physics_dt"])
        missile.age += 1
    return missile.x, missile.age * p["physics_dt"]


def top_speed(p: Parameters) -> float:
    """Returns a fighter's top speed, straight and at full throttle."""
    return sqrt(p["fighter_thrust"] / Airframe.of("fighter", p).zero_lift_drag)


def chase_reach(speed: float, age: int, target_speed: float, p: Parameters) -> float:
    """Returns the distance that a missile gains on a running target, until it is slow or spent."""
    drag = Airframe.of("missile", p).zero_lift_drag
    boost_time = max(p["missile_burn_time"] - age * p["physics_dt"], 0)
    burnt = (speed + p["missile_thrust"] * boost_time) / (1 + drag * speed * boost_time)
    boost = boost_time * ((speed + burnt) / 2 - target_speed)
    end = max(target_speed, p["missile_spent_speed"])
    burnt = max(burnt, end)
    return boost + (log(burnt / end) - target_speed * (1 / end - 1 / burnt)) / drag


@dataclass(frozen=True)
class Tactics:
    """A row of the table of tactics."""

    far: float = 0.0  # fires inside this fraction of R_max
    near: float = 0.0  # or this one of R_NEZ
    salvo: float = inf  # at most so many in the air
    reserve: int = 0  # missiles kept from a shot at `far`
    off_deg: float = 0.0  # course off the enemy while an own missile is in the air,
    delay: float = 0.0  # so long after the last launch
    evade_time: float = 0.0  # evades a missile with less time to go
    guard: float | None = None  # that could run it down with so much to spare; None: any missile
    weave_deg: float | None = None  # None: evades by running
    leaves: bool = False  # runs for good once all is shot
    wait_range: float | None = None  # keeps this range while it waits


def tactics(name: str, p: Parameters) -> Tactics:
    def drawn(threshold: str) -> float:
        low, high = p[f"{threshold}_min"], p[f"{threshold}_max"]
        assert low == high, f"{threshold} is drawn from {low} to {high}"
        return low

    match name:
        case "shooter":
            return Tactics(far=drawn("shooter_fire"))
        case "evader":
            return Tactics(
                far=drawn("shooter_fire"),
                salvo=p["evader_salvo"],
                evade_time=drawn("evader_cold_time"),
            )
        case "crank":
            return Tactics(
                far=drawn("crank_fire"),
                salvo=p["crank_salvo"],
                off_deg=p["crank_angle_deg"],
                evade_time=drawn("crank_cold_time"),
            )
        case "bracket_shooter":
            return Tactics(
                near=drawn("bracket_fire"),
                salvo=p["bracket_salvo"],
                evade_time=drawn("bracket_cold_time"),
            )
        case "turn_back":
            return Tactics(
                far=drawn("turn_back_fire"),
                salvo=p["turn_back_salvo"],
                off_deg=180,
                delay=drawn("turn_back_delay"),
            )
        case "snake":
            return Tactics(
                far=drawn("snake_fire"),
                salvo=p["snake_salvo"],
                evade_time=drawn("snake_time"),
                weave_deg=p["snake_angle_deg"],
            )
        case "ace":
            return Tactics(
                far=drawn("ace_probe"),
                near=drawn("ace_fire"),
                salvo=p["ace_salvo"],
                reserve=p["ace_reserve"],
                off_deg=p["ace_crank_angle_deg"],
                evade_time=drawn("ace_cold_time"),
                guard=drawn("ace_guard"),
                leaves=True,
            )
        case "notcher":
            return Tactics(
                far=drawn("notcher_fire"), salvo=p["notcher_salvo"], evade_time=LONGEST_TIME_TO_GO
            )
        case "pair":
            return Tactics(
                far=drawn("pair_fire"), salvo=p["pair_salvo"], evade_time=LONGEST_TIME_TO_GO
            )
        case "patient":
            return Tactics(
                near=drawn("patient_fire"),
                salvo=p["patient_salvo"],
                off_deg=p["patient_crank_angle_deg"],
                evade_time=drawn("patient_cold_time"),
                wait_range=drawn("patient_range"),
            )
    raise ValueError(name)


def turned_left(x: float, y: float, angle: float) -> tuple[float, float]:
    """Returns the direction (x, y) turned by an angle."""
    return x * cos(angle) - y * sin(angle), x * sin(angle) + y * cos(angle)


@dataclass
class Pilot:
    """A scripted pilot: `control(engagement, seat)` is its (rudder, throttle, fire)."""

    name: str
    p: Parameters

    def __post_init__(self) -> None:
        self.reach, self.reach_time = reach(self.p)
        self.top_speed = top_speed(self.p)
        if self.name not in ("straight", "weave"):
            self.tactics = tactics(self.name, self.p)

    def control(self, engagement: Engagement, seat: int) -> tuple[float, float, float]:
        if self.name == "straight":
            return 0.0, 1.0, 0.0
        if self.name == "weave":
            return self.weave(engagement), 1.0, 0.0
        x, y = self.course(engagement, seat)
        rudder = self.steer(engagement, engagement.fighters[seat], x, y)
        fires = self.wants_to_fire(engagement, seat, engagement.enemy_of(seat))
        return rudder, 1.0, float(fires)

    def weave(self, engagement: Engagement) -> float:
        """Returns a left rudder in the first and last quarter of the period, else a right one."""
        period = engagement.steps("weave_period")
        phase = engagement.time % period
        left = 4 * phase < period or 4 * phase >= 3 * period
        return self.p["weave_rudder"] if left else -self.p["weave_rudder"]

    def steer(self, engagement: Engagement, fighter: Body, x: float, y: float) -> float:
        ahead, left = off_boresight(fighter, x, y)
        if ahead < 0:
            return -1.0 if engagement.below("side", left, 0) else 1.0
        return clip(self.p["pilot_steering"] * left, -1, 1)

    # Where it flies

    def course(self, engagement: Engagement, seat: int) -> tuple[float, float]:
        """Returns the direction it steers to."""
        fighter, enemy = engagement.fighters[seat], engagement.enemy_of(seat)
        in_the_air = engagement.own_missiles(seat)
        to_enemy = engagement.line(fighter, enemy)
        threats = [m for m in engagement.inbound(seat) if self.evades(engagement, m, fighter)]
        if threats:
            if self.tactics.weave_deg is not None:
                return self.snake(engagement, to_enemy)
            threat = self.most_urgent(engagement, threats, fighter)
            x, y = engagement.line(fighter, threat)
            return -x, -y
        if self.tactics.wait_range is not None and self.waits(engagement, seat):
            angle = self.degrees_at(engagement.range(fighter, enemy))
            return self.off_the_enemy(engagement, fighter, to_enemy, angle)
        if self.tactics.leaves and fighter.ammo == 0 and not in_the_air:
            return -to_enemy[0], -to_enemy[1]
        if in_the_air and self.delay_is_over(engagement, fighter):
            return self.off_the_enemy(engagement, fighter, to_enemy, self.tactics.off_deg)
        return to_enemy

    def waits(self, engagement: Engagement, seat: int) -> bool:
        assert self.p["patient_left_spread"] == 0, "the reference does not draw patient_left"
        return engagement.enemy_of(seat).ammo > self.p["patient_left"]

    def degrees_at(self, distance: float) -> float:
        """Returns the angle off the enemy at which a waiting pilot flies at a distance."""
        off = (distance - self.tactics.wait_range) / self.p["patient_band"]
        return degrees(acos(clip(off, -1, 1)))

    def delay_is_over(self, engagement: Engagement, fighter: Fighter) -> bool:
        delay = whole_steps(self.tactics.delay, engagement.dt)
        return engagement.time - fighter.last_launch >= delay

    def off_the_enemy(
        self, engagement: Engagement, fighter: Body, to_enemy: tuple[float, float], degrees: float
    ) -> tuple[float, float]:
        """Returns a direction off the line to the enemy, on the nose's side, or left if on it."""
        angle = radians(degrees)
        if angle in (0, pi):
            return turned_left(*to_enemy, angle)
        nose_is_left = not engagement.below("side", -off_boresight(fighter, *to_enemy)[1], 0)
        return turned_left(*to_enemy, angle if nose_is_left else -angle)

    def snake(self, engagement: Engagement, to_enemy: tuple[float, float]) -> tuple[float, float]:
        period = engagement.steps("snake_period")
        angle = radians(self.tactics.weave_deg)
        left = engagement.time % period < period // 2
        return turned_left(*to_enemy, angle if left else -angle)

    def evades(self, engagement: Engagement, missile: Missile, fighter: Body) -> bool:
        time = engagement.time_to_go(missile, fighter)
        near = engagement.below("time to go", time, self.tactics.evade_time)
        if not near or self.tactics.guard is None:
            return near
        return engagement.below("run down", 0, self.spare(engagement, missile, fighter))

    def spare(self, engagement: Engagement, missile: Missile, fighter: Body) -> float:
        """Returns by what distance a missile could run the fighter down, guard included."""
        rx, ry, _, _ = relative(fighter, missile)
        facing = (1 + off_boresight(fighter, rx, ry)[0]) / 2
        gain = chase_reach(missile.speed, missile.age, self.top_speed, self.p)
        return gain - hypot(rx, ry) + self.tactics.guard * facing

    def most_urgent(self, engagement: Engagement, threats: list[Missile], fighter: Body) -> Missile:
        """Returns the missile with the least time to go."""
        first, *others = sorted(threats, key=lambda m: engagement.time_to_go(m, fighter))
        for other in others:
            gap = engagement.time_to_go(other, fighter) - engagement.time_to_go(first, fighter)
            engagement.margins.append(("time to go", gap))
        return first

    # When it fires

    def wants_to_fire(self, engagement: Engagement, seat: int, enemy: Body) -> bool:
        fighter = engagement.fighters[seat]
        rx, ry, _, _ = relative(fighter, enemy)
        distance = hypot(rx, ry)
        off = radians(self.p["pilot_fire_off_boresight_deg"])
        on_the_nose = engagement.below("boresight", cos(off), off_boresight(fighter, rx, ry)[0])
        facing = off_boresight(enemy, -rx, -ry)[0]
        far = engagement.below("range", distance, self.tactics.far * self.r_max(enemy, facing))
        near = engagement.below("range", distance, self.tactics.near * self.r_nez(fighter, enemy))
        in_range = near or (far and fighter.ammo > self.tactics.reserve)
        may_fire = len(engagement.own_missiles(seat)) < self.tactics.salvo
        return on_the_nose and in_range and may_fire

    def r_max(self, enemy: Body, facing: float) -> float:
        """Returns R_max; `facing` is the cosine of the angle from the enemy's nose to us."""
        return self.reach + self.reach_time * enemy.speed * facing

    def r_nez(self, fighter: Body, enemy: Body) -> float:
        if self.name not in ("bracket_shooter", "ace", "patient"):
            return 0.0
        envelope = game_envelope(self.p)
        return reach_of(envelope, envelope.nez, _motion(fighter), _motion(enemy))


def _motion(body: Body) -> dict[str, float]:
    return {"x": body.x, "y": body.y, "vx": body.c, "vy": body.s, "speed": body.speed}
