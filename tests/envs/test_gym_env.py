"""`Midrange-v0` passes Gymnasium's checks; its opponents fly by the other seat's observation."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from quick_fights import FLAT, SHORT

import midrange_puffer.gym  # noqa: F401, registers the environment
from midrange_puffer import Simulation
from midrange_puffer.envs.gym import MidrangeEnv
from midrange_puffer.game.actions import ACTION_MODES, PLANE, controls
from midrange_puffer.game.observation import features_of
from midrange_puffer.game.parameters import OBSERVATIONS, SEATS
from midrange_puffer.gymnasium_import import gymnasium
from midrange_puffer.policies.own_code import OwnCodeError

# isort: split
from gymnasium.utils.env_checker import check_env

SEED = 5


def make(**kwargs: object) -> MidrangeEnv:
    return gymnasium.make("Midrange-v0", **kwargs).unwrapped


def draw_action(env: MidrangeEnv, rng: np.random.Generator) -> np.ndarray:
    """Draws an action, seldom with a launch."""
    action = env.action_space.sample()
    action[2] *= rng.random() < 0.1
    return action


def episode(env: MidrangeEnv, **reset: object) -> tuple[list[np.ndarray], dict]:
    """Flies random actions to the end; returns observations and results, and the last info."""
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


# The contract


@pytest.mark.parametrize("seat", SEATS)
@pytest.mark.parametrize("observation", OBSERVATIONS)
@pytest.mark.parametrize("action_mode", ACTION_MODES)
def test_gymnasium_has_nothing_to_say_against_it(action_mode, observation, seat, display):
    """Gymnasium's checker covers every render mode; a warning of it would be an error here."""
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


def test_without_torch_pufferlib_and_pygame_and_in_silence():
    """It runs beside any Gymnasium; the plugins' output on stderr is hidden."""
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


def test_a_mix_of_pilots_is_flown_by_all_of_them():
    env = make(opponent="straight:3,weave:1", **SHORT)
    flown = [episode(env, seed=SEED if index == 0 else None)[1] for index in range(60)]
    share = np.mean([info["opponent"] == "weave" for info in flown])
    assert {info["opponent"] for info in flown} == {"straight", "weave"}
    assert 0.08 < share < 0.42  # 0.25, three standard deviations to either side


# Opponents


@pytest.mark.parametrize("seat", SEATS)
@pytest.mark.parametrize("action_mode", FLAT)
def test_a_function_flies_the_other_seat(action_mode, seat):
    """The function gets that seat's observations; its answers are flown."""
    agent = SEATS.index(seat)
    seen, answers = [], []

    def circling(observations: np.ndarray) -> np.ndarray:
        seen.append(observations[0].copy())
        answers.append(other.action_space.sample())
        return np.tile(answers[-1], (len(observations), 1))

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
            is_discrete = action_mode == "discrete"
            commands[0, place] = controls(given[None], PLANE)[0] if is_discrete else given
        sim.step(commands)
        assert np.array_equal(observation, sim.observe()[0, agent])
        assert reward == sim.rewards[0, agent]
    _history, info = episode(env)
    assert info["opponent"] == "circling"


def test_a_pilot_is_meant_whatever_files_there_are(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("straight").write_text("no model")
    env = make(opponent="straight", ammunition=0)
    assert episode(env, seed=SEED)[1]["opponent"] == "straight"
    with pytest.raises(ValueError, match="is none of straight, weave"):
        make(opponent="x" * 3000)


def test_an_exception_of_an_opponents_function_is_the_cause_of_the_error():
    def broken(observations: np.ndarray) -> np.ndarray:
        if len(observations) > 1:  # the trial call
            return np.zeros((len(observations), 3))
        raise error

    error = UnicodeDecodeError("utf-8", b"", 0, 1, "an error that a text alone does not make")
    env = make(opponent=broken)
    env.reset()
    with pytest.raises(OwnCodeError, match="UnicodeDecodeError") as raised:
        env.step((2, 2, 0))
    assert raised.value.__cause__ is error
