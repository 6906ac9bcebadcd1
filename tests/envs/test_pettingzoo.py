"""`MidrangeParallelEnv` keeps PettingZoo's contract, and flies what a `Simulation` flies."""

import warnings

import numpy as np
import pytest
from quick_fights import SHORT

from midrange_puffer import Simulation
from midrange_puffer.envs.pettingzoo import STATE, MidrangeParallelEnv, parallel_env
from midrange_puffer.game.actions import ACTION_MODES, controls
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
RED_WINS, BLUE_WINS, DRAW = 1, 2, 3


def draw_actions(env: MidrangeParallelEnv, rng: np.random.Generator) -> dict[str, np.ndarray]:
    """Random actions of both agents, with few launches."""
    actions = {agent: env.action_space(agent).sample() for agent in env.agents}
    for action in actions.values():
        action[2] *= rng.random() < 0.1
    return actions


def episode(env: MidrangeParallelEnv, **reset: object) -> list[tuple]:
    """What comes of random actions up to the end."""
    rng = np.random.default_rng(SEED)
    for agent in AGENTS:
        env.action_space(agent).seed(SEED)
    history = [env.reset(**reset)]
    while env.agents:
        history.append(env.step(draw_actions(env, rng)))
    return history


def same(one: list[tuple], other: list[tuple]) -> bool:
    """To the bit."""
    return len(one) == len(other) and all(
        np.array_equal(a[agent], b[agent])
        for step, step_of_other in zip(one, other, strict=True)
        for a, b in zip(step, step_of_other, strict=True)
        for agent in AGENTS
    )


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


def test_every_agent_draws_samples_of_its_own():
    env, other = parallel_env(), parallel_env()
    for each in (env, other):
        for agent in AGENTS:
            each.action_space(agent).seed(3)
    drawn = [
        [space.sample().tolist() for _ in range(10)]
        for each in (env, other)
        for space in map(each.action_space, AGENTS)
    ]
    assert all(samples == drawn[0] for samples in drawn)


# Its course


@pytest.mark.parametrize("action_mode", ACTION_MODES)
@pytest.mark.parametrize("where", [{}, {"engagement": 41, "episode": 2}])
def test_an_episode_is_that_of_a_simulation(where, action_mode):
    """To the bit, from the start to the observations at the end; both agents end at once."""
    env = parallel_env(action_mode=action_mode, **SHORT)
    sim = Simulation(1, SEED, **SHORT)
    sim.start(0, **where)
    rng = np.random.default_rng(SEED)
    observations, infos = env.reset(SEED, where)
    assert infos == {RED: {}, BLUE: {}}
    while env.agents:
        assert env.agents == [RED, BLUE]
        actions = draw_actions(env, rng)
        both = np.array([actions[agent] for agent in AGENTS])
        sim.step((controls(both) if action_mode == "discrete" else both)[None])
        observations, rewards, terminations, truncations, infos = env.step(actions)
        over, truncated = sim.outcome[0] != 0, bool(sim.truncated[0])
        assert [rewards[agent] for agent in AGENTS] == sim.rewards[0].tolist()
        assert rewards[RED] == -rewards[BLUE]
        for seat, agent in enumerate(AGENTS):
            assert np.array_equal(observations[agent], sim.observe()[0, seat])
            assert terminations[agent] == (over and not truncated)
            assert truncations[agent] == truncated
    assert over
    for won, agent, enemy in ((RED_WINS, RED, BLUE), (BLUE_WINS, BLUE, RED)):
        assert infos[agent]["win"] == infos[enemy]["loss"] == (sim.outcome[0] == won)
        assert infos[agent]["draw"] == (sim.outcome[0] == DRAW)
        assert infos[agent]["shots"] == infos[enemy]["shots_against"]
        assert infos[agent]["episode_return"] == -infos[enemy]["episode_return"]


def test_resets():
    """By the same seed the same, by another another, by none the next episode."""
    env = parallel_env(**SHORT)
    first, second = episode(env, seed=SEED), episode(env)
    assert same(first, episode(parallel_env(**SHORT), seed=SEED))
    assert not same(first, second)
    assert not same(first, episode(env, seed=SEED + 1))
    assert same(second, episode(env, seed=SEED, options={"episode": 1}))


def test_time_limit_truncates_both():
    env = parallel_env(time_limit=1, start_range_min=50_000)
    history = episode(env, seed=SEED)
    *_, terminations, truncations, infos = history[-1]
    assert terminations == {RED: False, BLUE: False}
    assert truncations == {RED: True, BLUE: True}
    assert [infos[agent]["score"] for agent in AGENTS] == [0.5, 0.5]
    assert env.agents == []


# Errors


def test_reset_is_needed_first_and_after_the_end():
    env = parallel_env(ammunition=0)
    actions = dict.fromkeys(AGENTS, (2, 2, 0))
    with pytest.raises(gymnasium.error.ResetNeeded):
        env.step(actions)
    env.reset()
    env.step(actions)
    with pytest.raises(gymnasium.error.ResetNeeded):
        env.step(actions)
    env.reset()
    env.step(actions)


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


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"red_sped": 300}, "did you mean 'red_speed'"),
        ({"altitude": 3}, r"options\['altitude'\]: must be of engagement, episode, range, red_off"),
        ({"options": 1, "enemy_range": 300}, r"options\['enemy_range'\]"),
    ],
)
def test_other_options_are_refused(options, message):
    with pytest.raises(ValueError, match=message):
        parallel_env().reset(SEED, options)


def test_options_must_be_a_dict():
    with pytest.raises(TypeError, match=r"options = \['range'\]: must be a dict"):
        parallel_env().reset(SEED, ["range"])


@pytest.mark.parametrize("name", ["opponent", "seat", "num_envs"])
def test_arguments_of_other_environments_are_not_its_own(name):
    with pytest.raises(ValueError, match=f"{name} = 1: no such parameter$"):
        parallel_env(**{name: 1})


# The state


@pytest.mark.parametrize("sensing", ["full", "radar"])
def test_pettingzoo_has_nothing_to_say_against_its_state(sensing):
    env = parallel_env(sensing=sensing, **SHORT)
    state_test(parallel_to_aec(env), env)


def test_the_state_is_the_truth_whatever_the_agents_know():
    """As a simulation tells it, in a game where most of it is hidden from both."""
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
