"""PufferLib's vector environments, and the time of their steps."""

import math
import multiprocessing
import signal
import time
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch

from midrange_puffer.config.configuration import Config
from midrange_puffer.envs.midrange import Midrange
from midrange_puffer.envs.own_env import env_class
from midrange_puffer.errors import UserError
from midrange_puffer.game.critic_views import OWN_CRITIC
from midrange_puffer.game.parameters import dies_alone
from midrange_puffer.policies.own_code import MIDRANGE
from midrange_puffer.puffer_import import contained
from midrange_puffer.train.workers import StoppedWorkers, WorkerError, Workers

with contained():
    import pufferlib.vector


class StepTime(NamedTuple):
    """Agent decisions, and the seconds that environments spent in their `step` for them."""

    decisions: float = 0.0
    seconds: float = 0.0

    @classmethod
    def sum(cls, parts: "Iterable[StepTime]") -> "StepTime":
        """Returns the sums of all parts."""
        return cls(*map(sum, zip(*parts, strict=True)))

    @property
    def sps(self) -> float:
        """Agent decisions a second; nan if there were none."""
        return self.decisions / self.seconds if self.seconds else math.nan

    def since(self, before: "StepTime") -> "StepTime":
        """Returns the difference to an earlier one."""
        return StepTime(self.decisions - before.decisions, self.seconds - before.seconds)


class StepTimer:
    """Times the `step` of environments, which may be in workers.

    Args:
        instances: the number of environments.
    """

    def __init__(self, instances: int) -> None:
        # One row an environment, which writes only its own. Workers inherit the array.
        self._shared = multiprocessing.RawArray("d", len(StepTime._fields) * instances)
        self._instances = instances

    def makers(self, make_env: Callable[..., Midrange]) -> list[Callable[..., Midrange]]:
        """Returns one function an environment, which makes it and times its steps from then on."""
        return [partial(self._timed, i, make_env) for i in range(self._instances)]

    @property
    def total(self) -> StepTime:
        """The sum over all environments so far."""
        return StepTime(*map(float, self._rows().sum(axis=0)))

    def _rows(self) -> np.ndarray:
        return np.frombuffer(self._shared).reshape(self._instances, len(StepTime._fields))

    def _timed(
        self, instance: int, make_env: Callable[..., Midrange], **kwargs: object
    ) -> Midrange:
        env = make_env(**kwargs)
        row, step = self._rows()[instance], env.step

        def timed(actions: np.ndarray) -> Any:
            start = time.perf_counter()
            result = step(actions)
            row[:] += env.num_agents, time.perf_counter() - start
            return result

        env.step = timed
        return env


