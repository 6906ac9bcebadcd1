"""`Midrange` keeps the contract of a PufferEnv: buffers, ends, rewards, seeds and vectors."""

import numpy as np
import pytest
from quick_fights import LEVELS, SHORT, UNSHAPED, draw_actions

from midrange_puffer import (  # first: it contains what importing PufferLib does
    FEATURES,
    Midrange,
    Simulation,
)
from midrange_puffer.game.parameters import PILOTS

# isort: split
import pufferlib.vector

from midrange_puffer.game.parameters import resolve, reward_bound

BUFFERS = ("observations", "rewards", "terminals", "truncations")


def play(env: Midrange, actions: np.ndarray, seed: int | None = None) -> list[np.ndarray]:
    """Plays `actions` from a reset; returns copies [steps, ...] of the four buffers after each."""
    env.reset(seed)
    seen = [[] for _ in BUFFERS]
    for step in actions:
        for history, buffer in zip(seen, env.step(step)[:4], strict=True):
            history.append(buffer.copy())
    return [np.array(history) for history in seen]


def assert_equal(one: list[np.ndarray], other: list[np.ndarray]) -> None:
    for name, a, b in zip(BUFFERS, one, other, strict=True):
        assert np.array_equal(a, b), name


# Buffers


def test_spaces_shapes_and_types():
    env = Midrange(num_envs=3)
    assert env.num_agents == 3
    assert env.single_observation_space.shape == (len(FEATURES),)
    assert env.single_observation_space.dtype == np.float32
    assert env.single_observation_space.low.min() == -1
    assert env.single_observation_space.high.max() == 1
    assert env.single_action_space.nvec.tolist() == list(LEVELS)
    assert Midrange(num_envs=3, opponent="self").num_agents == 6
    observations, infos = env.reset()
    assert infos == []
    results = (observations, *env.step(draw_actions(0, 1, 3)[0])[1:4])
    shapes = [(3, len(FEATURES)), (3,), (3,), (3,)]
    for result, shape, dtype in zip(results, shapes, [np.float32] * 2 + [bool] * 2, strict=True):
        assert result.shape == shape
        assert result.dtype == dtype


@pytest.mark.parametrize("opponent", ["evader", "self"])
def test_results_are_written_into_the_buffers_given(opponent):
    """Into a slice of larger, poisoned arrays: all of the slice, and nothing beside it."""
    env = Midrange(num_envs=18, opponent=opponent, seed=5)
    n = env.num_agents
    whole = {
        "observations": np.full((n + 2, len(FEATURES)), 7, np.float32),
        "rewards": np.full(n + 2, 7, np.float32),
        "terminals": np.ones(n + 2, bool),
        "truncations": np.ones(n + 2, bool),
        "masks": np.ones(n + 2, bool),
        "actions": np.full((n + 2, 3), 7, np.int32),
    }
    inner = {name: array[1:-1] for name, array in whole.items()}
    bound = Midrange(num_envs=18, opponent=opponent, seed=5, buf=inner)
    actions = draw_actions(1, 50, n)
    expected, got = play(env, actions), play(bound, actions)
    assert_equal(expected, got)
    for name in BUFFERS:
        assert getattr(bound, name) is inner[name]
        assert np.array_equal(inner[name], getattr(env, name))
        assert np.all(whole[name][[0, -1]] == (7 if whole[name].dtype == np.float32 else 1))
    assert bound.reset()[0] is inner["observations"]
    assert not inner["rewards"].any()
    assert not inner["terminals"].any()
    assert not inner["truncations"].any()


