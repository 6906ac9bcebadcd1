"""Odd calls: what is refused changes nothing, and what is taken leaves numbers that are finite.

Two equal objects are flown side by side. One of them gets odd calls, too. A call that is refused
must leave it to the bit as it was; one that is taken is made to the other as well, and must have
done the same there.
"""

import random
import threading
import warnings
from collections.abc import Callable

import numpy as np

from hostile.callees import CALLEES
from hostile.outcome import CHANGED, PASSED, TRACEBACK, FoundError, Outcome, require
from midrange_puffer.errors import UserError
from midrange_puffer.gymnasium_import import gymnasium

ROUNDS = 25
# How Python and its libraries refuse an argument.
REFUSALS = (
    TypeError, ValueError, IndexError, KeyError, OverflowError, RuntimeError, BufferError,
    UserError, gymnasium.error.Error,
)  # fmt: skip
THREADS, THREADED_STEPS = 3, 10


class Caller:
    """Makes odd calls to one kind of object.

    Args:
        name: one of CALLEES.
    """

    def __init__(self, name: str) -> None:
        self._name, self._callee = name, CALLEES[name]

    def try_one(self, seed: int) -> Outcome:
        """Flies two equal objects of a seed, one of them with odd calls."""
        rng = random.Random(f"{self._name} {seed}")
        kind = f"calls:{self._name}"
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                refused, taken = self._fly(rng)
        except FoundError as error:
            return Outcome(kind, seed, error.result, str(error)[:600])
        return Outcome(kind, seed, PASSED, f"{refused} odd calls refused, {taken} taken")

    def _fly(self, rng: random.Random) -> tuple[int, int]:
        callee, start = self._callee, rng.randrange(2**32)
        subject, twin = (callee.make(random.Random(start)) for _ in range(2))
        counts = [0, 0]
        for _ in range(ROUNDS):
            name = rng.choice(list(callee.odd))
            counts[self._call(subject, twin, name, rng.randrange(2**32))] += 1
            step = rng.randrange(2**32)
            for flown in (subject, twin):
                callee.step(flown, random.Random(step))
            self._compare(subject, twin, f"a step after {name}")
            self._check(subject, name)
        self._hammer(subject, rng.randrange(2**32))
        self._check(subject, "threads")
        return counts[0], counts[1]

    def _call(self, subject: object, twin: object, name: str, seed: int) -> bool:
        """Makes one odd call; returns True if it was accepted."""
        before = self._callee.state(subject)
        error = _try(self._callee.odd[name], subject, seed)
        if error is not None:
            if self._callee.state(subject) != before:
                raise FoundError(CHANGED, f"{name} was refused, {error!r}, and changed something")
            return False
        error = _try(self._callee.odd[name], twin, seed)
        if error is not None:
            raise FoundError(CHANGED, f"{name} was taken once, and then refused: {error!r}")
        self._compare(subject, twin, name)
        return True

    def _compare(self, subject: object, twin: object, after: str) -> None:
        if self._callee.state(subject) != self._callee.state(twin):
            raise FoundError(CHANGED, f"after {after} two that were equal differ")

    def _check(self, subject: object, after: str) -> None:
        for name, numbers in self._callee.numbers(subject).items():
            require(bool(np.isfinite(numbers).all()), f"after {after}, {name} is not finite")

    def _hammer(self, subject: object, seed: int) -> None:
        """Lets threads step it at the same time: each step is refused or done, without harm."""
        errors: list[Exception] = []

        def run(number: int) -> None:
            for step in range(THREADED_STEPS):
                error = _try(self._callee.step, subject, seed + THREADS * step + number, errors)
                if error and not isinstance(error, RuntimeError) and self._callee.is_locked:
                    errors.append(error)

        threads = [threading.Thread(target=run, args=(number,)) for number in range(THREADS)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        if errors:
            raise FoundError(TRACEBACK, f"threads: {errors[0]!r}")


def _try(
    call: Callable[[object, random.Random], object],
    flown: object,
    seed: int,
    errors: list[Exception] | None = None,
) -> Exception | None:
    """Makes a call; returns how it was refused.

    Args:
        errors: collects the errors that are no refusals. None: such an error is a finding.
    """
    try:
        call(flown, random.Random(seed))
    except REFUSALS as error:
        return error
    except Exception as error:
        if errors is None:
            raise FoundError(TRACEBACK, repr(error)) from error
        errors.append(error)
    return None
