"""Proportional navigation G1-G6, the reach limits P10-P12, the swept fuze and a recorded shot.

A missile whose motor goes on flies at its top speed, 1549.19 m/s, a fighter at full throttle at its
own, 489.898 m/s: at constant speeds the textbook's formulas (Zarchan; Guelman 1971) hold as such.
"""

import csv
from collections.abc import Iterator
from math import asin, atan2, cos, degrees, hypot, log, pi, radians, sin

import numpy as np
import pytest
from closed_forms import BURN_TIME, FIGHTER, GRAVITY, HIT_RADIUS, MISSILE
from places import GOLDEN
from scenes import (
    BLUE,
    FAR,
    IDEAL,
    OPEN,
    RED,
    RED_WINS,
    State,
    course,
    fighter,
    hold,
    missile,
    place,
    turned,
)

from midrange_puffer import Simulation

V_MISSILE, V_TARGET = MISSILE.rest_speed(), FIGHTER.rest_speed()
# Constant speeds: a motor that goes on, and next to no induced drag.
CONSTANT_SPEED = IDEAL | {
    "missile_burn_time": 120,
    "missile_lift_drag": 30,
    "fighter_lift_drag": 30,
}


def engagement(target: State, shot: State | None = None, **parameters: float) -> Simulation:
    """Red's missile (by default at the origin along +x) against blue; red itself is far away."""
    sim = Simulation(**(CONSTANT_SPEED | parameters))
    place(sim, x=-FAR, blue={"speed": V_TARGET} | target)
    base = {"x": 0, "y": 0, "heading_deg": 0, "speed": V_MISSILE, "age": 0, "rudder": 0}
    sim.set_missile(0, 0, owner=RED, **(base | (shot or {})))
    return sim


def chase(
    sim: Simulation, steps: int, blue: tuple[float, float, float] = (0, 1, 0)
) -> Iterator[tuple[State, State]]:
    """Missile and target, at the start and after each step while the missile flies."""
    for _ in range(steps):
        if not missile(sim)["active"]:
            return
        yield missile(sim), fighter(sim, BLUE)
        hold(sim, 1, blue=blue)


def line_of_sight(shot: State, target: State) -> float:
    return atan2(target["y"] - shot["y"], target["x"] - shot["x"])


def lateral_acceleration(shot: State) -> float:
    return shot["speed"] ** 2 * shot["rudder"] / MISSILE.turn_radius


@pytest.mark.parametrize("target_heading_deg", [0, 60, 90, -135, 180])
def test_g1_collision_triangle(target_heading_deg):
    """G1: on a collision triangle the missile flies straight on and does not miss."""
    lead = asin(V_TARGET * sin(radians(target_heading_deg)) / V_MISSILE)
    sim = engagement(
        {"x": 10_000, "heading_deg": target_heading_deg},
        {"heading_deg": degrees(lead)},
        missile_hit_radius=1,
        physics_dt=0.02,
    )
    for shot, target in chase(sim, 1000):
        if hypot(target["x"] - shot["x"], target["y"] - shot["y"]) > 500:
            assert abs(shot["rudder"]) < 1e-3
    assert turned(lead, course(shot)) == pytest.approx(0, abs=1e-3)
    assert sim.fighters["alive"][0, BLUE] == 0


def effective_navigation(navigation: float, target_speed_along_los: float) -> float:
    """N' = N Vm / Vc: pure PN commands N Vm, the textbook's formulas N' Vc, times the LOS rate."""
    return navigation * V_MISSILE / (V_MISSILE - target_speed_along_los)


@pytest.mark.parametrize("navigation", [3, 4, 5.5])
@pytest.mark.parametrize("target_heading_deg", [0, 180])
def test_g2_heading_error(navigation, target_heading_deg):
    """G2: a heading error HE is answered with -(Vm HE N'/tF)(1 - t/tF)^(N'-2)."""
    error, distance, dt = radians(1), 20_000, 0.01
    away = V_TARGET * cos(radians(target_heading_deg))
    flight_time = distance / (V_MISSILE - away)
    n = effective_navigation(navigation, away)
    sim = engagement(
        {"x": distance, "heading_deg": target_heading_deg},
        {"heading_deg": degrees(error)},
        missile_navigation=navigation,
        physics_dt=dt,
    )
    start = -V_MISSILE * error * n / flight_time
    for step, (shot, _) in enumerate(chase(sim, int(0.8 * flight_time / dt))):
        if step > 0:  # the rudder seen now was commanded one step ago
            remaining = 1 - (step - 1) * dt / flight_time
            expected = start * remaining ** (n - 2)
            assert lateral_acceleration(shot) == pytest.approx(
                expected, rel=0.03, abs=2e-3 * abs(start)
            )


