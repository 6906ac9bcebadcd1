"""When a trial meets the panel, what it notes then, and when it is given up."""

import pytest
import sweeps

from midrange_puffer.config import load_config
from midrange_puffer.sweep import readings
from midrange_puffer.sweep.readings import Readings, hopeless
from midrange_puffer.sweep.record import (
    FAILED,
    FINISHED,
    RUNNING,
    STOPPED,
    Reading,
    Record,
    Trial,
    load_readings,
)


def read(*curve: tuple[int, float]) -> list[Reading]:
    """Readings of these scores after so many steps."""
    return [Reading(steps, 1.0, score, {"weave": score}) for steps, score in curve]


def make_trial(number: int, status: str, *curve: tuple[int, float]) -> Trial:
    return Trial(number, {"train.gamma": 0.9}, number, 1000, status, read(*curve))


def begin(folder, *options: str) -> tuple[Record, Trial]:
    """A sweep whose first trial has begun."""
    record = Record.create(
        folder / "sweep",
        load_config(sweeps.small_config(folder), ["--sweep.panel=weave", *options]),
    )
    trial = make_trial(0, RUNNING)
    record.begin(trial)
    return record, trial


@pytest.mark.parametrize(
    ("update", "total", "due"),
    [
        (1000, 10_000, [3000, 5000, 8000, 10_000]),  # the first updates from 2500, 5000, 7500 on
        (2500, 10_000, [2500, 5000, 7500, 10_000]),
        (6000, 10_000, [6000, 12_000]),
        (10_000, 10_000, [10_000]),
    ],
)
def test_readings_are_at_even_distances_and_at_the_end(tmp_path, monkeypatch, update, total, due):
    record, trial = begin(tmp_path, "--sweep.readings=4")
    monkeypatch.setattr(readings.Panel, "meet", lambda *_: {"weave": 0.5})
    rater = Readings(record.trial_folder(trial), total)
    seen = []
    for epoch in range(1, -(-total // update) + 1):
        steps = epoch * update
        if rater.is_due(epoch, steps, steps >= total):
            rater.rate(None, f"model_{epoch:06d}", steps, 1.0)
            seen.append(steps)
            assert [one.agent_steps for one in load_readings(record.trial_folder(trial))] == seen
    assert seen == due


def test_a_reading_is_noted_without_the_time_it_takes(tmp_path, monkeypatch):
    record, trial = begin(tmp_path)
    clock = [100.0]

    def meet(*_):
        clock[0] += 7
        return {"straight": 0.25, "weave": 0.75}

    monkeypatch.setattr(readings.Panel, "meet", meet)
    monkeypatch.setattr(readings.time, "perf_counter", lambda: clock[0])
    rater = Readings(record.trial_folder(trial), 1000)
    metrics = rater.rate(None, "model_000001", 500, 20.0)
    assert metrics == {
        "sweep/score": 0.5, "sweep/score_vs_straight": 0.25, "sweep/score_vs_weave": 0.75
    }  # fmt: skip
    rater.rate(None, "model_000002", 1000, 47.0)  # 20 s, 7 for the reading, 20
    scores = {"straight": 0.25, "weave": 0.75}
    assert load_readings(record.trial_folder(trial)) == [
        Reading(500, 20.0, 0.5, scores), Reading(1000, 40.0, 0.5, scores)
    ]  # fmt: skip


def test_a_trial_is_given_up_by_what_has_finished_by_then_but_not_at_its_end(tmp_path, monkeypatch):
    record, trial = begin(tmp_path, "--sweep.stop-after=1", "--sweep.stop-quantile=0.5")
    monkeypatch.setattr(readings.Panel, "meet", lambda *_: {"weave": 0.4})
    rater = Readings(record.trial_folder(trial), 1000)
    rater.rate(None, "model_000001", 250, 1.0)
    assert rater.stop_reason is None
    # By another worker, meanwhile.
    record.begin(make_trial(1, FINISHED, (500, 0.5), (1000, 0.9)))
    rater.rate(None, "model_000002", 500, 2.0)
    assert "score 0.400 after 500 steps is below 0.500" in rater.stop_reason
    ended = Readings(record.trial_folder(trial), 1000)
    ended.rate(None, "model_000004", 1000, 4.0)
    assert ended.stop_reason is None


def test_the_bar_is_a_quantile_of_the_finished_trials():
    """Scores 0, 0.1 … 0.7: a quarter of the way from the first to the last is 0.175."""
    trials = [make_trial(n, FINISHED, (100, n / 10), (200, 1.0)) for n in range(8)]
    assert hopeless(read((100, 0.17)), trials, 0.25, 8)
    assert hopeless(read((100, 0.18)), trials, 0.25, 8) is None
    # The last reading counts, not the best.
    assert hopeless(read((50, 0.9), (100, 0.17)), trials, 0.25, 8)
    assert hopeless(read((50, 0.0), (100, 0.18)), trials, 0.25, 8) is None


def test_nothing_is_given_up_too_early_or_where_it_is_not_wanted():
    trials = [make_trial(n, FINISHED, (100, 0.9)) for n in range(8)]
    assert hopeless(read((100, 0.0)), trials, 0.25, 8)
    assert hopeless(read((100, 0.0)), trials, 0.25, 9) is None
    assert hopeless(read((100, 0.0)), trials, 0, 8) is None
    others = [make_trial(8 + n, status, (100, 0.9)) for n, status in enumerate((STOPPED, FAILED))]
    assert hopeless(read((100, 0.0)), [*trials[:7], *others], 0.25, 8) is None


@pytest.mark.parametrize(
    ("steps", "bar"), [(50, 0.1), (100, 0.2), (150, 0.4), (200, 0.6), (400, 0.6)]
)
def test_between_readings_a_finished_trial_has_what_is_between_them(steps, bar):
    trials = [make_trial(0, FINISHED, (100, 0.2), (200, 0.6))]
    assert hopeless(read((steps, bar - 0.001)), trials, 0.5, 1)
    assert hopeless(read((steps, bar + 0.001)), trials, 0.5, 1) is None
