"""How engagements start: what is drawn, from which distribution, the same for both seats."""

from math import radians

import numpy as np
import pytest
from scenes import BLUE, OPEN, RED

from midrange_puffer import Simulation

COUNT = 4000


@pytest.fixture(scope="module")
def starts() -> dict[str, np.ndarray]:
    """Everything drawn for 4000 engagements, each scaled to what should be uniform in 0 ... 1."""
    f = Simulation(num_envs=COUNT, seed=11).fighters
    x, y = np.diff(f["x"].astype(float))[:, 0], np.diff(f["y"].astype(float))[:, 0]
    drawn = {
        "range": (np.hypot(x, y) - 30_000) / 30_000,
        "bearing": np.arctan2(y, x) / (2 * np.pi) + 0.5,
    }
    for seat, name, sign in ((RED, "red", 1), (BLUE, "blue", -1)):
        nose = np.arctan2(f["vy"][:, seat], f["vx"][:, seat])
        off = np.angle(np.exp(1j * (nose - np.arctan2(sign * y, sign * x))))
        drawn[f"{name} off boresight"] = off / radians(90) + 0.5
        drawn[f"{name} speed"] = (f["speed"][:, seat] - 250.0) / 150
    return drawn


def test_starts_are_uniform(starts):
    """Range, bearing, angle off the nose and speed are uniform in their ranges, for both seats."""
    assert len(starts) == 6
    rank = (np.arange(COUNT) + 0.5) / COUNT
    for name, values in starts.items():
        assert values.min() >= -1e-5, name
        assert values.max() <= 1 + 1e-5, name
        # Kolmogorov-Smirnov: 1.95 / sqrt(n) is passed by chance once in 1000.
        assert np.abs(np.sort(values) - rank).max() < 1.95 / np.sqrt(COUNT), name


def test_starts_are_independent(starts):
    """No two drawn quantities go together, neither within an engagement nor with the next one."""
    values = np.array(list(starts.values()))
    both = np.vstack([values[:, :-1], values[:, 1:]])
    correlation = np.corrcoef(both) - np.eye(len(both))
    assert np.abs(correlation).max() < 4.5 / np.sqrt(COUNT)


def test_starting_state():
    """Rudder 0, throttle 1, six missiles, nothing in the air, time 0, nothing decided."""
    sim = Simulation(num_envs=32, seed=2)
    assert (sim.fighters["rudder"] == 0).all()
    assert (sim.fighters["throttle"] == 1).all()
    assert (sim.fighters["ammo"] == 6).all()
    assert sim.fighters["alive"].all()
    assert not sim.missiles["active"].any()
    assert (sim.time == 0).all()
    assert (sim.outcome == OPEN).all()


def test_both_are_ready_to_launch():
    """The launch interval does not delay the first launch, however long it is."""
    sim = Simulation(num_envs=4, launch_interval=600)
    sim.step(np.full((4, 2, 3), [0, 1, 1], np.float32))
    assert (sim.fighters["ammo"] == 5).all()


def starting_positions(**arguments) -> np.ndarray:
    f = Simulation(**arguments).fighters
    return np.stack([f["x"], f["y"], f["vx"], f["vy"]])


def test_seeds():
    """Equal seeds start equal engagements, other seeds others, and no two engagements are equal."""
    first = starting_positions(num_envs=64, seed=7)
    assert np.array_equal(first, starting_positions(num_envs=64, seed=7))
    assert not np.isclose(first, starting_positions(num_envs=64, seed=8)).all(axis=(0, 2)).any()
    assert len(np.unique(first[2, :, 0])) == 64


@pytest.mark.parametrize("other", [1, 3, 16, 17, 33])
def test_starts_do_not_depend_on_the_batch(other):
    """Engagement i of a seed starts the same whatever the number of engagements beside it."""
    most = starting_positions(num_envs=33, seed=7)
    assert np.array_equal(most[:, :other], starting_positions(num_envs=other, seed=7))


def test_reset_with_a_seed_repeats():
    """Resetting with a seed gives that seed's starts, whatever was played before."""
    sim = Simulation(num_envs=20, seed=7)
    start = sim.state_hash()
    sim.step(np.ones((20, 2, 3), np.float32))
    assert sim.state_hash() != start
    sim.reset(seed=7)
    assert sim.state_hash() == start
    sim.reset(seed=8)
    assert sim.state_hash() != start


def test_evaders_threshold_is_drawn():
    """Of evaders that turn cold at 10 to 50 s to go, half do so from a missile with 30 s to go."""
    count = 400
    sim = Simulation(num_envs=count, red="evader", evader_cold_time_min=10, evader_cold_time_max=50)
    level = {"rudder": 0, "throttle": 1, "speed": 300}
    for env in range(count):
        sim.set_fighter(env, RED, x=0, y=0, heading_deg=0, **level)
        sim.set_fighter(env, BLUE, x=60_000, y=0, heading_deg=180, **level)
        shot = {"x": 0, "y": 30_000, "heading_deg": -90, "speed": 1000, "age": 100}
        sim.set_missile(env, 0, owner=BLUE, **shot)
    sim.step()
    rudder = sim.fighters["rudder"][:, RED]
    cold = rudder == -1  # away from the missile on the left; the others go on straight
    assert (rudder[~cold] == 0).all()
    assert abs(cold.mean() - 0.5) < 4 * 0.5 / np.sqrt(count)


def test_narrow_ranges_are_exact():
    """With a minimum equal to its maximum nothing is left to chance."""
    sim = Simulation(
        num_envs=50,
        start_range_min=40_000,
        start_range_max=40_000,
        start_speed_min=333,
        start_speed_max=333,
        start_off_boresight_max_deg=0,
    )
    f = sim.fighters
    x, y = np.diff(f["x"].astype(float))[:, 0], np.diff(f["y"].astype(float))[:, 0]
    assert np.hypot(x, y) == pytest.approx(40_000, rel=1e-6)
    assert f["speed"] == pytest.approx(333)
    nose_to_nose = f["vx"].prod(axis=1) + f["vy"].prod(axis=1)
    assert nose_to_nose == pytest.approx(-(333.0**2), rel=1e-5)
    assert f["vx"][:, RED] * x + f["vy"][:, RED] * y == pytest.approx(333 * 40_000, rel=1e-5)
