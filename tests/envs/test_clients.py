"""Real clients learn to win: Stable-Baselines3, and a loop in the manner of CleanRL."""

import runpy
import subprocess
import sys

import numpy as np
import pytest
import torch
from places import EXAMPLES
from quick_fights import SHORT

from midrange_puffer.envs.gym import MidrangeEnv
from midrange_puffer.envs.gym_vector import MidrangeVectorEnv

# Run a script as `python SCRIPT` does, where PufferLib cannot be imported.
WITHOUT_PUFFERLIB = """
import pathlib, runpy, sys
sys.modules["pufferlib"] = None
sys.argv.pop(0)
sys.path[0] = str(pathlib.Path(sys.argv[0]).parent)
runpy.run_path(sys.argv[0], run_name="__main__")
"""


@pytest.mark.slow
@pytest.mark.parametrize(("script", "steps"), [("sb3_ppo.py", 4_096), ("cleanrl_ppo.py", 8_192)])
def test_a_client_runs(script, steps, tmp_path, monkeypatch, capsys):
    """In this process; the nightly tests run it where PufferLib cannot be imported."""
    csv = tmp_path / "curve.csv"
    words = ["--steps", str(steps), "--seed", "0", "--csv", str(csv)]
    monkeypatch.setattr(sys, "argv", [script, *words])
    monkeypatch.syspath_prepend(EXAMPLES)
    with torch.random.fork_rng():
        runpy.run_path(str(EXAMPLES / script), run_name="__main__")
    curve = np.genfromtxt(csv, delimiter=",", names=True)
    assert capsys.readouterr().out.count(" steps ") == len(curve)
    assert curve["steps"].tolist() == [0, steps]
    assert (curve["score"] < 0.85).all()


@pytest.mark.nightly
@pytest.mark.parametrize(("script", "steps"), [("sb3_ppo.py", 60_000), ("cleanrl_ppo.py", 160_000)])
def test_clients_learn_to_win_against_straight(tmp_path, script, steps):
    """Scores over 256 engagements that are never lost: standard errors of at most 0.016."""
    csv = tmp_path / "curve.csv"
    command = [sys.executable, "-c", WITHOUT_PUFFERLIB, str(EXAMPLES / script)]
    command += ["--steps", str(steps), "--seed", "0", "--csv", str(csv)]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    curve = np.genfromtxt(csv, delimiter=",", names=True)
    assert done.stdout.count(" steps ") == len(curve)
    assert curve["steps"][0] == 0
    assert steps <= curve["steps"][-1] < 1.1 * steps
    assert curve["score"][0] < 0.85
    assert curve["score"][-1] > 0.95
    # No lucky moment: from half-way on it is well above the untrained policy.
    assert curve["score"][len(curve) // 2 :].min() > curve["score"][0] + 0.05


@pytest.fixture
def cleanrl(monkeypatch):
    monkeypatch.syspath_prepend(EXAMPLES)
    import cleanrl_ppo

    monkeypatch.setattr(cleanrl_ppo, "ROLLOUT", 120)
    return cleanrl_ppo


@pytest.fixture
def played(cleanrl):
    """Returns an agent, its rollout in three engagements, and the observations after it."""
    torch.manual_seed(0)
    envs = MidrangeVectorEnv(3, opponent="straight:1,shooter:1", **SHORT)
    agent = cleanrl.Agent(envs)
    rollout = cleanrl.Rollout(envs)
    return agent, rollout, rollout.collect(envs, agent, envs.reset(seed=1)[0])


def test_the_loop_sees_what_single_environments_give(played):
    """The last observation of an episode, too, which the vector environment gives in its infos."""
    _, rollout, last = played
    env = MidrangeEnv(opponent="straight:1,shooter:1", **SHORT)
    truncated = False
    for engagement in range(3):
        observation, _ = env.reset(seed=1, options={"engagement": engagement})
        for t, action in enumerate(rollout.actions[:, engagement]):
            at = t, engagement
            assert np.array_equal(rollout.observations[at], observation)
            observation, reward, *ends, _ = env.step(action)
            assert np.array_equal(rollout.next_observations[at], observation)
            assert rollout.rewards[at] == np.float32(reward)
            assert [rollout.terminated[at], rollout.ended[at]] == [ends[0], any(ends)]
            truncated |= ends[1]
            if any(ends):
                observation, _ = env.reset()
        assert np.array_equal(last[engagement], observation)
    assert truncated
    assert rollout.terminated.any()


def test_advantages_are_of_the_returns_of_episodes(cleanrl, played, monkeypatch):
    """With lambda = 1, when they telescope; a truncated episode goes on with its last value."""
    monkeypatch.setattr(cleanrl, "GAE_LAMBDA", 1)
    agent, rollout, _ = played
    advantages, returns = rollout.advantages(agent)
    with torch.no_grad():
        values, next_values = (
            agent.value(torch.from_numpy(seen)).numpy()
            for seen in (rollout.observations, rollout.next_observations)
        )
    np.testing.assert_allclose(returns, advantages + values, rtol=1e-5, atol=1e-6)
    for t, engagement in np.ndindex(*rollout.ended.shape):
        until = np.flatnonzero(rollout.ended[t:, engagement])
        end = t + until[0] if len(until) else cleanrl.ROLLOUT - 1
        rewards = rollout.rewards[t : end + 1, engagement]
        expected = np.polynomial.Polynomial(rewards)(cleanrl.GAMMA)
        if not rollout.terminated[end, engagement]:
            expected += cleanrl.GAMMA ** len(rewards) * next_values[end, engagement]
        assert returns[t, engagement] == pytest.approx(expected, abs=1e-4)


def test_sb3_finds_only_that_throttle_and_fire_begin_at_0():
    """A warning of it about discrete actions would be an error here."""
    from stable_baselines3.common.env_checker import check_env

    check_env(MidrangeEnv())
    with pytest.warns(UserWarning, match="symmetric and normalized Box action space"):
        check_env(MidrangeEnv(action_mode="continuous"))
