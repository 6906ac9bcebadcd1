"""What a trial reads on the panel as it trains, and whether it is worth going on."""

import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from torch import nn

from midrange_puffer.sweep.objective import is_reached, objective
from midrange_puffer.sweep.panel import Panel
from midrange_puffer.sweep.record import FINISHED, STOPPED, Reading, Record, Trial, save_readings


class PanelRater:
    """The rater of a trial: lets its policy meet the panel at even distances, last at its end.

    Each reading is written to the trial's folder at once. The seconds of training run from when
    this is made, without what the readings take.

    Args:
        folder: the trial's, in the folder of its sweep.
        total_timesteps: of the trial's training.

    Attributes:
        stop_reason: why the trial is to end early, in words; None: it is not.
        is_reached: whether it is because all that is sought is reached.
    """

    def __init__(self, folder: Path, total_timesteps: int) -> None:
        self._folder, self._total = folder, total_timesteps
        self._sweep = folder.parent.parent
        config = Record(self._sweep).config
        self._settings, self._panel = config.sweep, Panel(config)
        self._readings: list[Reading] = []
        # Moved on by readings. No clock that is set or goes on while the machine sleeps.
        self._began = time.perf_counter()
        self.stop_reason: str | None = None
        self.is_reached = False

    def is_due(self, epoch: int, agent_steps: int, done: bool) -> bool:
        """Whether it is time for a reading."""
        last = self._readings[-1].agent_steps if self._readings else 0
        return self._due_by(agent_steps) > self._due_by(last)

    def rate(self, policy: nn.Module, name: str, agent_steps: int) -> dict[str, float]:
        """Let a policy meet the panel; return sweep/score and sweep/score_vs_<pilot>.

        Raises:
            WriteError: The readings could not be written.
        """
        now = time.perf_counter()
        scores = self._panel.meet(policy)
        score = objective(scores, self._settings)
        self.is_reached = is_reached(scores, self._settings)
        seconds = now - self._began
        self._readings.append(Reading(agent_steps, seconds, score, scores, self.is_reached))
        save_readings(self._folder, self._readings)
        print(f"panel score {score:.3f} after {agent_steps} steps")
        if self.is_reached:
            goal = self._settings.metric_score
            self.stop_reason = f"sweep.metric_score = {goal:g} is reached after {seconds:.0f} s"
        elif agent_steps < self._total:
            self.stop_reason = hopeless(
                self._readings,
                Record(self._sweep).trials,
                self._settings.stop_quantile,
                self._settings.stop_after,
            )
        self._began += time.perf_counter() - now
        return {"sweep/score": score} | {
            f"sweep/score_vs_{pilot}": score for pilot, score in scores.items()
        }

    def _due_by(self, agent_steps: int) -> int:
        """How many readings there are in so many steps."""
        return agent_steps * self._settings.readings // self._total


def hopeless(
    readings: Sequence[Reading], trials: Sequence[Trial], quantile: float, least: int
) -> str | None:
    """Why a trial is not worth going on with; None if it may be.

    The percentile stopping rule (Optuna's PercentilePruner; with the median, Vizier's): its last
    score is compared with those of the trials, finished or stopped, that came as far, after as
    many steps: on the straight lines through their readings, which begin with a score of 0 at no
    steps. Of the finished ones alone, which are those that passed, the bar would rise and rise.

    Args:
        readings: of the trial, at least one.
        trials: of the sweep.
        quantile: of their scores, below which a trial is ended; 0: none is.
        least: finished trials that there must be.
    """
    if not quantile or sum(trial.status == FINISHED for trial in trials) < least:
        return None
    last = readings[-1]
    scores = [
        _score_at(last.agent_steps, trial.readings)
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


def _score_at(agent_steps: int, readings: Sequence[Reading]) -> float:
    steps = [0, *(reading.agent_steps for reading in readings)]
    return np.interp(agent_steps, steps, [0.0, *(reading.score for reading in readings)])
