"""PufferLib's vector environments, and the processes in which they are stepped."""

import multiprocessing
import os
import signal
import sys
import threading
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import psutil
import torch

from midrange_puffer.config.configuration import Config
from midrange_puffer.envs.midrange import Midrange, env_class
from midrange_puffer.errors import UserError
from midrange_puffer.game.parameters import is_team
from midrange_puffer.policies.own_code import MIDRANGE
from midrange_puffer.puffer_import import contained
from midrange_puffer.train import ranks
from midrange_puffer.train.step_clock import StepClock, Stepped

with contained():
    import pufferlib.vector


LOOK_INTERVAL = 1.0  # s, from one look at the workers to the next
# How many looks in a row find a worker stopped before that is told: after Ctrl-Z and fg it goes on.
LOOKS = 5


class WorkerError(UserError):
    """A process that steps environments ended on its own."""


class VecEnv:
    """A PufferLib vector environment as the trainer needs it.

    An engagement cut off by its time limit has its result, and the policy sees the clock, so a
    truncation ends an episode like any other end: PuffeRL, which ignores truncations, is given
    them among the terminals. A worker that dies raises WorkerError in the main thread, where
    PufferLib would wait for it for ever; of one that is stopped stderr is told.

    Attributes:
        sides: the side that each agent of a batch is of, int64 [agents_per_batch]; None where one
            flies against one.

    Args:
        make_env: makes an environment, in a worker where there are some.
        config: without any "auto" in [vec].
        pool: the file of the pool, where env.opponent has one.
    """

    def __init__(
        self, make_env: Callable[..., object], config: Config, pool: Path | None = None
    ) -> None:
        vec = config["vec"]
        options, env = {}, {**config["env"], "pool": pool, "name": config["base"]["env_class"]}
        if vec["backend"] == "Multiprocessing":
            options = {name: vec[name] for name in ("num_workers", "batch_size")}
        else:
            env["threads"] = config["train"]["threads"]
        count = vec["num_envs"]
        self._clock = StepClock(count)
        makers = self._clock.makers(make_env)
        if vec["backend"] == "PufferEnv":
            self._envs = pufferlib.vector.make(makers[0], env_kwargs=env)
        else:
            self._envs = pufferlib.vector.make(
                makers,
                env_args=[[]] * count,
                env_kwargs=[env] * count,
                backend=vec["backend"],
                num_envs=count,
                **options,
            )
        self.processes = getattr(self._envs, "processes", [])
        self.driver_env = self._envs.driver_env
        self.single_observation_space = self._envs.single_observation_space
        self.single_action_space = self._envs.single_action_space
        self.action_space = self._envs.action_space  # by whose bounds PuffeRL clips
        self.num_agents = self._envs.num_agents
        self.agents_per_batch = getattr(self._envs, "agents_per_batch", self.num_agents)
        self.sides = self._sides_of_batch() if is_team(config["env"]) else None
        self.async_reset = self._envs.async_reset
        # Of all agents; `recv` gives out these or a part of them.
        buffers = self._envs.buf if self.processes else vars(self._envs)
        self.observations = buffers["observations"]
        self._is_pinned = False
        if self.processes:
            self._sigchld = signal.signal(signal.SIGCHLD, self._on_child_exit)
            self._on_child_exit()  # it may have been too late for one
            self._watch = StoppedWorkers(self.processes)
            self._watch.start()
        if config["train"]["pin_memory"] and config["train"]["device"].startswith("cuda"):
            self._pin()

    def _sides_of_batch(self) -> np.ndarray:
        """The side that each agent of a batch is of, int64 [agents_per_batch], in their order."""
        of_one = self.driver_env.sides
        instances = self.agents_per_batch // len(of_one)
        return np.concatenate([of_one + (of_one[-1] + 1) * n for n in range(instances)])

    def send(self, actions: np.ndarray) -> None:
        """Start a step: int32 or, where actions are continuous, float32 [agents_per_batch, 3]."""
        self._envs.send(np.ascontiguousarray(actions))

    def recv(self) -> tuple[object, ...]:
        """Wait for the step.

        Returns:
            Observations, rewards, ends, truncations, infos, agents, masks.
        """
        observations, rewards, terminals, truncations, *rest = self._envs.recv()
        return (observations, rewards, terminals | truncations, truncations, *rest)

    @property
    def stepped(self) -> Stepped:
        """What its environments have stepped so far, by their own clocks."""
        return self._clock.total

    def _pin(self) -> None:
        """Let CUDA copy observations without a detour; the rest is a few bytes an agent."""
        try:
            pin(self.observations)
        except UserError:
            self.close()
            raise
        self._is_pinned = True

    def close(self) -> None:
        """End the workers and wait until they are gone."""
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


class StoppedWorkers(threading.Thread):
    """Says on stderr which workers are stopped, as by SIGSTOP, and when they go on.

    PufferLib waits for them without a word.
    """

    def __init__(self, processes: Sequence[multiprocessing.Process]) -> None:
        super().__init__(daemon=True)
        self._workers = [process.pid for process in processes]
        self._is_over = threading.Event()

    def run(self) -> None:
        """Look at the workers until `end`."""
        looks = Counter[int]()  # worker -> how many in a row found it stopped
        while not self._is_over.wait(LOOK_INTERVAL):
            for worker, process in enumerate(self._workers):
                who = f"environment worker {worker} (process {process})"
                if _is_stopped(process):
                    looks[worker] += 1
                    if looks[worker] == LOOKS:
                        go_on = f"it goes on with: kill -CONT {process}"
                        print(f"{who} is stopped, and training waits; {go_on}", file=sys.stderr)
                elif looks.pop(worker, 0) >= LOOKS:
                    print(f"{who} goes on", file=sys.stderr)

    def end(self) -> None:
        """Look no more."""
        self._is_over.set()
        self.join()


def _is_stopped(process: int) -> bool:
    try:
        return psutil.Process(process).status() == psutil.STATUS_STOPPED
    except psutil.NoSuchProcess:
        return False


def pin(array: np.ndarray) -> None:
    """Lock an array into memory (cudaHostRegister).

    Raises:
        UserError: The system or CUDA does not let it.
    """
    status = int(torch.cuda.cudart().cudaHostRegister(array.ctypes.data, array.nbytes, 0))
    if status:
        raise UserError(
            f"train.pin_memory = True: CUDA cannot lock {array.nbytes / 2**20:.1f} MiB into memory "
            f"(its error {status}); see ulimit -l, or use False"
        )


def unpin(array: np.ndarray) -> None:
    """Let go of what `pin` has locked, before its memory is given back.

    It fails where CUDA has failed before, of which that error tells.
    """
    torch.cuda.cudart().cudaHostUnregister(array.ctypes.data)


def make_env(name: str = MIDRANGE, **kwargs: object) -> Midrange:
    """Make the environment, in the trainer's process or in a worker's.

    Args:
        name: base.env_class.
    """
    if multiprocessing.parent_process() is not None:
        _become_worker()
    return env_class(name)(**kwargs)


def _become_worker() -> None:
    """Leave Ctrl-C and a lost terminal to the trainer; obey SIGTERM; end when the trainer ends.

    Frozen opponents are asked in small batches. Torch does that best in one thread, beside others.
    """
    if ranks.is_launched():
        os.setpgrp()  # a launcher signals a rank's whole group, which still needs its workers
    torch.set_num_threads(1)
    for number in (signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    multiprocessing.parent_process().join()
    os._exit(1)
