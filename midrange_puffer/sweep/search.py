"""Suggestions of the next trial, by PufferLib's methods from the trials so far."""

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
from midrange_puffer.sweep.space import Parameter, Space, Value
from midrange_puffer.train.trainer_state import seed_everything

with contained():
    import pufferlib.sweep

ATTEMPTS = 100  # at another suggestion; a space of few integers has no more
# PufferLib's front of scores and costs drops all trials within 1e-6 of each other, and fails on an
# empty front. So each trial's cost is raised a little more than that of the one before: by an
# amount or, for great costs, by a share. A larger raise would look like a cost that grows.
TIE_BREAK, TIE_BREAK_SHARE = 2e-6, 1e-12
WORST = 0.0  # the score that a method observes for a failed trial
LEAST_COST = 1.0  # of a failed trial, and the least bound: s or agent decisions


class Search:
    """A method that suggests trials.

    For every suggestion a new method observes all trials that are over, so that a killed sweep goes
    on as if it had not been killed. Its random numbers depend on the sweep's seed and the trial's
    number only.

    Args:
        config: [sweep] names the method.
        space: the varied parameters.
    """

    def __init__(self, config: Config, space: Space) -> None:
        self._settings, self._space = config.sweep, space
        self._in_seconds = self._settings.cost == "seconds"

    def suggest(self, trials: Sequence[Trial]) -> dict[str, Value]:
        """Returns the values of the trial after `trials`, by "section.key".

        A repeated suggestion is replaced by a draw around the means.
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
        """Returns the limit of a trial's cost: sweep.max_cost without start and readings."""
        if not self._in_seconds:
            return np.inf
        overheads = [trial.duration - trial.cost for trial in trials if trial.status == FINISHED]
        return max(self._settings.max_cost - (fmean(overheads) if overheads else 0), LEAST_COST)

    def _observe(self, method: Any, trial: Trial, trials: Sequence[Trial]) -> None:
        """Lets a method observe a trial that is over.

        A failed trial has the worst score and the greatest cost so far, or its own if that is
        greater, as after a timeout. Otherwise a method could take it for a cheap trial.
        """
        failed = trial.status == FAILED
        if failed:
            costs = [self._cost(other) for other in trials if other.is_over and other.readings]
            own = trial.duration if self._in_seconds else 0
            score, cost = WORST, max(*costs, own, LEAST_COST)
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


def _puffer_space(parameter: Parameter) -> dict[str, object]:
    """Returns a parameter as PufferLib describes it."""
    low, high, mean = parameter.numbers
    return {
        "distribution": parameter.distribution,
        "min": low,
        "max": high,
        "mean": mean,
        "scale": parameter.scale,
    }


def _nested(flat: Mapping[str, object]) -> dict[str, dict[str, object]]:
    """Returns values by section and key, from values by "section.key"."""
    nested: dict[str, dict[str, object]] = {}
    for name, value in flat.items():
        section, _, key = name.partition(".")
        nested.setdefault(section, {})[key] = value
    return nested


@contextlib.contextmanager
def _seeded(seed: int) -> Iterator[None]:
    """Seeds every generator that the methods draw from; restores all states afterwards."""
    states = random.getstate(), np.random.get_state()  # noqa: NPY002, the one PufferLib uses
    with torch.random.fork_rng(devices=[]):
        seed_everything(seed)
        pyro.clear_param_store()  # or a surrogate would start from the parameters of the last one
        try:
            yield
        finally:
            random.setstate(states[0])
            np.random.set_state(states[1])  # noqa: NPY002
