"""The display of a sweep while it runs."""

import contextlib
import io
from types import SimpleNamespace

import pytest
from rich.console import Console
from sweeps import make_trial, record_of

from midrange_puffer.sweep import progress as progress_module
from midrange_puffer.sweep.progress import Progress
from midrange_puffer.sweep.record import FAILED, FINISHED, RUNNING, STOPPED, Record

# Of 20 s each; the last one runs, half trained.
TRIALS = (
    make_trial(0, FINISHED, (1000, 0.5, 6)),
    make_trial(1, FINISHED, (1000, 0.4, 7)),  # dearer and worse: not on the front
    make_trial(2, STOPPED, (500, 0.2, 3), reason="score 0.200 is below 0.300"),
    make_trial(3, FAILED, reason="took longer than sweep.max_cost = 9 s"),
    make_trial(4, FINISHED, (1000, 0.75, 15)),
    make_trial(5, RUNNING, (500, 0.6, 8)),
)


@pytest.fixture
def record(tmp_path) -> Record:
    return record_of(tmp_path, options=["--sweep.trials=10"])


@pytest.fixture(autouse=True)
def clock(monkeypatch) -> list[float]:
    """Sets the time [s]."""
    now = [100.0]
    monkeypatch.setattr(progress_module, "time", SimpleNamespace(monotonic=lambda: now[0]))
    return now


def show(record: Record, terminal: bool) -> tuple[Progress, str]:
    """The progress of a sweep of TRIALS, and what it prints while they come and go."""
    out = io.StringIO()
    console = Console(file=out, force_terminal=terminal, width=100, color_system=None)
    progress = Progress(record, console)
    for trial in TRIALS:
        record.trials.append(make_trial(trial.number, RUNNING))
        progress.show(record.trials[-1])
        record.trials[-1] = trial
        if trial.is_over:
            progress.show(trial)
    return progress, out.getvalue()


def test_a_log_says_when_a_trial_begins_and_is_over_and_what_is_to_be_had(record):
    _, out = show(record, terminal=False)
    lines = out.splitlines()
    assert lines[0] == "trial 0: begins with train.learning_rate 0.002, env.reward_geometry 0"
    assert len([line for line in lines if "begins with" in line]) == 6
    # 9 or fewer trials of 20 s are left, by one worker.
    assert [line for line in lines if "begins with" not in line] == [
        "trial 0: finished after 20s, score 0.500; 1 of 10 over, best 0.500 by trial 0 in 6s, "
        "3m00s left",
        "Pareto front, score@cost: 0.500@6s",
        "trial 1: finished after 20s, score 0.400; 2 of 10 over, best 0.500 by trial 0 in 6s, "
        "2m40s left",
        "trial 2: stopped after 20s, score 0.200: score 0.200 is below 0.300; 3 of 10 over, "
        "best 0.500 by trial 0 in 6s, 2m20s left",
        "trial 3: failed after 20s: took longer than sweep.max_cost = 9 s; 4 of 10 over, "
        "best 0.500 by trial 0 in 6s, 2m00s left",
        "trial 4: finished after 20s, score 0.750; 5 of 10 over, best 0.750 by trial 4 in 15s, "
        "1m40s left",
        "Pareto front, score@cost: 0.500@6s 0.750@15s",
    ]
    assert "\033" not in out


@pytest.mark.parametrize("terminal", [False, True])
def test_a_trial_that_is_lost_waits_to_be_run_again(record, terminal):
    progress, before = show(record, terminal)
    left = progress.seconds_left()
    out = progress._console.file
    lost = make_trial(5, RUNNING, reason="lost on a node")
    record.trials[5] = lost
    progress.show(lost)
    assert out.getvalue()[len(before) :].strip() == "trial 5: is run again: lost on a node"
    progress._console.print(progress)
    assert "running" not in out.getvalue()[len(before) :]
    assert progress.seconds_left() == left
    lost.reason = None
    progress.show(lost)
    progress._console.print(progress)
    assert "running" in out.getvalue()[len(before) :]


@pytest.mark.parametrize("workers", [1, 2])
def test_workers_share_what_is_left(record, clock, workers):
    record.config = record.config.replaced("sweep", "test", workers=workers)
    progress, _ = show(record, terminal=False)
    # The one that runs has 20 s to go, and four are not begun.
    assert progress.seconds_left() == 100 / workers
    clock[0] += 15
    assert progress.seconds_left() == 85 / workers
    clock[0] += 15  # it takes longer than the others
    assert progress.seconds_left() == 80 / workers


def test_a_terminal_has_what_runs_the_best_and_the_front(record, clock):
    progress, out = show(record, terminal=True)
    assert "begins" not in out
    clock[0] += 5
    console = Console(file=io.StringIO(), width=100)
    console.print(progress)
    picture = console.file.getvalue()
    lines = [line.split() for line in picture.splitlines()]
    for text in (
        "Random: 5 of 10 trials over 3 finished 1 stopped 1 failed 5s so far 1m35s left",
        "best score 0.750 by trial 4, trained for 15s",
        "trial 5 5s 50% 0.600",
        "Pareto front, 2 of 2 trial 0 trial 4",
        "score 0.500 0.750",
        "cost 6s 15s",
        "train.learning_rate 0.002 0.006",
    ):
        assert text in [" ".join(line)[: len(text)] for line in lines]


def test_a_terminal_is_drawn_upon_and_keeps_what_became_of_each_trial(record):
    out = io.StringIO()
    record.trials.append(make_trial(0, FAILED, reason="no luck"))
    with Progress(record, Console(file=out, force_terminal=True, width=100)) as progress:
        progress.show(record.trials[0])
    assert "1 of 10 trials over" in out.getvalue()
    assert "trial 0: failed" in out.getvalue()


def test_a_method_that_is_kept_from_printing_does_not_silence_it(record, capsys):
    record.trials.append(make_trial(0, FAILED, reason="no luck"))
    with Progress(record) as progress, contextlib.redirect_stdout(io.StringIO()):
        progress.show(record.trials[0])
    assert capsys.readouterr().out.startswith("trial 0: failed")
