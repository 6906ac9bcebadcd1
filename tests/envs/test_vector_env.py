"""`MidrangeVectorEnv` with what needs PufferLib and torch: `Midrange`, and frozen policies."""

import frozen
import numpy as np
import pytest
from gym_vectors import SEED, compare, draw_actions
from quick_fights import SHORT

from midrange_puffer import Midrange
from midrange_puffer.envs.gym_vector import MidrangeVectorEnv


@pytest.mark.parametrize("action_mode", ["discrete", "continuous"])
def test_it_is_midrange_to_the_bit(action_mode):
    """More engagements than a block of the core has lanes."""
    kwargs = {"num_envs": 37, "opponent": "evader", "action_mode": action_mode, **SHORT}
    ours, native = MidrangeVectorEnv(**kwargs), Midrange(**kwargs)
    assert np.array_equal(ours.reset(seed=SEED)[0], native.reset(SEED)[0])
    ended = 0
    for actions in draw_actions(ours, 100):
        results = ours.step(actions)[:4]
        ended += results[2].sum() + results[3].sum()
        for one, other in zip(results, native.step(actions)[:4], strict=True):
            assert np.array_equal(one, other)
    assert ended > 37


@pytest.mark.parametrize("as_file", [False, True])
def test_a_frozen_policy_flies_the_other_seat(as_file, tmp_path):
    """It is sure of its actions, and remembers until the end of an episode."""
    policy = frozen.policy(recurrent=True)
    opponent = str(frozen.save(tmp_path / "frozen.pt", policy)) if as_file else policy
    ended = compare(3, 200, opponent=opponent, **SHORT)
    assert len(ended) > 9
    assert {info["opponent"] for info in ended} == {"frozen" if as_file else type(policy).__name__}
