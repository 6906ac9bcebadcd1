"""Sweeps made by hand for the tests: trials that never ran."""

import runs
import sweeps

from midrange_puffer.config import load_config
from midrange_puffer.sweep.record import FAILED, FINISHED, RUNNING, STOPPED, Reading, Record, Trial


def trial(number, status, *points, reason=None):
    """A trial with readings at (seconds, score), each of 1000 steps more, of 4000."""
    readings = [
        Reading(1000 * (row + 1), seconds, score, {"straight": score + 0.01, "weave": score - 0.01})
        for row, (seconds, score) in enumerate(points)
    ]
    params = {"train.learning_rate": 0.002 + 0.001 * number, "env.reward_geometry": 0.05 * number}
    seconds = None if status == RUNNING else 20.0
    return Trial(number, params, number, 4000, status, readings, seconds, reason)


# The best is trial 2; a failed and a stopped one have scored more for a while.
TRIALS = (
    trial(0, FINISHED, (10, 0.25), (20, 0.5)),
    trial(1, FAILED, (10, 0.875), reason="killed by <SIGKILL> & gone"),
    trial(2, FINISHED, (15, 0.5), (30, 0.75)),
    trial(3, STOPPED, (5, 0.8125), reason="below the others"),
    trial(4, FAILED, reason="ended with status 1"),
    trial(5, RUNNING),
)


def record_of(folder, *trials, base=runs.SMALL):
    """A sweep in `folder` of two parameters and the trials given."""
    path = folder / "base.ini"
    path.write_text(base + sweeps.SMALL)
    record = Record.create(folder / "swept", load_config(path))
    for one in trials:
        record.begin(one)
    return record
