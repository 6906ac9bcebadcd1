"""The learner of a cluster: a trainer whose experience comes from collectors."""

import contextlib
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from midrange_puffer.config.configuration import Config, run_configs
from midrange_puffer.config.machine import updates_ahead
from midrange_puffer.game.parameters import dies_alone
from midrange_puffer.policies import model_file
from midrange_puffer.policies.mix import count_agents
from midrange_puffer.train.central import experience_space
from midrange_puffer.train.cluster.connect import connected
from midrange_puffer.train.experience import GATHERED, MASKS, Buffer
from midrange_puffer.train.machine import usable_cores
from midrange_puffer.train.run_files import shared_buffer_name
from midrange_puffer.train.trainer import StageTrainer
from midrange_puffer.train.vector import StepTime

if TYPE_CHECKING:
    from midrange_puffer.train.cluster.collectors import Collectors, Job
    from midrange_puffer.train.cluster.shared_buffer import SharedBuffer

BATCHES = 2  # in memory besides those gathered ahead: one being gathered, one being copied
ALLOWANCE = 64 * 2**20  # bytes, for weights and the pool's models
PARTS = ("broadcast", "queue", "copy")  # of gathering, in the profile


class RemoteEnvs:
    """Collectors' environments, with the part of `VecEnv` that a `ClusterTrainer` uses.

    Args:
        collectors: make the environments at the reset; they outlive this object.
        config: of the stage, without any "auto".
        pool: the pool's file, if env.opponent has a pool.
    """

    def __init__(self, collectors: "Collectors", config: Config, pool: Path | None = None) -> None:
        self.collectors = collectors
        self.step_time = StepTime()  # the sum over rollouts
        self._config, self._pool = config, pool
        spaces = model_file.policy_spaces(config.env)
        self.single_observation_space = experience_space(config)
        self.single_action_space = self.action_space = spaces.single_action_space
        self.num_agents = self.agents_per_batch = config.vec.num_envs * agents(config)
        # Not read: no one acts here. It is only not None in team games.
        self.sides = np.zeros(0, np.int64) if dies_alone(config.env) else None

    def async_reset(self, seed: int) -> None:
        """Starts the collectors, each with a seed of its own."""
        self.collectors.begin(self._config, rollouts(self._config), seed, self._pool)

    def close(self) -> None:
        """Does nothing: the collectors belong to the run."""


