"""`Midrange-v0` keeps Gymnasium's contract, and flies what a `Simulation` flies."""

import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pygame
import pytest
from quick_fights import SHORT

import midrange_puffer.gym  # noqa: F401, registers the environment
from midrange_puffer import Simulation
from midrange_puffer.envs.gym import MidrangeEnv
from midrange_puffer.errors import UsageError
from midrange_puffer.game.actions import ACTION_MODES, controls
from midrange_puffer.game.observation import features_of
from midrange_puffer.game.parameters import OBSERVATIONS, SEATS
from midrange_puffer.gymnasium_import import gymnasium

# isort: split
from gymnasium.utils.env_checker import check_env

SEED = 5
RED_WINS, BLUE_WINS, DRAW = 1, 2, 3


def make(**kwargs: object) -> MidrangeEnv:
    return gymnasium.make("Midrange-v0", **kwargs).unwrapped


def draw_action(env: MidrangeEnv, rng: np.random.Generator) -> np.ndarray:
    """A random action, with few launches."""
    action = env.action_space.sample()
    action[2] *= rng.random() < 0.1
    return action


def episode(env: MidrangeEnv, **reset: object) -> tuple[list[np.ndarray], dict]:
    """Random actions up to the end: all observations, rewards and ends, and the last info."""
    env.action_space.seed(SEED)
    observation, info = env.reset(**reset)
    rng = np.random.default_rng(SEED)
    history, over = [observation], False
    while not over:
        assert info == {}
        observation, *results, info = env.step(draw_action(env, rng))
        history += [observation, np.array(results)]
        over = any(results[1:])
    return history, info


def same(one: list[np.ndarray], other: list[np.ndarray]) -> bool:
    return len(one) == len(other) and all(map(np.array_equal, one, other))


# The contract


@pytest.mark.parametrize("seat", SEATS)
@pytest.mark.parametrize("observation", OBSERVATIONS)
@pytest.mark.parametrize("action_mode", ACTION_MODES)
def test_gymnasium_has_nothing_to_say_against_it(action_mode, observation, seat, display):
    """Its own check, of every render mode, too; any warning of it would be an error here."""
    sensing = "radar" if observation == "radar" else "full"
    env = make(action_mode=action_mode, observation=observation, seat=seat, sensing=sensing)
    check_env(env)
    assert env.observation_space.shape == (len(features_of(observation)),)


def test_nothing_is_said_while_it_is_used_as_gymnasium_makes_it():
    """Its wrappers look at every result; the name of the module is enough to find it."""
    env = gymnasium.make("midrange_puffer.gym:Midrange-v0", **SHORT)
    for _ in range(3):
        env.reset()
        over = False
        while not over:
            *_, terminated, truncated, _ = env.step(env.action_space.sample())
            over = terminated or truncated
    env.close()


def test_two_environments_draw_samples_of_their_own():
    one, other = make(), make()
    one.action_space.seed(1)
    other.action_space.seed(1)
    for _ in range(20):
        assert np.array_equal(one.action_space.sample(), other.action_space.sample())


def test_without_torch_pufferlib_and_pygame_and_in_silence():
    """So that it runs beside any Gymnasium; what its plugins say on stderr is kept from users."""
    code = (
        "import sys, midrange_puffer.pettingzoo, midrange_puffer.gym\n"
        "env = midrange_puffer.gym.MidrangeEnv()\n"
        "env.reset(seed=1)\n"
        "env.step(env.action_space.sample())\n"
        "assert not {'torch', 'pufferlib', 'pygame', 'matplotlib'} & set(sys.modules)"
    )
    command = [sys.executable, "-P", "-c", code]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


# Its course


@pytest.mark.parametrize("seat", SEATS)
@pytest.mark.parametrize("action_mode", ACTION_MODES)
@pytest.mark.parametrize("where", [{}, {"engagement": 37, "episode": 3}])
def test_an_episode_is_that_of_a_simulation(where, action_mode, seat):
    """To the bit, from the start to the observation at the end."""
    agent = SEATS.index(seat)
    pilots = {seat: "agent", SEATS[1 - agent]: "evader"}
    env = make(opponent="evader", seat=seat, action_mode=action_mode, **SHORT)
    sim = Simulation(1, SEED, **pilots, **SHORT)
    sim.start(0, **where)
    observation, _ = env.reset(seed=SEED, options=where)
    rng = np.random.default_rng(SEED)
    over, commands = False, np.zeros((1, 2, 3), np.float32)
    while not over:
        assert np.array_equal(observation, sim.observe()[0, agent])
        action = draw_action(env, rng)
        commands[0, agent] = controls(action[None])[0] if action_mode == "discrete" else action
        sim.step(commands)
        observation, reward, terminated, truncated, info = env.step(action)
        over = sim.outcome[0] != 0
        assert reward == sim.rewards[0, agent]
        assert (terminated, truncated) == (over and not sim.truncated[0], bool(sim.truncated[0]))
    assert np.array_equal(observation, sim.observe()[0, agent])
    assert info["win"] == (sim.outcome[0] == RED_WINS + agent)
    assert info["loss"] == (sim.outcome[0] == BLUE_WINS - agent)
    assert info["draw"] == (sim.outcome[0] == DRAW)


