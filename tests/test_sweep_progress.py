"""What is shown of a sweep while it runs."""

import contextlib
import io

import pytest
import sweeps
from rich.console import Console

from midrange_puffer.config import load_config
from midrange_puffer.sweep.progress import Progress
from midrange_puffer.sweep.record import FAILED, FINISHED, RUNNING, STOPPED, Reading, Record, Trial

# Status, score, seconds of training and reason of each trial; the last one runs, half trained.
TRIALS = (
    (FINISHED, 0.5, 60.0, None),
    (FINISHED, 0.4, 70.0, None),  # dearer and worse: not on the front
    (STOPPED, 0.2, 20.0, "score 0.200 is below 0.300"),
    (FAILED, None, None, "took longer than sweep.max_cost = 9 s"),
    (FINISHED, 0.75, 200.0, None),
    (RUNNING, 0.6, 50.0, None),
)


def make_trial(number: int, status: str, score: float | None, cost: float, reason: str) -> Trial:
    steps = 1000 if status == FINISHED else 500
    readings = [] if score is None else [Reading(steps, cost, score, {"weave": score})]
    params = {"train.learning_rate": 0.001 * (number + 1), "env.reward_geometry": 0.1}
    seconds = None if status == RUNNING else 100.0
    return Trial(number, params, 0, 1000, status, readings, seconds, reason)


@pytest.fixture
def record(tmp_path) -> Record:
    config = load_config(sweeps.small_config(tmp_path), ["--sweep.trials=10"])
    return Record.create(tmp_path / "small", config)


def show(record: Record, terminal: bool, width: int = 100) -> tuple[Progress, str]:
    """The progress of a sweep of TRIALS, and what it prints while they come and go."""
    out = io.StringIO()
    console = Console(file=out, force_terminal=terminal, width=width, color_system=None)
    progress = Progress(record, console)
    for number, values in enumerate(TRIALS):
        trial = make_trial(number, RUNNING, None, 0.0, "")
        record.trials.append(trial)
        progress.tell(trial)
        record.trials[-1] = make_trial(number, *values)
        if values[0] != RUNNING:
            progress.tell(record.trials[-1])
    return progress, out.getvalue()


def test_a_log_has_a_line_when_a_trial_begins_and_one_when_it_is_over(record):
    progress, out = show(record, terminal=False)
    lines = out.splitlines()
    assert lines[0] == "trial 0: begins with train.learning_rate 0.001, env.reward_geometry 0.1"
    # 9 or fewer trials of 100 s are left, by one worker.
    assert lines[1:12:2] == [
        "trial 0: finished after 1m40s, score 0.500; 1 of 10 over, best 0.500 by trial 0, "
        "15m00s left",
        "trial 1: finished after 1m40s, score 0.400; 2 of 10 over, best 0.500 by trial 0, "
        "13m20s left",
        "trial 2: stopped after 1m40s, score 0.200: score 0.200 is below 0.300; 3 of 10 over, "
        "best 0.500 by trial 0, 11m40s left",
        "trial 3: failed after 1m40s: took longer than sweep.max_cost = 9 s; 4 of 10 over, "
        "best 0.500 by trial 0, 10m00s left",
        "trial 4: finished after 1m40s, score 0.750; 5 of 10 over, best 0.750 by trial 4, "
        "8m20s left",
    ]
    assert len(lines) == 11
    assert "\033" not in out
    # The one that runs has 100 s to go, and four are not begun.
    assert progress.seconds_left() == pytest.approx(500, abs=1)


def test_workers_share_what_is_left(record):
    record.config["sweep"]["workers"] = 2
    progress, _ = show(record, terminal=False)
    assert progress.seconds_left() == pytest.approx(250, abs=1)


def test_a_terminal_has_what_runs_the_best_and_the_front(record):
    progress, out = show(record, terminal=True, width=80)
    assert "begins" not in out
    console = Console(file=io.StringIO(), width=80)
    console.print(progress)
    picture = console.file.getvalue()
    lines = [line.split() for line in picture.splitlines()]
    for text in (
        "Random: 5 of 10 trials over 3 finished 1 stopped 1 failed",
        "best score 0.750 by trial 4, trained for 3m20s",
        "trial 5 0s 50% 0.600",
        "Pareto front, 2 of 2 trial 0 trial 4",
        "score 0.500 0.750",
        "cost 1m00s 3m20s",
        "train.learning_rate 0.001 0.005",
    ):
        assert text in [" ".join(line)[: len(text)] for line in lines]


def test_a_terminal_is_drawn_upon_and_keeps_what_became_of_each_trial(record):
    out = io.StringIO()
    record.trials.append(make_trial(0, *TRIALS[3]))
    with Progress(record, Console(file=out, force_terminal=True, width=100)) as progress:
        progress.tell(record.trials[0])
    assert "1 of 10 trials over" in out.getvalue()
    assert "trial 0: failed" in out.getvalue()


def test_a_method_that_is_kept_from_printing_does_not_silence_it(record, capsys):
    record.trials.append(make_trial(0, *TRIALS[3]))
    with Progress(record) as progress, contextlib.redirect_stdout(io.StringIO()):
        progress.tell(record.trials[0])
    assert capsys.readouterr().out.startswith("trial 0: failed")
