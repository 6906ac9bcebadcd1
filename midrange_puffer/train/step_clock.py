"""How fast environments step, without anything that they wait for, in whichever process."""

import math
import multiprocessing
import time
from collections.abc import Callable, Iterable
from functools import partial
from typing import NamedTuple, Protocol

import numpy as np


class Stepped(NamedTuple):
    """Agent decisions, and the seconds that environments spent in their `step` for them."""

    decisions: float = 0.0
    seconds: float = 0.0

    @classmethod
    def sum(cls, parts: "Iterable[Stepped]") -> "Stepped":
        """All together."""
        return cls(*map(sum, zip(*parts, strict=True)))

    @property
    def sps(self) -> float:
        """Agent decisions a second; not-a-number where there were none."""
        return self.decisions / self.seconds if self.seconds else math.nan

    def since(self, before: "Stepped") -> "Stepped":
        """What has come since then."""
        return Stepped(self.decisions - before.decisions, self.seconds - before.seconds)


class Steppable(Protocol):
    """An environment as far as it is timed."""

    num_agents: int
    step: Callable[..., object]


class StepClock:
    """Times the `step` of environments, which may be in workers.

    Args:
        instances: how many environments there are.
    """

    def __init__(self, instances: int) -> None:
        # A row for each, which it alone writes. Workers inherit it.
        self._shared = multiprocessing.RawArray("d", len(Stepped._fields) * instances)
        self._instances = instances

    def makers(self, make_env: Callable[..., Steppable]) -> list[Callable[..., Steppable]]:
        """For each environment what makes it, timed from then on."""
        return [partial(self._timed, i, make_env) for i in range(self._instances)]

    @property
    def total(self) -> Stepped:
        """Of all environments so far."""
        return Stepped(*map(float, self._rows().sum(axis=0)))

    def _rows(self) -> np.ndarray:
        return np.frombuffer(self._shared).reshape(self._instances, len(Stepped._fields))

    def _timed(
        self, instance: int, make_env: Callable[..., Steppable], **kwargs: object
    ) -> Steppable:
        env = make_env(**kwargs)
        row, step = self._rows()[instance], env.step

        def timed(actions: np.ndarray) -> object:
            start = time.perf_counter()
            result = step(actions)
            row[:] += env.num_agents, time.perf_counter() - start
            return result

        env.step = timed
        return env