def test_what_is_returned_stays_as_it_was():
    """Observations are the caller's own."""
    env = make()
    first, _ = env.reset(seed=SEED)
    before = first.copy()
    second, *_ = env.step((4, 0, 1))
    env.step((4, 0, 1))
    assert np.array_equal(first, before)
    assert not np.array_equal(first, second)


def test_the_end_tells_what_has_been():
    env = make(opponent="straight", **SHORT)
    for _ in range(5):
        history, info = episode(env)
        rewards = [results[0] for results in history[2::2]]
        assert info["opponent"] == "straight"
        assert info["episode_length"] == len(rewards)
        assert info["episode_return"] == pytest.approx(sum(rewards), abs=1e-5)
        assert info["score"] == info["win"] + info["draw"] / 2
        assert (info["shots_against"], info["hits_against"]) == (0, 0)
        assert ("hit_rate" in info) == (info["shots"] > 0)
        assert {type(value) for value in info.values()} <= {bool, int, float, str}


def test_a_mix_of_pilots_is_flown_by_all_of_them():
    env = make(opponent="straight:3,weave:1", **SHORT)
    flown = [episode(env, seed=SEED if index == 0 else None)[1] for index in range(60)]
    share = np.mean([info["opponent"] == "weave" for info in flown])
    assert {info["opponent"] for info in flown} == {"straight", "weave"}
    assert 0.08 < share < 0.42  # 0.25, three standard deviations to either side


def test_time_limit_truncates_and_the_rules_terminate():
    far = {"time_limit": 3, "start_range_min": 50_000}
    history, info = episode(make(opponent="straight", **far))
    assert history[-1][1:].tolist() == [False, True]
    assert (info["draw"], info["truncated"], info["episode_length"]) == (True, 1, 6)
    history, info = episode(make(opponent="straight", ammunition=0))
    assert history[-1][1:].tolist() == [True, False]
    assert (info["draw"], info["truncated"], info["episode_length"]) == (True, 0, 1)


# Resets


def test_equal_seeds_are_equal_and_others_are_not():
    env, other = make(**SHORT), make(**SHORT)
    one, _ = episode(env, seed=SEED)
    assert same(one, episode(env, seed=SEED)[0])
    assert same(one, episode(other, seed=SEED)[0])
    assert not same(one, episode(env, seed=SEED + 1)[0])


def test_without_a_seed_it_goes_on_with_the_next_episode():
    env = make(**SHORT)
    first, _ = episode(env, seed=SEED)
    second, _ = episode(env)
    third, _ = episode(env)
    assert not same(first, second)
    assert not same(second, third)
    for index, expected in enumerate((first, second, third)):
        assert same(expected, episode(make(**SHORT), seed=SEED, options={"episode": index})[0])
    env.reset()  # a fight that is given up counts
    assert same(episode(env)[0], episode(env, options={"episode": 4})[0])


def test_an_engagement_goes_on_with_its_own_next_episode():
    env = make(**SHORT)
    episode(env, seed=SEED, options={"engagement": 6, "episode": 2})
    follow, _ = episode(env)
    assert same(follow, episode(env, seed=SEED, options={"engagement": 6, "episode": 3})[0])
    assert not same(follow, episode(env, seed=SEED, options={"episode": 3})[0])


def test_the_first_seed_is_drawn():
    assert not same(episode(make(**SHORT))[0], episode(make(**SHORT))[0])


@pytest.mark.parametrize("seed", [-1, 2**64, 1.5, True])
def test_a_seed_must_be_one(seed):
    with pytest.raises(ValueError, match=r"seed = .*must be a whole number from 0"):
        make().reset(seed=seed)


def test_a_seed_may_be_a_number_of_numpy():
    assert same(episode(make(), seed=np.int64(5))[0], episode(make(), seed=5)[0])


def test_a_reset_that_fails_leaves_nothing_to_step():
    """There is no episode after the last that can be numbered."""
    env = make()
    env.reset(seed=SEED, options={"episode": 2**30})
    with pytest.raises(ValueError, match="episode = 1073741825"):
        env.reset()
    with pytest.raises(gymnasium.error.ResetNeeded):
        env.step((2, 2, 0))


def test_reset_is_needed_first_and_after_the_end():
    env = make(opponent="straight", ammunition=0)
    with pytest.raises(gymnasium.error.ResetNeeded):
        env.step((2, 2, 0))
    with pytest.raises(gymnasium.error.ResetNeeded):
        env.render()
    episode(env)
    with pytest.raises(gymnasium.error.ResetNeeded):
        env.step((2, 2, 0))
    env.reset()
    env.step((2, 2, 0))


# What goes in


