"""A collector of experience on a Ray cluster: its rollouts, its copy of the pool, and its actor."""

import signal
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import ray
import ray.exceptions
import torch

from midrange_puffer import __version__
from midrange_puffer.config.configuration import Config
from midrange_puffer.errors import UserError
from midrange_puffer.files import write_whole
from midrange_puffer.game.observation import OBSERVATION_VERSION
from midrange_puffer.names import inside
from midrange_puffer.policies import model_file
from midrange_puffer.policies.pool_file import PoolError, read_members
from midrange_puffer.train.central import with_critic
from midrange_puffer.train.cluster.connect import (
    ClusterError,
    LostError,
    describe_loss,
    ray_losses,
)
from midrange_puffer.train.own_folder import OwnFolder
from midrange_puffer.train.pool import Pool
from midrange_puffer.train.rollout import RolloutPuffeRL
from midrange_puffer.train.trainer_state import seed_everything
from midrange_puffer.train.vector import StepTime, VecEnv, make_env

# Versions that the machines of collectors and learner must share.
VERSIONS = {
    "midrange_puffer": __version__,
    "the observations": str(OBSERVATION_VERSION),
}


@dataclass(frozen=True)
class Rollout:
    """One segment of experience of every agent of a collector, by one set of weights.

    Attributes:
        buffers: as of `RolloutPuffeRL.gathered`, [agents, horizon, ...].
        stats: figures of the engagements that ended, by name.
        seconds: duration of the rollout.
        step_time: decisions, and the time of the environment's steps.
    """

    buffers: dict[str, np.ndarray]
    stats: dict[str, list[float]]
    seconds: float
    step_time: StepTime


class Collector:
    """Gathers experience on the CPU with one instance of the environment.

    Args:
        config: of a stage of the run, without any "auto".
        seed: of the engagements and of the drawn actions.
        pool: the pool's file, if env.opponent has a pool.
    """

    def __init__(self, config: Config, seed: int, pool: Path | None = None) -> None:
        torch.set_num_threads(1)
        origin = "a collector"
        config = config.replaced("vec", origin, backend="PufferEnv", num_envs=1)
        config = config.replaced("train", origin, device="cpu", threads=1)
        self._policy = with_critic(model_file.new_policy(config), config)
        vecenv = VecEnv(make_env, config, pool)
        # PuffeRL for its buffers and `evaluate`; it never trains.
        batch = vecenv.num_agents * config.train.bptt_horizon
        settings = replace(
            config.train,
            batch_size=batch,
            minibatch_size=batch,
            max_minibatch_size=batch,
            total_timesteps=batch,
            seed=seed,
            precision="float32",
            cpu_offload=False,
            compile=False,
            optimizer="adam",
        )
        self._pufferl = RolloutPuffeRL(settings, vecenv, self._policy)
        seed_everything(seed)

    def collect(self, weights: dict[str, torch.Tensor]) -> Rollout:
        """Lets the policy with these weights act for one segment of every agent.

        The next call overwrites the buffers of the rollout.
        """
        pufferl = self._pufferl
        start, before = time.perf_counter(), pufferl.vecenv.step_time
        self._policy.load_state_dict(weights)
        pufferl.engine.load()
        pufferl.evaluate()
        stats = dict(pufferl.stats)
        pufferl.stats.clear()
        buffers = {name: buffer.numpy() for name, buffer in pufferl.gathered.items()}
        step_time = pufferl.vecenv.step_time.since(before)
        return Rollout(buffers, stats, time.perf_counter() - start, step_time)

    def close(self) -> None:
        """Closes the environment."""
        self._pufferl.vecenv.close()


@dataclass(frozen=True)
class PoolFiles:
    """The present content of a pool, as it is sent to collectors.

    Attributes:
        listing: the content of the pool's file.
        models: path of each model's file, relative to the pool's folder -> a reference to its
            content.
    """

    listing: bytes
    models: dict[str, object]


class PoolSender:
    """Makes the pool available to collectors, which may not see the run folder.

    Args:
        path: the pool's file.
        put: stores a model's bytes, once a model, and returns a reference.
    """

    def __init__(self, path: Path, put: Callable[[bytes], object]) -> None:
        self._path, self._put = path, put
        self._models: dict[str, object] = {}

    def files(self) -> PoolFiles:
        """Returns the present pool, without models whose files have vanished."""
        kept, self._models = self._models, {}
        for name in (member.path for member in read_members(self._path)):
            file = self._path.parent / name
            if name in kept:
                self._models[name] = kept[name]
            elif file.is_file():
                self._models[name] = self._put(file.read_bytes())
        return PoolFiles(self._path.read_bytes(), dict(self._models))


