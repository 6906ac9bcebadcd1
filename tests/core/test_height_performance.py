"""The air, the forces and the performance by the law of height: O1 to O8, and JSBSim's F-16."""

from math import sqrt

import numpy as np
import pytest
import reference_height as ref
from height import GRAVITY, TRACES, body
from height_performance import excess, root, sustained, sustained_by_trims


@pytest.mark.parametrize("z", [0, 1000, 5000, 10_000, 11_000, 15_000, 20_000])
def test_o1_the_air_is_the_standard_atmosphere(law, z):
    thin, density, slowness = law.air(z)
    exact, sound = ref.standard_air(z)
    assert density == pytest.approx(exact, rel=0.0009)
    assert slowness**-0.5 == pytest.approx(sound, rel=0.0005)
    assert thin * density == pytest.approx(1, abs=3e-7)


def test_o1_it_gets_thinner_and_never_warmer_with_height(law):
    found = np.array([law.air(z) for z in np.linspace(-9000, 30_000, 4000)])
    assert (np.diff(found[:, 0]) > 0).all()
    assert (np.diff(found[:, 2]) >= 0).all()
    assert np.isfinite(found).all()


@pytest.mark.parametrize(
    ("mach", "factor"),
    [(0.8, 1), (0.9, 1.4961), (1, 1.9884), (1.1, 2.2), (1.2, 2.2182), (1.5, 1.9985), (2, 1.7456)],
)
def test_o2_drag_of_a_fighter_rises_to_its_peak_and_falls(law, mach, factor):
    v = mach * law.air(0)[2] ** -0.5
    c0 = GRAVITY / 515**2
    assert law.performance(0, v)[0] / c0 == pytest.approx(factor, abs=2e-4)


@pytest.mark.parametrize(
    ("mach", "factor"),
    [(0.5, 1), (0.8, 1.4707), (1, 1.5228), (1.05, 1.5), (1.5, 1.1422), (2, 0.8855), (4, 0.6296)],
)
def test_o2_drag_of_a_missile(law, mach, factor):
    assert law.missile_drag(mach) / (GRAVITY / 320**2) == pytest.approx(factor, abs=2e-4)


@pytest.mark.parametrize(
    ("z", "thrusts"),
    [
        (0, (12.15, 13.7903, 16.7063)),
        (5000, (8.923, 10.1277, 12.2692)),
        (10_000, (5.8573, 6.6481, 8.0538)),
        (15_000, (3.1141, 3.5345, 4.2819)),
    ],
)
def test_o3_thrust_falls_with_height_and_grows_with_speed(law, z, thrusts):
    sound = law.air(z)[2] ** -0.5
    found = [law.performance(z, max(mach * sound, 1e-3))[2] for mach in (0, 0.9, 1.5)]
    assert found == pytest.approx(thrusts, rel=2e-5)


@pytest.mark.parametrize(
    ("z", "speed"),
    [(0, 440.7), (1000, 464.2), (5000, 583.2), (10_000, 651.9), (15_000, 696.3)],
)
def test_o4_a_fighter_that_flies_level_settles_at_its_top_speed(law, z, speed):
    """Thrust and drag at a lift of 1 g are equal there."""
    top = root(lambda v: excess(law, z, v), 350, 900)
    assert top == pytest.approx(speed, abs=0.1)
    flown = law.fly(body((0, 0, z), v=speed - 10), (0, 0, 1), 6000)
    assert flown.v == pytest.approx(top, abs=0.2)
    assert flown.position.z == pytest.approx(z, abs=1)


@pytest.mark.parametrize(
    ("z", "power", "at"),
    [(0, 300.0, 279.0), (1000, 285.3, 276.0), (5000, 220.0, 262.9), (10_000, 137.1, 264.9)],
)
def test_o5_best_excess_power(law, z, power, at):
    speeds = np.arange(100, 340, 0.5)
    powers = [excess(law, z, v) for v in speeds]
    assert max(powers) == pytest.approx(power, abs=0.1)
    assert speeds[np.argmax(powers)] == pytest.approx(at, abs=1)


