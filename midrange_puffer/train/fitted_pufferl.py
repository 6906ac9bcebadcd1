"""PuffeRL as trainers and collectors use it: its buffers and its metrics.

What is computed in a rollout and an update is an `Engine`'s. Some of what PuffeRL does cannot be
overridden, since it looks functions and classes up in its module. They are replaced there only
while it does so: importing this module changes nothing.
"""

import contextlib
import time
import warnings
from collections.abc import Iterator

import numpy as np
import torch

from midrange_puffer.policies.own_policy import empty_memory
from midrange_puffer.puffer_import import contained
from midrange_puffer.train import ranks
from midrange_puffer.train.deaths import with_values_of_mates
from midrange_puffer.train.engine import Engine, Seen
from midrange_puffer.train.engines import make_engine, make_optimizer, spare_dynamo
from midrange_puffer.train.experience import GATHERED, MASKS
from midrange_puffer.train.utilization import Utilization
from midrange_puffer.train.vector import VecEnv

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

    Attributes:
        optimizer: of the policy's parameters.
        engine: what the policy acts by.
    """

    engine: Engine

    def __init__(
        self,
        config: dict[str, object],
        vecenv: VecEnv,
        policy: torch.nn.Module,
        logger: object | None = None,
    ) -> None:
        if not config["compile"]:
            spare_dynamo()
        # Its own optimizers are heavyball's, which take seconds to import.
        with quiet(), replaced(Utilization=lambda: Utilization(config["device"])):
            super().__init__({**config, "optimizer": "adam"}, vecenv, policy, logger)
        self.config = config
        if not self.actions.is_floating_point():
            self.actions = self.actions.int()  # as they are drawn and stepped with
        if not isinstance(self.profile, Clock):  # `puffer profile` has put its own there
            self.profile = Clock()
        self.start_time = self.last_log_time = time.monotonic()
        if config["precision"] == "float32":
            self.amp_context = contextlib.nullcontext()
        self.optimizer = make_optimizer(config, policy)
        if config["engine"] == "torch":
            self.policy = ranks.share(self.policy)
        self.engine = make_engine(config, self.policy, policy, self.optimizer, self.amp_context)
        self._sides = None
        if vecenv.sides is not None:
            self._sides = torch.from_numpy(vecenv.sides).to(config["device"])
            self.masks = torch.ones_like(self.values)

    @property
    def gathered(self) -> dict[str, torch.Tensor]:
        """The buffers that `evaluate` fills, by the names of `GATHERED`, and in teams `MASKS`."""
        names = GATHERED if self._sides is None else (*GATHERED, MASKS)
        return {name: getattr(self, name) for name in names}

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
        """Fill the buffers; return the results of the engagements told of, by name.

        Every agent fills a segment, one after another, until all segments are full. The memory of a
        recurrent policy begins anew with the rollout.
        """
        self.profile("eval", self.epoch)
        self.profile("eval_misc", self.epoch, nest=True)
        buffers = {name: getattr(self, name) for name in GATHERED}
        memories = self._empty_memories()
        # By a batch's first agent: the row of its present segment, and the step of that.
        places = {first: (first, 0) for first in memories}
        begun, full = self.total_agents, 0
        while full < self.segments:
            seen, infos, agents = self._receive()
            first, count = agents.start, agents.stop - agents.start
            row, step = places[first]
            rows = slice(row, row + count)
            self.profile("eval_forward", self.epoch)
            state = {
                "done": torch.from_numpy(seen.ends).to(self.config["device"]),
                **memories[first],
            }
            actions = self.engine.act(seen, state, buffers, rows, step)
            memories[first] = {name: state[name] for name in memories[first]}
            if self._sides is not None:
                self._note_living(seen.living, rows, step)
            self.profile("eval_misc", self.epoch)
            places[first] = (row, step + 1)
            if step + 1 == self.config["bptt_horizon"]:
                places[first] = (begun, 0)
                begun += count
                full += count
            self._take_infos(infos)
            self.profile("env", self.epoch)
            self.vecenv.send(actions)
        self.profile.end()
        return self.stats

    def _receive(self) -> tuple[Seen, list[dict], slice]:
        """Wait for the next batch: what is seen, infos, and which agents they are."""
        self.profile("env", self.epoch)
        observations, rewards, ends, _, infos, agents, living = self.vecenv.recv()
        self.global_step += int(living.sum())
        return Seen(observations, rewards, ends, living), infos, slice(agents[0], agents[-1] + 1)

    def _note_living(self, living: np.ndarray, rows: slice, step: int) -> None:
        """Keep who of a batch lives, and what the values of the others are."""
        alive = torch.from_numpy(living).to(self._sides.device)
        self.masks[rows, step] = alive.float()
        values = self.values[rows, step]
        self.values[rows, step] = with_values_of_mates(values, alive, self._sides)

    def _empty_memories(self) -> dict[int, dict[str, torch.Tensor]]:
        """What the policy remembers of each batch of agents, by the first of them: nothing."""
        count = self.vecenv.agents_per_batch
        batches = range(0, self.total_agents, count)
        policy, device = self.uncompiled_policy, self.config["device"]
        return {first: empty_memory(policy, count, device) for first in batches}

    def _take_infos(self, infos: list[dict]) -> None:
        for info in infos:
            for name, values in info.items():
                self.stats[name] += values

    def print_dashboard(self, clear: bool = False) -> None:
        """Nothing: `dashboard.Dashboard` is a logger."""

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
    """Hide a warning: PuffeRL sets up CUDA's mixed precision even where there is no CUDA."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", ".*autocast", UserWarning)
        yield
