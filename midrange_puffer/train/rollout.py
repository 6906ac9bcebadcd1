"""PuffeRL's set-up and buffers, with the rollout of this package: what trainers and collectors do.

The set-up is PuffeRL's own: the environments' first reset, the buffers and the sizes of batches,
torch's switches, `torch.compile`, Adam and the counters. Its rollout is replaced. An `Engine`
computes the actions, so that they may come from the C learner.
"""

import contextlib
import time
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import torch

from midrange_puffer.config.sections import TrainConfig
from midrange_puffer.policies.actors import PolicyModule
from midrange_puffer.policies.critic import ActorCritic
from midrange_puffer.policies.networks import Policy
from midrange_puffer.policies.own_policy import empty_memory
from midrange_puffer.puffer_import import contained
from midrange_puffer.train import ranks
from midrange_puffer.train.engine import Engine, TimeStep
from midrange_puffer.train.experience import GATHERED, MASKS
from midrange_puffer.train.native_engine import NativeEngine
from midrange_puffer.train.optimizer import Muon, skip_dynamo_import
from midrange_puffer.train.profiling import Profile
from midrange_puffer.train.torch_engine import TorchEngine
from midrange_puffer.train.utilization import Utilization
from midrange_puffer.train.vector import VecEnv

with contained():
    from pufferlib import pufferl

# Attributes that PuffeRL's set-up makes for its own rollout and update alone.
UNUSED = ("truncations", "ratio", "importance", "ep_lengths", "ep_indices", "scheduler")


