"""Stopping, killing and resuming runs; full disks."""

import errno
import os
import random
import shutil
import signal
import time

import learners
import pytest
import runs
import torch
from needs import nightly

from midrange_puffer.commands import cli
from midrange_puffer.config.configuration import ConfigError
from midrange_puffer.config.reading import load_config
from midrange_puffer.files import LockedError, WriteError
from midrange_puffer.policies.loading import load_policy
from midrange_puffer.policies.model_file import CheckpointError
from midrange_puffer.train import run_folder
from midrange_puffer.train.run import resumed_run
from midrange_puffer.train.trainer import StageTrainer

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def stopped(tmp_path_factory):
    """A run that was stopped by SIGINT after three of its eight updates."""
    folder = tmp_path_factory.mktemp("stopped")
    updates = []
    train = StageTrainer.train

    def train_and_interrupt(self):
        updates.append(self.epoch)
        if len(updates) == 3:
            signal.raise_signal(signal.SIGINT)
        return train(self)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(StageTrainer, "train", train_and_interrupt)
        assert runs.train(folder) == 130
    return folder / "run"


@pytest.fixture
def run(stopped, tmp_path):
    """A copy of that run."""
    return shutil.copytree(stopped, tmp_path / "run")


def test_remains_of_killed_saves_are_removed(run):
    left = [run / "trainer_state.pt.0123abcd.tmp", run / "replays/x.replay.00000000.tmp"]
    others = [run / "notes.tmp", run / "trainer_state.pt.backup.tmp"]
    for path in (*left, *others):
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(b"half")
    with resumed_run(str(run), []):
        pass
    assert [path.exists() for path in (*left, *others)] == [False, False, True, True]


def checkpoint_fits(run) -> dict[str, object]:
    """Returns the state of `run` after checking that it fits its model."""
    state = run_folder.load_state(run)
    _, meta = load_policy(run / state["model"])
    assert meta["agent_steps"] == state["global_step"]
    return state


@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 130), nightly(signal.SIGTERM, 143)])
def test_a_signal_saves_and_says_how_to_go_on(tmp_path, number, status):
    process = runs.start(tmp_path)
    process.send_signal(number)
    out, _ = process.communicate(timeout=60)
    assert process.returncode == status
    state = checkpoint_fits(tmp_path / "run")
    last_line = out.splitlines()[-1]
    assert number.name in last_line
    assert str(tmp_path / "run" / state["model"]) in last_line
    assert f"--resume {tmp_path / 'run'}" in last_line
    assert "Traceback" not in out
    assert state["global_step"] == runs.rows(tmp_path / "run")[-1]["agent_steps"]


def test_a_second_signal_ends_at_once(tmp_path):
    process = runs.start(tmp_path)
    before = run_folder.load_state(tmp_path / "run")["model"]
    process.send_signal(signal.SIGSTOP)  # so that it sees both at the same time
    process.send_signal(signal.SIGINT)
    process.send_signal(signal.SIGTERM)
    process.send_signal(signal.SIGCONT)
    process.communicate(timeout=60)
    assert process.returncode in (130, 143)
    assert checkpoint_fits(tmp_path / "run")["model"] == before


@pytest.mark.parametrize("attempt", [0, nightly(1), nightly(2)])
def test_a_killed_run_goes_on_and_one_that_lives_is_left_alone(tmp_path, attempt):
    process = runs.start(tmp_path, "--train.checkpoint-interval=1")
    time.sleep(random.Random(attempt).uniform(0, 0.5))
    run = tmp_path / "run"
    for name in (str(run), "latest"):
        with pytest.raises(LockedError, match=rf"run: another .*run: process {process.pid} on "):
            cli.run("train", ["--resume", name, "--train.data-dir", str(tmp_path)])
    process.kill()
    process.communicate()
    saved = checkpoint_fits(run)["global_step"]
    assert runs.resume(run, "--train.total-timesteps", str(saved + 2048)) == 0
    steps = [row["agent_steps"] for row in runs.rows(run)]
    assert steps == list(range(1024, saved + 2049, 1024))
    assert checkpoint_fits(run)["global_step"] == saved + 2048


def test_resuming_continues_weights_optimizer_schedule_and_counters(run, monkeypatch):
    seen = {}
    evaluate = StageTrainer.evaluate

    def look(self):
        if not seen:
            seen.update(
                weights={k: v.clone() for k, v in self.policy.state_dict().items()},
                momentum=learners.tensors(self.optimizer.state_dict()["state"]),
                rate=self.optimizer.param_groups[0]["lr"],
                epoch=self.epoch,
                step=self.global_step,
                rng=torch.get_rng_state(),
                uptime=self.uptime,
            )
        return evaluate(self)

    before = run_folder.load_state(run)
    policy, _ = load_policy(run / before["model"])
    logged = runs.rows(run)
    monkeypatch.setattr(StageTrainer, "evaluate", look)
    assert runs.resume(run) == 0
    assert (seen["epoch"], seen["step"]) == (3, 3072)
    assert seen["rate"] == logged[-1]["learning_rate"]
    assert seen["uptime"] >= logged[-1]["uptime"]
    assert torch.equal(seen["rng"], before["torch_rng"])
    for name, value in policy.state_dict().items():
        assert torch.equal(value, seen["weights"][name])
    momentum = learners.tensors(before["optimizer"]["state"])
    assert len(momentum) > 0
    assert all(torch.equal(a, b) for a, b in zip(momentum, seen["momentum"], strict=True))
    rows = runs.rows(run)
    assert [row["agent_steps"] for row in rows] == [1024 * n for n in range(1, 9)]
    assert rows[:3] == logged
    assert rows[-1]["learning_rate"] == pytest.approx(0, abs=1e-12)


