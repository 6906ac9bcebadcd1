"""The flight law against its closed forms P1-P9, its order, and traces made elsewhere.

Where it says nothing else the physics step is the default 0.1 s. Fighters and missiles obey the
same law, so open-loop turns of a missile, which PN would steer, are flown by a fighter given the
missile's numbers.
"""

import csv
from math import cos, degrees, exp, hypot, log, pi, radians, sin, sqrt

import pytest
import reference
from closed_forms import BURN_TIME, FIGHTER, GRAVITY, MISSILE, Body
from places import GOLDEN
from scenes import IDEAL, RED, course, fighter, hold, missile, place, turned

from midrange_puffer import Simulation
from midrange_puffer.game.parameters import resolve

DT = 0.1


def flight(**parameters: float) -> Simulation:
    sim = Simulation(**(IDEAL | parameters))
    place(sim)
    return sim


def straight_missile(speed: float, age: int = 0, **parameters: float) -> Simulation:
    """A missile flying along +x toward a fighter dead ahead, so that PN commands nothing."""
    sim = flight(**parameters)
    sim.set_missile(0, 0, owner=RED, x=0, y=0, heading_deg=0, speed=speed, age=age, rudder=0)
    return sim


def test_defaults_are_the_published_airframes():
    """The default parameters are the numbers that the closed forms use."""
    p = resolve({})
    for kind, body in (("fighter", FIGHTER), ("missile", MISSILE)):
        for name in ("terminal_speed", "turn_radius", "lift_drag", "thrust"):
            assert p[f"{kind}_{name}"] == pytest.approx(getattr(body, name), rel=1e-7)
    assert p["gravity"] == pytest.approx(GRAVITY)
    assert p["missile_burn_time"] == BURN_TIME
    assert p["physics_dt"] == pytest.approx(DT)


@pytest.mark.parametrize("start", [200, 700])
def test_p1_top_speed_of_a_fighter(start):
    """P1: from either side a fighter settles at sqrt(a/Cd0) = 489.898 m/s."""
    sim = flight()
    place(sim, speed=start)
    hold(sim, 3000)
    assert FIGHTER.rest_speed() == pytest.approx(489.898, abs=1e-3)
    assert fighter(sim)["speed"] == pytest.approx(FIGHTER.rest_speed(), abs=0.01)


@pytest.mark.parametrize("start", [300, 1900])
def test_p1_top_speed_of_a_missile(start):
    """P1: a missile whose motor goes on settles at sqrt(a/Cd0) = 1549.19 m/s."""
    sim = straight_missile(start, missile_burn_time=120)
    hold(sim, 1200)
    assert MISSILE.rest_speed() == pytest.approx(1549.19, abs=0.01)
    assert missile(sim)["speed"] == pytest.approx(MISSILE.rest_speed(), abs=0.02)


@pytest.mark.parametrize("rudder", [1, -1])
def test_p2_sustained_turn(rudder):
    """P2: full rudder settles at 255.88 m/s, 14.66 deg/s and 6.68 g, to either side."""
    sim = flight()
    hold(sim, 1200, red=(rudder, 1, 0))
    before = fighter(sim)
    hold(sim, 1, red=(rudder, 1, 0))
    after = fighter(sim)
    rate = turned(course(before), course(after)) / DT
    assert after["speed"] == pytest.approx(255.88, abs=0.1)
    assert degrees(rate) == pytest.approx(rudder * 14.66, abs=0.01)
    assert abs(rate) * after["speed"] / GRAVITY == pytest.approx(6.68, abs=0.01)


@pytest.mark.parametrize(("lift_drag", "best"), [(5, 0.6125), (2, 0.245)])
def test_p3_best_lift_to_drag(lift_drag, best):
    """P3: lift over drag is greatest at Cl = 2 Cd0 LD and equals LD there."""

    def measured(rudder: float) -> float:
        # Coasting, dv/v = -Cd ds and dpsi = Cl ds: their quotient is Cl/Cd.
        sim = flight(fighter_lift_drag=lift_drag, fighter_thrust=0)
        before = fighter(sim)
        hold(sim, 50, red=(rudder, 0, 0))
        after = fighter(sim)
        return turned(course(before), course(after)) / log(before["speed"] / after["speed"])

    assert measured(best) == pytest.approx(lift_drag, rel=1e-3)
    assert measured(0.8 * best) < 0.99 * lift_drag
    assert measured(1.2 * best) < 0.99 * lift_drag