class RolloutPuffeRL(pufferl.PuffeRL):
    """PuffeRL with this package's rollout, engine and optimizer.

    `Utilization` replaces PuffeRL's thread that reads the machine: the thread would keep a failed
    process from ending. Every update is timed, by a monotonic clock.

    Args:
        settings: section [train] without any "auto".
        vecenv: the source of the experience.
        policy: the policy that acts and learns, with its central critic if it has one.
        logger: as PuffeRL wants it; None: nothing is logged.
        profile: where the parts of an update are timed; None: a new one.
        title: a name for the dashboard.

    Attributes:
        settings: section [train].
        optimizer: of the policy's parameters.
        engine: computes actions and updates.
    """

    engine: Engine
    epoch: int
    global_step: int
    logger: Any
    utilization: Utilization

    def __init__(
        self,
        settings: TrainConfig,
        vecenv: VecEnv,
        policy: PolicyModule,
        logger: object | None = None,
        profile: Profile | None = None,
        title: str = "",
    ) -> None:
        if not settings.compile:
            skip_dynamo_import()
        config = {**settings, "env": title}
        with _fitted_set_up(settings.device):
            # Its own Muon is heavyball's, and takes seconds to import. Memories are made below.
            # The engine sees to the precision; PuffeRL knows no float16.
            own = {"optimizer": "adam", "use_rnn": False, "precision": "float32"}
            super().__init__({**config, **own}, vecenv, policy, logger)
        for name in UNUSED:
            delattr(self, name)
        self.config, self.settings, self.profile = config, settings, profile or Profile()
        self.start_time = self.last_log_time = time.monotonic()
        if not self.actions.is_floating_point():
            self.actions = self.actions.int()  # as they are drawn and stepped with
        if settings.optimizer == "muon":
            rate, beta = settings.learning_rate, settings.adam_beta1
            self.optimizer = Muon(policy.parameters(), rate, beta)
        torch.set_float32_matmul_precision("high" if settings.tf32 else "highest")
        torch.backends.cudnn.allow_tf32 = settings.tf32
        if settings.engine == "native":
            assert isinstance(policy, (Policy, ActorCritic))  # `settle` gives it to no other
            self.engine = NativeEngine(policy, self.optimizer, settings)
        else:
            self.policy = ranks.share(self.policy)
            self.engine = TorchEngine(self.policy, policy, self.optimizer, settings)
        self._sides: torch.Tensor | None = None
        if vecenv.sides is not None:
            self._sides = torch.from_numpy(vecenv.sides).to(settings.device)
            self.masks = torch.ones_like(self.values)

    @property
    def gathered(self) -> dict[str, torch.Tensor]:
        """The buffers that `evaluate` fills, by the names of `GATHERED`, and `MASKS` in teams."""
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
        """Fills the buffers; returns figures of the engagements that ended, by name.

        Every agent fills one segment after another, until all segments are full. The memory of a
        recurrent policy is empty at the start of the rollout.
        """
        self.profile("eval", self.epoch)
        self.profile("eval_misc", self.epoch, nest=True)
        buffers = {name: getattr(self, name) for name in GATHERED}
        batches = range(0, self.total_agents, self.vecenv.agents_per_batch)
        memories = {first: self._empty_memory() for first in batches}
        # By a batch's first agent: the row of its present segment, and the decision within it.
        places = {first: (first, 0) for first in batches}
        next_row, full = self.total_agents, 0
        while full < self.segments:
            self.profile("env", self.epoch)
            observations, rewards, ends, _, infos, agents, living = self.vecenv.recv()
            self.global_step += int(living.sum())
            first, count = agents[0], agents[-1] + 1 - agents[0]
            row, step = places[first]
            rows = slice(row, row + count)
            self.profile("eval_forward", self.epoch)
            done = torch.from_numpy(ends).to(self.settings.device)
            state = {"done": done, **memories[first]}
            inputs = TimeStep(observations, rewards, ends, living)
            actions = self.engine.act(inputs, state, buffers, rows, step)
            memories[first] = {name: state[name] for name in memories[first]}
            if self._sides is not None:
                self._note_living(living, rows, step)
            self.profile("eval_misc", self.epoch)
            places[first] = (row, step + 1)
            if step + 1 == self.settings.bptt_horizon:
                places[first] = (next_row, 0)
                next_row += count
                full += count
            for info in infos:
                for name, values in info.items():
                    self.stats[name] += values
            self.profile("env", self.epoch)
            self.vecenv.send(actions)
        self.profile.end()
        return self.stats

    def _empty_memory(self) -> dict[str, torch.Tensor]:
        """Returns a recurrent policy's empty memory of a batch of agents."""
        count, device = self.vecenv.agents_per_batch, self.settings.device
        return empty_memory(self.uncompiled_policy, count, device)

    def _note_living(self, living: np.ndarray, rows: slice, step: int) -> None:
        """Writes which agents live, and gives the dead the mean value of their living mates."""
        if self._sides is None:
            return
        alive = torch.from_numpy(living).to(self._sides.device)
        self.masks[rows, step] = alive.float()
        values = self.values[rows, step]
        self.values[rows, step] = mean_values_of_mates(values, alive, self._sides)

    def print_dashboard(self, clear: bool = False) -> None:
        """Prints nothing: `dashboard.Dashboard` is a logger."""

    def close(self) -> None:
        """Does nothing: the caller closes the environments, and there is no thread to end."""


def mean_values_of_mates(
    values: torch.Tensor, living: torch.Tensor, sides: torch.Tensor
) -> torch.Tensor:
    """Returns values in which a dead fighter has the mean of its living mates; 0 if there are none.

    After a segment's end this is what the rest of the fight is worth to the dead (see
    `update.settle_deaths`).

    Args:
        values: float32 [n].
        living: bool [n].
        sides: int64 [n], the side of each fighter, ascending.
    """
    sums, counts = (
        torch.zeros(int(sides[-1]) + 1, device=values.device).index_add_(0, sides, part)
        for part in (torch.where(living, values, 0), living.float())
    )
    return torch.where(living, values, (sums / counts.clamp(min=1))[sides])


@contextlib.contextmanager
def _fitted_set_up(device: str) -> Iterator[None]:
    """Replaces PuffeRL's `Utilization` during its set-up, and hides a warning.

    PuffeRL looks the class up in its module. It makes CUDA's mixed precision even without CUDA,
    which warns.
    """
    stock = pufferl.Utilization
    pufferl.Utilization = lambda: Utilization(device)
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", ".*autocast", UserWarning)
            yield
    finally:
        pufferl.Utilization = stock
