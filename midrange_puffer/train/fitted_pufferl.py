"""PuffeRL as trainers and collectors use it.

Some of what it does cannot be overridden, since it looks functions and classes up in its module.
They are replaced there only while it does so: importing this module changes nothing.
"""

import contextlib
import time
import warnings
from collections.abc import Iterator

import torch

from midrange_puffer.puffer_import import contained
from midrange_puffer.train.utilization import Utilization
from midrange_puffer.train.vector import REWARD_SCALE, VecEnv

with contained():
    from pufferlib import pufferl

__all__ = ["Clock", "FittedPuffeRL", "pufferl", "quiet", "replaced"]


class Clock(pufferl.Profile):
    """PuffeRL's clock of the parts of an update, but of every update, and one that nobody sets."""

    def __call__(self, name: str, epoch: int, nest: bool = False) -> None:
        """Begin a part, in place of the last one begun or within it (`nest`)."""
        now = time.monotonic()
        if self.stack and not nest:
            self.pop(now)
        self.stack.append(name)
        self.profiles[name]["start"] = now

    def end(self) -> None:
        """End all parts."""
        now = time.monotonic()
        while self.stack:
            self.pop(now)


class FittedPuffeRL(pufferl.PuffeRL):
    """PuffeRL without its thread, which would keep a process that fails from ending.

    `Utilization` reads the machine in its place. Every update is timed, by clocks that nobody sets,
    and float32 is computed in without CUDA's mixed precision.

    Args:
        config: section [train] without any "auto", with `env` (a name for the dashboard) and
            `use_rnn` besides.
        vecenv: where the experience comes from.
        policy: that acts, and learns.
        logger: as PuffeRL wants it; None: nothing is logged.
    """

    def __init__(
        self,
        config: dict[str, object],
        vecenv: VecEnv,
        policy: torch.nn.Module,
        logger: object | None = None,
    ) -> None:
        with quiet(), replaced(Utilization=lambda: Utilization(config["device"])):
            super().__init__(config, vecenv, policy, logger)
        if not isinstance(self.profile, Clock):  # `puffer profile` has put its own there
            self.profile = Clock()
        self.start_time = self.last_log_time = time.monotonic()
        if config["precision"] == "float32":
            self.amp_context = contextlib.nullcontext()

    @property
    def uptime(self) -> float:
        """Seconds of training."""
        return time.monotonic() - self.start_time

    @property
    def sps(self) -> float:
        """Agent decisions a second since the last log."""
        steps = self.global_step - self.last_log_step
        return steps / (time.monotonic() - self.last_log_time) if steps else 0

    def evaluate(self) -> dict[str, list[float]]:
        """Fill the buffers; return the results of the engagements that finished, by name."""
        stats = super().evaluate()
        self.rewards *= REWARD_SCALE
        return stats

    def print_dashboard(self, clear: bool = False) -> None:
        """Print it, with the numbers of steps as they are: the sums of all ranks already."""
        with replaced(dist_sum=lambda value, device: value):
            super().print_dashboard(clear=clear)

    def close(self) -> None:
        """Nothing is left to end; the environments are the caller's to close."""


@contextlib.contextmanager
def replaced(**names: object) -> Iterator[None]:
    """Have PuffeRL find these under their names in its module."""
    stock = {name: getattr(pufferl, name) for name in names}
    vars(pufferl).update(names)
    try:
        yield
    finally:
        vars(pufferl).update(stock)


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """Hide two warnings that say nothing here.

    PuffeRL sets up CUDA's mixed precision even where there is no CUDA, and heavyball's optimizers
    call a schedule of the learning rate experimental.
    """
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", ".*autocast", UserWarning)
        warnings.filterwarnings("ignore", "Learning rate changed between steps", UserWarning)
        yield
