"""Threads that step the engagements of one core: none of them makes a difference."""

import numpy as np
import pytest

from midrange_puffer import Midrange, _core


@pytest.mark.parametrize("action_mode", ["discrete", "continuous"])
@pytest.mark.parametrize("opponent", ["self", "ace:1,evader:1", "self:1,shooter:2"])
def test_results_are_the_same_bits_for_any_number_of_threads(opponent, action_mode):
    """Observations, rewards, ends, records in their order, and the state."""
    envs = [
        Midrange(333, opponent, action_mode=action_mode, seed=7, threads=threads, time_limit=40)
        for threads in (1, 2, 5)
    ]
    for env in envs:
        env.reset()
    rng = np.random.default_rng(0)
    ended = 0
    for _ in range(120):
        if action_mode == "discrete":
            actions = rng.integers(0, _core.ACTION_LEVELS, (envs[0].num_agents, 3), np.int32)
        else:
            actions = rng.normal(0, 1, (envs[0].num_agents, 3)).astype(np.float32)
        records = [env.step_records(actions) for env in envs]
        ended += len(records[0])
        for env, theirs in zip(envs[1:], records[1:], strict=True):
            assert theirs.tobytes() == records[0].tobytes()
            assert env.observations.tobytes() == envs[0].observations.tobytes()
            assert env.rewards.tobytes() == envs[0].rewards.tobytes()
            assert np.array_equal(env.terminals, envs[0].terminals)
            assert np.array_equal(env.truncations, envs[0].truncations)
    assert ended >= 333
    assert len({env.state_hash() for env in envs}) == 1


@pytest.mark.parametrize("threads", [0, -1, 10**6])
def test_a_number_of_threads_that_cannot_be_is_named(threads):
    with pytest.raises(ValueError, match=f"threads = {threads}: at least 1, at most"):
        Midrange(8, threads=threads)
