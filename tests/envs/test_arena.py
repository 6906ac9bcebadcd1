"""The Gymnasium environment beside `Midrange` and `match.play`: the same fights."""

from functools import partial
from pathlib import Path

import exports
import frozen
import gym_vectors
import numpy as np
import pytest
from policies import Constant, random_policy
from quick_fights import FLAT, LEVELS, SHORT, same
from torch import nn

from midrange_puffer import FEATURES, Midrange
from midrange_puffer.contest.match import Fight, play
from midrange_puffer.envs.gym import MidrangeEnv
from midrange_puffer.envs.gym_vector import MidrangeVectorEnv
from midrange_puffer.game.actions import ACTION_MODES
from midrange_puffer.game.parameters import SEATS, resolve
from midrange_puffer.policies.model_file import CheckpointError

SEED = 13
HELD = (3, 2, 1)  # levels of what the agent does where it does one thing
COUNT = 6


def fly(env: MidrangeEnv, **reset: object) -> tuple[list[np.ndarray], dict]:
    """Flies HELD to the end; returns the observations, and the info."""
    seen, over = [env.reset(**reset)[0]], False
    while not over:
        observation, _, terminated, truncated, info = env.step(HELD)
        seen.append(observation)
        over = terminated or truncated
    return seen, info


def fights(policy: nn.Module, seat: str) -> list[dict]:
    """Returns the infos of HELD in `seat` against a policy in engagements 0 ... COUNT - 1."""
    agent = SEATS.index(seat)
    red, blue = (Constant(*HELD), policy)[:: 1 if agent == 0 else -1]
    [records] = play([Fight(red, blue)], COUNT, SEED, parameters=resolve(SHORT))
    infos = MidrangeVectorEnv(COUNT, "straight", seat, **SHORT)._arena.infos(records)
    return [{**info, "opponent": None} for info in infos]


# Midrange


@pytest.mark.parametrize("seat", SEATS)
@pytest.mark.parametrize("action_mode", FLAT)
@pytest.mark.parametrize("opponent", ["evader", "snake:1,shooter:2,ace:1"])
def test_every_episode_of_midrange_can_be_flown_alone(opponent, action_mode, seat):
    """To the bit: every engagement's first three, with observations, rewards, ends and opponent."""
    kwargs = {"opponent": opponent, "seat": seat, "action_mode": action_mode, **SHORT}
    many, env = Midrange(num_envs=COUNT, seed=SEED, **kwargs), MidrangeEnv(**kwargs)
    rng = np.random.default_rng(0)
    actions = rng.integers(0, LEVELS, (250, COUNT, 3), np.int32)
    if action_mode == "continuous":
        actions = rng.uniform(-1.1, 1.1, actions.shape).astype(np.float32)
    actions[..., 2] = rng.random(actions.shape[:2]) < 0.1
    many.reset()
    seen = [many.observations.copy()]
    results = []
    for step in actions:
        results.append([buffer.copy() for buffer in many.step(step)[1:4]])
        seen.append(many.observations.copy())
    for engagement in range(COUNT):
        step = 0
        for episode in range(3):
            where = {"engagement": engagement, "episode": episode}
            observation, _ = env.reset(seed=SEED, options=where)
            over = False
            while not over:
                assert np.array_equal(observation, seen[step][engagement])
                observation, *outcome, info = env.step(actions[step, engagement])
                assert outcome == [buffer[engagement] for buffer in results[step]]
                over = any(outcome[1:])
                step += 1
            assert info["opponent"] in opponent


# Policies


@pytest.mark.parametrize("seat", SEATS)
@pytest.mark.parametrize("observation", ["default", "stg"])
@pytest.mark.parametrize("recurrent", [False, True], ids=["mlp", "lstm"])
def test_a_policy_flies_as_in_a_match(recurrent, observation, seat):
    """One fight after the other: what it remembers ends with an engagement."""
    policy = frozen.policy(5, recurrent)
    env = MidrangeEnv(policy, seat, observation, **SHORT)
    env.reset(seed=SEED)
    env.step(HELD)  # and what it remembers of a fight that is given up
    for engagement, expected in enumerate(fights(policy, seat)):
        _, info = fly(env, seed=SEED, options={"engagement": engagement})
        assert info.pop("opponent") == type(policy).__name__
        assert info == {name: value for name, value in expected.items() if name != "opponent"}


