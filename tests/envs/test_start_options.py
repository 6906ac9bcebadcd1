"""Options of `reset` place the fighters; observations, rewards and pilots follow."""

import numpy as np
import pytest

from midrange_puffer import FEATURES, Simulation, _core
from midrange_puffer.envs.gym import MidrangeEnv
from midrange_puffer.envs.gym_vector import MidrangeVectorEnv
from midrange_puffer.envs.pettingzoo import parallel_env
from midrange_puffer.game.parameters import SEATS

SEED = 9
NAMES = [feature.name for feature in FEATURES]
LATERAL = np.array([feature.lateral for feature in FEATURES])
GEOMETRY = {
    "range": 25_000,
    "off_boresight_deg": 30,
    "enemy_off_boresight_deg": -110,
    "speed": 310,
    "enemy_speed": 275,
    "ammunition": 2,
    "enemy_ammunition": 5,
}


def start(seat: str = "red", **options: float) -> tuple[np.ndarray, Simulation]:
    """Returns the first observation, and the engagement as a `Simulation`."""
    env = MidrangeEnv("straight", seat)
    observation, _ = env.reset(seed=SEED, options=options)
    return observation, as_simulation(env._arena.core)


def as_simulation(core: _core.Core) -> Simulation:
    sim = Simulation(1, SEED)
    for seat in range(2):
        sim.core.set_fighter(0, seat, core.get_fighter(0, seat))
    return sim


def geometry(sim: Simulation, seat: int) -> dict[str, float]:
    """Returns the options that place fighters as in a simulation."""
    f = {name: values[0].astype(float) for name, values in sim.fighters.items()}
    found = {"range": np.hypot(*(f[axis][1] - f[axis][0] for axis in "xy"))}
    for prefix, own in (("", seat), ("enemy_", 1 - seat)):
        to_other = np.arctan2(*(f[axis][1 - own] - f[axis][own] for axis in "yx"))
        # The other one's angle off the nose, counter-clockwise: to the left.
        off = np.exp(1j * (to_other - np.arctan2(f["vy"][own], f["vx"][own])))
        found[f"{prefix}off_boresight_deg"] = np.degrees(np.angle(off))
        found[f"{prefix}speed"] = f["speed"][own]
        found[f"{prefix}ammunition"] = f["ammo"][own]
    return found


# Where they are


@pytest.mark.parametrize("seat", SEATS)
def test_fighters_are_where_the_options_say(seat):
    _, sim = start(seat, **GEOMETRY)
    assert geometry(sim, SEATS.index(seat)) == pytest.approx(GEOMETRY, rel=1e-5)
    assert (sim.fighters["rudder"] == 0).all()
    assert (sim.fighters["throttle"] == 1).all()
    # In the middle between them is the origin, as at any start.
    assert sim.fighters["x"].sum() == pytest.approx(0, abs=0.01)
    assert sim.fighters["y"].sum() == pytest.approx(0, abs=0.01)


@pytest.mark.parametrize("seat", SEATS)
@pytest.mark.parametrize("name", GEOMETRY)
def test_values_that_are_not_given_stay_as_drawn(name, seat):
    place = SEATS.index(seat)
    drawn = geometry(start(seat)[1], place)
    given = geometry(start(seat, **{name: GEOMETRY[name]})[1], place)
    assert drawn[name] != pytest.approx(GEOMETRY[name], rel=1e-3)
    assert given == pytest.approx({**drawn, name: GEOMETRY[name]}, rel=1e-5)


@pytest.mark.parametrize("angle", [0, 90, -90, 180, -180])
def test_right_angles(angle):
    """An observation has sine and cosine of the angle to the left."""
    observation, _ = start(off_boresight_deg=angle, enemy_off_boresight_deg=angle)
    for ahead, left in (("enemy_ahead", "enemy_left"), ("own_aspect_ahead", "own_aspect_left")):
        seen = observation[[NAMES.index(ahead), NAMES.index(left)]]
        expected = np.cos(np.radians(angle)), np.sin(np.radians(angle))
        assert seen == pytest.approx(expected, abs=1e-6)


def test_both_seats_are_alike():
    red, _ = start("red", **GEOMETRY)
    blue, _ = start("blue", **GEOMETRY)
    assert red == pytest.approx(blue, abs=1e-5)


