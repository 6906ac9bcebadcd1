"""The game with height in the environments, replays and policies, and what it refuses."""

from itertools import product

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from pettingzoo.test import parallel_api_test
from policies import random_policy
from replays import with_parameters

from midrange_puffer import HEIGHT_FEATURES, Midrange, Simulation
from midrange_puffer.commands import cli
from midrange_puffer.contest.evaluation import evaluate
from midrange_puffer.envs.gym import ENV_ID, MidrangeEnv
from midrange_puffer.envs.pettingzoo import MidrangeParallelEnv
from midrange_puffer.errors import UsageError
from midrange_puffer.game.envelope import game_envelope
from midrange_puffer.game.observation import controls_of, features_of, levels_of, rows_of
from midrange_puffer.game.parameters import PARAMETERS, resolve
from midrange_puffer.replays.replay import Recorder, Replay, ReplayError

HEIGHT = {"dimensions": 3}
LEVELS = (5, 5, 3, 2)


def random_levels(rng: np.random.Generator, count: int) -> np.ndarray:
    return np.stack([rng.integers(0, n, count) for n in LEVELS], axis=1).astype(np.int32)


def test_levels_and_controls_are_the_same_actions():
    """Level k of climb is the control (k - 2) / 2, as that of the rudder is."""
    rng = np.random.default_rng(0)
    kwargs = {"num_envs": 8, "opponent": "evader", "seed": 4, **HEIGHT}
    by_levels, by_numbers = Midrange(**kwargs), Midrange(action_mode="continuous", **kwargs)
    assert tuple(by_levels.single_action_space.nvec) == LEVELS
    assert by_numbers.single_action_space.shape == (4,)
    by_levels.reset()
    by_numbers.reset()
    for _ in range(200):
        actions = random_levels(rng, 8)
        numbers = (actions - (2, 2, 0, 0)) / np.array((2, 2, 2, 1))
        results = by_levels.step(actions), by_numbers.step(numbers.astype(np.float32))
        for one, other in zip(results[0][:4], results[1][:4], strict=True):
            np.testing.assert_array_equal(one, other)


def test_the_number_of_features_tells_the_game():
    """Policies know the game by it: no other observation has as many."""
    count = len(HEIGHT_FEATURES)
    assert tuple(levels_of(count).values()) == LEVELS
    assert controls_of(count).names == ("rudder", "climb", "throttle", "fire")
    assert not rows_of(count)
    others = {len(features_of(name)) for name in ("default", "stg", "radar")}
    others |= {
        len(features_of(name, red, blue))
        for name in ("team", "team_radar")
        for red in range(1, 9)
        for blue in range(1, 9)
        if red + blue > 2
    }
    assert count not in others
    lateral = {feature.name for feature in HEIGHT_FEATURES if feature.lateral}
    assert not any(name.endswith(("_up", "_above", "_height", "climb_sine")) for name in lateral)


def test_clients_of_other_libraries():
    check_env(MidrangeEnv(opponent="crank", **HEIGHT), skip_render_check=True)
    parallel_api_test(MidrangeParallelEnv(**HEIGHT), num_cycles=300)
    env = MidrangeParallelEnv(**HEIGHT)
    env.reset(seed=1)
    for _ in range(40):
        env.step({agent: np.array((2, 4, 2, 0)) for agent in env.agents})
    state = dict(zip(env.state_names, env.state(), strict=True))
    fighters = env.unwrapped._arena.core.read("fighter")
    assert state["red_z"] == pytest.approx(fighters["z"][0, 0] / 20_000, rel=1e-6)
    assert state["red_direction_z"] == pytest.approx(fighters["u"][0, 0], rel=1e-6)
    assert state["red_direction_z"] > 0.2
    observation, _ = gymnasium.make(ENV_ID, opponent="ace", **HEIGHT).reset(seed=0)
    assert observation.shape == (len(HEIGHT_FEATURES),)


