"""Runs with a pool: their counts and experience, lost files, and repetition."""

import shutil
import time
from contextlib import closing
from pathlib import Path

import frozen
import numpy as np
import pytest
import runs
from machines import machine
from runs import MIX, members

from midrange_puffer.config.configuration import ConfigError
from midrange_puffer.config.reading import load_config
from midrange_puffer.config.settle import settle
from midrange_puffer.envs.pool_crew import LOOK_INTERVAL, PoolCrew
from midrange_puffer.game.actions import PLANE, controls
from midrange_puffer.train.pool import Pool
from midrange_puffer.train.trainer import StageTrainer
from midrange_puffer.train.vector import VecEnv, make_env

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def finished(tmp_path_factory) -> Path:
    """The folder of a small run against itself, its past, and a pilot."""
    folder = tmp_path_factory.mktemp("finished")
    assert runs.train(folder, *MIX, "--train.checkpoint-interval", "2") == 0
    return folder / "run"


def test_a_run_counts_the_steps_of_agents_only(finished):
    """32 engagements with two, 16 + 16 with one, 16 decisions an update."""
    rows = runs.rows(finished)
    assert [row["agent_steps"] for row in rows] == [96 * 16 * n for n in range(1, 7)]
    joined = set().union(*rows)
    assert {"environment/score_vs_pool", "environment/score_vs_straight"} < joined
    assert {"environment/draw_vs_self", "pool/size", "pool/score", "pool/hardest"} < joined
    assert not any("model_0" in name for name in joined)
    assert [row["pool/size"] for row in rows] == [1, 1, 2, 2, 3, 3]
    entries = members(finished)
    assert list(entries) == [f"model_{n:06d}" for n in (0, 2, 4)]
    assert all((finished / entry["path"]).is_file() for entry in entries.values())
    assert sum(entry["games"] for entry in entries.values()) > 0


def test_a_run_with_a_pool_repeats_itself(finished, tmp_path):
    assert runs.train(tmp_path, *MIX, "--train.checkpoint-interval", "2") == 0
    assert runs.timeless(tmp_path / "run") == runs.timeless(finished)
    assert members(tmp_path / "run") == members(finished)


def test_a_resumed_run_goes_on_with_its_pool(finished, tmp_path):
    run = shutil.copytree(finished, tmp_path / "run")
    assert runs.resume(run, "--train.total-timesteps=10000") == 0
    before, after = (members(folder)["model_000000"]["games"] for folder in (finished, run))
    assert after >= before > 0


def test_decisions_of_frozen_seats_are_not_learnt_from(tmp_path, monkeypatch):
    """An update's batch has only the agents' observations, actions and rewards."""
    evaluate, seen = StageTrainer.evaluate, []

    def watched(self: StageTrainer) -> object:
        group = self.vecenv.driver_env._groups[-1]
        group.core = spy = frozen.Spy(group.core)
        stats = evaluate(self)
        seen.append((self, spy))
        assert self.global_step == len(seen) * 96 * 16
        assert self.observations.shape[:2] == (96, 16)
        for t in range(16):
            ours, theirs = spy.seen[t][:, 0], spy.seen[t][:, 1]
            assert np.array_equal(self.observations[80:, t], ours)
            assert np.array_equal(controls(self.actions[80:, t], PLANE), spy.done[t][:, 0])
            rows = {row.tobytes() for row in self.observations[:, t].numpy()}
            assert not rows & {row.tobytes() for row in theirs}
        group.core = spy._core
        return stats

    monkeypatch.setattr(StageTrainer, "evaluate", watched)
    assert runs.train(tmp_path, *MIX, "--train.total-timesteps", "4000") == 0
    assert len(seen) == 3


def test_a_run_goes_on_where_a_file_of_its_pool_vanishes(tmp_path, monkeypatch, capfd):
    learn = StageTrainer.train

    def lose_a_file(self: StageTrainer) -> object:
        if self.epoch == 2:
            (tmp_path / "run" / "model_000001.pt").unlink()
        return learn(self)

    monkeypatch.setattr(StageTrainer, "train", lose_a_file)
    assert runs.train(tmp_path, *MIX, "--train.checkpoint-interval", "1") == 0
    warnings = [line for line in capfd.readouterr().err.splitlines() if "warning" in line]
    assert len(warnings) == 1
    assert "model_000001.pt has vanished" in warnings[0]
    assert len(runs.rows(tmp_path / "run")) == 6
    assert list(members(tmp_path / "run")) == [f"model_{n:06d}" for n in (0, 2, 3, 4, 5)]


