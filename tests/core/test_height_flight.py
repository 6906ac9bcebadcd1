"""Flight by the law of height: O9 to O16, the float64 reference, and flights of the truth.

The library under test is csrc/flight3.h in float32. The truth was flown in float64 by RK4 at 2 ms.
"""

import itertools
from math import cos, sin, sqrt

import height
import numpy as np
import pytest
import reference_height as ref
from closed_forms import FIGHTER, MISSILE
from height import GRAVITY, TRACES, Body, Law, body

# Without height's effects the law is the plane's: no gravity, drag rise, lapse or thin air.
FLAT = {"onset_mach": 2.0, "peak_mach": 3.0, "peak_drag": 1.0, "high_drag": 1.0}


def trace(name: str) -> np.ndarray:
    """Returns the rows of a trace that RK4 flew in float64, a row a second."""
    return np.genfromtxt(TRACES / f"{name}.csv", delimiter=",", skip_header=1)


# O9 to O11: what is conserved, and the plane ---------------------------------------------------


def test_o9_energy_without_thrust_and_drag_is_conserved(library):
    """v^2/2 + gz stays the same, whatever the controls."""
    ideal = {"terminal_speed": 1e9, "lift_drag": 1e18, "thrust": 0}
    law, rng = Law(library, aircraft=ideal), np.random.default_rng(1)
    one = body((0, 0, 6000), (1, 0.3, 0.2), 320)
    before = one.v**2 / 2 + GRAVITY * one.position.z
    for _ in range(240):
        law.fly(one, (*rng.uniform(-1, 1, 2), 1), 5)
        assert one.v**2 / 2 + GRAVITY * one.position.z == pytest.approx(before, rel=1e-4)
    assert abs(one.position.z - 6000) > 20


def test_o10_without_forces_it_is_a_thrown_stone(library):
    law = Law(library, missile={"terminal_speed": 1e9, "turn_radius": 1e9, "thrust": 0.0})
    stone = body((0, 0, 1000), (cos(0.5), 0, sin(0.5)), 500)
    for _ in range(400):
        law.shoot(stone, age=1000, asked=(0, 0, 0))
    assert stone.position.x == pytest.approx(17_550.99, abs=0.1)
    assert stone.position.z == pytest.approx(2750.11, abs=0.1)
    assert stone.v == pytest.approx(464.433, abs=0.01)
    # The law itself, which the step follows to first order.
    x, z = 500 * cos(0.5) * 40, 1000 + 500 * sin(0.5) * 40 - GRAVITY * 40**2 / 2
    assert (stone.position.x, stone.position.z) == pytest.approx((x, z), abs=2)


def test_o11_without_gravity_in_thick_air_it_is_the_plane(library):
    """P1, P2 and P4 of the plane's law, with the plane's constants."""
    plane = FLAT | {
        "terminal_speed": 400, "turn_radius": 1000, "lift_drag": 5, "thrust": 14.7,
        "thrust_lapse": 0, "ram_static": 1, "ram": 0, "load_limit": 0, "stall_load": 0,
        "stall_time": 1e9, "floor": -1e7, "ceiling": 1e9, "climb_gain": 0,
    }  # fmt: skip
    # As good as no gravity in the motion; the zero-lift drag that goes with it is the plane's.
    tiny = 1e-6
    plane |= {"terminal_speed": 400 * sqrt(tiny / GRAVITY)}
    law = Law(library, gravity=tiny, aircraft=plane)
    straight = law.fly(body((0, 0, 0), v=200), (0, 0, 1), 3000)
    assert straight.v == pytest.approx(FIGHTER.rest_speed(), abs=0.05)
    turning = law.fly(body((0, 0, 0), v=255.88, rudder=1), (1, 0, 1), 2000)
    assert turning.v == pytest.approx(FIGHTER.rest_speed(1), abs=0.05)
    xs = np.array([law.fly(turning, (1, 0, 1), 1).array()[:2] for _ in range(300)])
    assert np.ptp(xs[:, 0]) / 2 == pytest.approx(1000, rel=0.002)
    rocket = {"terminal_speed": 400 * sqrt(tiny / GRAVITY), "turn_radius": 1000, "lift_drag": 2,
              "thrust": 147, "burn_time": 10}  # fmt: skip
    law = Law(library, gravity=tiny, missile=FLAT | rocket)
    shot = body((0, 0, 0), v=300)
    for age in range(100):
        law.shoot(shot, age, asked=(0, 0, 0))
    distance, speed = MISSILE.boost(300, 10)
    assert (shot.position.x, shot.v) == pytest.approx((distance, speed), rel=0.001)


