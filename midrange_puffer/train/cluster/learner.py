"""The learner of a cluster: a trainer whose experience comes from collectors."""

import contextlib
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import torch

from midrange_puffer.config.configuration import Config, run_configs
from midrange_puffer.config.machine import updates_ahead
from midrange_puffer.game.parameters import is_team
from midrange_puffer.policies import model_file
from midrange_puffer.policies.mix import count_agents
from midrange_puffer.train.cluster.connect import connected
from midrange_puffer.train.experience import GATHERED, MASKS
from midrange_puffer.train.machine import usable_cores
from midrange_puffer.train.step_clock import Stepped
from midrange_puffer.train.trainer import StageTrainer

if TYPE_CHECKING:
    from midrange_puffer.train.cluster.collectors import Collectors, Job

BATCHES = 2  # of experience, beside what is gathered ahead: being gathered, and being copied
ALLOWANCE = 64 * 2**20  # bytes, for weights and the pool's models
PARTS = ("broadcast", "queue", "copy")  # of gathering, by PuffeRL's clock


class RemoteEnvs:
    """What a trainer asks of its environments, where collectors have them.

    Args:
        collectors: that begin with these environments when they are reset, and outlive them.
        config: of the run as it is in its stage, without any "auto".
        pool: the file of the pool, where env.opponent has one.
    """

    def __init__(self, collectors: "Collectors", config: Config, pool: Path | None = None) -> None:
        self.collectors = collectors
        self.stepped = Stepped()  # by the collectors' own clocks
        self._config, self._pool = config, pool
        spaces = model_file.policy_spaces(config["env"])
        self.single_observation_space = spaces.single_observation_space
        self.single_action_space = self.action_space = spaces.single_action_space
        self.num_agents = self.agents_per_batch = config["vec"]["num_envs"] * agents(config)
        # Nobody acts here: only whether there are sides of several is of interest.
        self.sides = np.zeros(0, np.int64) if is_team(config["env"]) else None

    def async_reset(self, seed: int) -> None:
        """Let the collectors begin, each with a seed of its own."""
        self.collectors.begin(self._config, rollouts(self._config), seed, self._pool)

    def close(self) -> None:
        """Nothing: the collectors are of the run."""


class ClusterTrainer(StageTrainer):
    """Trains from what collectors gather."""

    vecenv: RemoteEnvs

    def __init__(self, *args: object, **kwargs: object) -> None:
        super().__init__(*args, **kwargs)
        # Since the last row: seconds of the rollouts, and how old their weights were in updates.
        self._rollouts: list[float] = []
        self._lags: list[int] = []

    def gather(self) -> None:
        """Fill the buffers with the rollouts of an update, adding to `stats` and `global_step`."""
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
        """Send the weights at every cluster.weight_sync_interval, and at the start."""
        collectors = self.vecenv.collectors
        interval = self.run.config["cluster"]["weight_sync_interval"]
        if collectors.version is None or self.epoch >= collectors.version + interval:
            weights = self.uncompiled_policy.state_dict()
            weights = {name: value.detach().cpu() for name, value in weights.items()}
            collectors.broadcast(weights, self.epoch)

    def _copy(self, jobs: "list[Job]") -> None:
        """Put the rollouts into the buffers, one after another."""
        row = 0
        with warnings.catch_warnings():
            # Arrays from the object store cannot be written, and are not.
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
        steps = [self.vecenv.stepped, *(job.rollout.stepped for job in jobs)]
        self.vecenv.stepped = Stepped.sum(steps)
        self._rollout_bytes = sum(one.nbytes for one in jobs[0].rollout.buffers.values())

    def source_metrics(self) -> dict[str, float]:
        """How the collectors fared since the last row, and how old their weights were."""
        collectors, parts = self.vecenv.collectors, self.profile.profiles
        seconds, lags = np.mean(self._rollouts), self._lags
        decisions = agents(self.curriculum.config) * self.config["bptt_horizon"]
        self._rollouts, self._lags = [], []
        return {
            "performance/collect": seconds,
            # Since the last row, where PuffeRL gives those of all up to now.
            **{f"performance/{name}": parts[name]["delta"] for name in PARTS},
            "cluster/policy_lag": np.mean(lags),
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
    """Have collectors for a run; yields what makes the environments of a stage.

    Raises:
        ClusterError: The cluster cannot be used.
    """
    cluster = config["cluster"]
    # Of a cluster of our own; who finds no core there waits for one.
    cores = min(cluster["max_collectors"], usable_cores())
    with connected(cluster["address"], cores, _store(config)):
        # They import Ray, which may not be before there is a connection.
        from midrange_puffer.train.cluster.actors import RayActors
        from midrange_puffer.train.cluster.collectors import Collectors

        collectors = Collectors(cluster, RayActors(), is_stopping)
        with contextlib.closing(collectors):
            yield partial(RemoteEnvs, collectors)


def agents(config: Config) -> int:
    """In a rollout."""
    return count_agents(config["env"])


def rollouts(config: Config) -> int:
    """In an update."""
    train = config["train"]
    return train["batch_size"] // (agents(config) * train["bptt_horizon"])


def _store(config: Config) -> int:
    """Bytes for all experience that there can be at a time, in any stage, and what goes with it."""
    decisions = max(
        (BATCHES + updates_ahead(config["cluster"], rollouts(stage))) * stage["train"]["batch_size"]
        for stage in run_configs(config)
    )
    return decisions * _decision_bytes(config) + ALLOWANCE


def _decision_bytes(config: Config) -> int:
    """What a decision takes in a rollout."""
    spaces = model_file.policy_spaces(config["env"])
    both = (spaces.single_observation_space, spaces.single_action_space)
    others = len(GATHERED) + is_team(config["env"]) - len(both)
    return sum(np.prod(one.shape) * one.dtype.itemsize for one in both) + 4 * others
