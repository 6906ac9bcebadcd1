"""Rows of metrics that tell of several updates, and what environments say of their own steps."""

import time
from contextlib import closing
from itertools import pairwise

import numpy as np
import pytest
import runs

from midrange_puffer.config.reading import load_config
from midrange_puffer.train.trainer import _Row
from midrange_puffer.train.vector import VecEnv, make_env

UPDATES = 11
STEPS = 1024  # of an update
SLEEP = 0.002  # s, in a step


def test_a_row_tells_of_every_update_since_the_last_one(tmp_path, monkeypatch):
    """What each update gathered is noted on its way in; learning is the same, row or no row."""
    results, losses, add = [], [], _Row.add

    def noting(self, its_results, its_losses) -> None:
        results.append({name: list(values) for name, values in its_results.items()})
        losses.append(dict(its_losses))
        add(self, its_results, its_losses)

    monkeypatch.setattr(_Row, "add", noting)
    words = [f"--train.total-timesteps={UPDATES * STEPS}", "--train.checkpoint-interval=5"]
    assert runs.train(tmp_path, *words, "--train.log-interval=4") == 0
    rows = runs.rows(tmp_path / "run")
    ends = [4, 5, 8, 10, 11]  # 5, 10 and 11 have checkpoints
    assert [row["epoch"] for row in rows] == ends
    assert [row["agent_steps"] for row in rows] == [STEPS * end for end in ends]
    for row, (begin, end) in zip(rows, pairwise([0, *ends]), strict=True):
        told = [score for one in results[begin:end] for score in one.get("score", ())]
        assert row.get("environment/score") == (pytest.approx(np.mean(told)) if told else None)
        told = [paid for one in results[begin:end] for paid in one.get("episode_return", ())]
        if told:
            assert row["environment/episode_return_max"] == max(told)
            assert row["environment/episode_return_min"] == min(told)
        for name in ("entropy", "value_loss"):
            mean = np.mean([one[name] for one in losses[begin:end]])
            assert row[f"losses/{name}"] == pytest.approx(mean)
    assert "environment/score" in rows[-1]


def test_a_stopped_run_and_its_resume_leave_no_update_untold(tmp_path, monkeypatch):
    counts, add = [], _Row.add

    def counting(self, *args) -> None:
        add(self, *args)
        counts.append(1)

    monkeypatch.setattr(_Row, "add", counting)
    words = ["--train.log-interval=100", "--train.checkpoint-interval=100"]
    assert runs.train(tmp_path, f"--train.total-timesteps={3 * STEPS}", *words) == 0
    assert runs.resume(tmp_path / "run", f"--train.total-timesteps={5 * STEPS}") == 0
    assert len(counts) == 5
    assert [row["epoch"] for row in runs.rows(tmp_path / "run")] == [3, 5]


def test_a_row_comes_at_the_end_of_a_stage_and_with_a_rating(tmp_path):
    stages = tmp_path / "stages.ini"
    stages.write_text(
        f"{runs.SMALL}log_interval = 100\ncheckpoint_interval = 100\n"
        "[curriculum]\nstages = a, b\n"
        f"[curriculum.a]\nmax_steps = {3 * STEPS}\n[curriculum.b]\n"
        "[league]\ninterval = 5\ngames = 2\n"
    )
    assert runs.train(tmp_path, "--config", str(stages)) == 0
    rows = runs.rows(tmp_path / "run")
    assert [row["epoch"] for row in rows] == [3, 5, 8]
    assert [row["curriculum/stage"] for row in rows] == [1, 2, 2]
    assert ["league/rating" in row for row in rows] == [False, True, True]


def sleepy(**kwargs):
    """An environment whose step takes a known while at least."""
    env = make_env(**kwargs)
    step = env.step

    def slow(actions):
        time.sleep(SLEEP)
        return step(actions)

    env.step = slow
    return env


@pytest.mark.parametrize("backend", ["Serial", "Multiprocessing", "PufferEnv"])
def test_environments_time_their_own_steps(tmp_path, backend):
    """Not what they wait for: the main process sleeps, too."""
    words = [f"--vec.backend={backend}", "--train.threads=1"]
    config = load_config(runs.small_config(tmp_path), words)
    instances = 2 if backend == "Multiprocessing" else 1
    config = config.replaced("vec", "test", num_envs=instances, num_workers=instances, batch_size=1)
    with closing(VecEnv(sleepy, config)) as vecenv:
        assert vecenv.step_time == (0, 0)
        vecenv.async_reset(0)
        steps, start = 10, time.perf_counter()
        for _ in range(steps):
            agents = len(vecenv.recv()[0])
            vecenv.send(np.zeros((agents, 3), np.int32))
            time.sleep(5 * SLEEP)
        while vecenv.step_time.decisions < steps * agents:
            time.sleep(SLEEP)
        time.sleep(SLEEP)  # it writes the seconds after the decisions
        decisions, seconds = vecenv.step_time
        assert decisions == steps * agents
        assert steps * SLEEP <= seconds < (time.perf_counter() - start) * instances
        assert vecenv.step_time.sps == decisions / seconds


def test_every_row_has_the_environments_own_speed(tmp_path):
    assert runs.train(tmp_path, "--train.total-timesteps=2048") == 0
    for row in runs.rows(tmp_path / "run"):
        assert row["env_SPS"] > row["SPS"]  # which also waits for the learner