def test_a_fight_of_a_policy_and_a_function_is_replayed(tmp_path):
    own = {"types": "agile=light thrust=16", "red_aircraft": "agile"}
    sim = Simulation(1, 7, red="ace", **HEIGHT, **own)
    recorder = Recorder(sim, seed=7, pilots=("ace", "agent"))
    rng = np.random.default_rng(2)
    for _ in range(80):
        controls = rng.uniform(-1, 1, (1, 2, 4))
        sim.step(controls)
        recorder.add(controls)
    path = tmp_path / "fight.replay"
    recorder.replay().write(path)
    replay = Replay.read(path)
    assert replay.controls.shape == (80, 2, 4)
    assert replay.verify() is None
    assert replay.parameters["types"] == own["types"]
    page, film, picture = (tmp_path / f"fight.{kind}" for kind in ("html", "gif", "png"))
    assert cli.run("replay", [str(path), "--html", str(page)]) == 0
    assert page.stat().st_size > 10_000
    assert cli.run("plot", ["--replay", str(path), "--out", str(picture)]) == 0
    assert picture.stat().st_size > 10_000
    words = [str(path), "--gif", str(film), "--size", "320x180", "--fps", "1", "--speed", "20"]
    assert cli.run("replay", words) == 0
    assert film.stat().st_size > 1_000


def climbing(observations: np.ndarray) -> np.ndarray:
    """Flies straight and climbs."""
    return np.tile(np.array((2, 4, 2, 0)), (len(observations), 1))


def flat(observations: np.ndarray) -> np.ndarray:
    """Flies in the plane: three levels."""
    return np.tile(np.array((2, 2, 0)), (len(observations), 1))


def test_policies_and_functions_of_the_plane_are_refused():
    high, plane = random_policy(observation="height"), random_policy()
    assert 0 <= evaluate(high, climbing, 8, **HEIGHT)["score"] <= 1
    for policy, game, words in (
        (plane, HEIGHT, "is of dimensions = 2: it cannot fly where dimensions = 3"),
        (high, {}, "is of dimensions = 3: it cannot fly where dimensions = 2"),
    ):
        with pytest.raises(UsageError, match=words):
            evaluate(policy, "shooter", 8, **game)
    with pytest.raises(Exception, match=r"gives actions of shape \(\d+, 3\).*expected \(\d+, 4\)"):
        Midrange(opponent=flat, **HEIGHT)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"red_size": 2, "blue_missiles": "long:2,short:1"}, "in teams each side carries one type"),
        ({"observation": "radar"}, "observation = 'radar': must be default with dimensions = 3"),
        ({"fighter_thrust": 20}, "fighter_thrust = 20: it is of the flight in the plane"),
        ({"missile_burn_time": 5}, "missile_burn_time = 5: it is of the flight in the plane"),
        ({"observation": "stg"}, "observation = 'stg': must be default with dimensions = 3"),
        ({"red_aircraft": "heavi"}, "did you mean 'heavy'"),
        ({"blue_missile": "large"}, "must be one of medium, long, short, or a mix"),
        ({"start_height_min": 600, "start_height_difference_max": 2000}, "below the ground"),
        ({"start_height_max": 20_000}, "start_height_max = 20000: must be from 500 to 15000 m"),
        ({"dimensions": 4}, "dimensions = 4: must be from 2 to 3$"),
        ({"opponent": "notcher"}, "notcher"),
    ],
    ids=lambda value: next(iter(value)) if isinstance(value, dict) else "",
)
def test_an_error_names_what_the_game_lacks(changes, words):
    with pytest.raises((ValueError, UsageError), match=words):
        Midrange(**(HEIGHT | changes))


