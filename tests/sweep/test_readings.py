"""Readings of a trial: the yardstick that no varied key changes, and the end of hopeless trials."""

import json
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest
import sweeps
import torch
from policies import random_policy
from sweeps import make_reading, make_trial, record_of

from midrange_puffer.commands import cli
from midrange_puffer.config.configuration import Config, ConfigError
from midrange_puffer.config.reading import load_config
from midrange_puffer.config.schema import schema
from midrange_puffer.errors import UserError
from midrange_puffer.game.parameters import PARAMETERS, PILOTS
from midrange_puffer.policies import model_file
from midrange_puffer.sweep import readings
from midrange_puffer.sweep.readings import TrialRater, Yardstick, hopeless
from midrange_puffer.sweep.record import (
    FAILED,
    FINISHED,
    RUNNING,
    STOPPED,
    Reading,
    Record,
    best_trial,
    load_readings,
    pareto_front,
)
from midrange_puffer.sweep.space import Space, trial_config

OPTIONS = (
    "--sweep.panel=weave,evader", "--sweep.panel-episodes=32", "--env.time-limit=60",
    "--env.start-range-max=40000",
)  # fmt: skip


def load(folder, *options: str) -> Config:
    """The configuration of a small sweep whose pilots tell policies from each other."""
    return load_config(sweeps.small_config(folder), [*OPTIONS, *options])


def other_value(name: str) -> float:
    """Another value of a parameter than the table's."""
    row = PARAMETERS[name]
    return row.maximum if row.default != row.maximum else row.minimum


def test_a_policy_scores_as_puffer_eval_says(tmp_path):
    config = load(tmp_path)
    policy = random_policy()
    model, report = tmp_path / "model_000001.pt", tmp_path / "eval.json"
    model_file.save_model(model, config, policy.state_dict(), 1000)
    words = ["--load-model-path", str(model), "--json", str(report)]
    words += ["--episodes", "32", "--seed", str(2**31)]
    expected = {}
    for pilot in ("weave", "evader"):
        assert cli.run("eval", [*words, "--opponent", pilot]) == 0
        expected[pilot] = json.loads(report.read_text())["opponents"][pilot]["score"]
    assert Yardstick(config).measure(policy) == expected
    assert Yardstick(load(tmp_path, "--sweep.panel-seed=3000000000")).measure(policy) != expected


def test_all_are_the_tables_pilots(tmp_path):
    assert Yardstick(load(tmp_path, "--sweep.panel=all")).pilots == PILOTS


def test_its_seed_is_out_of_reach_of_every_training():
    seed = schema()["sweep"]["panel_seed"]
    assert seed.minimum > schema()["train"]["seed"].maximum


def test_rewards_and_training_do_not_move_it(tmp_path):
    policy, config = random_policy(), load(tmp_path)
    names = [name for name, row in PARAMETERS.items() if row.group in ("reward", "pilot")]
    assert {"reward_geometry", "ace_salvo"} <= {*names}
    params = {f"env.{name}": other_value(name) for name in names}
    params |= {"env.num_envs": 8, "env.seat": "blue", "env.opponent": "self", "train.seed": 99}
    assert Yardstick(trial_config(config, params)).measure(policy) == Yardstick(config).measure(
        policy
    )
    # The game does, and is the sweep's.
    game = trial_config(config, {"env.time_limit": 30})
    assert Yardstick(game).measure(policy) != Yardstick(config).measure(policy)


@pytest.mark.parametrize("threads", [1, 2])
def test_it_does_not_depend_on_what_was_drawn_before_nor_on_threads(tmp_path, threads):
    panel, policy = Yardstick(load(tmp_path)), random_policy()
    torch.manual_seed(1)
    expected = panel.measure(policy)
    torch.manual_seed(2)
    before = torch.get_num_threads()
    torch.set_num_threads(threads)
    try:
        assert panel.measure(policy) == expected
        assert torch.get_num_threads() == threads
    finally:
        torch.set_num_threads(before)