def test_a_run_cannot_lose_the_models_it_was_given(tmp_path, monkeypatch, capfd):
    """The run has no other opponents; it trains, and is resumed, without the file."""
    learn = StageTrainer.train
    path = frozen.save(tmp_path / "given.pt", frozen.constant(1))

    def lose_the_file(self: StageTrainer) -> object:
        path.unlink(missing_ok=True)
        return learn(self)

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(StageTrainer, "train", lose_the_file)
    options = ["--env.opponent=pool", "--pool.own=False", "--pool.include=given.pt"]
    assert runs.train(tmp_path, *options, "--train.total-timesteps=2048") == 0
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    assert runs.resume(tmp_path / "run", "--train.total-timesteps=6144") == 0
    assert "warning" not in capfd.readouterr().err
    assert list(members(tmp_path / "run")) == ["given.pt"]
    assert [row["pool/size"] for row in runs.rows(tmp_path / "run")] == [1] * 6


def test_a_run_repeats_itself_however_slow_its_processes_are(tmp_path, monkeypatch):
    """Once the learner writes the pool's file late, and once the worker reads it late."""
    refresh, read = Pool.refresh, PoolCrew._read
    words = ["--vec.backend=Multiprocessing", "--vec.num-workers=2", "--train.total-timesteps=9216"]

    def late_refresh(self: Pool) -> None:
        time.sleep(0.5 * (len(self) == 4))
        refresh(self)

    def late_read(self: PoolCrew) -> None:
        time.sleep(0.5 * bool(self._opponents))
        read(self)

    rows = []
    for owner, name, late in ((Pool, "refresh", late_refresh), (PoolCrew, "_read", late_read)):
        with monkeypatch.context() as patch:
            patch.setattr(owner, name, late)
            folder = tmp_path / name
            folder.mkdir()
            assert runs.train(folder, *MIX, *words, "--train.checkpoint-interval=1") == 0
        rows.append(runs.timeless(folder / "run"))
    assert len(rows[0]) == 6
    assert rows[0] == rows[1]


@pytest.mark.parametrize("horizon", [63, 64, 65, 66, 1, 2])
def test_no_look_at_the_pool_meets_a_write(tmp_path, horizon):
    """The learner writes while workers are at the last decision of an update, by their count."""
    words = ["--env.opponent=pool", "--vec.backend=Multiprocessing", "--vec.num-workers=2"]
    words += [f"--train.bptt-horizon={horizon}", f"--train.minibatch-size={64 * horizon}"]
    looks = {first + 1 for first in range(0, 10_000, LOOK_INTERVAL)}
    config = load_config(runs.small_config(tmp_path), words)
    if not looks.isdisjoint(range(horizon, 10_000, horizon)):
        with pytest.raises(ConfigError, match=rf"bptt_horizon = {horizon}: must be even"):
            settle(config, machine())
        config = config.replaced("vec", "test", backend="Serial")
    settle(config, machine())


def test_workers_have_the_pool_too(tmp_path):
    """Frozen policies fly in the process of their environment."""
    path = frozen.write_pool(tmp_path, {"a": 1}, a=frozen.constant(2))
    words = ["--env.opponent", "pool", "--env.num-envs", "8", "--env.ammunition", "0"]
    words += ["--env.time-limit", "5"]
    config = load_config(None, words)
    one = {"num_envs": 1, "num_workers": 1, "batch_size": 1}
    config = config.replaced("vec", "test", backend="Multiprocessing", **one)
    infos = []
    with closing(VecEnv(make_env, config, path)) as vecenv:
        vecenv.async_reset(3)
        for _ in range(40):
            *_, info, _, _ = vecenv.recv()
            infos += info
            vecenv.send(np.zeros((8, 3), np.int32))
    (info,) = infos
    assert info["pool/a"] == [0.5] * 8 * 22  # that began 10 decisions ago or earlier