# O12 to O14: missiles --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("z", "speed", "distance", "slowed"),
    [
        (1000, 980.1, 5358, {600: 12_335, 400: 16_321, 300: 18_501}),
        (5000, 1067.0, 5651, {600: 18_661, 400: 24_891, 300: 28_173}),
        (10_000, 1150.1, 5916, {600: 33_471, 400: 44_959, 300: 50_566}),
    ],
)
def test_o12_a_missile_that_flies_level(law, z, speed, distance, slowed):
    shot, age = body((0, 0, z), v=300), 0
    while age < 80:
        law.shoot(shot, age, asked=(0, 0, GRAVITY))
        age += 1
    assert shot.v == pytest.approx(speed, rel=0.002)
    assert shot.position.x == pytest.approx(distance, rel=0.004)
    for end, where in slowed.items():
        while shot.v > end:
            law.shoot(shot, age, asked=(0, 0, GRAVITY))
            age += 1
        assert shot.position.x == pytest.approx(where, rel=0.006)
    assert shot.position.z == pytest.approx(z, abs=1)


def test_o13_guidance_is_across_the_path_and_carries_the_weight(law):
    rng = np.random.default_rng(3)
    for _ in range(200):
        d = rng.normal(size=3)
        d /= np.linalg.norm(d)
        asked = law.guide(rng.normal(size=3) * 20_000, rng.normal(size=3) * 500, d, 700)
        assert abs(asked @ d) <= 2e-6 * np.linalg.norm(asked) + 1e-4


def test_o13_on_a_collision_course_it_asks_for_the_weight_alone(library):
    """The line of sight does not turn there. Without loft."""
    law, sight = Law(library, missile={"loft_max": 0}), np.array([3e4, 4e3, -2e3])
    d = np.array([0.6, 0.0, 0.8])
    asked = law.guide(sight, -sight / 40, d, 700)
    assert asked == pytest.approx(GRAVITY * (ref.UP - d[2] * d), abs=2e-3)


def test_o13_a_chase_in_a_tilted_plane_stays_in_it(library):
    """The plane is that of the first line of sight and velocity; no gravity, drag or loft."""
    ideal = {"thrust": 0, "terminal_speed": 1e9, "lift_drag": 1e18, "load_limit": 0}
    law = Law(library, gravity=1e-9, missile=ideal | {"loft_max": 0})
    across = np.array([0.3, -0.5, 0.8])
    across /= np.linalg.norm(across)
    along = np.cross(across, [0, 0, 1])
    along /= np.linalg.norm(along)
    up = np.cross(along, across)
    target = body(8000 * along + 6000 * up, 0.2 * along - up, 250)
    shot = body((0, 0, 0), along, 800)
    sights = [target.array()[:3]]
    while len(sights) < 3 or np.linalg.norm(sights[-1]) < np.linalg.norm(sights[-2]):
        law.shoot(shot, age=0, target=target)
        place = target.array()[:3] + 25 * target.array()[3:6]
        target.position = height.Vector(*place)
        assert abs(shot.array()[:3] @ across) < 0.5
        sights.append(target.array()[:3] - shot.array()[:3])
    assert min(law.least_range(*pair) for pair in itertools.pairwise(sights)) < 20


