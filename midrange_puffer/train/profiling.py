"""Where the time of training goes: PuffeRL's clock of its parts, and torch's profiler."""

import operator
import os
import time
from collections.abc import Callable
from pathlib import Path

import torch
from torch.autograd import DeviceType
from torch.profiler import profile, record_function

from midrange_puffer.train.fitted_pufferl import Clock
from midrange_puffer.train.utilization import Utilization

WARM_UP = 2  # updates before those that count: the first ones allocate memory and compile
TRACED = 1  # updates after them, with the profiler on
OPERATORS = 10  # that are listed
# The parts of an update, by what the trainer's clock calls them.
LABELS = {
    "eval": "collecting",
    "env": "environment",
    "eval_forward": "inference",
    "eval_misc": "results of engagements",
    "broadcast": "weights to collectors",
    "queue": "waiting for collectors",
    "copy": "copies",
    "train": "learning",
    "train_copy": "choice of minibatches",
    "train_forward": "forward",
    "learn": "gradient",
    "optimizer": "optimizer",
    "train_misc": "advantages, losses",
}


class Phases(Clock):
    """PuffeRL's clock of the parts of an update, which can be shown in a trace, too.

    A GPU is waited for where a part ends, so that its work counts where it belongs.

    Args:
        device: where the policy learns.

    Attributes:
        parents: the part that each lies in; None: an update's.
        traced: whether the parts are to be in the trace of a profiler.
    """

    def __init__(self, device: str) -> None:
        super().__init__()
        self.parents: dict[str, str | None] = {}
        self.traced = False
        self._device, self._ranges = device, []

    def __call__(self, name: str, epoch: int, nest: bool = False) -> None:
        """Begin a part, in place of the last one begun or within it (`nest`)."""
        self._wait()
        super().__call__(name, epoch, nest)
        self.parents.setdefault(name, self.stack[-2] if len(self.stack) > 1 else None)
        if self.traced:
            self._ranges.append(record_function(LABELS.get(name, name)))
            self._ranges[-1].__enter__()

    def pop(self, end: float) -> None:
        """End the last part begun, at the time `end` [s]."""
        super().pop(end)
        if self._ranges:
            self._ranges.pop().__exit__(None, None, None)

    def end(self) -> None:
        """End all parts."""
        self._wait()
        super().end()

    @property
    def seconds(self) -> dict[str, float]:
        """What each part has taken so far."""
        return {name: part["elapsed"] for name, part in self}

    def _wait(self) -> None:
        if self._device.startswith("cuda"):
            torch.cuda.synchronize(self._device)


class Measurement:
    """Measures some updates of a run, traces one more, and ends it.

    It has the place of a `Rater`, who is asked after every update.

    Args:
        phases: the run's clock.
        device: where the policy learns.
        updates: how many count.
        trace: the file of the trace, *.json.gz; None: that of another rank is enough.
        advance: is told of each update.

    Attributes:
        updates: how many counted.
        parents: as of `Phases`.
        decisions: agent decisions of an update.
        seconds: an update took, without a profiler.
        parts: seconds that each part of it took.
        machine: metrics of the machine meanwhile, as of `Utilization`.
        traced_seconds: the update in the trace took, which the profiler slows down.
        operators: of the update in the trace, as of `costliest`.
    """

    def __init__(
        self,
        phases: Phases,
        device: str,
        updates: int,
        trace: Path | None,
        advance: Callable[[int], None],
    ) -> None:
        self.stop_reason: str | None = None
        self.updates, self.parents = updates, phases.parents
        self._phases, self._device = phases, device
        self._trace, self._advance = trace, advance
        self._seen = 0

    def is_due(self, epoch: int, agent_steps: int, done: bool) -> bool:
        """Take note of the end of an update; no rating is ever due."""
        self._seen += 1
        self._advance(1)
        counted = self._seen - WARM_UP
        if counted == 0:
            self._machine = Utilization(self._device)
            self._start = time.perf_counter(), agent_steps, self._phases.seconds
        elif counted == self.updates:
            self._take(agent_steps)
            self._start_profiler()
        elif counted == self.updates + TRACED:
            self._stop_profiler()
            self.stop_reason = f"{self.updates} updates measured"
        return False

    def rate(self, policy: torch.nn.Module, name: str, agent_steps: int) -> dict[str, float]:
        """Never called, as nothing is ever due."""
        return {}

    def _take(self, agent_steps: int) -> None:
        """Note what has passed since the warm-up."""
        since, steps, before = self._start
        self.seconds = (time.perf_counter() - since) / self.updates
        self.decisions = (agent_steps - steps) / self.updates
        self.parts = {
            name: (self._phases.seconds[name] - before.get(name, 0.0)) / self.updates
            for name in self.parents
        }
        self.machine = self._machine.metrics()

    def _start_profiler(self) -> None:
        if self._trace:
            os.environ.setdefault("KINETO_LOG_LEVEL", "9")  # else it greets on stderr
            self._phases.traced = True
            self._profiler = profile()  # of whatever is there
            self._profiler.start()
            self._since = time.perf_counter()

    def _stop_profiler(self) -> None:
        if self._trace:
            self.traced_seconds = time.perf_counter() - self._since
            self._profiler.stop()
            self._profiler.export_chrome_trace(str(self._trace))
            self.operators = costliest(self._profiler)


def costliest(profiler: profile) -> list[dict[str, object]]:
    """The operators that took longest, on the GPU if one was at work, without those they call.

    Returns:
        For each its name, its calls and the seconds that all of them took.
    """
    events = [
        event
        for event in profiler.key_averages()
        if event.device_type == DeviceType.CPU and not event.is_user_annotation
    ]
    has_gpu = any(event.self_device_time_total for event in events)
    time_of = operator.attrgetter("self_device_time_total" if has_gpu else "self_cpu_time_total")
    return [
        {"operator": event.key, "calls": event.count, "seconds": time_of(event) / 1e6}
        for event in sorted(events, key=time_of, reverse=True)[:OPERATORS]
    ]
