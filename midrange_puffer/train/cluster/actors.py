"""Collectors as Ray actors: the side of the collectors, and what the learner asks of Ray."""

import signal
from collections.abc import Callable, Mapping, Sequence

import ray
import torch

from midrange_puffer import __version__
from midrange_puffer.config.configuration import Config
from midrange_puffer.errors import UserError
from midrange_puffer.game.observation import OBSERVATION_VERSION
from midrange_puffer.train.cluster.collector import Collector, Rollout
from midrange_puffer.train.cluster.connect import ClusterError, LostError
from midrange_puffer.train.cluster.losses import LOSSES, describe_loss
from midrange_puffer.train.cluster.pool_mirror import PoolFiles, PoolMirror

# What collectors must have as the learner has it.
VERSIONS = {
    "midrange_puffer": __version__,
    "the observations": str(OBSERVATION_VERSION),
}


class RemoteCollector:
    """A collector in a process of its own, anywhere in the cluster, for one stage after another."""

    def __init__(self) -> None:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the learner's
        self._collector: Collector | None = None
        self._mirror: PoolMirror | None = None

    def begin(
        self, versions: Mapping[str, str], config: Config, seed: int, pool: PoolFiles | None
    ) -> None:
        """Make the environment of a stage.

        Args:
            versions: the learner's `VERSIONS`.
            config: of the stage.
            seed: of the engagements, and of the actions drawn.
            pool: as it is now, where env.opponent has one.

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
            self._mirror = PoolMirror(ray.get, ray.get_runtime_context().get_temp_dir())
            self._mirror.update(pool)
        self._collector = Collector(config, seed, self._mirror and self._mirror.path)

    def collect(self, weights: dict[str, torch.Tensor], pool: PoolFiles | None) -> Rollout:
        """Gather a rollout with these weights, the pool being as it is given."""
        if pool is not None:
            self._mirror.update(pool)
        return self._collector.collect(weights)

    def close(self) -> None:
        """End the environment and remove what lies on disk."""
        if self._collector is not None:
            self._collector.close()
        if self._mirror is not None:
            self._mirror.close()
        self._collector = self._mirror = None


class RayActors:
    """The calls to Ray that `Collectors` makes."""

    def room(self) -> int:
        """How many collectors the cluster has cores for, if nobody else uses it."""
        return int(ray.cluster_resources().get("CPU", 0))

    def put(self, value: object) -> ray.ObjectRef:
        """Keep a value where all nodes can get it."""
        return ray.put(value)

    def start(self) -> ray.actor.ActorHandle:
        """Ask for a collector, which comes when there is a core for it."""
        return ray.remote(num_cpus=1)(RemoteCollector).remote()

    def call(
        self, actor: ray.actor.ActorHandle, method: Callable[..., object], *arguments: object
    ) -> ray.ObjectRef:
        """Call a method of a `RemoteCollector` after those called before."""
        return getattr(actor, method.__name__).remote(*arguments)

    def wait(self, references: Sequence[ray.ObjectRef], seconds: float) -> list[ray.ObjectRef]:
        """The results that are here, or that of the first to be, within so long."""
        if not references:
            return []
        ray.wait(references, num_returns=1, timeout=seconds)
        return ray.wait(references, num_returns=len(references), timeout=0)[0]

    def get(self, reference: ray.ObjectRef) -> object:
        """A result that is here.

        Raises:
            LostError: It will never come.
            UserError: The collector has raised it.
        """
        try:
            return ray.get(reference)
        except LOSSES as error:
            raise LostError(describe_loss(error)) from error
        except ray.exceptions.RayTaskError as error:
            raise error.cause if isinstance(error.cause, UserError) else error from None

    def kill(self, actor: ray.actor.ActorHandle) -> None:
        """End a collector at once."""
        ray.kill(actor)
