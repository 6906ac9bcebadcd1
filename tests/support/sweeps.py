"""Small sweeps for the tests: trials of seconds in processes of their own."""

import functools
from pathlib import Path

import fake_trial
import pytest
import runs

from midrange_puffer.commands import cli
from midrange_puffer.sweep import runner

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
    """Write the configuration of a small sweep into `folder`."""
    path = folder / "sweep.ini"
    path.write_text(runs.SMALL + SMALL)
    return path


def words(folder: Path, *options: str) -> list[str]:
    """What follows `puffer sweep midrange` for a small sweep `folder`/sweeps/small."""
    return ["--config", str(small_config(folder)), "--train.data-dir", str(folder), *options]


def sweep(folder: Path, *options: str) -> int:
    """Run a small sweep in this process; return the exit status."""
    return cli.run("sweep", words(folder, *options))


def resume(folder: Path, *options: str) -> int:
    """Go on with it in this process; return the exit status."""
    return cli.run("sweep", ["--resume", str(folder / "sweeps" / "small"), *options])


def fake_trials(monkeypatch: pytest.MonkeyPatch, acts: str) -> None:
    """Let the trials of sweeps in this process be acts of `fake_trial`, with commas between."""
    words = (fake_trial.__file__, acts)
    monkeypatch.setattr(runner, "workers_of", functools.partial(runner.workers_of, command=words))