def test_p4_boost():
    """P4: a missile launched at 300 m/s burns out at 1264.286 m/s after 8640.139 m."""
    sim = straight_missile(300)
    hold(sim, 100)
    after = missile(sim)
    assert MISSILE.boost(300, BURN_TIME) == pytest.approx((8640.139, 1264.286), abs=1e-3)
    assert after["x"] == pytest.approx(8640.139, abs=0.5)
    assert after["y"] == pytest.approx(0, abs=0.01)
    assert after["speed"] == pytest.approx(1264.286, abs=0.05)


def test_p4_fighter():
    """P4: a fighter accelerates straight as the closed form says, all of 60 s long."""
    sim = flight()
    for second in range(10, 61, 10):
        hold(sim, 100)
        distance, speed = FIGHTER.boost(300, second)
        assert fighter(sim)["x"] == pytest.approx(distance, abs=0.5)
        assert fighter(sim)["speed"] == pytest.approx(speed, abs=0.01)


def test_p5_coast():
    """P5: coasting from 1264 m/s, 35.1 s bring a missile 21 440 m far and down to 340 m/s."""
    sim = straight_missile(1264, age=100)
    hold(sim, 351)
    distance, speed = MISSILE.coast(1264, 35.1)
    assert MISSILE.coast_to(1264.286, 340) == pytest.approx((21441.9, 35.106), rel=2e-5)
    assert missile(sim)["x"] == pytest.approx(distance, abs=0.5)
    assert missile(sim)["speed"] == pytest.approx(speed, abs=0.01)  # the method is exact here


@pytest.mark.parametrize("rudder", [1, 0.3, -0.5])
@pytest.mark.parametrize("body", [FIGHTER, Body(400, 1000, 2, 100)], ids=["fighter", "draggy"])
def test_p6_turns_are_circles(body, rudder):
    """P6: constant rudder and thrust give a circle of radius Rmin/|u|, speed a function of arc."""
    sim = flight(fighter_lift_drag=body.lift_drag, fighter_thrust=body.thrust)
    radius = body.turn_radius / abs(rudder)
    centre = (0, body.turn_radius / rudder)
    swept = 0.0
    before = fighter(sim)
    while swept < 2 * pi:
        hold(sim, 1, red=(rudder, 1, 0))
        now = fighter(sim)
        swept += abs(turned(course(before), course(now)))
        before = now
        assert hypot(now["x"] - centre[0], now["y"] - centre[1]) == pytest.approx(radius, rel=1e-3)
    speed = body.speed_on_circle(300, rudder, 1, radius * swept)
    assert now["speed"] == pytest.approx(speed, rel=1e-3)


@pytest.mark.parametrize(("angle", "kept"), [(90, 0.1829), (180, 0.0334)])
def test_p7_speed_kept_in_a_coasting_turn(angle, kept):
    """P7: coasting at full rudder, 90 (180) degrees leave a missile 18.29 (3.34) % of its speed."""
    sim = flight(fighter_lift_drag=MISSILE.lift_drag, fighter_thrust=0)
    place(sim, speed=1200)
    swept = 0.0
    before = fighter(sim)
    while swept < radians(angle):
        hold(sim, 1, red=(1, 0, 0))
        now = fighter(sim)
        swept += turned(course(before), course(now))
        before = now
    slope = MISSILE.drag(1) * MISSILE.turn_radius  # Cd / Cl
    assert exp(-slope * radians(angle)) == pytest.approx(kept, abs=1e-4)
    assert now["speed"] / 1200 == pytest.approx(exp(-slope * swept), rel=0.01)


@pytest.mark.parametrize("speed", [150, 250, 295, 299, 350, 450])
def test_p8_corner_speed(speed):
    """P8: with 9 g the turn rate is v/Rmin up to 297 m/s and 9 g/v above."""
    sim = flight(physics_dt=0.01, fighter_load_limit=9)
    place(sim, speed=speed, rudder=1)
    before = fighter(sim)
    hold(sim, 1, red=(1, 1, 0))
    rate = turned(course(before), course(fighter(sim))) / 0.01
    expected = min(speed / 1000, 9 * GRAVITY / speed)
    assert sqrt(9 * GRAVITY * 1000) == pytest.approx(297.0, abs=0.05)
    assert rate == pytest.approx(expected, rel=1e-3)
    assert abs(rate) <= radians(17.02) * 1.001


