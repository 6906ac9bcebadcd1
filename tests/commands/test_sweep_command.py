"""`puffer sweep midrange`: what it refuses before there is a folder, and how it ends."""

import os
import sys

import pytest
import runs
import sweeps

from midrange_puffer.commands import cli
from midrange_puffer.commands import sweep as command
from midrange_puffer.config.configuration import ConfigError
from midrange_puffer.config.reading import load_config
from midrange_puffer.errors import UsageError
from midrange_puffer.files import WriteError, lock
from midrange_puffer.sweep.record import FAILED, FINISHED, Record
from midrange_puffer.sweep.runner import SweepError

# Each value is within what it may be, but its mean is above start_range_max, 6 km.
START_RANGE = [
    f"--sweep.env.start_range_min.{name}={value}"
    for name, value in {"distribution": "uniform", "min": 3000, "mean": 9000, "max": 9500}.items()
]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--sweep.train.gama.min=0.9"], "a sweep cannot vary train.gama; did you mean 'train.gam"),
        (["--sweep.train.gamma.max=1.5"], r"\[sweep.train.gamma\]"),
        (["--train.batch-size=1000"], "train.batch_size 1000 must be a multiple of 1024"),
        (["--vec.num-envs=3", "--env.time-limit=abc"], "env.time-limit"),
        (["--load-model-path=nope.pt"], "nope.pt: no such file"),
        (["--env.opponent=pool", "--pool.include=nope.pt"], "nope.pt: no such file"),
        (START_RANGE, r"the sweep at its means: \[env\] start_range_min"),
    ],
)
def test_a_sweep_that_cannot_run_is_refused_before_there_is_a_folder(tmp_path, options, message):
    with pytest.raises(UsageError, match=message):
        sweeps.sweep(tmp_path, *options)
    assert not (tmp_path / "sweeps").exists()


def test_a_sweep_of_nothing_is_refused(tmp_path):
    words = ["--config", str(runs.small_config(tmp_path)), "--train.data-dir", str(tmp_path)]
    with pytest.raises(ConfigError, match="the configuration varies nothing"):
        cli.run("sweep", words)
    assert not (tmp_path / "sweeps").exists()


def test_a_sweep_ends_with_its_best_trial(tmp_path, monkeypatch, capsys):
    sweeps.fake_trials(monkeypatch, "stop,finish,finish")
    assert sweeps.sweep(tmp_path, "--sweep.trials=3") == 0
    folder = tmp_path / "sweeps" / "small"
    params = Record(folder).trials[1].params
    *lines, best, train, report = capsys.readouterr().out.splitlines()
    assert "3 of 3 over, best 0.500 by trial 1 in 10s, 0s left" in lines[-1]
    # Once: the third is no better and no cheaper.
    assert [line for line in lines if "front" in line] == ["Pareto front, score@cost: 0.500@10s"]
    told = ", ".join(f"{name} {value:g}" for name, value in params.items())
    assert best == f"best score 0.500 by trial 1 in 10s: {told}"
    assert train == f"train with: puffer train midrange --config {folder / 'best.ini'}"
    assert report == f"report {folder / 'report.html'}"
    assert (folder / "report.html").exists()
    config = load_config(folder / "best.ini")
    assert config["train"]["learning_rate"] == params["train.learning_rate"]


def test_a_sweep_whose_trials_all_fail_says_why_and_ends_with_1(tmp_path, monkeypatch):
    sweeps.fake_trials(monkeypatch, "crash,refuse,crash")
    with pytest.raises(SweepError) as error:
        sweeps.sweep(tmp_path, "--sweep.trials=3")
    assert error.value.exit_code == 1
    folder = tmp_path / "sweeps" / "small"
    assert str(error.value) == (
        f"{folder}: none of 3 trials finished: 2 x RuntimeError: out of luck; "
        "1 x train.batch_size 3 must be a multiple of 4"
    )
    assert [trial.status for trial in Record(folder).trials] == [FAILED] * 3
    assert (folder / "report.html").exists()


def test_a_sweep_has_a_name_of_its_own_unless_it_is_given_one(tmp_path, monkeypatch):
    sweeps.fake_trials(monkeypatch, "finish")
    folder = tmp_path / "sweeps" / "small"
    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", lambda *_: sys.exit("killed as it begins"))
        with pytest.raises(SystemExit):
            sweeps.sweep(tmp_path)
    assert [path.suffix for path in folder.iterdir()] == [".tmp"]
    assert sweeps.sweep(tmp_path, "--sweep.trials=1") == 0
    with pytest.raises(WriteError, match="small: File exists"):
        sweeps.sweep(tmp_path)
    assert sweeps.sweep(tmp_path, "--sweep.name=None", "--sweep.trials=1") == 0
    assert len(list(tmp_path.glob("sweeps/2*-*-*/sweep.ini"))) == 1


def test_a_report_changes_nothing(tmp_path, monkeypatch):
    sweeps.fake_trials(monkeypatch, "finish")
    sweeps.sweep(tmp_path, "--sweep.trials=1")
    folder = tmp_path / "sweeps" / "small"
    before = Record(folder).trials
    (folder / "report.html").unlink()
    words = ["--report", "latest", "--train.data-dir", str(tmp_path)]
    with pytest.raises(ConfigError, match=r"sweep.trials: --report shows a sweep as it was"):
        cli.run("sweep", [*words, "--sweep.trials=9"])
    with lock(folder, command.RUNS):  # as if it were running
        assert cli.run("sweep", words) == 0
    assert (folder / "report.html").exists()
    assert Record(folder).trials == before
    assert before[0].status == FINISHED
    with pytest.raises(ConfigError, match=r"--report reads the sweep's own .*leave --config out"):
        cli.run("sweep", [*words, "--config=x.ini"])
    with pytest.raises(UsageError, match=r"smal: no such sweep, .*the newest sweeps are small"):
        cli.run("sweep", ["--report", "smal", "--train.data-dir", str(tmp_path)])