def test_resuming_repeats_itself_and_brings_new_engagements(stopped, tmp_path):
    copies = [shutil.copytree(stopped, tmp_path / name / "run") for name in "ab"]
    for copy in copies:
        assert runs.resume(copy) == 0
    first, second = map(runs.timeless, copies)
    assert first == second
    scores = [row["environment/episode_return"] for row in first if "environment/score" in row]
    assert len(set(scores)) == len(scores)


def test_a_longer_run_enters_the_longer_schedule(run, capfd):
    assert runs.resume(run, "--train.total-timesteps", "16384") == 0
    assert "train.total_timesteps: 8192 -> 16384" in capfd.readouterr().out
    rates = [row["learning_rate"] for row in runs.rows(run)[3:]]
    half_cosine = torch.cos(torch.pi * torch.arange(4, 17, dtype=torch.float64) / 16)
    top = load_config()["train"]["learning_rate"]
    torch.testing.assert_close(
        torch.tensor(rates, dtype=torch.float64), top * (1 + half_cosine) / 2, atol=1e-9, rtol=1e-6
    )
    assert load_config(run / "config.ini")["train"]["total_timesteps"] == 16384


def test_runs_are_found_by_path_name_and_latest(run, tmp_path):
    assert run_folder.find_run(str(run), "elsewhere") == run
    assert run_folder.find_run("run", tmp_path) == run
    assert run_folder.find_run("latest", tmp_path) == run
    with pytest.raises(CheckpointError, match=r"rum: no such run folder.*newest runs are run"):
        run_folder.find_run("rum", tmp_path)
    with pytest.raises(CheckpointError, match="train first"):
        run_folder.find_run("latest", tmp_path / "empty")
    (tmp_path / "begun").mkdir()
    with pytest.raises(CheckpointError, match=r"begun: the run has no trainer_state.pt"):
        run_folder.find_run("begun", tmp_path)


def test_a_run_that_cannot_be_resumed_is_refused(run):
    with pytest.raises(ConfigError, match=r"policy.hidden_size: is 16 in .* cannot become 32"):
        runs.resume(run, "--policy.hidden-size", "32")
    with pytest.raises(ConfigError, match=r"env.observation: is default in .* cannot become stg"):
        runs.resume(run, "--env.observation", "stg")
    with pytest.raises(ConfigError, match="has made its 3072 steps"):
        runs.resume(run, "--train.total-timesteps", "3072")
    with pytest.raises(ConfigError, match="leave --config out"):
        runs.resume(run, "--config", str(run / "config.ini"))


def test_half_a_row_and_later_rows_are_dropped(run):
    logged = (run / "metrics.jsonl").read_text()
    (run / "metrics.jsonl").write_text(f'{logged}{{"agent_steps": 4096}}\n{{"agent_st')
    assert runs.resume(run, "--train.total-timesteps", "5120") == 0
    rows = runs.rows(run)
    assert [row["agent_steps"] for row in rows] == [1024 * n for n in range(1, 6)]
    assert "SPS" in rows[3]


@pytest.mark.parametrize("function", ["fsync", "replace"])
def test_a_full_disk_leaves_the_last_checkpoint(run, monkeypatch, capfd, function):
    before = {path.name: path.read_bytes() for path in run.glob("model_*.pt")}
    healthy = getattr(os, function)
    calls = []

    def fail_at_the_second_checkpoint(*arguments):
        calls.append(arguments)
        if any("model_000006" in str(path) for path in run.glob("*.tmp")):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return healthy(*arguments)

    monkeypatch.setattr(os, function, fail_at_the_second_checkpoint)
    with pytest.raises(
        WriteError, match=r"cannot write .*model_000006.pt: No space left on device"
    ):
        runs.resume(run, "--train.checkpoint-interval", "2")
    monkeypatch.undo()
    assert len(calls) > 3
    assert f"--resume {run}" in capfd.readouterr().err
    state = checkpoint_fits(run)
    assert not list(run.glob("*.tmp"))
    assert state["epoch"] == 4
    assert {name: (run / name).read_bytes() for name in before} == before


def test_a_full_disk_at_the_start_is_named(tmp_path, monkeypatch):
    def fail(*_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(WriteError, match=r"cannot write .*config.ini: No space left on device"):
        runs.train(tmp_path)


def test_a_state_without_its_model_and_a_state_as_a_model_are_refused(run):
    with pytest.raises(CheckpointError, match=r"trainer_state\.pt: not a midrange_puffer policy"):
        load_policy(run / "trainer_state.pt")
    (run / run_folder.load_state(run)["model"]).unlink()
    with pytest.raises(CheckpointError, match="with its model beside it"):
        runs.resume(run)
