"""`MidrangeVectorEnv` is Gymnasium's own SyncVectorEnv of `Midrange-v0` to the bit."""

import copy
from itertools import pairwise

import numpy as np
import pytest
from gym_vectors import BEFORE_1, SEED, assert_same, compare, draw_actions, final_infos
from quick_fights import SHORT

from midrange_puffer import FEATURES
from midrange_puffer.envs.gym_vector import MidrangeVectorEnv, make_vector_env
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
    """Turns to the enemy and fires; takes one observation or many."""
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
    """One for all, or one each; later episodes draw their starts as always."""
    each = {"off_boresight_deg": [0.0, 30.0, -60.0], "episode": np.array([4, 0, 2])}
    assert len(compare(3, 120, options | each, **SHORT)) > 3


# Whose the arrays are


def arrays_in(results: object) -> list[np.ndarray]:
    """Returns all arrays in results and infos, those in arrays, too."""
    if isinstance(results, dict):
        results = list(results.values())
    elif isinstance(results, np.ndarray):
        inside = results.tolist() if results.dtype == object else []
        return [results, *arrays_in(inside)]
    elif not isinstance(results, list | tuple):
        return []
    return [array for result in results for array in arrays_in(result)]


def test_returned_arrays_never_change():
    """A caller's changes do not reach the environment either."""
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
    """Always the same four are returned; the infos keep copies."""
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


# With Gymnasium's own tools and wrappers


def test_make_vec_makes_it():
    if BEFORE_1:
        envs = gymnasium.make_vec(
            "Midrange-v0",
            num_envs=3,
            vectorization_mode="custom",
            vector_kwargs={"opponent": "evader"},
        )
    else:
        envs = gymnasium.make_vec("Midrange-v0", num_envs=3, opponent="evader")
        assert envs.metadata["autoreset_mode"] is gymnasium.vector.AutoresetMode.SAME_STEP
    assert isinstance(envs, MidrangeVectorEnv)
    assert envs.spec.id == "Midrange-v0"
    assert envs.num_envs == 3
    direct = MidrangeVectorEnv(3, opponent="evader")
    assert np.array_equal(envs.reset(seed=SEED)[0], direct.reset(seed=SEED)[0])
    with pytest.raises(ValueError, match=r"max_episode_steps = 9: .*time_limit"):
        make_vector_env(3, max_episode_steps=9)


def statistics_wrappers() -> list[type]:
    """Gymnasium's own that count returns and lengths of a vector environment's episodes."""
    if BEFORE_1:
        return [
            gymnasium.wrappers.RecordEpisodeStatistics,
            gymnasium.experimental.wrappers.vector.RecordEpisodeStatisticsV0,
        ]
    return [gymnasium.wrappers.vector.RecordEpisodeStatistics]


@pytest.mark.parametrize("wrapper", statistics_wrappers())
def test_gymnasiums_statistics_are_those_of_the_infos(wrapper):
    """Gymnasium counts the rewards and ends that come out."""
    envs = wrapper(MidrangeVectorEnv(5, **SHORT))
    envs.reset(seed=SEED)
    ended = 0
    for actions in draw_actions(envs.unwrapped, 120):
        infos = envs.step(actions)[-1]
        for env, info in final_infos(infos).items():
            assert infos["episode"]["r"][env] == pytest.approx(info["episode_return"], abs=1e-5)
            assert infos["episode"]["l"][env] == info["episode_length"]
            ended += 1
    assert ended > 10
    assert envs.episode_count == ended


# What Gymnasium 0.29 says of what its own wrapper does.
@pytest.mark.filterwarnings("ignore:.*env.num_envs to get variables")
def test_gymnasiums_lists_of_infos_are_those_of_the_engagements():
    direct, envs = MidrangeVectorEnv(5, **SHORT), MidrangeVectorEnv(5, **SHORT)
    wrappers = gymnasium.wrappers if BEFORE_1 else gymnasium.wrappers.vector
    listed = (wrappers.VectorListInfo if BEFORE_1 else wrappers.DictInfoToList)(envs)
    assert np.array_equal(listed.reset(seed=SEED)[0], direct.reset(seed=SEED)[0])
    ended = 0
    for actions in draw_actions(direct, 60):
        *_, infos = listed.step(actions)
        expected = final_infos(direct.step(actions)[-1])
        assert {env for env, info in enumerate(infos) if "final_info" in info} == expected.keys()
        for env, info in expected.items():
            assert infos[env]["final_info"] == info
            ended += 1
    assert ended > 5


@pytest.mark.skipif(not BEFORE_1, reason="Gymnasium 1 has no halves")
def test_the_halves_of_a_step_are_a_step():
    """Gymnasium 0.29's wrappers call the halves."""
    direct = MidrangeVectorEnv(5, **SHORT)
    wrapped = gymnasium.vector.VectorEnvWrapper(MidrangeVectorEnv(5, **SHORT))
    assert_same(wrapped.reset(seed=SEED), direct.reset(seed=SEED))
    for actions in draw_actions(direct, 60):
        assert_same(wrapped.step(actions), direct.step(actions))
