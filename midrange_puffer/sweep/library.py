"""A search from Python: it suggests settings; the caller tries them and reports the scores."""

import math
import time
from collections.abc import Callable
from typing import NamedTuple

from midrange_puffer.config.configuration import Config
from midrange_puffer.sweep.record import FAILED, FINISHED, Reading, Trial, best_trial
from midrange_puffer.sweep.runner import trial_seed
from midrange_puffer.sweep.search import Search
from midrange_puffer.sweep.space import Space, Value, trial_config


class Suggestion(NamedTuple):
    """Settings to try.

    Attributes:
        number: number of the trial, from 0 on.
        params: the varied values, by "section.key".
        config: the complete configuration with these values and its own train.seed.
    """

    number: int
    params: dict[str, Value]
    config: Config


class Sweep:
    """A search that suggests settings and learns from their scores; it writes no files.

        sweep = Sweep(load_config("configs/sweep.ini"))
        for _ in range(20):
            trial = sweep.suggest()
            score, seconds = …  # train with trial.config, and measure
            sweep.observe(trial, score, seconds)
        print(sweep.best.params)

    Args:
        config: a configuration with a section [sweep.<section>.<key>] for each varied key. From
            [sweep] the search uses method, seed, cost and max_cost.

    Raises:
        ConfigError: There is no such section, or a section does not fit its key.
    """

    def __init__(self, config: Config) -> None:
        self._config = config
        self._search = Search(config, Space(config))
        self._trials: list[Trial] = []

    def suggest(self) -> Suggestion:
        """Returns the next settings; several suggestions may be open at once."""
        number = len(self._trials)
        params = self._search.suggest(self._trials)
        steps = trial_config(self._config, params).train.total_timesteps
        seed = trial_seed(self._config.sweep.seed, number)
        self._trials.append(Trial(number, params, seed, steps))
        return self._suggestion(self._trials[-1])

    def observe(self, trial: Suggestion, score: float | None, seconds: float) -> None:
        """Adds the result of a suggestion.

        Args:
            trial: the suggestion.
            score: a number from 0 to 1; more is better. None: the trial failed.
            seconds: cost of the trial [s].

        Raises:
            ValueError: The score or the cost is out of range.
        """
        if not 0 < seconds < math.inf:
            raise ValueError(f"seconds = {seconds}: must be above 0 and finite")
        if not (score is None or 0 <= score <= 1):
            raise ValueError(f"score = {score}: must be from 0 to 1, or None for a failure")
        record = self._trials[trial.number]
        record.seconds, record.status = seconds, FAILED if score is None else FINISHED
        if score is not None:
            record.readings = [Reading(record.total_timesteps, seconds, score, {})]

    def optimize(self, score: Callable[[Config], float | None], trials: int) -> Suggestion | None:
        """Tries a number of suggestions, one after another, timed; returns the best.

        Args:
            score: trains with a configuration, and returns the score as for `observe`.
            trials: the number of suggestions.
        """
        for _ in range(trials):
            trial, start = self.suggest(), time.monotonic()
            result = score(trial.config)
            self.observe(trial, result, max(time.monotonic() - start, 1e-3))
        return self.best

    @property
    def best(self) -> Suggestion | None:
        """The suggestion with the best score; None before the first result."""
        trial = best_trial(self._trials)
        return None if trial is None else self._suggestion(trial)

    def _suggestion(self, trial: Trial) -> Suggestion:
        config = trial_config(self._config, trial.params)
        config = config.replaced("train", "the sweep", seed=trial.seed)
        return Suggestion(trial.number, trial.params, config)