@pytest.mark.parametrize("kind", ["levels", "continuous, memory"])
def test_a_policy_may_be_given_by_its_file(kind, tmp_path):
    """Trained or exported, by a path or its text, it flies what it flies itself."""
    policy, model, exported = exports.make(tmp_path, kind)
    expected, told = fly(MidrangeEnv(policy, **SHORT), seed=SEED)
    assert told["opponent"] == type(policy).__name__
    for path in (model, str(model), exported, str(exported)):
        seen, info = fly(MidrangeEnv(path, **SHORT), seed=SEED)
        assert info["opponent"] == Path(path).stem
        assert len(seen) == len(expected)
        # onnxruntime computes the same but for the last digits.
        assert np.array(seen) == pytest.approx(np.array(expected), abs=1e-4)


@pytest.mark.parametrize("theirs", ACTION_MODES)
@pytest.mark.parametrize("ours", FLAT)
def test_policies_of_all_action_modes_draw_by_the_seed(ours, theirs):
    """Every episode by its own: it does not matter what was flown before."""
    policy = random_policy(action_mode=theirs)
    kwargs = {"opponent": policy, "action_mode": ours, **SHORT}
    env, other = MidrangeEnv(**kwargs), MidrangeEnv(**kwargs)
    first, second = fly(env, seed=SEED)[0], fly(env)[0]
    assert same(second, fly(other, seed=SEED, options={"episode": 1})[0])
    assert same(first, fly(other, seed=SEED)[0])
    assert not same(first, second)


def test_draws_differ_between_episodes_that_start_alike():
    """With equal places and actions, only the draws can differ."""
    policy = random_policy()
    nn.init.zeros_(policy.actor.weight)  # all actions alike
    placed = {"off_boresight_deg": 0, "enemy_off_boresight_deg": 0}
    placed |= {"range": 5000, "speed": 300, "enemy_speed": 300}
    env = MidrangeEnv(policy, **{**SHORT, "ammunition": 1})
    ends = [fly(env, seed=SEED, options={**placed, "episode": index})[0][-1] for index in range(5)]
    assert len({end.tobytes() for end in ends}) == 5


def test_files_and_policies_that_cannot_be_used_are_refused(tmp_path):
    for missing in (tmp_path / "none.pt", str(tmp_path / "none.onnx")):
        with pytest.raises(CheckpointError, match="no such file"):
            MidrangeEnv(missing)
    with pytest.raises(ValueError, match=r"sees .* features, more than .* observation = 'default'"):
        MidrangeEnv(random_policy(observation="stg"))
    MidrangeEnv(random_policy(observation="stg"), observation="stg")


@pytest.mark.parametrize("make", [MidrangeEnv, partial(MidrangeVectorEnv, 2)])
def test_a_module_of_others_is_neither_a_policy_nor_a_function(make):
    """Though it can be called."""
    with pytest.raises(TypeError, match=r"opponent = Linear: .* as of checkpoint\.load_policy"):
        make(nn.Linear(len(FEATURES), 3))
    half = random_policy()
    del half.is_continuous
    with pytest.raises(TypeError, match=f"{type(half).__name__}: .*has no is_continuous$"):
        make(half)


# Many engagements


@pytest.mark.parametrize("action_mode", ["discrete", "continuous"])
def test_it_is_midrange_to_the_bit(action_mode):
    """More engagements than a block of the core has lanes."""
    kwargs = {"num_envs": 37, "opponent": "evader", "action_mode": action_mode, **SHORT}
    ours, native = MidrangeVectorEnv(**kwargs), Midrange(**kwargs)
    assert np.array_equal(ours.reset(seed=SEED)[0], native.reset(SEED)[0])
    ended = 0
    for actions in gym_vectors.draw_actions(ours, 100):
        results = ours.step(actions)[:4]
        ended += results[2].sum() + results[3].sum()
        for one, other in zip(results, native.step(actions)[:4], strict=True):
            assert np.array_equal(one, other)
    assert ended > 37


@pytest.mark.parametrize(("recurrent", "as_file"), [(False, False), (True, False), (True, True)])
def test_a_policy_flies_many_engagements_as_each_alone(recurrent, as_file, tmp_path):
    """It is sure of its actions, and remembers until the end of an episode.

    The next one starts in the step in which an episode ends.
    """
    policy = frozen.policy(5, recurrent)
    opponent = str(frozen.save(tmp_path / "frozen.pt", policy)) if as_file else policy
    ended = gym_vectors.compare(COUNT, 200, opponent=opponent, **SHORT)
    assert len(ended) > 3 * COUNT
    assert {info["opponent"] for info in ended} == {"frozen" if as_file else type(policy).__name__}
