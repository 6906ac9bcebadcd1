"""Small sweeps for the tests: real ones, records made by hand, and waiting for processes."""

import contextlib
import functools
import time
from collections.abc import Sequence
from pathlib import Path

import fake_trial
import psutil
import pytest
import runs

from midrange_puffer.commands import cli
from midrange_puffer.config.reading import load_config
from midrange_puffer.sweep import runner
from midrange_puffer.sweep.record import FAILED, FINISHED, RUNNING, STOPPED, Reading, Record, Trial
from midrange_puffer.sweep.search import Search

SMALL = """
[sweep]
name = small
method = Random
trials = 2
panel = straight,weave
panel_episodes = 4
readings = 2
[sweep.train.learning_rate]
distribution = log_normal
min = 0.001
mean = 0.005
max = 0.02
[sweep.env.reward_geometry]
distribution = uniform
min = 0
mean = 0.1
max = 0.3
"""


def small_config(folder: Path) -> Path:
    """Writes the configuration of a small sweep into `folder`."""
    path = folder / "sweep.ini"
    path.write_text(runs.SMALL + SMALL)
    return path


def words(folder: Path, *options: str) -> list[str]:
    """Returns the arguments of `puffer sweep midrange` for a small sweep `folder`/sweeps/small."""
    return ["--config", str(small_config(folder)), "--train.data-dir", str(folder), *options]


def sweep(folder: Path, *options: str) -> int:
    """Runs a small sweep in this process; returns the exit status."""
    return cli.run("sweep", words(folder, *options))


def resume(folder: Path, *options: str) -> int:
    """Resumes the small sweep in this process; returns the exit status."""
    return cli.run("sweep", ["--resume", str(folder / "sweeps" / "small"), *options])


def fake_trials(monkeypatch: pytest.MonkeyPatch, acts: str) -> None:
    """Replaces the trials of sweeps in this process by acts of `fake_trial`, comma-separated."""
    words = (fake_trial.__file__, acts)
    monkeypatch.setattr(runner, "workers_of", functools.partial(runner.workers_of, command=words))


# Records of trials that never ran

STEPS = 1000  # of every trial's training


def make_reading(steps: int, score: float, seconds: float = 10.0) -> Reading:
    """Returns a reading with nearly the same score against both pilots."""
    return Reading(steps, seconds, score, {"straight": score + 0.01, "weave": score - 0.01})


def make_trial(
    number: int,
    status: str,
    *points: tuple[float, ...],
    params: dict[str, float] | None = None,
    seconds: float = 20.0,
    reason: str | None = None,
) -> Trial:
    """Returns a trial with readings of these arguments. Its default params follow from its number.

    Its process took `seconds`, if it is over.
    """
    readings = [make_reading(*point) for point in points]
    if params is None:
        params = {
            "train.learning_rate": round(0.002 + 0.001 * number, 3),
            "env.reward_geometry": round(0.05 * number, 2),
        }
    spent = None if status == RUNNING else seconds
    return Trial(number, params, number, STEPS, status, readings, spent, reason)


# The best is trial 2; a failed and a stopped one have scored more for a while.
TRIALS = (
    make_trial(0, FINISHED, (500, 0.25, 5), (1000, 0.5, 10)),
    make_trial(1, FAILED, (500, 0.875, 5), reason="killed by <SIGKILL> & gone"),
    make_trial(2, FINISHED, (500, 0.5, 7), (1000, 0.75, 15)),
    make_trial(3, STOPPED, (250, 0.8125, 5), reason="below the others"),
    make_trial(4, FAILED, reason="ended with status 1"),
    make_trial(5, RUNNING),
)


def record_of(
    folder: Path, *trials: Trial, base: str = runs.SMALL, options: Sequence[str] = ()
) -> Record:
    """Writes a sweep `folder`/swept of two parameters and the given trials; returns its record."""
    path = folder / "base.ini"
    path.write_text(base + SMALL)
    words = [f"--sweep.trials={max(len(trials), 1)}", *options]
    record = Record.create(folder / "swept", load_config(path, words))
    for trial in trials:
        record.begin(trial)
    return record


# A sweep with known suggestions, and waiting for its processes


class Gammas(Search):
    """A search that suggests one discount after another, and notes the trials that it sees."""

    def __init__(self) -> None:
        self.told = []

    def suggest(self, trials):
        self.told.append([(trial.number, trial.status) for trial in trials])
        return {"train.gamma": 0.9 + len(trials) / 100}


def new_record(folder: Path, *options: str) -> Record:
    words = ["--sweep.train.gamma.min=0.9", "--sweep.train.gamma.max=0.99"]
    return Record.create(folder / "sweep", load_config(None, [*words, *options]))


def wait_for(path: Path) -> int:
    """Waits for the process id in a file, and returns it."""
    while not (path.exists() and path.read_text()):
        time.sleep(0.01)
    return int(path.read_text())


def ends(pid: int) -> bool:
    """Returns True if a process ends; a killed one may take a moment."""
    until = time.monotonic() + 30
    with contextlib.suppress(psutil.NoSuchProcess):
        while psutil.Process(pid).status() != psutil.STATUS_ZOMBIE:
            if time.monotonic() > until:
                return False
            time.sleep(0.01)
    return True


ENDS = {
    "finish": (FINISHED, 2, None),
    "stop": (STOPPED, 1, "below the quantile"),
    "refuse": (FAILED, 0, "train.batch_size 3 must be a multiple of 4"),
    "crash": (FAILED, 1, "RuntimeError: out of luck"),
    "fault": (FAILED, 0, "ended by SIGSEGV; see trial.log in its folder"),
    "vanish": (FAILED, 0, "killed, most likely by the system for want of memory"),
    "end_half_way": (FAILED, 1, "ended without a reading at the end of its training"),
}
