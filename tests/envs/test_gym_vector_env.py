"""`MidrangeVectorEnv` is Gymnasium's own SyncVectorEnv of `Midrange-v0` to the bit."""

import copy
from itertools import pairwise

import numpy as np
import pytest
from gym_vectors import SEED, assert_same, compare, draw_actions
from quick_fights import SHORT

from midrange_puffer import FEATURES
from midrange_puffer.envs.gym_vector import MidrangeVectorEnv
from midrange_puffer.gymnasium_import import gymnasium

NAMES = [feature.name for feature in FEATURES]


# The same as Gymnasium's own


@pytest.mark.parametrize(
    "kwargs",
    [
        {},
        {"opponent": "shooter:2,evader:1", "seat": "blue", "action_mode": "continuous"},
        {"opponent": "ace", "observation": "stg", "substeps": 3},
    ],
    ids=["default", "mix", "stg"],
)
def test_it_is_gymnasiums_own_to_the_bit(kwargs):
    ended = compare(5, 300, **SHORT, **kwargs)
    assert len(ended) > 30
    assert {info["truncated"] for info in ended} == {0, 1}
    assert {"hit_rate" in info for info in ended} == {True, False}


def pursue(observations: np.ndarray) -> np.ndarray:
    """Turn to the enemy and fire; of one observation or of many."""
    left = observations[..., NAMES.index("enemy_left")]
    rudder = np.where(left > 0, 4, np.where(left < 0, 0, 2))
    return np.stack([rudder, np.full_like(rudder, 2), observations[..., 1] > 0], axis=-1)


@pytest.mark.parametrize("seat", ["red", "blue"])
@pytest.mark.parametrize("action_mode", ["discrete", "continuous"])
def test_a_function_flies_the_other_seat(seat, action_mode):
    kwargs = {"opponent": pursue, "seat": seat, "action_mode": action_mode, **SHORT}
    ended = compare(3, 120, **kwargs)
    assert {info["opponent"] for info in ended} == {"pursue"}
    assert sum(info["shots_against"] for info in ended) > 3


@pytest.mark.parametrize("options", [{"range": 9000.0, "enemy_ammunition": 1}, {}])
def test_options_are_for_the_episodes_that_a_reset_starts(options):
    """One for all, or one each; those that follow are drawn as always."""
    each = {"off_boresight_deg": [0.0, 30.0, -60.0], "episode": np.array([4, 0, 2])}
    assert len(compare(3, 120, options | each, **SHORT)) > 3


# Whose the arrays are


def arrays_in(results: object) -> list[np.ndarray]:
    """All arrays in results and infos, those in arrays, too."""
    if isinstance(results, dict):
        results = list(results.values())
    elif isinstance(results, np.ndarray):
        inside = results.tolist() if results.dtype == object else []
        return [results, *arrays_in(inside)]
    elif not isinstance(results, list | tuple):
        return []
    return [array for result in results for array in arrays_in(result)]


def test_what_was_returned_never_changes():
    """Nor does what is done to it come back."""
    envs, spoilt = MidrangeVectorEnv(6, **SHORT), MidrangeVectorEnv(6, **SHORT)
    kept = [envs.reset(seed=SEED)]
    spoilt.reset(seed=SEED)
    before = copy.deepcopy(kept)
    for actions in draw_actions(envs, 80):
        kept.append(envs.step(actions))
        before.append(copy.deepcopy(kept[-1]))
        for array in arrays_in(spoilt.step(actions)):
            array[:] = None if array.dtype == object else 1
    kept.append(envs.reset())
    assert_same(kept[:-1], before)
    assert_same(kept[-1], spoilt.reset())
    everything = arrays_in(kept)
    assert len(everything) > 4 * 80
    places = sorted((a.__array_interface__["data"][0], a.nbytes) for a in everything)
    assert all(start + size <= after for (start, size), (after, _) in pairwise(places))