def test_o14_loft_is_a_parabola_of_the_range(library):
    """PN lags behind the apex R0^2/(4 Rc) = 2000 m, at constant speed without gravity."""
    ideal = {"thrust": 0, "terminal_speed": 1e9, "lift_drag": 1e18, "turn_radius": 100,
             "load_limit": 0}  # fmt: skip
    law = Law(library, gravity=1e-9, missile=ideal)
    shot, target = body((0, 0, 5000), v=900), body((40_000, 0, 5000), v=1e-9)
    sights, heights = [], []
    for age in range(460):
        law.shoot(shot, age, target=target)
        heights.append(shot.position.z - 5000)
        sights.append(target.array()[:3] - shot.array()[:3])
    assert max(heights) == pytest.approx(1869, abs=25)
    assert min(law.least_range(*pair) for pair in itertools.pairwise(sights)) < 20


# O15 and O16: symmetry and order ---------------------------------------------------------------


def random_flight(rng: np.random.Generator) -> tuple[Body, list[tuple[float, ...]]]:
    direction = rng.normal(size=3) * (1, 1, 0.4)
    one = body((0, 0, rng.uniform(500, 14_000)), direction, rng.uniform(100, 600))
    return one, [(*rng.uniform(-1, 1, 2), rng.uniform()) for _ in range(20)]


def test_o15_a_mirrored_flight_has_the_same_bits(law):
    rng = np.random.default_rng(5)
    for _ in range(50):
        one, commands = random_flight(rng)
        other = Body.from_buffer_copy(one)
        other.direction.y = -one.direction.y
        for rudder, climb, throttle in commands:
            law.fly(one, (rudder, climb, throttle), 10)
            law.fly(other, (-rudder, climb, throttle), 10)
        flipped = other.array() * [1, -1, 1, 1, -1, 1, 1, -1, 1, 1]
        np.testing.assert_array_equal(flipped, one.array())


def test_o15_a_turned_and_shifted_flight_is_the_same_to_rounding(law):
    rng = np.random.default_rng(6)
    c, s = cos(1.1), sin(1.1)
    turn = np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]])
    shift = np.array([1000.0, -3000.0, 0.0])
    for _ in range(30):
        one, commands = random_flight(rng)
        start = one.array()
        other = body(turn @ start[:3] + shift, turn @ start[3:6], one.v)
        for command in commands:
            law.fly(one, command, 10)
            law.fly(other, command, 10)
        flown, its = one.array(), other.array()
        np.testing.assert_allclose(its[:3], turn @ flown[:3] + shift, atol=3)
        np.testing.assert_allclose(its[3:6], turn @ flown[3:6], atol=2e-3)
        assert its[6] == pytest.approx(flown[6], abs=0.1)


def test_o16_the_error_halves_with_the_step(library):
    """The error is that of a settled full-rudder turn at 6 km after 20 s."""
    start = body((0, 0, 6000), v=300, rudder=1)
    truth = ref.fly_fighter(Law(library).aircraft, start.array(), 20, 0.01)
    errors = []
    for dt in (0.1, 0.05, 0.025):
        law = Law(library, dt=dt)
        flown = law.fly(Body.from_buffer_copy(start), (1, 0, 1), round(20 / dt)).array()
        errors.append(float(np.linalg.norm(flown[:3] - truth[:3])))
    assert errors == pytest.approx([11.5, 5.8, 2.9], rel=0.15)


def test_a_pass_is_measured_between_the_steps(law):
    assert law.least_range((-300, 40, 30), (500, 40, 30)) == pytest.approx(50, rel=1e-5)
    assert law.least_range((100, 0, 0), (300, 0, 0)) == pytest.approx(100)
    assert law.least_range((-300, 0, 0), (-100, 0, 50)) == pytest.approx(sqrt(12_500), rel=1e-5)