class PoolMirror:
    """A collector's copy of the pool, in a folder of its own.

    Args:
        get: returns the content of a reference.
        parent: the parent of the folder.

    Attributes:
        path: the pool's file.
    """

    def __init__(self, get: Callable[[Any], Any], parent: str | Path) -> None:
        self._get = get
        self._folder = OwnFolder("midrange-pool-", parent)
        self.path = self._folder.path / Pool.FILE
        self._listing = b""
        self._models: set[str] = set()

    def update(self, files: PoolFiles) -> None:
        """Updates the copy; the models in the pool's file always exist.

        Models that have left are deleted: those in a present engagement are in `PoolCrew`'s memory.

        Raises:
            PoolError: A model's path leads out of the folder; nothing was written.
        """
        try:
            places = {name: inside(self.path.parent, name) for name in files.models}
        except ValueError as error:
            raise PoolError(f"the pool's model {error}") from None
        for name in files.models.keys() - self._models:
            file = places[name]
            file.parent.mkdir(parents=True, exist_ok=True)
            write_whole(file, self._get(files.models[name]))
        if files.listing != self._listing:
            write_whole(self.path, files.listing)
            self._listing = files.listing
        for name in self._models - files.models.keys():
            (self.path.parent / name).unlink()
        self._models = set(files.models)

    def close(self) -> None:
        """Removes the folder."""
        self._folder.close()


class RemoteCollector:
    """The Ray actor of a collector, anywhere in the cluster, for one stage after another."""

    def __init__(self) -> None:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # the learner handles Ctrl-C
        self._collector: Collector | None = None
        self._mirror: PoolMirror | None = None

    def begin(
        self, versions: Mapping[str, str], config: Config, seed: int, pool: PoolFiles | None
    ) -> None:
        """Makes the collector of a stage.

        Args:
            versions: the learner's `VERSIONS`.
            config: of the stage.
            seed: of the engagements and of the drawn actions.
            pool: the present pool, if env.opponent has one.

        Raises:
            ClusterError: This machine has other versions.
        """
        for name, wanted in versions.items():
            if VERSIONS[name] != wanted:
                raise ClusterError(
                    f"a collector's machine has version {VERSIONS[name]} of {name}, the learner's "
                    f"{wanted}: install the same on all"
                )
        self.close()
        if pool is not None:
            self._mirror = PoolMirror(
                lambda reference: ray.get(reference), ray.get_runtime_context().get_temp_dir()
            )
            self._mirror.update(pool)
        self._collector = Collector(config, seed, self._mirror and self._mirror.path)

    def collect(self, weights: dict[str, torch.Tensor], pool: PoolFiles | None) -> Rollout:
        """Gathers a rollout with these weights and this pool."""
        if self._collector is None:
            raise RuntimeError("no stage has begun")
        if pool is not None and self._mirror is not None:
            self._mirror.update(pool)
        return self._collector.collect(weights)

    def close(self) -> None:
        """Closes the environment and removes the copy of the pool."""
        if self._collector is not None:
            self._collector.close()
        if self._mirror is not None:
            self._mirror.close()
        self._collector = self._mirror = None


class RayActors:
    """The learner's calls to Ray, for `Collectors`."""

    def room(self) -> int:
        """Returns the number of cores in the cluster, each for one collector."""
        return int(ray.cluster_resources().get("CPU", 0))

    def put(self, value: object) -> ray.ObjectRef:
        """Stores a value for all nodes; returns a reference."""
        return ray.put(value)

    def start(self) -> Any:
        """Requests a collector, which starts when there is a core for it."""
        return ray.remote(num_cpus=1)(RemoteCollector).remote()

    def call(self, actor: Any, method: Callable[..., object], *arguments: object) -> ray.ObjectRef:
        """Calls a method of a `RemoteCollector`, after its earlier calls."""
        return getattr(actor, method.__name__).remote(*arguments)

    def wait(self, references: list[Any], seconds: float) -> list[Any]:
        """Returns the references with results, after waiting up to `seconds` for the first."""
        if not references:
            return []
        ray.wait(references, num_returns=1, timeout=seconds)
        return ray.wait(references, num_returns=len(references), timeout=0)[0]

    def get(self, reference: Any) -> Any:
        """Returns a result that is there.

        Raises:
            LostError: The collector was lost.
            UserError: The collector has raised it.
        """
        try:
            return ray.get(reference)
        except ray_losses() as error:
            raise LostError(describe_loss(error)) from error
        except ray.exceptions.RayTaskError as error:
            raise error.cause if isinstance(error.cause, UserError) else error from None

    def kill(self, actor: Any) -> None:
        """Ends a collector at once."""
        ray.kill(actor)
