"""Suggestions of the next trial by PufferLib's methods, from the results of the trials so far."""

import contextlib
import io
import random
from collections.abc import Iterator, Mapping, Sequence
from statistics import fmean
from typing import Any

import numpy as np
import pyro
import torch

from midrange_puffer.config.configuration import Config
from midrange_puffer.puffer_import import contained
from midrange_puffer.sweep.record import FAILED, FINISHED, Trial
from midrange_puffer.sweep.space import Space, SweptKey, Value
from midrange_puffer.train.trainer_state import seed_everything

with contained():
    import pufferlib.sweep

ATTEMPTS = 100  # most draws in place of a repeated suggestion; small spaces have no new ones
# PufferLib's Pareto front drops all trials whose scores and costs are within 1e-6 of each other,
# and PufferLib fails if the front is empty. So trial n's cost is raised by n times an amount or,
# for large costs, n times a share of it. A larger raise would look like a trend of the costs.
TIE_BREAK, TIE_BREAK_SHARE = 2e-6, 1e-12
WORST = 0.0  # the score that a method observes for a failed trial, unless others are lower
LEAST_COST = 1.0  # least cost of a failed trial, and least limit of costs: s or decisions


class Search:
    """A method that suggests trials.

    For every suggestion a new instance of the method observes all trials that are over. Its random
    numbers depend only on the sweep's seed and the trial's number. So a sweep that was killed goes
    on as if it had not been killed.

    Args:
        config: the configuration; [sweep] names the method.
        space: the varied parameters.
    """

    def __init__(self, config: Config, space: Space) -> None:
        self._settings, self._space = config.sweep, space
        self._in_seconds = self._settings.cost == "seconds"

    def suggest(self, trials: Sequence[Trial]) -> dict[str, Value]:
        """Returns the values of the trial that follows `trials`, by "section.key".

        If the method repeats the values of an earlier trial, new ones are drawn around the means.
        """
        seed = np.random.SeedSequence((self._settings.seed, len(trials))).generate_state(1)[0]
        with _seeded(int(seed)), contextlib.redirect_stdout(io.StringIO()):
            method = self._method(trials)
            for trial in sorted(trials, key=lambda trial: trial.number):
                if trial.is_over:
                    self._observe(method, trial, trials)
            suggestion, _ = method.suggest(fill=None)
            params = self._rounded(suggestion)
            for _ in range(ATTEMPTS):
                if all(trial.params != params for trial in trials):
                    break
                sample = method.hyperparameters.sample(1)[0]
                params = self._rounded(method.hyperparameters.to_dict(sample))
        return params

    def _method(self, trials: Sequence[Trial]) -> Any:
        parameters = self._space.parameters
        spaces = _nested({name: _puffer_space(row) for name, row in parameters.items()})
        options = {"metric": "score", "goal": "maximize", **spaces}
        method = getattr(pufferlib.sweep, self._settings.method)
        if self._settings.method != "Protein":
            return method(options)
        return method(options, max_suggestion_cost=self._greatest_cost(trials))

    def _greatest_cost(self, trials: Sequence[Trial]) -> float:
        """Returns the upper limit of a trial's cost: sweep.max_cost less start and measurements."""
        if not self._in_seconds:
            return np.inf
        overheads = [trial.duration - trial.cost for trial in trials if trial.status == FINISHED]
        return max(self._settings.max_cost - (fmean(overheads) if overheads else 0), LEAST_COST)

    def _observe(self, method: Any, trial: Trial, trials: Sequence[Trial]) -> None:
        """Lets a method observe a trial that is over.

        A failed trial is given the worst score and the greatest cost of all trials so far, or its
        own duration if that is greater, as after a timeout. Otherwise the method could take it for
        a cheap trial.
        """
        failed = trial.status == FAILED
        if failed:
            costs = [self._cost(other) for other in trials if other.is_over and other.readings]
            own = trial.duration if self._in_seconds else 0
            scores = [other.score for other in trials if other.is_over and other.readings]
            score, cost = min([WORST, *scores]), max(*costs, own, LEAST_COST)
        else:
            score, cost = trial.score, self._cost(trial)
        cost += max(TIE_BREAK, TIE_BREAK_SHARE * cost) * trial.number
        parameters = self._space.parameters
        params = {name: parameters[name].number(value) for name, value in trial.params.items()}
        method.observe(_nested(params), score, cost, is_failure=failed)

    def _cost(self, trial: Trial) -> float:
        return trial.cost if self._in_seconds else trial.agent_steps

    def _rounded(self, nested: Mapping[str, Mapping[str, float]]) -> dict[str, Value]:
        return {
            name: parameter.rounded(nested[section][key])
            for name, parameter in self._space.parameters.items()
            for section, _, key in (name.partition("."),)
        }


def _puffer_space(parameter: SweptKey) -> dict[str, object]:
    """Returns a parameter's description in PufferLib's form."""
    low, high, mean = parameter.numbers
    return {
        "distribution": parameter.distribution,
        "min": low,
        "max": high,
        "mean": mean,
        "scale": parameter.scale,
    }


def _nested(flat: Mapping[str, object]) -> dict[str, dict[str, object]]:
    """Converts values by "section.key" to values by section and key."""
    nested: dict[str, dict[str, object]] = {}
    for name, value in flat.items():
        section, _, key = name.partition(".")
        nested.setdefault(section, {})[key] = value
    return nested


@contextlib.contextmanager
def _seeded(seed: int) -> Iterator[None]:
    """Seeds every generator that the methods draw from; restores their states afterwards."""
    states = random.getstate(), np.random.get_state()  # noqa: NPY002, the one PufferLib uses
    with torch.random.fork_rng(devices=[]):
        seed_everything(seed)
        pyro.clear_param_store()  # else a surrogate would start from the last one's
        try:
            yield
        finally:
            random.setstate(states[0])
            np.random.set_state(states[1])  # noqa: NPY002