@pytest.mark.parametrize(("n", "final"), [(3, 3.0), (4, 2.0)])
def test_g3_target_step(n, final):
    """G3: a target's n_T is answered with N'/(N'-2) n_T [1 - (1 - t/tF)^(N'-2)]."""
    distance, dt, rudder = 20_000, 0.01, 0.01
    flight_time = distance / (V_MISSILE + V_TARGET)
    sim = engagement(
        {"x": distance, "heading_deg": 180, "rudder": rudder},
        missile_navigation=n / effective_navigation(1, -V_TARGET),
        physics_dt=dt,
    )
    # The target flies along -x, so its left turn accelerates it toward -y.
    n_target = -(V_TARGET**2) * rudder / FIGHTER.turn_radius
    steps = int(0.9 * flight_time / dt)
    for step, (shot, _) in enumerate(chase(sim, steps, blue=(rudder, 1, 0))):
        if step > 0:
            remaining = 1 - (step - 1) * dt / flight_time
            expected = final * n_target * (1 - remaining ** (n - 2))
            tolerance = 0.03 * abs(final * n_target)
            assert lateral_acceleration(shot) == pytest.approx(expected, abs=tolerance)


@pytest.mark.parametrize("navigation", [3, 4, 5])
def test_g4_course_follows_the_line_of_sight(navigation):
    """G4: unsaturated, the course turns N times as far as the line of sight."""
    sim = engagement(
        {"x": 12_000, "y": 4_000, "heading_deg": 120, "rudder": 0.05},
        {"heading_deg": 25},
        missile_navigation=navigation,
        physics_dt=0.01,
    )
    log_book = [
        (course(shot), line_of_sight(shot, target))
        for shot, target in chase(sim, 600, blue=(0.05, 1, 0))
        if abs(shot["rudder"]) < 1
    ]
    courses, sights = np.unwrap(np.array(log_book).T)
    assert len(log_book) > 500
    assert np.ptp(sights) > 0.02
    residual = (courses - courses[0]) - navigation * (sights - sights[0])
    assert np.abs(residual).max() < 0.01 * navigation * np.ptp(sights)


@pytest.mark.parametrize("navigation", [3, 4, 5])
def test_g5_miss_vanishes_with_the_step(navigation):
    """G5: unsaturated and without lag, a fuze of 1 m suffices at fine steps, not at coarse ones."""

    def hits(dt: float) -> bool:
        sim = engagement(
            {"x": 8_000, "y": 4_000, "heading_deg": 180, "rudder": -0.7},
            missile_navigation=navigation,
            missile_hit_radius=1,
            physics_dt=dt,
        )
        hold(sim, int(9 / dt), blue=(-0.7, 1, 0))
        return not sim.fighters["alive"][0, BLUE]

    assert not hits(0.5)
    assert hits(0.02)
    assert hits(0.01)


@pytest.mark.parametrize(("load_limit", "hit"), [(5, False), (0, True)])
def test_g6_beyond_the_load_limit(load_limit, hit):
    """G6: a target well inside the turning circle that the load limit allows cannot be hit."""
    # A circle through (5, 10) km tangent to +x has a radius of 6.25 km: 39 g; 5 g make 49 km.
    sim = engagement(
        {"x": 5_000, "y": 10_000, "speed": 50},
        missile_load_limit=load_limit,
        fighter_thrust=0,
    )
    load = [abs(turned(course(a), course(b))) / 0.1 * V_MISSILE / GRAVITY for a, b in turns(sim)]
    assert (not sim.fighters["alive"][0, BLUE]) == hit
    assert (max(load) < 5.05) == (not hit)


def turns(sim: Simulation) -> Iterator[tuple[State, State]]:
    """Successive states of the missile over 15 s."""
    before = missile(sim)
    for shot, _ in chase(sim, 150):
        yield before, shot
        before = shot


def reach_limit(ranges: np.ndarray, target: State, steps: int, **parameters: float) -> float:
    """The range between the last hit and the first miss among shots fired at those ranges."""
    sim = Simulation(num_envs=len(ranges), **(IDEAL | parameters))
    for env, distance in enumerate(ranges):
        place(sim, env, x=-FAR, blue={"x": float(distance)} | target)
        sim.set_missile(env, 0, owner=RED, x=0, y=0, heading_deg=0, speed=300, age=0, rudder=0)
    hold(sim, steps)
    assert not sim.missiles["active"].any()
    hit = sim.fighters["alive"][:, BLUE] == 0
    assert hit[0]
    assert not hit[-1]
    assert (np.diff(hit.astype(int)) <= 0).all()
    return float(ranges[hit.sum() - 1] + ranges[hit.sum()]) / 2