class ClusterTrainer(StageTrainer):
    """A trainer whose experience collectors gather."""

    vecenv: RemoteEnvs
    _shared: "SharedBuffer | None" = None

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        # Since the last row: seconds of the rollouts, and the age of their weights in updates.
        self._rollouts: list[float] = []
        self._lags: list[int] = []

    def gather(self) -> None:
        """Fills the buffers with the rollouts of an update; adds to `stats` and `global_step`."""
        self.profile("eval", self.epoch)
        self.profile("broadcast", self.epoch, nest=True)
        self._broadcast()
        self.profile("queue", self.epoch)
        jobs = self.vecenv.collectors.take(self.epoch)
        self.profile("copy", self.epoch)
        self._copy(jobs)
        self.profile.end()
        lags = [self.epoch - job.version for job in jobs]
        self.is_off_policy = any(lags)
        self._lags += lags
        self._rollouts += [job.rollout.seconds for job in jobs]

    def _broadcast(self) -> None:
        """Sends the weights at every cluster.weight_sync_interval, and at the start."""
        collectors = self.vecenv.collectors
        interval = self.run.config.cluster.weight_sync_interval
        if collectors.version is None or self.epoch >= collectors.version + interval:
            weights = self.uncompiled_policy.state_dict()
            weights = {name: value.detach().cpu() for name, value in weights.items()}
            collectors.broadcast(weights, self.epoch)

    def _copy(self, jobs: "list[Job]") -> None:
        """Copies the rollouts into the buffers, one after another."""
        row = 0
        with warnings.catch_warnings():
            # Arrays from the object store are read-only, which torch warns of.
            warnings.filterwarnings("ignore", "The given NumPy array is not writable", UserWarning)
            for job in jobs:
                rows = slice(row, row + len(job.rollout.buffers["values"]))
                for name, kept in job.rollout.buffers.items():
                    getattr(self, name)[rows] = torch.from_numpy(kept)
                for name, values in job.rollout.stats.items():
                    self.stats[name] += values
                row = rows.stop
        masks = self.gathered.get(MASKS)
        self.global_step += self.values.numel() if masks is None else int(masks.sum())
        times = [self.vecenv.step_time, *(job.rollout.step_time for job in jobs)]
        self.vecenv.step_time = StepTime.sum(times)
        self._rollout_bytes = sum(array.nbytes for array in jobs[0].rollout.buffers.values())

    def train(self) -> dict[str, float]:
        """As `StageTrainer.train`; the end of the run ends a buffer on the cluster."""
        row = super().train()
        if self._shared is not None and self.is_over:
            self._shared.end()
        return row

    def shared_buffer(self) -> Callable[[int], Buffer] | None:
        """Returns what makes a buffer on the cluster, with experience_buffer.shared."""
        config, run = self.curriculum.config, self.run
        if not config.experience_buffer.shared:
            return None
        from midrange_puffer.train.cluster.shared_buffer import SharedBuffer

        # All that the segments of a stage depend on.
        shapes = {name: tensor.shape[1:] for name, tensor in self.gathered.items()}
        title = (self.curriculum.stage, shapes, dict(config.env), config.train.gamma)

        def make(first: int) -> Buffer:
            self._shared = SharedBuffer(
                shared_buffer_name(run.folder),
                title,
                config.experience_buffer,
                first,
                self.settings.seed,
                config.cluster.timeout,
            )
            return self._shared

        return make

    def source_metrics(self) -> dict[str, float]:
        """Returns metrics of the collectors since the last row."""
        collectors, parts = self.vecenv.collectors, self.profile.profiles
        seconds, lags = float(np.mean(self._rollouts)), self._lags
        decisions = agents(self.curriculum.config) * self.settings.bptt_horizon
        self._rollouts, self._lags = [], []
        return {
            "performance/collect": seconds,
            # Since the last row; other parts are sums over the whole run.
            **{f"performance/{name}": parts[name]["delta"] for name in PARTS},
            "cluster/policy_lag": float(np.mean(lags)),
            "cluster/policy_lag_max": max(lags),
            "cluster/collectors": collectors.at_work,
            "cluster/collector_sps": decisions / seconds,
            "cluster/rollout_bytes": self._rollout_bytes,
            "cluster/lost": collectors.lost,
            "cluster/dropped": collectors.dropped,
        }


@contextlib.contextmanager
def collecting(
    config: Config, is_stopping: Callable[[], bool]
) -> Iterator[Callable[[Config, Path | None], RemoteEnvs]]:
    """Opens collectors for a run; yields the function that makes a stage's environments.

    Raises:
        ClusterError: The cluster cannot be used.
    """
    cluster = config.cluster
    # The cores of a cluster of this run's own: a collector without a core would wait for one.
    cores = min(cluster.max_collectors, usable_cores())
    with connected(cluster.address, cores, _store(config)):
        # They import Ray, which must come after the connection.
        from midrange_puffer.train.cluster.collector import RayActors
        from midrange_puffer.train.cluster.collectors import Collectors

        collectors = Collectors(cluster, RayActors(), is_stopping)
        with contextlib.closing(collectors):
            yield partial(RemoteEnvs, collectors)


def agents(config: Config) -> int:
    """Returns the number of agents in a rollout."""
    return count_agents(config.env)


def rollouts(config: Config) -> int:
    """Returns the number of rollouts in an update."""
    train = config.train
    return train.batch_size // (agents(config) * train.bptt_horizon)


def _store(config: Config) -> int:
    """Returns the bytes of an object store for all experience at a time, in any stage."""
    decisions = max(
        (BATCHES + updates_ahead(config.cluster, rollouts(stage))) * stage.train.batch_size
        for stage in run_configs(config)
    )
    return decisions * _decision_bytes(config) + ALLOWANCE


def _decision_bytes(config: Config) -> int:
    """Returns the bytes of a decision in a rollout."""
    spaces = model_file.policy_spaces(config.env)
    wide = (experience_space(config), spaces.single_action_space)
    narrow = len(GATHERED) + dies_alone(config.env) - len(wide)  # buffers of a number a decision
    return sum(np.zeros(space.shape, space.dtype).nbytes for space in wide) + 4 * narrow