def test_the_traces_are_flights_of_the_reference(law):
    """RK4's error at this step is below the last digit that is compared."""
    start, *rows = trace("fighter_level_full")
    state = start[1:]
    for row in rows[:20]:
        state = ref.fly_fighter(law.aircraft, state, 1, 0.01)
        np.testing.assert_allclose(state, row[1:], rtol=1e-6, atol=1e-4)


# Flights ---------------------------------------------------------------------------------------

OF_TRACES = {"floor_load": 2.5}  # `light` is pulled out of dives earlier now

# Largest differences in 60 s, of position [m] and speed [m/s], from the truth at a step of 0.1 s.
FLIGHTS = {
    "fighter_level_full": ((0, 0, 1), 2.5, 0.12),
    "fighter_turn_full": ((1, 0, 1), 40, 0.75),
    "fighter_climb_full": ((0, 0.5, 1), 14, 0.4),
    "fighter_dive_idle_right": ((-0.5, -1, 0), 105, 0.6),
    "fighter_zoom_stall": ((0, 1, 0), 3.5, 0.08),
}


@pytest.mark.parametrize("name", FLIGHTS)
def test_flights_are_those_of_the_truth(library, name):
    law = Law(library, aircraft=OF_TRACES)
    command, metres, speed = FLIGHTS[name]
    rows = trace(name)
    one = Body.from_buffer_copy(np.float32(rows[0, 1:]).tobytes())
    for row in rows[1:61]:
        flown = law.fly(one, command, 10).array()
        assert np.linalg.norm(flown[:3] - row[1:4]) < metres
        assert abs(flown[6] - row[7]) < speed


@pytest.mark.parametrize(("name", "metres", "speed"), [("missile_level", 11, 0.7),
                                                       ("missile_turn_up", 215, 4.2)])  # fmt: skip
def test_missiles_fly_as_in_the_truth(law, name, metres, speed):
    rows = trace(name)
    shot = body(rows[0, 1:4], rows[0, 4:7], rows[0, 7])
    for second, row in enumerate(rows[1:61]):
        for tenth in range(10):
            law.shoot(shot, 10 * second + tenth, asked=_asked(name, shot))
        flown = shot.array()
        assert np.linalg.norm(flown[:3] - row[1:4]) < metres
        assert abs(flown[6] - row[7]) < speed


def _asked(name: str, shot: Body) -> np.ndarray:
    """Returns the lift that a trace's missile has: its weight, and more to the left and up."""
    d = shot.array()[3:6]
    left = np.array([-d[1], d[0], 0]) / np.hypot(d[0], d[1])
    up = np.cross(d, left)
    weight = GRAVITY * (ref.UP - d[2] * d)
    return weight if name == "missile_level" else weight + 60 * left + 20 * up


# Of a chase: the target's commands, the missile's largest distance from the truth until shortly
# before the end [m], and the time of the hit [s] or the miss [m].
CHASES = {
    "pn_headon_10km": ((0, 0, 0.6), {}, 33, 54.5, None),
    "pn_headon_10km_noloft": ((0, 0, 0.6), {"loft_max": 0}, 12, 56.0, None),
    "pn_low_to_high_turning": ((0.5, 0, 1), {}, 50, 45.0, None),
    "pn_high_to_low_cold_dive": ((0, -0.5, 1), {}, 60, None, 2689),
}


