"""Workers on this machine: they run the trials of a sweep, each in its own process."""

import contextlib
import os
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from textwrap import shorten
from types import MappingProxyType

from rich.text import Text

from midrange_puffer.files import read_end
from midrange_puffer.names import shown
from midrange_puffer.sweep.record import LOG, Reading, load_readings
from midrange_puffer.sweep.trial import ERROR
from midrange_puffer.system import kill_group, own_cores

COMMAND = ("-m", "midrange_puffer.sweep.trial")  # arguments of Python, before the trial's folder
LONGEST_END = 1 << 20  # bytes of a log's end, in which an error is looked for
REASON_LENGTH = 300  # most characters of a reason


@dataclass(frozen=True)
class ProcessState:
    """The state of a trial's process.

    Attributes:
        code: its exit status, or the negative number of a signal; None while it runs.
        readings: the readings that it has written.
        last_words: the last error that it has printed, otherwise the last line; "" while it runs.
    """

    code: int | None = None
    readings: list[Reading] = field(default_factory=list)
    last_words: str = ""


class TrialProcess:
    """The process of one trial.

    It runs in its own session: Ctrl-C does not reach it, and one signal kills it with its
    children. Its stdin is a pipe that closes when this process ends; then it ends, too.

    Args:
        command: arguments of Python, before `folder`.
        folder: the trial's folder; the process's output goes to trial.log in it.
        cores: cores that the process may use; empty: those of this process.
        variables: environment variables, in addition to those of this process.
    """

    def __init__(
        self,
        command: Sequence[str],
        folder: Path,
        cores: Sequence[int] = (),
        variables: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        # Trackers would name every trial `run`, after its run folder.
        environment = {"WANDB_NAME": folder.name, **os.environ, **variables}
        self._folder = folder
        with (folder / LOG).open("wb") as log, pinned(cores):
            self._process = subprocess.Popen(
                [sys.executable, *command, str(folder)],
                env=environment,
                stdin=subprocess.PIPE,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    def look(self, patience: float = 0) -> ProcessState:
        """Returns the state, after waiting at most `patience` seconds for the end."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(patience)
        code = self._process.poll()
        words = "" if code is None else last_words(self._folder / LOG)
        return ProcessState(code, load_readings(self._folder), words)

    def close(self) -> None:
        """Kills the process and its children if it runs, and waits for the end."""
        if self._process.poll() is None:
            kill_group(self._process.pid)
            self._process.wait()
        if self._process.stdin is not None:
            self._process.stdin.close()


def last_words(log: Path) -> str:
    """Returns the last error that a process has printed, otherwise the last line.

    The trial's folder is removed from it, so that trials that fail for the same reason have equal
    words.
    """
    text = Text.from_ansi(read_end(log, LONGEST_END).decode(errors="replace")).plain
    lines = [line for line in text.splitlines() if line.strip()]
    errors = [line.removeprefix(ERROR) for line in lines if line.startswith(ERROR)]
    words = (errors or lines or [""])[-1]
    return shown(shorten(words.replace(f"{log.parent}/", ""), REASON_LENGTH))


def share_of_cores(slot: int, workers: int) -> list[int]:
    """Returns the cores of worker `slot`: an equal share of those that this process may use."""
    cores = own_cores()
    if not cores:
        return []
    return cores[slot::workers] or [cores[slot % len(cores)]]


@contextlib.contextmanager
def pinned(cores: Sequence[int]) -> Iterator[None]:
    """Pins this thread, and processes that it starts, to some cores; does nothing without cores."""
    if not cores:
        yield
        return
    before = own_cores()
    os.sched_setaffinity(0, cores)
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


class LocalWorker:
    """A worker on this machine; `RayWorker` has the same methods.

    Args:
        cores: cores that its trials may use.
        command: arguments of Python, before a trial's folder.
    """

    def __init__(self, cores: Sequence[int], command: Sequence[str]) -> None:
        self._cores, self._command = cores, command
        self._process: TrialProcess | None = None
        self._began = 0.0

    @property
    def seconds(self) -> float:
        """Time for which the trial has run [s]."""
        return time.monotonic() - self._began

    def is_free(self) -> bool:
        """True if the worker can take a trial now."""
        return self._process is None

    def begin(self, folder: Path) -> None:
        """Starts the trial of this folder."""
        self._process = TrialProcess(self._command, folder, self._cores)
        self._began = time.monotonic()

    def look(self) -> ProcessState:
        """Returns the state of the trial."""
        if self._process is None:
            raise RuntimeError("no trial runs")
        return self._process.look()

    def end(self) -> None:
        """Ends the trial if it runs, and waits for its end."""
        if self._process:
            self._process.close()
        self._process = None

    close = end  # there is nothing else to free


def local_workers(count: int, command: Sequence[str] = COMMAND) -> list[LocalWorker]:
    """Returns `count` workers, each with a share of the cores that this process may use."""
    return [LocalWorker(share_of_cores(slot, count), command) for slot in range(count)]
