"""Teams in the environments: agents by fighter, deaths, PettingZoo's own checks, refusals."""

import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from pettingzoo.test import parallel_api_test, parallel_seed_test
from quick_fights import joined

from midrange_puffer import Midrange, Simulation, features_of, team_rows
from midrange_puffer.envs.pettingzoo import MidrangeParallelEnv
from midrange_puffer.game.actions import PLANE, controls
from midrange_puffer.gym import MidrangeEnv, MidrangeVectorEnv

SIZES = [(2, 2), (3, 1), (1, 2), (4, 4), (5, 8)]
EACH_SIZE = pytest.mark.parametrize("sizes", SIZES, ids="{0[0]}v{0[1]}".format)
NEAR = {
    "start_range_min": 8_000,
    "start_range_max": 12_000,
    "start_spacing_min": 300,
    "start_spacing_max": 600,
    "time_limit": 60,
}


def sized(sizes: tuple[int, int]) -> dict[str, float]:
    return {"red_size": sizes[0], "blue_size": sizes[1], **NEAR}


def random_actions(env: Midrange, rng: np.random.Generator) -> np.ndarray:
    return rng.integers(0, env.single_action_space.nvec, (env.num_agents, 3), np.int32)


def hunt(observations: np.ndarray) -> np.ndarray:
    """Returns controls that depend on the observation: a turn, and a shot at times."""
    assert observations.any(axis=1).all()
    mean = observations.mean(axis=1)
    return np.stack([np.sin(40 * mean), np.cos(30 * mean), 2.0 * (mean > 0.02)], axis=1)


def hunt_all(observations: np.ndarray) -> np.ndarray:
    """Returns the controls of `hunt` for [num_envs, fighters, features]; zeros for the dead."""
    commands = np.zeros((*observations.shape[:-1], 3), np.float32)
    living = observations.any(axis=-1)
    commands[living] = hunt(observations[living])
    return commands


FLOWN = [
    *((sizes, "shooter", None) for sizes in SIZES),
    *((sizes, hunt, None) for sizes in [(2, 2), (3, 1), (1, 2)]),
    *(((3, 2), *flown) for flown in [("shooter", "ace"), ("shooter", hunt), (hunt, hunt)]),
]


@pytest.mark.parametrize("seat", ["red", "blue"])
@pytest.mark.parametrize(("sizes", "opponent", "wingmen"), FLOWN)
def test_the_agents_are_fighters_of_a_simulation(sizes, opponent, wingmen, seat):
    """To the bit, for the same starts, controls, pilots and functions.

    The agents are all fighters of a side; with wingmen the first is, and others fly the rest.
    """
    sides = {"red": slice(0, sizes[0]), "blue": slice(sizes[0], sum(sizes))}
    own, other = (sides[name] for name in (sorted(sides) if seat == "blue" else sides))
    agents = own if wingmen is None else slice(own.start, own.start + 1)
    pilots, functions = ["agent"] * sum(sizes), []
    for flown, fighters in ((opponent, other), (wingmen, slice(agents.stop, own.stop))):
        if callable(flown):
            functions.append(fighters)
        elif flown:
            pilots[fighters] = [flown] * (fighters.stop - fighters.start)
    mode = "continuous" if functions else "discrete"
    kwargs = {"seat": seat, "action_mode": mode, **sized(sizes)}
    if wingmen is None:
        env = Midrange(6, opponent, **kwargs)
    else:
        env = MidrangeVectorEnv(6, opponent, wingmen=wingmen, **kwargs)
    flown = {name: pilots[side] for name, side in sides.items()}
    sim = Simulation(6, seed=3, **flown, **sized(sizes))
    observations = env.reset(seed=3)[0]
    assert (observations.reshape(6, -1, observations.shape[-1]) == sim.observe()[:, agents]).all()
    rng, command = np.random.default_rng(0), np.zeros((6, sum(sizes), 3), np.float32)
    open_, launched = np.ones(6, bool), 0
    for _ in range(80):
        for fighters in functions:
            command[:, fighters] = hunt_all(sim.observe()[:, fighters])
        shape = len(observations), 3
        if mode == "discrete":
            actions = rng.integers(0, (5, 3, 1 + max(sizes)), shape, np.int32)
            actions[:, 2] *= rng.random(len(actions)) < 0.05
            command[:, agents] = controls(actions, PLANE, in_team=True).reshape(6, -1, 3)
        else:
            actions = rng.uniform((-1, 0, 0), (1, 1, 0.52), shape).astype(np.float32)
            command[:, agents] = actions.reshape(6, -1, 3)
        observations, rewards, terminals, truncations, _ = env.step(actions)
        sim.step(command)
        ended = (terminals | truncations).reshape(6, -1)
        assert (ended == ended[:, :1]).all()
        open_ &= ~ended[:, 0]
        now = sim.observe()[open_][:, agents]
        assert (observations.reshape(6, -1, now.shape[-1])[open_] == now).all()
        assert (rewards.reshape(6, -1)[open_] == sim.rewards[open_][:, agents]).all()
        launched += sim.missiles["active"].sum()
    assert launched > 0


