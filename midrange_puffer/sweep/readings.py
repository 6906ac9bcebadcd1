"""Scores of a trial's policy as it trains, and the rule that ends hopeless trials."""

import contextlib
import difflib
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from statistics import fmean

import numpy as np
import torch
from torch import nn

from midrange_puffer.config.configuration import Config
from midrange_puffer.config.schema import game_of
from midrange_puffer.config.sweep_sections import SweepConfig
from midrange_puffer.contest.evaluation import evaluate
from midrange_puffer.errors import UserError
from midrange_puffer.game.parameters import pilot_names
from midrange_puffer.sweep.record import (
    FINISHED,
    STOPPED,
    TIME,
    WORST,
    Reading,
    Record,
    Trial,
    is_of_runs,
    save_readings,
)
from midrange_puffer.train.run_files import last_row, read_metrics


class Yardstick:
    """The pilots, starts and game against which all trials of a sweep are measured.

    Swept rewards and parameters of the game do not change them.

    Args:
        config: the sweep's configuration, not a trial's.

    Attributes:
        pilots: names of the pilots.
    """

    def __init__(self, config: Config) -> None:
        settings = config.sweep
        self.pilots = pilot_names(settings.panel)
        self._episodes, self._seed = settings.panel_episodes, settings.panel_seed
        self._parameters = game_of(config)

    def measure(self, policy: nn.Module) -> dict[str, float]:
        """Measures a policy on the CPU against each pilot, like `puffer eval`.

        Returns:
            Score (win 1, draw 0.5) by pilot.
        """
        with _one_thread():
            results = {
                pilot: evaluate(policy, pilot, self._episodes, self._seed, **self._parameters)
                for pilot in self.pilots
            }
        return {pilot: result["score"] for pilot, result in results.items()}


