"""The process of a trial: what it trains, what it reads, and every way it ends."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest
import runs
import sweeps
import torch

from midrange_puffer.commands import cli
from midrange_puffer.config.configuration import ConfigError
from midrange_puffer.config.reading import load_config
from midrange_puffer.sweep import trial as trial_module
from midrange_puffer.sweep.record import FAILED, FINISHED, Reading, Record, Trial, load_readings
from midrange_puffer.sweep.runner import judge, write_trial_ini
from midrange_puffer.sweep.trial import OUTSIDE_EXIT, STOPPED_EXIT
from midrange_puffer.sweep.workers import last_words
from midrange_puffer.train import run_folder
from midrange_puffer.train.trainer import DivergedError

pytestmark = pytest.mark.slow

PARAMS = {"train.learning_rate": 0.01, "env.reward_geometry": 0.3, "env.time_limit": 40}
DIVERGING = {
    "train.learning_rate": 1.0, "train.adam_beta2": 0.0, "train.adam_eps": 1e-20,
    "train.max_grad_norm": 1e6,
}  # fmt: skip


def begin(folder: Path, params=PARAMS, *options: str) -> Path:
    """A sweep with one trial that has begun, of whose folder this is the path."""
    config = load_config(sweeps.small_config(folder), ["--sweep.panel-episodes=64", *options])
    record = Record.create(folder / "sweep", config)
    return add_trial(record, Trial(0, params, 7, config["train"]["total_timesteps"]))


def add_trial(record: Record, trial: Trial) -> Path:
    record.begin(trial)
    write_trial_ini(record, trial)
    return record.trial_folder(trial)


def run_process(folder: Path, *command: str) -> tuple[int, list[str]]:
    """Run a trial in a process of its own; return its exit status and what it printed."""
    stdin, held = os.pipe()
    done = subprocess.run(
        [sys.executable, *(command or ("-m", "midrange_puffer.sweep.trial")), str(folder)],
        env={**os.environ, "OMP_NUM_THREADS": "1"},
        stdin=stdin,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    os.close(stdin)
    os.close(held)
    return done.returncode, done.stdout.splitlines()


@pytest.fixture(scope="module")
def finished(tmp_path_factory) -> Path:
    """The folder of a trial that a process has run to its end."""
    folder = begin(tmp_path_factory.mktemp("trial"))
    status, lines = run_process(folder)
    assert status == 0, lines
    return folder


@pytest.mark.parametrize(("options", "interval"), [((), 0), (("--train.replay-interval=3",), 3)])
def test_a_trial_keeps_no_replays_unless_it_is_to(tmp_path, options, interval):
    config = load_config(begin(tmp_path, PARAMS, *options) / "trial.ini")
    assert config["train"]["replay_interval"] == interval


def test_a_trial_trains_as_puffer_train_does_and_reads_on_the_way(finished, tmp_path):
    words = ["--config", str(finished / "trial.ini"), "--train.data-dir", str(tmp_path)]
    assert cli.run("train", words) == 0
    rows = runs.timeless(finished / "run")
    readings = [
        {key: row.pop(key) for key in list(row) if key.startswith("sweep/")} for row in rows
    ]
    assert rows == runs.timeless(tmp_path / "run")
    ours, theirs = (
        torch.load(run / "model_000008.pt")["weights"]
        for run in (finished / "run", tmp_path / "run")
    )
    assert all(torch.equal(ours[name], theirs[name]) for name in theirs)
    assert [place for place, reading in enumerate(readings) if reading] == [3, 7]
    for reading, logged in zip(load_readings(finished), (readings[3], readings[7]), strict=True):
        scores = {f"sweep/score_vs_{pilot}": score for pilot, score in reading.scores.items()}
        assert logged == {"sweep/score": reading.score, **scores}


def test_its_score_is_what_puffer_eval_says_in_the_sweeps_game(finished, tmp_path):
    """And not in its own, which lasts four times as long."""
    reading = load_readings(finished)[-1]
    pilots = ("straight", "weave")
    results = [evaluate(finished, tmp_path, pilot, "--env.time-limit=10") for pilot in pilots]
    assert reading.scores == dict(zip(pilots, results, strict=True))
    assert reading.score == sum(results) / 2
    assert evaluate(finished, tmp_path, "straight") != results[0]
    assert reading.agent_steps == 8192
    assert 0 < load_readings(finished)[0].seconds < reading.seconds


def evaluate(folder: Path, scratch: Path, pilot: str, *words: str) -> float:
    """The score that `puffer eval` finds for the last model of a trial."""
    report = scratch / "eval.json"
    words = [
        *words,
        "--load-model-path",
        str(folder / "run" / "model_000008.pt"),
        "--opponent",
        pilot,
    ]
    words += ["--episodes=64", f"--seed={2**31}", "--json", str(report)]
    assert cli.run("eval", words) == 0
    return json.loads(report.read_text())["opponents"][pilot]["score"]


def test_a_trial_that_reaches_the_score_ends_with_it_and_has_finished(tmp_path):
    options = ("--sweep.metric=time_to_score", "--sweep.metric-score=0.02")
    folder = begin(tmp_path, PARAMS, *options)
    assert trial_module.run(folder) == 0
    [reading] = load_readings(folder)
    assert reading.is_reached
    assert reading.score == 0.02
    assert reading.agent_steps < 8192
    assert [row["agent_steps"] for row in runs.rows(folder / "run")][-1] == reading.agent_steps


def test_a_hopeless_trial_ends_early_and_says_so(tmp_path, capsys):
    folder = begin(tmp_path, PARAMS, "--sweep.stop-after=2")
    record = Record(folder.parent.parent)
    for number in (1, 2):
        best = [Reading(steps, 1.0, 1.0, {"weave": 1.0}) for steps in (4096, 8192)]
        record.begin(Trial(number, {}, number, 8192, FINISHED, best, seconds=2.0))
    assert trial_module.run(folder) == STOPPED_EXIT
    last = capsys.readouterr().out.splitlines()[-1]
    assert "after 4096 steps is below 1.000, the 0.25 quantile of 2 trials" in last
    assert [reading.agent_steps for reading in load_readings(folder)] == [4096]
    assert runs.rows(folder / "run")[-1]["sweep/score"] == load_readings(folder)[0].score


@pytest.mark.parametrize(
    ("error", "status", "reason"),
    [
        ("UsageError('wrong word')", 2, "wrong word"),
        ("DivergedError('too fast')", 1, "too fast"),
        ("RuntimeError('out of\\nluck')", 1, "RuntimeError: out of luck"),
        ("WriteError('no room')", OUTSIDE_EXIT, "no room"),
        ("OSError(28, 'full')", OUTSIDE_EXIT, "OSError: [Errno 28] full"),
    ],
)
def test_an_error_is_said_before_what_others_say_at_the_exit(tmp_path, error, status, reason):
    script = f"""