@pytest.mark.parametrize("num_envs", [1, 17, 48])
@pytest.mark.parametrize("opponent", [*PILOTS, ",".join(PILOTS), "self"])
def test_thousands_of_random_steps(opponent, num_envs):
    """Observations are in [-1, 1], rewards in their bound; no episode ends both ways; all go on."""
    env = Midrange(num_envs=num_envs, opponent=opponent, seed=3, **SHORT)
    seen = play(env, draw_actions(2, 4000 // num_envs + 300, env.num_agents))
    observations, rewards, terminals, truncations = seen
    assert np.isfinite(observations).all()
    assert np.abs(observations).max() <= 1
    assert np.abs(rewards).max() <= reward_bound(resolve(SHORT))
    assert not (terminals & truncations).any()
    assert (terminals | truncations).any(axis=0).all()
    if opponent == "self":
        assert np.array_equal(rewards[:, 0::2], -rewards[:, 1::2])
        assert np.array_equal(terminals[:, 0::2], terminals[:, 1::2])
        assert np.array_equal(truncations[:, 0::2], truncations[:, 1::2])


# Ends


def test_time_limit_truncates_and_nothing_else_does():
    """Far apart no fighter is hit: 8 decisions of half a second are the 4 s of the limit."""
    env = Midrange(num_envs=20, opponent="straight", time_limit=4, start_range_min=50_000)
    idle = np.tile(np.array([2, 2, 0], np.int32), (30, 20, 1))
    _, rewards, terminals, truncations = play(env, idle)
    assert not terminals.any()
    assert np.array_equal(np.flatnonzero(truncations.all(axis=1)), [7, 15, 23])
    assert truncations.sum() == 3 * 20
    assert np.abs(rewards[truncations]).max() < 0.5  # a draw: the end of the shaping only


def test_a_kill_terminates_with_plus_or_minus_one():
    """From close by, firing at a pilot that never fires wins, and only that."""
    env = Midrange(
        num_envs=20,
        opponent="straight",
        start_range_min=2000,
        start_range_max=3000,
        start_off_boresight_max_deg=5,
        **UNSHAPED,
    )
    fire = np.tile(np.array([2, 2, 1], np.int32), (60, 20, 1))
    _, rewards, terminals, truncations = play(env, fire)
    assert terminals.any(axis=0).all()
    assert not truncations.any()
    assert np.array_equal(rewards, terminals.astype(np.float32))


@pytest.mark.parametrize("limit", [60, 300, 301, 900, 3600])
def test_the_clock_falls_from_start_to_end_whatever_the_time_limit(limit):
    """It counts 300ths of a second up to a limit of 300 s, shares of the limit beyond that."""
    sim = Simulation(time_limit=limit)
    clock = [feature.name for feature in FEATURES].index("time_left")
    for steps in range(0, 10 * limit, limit):
        assert sim.observe()[0, :, clock] == pytest.approx((limit - steps / 10) / max(limit, 300))
        sim.advance(limit)
    assert (sim.observe()[0, :, clock] == 0).all()


def test_the_next_episode_starts_in_the_step_that_ends_one():
    """Observations after an end are a start's: full clock, everything on the wing, full speed."""
    env = Midrange(num_envs=33, opponent="shooter", seed=1, **SHORT)
    names = [feature.name for feature in FEATURES]
    observations, _, terminals, truncations = play(env, draw_actions(3, 300, 33))
    first = observations[terminals | truncations]
    assert len(first) > 100
    for name, value in {
        "time_left": 20 / 300,
        "own_alive": 1,
        "enemy_alive": 1,
        "own_ammunition": 1,
        "own_reload": 0,
        "own_in_air": 0,
        "enemy_in_air": 0,
        "inbound_1_present": 0,
        "own_rudder": 0,
        "own_throttle": 1,
    }.items():
        assert np.allclose(first[:, names.index(name)], value), name
    ranges = first[:, names.index("enemy_range")] * 100_000
    assert ranges.min() >= 2000 * (1 - 1e-6)
    assert ranges.max() <= 9000 * (1 + 1e-6)
    assert len(np.unique(ranges)) > len(first) / 2  # not one start over and over


# Seeds and vectors


@pytest.mark.parametrize("opponent", ["shooter:1,evader:1", "self"])
def test_equal_seeds_give_equal_bits_and_others_do_not(opponent):
    actions = draw_actions(4, 200, 17 * (2 if opponent == "self" else 1))

    def run(made: int, reset: int | None) -> list[np.ndarray]:
        return play(Midrange(num_envs=17, opponent=opponent, seed=made, **SHORT), actions, reset)

    assert_equal(run(9, None), run(9, None))
    assert_equal(run(9, None), run(1, 9))  # a reset's seed replaces the constructor's
    assert not np.array_equal(run(9, None)[0][0], run(10, None)[0][0])
    env = Midrange(num_envs=17, opponent=opponent, seed=2, **SHORT)
    assert_equal(play(env, actions, 77), play(env, actions))  # without a seed, the last one


def vector(backend: str, **options) -> pufferlib.vector.Serial:
    kwargs = {"num_envs": 9, "opponent": "straight:1,evader:2", **SHORT}
    if backend == "Multiprocessing":
        options |= {"num_workers": 2, "overwork": True}  # even where there is one core
    return pufferlib.vector.make(
        Midrange, env_kwargs=kwargs, backend=backend, num_envs=2, **options
    )


def play_vector(vecenv: pufferlib.vector.Serial, actions: np.ndarray) -> list[np.ndarray]:
    """Plays `actions` [steps, agents, 3] from seed 8, in the portions that the vector gives."""
    steps, agents = actions.shape[:2]
    seen = [None] * 4
    at = np.zeros(agents, int)  # results that each agent has had
    vecenv.async_reset(8)
    try:
        while at.min() <= steps:
            *buffers, _, ids, _ = vecenv.recv()
            for i, buffer in enumerate(buffers):
                if seen[i] is None:
                    seen[i] = np.zeros((steps + 2, agents, *buffer.shape[1:]), buffer.dtype)
                seen[i][at[ids], ids] = buffer
            vecenv.send(actions[np.minimum(at[ids], steps - 1), ids])
            at[ids] += 1
    finally:
        vecenv.close()
        for process in getattr(vecenv, "processes", []):
            process.join()
    return [history[: steps + 1] for history in seen]


def test_vectors_give_equal_results():
    """Compares PufferLib's Serial, Multiprocessing and asynchronous Multiprocessing."""
    actions = draw_actions(7, 100, 18)
    serial = play_vector(vector("Serial"), actions)
    assert serial[2].sum() + serial[3].sum() > 18
    for options in ({}, {"batch_size": 1}):
        assert_equal(serial, play_vector(vector("Multiprocessing", **options), actions))
    for i in range(2):
        alone = Midrange(num_envs=9, opponent="straight:1,evader:2", **SHORT)
        own = play(alone, actions[:, 9 * i : 9 * (i + 1)], 8 + i)
        assert_equal(own, [history[1:, 9 * i : 9 * (i + 1)] for history in serial])
