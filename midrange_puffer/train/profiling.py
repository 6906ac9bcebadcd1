"""The time of training: PuffeRL's profile of an update's parts, and measurements by `profile`."""

import operator
import os
import time
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import psutil
import torch
from torch import profiler
from torch.autograd import DeviceType

from midrange_puffer.puffer_import import contained
from midrange_puffer.train.utilization import Utilization

with contained():
    from pufferlib import pufferl

WARM_UP = 2  # updates before the measured ones: the first ones allocate memory and compile
TRACED = 1  # updates after the measured ones, with torch's profiler on
OPERATORS = 10  # listed in a report
# The parts of an update, by their names in the profile.
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


class Profile(pufferl.Profile):
    """PuffeRL's profile, but of every update instead of every fifth, and by a monotonic clock."""

    def __call__(self, name: str, epoch: int, nest: bool = False) -> None:
        """Begins a part, in place of the last one begun or within it (`nest`)."""
        now = time.monotonic()
        if self.stack and not nest:
            self.pop(now)
        self.stack.append(name)
        self.profiles[name]["start"] = now

    def end(self) -> None:
        """Ends all parts."""
        now = time.monotonic()
        while self.stack:
            self.pop(now)


@dataclass(frozen=True)
class Memory:
    """Memory in bytes: resident memory of this process, and what torch keeps of the GPU's."""

    process: int = 0
    gpu: int = 0

    @classmethod
    def now(cls, device: str) -> "Memory":
        """Returns the memory at this moment; without CUDA none of a GPU."""
        gpu = torch.cuda.memory_reserved(device) if device.startswith("cuda") else 0
        return cls(psutil.Process().memory_info().rss, gpu)

    def __add__(self, other: "Memory") -> "Memory":
        return Memory(self.process + other.process, self.gpu + other.gpu)

    def __sub__(self, other: "Memory") -> "Memory":
        return Memory(self.process - other.process, self.gpu - other.gpu)


class TracedProfile(Profile):
    """A profile for a measurement, whose parts can also be shown in a trace.

    At the end of a part it waits for the GPU, so that the GPU's work counts in its own part.

    Args:
        device: where the policy learns.

    Attributes:
        parents: the part that contains each part; None: the update itself.
        grown: bytes by which memory grew in each part, with the parts in it: that of this process
            and, with CUDA, that which torch keeps on the GPU.
        weighs: True while memory is looked at, which takes time.
        traced: True if parts are marked in the trace of torch's profiler.
    """

    def __init__(self, device: str) -> None:
        super().__init__()
        self.parents: dict[str, str | None] = {}
        self.grown: defaultdict[str, Memory] = defaultdict(Memory)
        self.weighs, self.traced = True, False
        self._device, self._ranges = device, []
        self._begins: list[Memory] = []

    def __call__(self, name: str, epoch: int, nest: bool = False) -> None:
        """Begins a part, in place of the last one begun or within it (`nest`)."""
        self._wait()
        super().__call__(name, epoch, nest)
        self.parents.setdefault(name, self.stack[-2] if len(self.stack) > 1 else None)
        if self.weighs:
            self._begins.append(Memory.now(self._device))
        if self.traced:
            self._ranges.append(profiler.record_function(LABELS.get(name, name)))
            self._ranges[-1].__enter__()

    def pop(self, end: float) -> None:
        """Ends the last part begun, at the time `end` [s]."""
        name = self.stack[-1]
        super().pop(end)
        if self._begins:
            self.grown[name] += Memory.now(self._device) - self._begins.pop()
        if self._ranges:
            self._ranges.pop().__exit__(None, None, None)

    def end(self) -> None:
        """Ends all parts."""
        self._wait()
        super().end()

    @property
    def seconds(self) -> dict[str, float]:
        """The total seconds of each part so far."""
        return {name: part["elapsed"] for name, part in self}

    def _wait(self) -> None:
        if self._device.startswith("cuda"):
            torch.cuda.synchronize(self._device)


class Measurement:
    """A `Rater` that measures some updates of a run, traces one more, and ends the run.

    Args:
        profile: the run's.
        device: where the policy learns.
        updates: the number to measure.
        trace: path of the trace to write, *.json.gz; None: another rank writes it.
        advance: called after each update with 1.

    Attributes:
        updates: the number measured.
        parents, grown: as of `TracedProfile`; memory grows in the first updates, not timed ones.
        decisions: agent decisions of an update.
        ended: memory after the last update measured.
        seconds: of an update, without torch's profiler.
        parts: seconds of each of its parts.
        machine: metrics of the machine meanwhile, as of `Utilization`.
        traced_seconds: of the traced update, which torch's profiler slows down.
        operators: of the traced update, as of `costliest`.
    """

    def __init__(
        self,
        profile: TracedProfile,
        device: str,
        updates: int,
        trace: Path | None,
        advance: Callable[[int], None],
    ) -> None:
        self.stop_reason: str | None = None
        self.updates, self.parents = updates, profile.parents
        self._profile, self._device = profile, device
        self._trace, self._advance = trace, advance
        self._seen = 0
        self.grown = profile.grown

    def is_due(self, epoch: int, agent_steps: int, done: bool) -> bool:
        """Counts an update; no rating is ever due."""
        self._seen += 1
        self._advance(1)
        counted = self._seen - WARM_UP
        if counted == 0:
            self._profile.weighs = False
            self._machine = Utilization(self._device)
            self._start = time.perf_counter(), agent_steps, self._profile.seconds
        elif counted == self.updates:
            self._take_measurement(agent_steps)
            self._start_profiler()
        elif counted == self.updates + TRACED:
            self._stop_profiler()
            self.stop_reason = f"{self.updates} updates measured"
        return False

    def rate(self, policy: torch.nn.Module, name: str, agent_steps: int) -> dict[str, float]:
        """Returns nothing; never called, since no rating is due."""
        return {}

    def _take_measurement(self, agent_steps: int) -> None:
        """Sets the attributes from the time since the warm-up."""
        start, steps, before = self._start
        self.seconds = (time.perf_counter() - start) / self.updates
        self.decisions = (agent_steps - steps) / self.updates
        seconds = self._profile.seconds
        self.parts = {
            name: (seconds[name] - before.get(name, 0.0)) / self.updates for name in self.parents
        }
        self.machine = self._machine.metrics()
        self.ended = Memory.now(self._device)

    def _start_profiler(self) -> None:
        if self._trace:
            os.environ.setdefault("KINETO_LOG_LEVEL", "9")  # otherwise it logs to stderr
            self._profile.traced = True
            self._profiler = profiler.profile()  # of all devices
            self._profiler.start()
            self._trace_start = time.perf_counter()

    def _stop_profiler(self) -> None:
        if self._trace:
            self.traced_seconds = time.perf_counter() - self._trace_start
            self._profiler.stop()
            self._profiler.export_chrome_trace(str(self._trace))
            self.operators = costliest(self._profiler)


def costliest(profile: profiler.profile) -> list[dict[str, str | int | float]]:
    """Returns the operators that took longest, on the GPU if it was used, without nested ones.

    Returns:
        For each operator its name, the number of its calls and their total seconds.
    """
    events = [
        event
        for event in profile.key_averages()
        if event.device_type == DeviceType.CPU and not event.is_user_annotation
    ]
    has_gpu = any(event.self_device_time_total for event in events)
    time_of = operator.attrgetter("self_device_time_total" if has_gpu else "self_cpu_time_total")
    return [
        {"operator": event.key, "calls": event.count, "seconds": time_of(event) / 1e6}
        for event in sorted(events, key=time_of, reverse=True)[:OPERATORS]
    ]