@pytest.mark.parametrize("rudder", [0, 0.5, 1])
def test_p9_specific_excess_power(rudder):
    """P9: v dv/dt / g = v (a - Cd v^2) / g, with its zero at the sustained speed."""
    steps = 5
    for speed in (200, 300, FIGHTER.rest_speed(rudder), 500):
        sim = flight()
        place(sim, speed=speed, rudder=rudder)
        hold(sim, steps, red=(rudder, 1, 0))
        after = fighter(sim)["speed"]
        power = (after**2 - speed**2) / 2 / (steps * DT) / GRAVITY
        middle = (after + speed) / 2
        expected = middle * (FIGHTER.thrust - FIGHTER.drag(rudder) * middle**2) / GRAVITY
        # A float32 speed is rounded by 3e-5 m/s a step, which at 500 m/s makes 0.015 m/s.
        assert power == pytest.approx(expected, rel=1e-3, abs=0.03)


@pytest.mark.parametrize("dt", [0.1, 0.15, 0.3, 0.35, 0.07, 0.5])
def test_motor_burns_exactly_ten_seconds(dt):
    """The impulse of the motor is thrust times 10.0 s, also where the step does not divide it."""
    # With next to no drag the speed gained is the impulse: a step too much shows as 10 m/s.
    sim = straight_missile(300, physics_dt=dt, gravity=1, missile_terminal_speed=1000)
    steps = reference.whole_steps(BURN_TIME, dt)
    hold(sim, steps - 1)
    burning = missile(sim)["speed"]
    hold(sim, 1)
    burnt_out = missile(sim)["speed"]
    hold(sim, 1)
    assert burnt_out > burning
    assert missile(sim)["speed"] < burnt_out
    drag = 1 / 1000**2
    lost = sum(drag * (300 + 147 * min((n + 0.5) * dt, 10)) ** 2 * dt for n in range(steps))
    assert burnt_out == pytest.approx(300 + 1470 - lost, abs=0.15)


def core_boost_error(dt: float) -> tuple[float, float]:
    sim = straight_missile(300, physics_dt=dt)
    hold(sim, round(BURN_TIME / dt))
    distance, speed = MISSILE.boost(300, BURN_TIME)
    return abs(missile(sim)["x"] - distance), abs(missile(sim)["speed"] - speed)


def reference_boost_error(dt: float) -> tuple[float, float]:
    body = reference.Body(0, 0, 1, 0, 300)
    airframe = reference.Airframe.of("missile", resolve(IDEAL))
    for _ in range(round(BURN_TIME / dt)):
        body.fly(airframe, MISSILE.thrust, dt)
    distance, speed = MISSILE.boost(300, BURN_TIME)
    return abs(body.x - distance), abs(body.speed - speed)


@pytest.mark.parametrize(("error", "dt"), [(core_boost_error, 0.5), (reference_boost_error, 0.1)])
def test_second_order(error, dt):
    """Halving dt quarters the error at burn-out (in float64 where float32 would hide it)."""
    for coarse, fine in zip(error(dt), error(dt / 2), strict=True):
        assert coarse / fine == pytest.approx(4, rel=0.1)


def test_second_order_in_a_turn():
    """Halving dt divides by four the distance to the circle's closed form where speed changes."""

    def error(dt: float) -> float:
        body = reference.Body(0, 0, 1, 0, 600, rudder=1)
        airframe = reference.Airframe.of("fighter", resolve(IDEAL))
        for _ in range(round(10 / dt)):
            body.fly(airframe, 0, dt)
        # Coasting at constant Cd: s = ln(1 + Cd v0 t) / Cd on the circle of radius 1000 m.
        angle = log(1 + FIGHTER.drag(1) * 600 * 10) / FIGHTER.drag(1) / 1000
        return hypot(body.x - 1000 * sin(angle), body.y - 1000 * (1 - cos(angle)))

    assert error(0.1) / error(0.05) == pytest.approx(4, rel=0.1)


def trace(name: str) -> list[dict[str, float]]:
    with (GOLDEN / f"{name}.csv").open() as file:
        return [{key: float(value) for key, value in row.items()} for row in csv.DictReader(file)]


