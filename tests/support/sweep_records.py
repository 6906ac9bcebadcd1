"""Sweeps made by hand for the tests: trials that never ran."""

from collections.abc import Sequence
from pathlib import Path

import runs
import sweeps

from midrange_puffer.config.reading import load_config
from midrange_puffer.sweep.record import FAILED, FINISHED, RUNNING, STOPPED, Reading, Record, Trial

STEPS = 1000  # of every trial's training


def make_reading(steps: int, score: float, seconds: float = 10.0) -> Reading:
    """A reading; either pilot has led to nearly the same score."""
    return Reading(steps, seconds, score, {"straight": score + 0.01, "weave": score - 0.01})


def make_trial(
    number: int,
    status: str,
    *points: tuple[float, ...],
    params: dict[str, float] | None = None,
    seconds: float = 20.0,
    reason: str | None = None,
) -> Trial:
    """A trial with readings of these arguments; if not given, its params follow from its number.

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
    """A sweep `folder`/swept of two parameters and the trials given, and no more of them."""
    path = folder / "base.ini"
    path.write_text(base + sweeps.SMALL)
    words = [f"--sweep.trials={max(len(trials), 1)}", *options]
    record = Record.create(folder / "swept", load_config(path, words))
    for trial in trials:
        record.begin(trial)
    return record