@pytest.mark.parametrize(
    ("z", "stall", "corner", "turn"),
    [(0, 64.9, 194.8, 25.8), (5000, 83.7, 251.1, 20.0), (15_000, 163.2, 489.6, 10.3)],
)
def test_o6_stall_and_corner_speed(law, z, stall, corner, turn):
    def lift(v: float) -> float:
        return law.performance(z, v)[1]

    assert root(lambda v: lift(v) - GRAVITY, 10, 300) == pytest.approx(stall, abs=0.05)
    assert lift(corner + 1) == pytest.approx(9 * GRAVITY)
    assert lift(corner - 1) < 9 * GRAVITY
    rate = sqrt(lift(corner + 1) ** 2 - GRAVITY**2) / root(
        lambda v: lift(v) - 8.9999 * GRAVITY, 100, 600
    )
    assert np.degrees(rate) == pytest.approx(turn, abs=0.15)


@pytest.mark.parametrize(
    ("z", "mach", "load", "turn"),
    [
        (1000, 0.6, 7.22, 19.9),
        (1000, 0.9, 9.00, 16.6),
        (1000, 1.2, 6.43, 8.8),
        (5000, 0.6, 5.00, 14.3),
        (5000, 0.9, 6.93, 13.3),
        (10_000, 0.9, 4.11, 8.3),
        (10_000, 1.2, 4.58, 7.0),
    ],
)
def test_o7_sustained_turns(law, z, mach, load, turn):
    assert sustained(law, z, mach) == pytest.approx((load, turn), abs=0.06)


def test_o7_a_sustained_turn_is_flown(law):
    """A full turn at 6 km settles where the reference settles."""
    flown = law.fly(body((0, 0, 6000), v=300), (1, 0, 1), 1200).array()
    truth = ref.fly_fighter(law.aircraft, flown, 1, 0.002)
    assert truth[6] == pytest.approx(flown[6], abs=0.15)


def test_o8_excess_power_ends_with_height(law):
    speeds = np.arange(100, 1000, 2.0)
    heights = np.arange(19_000, 24_000, 100.0)
    best = np.array([max(excess(law, z, v) for v in speeds) for z in heights])
    assert heights[np.flatnonzero(best > 0)[-1]] == pytest.approx(23_200, abs=150)


# JSBSim's F-16 -----------------------------------------------------------------------------------

MASS = 9584.0  # kg: 21,130 lb


@pytest.fixture(scope="module")
def trims() -> np.ndarray:
    """Returns JSBSim's own trims of its F-16 with full afterburner, named as in the file."""
    return np.genfromtxt(TRACES / "jsbsim_f16.csv", delimiter=",", names=True)


@pytest.mark.parametrize(
    ("z", "its", "ours"),
    [(1000, 269, 285), (5000, 214, 220), (10_000, 145, 137), (14_000, 108, 100)],
)
def test_excess_power_is_near_that_of_jsbsim(law, trims, z, its, ours):
    level = trims[(trims["h"] == z) & (abs(trims["lift_g"] - 1) < 0.05)]
    powers = level["v"] * (level["T"] - level["D"]) / (MASS * GRAVITY)
    assert powers.max() == pytest.approx(its, abs=2)
    assert max(excess(law, z, v) for v in np.arange(100, 700, 1.0)) == pytest.approx(ours, abs=1)


@pytest.mark.parametrize(
    ("z", "mach", "its", "ours"),
    [
        (1000, 0.9, 16.6, 16.6), (1000, 1.2, 7.9, 8.8),
        (5000, 0.8, 14.0, 14.2), (5000, 0.9, 12.7, 13.3), (5000, 1.2, 8.6, 9.5),
        (5000, 1.6, 5.1, 5.9), (10_000, 0.8, 8.5, 8.6), (10_000, 0.9, 7.8, 8.3),
        (10_000, 1.2, 6.5, 7.0), (10_000, 1.6, 5.3, 6.2), (14_000, 0.8, 4.4, 4.6),
        (14_000, 0.9, 4.3, 4.6), (14_000, 1.2, 3.8, 4.1), (14_000, 1.6, 3.5, 3.9),
    ],
)  # fmt: skip
def test_sustained_turns_are_near_those_of_jsbsim(law, trims, z, mach, its, ours):
    turn = sustained_by_trims(trims, z, mach, load_limit=9)
    assert turn == pytest.approx(its, abs=0.15)
    assert sustained(law, z, mach)[1] == pytest.approx(ours, abs=0.06)