# The traces are semi-implicit Euler at 1/60 s. Its own error, given as position up to 10 s and up
# to 60 s and as speed (m, m, m/s), is half a step's gain of speed in position while it accelerates;
# in a turn a velocity that each step lengthens by (rate dt)^2 / 2 (rud1 settles at 257.15 instead
# of 255.88 m/s and runs ahead on its circle by that); for missiles also a motor that burns one
# step, 2.45 m/s, too long.
@pytest.mark.parametrize(
    ("name", "rudder", "throttle", "heading_deg", "own_error"),
    [
        ("fighter_straight", 0, 1, 0, (1, 3, 0.05)),
        ("fighter_rud1", 1, 1, 0, (13, 75, 1.3)),
        ("fighter_rudm05_thr03", -0.5, 0.3, 45, (6, 28, 0.6)),
        ("missile_straight", 0, 1, 0, (11, 29, 2.45)),
        ("missile_rud03", 0.3, 1, 0, (12, 43, 2.45)),
    ],
)
def test_golden_open_loop_trace(name, rudder, throttle, heading_deg, own_error):
    """A trace of 60 s made in double precision elsewhere is met within that trace's own error."""
    # The missile's thrust is beyond a fighter's range: it is flown in time units of 2 s, in which
    # speeds halve and accelerations quarter, and the path stays the same.
    unit = 2 if name.startswith("missile") else 1
    body = MISSILE if name.startswith("missile") else FIGHTER
    sim = flight(
        physics_dt=DT * unit,
        gravity=GRAVITY / unit**2,
        fighter_terminal_speed=body.terminal_speed / unit,
        fighter_thrust=body.thrust / unit**2,
        fighter_lift_drag=body.lift_drag,
    )
    place(sim, speed=300 / unit, heading_deg=heading_deg, rudder=rudder, throttle=throttle)
    rows = trace(name)
    assert len(rows) == 60
    for second, row in enumerate(rows, start=1):
        burning = body is FIGHTER or second <= BURN_TIME
        hold(sim, 10, red=(rudder, throttle * burning, 0))
        state = fighter(sim)
        assert row["step"] == 60 * second
        miss = hypot(state["x"] - row["x"], state["y"] - row["y"])
        assert miss <= own_error[0 if second <= 10 else 1]
        assert state["speed"] * unit == pytest.approx(row["speed"], abs=own_error[2])


def test_trace_of_straight_ranges():
    """A straight missile agrees with a trace made by semi-implicit Euler at 0.1 s."""
    # It is ahead by half a step's gain of speed, up to 0.05 s * 964 m/s, and burns a step too long.
    sim = straight_missile(300)
    for row in trace("missile_ranges")[1:]:
        hold(sim, 50)
        assert missile(sim)["x"] == pytest.approx(row["distance_m"], rel=0.012)
        assert missile(sim)["speed"] == pytest.approx(row["speed_m_s"], rel=0.012)


@pytest.mark.parametrize("quantity", ["rudder", "throttle"])
def test_actuators_travel_at_their_rate(quantity):
    """Rudder travels 2 a second, throttle 1 a second, up to the command and not beyond."""
    rate = {"rudder": 2.0, "throttle": 1.0}[quantity]
    sim = flight(fighter_rudder_rate=2, fighter_throttle_rate=1)
    place(sim, rudder=0, throttle=0)
    for step in range(1, 16):
        hold(sim, 1, red=(0.7, 0.7, 0))
        assert fighter(sim)[quantity] == pytest.approx(min(rate * DT * step, 0.7), abs=1e-6)
    hold(sim, 1, red=(-0.7, 0, 0))
    assert fighter(sim)[quantity] == pytest.approx(0.7 - rate * DT, abs=1e-6)


def test_moved_actuators_act_in_the_same_step():
    """The rudder as moved in a step bends that step's path, and the throttle as moved drives it."""
    sim = flight(fighter_rudder_rate=2, fighter_throttle_rate=1)
    place(sim, throttle=0)
    hold(sim, 1, red=(1, 1, 0))
    after = fighter(sim)
    body = reference.Body(0, 0, 1, 0, 300, rudder=0.2)
    body.fly(reference.Airframe.of("fighter", resolve(IDEAL)), 0.1 * FIGHTER.thrust, DT)
    assert course(after) == pytest.approx(0.2 * 30 / 1000, rel=0.01)
    assert (after["x"], after["y"]) == pytest.approx((body.x, body.y), abs=1e-4)
    assert after["speed"] == pytest.approx(body.speed, abs=1e-4)