@EACH_SIZE
def test_the_dead_observe_nothing_and_are_told_apart(sizes):
    env = Midrange(num_envs=32, opponent="self", seed=1, **sized(sizes))
    assert env.num_agents == 32 * sum(sizes)
    env.reset()
    rng, dead = np.random.default_rng(0), 0
    for _ in range(150):
        env.step(random_actions(env, rng))
        assert not env.observations[~env.alive].any()
        assert env.observations[env.alive].any(axis=1).all()
        dead += (~env.alive).sum()
    assert dead > 50


def test_infos_tell_of_the_sides():
    env = Midrange(num_envs=16, opponent="shooter,ace", **(sized((2, 2)) | {"launch_interval": 1}))
    env.reset()
    rng, infos = np.random.default_rng(0), []
    for _ in range(300):
        infos += env.step(random_actions(env, rng))[-1]
    told = joined(infos)
    assert len(told["score"]) > 16
    assert len(told["score_vs_shooter"]) + len(told["score_vs_ace"]) == len(told["score"])
    assert max(told["shots"]) > 6  # of both fighters together


# Gymnasium: one agent and its wingmen


@pytest.mark.filterwarnings("ignore")
def test_gymnasiums_own_checks_pass():
    check_env(MidrangeEnv("ace", **sized((2, 2))), skip_render_check=True)


def test_the_single_environment_is_the_vectors():
    one, many = (
        make("ace", wingmen="crank,evader", **sized((2, 2)))
        for make in (MidrangeEnv, lambda *args, **kwargs: MidrangeVectorEnv(1, *args, **kwargs))
    )
    assert (one.reset(seed=2)[0] == many.reset(seed=2)[0][0]).all()
    rng = np.random.default_rng(0)
    for _ in range(100):
        action = rng.integers(0, (5, 3, 3))
        seen, reward, terminated, truncated, info = one.step(action)
        both = many.step(action[None])
        assert (reward, terminated, truncated) == (both[1][0], both[2][0], both[3][0])
        if terminated or truncated:
            assert info["opponent"] == "ace"
            break
        assert (seen == both[0][0]).all()


# PettingZoo


@EACH_SIZE
@pytest.mark.filterwarnings("ignore")
def test_pettingzoos_own_checks_pass(sizes):
    """They fly random actions over many episodes, in which fighters die."""
    parallel_api_test(MidrangeParallelEnv(**sized(sizes)), num_cycles=300)
    parallel_seed_test(lambda: MidrangeParallelEnv(**sized(sizes)))


@EACH_SIZE
def test_a_dead_agent_leaves_and_the_fight_goes_on(sizes):
    env = MidrangeParallelEnv(**sized(sizes))
    sides = {"red": sizes[0], "blue": sizes[1]}
    names = [f"{side}_{number}" for side, size in sides.items() for number in range(size)]
    assert env.possible_agents == names
    left_early = 0
    for seed in range(12):
        env.reset(seed=seed)
        assert env.agents == names
        assert env.state().shape == (len(env.state_names),)
        for agent in names:
            env.action_space(agent).seed(seed)
        while env.agents:
            flying = list(env.agents)
            observations, rewards, ended, cut, infos = env.step(
                {agent: env.action_space(agent).sample() for agent in flying}
            )
            for results in (observations, rewards, ended, cut, infos):
                assert list(results) == flying
            over = all(infos.values())
            for agent in flying:
                if not over:
                    assert ended[agent] == (not observations[agent].any())
                    left_early += ended[agent]
            expected = [] if over else [agent for agent in flying if not ended[agent]]
            assert env.agents == expected
    assert left_early > 0 or min(sizes) == 1


def test_it_is_the_fight_of_midrange_with_self():
    sizes = (2, 3)
    one = Midrange(num_envs=1, opponent="self", seed=5, **sized(sizes))
    other = MidrangeParallelEnv(**sized(sizes))
    one.reset(seed=5)
    other.reset(seed=5)
    rng = np.random.default_rng(1)
    for _ in range(60):
        actions = random_actions(one, rng)
        by_agent = dict(zip(other.possible_agents, actions, strict=True))
        observations, rewards, terminals, truncations, _ = one.step(actions)
        if terminals.any() or truncations.any():
            break
        got = other.step({agent: by_agent[agent] for agent in other.agents})
        for agent, seen in got[0].items():
            row = other.possible_agents.index(agent)
            assert (seen == observations[row]).all()
            assert got[1][agent] == rewards[row]


def test_an_action_of_the_dead_is_refused():
    env = MidrangeParallelEnv(**sized((2, 2)))
    env.reset(seed=0)
    with pytest.raises(ValueError, match="must be of red_0, red_1, blue_0, blue_1"):
        env.step({"red_0": np.array([2, 2, 0])})
    with pytest.raises(ValueError, match=r"options\['range'\]"):
        env.reset(options={"range": 20_000})


def test_teams_observe_by_named_rows():
    rows = team_rows(4, 2)
    kinds = {each.kind: each.rows for each in rows}
    assert kinds == {"own": 1, "ally": 3, "enemy": 4, "inbound": 3, "own_missile": 2}
    names = [feature.name for feature in features_of("team", 4, 2)]
    for each in rows[1:]:
        assert names[each.place] == f"{each.kind}_1_present"
    for sizes in ((1, 1), (17, 2), (0, 2)):
        with pytest.raises(ValueError, match="must be from 1 to 16, and not both 1"):
            team_rows(*sizes)
