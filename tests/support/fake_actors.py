"""Simulated collectors on a simulated clock."""

import math
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from midrange_puffer.train.cluster.collector import Rollout
from midrange_puffer.train.cluster.connect import LostError
from midrange_puffer.train.vector import StepTime


@dataclass
class Call:
    """A call of an actor's method; `done` is the simulated time of its end [s]."""

    actor: int
    method: str
    arguments: tuple[object, ...]
    begun: float
    done: float
    value: object = None


class FakeActors:
    """As `RayActors`, in a cluster with `cores` cores, of which each starts one actor at once.

    `seconds(actor, n)`: how long the n-th rollout of an actor takes; infinity: it never comes.
    A rollout's only content is who has made it: see `made_by`.
    """

    def __init__(
        self, cores: int, seconds: Callable[[int, int], float] = lambda actor, n: 1.0
    ) -> None:
        self.cores, self._seconds = cores, seconds
        self.now = 0.0
        self.calls: list[Call] = []
        self.killed: set[int] = set()
        self.fails: dict[int, Exception] = {}  # of `begin`, by actor
        self.start_seconds: defaultdict[int, float] = defaultdict(lambda: 2.0)
        self._actors = 0
        self._free: dict[int, float] = {}
        self._seeds: dict[int, int] = {}
        self._rollouts: defaultdict[int, int] = defaultdict(int)

    def monotonic(self) -> float:
        return self.now

    def room(self) -> int:
        return self.cores

    def put(self, value: object) -> object:
        return value

    def start(self) -> int:
        self._actors += 1
        self._place()
        return self._actors - 1

    def add_core(self) -> None:
        self.cores += 1
        self._place()

    def _place(self) -> None:
        """Starts the actors that have a core."""
        alive = [actor for actor in range(self._actors) if actor not in self.killed]
        for actor in alive[: self.cores]:
            if actor not in self._free:
                self._free[actor] = self.now + self.start_seconds[actor]
                for call in self.calls:
                    if call.actor == actor:
                        self._time(call)

    def call(self, actor: int, method: Callable, *arguments: object) -> int:
        call = Call(actor, method.__name__, arguments, math.inf, math.inf)
        if actor in self._free:
            self._time(call)
        self.calls.append(call)
        return len(self.calls) - 1

    def _time(self, call: Call) -> None:
        seconds = 0.0
        if call.method == "collect":
            seconds = self._seconds(call.actor, self._rollouts[call.actor])
            self._rollouts[call.actor] += 1
            weights, _ = call.arguments
            made_by = [call.actor, self._seeds[call.actor], weights]
            call.value = Rollout({}, {"made by": made_by}, 1, StepTime())
        elif call.method == "begin":
            self._seeds[call.actor] = call.arguments[2]
        call.begun = max(self.now, self._free[call.actor])
        call.done = self._free[call.actor] = call.begun + seconds

    def wait(self, references: Sequence[int], seconds: float) -> list[int]:
        ends = [self._end(reference) for reference in references]
        if ends:
            self.now = min(max(self.now, min(ends)), self.now + seconds)
        return [reference for reference in references if self._end(reference) <= self.now]

    def _end(self, reference: int) -> float:
        call = self.calls[reference]
        return -math.inf if call.actor in self.killed else call.done

    def get(self, reference: int) -> object:
        call = self.calls[reference]
        if call.actor in self.killed:
            raise LostError("its process was killed")
        if call.method == "begin" and call.actor in self.fails:
            raise self.fails[call.actor]
        return call.value

    def kill(self, actor: int) -> None:
        self.killed.add(actor)
        self._place()

    def idle(self, actor: int, since: float, until: float) -> float:
        """Returns the time without work of an actor in an interval [s]."""
        busy = [
            (max(call.begun, since), min(call.done, until))
            for call in self.calls
            if call.actor == actor and call.method == "collect"
        ]
        return until - since - sum(max(end - start, 0.0) for start, end in busy)


def made_by(rollout: Rollout) -> tuple[int, int, object]:
    """Returns the actor, its seed and its weights."""
    return tuple(rollout.stats["made by"])