def test_to_the_right_is_the_mirror_image():
    mirrored = {name: -value for name, value in GEOMETRY.items() if name.endswith("deg")}
    left, _ = start(**GEOMETRY)
    right, _ = start(**{**GEOMETRY, **mirrored})
    assert np.abs(left[LATERAL]).max() > 0.5
    assert right == pytest.approx(np.where(LATERAL, -left, left), abs=1e-5)


def test_engagements_of_both_agents_are_placed_by_seat():
    env = parallel_env()
    options = {
        name.replace("enemy_", "blue_") if "enemy" in name else f"red_{name}": value
        for name, value in GEOMETRY.items()
        if name != "range"
    }
    observations, _ = env.reset(SEED, {"range": GEOMETRY["range"], **options})
    alone, _ = start("red", **GEOMETRY)
    assert np.array_equal(observations["red_0"], alone)
    assert geometry(as_simulation(env._arena.core), 0) == pytest.approx(GEOMETRY, rel=1e-5)


def test_every_engagement_may_have_its_own():
    ranges, column = np.linspace(5_000, 90_000, 20), NAMES.index("enemy_range")
    options = {"range": ranges, "enemy_ammunition": 3}
    observations, _ = MidrangeVectorEnv(20, "straight", "blue").reset(seed=SEED, options=options)
    assert observations[:, column] * FEATURES[column].scale == pytest.approx(ranges, rel=1e-5)
    ammunition = observations[:, NAMES.index("enemy_ammunition")]
    assert ammunition == pytest.approx(3 / 6)


# What follows


@pytest.mark.parametrize("seat", SEATS)
def test_observations_and_rewards_are_those_of_the_new_start(seat):
    """They equal, to the bit, those of a simulation that is put there, its potential included."""
    env = MidrangeEnv("straight", seat)
    observation, _ = env.reset(seed=SEED, options=GEOMETRY)
    sim, agent = as_simulation(env._arena.core), SEATS.index(seat)
    controls = np.zeros((1, 2, 3), np.float32)
    controls[..., 1] = 1
    for _ in range(5):
        assert np.array_equal(observation, sim.observe()[0, agent])
        observation, reward, *_ = env.step((2, 2, 0))
        sim.step(controls)
        assert reward == sim.rewards[0, agent]


def test_the_first_reward_is_of_what_has_changed_since_the_start():
    """Nothing but geometry and no pressure: with the potential of another start it would jump."""
    shaping = {"reward_geometry": 0.3, "reward_pressure": 0}
    env = MidrangeEnv("straight", **shaping)
    env.reset(seed=SEED, options={"off_boresight_deg": 0, "enemy_off_boresight_deg": 180})
    _, reward, *_ = env.step((2, 2, 0))
    assert abs(reward) < 0.01


def test_pilots_fly_from_where_they_are_put():
    """Tail-on and slow at 3 km, an enemy that only flies on is soon shot."""
    env = MidrangeEnv("straight")
    env.reset(
        seed=SEED,
        options={
            "range": 3000,
            "off_boresight_deg": 0,
            "enemy_off_boresight_deg": 180,
            "enemy_speed": 100,
        },
    )
    over = False
    while not over:
        *_, terminated, truncated, info = env.step((2, 2, 1))
        over = terminated or truncated
    assert info["win"]


def test_the_next_episode_is_drawn_again():
    env, other = MidrangeEnv(), MidrangeEnv()
    env.reset(seed=SEED, options=GEOMETRY)
    other.reset(seed=SEED)
    assert np.array_equal(env.reset()[0], other.reset()[0])


def test_a_shown_fight_starts_there(display):
    """Compares the same engagement with its pilot, bit for bit."""
    env = MidrangeEnv("crank", render_mode="rgb_array")
    core, view = env._arena.core, env._arena.view
    for options in (GEOMETRY, {"engagement": 5, "episode": 2}, {**GEOMETRY, "engagement": 7}):
        env.reset(seed=SEED, options=options)
        for _ in range(60):
            for seat in range(2):
                assert view.sim.core.get_fighter(0, seat) == core.get_fighter(0, seat)
            env.step((3, 2, 1))
