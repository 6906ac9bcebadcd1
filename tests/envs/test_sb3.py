"""`MidrangeVecEnv` equals Stable-Baselines3's vector of single environments; SB3 learns on it."""

import numpy as np
import pytest
import torch
from gym_vectors import SEED, Place, assert_same
from quick_fights import LEVELS, SHORT
from stable_baselines3 import PPO, SAC
from stable_baselines3.common.evaluation import evaluate_policy
from stable_baselines3.common.monitor import Monitor
from stable_baselines3.common.vec_env import (
    DummyVecEnv,
    VecCheckNan,
    VecFrameStack,
    VecMonitor,
    VecNormalize,
)

from midrange_puffer.envs.gym import MidrangeEnv
from midrange_puffer.envs.sb3 import MidrangeVecEnv

NUM_ENVS = 5
GAME = {"opponent": "straight:1,shooter:1", **SHORT}


def pair(**kwargs: object) -> tuple[MidrangeVecEnv, DummyVecEnv]:
    """Ours and SB3's own, of the same engagements."""
    ours = MidrangeVecEnv(NUM_ENVS, **GAME, **kwargs)
    makers = [
        lambda index=index: Place(MidrangeEnv(**GAME, **kwargs), index) for index in range(NUM_ENVS)
    ]
    theirs = DummyVecEnv(makers)
    same_seed(ours, theirs)
    return ours, theirs


def same_seed(ours: MidrangeVecEnv, theirs: DummyVecEnv) -> None:
    """Sets one seed for all; SB3's own `seed` gives each engagement another."""
    theirs._seeds = ours.seed(SEED)


def draw_actions(action_mode: str, steps: int) -> np.ndarray:
    """Draws actions [steps, NUM_ENVS, 3], each held for a while, so that fights are decided."""
    rng = np.random.default_rng(5)
    shape = (steps // 8, NUM_ENVS, 3)
    if action_mode == "discrete":
        drawn = rng.integers(0, LEVELS, shape)
    else:
        drawn = rng.uniform((-1, 0, 0), 1, shape).astype(np.float32)
    return drawn.repeat(8, axis=0)


@pytest.mark.parametrize("action_mode", ["discrete", "continuous"])
def test_it_gives_what_single_environments_give(action_mode):
    ours, theirs = pair(action_mode=action_mode)
    assert ours.observation_space == theirs.observation_space
    assert ours.action_space == theirs.action_space
    assert_same(ours.reset(), theirs.reset())
    ended = []
    for actions in draw_actions(action_mode, 160):
        *results, infos = ours.step(actions)
        *their_results, their_infos = theirs.step(actions)
        assert_same(results, their_results)
        for info in infos:
            if "score" in info:
                assert info.pop("is_success") is (info["score"] == 1)
                ended.append(info)
        assert_same(infos, their_infos)
    assert {info["TimeLimit.truncated"] for info in ended} == {False, True}
    assert {info["score"] for info in ended} >= {0.5, 1}
    assert_same(ours.reset(), theirs.reset())  # the next episodes of the same seed


@pytest.mark.parametrize(
    "options",
    [
        {"range": 20_000, "enemy_ammunition": 1},
        [{"range": 20_000 + 1_000 * index, "speed": 300} for index in range(NUM_ENVS)],
    ],
    ids=["for all", "for each"],
)
def test_options_hold_for_the_next_reset(options):
    ours, theirs = pair()
    for _ in range(2):
        ours.set_options(options)
        theirs.set_options(options)
        assert_same(ours.reset(), theirs.reset())
    assert_same(ours.reset(), theirs.reset())


def test_options_that_cannot_be_are_refused():
    envs = MidrangeVecEnv(2, **GAME)
    envs.set_options([{"range": 20_000}, {"speed": 300}])
    with pytest.raises(ValueError, match="options of range for one engagement and of speed"):
        envs.reset()
    envs.set_options([{"range": 20_000}])
    with pytest.raises(ValueError, match=r"shape \(1,\): must be a number or 2 of them"):
        envs.reset()


def test_attributes_are_of_each_engagement():
    envs = MidrangeVecEnv(3, render_mode="rgb_array", **GAME)
    assert envs.metadata == MidrangeEnv(**GAME).metadata
    assert envs.get_attr("action_space", [0, 2]) == [envs.action_space] * 2
    assert envs.get_attr("render_mode") == ["rgb_array"] * 3
    envs.reset()
    assert np.array_equal(envs.env_method("render", indices=0)[0], envs.render())
    assert not envs.has_attr("stage")
    envs.set_attr("stage", 1)
    envs.set_attr("stage", 2, indices=1)
    assert envs.get_attr("stage") == [1, 2, 1]
    with pytest.raises(AttributeError, match="render_mode: cannot be set"):
        envs.set_attr("render_mode", "human")
    with pytest.raises(AttributeError, match="_arena: a private attribute"):
        envs.get_attr("_arena")
    assert envs.env_is_wrapped(Monitor, [0, 1]) == [False, False]
    with pytest.raises(AttributeError, match="step: an engagement has no such method"):
        envs.env_method("step", None)


def test_sb3s_wrappers_find_nothing_wrong_and_count_the_same():
    envs = VecMonitor(VecCheckNan(MidrangeVecEnv(NUM_ENVS, **GAME), raise_exception=True))
    stacked = VecFrameStack(VecNormalize(envs), 2)
    stacked.reset()
    ended = 0
    for actions in draw_actions("discrete", 160):
        for info in stacked.step(actions)[-1]:
            if "score" in info:
                assert info["episode"]["r"] == pytest.approx(info["episode_return"], abs=1e-5)
                assert info["episode"]["l"] == info["episode_length"]
                ended += 1
    assert envs.episode_count == ended > 10


def test_ppo_learns_the_same_as_on_single_environments(capsys):
    weights = []
    ours, theirs = pair()
    for envs in (ours, theirs):
        model = PPO("MlpPolicy", envs, n_steps=64, batch_size=80, seed=0, device="cpu", verbose=1)
        same_seed(ours, theirs)  # PPO has given each its own
        model.learn(2 * 64 * NUM_ENVS)
        weights.append(model.policy.state_dict())
    assert "success_rate" in capsys.readouterr().out
    assert weights[0].keys() == weights[1].keys()
    for name, values in weights[0].items():
        assert torch.equal(values, weights[1][name]), name
    monitored = VecMonitor(ours)
    returns, lengths = evaluate_policy(model, monitored, 10, return_episode_rewards=True)
    assert len(returns) == len(lengths) == 10


def test_sac_keeps_the_last_observation_of_an_episode():
    """Off-policy learning must not take a truncated episode for a decided one."""
    envs = MidrangeVecEnv(NUM_ENVS, action_mode="continuous", **GAME | {"time_limit": 10})
    steps = 100
    model = SAC("MlpPolicy", envs, buffer_size=steps * NUM_ENVS, learning_starts=10**6, seed=0)
    model.learn(steps * NUM_ENVS)
    buffer = model.replay_buffer
    ends = buffer.dones.astype(bool)
    assert 0 < buffer.timeouts.sum() < ends.sum()
    follows = np.all(buffer.next_observations[:-1] == buffer.observations[1:], axis=-1)
    assert np.array_equal(follows, ~ends[:-1])
