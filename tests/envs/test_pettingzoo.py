"""`MidrangeParallelEnv` passes PettingZoo's checks; its state is that of a `Simulation`."""

import warnings

import numpy as np
import pytest
from quick_fights import SHORT

from midrange_puffer import Simulation
from midrange_puffer.envs.pettingzoo import STATE, MidrangeParallelEnv, parallel_env
from midrange_puffer.game.actions import ACTION_MODES
from midrange_puffer.game.parameters import OBSERVATIONS
from midrange_puffer.gymnasium_import import gymnasium

# isort: split
from pettingzoo.utils.conversions import parallel_to_aec

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # PettingZoo's tests import what PettingZoo calls outdated
    from pettingzoo.test import api_test, parallel_api_test, parallel_seed_test, render_test
    from pettingzoo.test.state_test import state_test

SEED = 5
AGENTS = RED, BLUE = "red_0", "blue_0"


# The contract; a warning of these tests would be an error here


@pytest.mark.parametrize("observation", OBSERVATIONS)
@pytest.mark.parametrize("action_mode", ACTION_MODES)
def test_pettingzoo_has_nothing_to_say_against_it(action_mode, observation):
    def make() -> MidrangeParallelEnv:
        sensing = "radar" if observation == "radar" else "full"
        return parallel_env(
            action_mode=action_mode, observation=observation, sensing=sensing, **SHORT
        )

    parallel_api_test(make())
    parallel_seed_test(make)


def test_pettingzoo_has_nothing_to_say_against_its_turns():
    """One agent after the other, as PettingZoo converts it; it advises against MultiDiscrete."""
    api_test(parallel_to_aec(parallel_env(action_mode="continuous", **SHORT)), num_cycles=200)


def test_pettingzoo_has_nothing_to_say_against_its_pictures(display):
    def make(render_mode: str) -> gymnasium.Env:
        # A step lasts a tenth of a second; so long it is shown.
        return parallel_to_aec(parallel_env(render_mode=render_mode, substeps=1))

    render_test(make)


# Errors


@pytest.mark.parametrize("agents", [[], [RED], [*AGENTS, "green_0"]])
def test_both_agents_must_act_and_nobody_else(agents):
    env = parallel_env()
    env.reset()
    with pytest.raises(ValueError, match="must be of red_0, blue_0"):
        env.step(dict.fromkeys(agents, (2, 2, 0)))


@pytest.mark.parametrize("agent", AGENTS)
def test_an_action_of_another_kind_is_said_to_be_of_its_agent(agent):
    env = parallel_env()
    env.reset()
    actions = dict.fromkeys(AGENTS, (2, 2, 0))
    with pytest.raises(ValueError, match=rf"{agent}: action of shape \(2,\): must be \(3,\)"):
        env.step({**actions, agent: (2, 2)})
    with pytest.raises(TypeError, match=f"{agent}: action of type object"):
        env.step({**actions, agent: None})
    env.step(actions)


# The state


@pytest.mark.parametrize("sensing", ["full", "radar"])
def test_pettingzoo_has_nothing_to_say_against_its_state(sensing):
    env = parallel_env(sensing=sensing, **SHORT)
    state_test(parallel_to_aec(env), env)


def test_the_state_is_the_truth_whatever_the_agents_know():
    """Compares with a simulation of a game in which most is hidden from both."""
    env = parallel_env(sensing="radar")
    env.reset(SEED)
    sim = Simulation(1, SEED, sensing="radar")
    place = {name: index for index, name in enumerate(STATE)}
    fire = np.array([2, 2, 1])
    for _ in range(60):
        env.step({RED: fire, BLUE: fire})
        sim.step([[[0, 1, 1], [0, 1, 1]]])
        state = env.state()
        assert state[place["time_left"]] == pytest.approx(1 - sim.time[0] * 0.1 / 300)
        for seat, fighter in enumerate(("red", "blue")):
            told = {name: float(values[0, seat]) for name, values in sim.fighters.items()}
            assert state[place[f"{fighter}_x"]] == pytest.approx(told["x"] / 200_000)
            assert state[place[f"{fighter}_speed"]] == pytest.approx(told["speed"] / 2_000)
            assert state[place[f"{fighter}_alive"]] == told["alive"]
        for slot, active in enumerate(sim.missiles["active"][0]):
            owner, x = (float(sim.missiles[name][0, slot]) for name in ("owner", "x"))
            assert state[place[f"missile_{slot}_active"]] == active
            assert state[place[f"missile_{slot}_owner"]] == active * owner
            assert state[place[f"missile_{slot}_x"]] == pytest.approx(x / 200_000)
    assert sim.missiles["active"].any()
