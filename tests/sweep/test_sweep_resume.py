"""Stopping, killing and resuming sweeps: no trial is lost, and none is counted twice."""

import os
import signal
import subprocess
import sys
import time

import psutil
import pytest
import runs
import sweeps

from midrange_puffer.commands import cli
from midrange_puffer.commands import sweep as command
from midrange_puffer.config.configuration import ConfigError
from midrange_puffer.config.reading import load_config
from midrange_puffer.errors import UsageError
from midrange_puffer.files import WriteError, lock
from midrange_puffer.sweep.progress import Progress
from midrange_puffer.sweep.record import FAILED, FINISHED, RUNNING, Record, Trial
from midrange_puffer.sweep.runner import SweepError

pytestmark = pytest.mark.slow


@pytest.fixture(autouse=True)
def no_report(monkeypatch):
    """Drawing one takes longer than all else."""
    monkeypatch.setattr(command, "write_report", lambda record: record.folder / "report.html")


def test_a_sweep_killed_in_a_trial_goes_on(tmp_path, monkeypatch):
    """The trial, a real one, is run again; the one before it stays as it was."""
    with monkeypatch.context() as patch:
        sweeps.fake_trials(patch, "finish")
        assert sweeps.sweep(tmp_path, "--train.total-timesteps=65536", "--sweep.trials=1") == 0
    folder = tmp_path / "sweeps" / "small"
    process = subprocess.Popen(
        [sys.executable, "-m", "midrange_puffer", "sweep", "midrange", "--resume", str(folder),
         "--sweep.trials=2"],
        env={**os.environ, "OMP_NUM_THREADS": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )  # fmt: skip
    while not (folder / "trials" / "0001" / "run" / "metrics.jsonl").exists():
        assert process.poll() is None, process.stdout.read()
        time.sleep(0.02)
    trials = psutil.Process(process.pid).children(recursive=True)
    process.kill()
    process.communicate()
    assert len(trials) == 1
    assert psutil.wait_procs(trials, timeout=30)[1] == []
    first, killed = Record(folder).trials
    assert (first.status, killed.status) == (FINISHED, RUNNING)
    begun = killed.params, killed.seed
    assert sweeps.resume(tmp_path) == 0
    again = Record(folder).trials
    assert again[0] == first
    assert [trial.status for trial in again] == [FINISHED, FINISHED]
    assert (again[1].params, again[1].seed) == begun
    assert [reading.agent_steps for reading in again[1].readings] == [32768, 65536]


def test_a_sweep_that_was_stopped_ends_as_one_that_was_not(tmp_path, monkeypatch):
    """By what is not of the clock. That any method goes on as before is a test of the search."""
    sweeps.fake_trials(monkeypatch, "finish,crash,finish,stop,finish,finish")
    for name in ("stopped", "whole"):
        (tmp_path / name).mkdir()
    assert sweeps.sweep(tmp_path / "whole", "--sweep.trials=6") == 0
    with monkeypatch.context() as patch:
        interrupt_at(patch, 3, signal.SIGINT)
        assert sweeps.sweep(tmp_path / "stopped", "--sweep.trials=4") == 130
    assert len(Record(tmp_path / "stopped/sweeps/small").over) == 3
    left = tmp_path / "stopped/sweeps/small/trials/0000/trial.json.0123abcd.tmp"
    left.write_text("{")
    assert sweeps.resume(tmp_path / "stopped", "--sweep.trials=6") == 0
    assert not left.exists()
    whole, stopped = (
        Record(tmp_path / name / "sweeps/small").trials for name in ("whole", "stopped")
    )
    for one, other in zip(whole, stopped, strict=True):
        one.seconds = other.seconds = None
        assert one == other
    assert len({str(trial.params) for trial in whole}) == 6


def interrupt_at(patch, number: int, signal_number: int) -> None:
    """Let a signal come when the trial `number` begins."""
    show = Progress.show

    def tell_and_interrupt(self, trial):
        show(self, trial)
        if trial.number == number:
            signal.raise_signal(signal_number)

    patch.setattr(Progress, "show", tell_and_interrupt)


@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_says_how_to_go_on(tmp_path, monkeypatch, capsys, number, status):
    sweeps.fake_trials(monkeypatch, "finish,hang")
    interrupt_at(monkeypatch, 1, number)
    before = [signal.getsignal(one) for one in (signal.SIGINT, signal.SIGTERM)]
    children = psutil.Process().children()
    assert sweeps.sweep(tmp_path) == status
    folder = tmp_path / "sweeps" / "small"
    assert capsys.readouterr().out.splitlines()[-1] == (
        f"stopped by {number.name}; go on with: puffer sweep midrange --resume {folder}"
    )
    assert [signal.getsignal(one) for one in (signal.SIGINT, signal.SIGTERM)] == before
    assert [trial.status for trial in Record(folder).trials] == [FINISHED, RUNNING]
    assert set(psutil.Process().children()) <= set(children)


def test_a_resumed_sweep_may_be_longer_but_not_another_search(tmp_path, monkeypatch, capsys):
    sweeps.fake_trials(monkeypatch, "finish,finish,finish")
    sweeps.sweep(tmp_path)
    folder = tmp_path / "sweeps" / "small"
    for option, message in {
        "--sweep.panel=all": "sweep.panel: is straight,weave in .* and cannot become all; .*trials",
        "--train.gamma=0.9": "train.gamma: is .* and cannot become 0.9",
        "--sweep.train.learning_rate.max=0.1": "learning_rate.max: is 0.02 .* become 0.1",
        "--config=x.ini": "--resume goes on with the sweep's own sweep.ini: leave --config out",
        "--report=small": "--resume and --report: give one of them",
    }.items():
        with pytest.raises(ConfigError, match=message):
            sweeps.resume(tmp_path, option)
    assert len(Record(folder).trials) == 2
    capsys.readouterr()
    assert sweeps.resume(tmp_path, "--sweep.trials=3") == 0
    assert "sweep.trials: 2 -> 3" in capsys.readouterr().out
    assert len(Record(folder).over) == 3
    assert Record(folder).config["sweep"]["trials"] == 3
    # By its name, and with nothing left to do.
    words = ["--resume", "small", "--train.data-dir", str(tmp_path)]
    assert cli.run("sweep", words) == 0
    assert "3 of 3 trials are over" in capsys.readouterr().out


def test_a_sweep_that_runs_is_not_run_twice(tmp_path, monkeypatch):
    sweeps.fake_trials(monkeypatch, "finish,finish")
    sweeps.sweep(tmp_path)
    folder = tmp_path / "sweeps" / "small"
    with (
        lock(folder, command.RUNS),
        pytest.raises(
            UsageError, match=f"another process runs this sweep: process {os.getpid()} on "
        ),
    ):
        sweeps.resume(tmp_path)
    (folder / "lock").unlink()
    (folder / "lock").mkdir()
    with pytest.raises(WriteError, match=r"cannot lock .*small/lock: Is a directory"):
        sweeps.resume(tmp_path)


def test_failures_of_one_trial_after_another_end_the_sweep_and_are_run_again(
    tmp_path, monkeypatch, capsys
):
    acts = ["refuse", "refuse", "vanish", *["refuse"] * 4, "crash", *["refuse"] * 5, "finish"]
    sweeps.fake_trials(monkeypatch, ",".join(acts))
    reason = "train.batch_size 3 must be a multiple of 4"
    with pytest.raises(SweepError, match=rf"small: 5 trials in a row failed alike\..*: {reason}"):
        sweeps.sweep(tmp_path, "--sweep.trials=14")
    folder = tmp_path / "sweeps" / "small"
    assert capsys.readouterr().err.splitlines() == [
        f"the trials that are over are kept: go on with: puffer sweep midrange --resume {folder}"
    ]
    before = Record(folder).trials
    assert [trial.status for trial in before] == [FAILED] * 8 + [RUNNING] * 5
    assert {(trial.seconds, trial.reason) for trial in before[8:]} == {(None, None)}
    sweeps.fake_trials(monkeypatch, ",".join(["finish"] * 14))
    assert sweeps.resume(tmp_path) == 0
    after = Record(folder).trials
    assert after[:8] == before[:8]
    assert [trial.status for trial in after[8:]] == [FINISHED] * 6
    assert [trial.params for trial in after[:13]] == [trial.params for trial in before]


def test_trials_that_are_run_again_and_fail_alike_once_more_do_not_end_the_sweep(
    tmp_path, monkeypatch
):
    sweeps.fake_trials(monkeypatch, ",".join(["refuse"] * 5))
    with pytest.raises(SweepError):
        sweeps.sweep(tmp_path, "--sweep.trials=6")
    sweeps.fake_trials(monkeypatch, ",".join([*["refuse"] * 5, "finish"]))
    assert sweeps.resume(tmp_path) == 0
    trials = Record(tmp_path / "sweeps" / "small").trials
    assert [trial.status for trial in trials] == [FAILED] * 5 + [FINISHED]


def test_a_trial_that_a_full_disk_ends_has_not_failed_and_is_run_again(
    tmp_path, monkeypatch, capsys
):
    sweeps.fake_trials(monkeypatch, "finish,fill,finish")
    reason = "cannot write run/model_000002.pt: No space left on device"
    with pytest.raises(SweepError, match=rf"trial 1 could not go on, .* runs .* again: {reason}$"):
        sweeps.sweep(tmp_path, "--sweep.trials=3")
    folder = tmp_path / "sweeps" / "small"
    assert f"go on with: puffer sweep midrange --resume {folder}" in capsys.readouterr().err
    before = Record(folder).trials
    assert [trial.status for trial in before] == [FINISHED, RUNNING]
    sweeps.fake_trials(monkeypatch, "finish,finish,finish")
    assert sweeps.resume(tmp_path) == 0
    after = Record(folder).trials
    assert [trial.status for trial in after] == [FINISHED] * 3
    assert [trial.params for trial in after[:2]] == [trial.params for trial in before]


def test_killed_trials_do_not_end_the_sweep_however_many(tmp_path, monkeypatch):
    sweeps.fake_trials(monkeypatch, ",".join([*["vanish"] * 6, "finish"]))
    assert sweeps.sweep(tmp_path, "--sweep.trials=7") == 0
    trials = Record(tmp_path / "sweeps" / "small").trials
    assert [trial.status for trial in trials] == [FAILED] * 6 + [FINISHED]


def test_a_sweep_whose_trials_cannot_start_ends_in_an_error_that_says_how_to_go_on(
    tmp_path, monkeypatch, capsys
):
    monkeypatch.setattr(sys, "executable", "/no/such/python")
    with pytest.raises(SweepError, match=r"small: .*No such file or directory: '/no/such/python'"):
        sweeps.sweep(tmp_path)
    assert "--resume" in capsys.readouterr().err
    assert [trial.status for trial in Record(tmp_path / "sweeps/small").trials] == [RUNNING]


def test_a_sweep_goes_on_from_any_folder_with_the_models_it_names(tmp_path, monkeypatch):
    """They are named from the folder where it began."""
    sweeps.fake_trials(monkeypatch, "finish,finish")
    assert runs.train(tmp_path, "--train.total-timesteps=1024") == 0
    monkeypatch.chdir(tmp_path / "run")
    (model,) = (tmp_path / "run").glob("model_*1.pt")
    options = [f"--load-model-path={model.name}", f"--pool.include={model.name}"]
    options += ["--env.opponent=pool", "--pool.own=False", "--sweep.trials=1"]
    assert sweeps.sweep(tmp_path, *options) == 0
    folder = tmp_path / "sweeps" / "small"
    monkeypatch.chdir(folder)
    assert cli.run("sweep", ["--resume", ".", "--sweep.trials=2"]) == 0
    config = load_config(folder / "trials/0001/trial.ini")
    assert config["base"]["load_model_path"] == config["pool"]["include"] == str(model)
    assert config["train"]["data_dir"] == str(folder / "trials/0001")
    assert (config["base"]["wandb_group"], config["base"]["tag"]) == ("small", "small")
    model.unlink()
    with pytest.raises(UsageError, match=f"{model}: no such file"):
        cli.run("sweep", ["--resume", ".", "--sweep.trials=3"])


def test_trials_are_in_the_order_of_their_numbers(tmp_path):
    """Whatever their folders' names, which are longer from trial 10000 on."""
    record = Record.create(tmp_path / "sweep", load_config())
    for number in range(11):
        record.begin(Trial(number, {}, number, 1000))
    for folder in record.folder.glob("trials/*"):
        folder.rename(folder.with_name(str(int(folder.name))))
    assert Record(record.folder).trials == record.trials
