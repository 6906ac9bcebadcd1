"""Worker processes that step environments: PufferLib's, except that they sleep while they wait."""

import multiprocessing
import os
import signal
import sys
import threading
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import partial
from multiprocessing.synchronize import Semaphore
from typing import Any

import numpy as np
import psutil
import torch

from midrange_puffer.errors import UserError
from midrange_puffer.puffer_import import contained
from midrange_puffer.train import ranks

with contained():
    import pufferlib.vector

LOOK_INTERVAL = 1.0  # s between two looks at the workers
# A worker is reported stopped after this many looks in a row; after Ctrl-Z and fg it goes on.
LOOKS = 5
# s of a wait, which then begins anew: a signal that comes just before a wait does not end it. On
# macOS a wait with a limit sleeps between looks, so that it would end late.
WAIT = None if sys.platform == "darwin" else 1.0


class WorkerError(UserError):
    """A process that steps environments ended on its own."""


class Workers(pufferlib.vector.Multiprocessing):
    """PufferLib's Multiprocessing with semaphores of the system.

    PufferLib's workers poll shared memory for the next actions, and its trainer polls for their
    results. Each process that waits so keeps a core from the others. Buffers, batches and their
    order are PufferLib's.

    Args:
        makers: one function an environment, which makes it.
        env_args: positional arguments of each.
        env_kwargs: further arguments of each.
        num_envs: the number of environments, a multiple of num_workers.
        num_workers: the number of processes.
        options: further options of PufferLib's class, such as `batch_size`.
    """

    def __init__(
        self,
        makers: Sequence[Any],
        env_args: Sequence[Any],
        env_kwargs: Sequence[dict[str, Any]],
        num_envs: int,
        num_workers: int,
        **options: Any,
    ) -> None:
        self._orders = [multiprocessing.Semaphore(0) for _ in range(num_workers)]
        self._results = [multiprocessing.Semaphore(0) for _ in range(num_workers)]
        self._at_work: set[int] = set()
        # PufferLib looks the function up in its module.
        stock = pufferlib.vector._worker_process
        pufferlib.vector._worker_process = partial(_work, self._orders, self._results)
        try:
            super().__init__(makers, env_args, env_kwargs, num_envs, num_workers, **options)
        finally:
            pufferlib.vector._worker_process = stock

    def async_reset(self, seed: int = 0) -> None:
        """Starts new episodes in all environments; each has a seed of its own, from `seed` on."""
        self._wait(list(self._at_work))
        super().async_reset(seed)
        self._start(range(self.num_workers))

    def send(self, actions: np.ndarray) -> None:
        """Starts a step of the batch that was received last."""
        super().send(actions)
        self._start(np.arange(self.num_workers)[self.w_slice].reshape(-1))

    def recv(self) -> tuple[Any, ...]:
        """Waits for the next batch, and returns it as PufferLib does."""
        if self.flag == pufferlib.vector.RECV:  # otherwise PufferLib raises an error
            self._wait(self.waiting_workers[: self.workers_per_batch])
        results = super().recv()
        # `async_reset` must not wait for infos that are received already.
        self.buf["semaphores"][self.w_slice] = pufferlib.vector.MAIN
        return results

    def _start(self, workers: Iterable[int]) -> None:
        for worker in workers:
            self._at_work.add(int(worker))
            self._orders[worker].release()

    def _wait(self, workers: Sequence[int]) -> None:
        """Waits for workers, but not for those of an earlier wait that Ctrl-C has ended."""
        for worker in self._at_work.intersection(workers):
            while not self._results[worker].acquire(timeout=WAIT):
                pass
            self._at_work.remove(worker)


def _work(
    orders: Sequence[Semaphore],
    results: Sequence[Semaphore],
    makers: Sequence[Any],
    env_args: Sequence[Any],
    env_kwargs: Sequence[dict[str, Any]],
    obs_shape: tuple[int, ...],
    obs_dtype: np.dtype,
    atn_shape: tuple[int, ...],
    atn_dtype: np.dtype,
    num_envs: int,
    num_agents: int,
    num_workers: int,
    worker: int,
    infos_out: Any,
    seeds_in: Any,
    shm: dict[str, Any],
    is_native: bool,
    seed: int,
) -> None:
    """Steps a worker's environments, in the place and with the arguments of PufferLib's function.

    `num_envs` and `num_agents` are those of a worker and of an environment. The arrays of all
    workers are in `shm`; `semaphores` has the order for each worker, then the kind of its results.
    """
    _become_worker()

    def own(name: str, dtype: Any, *shape: int) -> np.ndarray:
        return np.ndarray((num_workers, num_envs * num_agents, *shape), dtype, shm[name])[worker]

    actions = own("actions", atn_dtype, *atn_shape)
    buffers = {
        "observations": own("observations", obs_dtype, *obs_shape),
        "actions": actions,
        "rewards": own("rewards", np.float32),
        "terminals": own("terminals", bool),
        "truncations": own("truncateds", bool),
        "masks": own("masks", bool),
    }
    buffers["masks"][:] = True
    others = worker * (num_envs - 1)  # PufferLib counts seeds by workers
    envs = pufferlib.vector.Serial(
        makers, env_args, env_kwargs, num_envs, buf=buffers, seed=seed + others
    )
    state = np.ndarray(num_workers, np.uint8, shm["semaphores"])
    while True:
        orders[worker].acquire()
        if state[worker] == pufferlib.vector.RESET:
            infos = envs.reset(seeds_in.recv() + others)[1]
        else:
            infos = envs.step(actions)[-1]
        state[worker] = pufferlib.vector.INFO if infos else pufferlib.vector.MAIN
        results[worker].release()
        if infos:
            infos_out.send(infos)


class StoppedWorkers(threading.Thread):
    """A thread that reports on stderr which workers are stopped (SIGSTOP), and when they go on.

    PufferLib waits for them without a message.
    """

    def __init__(self, processes: Sequence[multiprocessing.Process]) -> None:
        super().__init__(daemon=True)
        self._workers = [process.pid for process in processes if process.pid is not None]
        self._is_over = threading.Event()

    def run(self) -> None:
        """Looks at the workers until `end`."""
        looks = Counter[int]()  # worker -> looks in a row that found it stopped
        while not self._is_over.wait(LOOK_INTERVAL):
            for worker, process in enumerate(self._workers):
                name = f"environment worker {worker} (process {process})"
                if _is_stopped(process):
                    looks[worker] += 1
                    if looks[worker] == LOOKS:
                        go_on = f"it goes on with: kill -CONT {process}"
                        print(f"{name} is stopped, and training waits; {go_on}", file=sys.stderr)
                elif looks.pop(worker, 0) >= LOOKS:
                    print(f"{name} goes on", file=sys.stderr)

    def end(self) -> None:
        """Ends the thread."""
        self._is_over.set()
        self.join()


def _is_stopped(process: int) -> bool:
    try:
        return psutil.Process(process).status() == psutil.STATUS_STOPPED
    except psutil.NoSuchProcess:
        return False


def _become_worker() -> None:
    """Makes this process a worker: it ends with the trainer and on SIGTERM, not on Ctrl-C.

    Torch gets one thread, which is fastest for the small batches of frozen opponents.
    """
    if ranks.is_launched():
        os.setpgrp()  # a launcher signals a rank's group, and workers must outlive it
    torch.set_num_threads(1)
    for number in (signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
    os._exit(1)