def begin(folder: Path, *options: str) -> tuple[Record, Path]:
    """A sweep whose first trial has begun, and the trial's folder."""
    trial = make_trial(0, RUNNING)
    record = record_of(folder, trial, options=options)
    return record, record.trial_folder(trial)


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
    _, folder = begin(tmp_path, "--sweep.readings=4")
    monkeypatch.setattr(readings.Yardstick, "measure", lambda *_: {"weave": 0.5})
    rater = TrialRater(folder, total, folder / "metrics.jsonl")
    seen = []
    for epoch in range(1, -(-total // update) + 1):
        steps = epoch * update
        if rater.is_due(epoch, steps, steps >= total):
            rater.rate(None, f"model_{epoch:06d}", steps)
            seen.append(steps)
            assert [one.agent_steps for one in load_readings(folder)] == seen
    assert seen == due


def test_a_reading_is_noted_without_the_time_it_takes(tmp_path, monkeypatch):
    _, folder = begin(tmp_path)
    clock = [100.0]
    scores = {"straight": 0.25, "weave": 0.75}

    def meet(*_):
        clock[0] += 7
        return scores

    monkeypatch.setattr(readings.Yardstick, "measure", meet)
    monkeypatch.setattr(readings, "time", SimpleNamespace(perf_counter=lambda: clock[0]))
    rater = TrialRater(folder, 1000, folder / "metrics.jsonl")
    clock[0] += 20
    metrics = rater.rate(None, "model_000001", 500)
    assert metrics == {
        "sweep/score": 0.5, "sweep/score_vs_straight": 0.25, "sweep/score_vs_weave": 0.75
    }  # fmt: skip
    clock[0] += 20
    rater.rate(None, "model_000002", 1000)
    assert load_readings(folder) == [
        Reading(500, 20.0, 0.5, scores), Reading(1000, 40.0, 0.5, scores)
    ]  # fmt: skip


def test_a_trial_is_given_up_by_what_others_had_by_then_but_not_at_its_end(tmp_path, monkeypatch):
    record, folder = begin(tmp_path, "--sweep.stop-after=1", "--sweep.stop-quantile=0.5")
    monkeypatch.setattr(readings.Yardstick, "measure", lambda *_: {"weave": 0.4})
    rater = TrialRater(folder, 1000, folder / "metrics.jsonl")
    rater.rate(None, "model_000001", 250)
    assert rater.stop_reason is None
    # By another worker, meanwhile.
    record.begin(make_trial(1, FINISHED, (500, 0.5), (1000, 0.9)))
    rater.rate(None, "model_000002", 500)
    assert "score 0.400 after 500 steps is below 0.500" in rater.stop_reason
    ended = TrialRater(folder, 1000, folder / "metrics.jsonl")
    ended.rate(None, "model_000004", 1000)
    assert ended.stop_reason is None


def write_rows(path: Path, *values: float | None) -> None:
    """Writes rows of 100 steps each with values of losses/entropy."""
    rows = [
        {"agent_steps": 100 * (n + 1), "losses/entropy": value} for n, value in enumerate(values)
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))


@pytest.mark.parametrize(("goal", "sign"), [("maximize", 1), ("minimize", -1)])
def test_a_metric_of_the_run_is_read_and_nothing_is_flown(tmp_path, monkeypatch, goal, sign):
    """A reading is the mean of the rows since the one before; the last row counts without any."""
    monkeypatch.delattr(Yardstick, "measure")
    record, folder = begin(tmp_path, "--sweep.metric=losses/entropy", f"--sweep.goal={goal}",
                           "--sweep.stop-after=1", "--sweep.stop-quantile=0.5")  # fmt: skip
    metrics = folder / "metrics.jsonl"
    rater = TrialRater(folder, 1000, metrics)
    write_rows(metrics, 5, 3, 1, None)
    assert rater.rate(None, "model_000001", 400) == {"sweep/score": sign * 3}
    write_rows(metrics, 5, 3, 1, None, -7, -9)
    assert rater.rate(None, "model_000002", 600) == {"sweep/score": sign * -8}
    assert rater.rate(None, "model_000003", 700) == {"sweep/score": sign * -9}
    assert [reading.scores for reading in load_readings(folder)] == [{}] * 3
    # Others had nothing at step 0, and before their first reading what they had there.
    other = make_trial(1, FINISHED, (900, 0.5), (1000, 0.5))
    other.readings = [replace(one, score=sign * -8.5, scores={}) for one in other.readings]
    record.begin(other)
    rater.rate(None, "model_000004", 800)
    assert (rater.stop_reason is not None) == (sign == 1)


def test_a_metric_that_no_run_has_is_named_with_the_nearest(tmp_path):
    _, folder = begin(tmp_path, "--sweep.metric=losses/entropie")
    write_rows(folder / "metrics.jsonl", 5)
    rater = TrialRater(folder, 1000, folder / "metrics.jsonl")
    with pytest.raises(UserError, match=r"losses/entropie: .* it has losses/entropy"):
        rater.rate(None, "model_000001", 400)


@pytest.mark.parametrize(
    ("text", "end"),
    [("mean_reward", ""), ("", ""), ("worst_scor", "; did you mean .worst_score.\\?")],
)
def test_a_metric_needs_its_group(tmp_path, text, end):
    message = f"sweep.metric = {text}: must be .* such as environment/episode_return{end}$"
    with pytest.raises(UserError, match=message):
        load(tmp_path, f"--sweep.metric={text}")


def test_a_score_against_the_panel_is_sought_high(tmp_path):
    config = load(tmp_path, "--sweep.goal=minimize")
    with pytest.raises(ConfigError, match=r"minimize: .* not for sweep.metric = panel_score"):
        Space(config)


def stops(score: float, trials, quantile: float = 0.25, least: int = 8, steps: int = 100) -> bool:
    """Returns True if a trial with this score after so many steps is stopped."""
    return hopeless([make_reading(steps, score)], trials, quantile, least) is not None


def test_the_bar_is_a_quantile_of_the_others():
    """Scores 0, 0.1 … 0.7: a quarter of the way from the first to the last is 0.175."""
    trials = [make_trial(n, FINISHED, (100, n / 10), (1000, 1.0)) for n in range(8)]
    assert stops(0.17, trials)
    assert not stops(0.18, trials)
    # The last reading counts, not the best.
    fallen = [make_reading(50, 0.9), make_reading(100, 0.17)]
    assert hopeless(fallen, trials, 0.25, 8)


def test_the_bar_does_not_rise_by_what_it_stops():
    """Those that were stopped are of the others where they came as far."""
    finished = [make_trial(n, FINISHED, (100, 0.8), (1000, 0.9)) for n in range(2)]
    stopped = [make_trial(n, STOPPED, (100, 0.1)) for n in (2, 3)]
    assert stops(0.2, finished, least=2)
    assert not stops(0.2, [*finished, *stopped], least=2)
    assert stops(0.2, [*finished, *stopped], least=2, steps=101)


def test_nothing_is_given_up_too_early_or_where_it_is_not_wanted():
    trials = [make_trial(n, FINISHED, (1000, 0.9)) for n in range(8)]
    assert stops(0.0, trials)
    assert not stops(0.0, trials, least=9)
    assert not stops(0.0, trials, quantile=0)
    others = [make_trial(8, STOPPED, (500, 0.9)), make_trial(9, FAILED, (500, 0.9))]
    assert not stops(0.0, [*trials[:7], *others])
    assert not stops(0.0, trials, steps=1001)  # where nobody else has been


@pytest.mark.parametrize(("steps", "bar"), [(50, 0.1), (100, 0.2), (150, 0.4), (200, 0.6)])
def test_between_readings_a_trial_has_what_is_between_them(steps, bar):
    trials = [make_trial(0, FINISHED, (100, 0.2), (200, 0.6))]
    assert stops(bar - 0.001, trials, 0.5, 1, steps)
    assert not stops(bar + 0.001, trials, 0.5, 1, steps)


SCORES = {"straight": 0.9, "weave": 0.7, "ace": 0.5}


@pytest.mark.parametrize(
    ("options", "score"),
    [
        ([], 0.7),
        (["--sweep.metric=panel_score"], 0.7),
        (["--sweep.metric=worst_score"], 0.5),
        (["--sweep.metric=time_to_score", "--sweep.metric-score=0.8"], 0.7),
        (["--sweep.metric=time_to_score", "--sweep.metric-score=0.6"], 0.6),
    ],
)
def test_the_objective_is_the_score_of_a_reading(tmp_path, monkeypatch, options, score):
    _, folder = begin(tmp_path, *options)
    monkeypatch.setattr(readings.Yardstick, "measure", lambda *_: SCORES)
    rater = TrialRater(folder, 1000, folder / "metrics.jsonl")
    assert rater.rate(None, "model_000001", 500)["sweep/score"] == pytest.approx(score)
    [reading] = load_readings(folder)
    assert reading.score == pytest.approx(score)
    assert reading.scores == SCORES


def test_a_trial_ends_with_the_score_that_is_to_be_reached_and_has_finished(tmp_path, monkeypatch):
    means = iter([0.5, 0.85, 0.9])
    monkeypatch.setattr(readings.Yardstick, "measure", lambda *_: {"weave": next(means)})
    _, folder = begin(tmp_path, "--sweep.metric=time_to_score", "--sweep.metric-score=0.8")
    rater = TrialRater(folder, 1000, folder / "metrics.jsonl")
    rater.rate(None, "model_000001", 250)
    assert rater.stop_reason is None
    rater.rate(None, "model_000002", 500)
    assert rater.is_reached
    assert "sweep.metric_score = 0.8 is reached" in rater.stop_reason
    trial = Record(folder.parent.parent).trials[0]
    trial.readings = load_readings(folder)
    assert trial.is_trained
    assert (trial.score, trial.agent_steps) == (0.8, 500)
    trial.status = FINISHED
    assert trial.cost == trial.readings[-1].seconds


def test_the_cheapest_trial_that_reaches_the_score_is_best():
    quick, slow, never = (make_trial(n, FINISHED, (1000, 0.8)) for n in range(3))
    quick.readings = [replace(make_reading(400, 0.8, 10.0), is_reached=True)]
    slow.readings = [replace(make_reading(900, 0.8, 20.0), is_reached=True)]
    never.readings = [make_reading(1000, 0.7, 5.0)]
    assert best_trial([slow, quick, never]) is quick
    assert pareto_front([slow, quick, never]) == [never, quick]
    # One that reached it before is as good later on.
    assert hopeless([make_reading(950, 0.7)], [quick, slow], 0.5, 2)