def test_the_plane_knows_no_height():
    sim = Simulation()
    for changes in ({"z": 1000}, {"climb_deg": 5}, {"climb": 0.5}):
        with pytest.raises(ValueError, match="with height only, and this game has dimensions = 2"):
            sim.set_fighter(0, 0, **changes)
    assert "z" not in sim.fighters
    with pytest.raises(ValueError, match=r"controls of shape .*must be \(1, 2, 3\)"):
        sim.step(np.zeros((1, 2, 4)))
    with pytest.raises(ValueError, match=r"controls of shape .*must be \(1, 2, 4\)"):
        Simulation(**HEIGHT).step(np.zeros((1, 2, 3)))
    with pytest.raises(UsageError, match="envelope: in the plane only"):
        game_envelope(resolve(HEIGHT))
    other = Simulation(**HEIGHT)
    with pytest.raises(ValueError, match="another size, seats or parameters"):
        other.restore(sim.snapshot())


def test_the_header_of_a_replay_says_how_many_controls():
    """Controls of the plane in a file whose game has height are refused."""
    sim = Simulation(1, 7)
    recorder = Recorder(sim, seed=7, pilots=("agent", "agent"))
    sim.step()
    recorder.add(None)
    forged = with_parameters(recorder.replay().to_bytes(), lambda game: game.update(HEIGHT))
    with pytest.raises(ReplayError, match="its controls are not those of 1 decisions"):
        Replay.from_bytes(forged)


EXTREMES = [
    {"gravity": 1},
    {"gravity": 20, "pilot_launch_speed": 50, "pilot_reach_speed": 100},
    {"physics_dt": 0.5, "start_speed_min": 50, "start_speed_max": 1000},
    {"start_height_min": 500, "start_height_max": 500, "start_height_difference_max": 1000},
    {"start_height_min": 15_000, "start_height_max": 15_000, "start_height_difference_max": 15_000},
    {"fighter_climb_rate": 1000, "pilot_dive": 1, "start_range_min": 100, "start_range_max": 100},
]


@pytest.mark.parametrize("extremes", EXTREMES, ids=str)
def test_extremes_stay_finite(extremes):
    """Pilots of all pairs of types fight to the end; every state can be restored."""
    types = product(PARAMETERS["red_aircraft"].choices, PARAMETERS["red_missile"].choices)
    for number, (aircraft, missile) in enumerate(types):
        blue = PARAMETERS["blue_aircraft"].choices[-1 - number % 4]
        chosen = {"red_aircraft": aircraft, "blue_aircraft": blue, "red_missile": missile}
        sim = Simulation(16, number, "ace", "crank", **chosen, **extremes, **HEIGHT)
        rng = np.random.default_rng(number)
        while not sim.outcome.all():
            sim.step(rng.normal(0, 2, (16, 2, 4)))
            assert np.isfinite(sim.observe()).all()
        sim.restore(sim.snapshot())


@pytest.mark.parametrize(("red", "blue"), [("light", "trainer"), ("heavy", "fast")])
def test_types_differ(red, blue):
    """The better aircraft is faster after a minute of full throttle."""
    speeds = {}
    for name in (red, blue):
        sim = Simulation(red_aircraft=name, **HEIGHT)
        sim.set_fighter(0, 0, z=8000, speed=250)
        for _ in range(120):
            sim.step(np.array([[[0, 0, 1, 0], [0, 0, 0, 0]]]))
        speeds[name] = sim.fighters["speed"][0, 0]
    assert speeds[red] > speeds[blue] + 15


def test_missile_types_differ():
    """Launched alike at a far enemy, the sustained missile goes on when the others are spent."""
    ages = {}
    for name in ("short", "medium", "long"):
        sim = Simulation(
            red_missile=name, start_range_min=150_000, start_range_max=150_000, **HEIGHT
        )
        sim.set_fighter(0, 0, z=8000)
        assert sim.launch(0, 0)
        age = 0
        while sim.missiles["active"].any():
            age = int(sim.missiles["age"].max())
            sim.advance(1)
        ages[name] = age
    assert ages["short"] < ages["medium"] < ages["long"]