X_BURN, V_BURN = MISSILE.boost(300, BURN_TIME)


@pytest.mark.parametrize(
    ("target_speed", "published"), [(300, 16_673), (400, 12_268), (489, 9_247)]
)
def test_p10_tail_chase_limit(target_speed, published):
    """P10: a target that runs straight is caught up to that range plus the hit radius."""
    distance, time = MISSILE.coast_to(V_BURN, target_speed)
    expected = X_BURN + distance - target_speed * (BURN_TIME + time)
    assert expected == pytest.approx(published, abs=1)
    limit = reach_limit(
        expected + HIT_RADIUS + np.arange(-20, 20.5, 0.5),
        {"heading_deg": 0, "speed": target_speed},
        steps=1200,
        fighter_thrust=FIGHTER.zero_lift_drag * target_speed**2,
    )
    assert limit == pytest.approx(expected + HIT_RADIUS, abs=3)


@pytest.mark.parametrize(("end_speed", "published"), [(340, 43_614), (200, 62_361)])
def test_p11_head_on_limit(end_speed, published):
    """P11: head-on against 300 m/s the reach down to 340 (200) m/s is 43.6 (62.4) km."""
    dt = 0.02
    distance, time = MISSILE.coast_to(V_BURN, end_speed)
    expected = X_BURN + distance + 300 * (BURN_TIME + time)
    assert expected == pytest.approx(published, abs=1)
    limit = reach_limit(
        expected + HIT_RADIUS + np.arange(-40, 41),
        {"heading_deg": 180, "speed": 300},
        steps=int(100 / dt),
        physics_dt=dt,
        missile_spent_speed=end_speed,
        fighter_thrust=FIGHTER.zero_lift_drag * 300**2,
    )
    # The missile is spent at the end of a step: closing speed times dt at most.
    assert limit == pytest.approx(expected + HIT_RADIUS, abs=(end_speed + 300) * dt + 3)


@pytest.mark.parametrize(("end_speed", "published"), [(340, 30_082), (200, 38_745)])
def test_p12_straight_range(end_speed, published):
    """P12: a missile is spent after 30.1 (38.7) km of straight flight, at 340 (200) m/s."""
    sim = engagement({"x": FAR}, {"speed": 300}, **(IDEAL | {"missile_burn_time": 10}),
                     missile_lift_drag=2, missile_spent_speed=end_speed)  # fmt: skip
    *_, (shot, _) = chase(sim, 2000)
    expected = X_BURN + MISSILE.coast_to(V_BURN, end_speed)[0]
    assert expected == pytest.approx(published, abs=1)
    # Seen last at the beginning of the step in which it was spent.
    assert expected - end_speed * 0.1 - 2 <= shot["x"] <= expected + 1
    assert shot["speed"] == pytest.approx(end_speed, abs=1.5)


def test_recorded_head_on_shot():
    """A shot recorded elsewhere flies as recorded and hits at 22.75 s."""
    # Its guidance gain is not ours, but head-on the LOS never turns and no gain matters. It is
    # semi-implicit Euler at 1/60 s: 0.5 m/s and 11 m after a boost, plus one step of thrust too
    # much, 2.45 m/s, for 11 s more. Its fuze looks only at the end of a step.
    with (GOLDEN / "np_headon_p1fires_at_1s.csv").open() as file:
        header, *rows = csv.reader(file)
    red_at, blue_at, ammo, shot_at = map(header.index, ("p1_x", "p2_x", "p1_ammo", header[-1]))
    sim = Simulation(**(IDEAL | {"physics_dt": 1 / 60, "missile_spent_speed": 200}))
    corner = {"speed": 300, "rudder": 0, "throttle": 1}
    sim.set_fighter(0, RED, x=15_000, y=15_000, heading_deg=45, **corner)
    sim.set_fighter(0, BLUE, x=35_000, y=35_000, heading_deg=225, **corner)
    compared, step = 0, 0
    for row in rows[:-1]:
        while step < int(row[0]):
            hold(sim, 1, red=(0, 1, float(step == 60)))
            step += 1
        red, blue = fighter(sim, RED), fighter(sim, BLUE)
        for body, at in ((red, red_at), (blue, blue_at)):
            assert (body["x"], body["y"]) == pytest.approx(
                [float(v) for v in row[at : at + 2]], abs=2
            )
        assert red["ammo"] == float(row[ammo])
        if red["ammo"] == 5:
            shot = missile(sim)
            here, there = (shot["x"], shot["y"]), [float(v) for v in row[shot_at : shot_at + 2]]
            assert here == pytest.approx(there, abs=25)
            assert shot["speed"] == pytest.approx(
                hypot(*map(float, row[shot_at + 2 : shot_at + 4])), abs=3
            )
            assert shot["rudder"] == pytest.approx(0, abs=1e-3)
            compared += 1
    while sim.outcome[0] == OPEN and step < 1400:
        hold(sim, 1)
        step += 1
    assert compared > 40
    assert sim.outcome[0] == RED_WINS
    assert step / 60 == pytest.approx(22.75, abs=3 / 60)