def test_without_copies_the_buffers_are_returned():
    """Always the same four; but what is in the infos stays as it was."""
    envs, copying = MidrangeVectorEnv(6, copy=False, **SHORT), MidrangeVectorEnv(6, **SHORT)
    observations, _ = envs.reset(seed=SEED)
    assert np.array_equal(observations, copying.reset(seed=SEED)[0])
    buffers, kept, before = None, [], []
    for actions in draw_actions(envs, 80):
        *results, infos = envs.step(actions)
        assert_same((*results, infos), copying.step(actions))
        assert results[0] is observations
        buffers = buffers or results
        assert all(one is other for one, other in zip(results, buffers, strict=True))
        kept.append(infos)
        before.append(copy.deepcopy(infos))
    assert_same(kept, before)
    assert len(arrays_in(kept)) > 40
    assert envs.reset()[0] is observations
    assert not any(buffer.any() for buffer in buffers[1:])


# Seeds


def test_a_seed_is_for_all_engagements():
    one, other = MidrangeVectorEnv(3, **SHORT), MidrangeVectorEnv(3, **SHORT)
    drawn = [one.reset()[0], other.reset()[0]]
    assert not np.array_equal(*drawn)
    first = one.reset(seed=SEED)[0]
    assert np.array_equal(first, other.reset(seed=np.int64(SEED))[0])
    second = one.reset()[0]
    assert not np.array_equal(first, second)
    assert np.array_equal(second, other.reset(seed=SEED, options={"episode": 1})[0])
    assert np.array_equal(one.reset(seed=SEED)[0], first)
    assert not np.array_equal(one.reset(seed=SEED + 1)[0], first)


# Errors


@pytest.mark.parametrize(
    ("actions", "error", "match"),
    [
        (np.zeros((3, 2), int), ValueError, r"\(3, 2\): must be \(2, 3\)"),
        (np.zeros(3, int), ValueError, r"\(3,\): must be \(2, 3\)"),
        (np.zeros((2, 3)), TypeError, "float64: must be whole numbers"),
        (np.full((2, 3), None), TypeError, "object"),
    ],
)
def test_wrong_actions_are_named(actions, error, match):
    envs = MidrangeVectorEnv(2)
    with pytest.raises(gymnasium.error.ResetNeeded):
        envs.step(actions)
    envs.reset()
    with pytest.raises(error, match=match):
        envs.step(actions)


@pytest.mark.parametrize(
    ("kwargs", "match"),
    [
        ({"seed": [1, 2]}, r"seed = \[1, 2\]"),
        ({"options": {"rang": 1e4}}, "rang.*did you mean 'range'"),
        ({"options": {"range": [1e4] * 3}}, r"range.* of shape \(3,\): must be .* or 2 of them"),
        ({"options": {"range": [1e4, -1]}}, r"range.* = \[10000.0, -1\]: must be from 100 to"),
    ],
)
def test_wrong_resets_are_named(kwargs, match):
    with pytest.raises(ValueError, match=match):
        MidrangeVectorEnv(2).reset(**kwargs)


@pytest.mark.parametrize(
    ("kwargs", "match"),
    [
        ({"num_envs": 0}, "num_envs = 0: must be a whole number from 1"),
        ({"num_env": 2}, "num_env = 2: no such parameter; did you mean 'num_envs'"),
        ({"opponent": "self"}, "'self' is none of straight"),
        ({"seat": "green"}, "seat = 'green': must be red or blue"),
        ({"time_limits": 1}, "time_limits = 1: .*did you mean 'time_limit'"),
        ({"copi": False}, "copi = False: .*did you mean 'copy'"),
    ],
)
def test_wrong_arguments_are_named(kwargs, match):
    with pytest.raises(ValueError, match=match):
        MidrangeVectorEnv(**kwargs)


def test_what_an_opponents_function_does_wrong_is_said_to_be_its_own():
    def broken(observations: np.ndarray) -> np.ndarray:
        return observations[:, :3]

    envs = MidrangeVectorEnv(2, broken)
    envs.reset()
    with pytest.raises(TypeError, match="opponent broken: actions of type float32: must be whole"):
        envs.step(np.zeros((2, 3), int))