import atexit, sys
atexit.register(print, "goodbye")
from midrange_puffer.errors import UsageError, UserError
from midrange_puffer.files import WriteError
from midrange_puffer.sweep import trial
class DivergedError(UserError): pass
def run(folder):
    print("on its way")
    raise {error}
trial.run = run
sys.exit(trial.main(sys.argv[1]))
"""
    found, lines = run_process(tmp_path, "-c", script)
    assert found == status
    assert (lines[0], lines[-2:]) == ("on its way", [f"puffer: error: {reason}", "goodbye"])
    assert ("Traceback (most recent call last):" in lines) == reason.startswith(
        ("RuntimeError", "OSError")
    )
    log = tmp_path / "trial.log"
    log.write_text("\n".join(lines))
    assert judge(status, last_words(log)) == (FAILED, reason)


def test_a_trial_that_cannot_run_or_diverges_leaves_no_reading(tmp_path):
    folder = begin(tmp_path, {"train.minibatch_size": 500}, "--train.optimizer=adam")
    with pytest.raises(ConfigError, match="minibatch_size"):
        trial_module.run(folder)
    folder = add_trial(Record(folder.parent.parent), Trial(1, DIVERGING, 7, 8192))
    with pytest.raises(DivergedError):
        trial_module.run(folder)
    assert load_readings(folder) == []


def test_a_trial_ends_with_its_parent_and_takes_its_workers_along(tmp_path):
    folder = begin(
        tmp_path, PARAMS, "--train.total-timesteps=1e9", "--vec.backend=Multiprocessing",
        "--vec.num-workers=1",
    )  # fmt: skip
    parent = f"""
import subprocess, sys
command = [sys.executable, "-m", "midrange_puffer.sweep.trial", {str(folder)!r}]
trial = subprocess.Popen(command, stdin=subprocess.PIPE, start_new_session=True)
trial.wait()
"""
    process = subprocess.Popen(
        [sys.executable, "-c", parent],
        env={**os.environ, "OMP_NUM_THREADS": "1"},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.STDOUT,
    )
    while not (folder / "run" / run_folder.METRICS).exists():
        assert process.poll() is None
        time.sleep(0.02)
    family = psutil.Process(process.pid).children(recursive=True)
    assert len(family) >= 2
    if sys.platform == "linux":
        scores = [Path(f"/proc/{member.pid}/oom_score_adj").read_text() for member in family]
        assert {*map(int, scores)} == {1000}
    process.kill()
    process.wait()
    assert psutil.wait_procs(family, timeout=30)[1] == []
