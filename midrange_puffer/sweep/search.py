"""What to try next: PufferLib's methods, told what became of the trials before."""

import contextlib
import io
import random
from collections.abc import Iterator, Mapping, Sequence
from statistics import fmean

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

ATTEMPTS = 100  # at another suggestion; a space of few integers has no more than it has
# PufferLib's front of scores and costs drops trials within 1e-6 of each other, all of them, and
# fails on an empty front: every trial is told to cost a little more than the one before, as an
# amount or, of great costs, as a share. More would be taken for a cost that grows.
TIE_BREAK, TIE_BREAK_SHARE = 2e-6, 1e-12
WORST = 0.0  # the score that a method is told of a failed trial
LEAST_COST = 1.0  # of a failed trial, and the least bound: s or agent decisions


class Search:
    """Suggests trials.

    A method is made anew for every suggestion and told of all trials that are over, so that a
    sweep that was killed goes on as if it had not been. Its random numbers are the sweep's seed's
    and the trial's number's.

    Args:
        config: [sweep] says which method.
        space: what is varied.
    """

    def __init__(self, config: Config, space: Space) -> None:
        self._settings, self._space = config.sweep, space
        self._in_seconds = self._settings.cost == "seconds"

    def suggest(self, trials: Sequence[Trial]) -> dict[str, Value]:
        """Suggest the trial after `trials`, by number: "section.key" -> value.

        What was suggested before is not again: another is drawn around the means.
        """
        seed = np.random.SeedSequence((self._settings.seed, len(trials))).generate_state(1)[0]
        with _seeded(int(seed)), contextlib.redirect_stdout(io.StringIO()):
            method = self._method(trials)
            for trial in sorted(trials, key=lambda trial: trial.number):
                if trial.is_over:
                    self._tell(method, trial, trials)
            found, _ = method.suggest(fill=None)
            params = self._rounded(found)
            for _ in range(ATTEMPTS):
                if all(trial.params != params for trial in trials):
                    break
                sample = method.hyperparameters.sample(1)[0]
                params = self._rounded(method.hyperparameters.to_dict(sample))
        return params

    def _method(self, trials: Sequence[Trial]) -> object:
        parameters = self._space.parameters
        spaces = _nested({name: _puffer_space(one) for name, one in parameters.items()})
        options = {"metric": "score", "goal": "maximize", **spaces}
        made = getattr(pufferlib.sweep, self._settings.method)
        if self._settings.method != "Protein":
            return made(options)
        return made(options, max_suggestion_cost=self._greatest_cost(trials))

    def _greatest_cost(self, trials: Sequence[Trial]) -> float:
        """What a trial may cost: sweep.max_cost without its start and its readings."""
        if not self._in_seconds:
            return np.inf
        beside = [trial.seconds - trial.cost for trial in trials if trial.status == FINISHED]
        return max(self._settings.max_cost - (fmean(beside) if beside else 0), LEAST_COST)

    def _tell(self, method: object, trial: Trial, trials: Sequence[Trial]) -> None:
        """Tell of a trial that is over.

        A failed one as the worst and as dear as any, so that no method takes it for a cheap one to
        go on from; dearer where it took longer, as one that timed out.
        """
        failed = trial.status == FAILED
        if failed:
            costs = [self._cost(other) for other in trials if other.is_over and other.readings]
            own = trial.seconds if self._in_seconds else 0
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
    """A parameter as PufferLib describes it."""
    low, high, mean = parameter.numbers
    return {
        "distribution": parameter.distribution,
        "min": low,
        "max": high,
        "mean": mean,
        "scale": parameter.scale,
    }


def _nested(flat: Mapping[str, object]) -> dict[str, dict[str, object]]:
    """Section -> key -> value, of "section.key" -> value."""
    nested: dict[str, dict[str, object]] = {}
    for name, value in flat.items():
        section, _, key = name.partition(".")
        nested.setdefault(section, {})[key] = value
    return nested


@contextlib.contextmanager
def _seeded(seed: int) -> Iterator[None]:
    """Seed every generator that the methods draw from; leave all as they were."""
    states = random.getstate(), np.random.get_state()  # noqa: NPY002, the one PufferLib uses
    with torch.random.fork_rng(devices=[]):
        seed_everything(seed)
        pyro.clear_param_store()  # where a surrogate would find the parameters of the one before
        try:
            yield
        finally:
            random.setstate(states[0])
            np.random.set_state(states[1])  # noqa: NPY002