@contextlib.contextmanager
def _one_thread() -> Iterator[None]:
    """Limits torch to one thread: faster for small batches, equal results on all machines."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(threads)


def objective(scores: Mapping[str, float], settings: SweepConfig) -> float:
    """Returns the score that the sweep maximises, from 0 to 1.

    * `sweep.metric` is WORST: the lowest score against a pilot.
    * TIME (shortest time to a score): min(mean, metric_score), with the mean over the pilots. A
      trial ends when it reaches metric_score, so all trials that reach it have this same value. Of
      equal values the sweep prefers the one with the shorter training.
    * Otherwise: the mean over the pilots.

    Args:
        scores: score against each pilot, by its name.
        settings: the configuration's [sweep].
    """
    if settings.metric == WORST:
        return min(scores.values())
    mean = fmean(scores.values())
    return min(mean, settings.metric_score) if settings.metric == TIME else mean


def is_reached(scores: Mapping[str, float], settings: SweepConfig) -> bool:
    """True if a trial with these scores has reached the goal, so that its training can end."""
    return settings.metric == TIME and fmean(scores.values()) >= settings.metric_score


class TrialRater:
    """The rater of a trial: measures its policy at even distances, the last time at the end.

    It writes each reading to the trial's folder at once. A reading's seconds of training count from
    the rater's construction; the time of measurements is not included.

    Args:
        folder: the trial's folder, inside the folder of its sweep.
        total_timesteps: length of the trial's training [agent decisions].
        metrics: the metrics.jsonl of its run.

    Attributes:
        stop_reason: the reason to end the trial early; None: it goes on.
        is_reached: True if the reason is that the goal is reached.
    """

    def __init__(self, folder: Path, total_timesteps: int, metrics: Path) -> None:
        self._folder, self._total, self._metrics = folder, total_timesteps, metrics
        self._sweep = folder.parent.parent
        config = Record(self._sweep).config
        self._settings, self._yardstick = config.sweep, Yardstick(config)
        self._readings: list[Reading] = []
        # Start of training, moved on by the time of each measurement. This clock is never set, and
        # stops while the machine sleeps.
        self._began = time.perf_counter()
        self.stop_reason: str | None = None
        self.is_reached = False

    def is_due(self, epoch: int, agent_steps: int, done: bool) -> bool:
        """True if the policy has to be measured after `agent_steps`."""
        last = self._readings[-1].agent_steps if self._readings else 0
        return self._due_by(agent_steps) > self._due_by(last)

    def rate(self, policy: nn.Module, name: str, agent_steps: int) -> dict[str, float]:
        """Measures a policy; returns the metrics sweep/score and `sweep/score_vs_<pilot>`.

        With a metric of the runs it reads this instead, and nothing is flown.

        Raises:
            WriteError: The readings could not be written.
            UserError: The run has no such metric.
        """
        now = time.perf_counter()
        if is_of_runs(self._settings):
            scores, score = {}, self._logged()
        else:
            scores = self._yardstick.measure(policy)
            score = objective(scores, self._settings)
            self.is_reached = is_reached(scores, self._settings)
        seconds = now - self._began
        self._readings.append(Reading(agent_steps, seconds, score, scores, self.is_reached))
        save_readings(self._folder, self._readings)
        print(f"{self._settings.metric} {score:.3f} after {agent_steps} steps")
        if self.is_reached:
            goal = self._settings.metric_score
            self.stop_reason = f"sweep.metric_score = {goal:g} is reached after {seconds:.0f} s"
        elif agent_steps < self._total:
            self.stop_reason = hopeless(
                self._readings,
                Record(self._sweep).trials,
                self._settings.stop_quantile,
                self._settings.stop_after,
                starts_at_0=not is_of_runs(self._settings),
            )
        self._began += time.perf_counter() - now
        return {"sweep/score": score} | {
            f"sweep/score_vs_{pilot}": score for pilot, score in scores.items()
        }

    def _logged(self) -> float:
        """Returns the mean of the metric over the rows since the last reading, to be maximised.

        The row of the present update is not written yet. Without a new row the last one counts.
        """
        name, since = self._settings.metric, self._readings[-1].agent_steps if self._readings else 0
        values = [
            (row["agent_steps"] or 0, value)
            for row in read_metrics(self._metrics)
            if (value := row.get(name)) is not None
        ]
        if not values:
            raise UserError(
                f"sweep.metric = {name}: the run has logged none; it has {self._names()}"
            )
        recent = [value for steps, value in values if steps > since]
        mean = fmean(recent or [values[-1][1]])
        return mean if self._settings.goal == "maximize" else -mean

    def _names(self) -> str:
        names = sorted(last_row(self._metrics))
        near = difflib.get_close_matches(self._settings.metric, names, 3, 0.3)
        return ", ".join(near or names) or "no row"

    def _due_by(self, agent_steps: int) -> int:
        """Returns the number of readings that are due by `agent_steps`."""
        return agent_steps * self._settings.readings // self._total


def hopeless(
    readings: Sequence[Reading],
    trials: Sequence[Trial],
    quantile: float,
    least: int,
    starts_at_0: bool = True,
) -> str | None:
    """Returns the reason to end a hopeless trial, or None.

    This is the percentile stopping rule (Optuna's PercentilePruner; with quantile 0.5, Vizier's
    median rule). It compares the trial's last score with the scores of other trials after as many
    steps. Their scores are interpolated between their readings. The others are all finished and
    stopped trials that have come as far. Finished trials alone would not do: they have passed the
    rule, so the quantile would rise with each of them.

    Args:
        readings: the trial's readings, at least one.
        trials: the sweep's trials.
        quantile: the trial is ended if its score is below this quantile of the others' scores; 0:
            never.
        least: number of finished trials from which on the rule applies.
        starts_at_0: True if scores are 0 at step 0; otherwise they are those of the first reading.
    """
    if not quantile or sum(trial.status == FINISHED for trial in trials) < least:
        return None
    last = readings[-1]
    scores = [
        _score_at(last.agent_steps, trial.readings, starts_at_0)
        for trial in trials
        if trial.status in (FINISHED, STOPPED)
        and (trial.readings[-1].agent_steps >= last.agent_steps or trial.readings[-1].is_reached)
    ]
    if not scores:
        return None
    bar = float(np.quantile(scores, quantile))
    if last.score >= bar:
        return None
    return (
        f"score {last.score:.3f} after {last.agent_steps} steps is below {bar:.3f}, the "
        f"{quantile:g} quantile of {len(scores)} trials there"
    )


def _score_at(agent_steps: int, readings: Sequence[Reading], starts_at_0: bool) -> float:
    first = [(0, 0.0)] if starts_at_0 else []
    steps, scores = zip(*first, *((row.agent_steps, row.score) for row in readings), strict=False)
    return float(np.interp(agent_steps, steps, scores))
