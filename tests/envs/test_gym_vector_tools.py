"""Gymnasium's own tools and wrappers work with `MidrangeVectorEnv`, and it can be looked at."""

import numpy as np
import pytest
from gym_vectors import BEFORE_1, SEED, assert_same, draw_actions, final_infos
from quick_fights import SHORT

from midrange_puffer.envs.gym import MidrangeEnv
from midrange_puffer.envs.gym_vector import MidrangeVectorEnv, make_vector_env
from midrange_puffer.gymnasium_import import gymnasium


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
    """Rewards and ends as they come out, counted by somebody else."""
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
    """As the wrappers of Gymnasium 0.29 call them."""
    direct = MidrangeVectorEnv(5, **SHORT)
    wrapped = gymnasium.vector.VectorEnvWrapper(MidrangeVectorEnv(5, **SHORT))
    assert_same(wrapped.reset(seed=SEED), direct.reset(seed=SEED))
    for actions in draw_actions(direct, 60):
        assert_same(wrapped.step(actions), direct.step(actions))


# Pictures


def test_it_renders_engagement_0():
    kwargs = {"render_mode": "rgb_array", **SHORT}
    envs, alone = MidrangeVectorEnv(3, **kwargs), MidrangeEnv(**kwargs)
    with pytest.raises(gymnasium.error.ResetNeeded):
        envs.render()
    envs.reset(seed=SEED)
    alone.reset(seed=SEED)
    for actions in draw_actions(envs, 5):
        envs.step(actions)
        alone.step(actions[0])
    assert_same(envs.render(), alone.render() if BEFORE_1 else (alone.render(),))
    assert envs.metadata["render_fps"] == alone.metadata["render_fps"]
    assert MidrangeVectorEnv(1).render_mode is None
    for env in (envs, alone):
        env.close()


def test_human_shows_it_in_a_window(display):
    import pygame

    envs = MidrangeVectorEnv(2, render_mode="human", substeps=1, **SHORT)
    envs.reset(seed=SEED)
    envs.step(draw_actions(envs, 1)[0])
    assert pygame.display.get_surface() is not None
    assert envs.render() is None
    envs.close()
    envs.close()
    assert envs.closed
    assert pygame.display.get_surface() is None