@pytest.mark.parametrize(("offset", "hit"), [(0, True), (9.5, True), (10.5, False), (-9.5, True)])
def test_swept_fuze(offset, hit):
    """A pass nearer than the radius between two steps is a hit, a pass farther off is none."""
    # 204 m of relative motion in the step, 102 m apart at either end; the rudder hardly moves.
    sim = engagement(
        {"x": 102, "y": offset, "heading_deg": 180},
        missile_hit_radius=10,
        missile_rudder_rate=0.1,
    )
    hold(sim, 1)
    assert (sim.fighters["alive"][0, BLUE] == 0) == hit
    assert sim.missiles["active"][0, 0] == (not hit)


def test_fuze_does_not_look_beyond_the_step():
    """A pass that lies in the next step is not hit in this one, nor one that lies behind."""
    for x in (230, -30):
        sim = engagement({"x": x, "heading_deg": 180}, missile_hit_radius=10)
        hold(sim, 1)
        assert sim.fighters["alive"][0, BLUE]
    assert missile(sim)["active"]


def test_no_kick_at_launch():
    """The first command after a launch is N times the LOS rate, no jump from an earlier angle."""
    sim = Simulation(**(IDEAL | {"missile_navigation": 4}))
    place(sim, heading_deg=90, y=-5_000, speed=300, blue={"x": 3_000, "y": 20_000, "speed": 300})
    shooter, target = fighter(sim), fighter(sim, BLUE)
    hold(sim, 1, red=(0, 1, 1))
    r = np.array([target["x"] - shooter["x"], target["y"] - shooter["y"] - 20])
    w = np.array([target["vx"] - shooter["vx"], target["vy"] - shooter["vy"]])
    los_rate = (r[0] * w[1] - r[1] * w[0]) / (r @ r)
    assert abs(4 * los_rate) > 0.01
    assert missile(sim)["rudder"] == pytest.approx(4 * los_rate * 1000 / 300, rel=1e-4)


def test_line_of_sight_across_pi():
    """A line of sight that crosses +-pi bends nothing: the chase turned round flies the same."""

    def rudders(base_deg: float) -> list[float]:
        angle = radians(base_deg)
        sim = engagement(
            {
                "x": 9_000 * cos(angle) + 400 * sin(angle),
                "y": 9_000 * sin(angle) - 400 * cos(angle),
                "heading_deg": base_deg + 90,
            },
            {"heading_deg": base_deg},
        )
        sights = []
        flown = []
        for shot, target in chase(sim, 55):
            sights.append(line_of_sight(shot, target))
            flown.append(shot["rudder"])
        if base_deg == 180:
            assert max(np.abs(np.diff(sights))) > pi  # it did cross
        return flown

    assert rudders(180) == pytest.approx(rudders(0), abs=2e-4)


@pytest.mark.parametrize("rate", [0.5, 3])
def test_missile_rudder_travels_at_its_rate(rate):
    """A missile's rudder moves toward the command of guidance at its rate and stops at full."""
    sim = engagement({"x": 500, "y": 3_000}, {"speed": 300}, missile_rudder_rate=rate)
    for step, (shot, _) in enumerate(chase(sim, 8)):
        assert shot["rudder"] == pytest.approx(min(1, rate * 0.1 * step), abs=1e-5)


def test_saturated_turn_is_a_circle():
    """A missile at full rudder flies on a circle of its turn radius (P6)."""
    sim = engagement({"x": 500, "y": 3_000}, {"speed": 300, "rudder": 1})
    for shot, _ in chase(sim, 15):
        assert shot["rudder"] == 1
        assert hypot(shot["x"], shot["y"] - 1000) == pytest.approx(1000, rel=1e-3)
    assert log(shot["speed"] / 300) > 0.3