class VecEnv:
    """A PufferLib vector environment for the trainer.

    * Truncations are among the terminals, since PuffeRL ignores truncations. An engagement that its
      time limit ends has a result, and the policy observes the time left.
    * A worker that dies raises WorkerError in the main thread, where PufferLib would wait for it
      without end. A stopped worker is reported on stderr.

    Args:
        make_env: makes an environment, in a worker if there are any.
        config: without any "auto" in [vec].
        pool: the pool's file, if env.opponent has a pool.

    Attributes:
        sides: the side of each agent of a batch, int64 [agents_per_batch]; None in one against one.
    """

    def __init__(
        self, make_env: Callable[..., Midrange], config: Config, pool: Path | None = None
    ) -> None:
        vec = config.vec
        options: dict[str, Any] = {}
        env = {**config.env, "pool": pool, "name": config.base.env_class}
        if config.train.critic != OWN_CRITIC:
            env["critic"] = config.train.critic
        backend: Any = vec.backend  # PufferLib's annotation has only classes
        if vec.backend == "Multiprocessing":
            backend = Workers
            options = {name: vec[name] for name in ("num_workers", "batch_size")}
            options["overwork"] = True  # `settle` has refused more workers than cores
        else:
            env["threads"] = config.train.threads
        count = vec.num_envs
        self._step_timer = StepTimer(count)
        makers = self._step_timer.makers(make_env)
        self._envs: Any  # of one of PufferLib's classes, which have no types
        if vec.backend == "PufferEnv":
            self._envs = pufferlib.vector.make(makers[0], env_kwargs=env)
        else:
            self._envs = pufferlib.vector.make(
                makers,
                env_args=[[]] * count,
                env_kwargs=[env] * count,
                backend=backend,
                num_envs=count,
                **options,
            )
        self.processes = getattr(self._envs, "processes", [])
        self.driver_env = self._envs.driver_env
        self.single_observation_space = self._envs.single_observation_space
        self.single_action_space = self._envs.single_action_space
        self.action_space = self._envs.action_space  # PuffeRL clips to its bounds
        self.num_agents = self._envs.num_agents
        self.agents_per_batch = getattr(self._envs, "agents_per_batch", self.num_agents)
        self.sides = self._sides_of_batch() if dies_alone(config.env) else None
        self.async_reset = self._envs.async_reset
        # Buffers of all agents; `recv` returns these or a part of them.
        buffers = self._envs.buf if self.processes else vars(self._envs)
        self.observations = buffers["observations"]
        self._is_pinned = False
        if self.processes:
            self._sigchld = signal.signal(signal.SIGCHLD, self._on_child_exit)
            self._on_child_exit()  # one may have ended before the handler was set
            self._watch = StoppedWorkers(self.processes)
            self._watch.start()
        if config.train.pin_memory and config.train.device.startswith("cuda"):
            self._pin()

    def _sides_of_batch(self) -> np.ndarray:
        """Returns the side of each agent of a batch, int64 [agents_per_batch], ascending."""
        sides = self.driver_env.sides
        instances = self.agents_per_batch // len(sides)
        return np.concatenate([sides + (sides[-1] + 1) * n for n in range(instances)])

    def send(self, actions: np.ndarray) -> None:
        """Starts a step with actions [agents_per_batch, heads], int32, or float32 if continuous."""
        self._envs.send(np.ascontiguousarray(actions))

    def recv(self) -> tuple[object, ...]:
        """Waits for the step.

        Returns:
            Observations, rewards, ends, truncations, infos, agents, masks.
        """
        observations, rewards, terminals, truncations, *rest = self._envs.recv()
        return (observations, rewards, terminals | truncations, truncations, *rest)

    @property
    def step_time(self) -> StepTime:
        """The decisions of the environments so far, and the time of their steps."""
        return self._step_timer.total

    def _pin(self) -> None:
        """Locks the observations into memory, so that CUDA copies them directly."""
        try:
            pin(self.observations)
        except UserError:
            self.close()
            raise
        self._is_pinned = True

    def close(self) -> None:
        """Ends the workers and waits for them."""
        if self.processes:
            signal.signal(signal.SIGCHLD, self._sigchld)
            self._watch.end()
        self._envs.close()
        for process in self.processes:
            process.join(timeout=2)
            if process.is_alive():
                process.kill()
                process.join()
        if self._is_pinned:
            unpin(self.observations)

    def _on_child_exit(self, *_: object) -> None:
        for worker, process in enumerate(self.processes):
            if process.exitcode is not None:
                raise WorkerError(
                    f"environment worker {worker} (process {process.pid}) ended with exit code "
                    f"{process.exitcode}"
                )


def _cudart() -> Any:  # torch gives no type
    return torch.cuda.cudart()


def pin(array: np.ndarray) -> None:
    """Locks an array into memory (cudaHostRegister).

    Raises:
        UserError: The system or CUDA refuses.
    """
    status = int(_cudart().cudaHostRegister(array.ctypes.data, array.nbytes, 0))
    if status:
        raise UserError(
            f"train.pin_memory = True: CUDA cannot lock {array.nbytes / 2**20:.1f} MiB into memory "
            f"(its error {status}); see ulimit -l, or use False"
        )


def unpin(array: np.ndarray) -> None:
    """Unlocks an array that `pin` has locked, before its memory is freed.

    Errors are ignored: CUDA has then failed earlier, and that error is reported.
    """
    _cudart().cudaHostUnregister(array.ctypes.data)


def make_env(name: str = MIDRANGE, **kwargs: Any) -> Midrange:
    """Makes an environment of the class `name` (base.env_class)."""
    env = env_class(name)(**kwargs)
    env.checks_levels = False  # a policy draws no others
    return env
