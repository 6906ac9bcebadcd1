"""Who runs the trials of a sweep: workers on this machine, or on a Ray cluster."""

import contextlib
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Protocol

from midrange_puffer.config.configuration import Config
from midrange_puffer.sweep.process import COMMAND, Look, TrialProcess, share_of_cores
from midrange_puffer.train.cluster.connect import connected


class Worker(Protocol):
    """Runs one trial after another.

    Attributes:
        seconds: for how long the trial has run [s].
    """

    seconds: float

    def is_free(self) -> bool:
        """Whether it can be given a trial now; it prepares for one."""

    def begin(self, folder: Path) -> None:
        """Run the trial of this folder."""

    def look(self) -> Look:
        """See how the trial gets on.

        Raises:
            LostError: It is gone with the machine it ran on, for no fault of its settings.
        """

    def end(self) -> None:
        """End the trial, if it runs, so that another can begin."""

    def close(self) -> None:
        """Need no more of the machine until the next trial; the one before has been ended."""


class LocalWorker:
    """Runs trials on this machine.

    Args:
        cores: those that they may use.
        command: what Python is to run, with a trial's folder as its last word.
    """

    def __init__(self, cores: Sequence[int], command: Sequence[str]) -> None:
        self._cores, self._command = cores, command
        self._process: TrialProcess | None = None

    @property
    def seconds(self) -> float:
        """For how long the trial has run [s]."""
        return time.monotonic() - self._began

    def is_free(self) -> bool:
        """Whether it can be given a trial now."""
        return self._process is None

    def begin(self, folder: Path) -> None:
        """Run the trial of this folder."""
        self._process = TrialProcess(self._command, folder, self._cores)
        self._began = time.monotonic()

    def look(self) -> Look:
        """See how the trial gets on."""
        return self._process.look()

    def end(self) -> None:
        """End the trial, if it runs, and wait until it is gone."""
        if self._process:
            self._process.close()
        self._process = None

    close = end


def local_workers(count: int, command: Sequence[str] = COMMAND) -> list[LocalWorker]:
    """So many workers, each with its share of the cores that this process may use."""
    return [LocalWorker(share_of_cores(slot, count), command) for slot in range(count)]


@contextlib.contextmanager
def workers_of(config: Config, command: Sequence[str] = COMMAND) -> Iterator[Sequence[Worker]]:
    """The workers of a sweep.

    Raises:
        UsageError, ClusterError: sweep.engine cannot be used.
    """
    settings = config.sweep
    count = min(settings.workers, settings.trials)
    if settings.engine == "local":
        yield local_workers(settings.workers, command)
        return
    cores = settings.trial_cores
    with connected(config.cluster.address, count * cores):
        from midrange_puffer.sweep.ray_worker import RayWorker, describe_room

        print(describe_room(cores))
        yield [RayWorker(cores, command) for _ in range(count)]