@pytest.mark.parametrize("name", CHASES)
def test_chases_are_those_of_the_truth(library, name):
    command, fields, metres, hit, miss = CHASES[name]
    law, rows = Law(library, aircraft=OF_TRACES, missile=fields), trace(name)
    first = rows[0]
    shot = body(first[1:4], first[4:7], first[7])
    target = body(first[8:11], first[11:14], first[14], *command)
    sight, nearest, ended = first[8:11] - first[1:4], np.inf, None
    for age in range(10 * (len(rows) - 1)):
        law.shoot(shot, age, target=target)
        law.fly(target, command, 1)
        before, sight = sight, target.array()[:3] - shot.array()[:3]
        nearest = min(nearest, law.least_range(before, sight))
        if nearest < 100:
            ended = (age + 1) / 10
            break
        if age % 10 == 9 and np.linalg.norm(sight) > 3000:
            assert np.linalg.norm(shot.array()[:3] - rows[(age + 1) // 10, 1:4]) < metres
    assert ended == hit
    if miss is not None:
        assert nearest == pytest.approx(miss, abs=15)


def test_random_flights_are_those_of_the_reference(law):
    """They agree to the rounding of float32 in a few seconds; later, turns enlarge differences."""
    rng = np.random.default_rng(7)
    for _ in range(100):
        one, commands = random_flight(rng)
        truth = one.array()
        for command in commands[:6]:
            truth = ref.fly_steps(law.aircraft, truth, np.float32(command), 5)
            law.fly(one, command, 5)
        flown = one.array()
        assert np.linalg.norm(flown[:3] - truth[:3]) < 0.05
        assert abs(flown[6] - truth[6]) < 0.01
        assert np.linalg.norm(flown[3:6] - truth[3:6]) < 2e-4
        np.testing.assert_allclose(flown[7:], truth[7:], atol=1e-6)


def test_random_missiles_are_those_of_the_reference(law):
    rng = np.random.default_rng(8)
    for _ in range(300):
        shot, target = random_flight(rng)[0], random_flight(rng)[0]
        target.position = height.Vector(*rng.normal(size=2) * 20_000, rng.uniform(0, 15_000))
        before, aim = shot.array(), target.array()
        direction, v = before[3:6], before[6]
        sight, drift = aim[:3] - before[:3], aim[6] * aim[3:6] - v * direction
        asked = ref.guide(law.missile, sight, drift, direction, v)
        across, slowed = ref.missile_forces(law.missile, before, asked)
        age = int(rng.integers(0, 100))
        pushed = law.missile["thrust"] * np.clip(80 - age, 0, 1)
        truth = ref.step(before, across, slowed, pushed, 0.1)
        flown = law.shoot(shot, age, target=target).array()
        np.testing.assert_allclose(flown[:7], truth[:7], rtol=2e-5, atol=2e-5)


def test_wild_flights_stay_finite(library):
    """Types are odd, steps last up to 0.5 s, and some flights start straight up or down."""
    rng = np.random.default_rng(9)
    for _ in range(300):
        onset = rng.uniform(0.3, 2)
        aircraft = {"onset_mach": onset, "peak_mach": onset + rng.uniform(0.01, 1),
                    "peak_drag": rng.uniform(1, 5), "high_drag": rng.uniform(0.3, 5)}  # fmt: skip
        aircraft |= {"turn_radius": 10 ** rng.uniform(2, 4.3), "load_limit": rng.uniform(0, 100),
                    "lift_drag": rng.uniform(0.5, 30), "terminal_speed": rng.uniform(100, 2000),
                    "thrust": rng.uniform(0, 100), "climb_load": rng.uniform(0.5, 20)}  # fmt: skip
        law = Law(library, dt=rng.uniform(0.001, 0.5), aircraft=aircraft, missile=aircraft)
        up = rng.choice([-1, 1])
        starts = ((0, 0, up), tuple(rng.normal(size=3)))
        target = body((9000, 100, 3000))
        for direction in starts:
            one = body((0, 0, rng.uniform(0, 20_000)), direction, rng.uniform(20, 1500))
            shot = Body.from_buffer_copy(one)
            for _ in range(30):
                law.fly(one, (*rng.uniform(-1, 1, 2), 1), 5)
            for age in range(100):
                law.shoot(shot, age, target=target)
            for flown in (one.array(), shot.array()):
                assert np.isfinite(flown).all()
                assert np.linalg.norm(flown[3:6]) == pytest.approx(1, abs=0.03)
                assert flown[6] >= 20