@pytest.mark.parametrize("seat", SEATS)
@pytest.mark.parametrize("action_mode", ACTION_MODES)
def test_a_function_flies_the_other_seat(action_mode, seat):
    """It sees what that seat sees, and what it answers is flown."""
    agent = SEATS.index(seat)
    seen, answers = [], []

    def circling(observation: np.ndarray) -> np.ndarray:
        seen.append(observation)  # its own to keep
        answers.append(other.action_space.sample())
        return answers[-1]

    other = make(action_mode=action_mode)
    env = make(opponent=circling, seat=seat, action_mode=action_mode, **SHORT)
    sim = Simulation(1, SEED, **SHORT)
    observation, _ = env.reset(seed=SEED)
    commands = np.zeros((1, 2, 3), np.float32)
    for _ in range(10):
        before = sim.observe()[0]
        action = env.action_space.sample()
        both = {agent: action, 1 - agent: None}
        observation, reward, *_ = env.step(action)
        both[1 - agent] = answers[-1]
        assert np.array_equal(seen[-1], before[1 - agent])
        for place, given in both.items():
            commands[0, place] = controls(given[None])[0] if action_mode == "discrete" else given
        sim.step(commands)
        assert np.array_equal(observation, sim.observe()[0, agent])
        assert reward == sim.rewards[0, agent]
    _history, info = episode(env)
    assert info["opponent"] == "circling"


@pytest.mark.parametrize(
    ("kwargs", "message"),
    [
        ({"opponent": "shoter"}, "did you mean 'shooter'.*model's file"),
        ({"opponent": "self"}, "'self' is none of straight, weave"),
        ({"opponent": None}, "opponent = None"),
        ({"seat": "green"}, "seat = 'green'"),
        ({"observation": "stgs"}, "did you mean 'stg'"),
        ({"action_mode": "discreet"}, "did you mean 'discrete'"),
        ({"render_mode": "humann"}, "did you mean 'human'"),
        ({"time_limt": 3}, "time_limt = 3: no such parameter; did you mean 'time_limit'"),
        ({"rendermode": "human"}, "did you mean 'render_mode'"),
        ({"num_envs": 4}, "num_envs = 4: no such parameter$"),
        ({"copy": False}, "copy = False: no such parameter$"),
    ],
)
def test_errors_name_what_is_wrong(kwargs, message):
    with pytest.raises((ValueError, TypeError), match=message):
        MidrangeEnv(**kwargs)


def test_a_pilot_is_meant_whatever_files_there_are(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("straight").write_text("no model")
    env = make(opponent="straight", ammunition=0)
    assert episode(env, seed=SEED)[1]["opponent"] == "straight"
    with pytest.raises(ValueError, match="is none of straight, weave"):
        make(opponent="x" * 3000)


def test_what_an_opponents_function_does_wrong_is_said_to_be_its_own():
    def broken(observation: np.ndarray) -> np.ndarray:
        return np.zeros(2, int)

    env = make(opponent=broken)
    env.reset()
    message = r"opponent broken: action of shape \(2,\): must be \(3,\)"
    with pytest.raises(ValueError, match=message):
        env.step((2, 2, 0))


def test_what_an_opponents_function_raises_is_raised_as_it_is():
    def broken(observation: np.ndarray) -> np.ndarray:
        raise error

    error = UnicodeDecodeError("utf-8", b"", 0, 1, "an error that a text alone does not make")
    env = make(opponent=broken)
    env.reset()
    with pytest.raises(UnicodeDecodeError) as raised:
        env.step((2, 2, 0))
    assert raised.value is error


@pytest.mark.parametrize("action_mode", ACTION_MODES)
def test_actions_of_another_kind_are_refused_and_others_clipped(action_mode):
    env = make(action_mode=action_mode)
    env.reset(seed=SEED)
    for shape in ((2,), (), (1, 3)):
        message = re.escape(f"action of shape {shape}: must be (3,)")
        with pytest.raises(ValueError, match=f"^{message}"):
            env.step(np.zeros(shape, env.action_space.dtype))
    with pytest.raises(TypeError, match="action of type <U4: must be"):
        env.step(("left", "full", "no"))
    beyond, _, *_ = env.step(np.array([9, 9, -9]))
    env.reset(seed=SEED)
    limit, _, *_ = env.step((4, 2, 0) if action_mode == "discrete" else (1.0, 1.0, 0.0))
    assert np.array_equal(beyond, limit)


# Pictures


def test_pictures_change_and_the_window_is_closed(display):
    env = make(render_mode="rgb_array", **SHORT)
    env.reset(seed=SEED)
    first = env.render()
    for _ in range(5):
        env.step((4, 2, 0))
    assert first.dtype == np.uint8
    assert first.shape == env.render().shape
    assert (first != env.render()).any()
    shown = make(render_mode="human", substeps=1)
    assert pygame.display.get_init()
    shown.reset()
    shown.step((2, 2, 0))
    assert shown.render() is None
    shown.close()
    assert not pygame.display.get_init()
    shown.close()
    with pytest.raises(UsageError, match="the window was closed"):
        shown.reset()
