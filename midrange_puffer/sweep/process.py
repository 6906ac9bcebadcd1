"""The process of one trial, on whichever machine, and the cores that it has."""

import contextlib
import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from textwrap import shorten
from types import MappingProxyType

from rich.text import Text

from midrange_puffer.names import shown
from midrange_puffer.sweep.record import LOG, Reading, load_readings
from midrange_puffer.sweep.trial import ERROR

COMMAND = ("-m", "midrange_puffer.sweep.trial")  # for Python, and the trial's folder
REASON_LENGTH = 300  # characters


@dataclass(frozen=True)
class Look:
    """How a trial's process gets on.

    Attributes:
        code: its exit status, the negative of a signal's number; None while it runs.
        readings: those that it has written.
        last_words: the last error that it printed, or else the last line; "" while it runs.
    """

    code: int | None = None
    readings: list[Reading] = field(default_factory=list)
    last_words: str = ""


class TrialProcess:
    """The process of one trial.

    It has a session of its own, so that Ctrl-C does not reach it and all of it can be killed at
    once. It reads its stdin, which ends when this process does, and then ends, too.

    Args:
        command: what Python is to run, with `folder` as its last word.
        folder: the trial's; what it prints goes to its trial.log.
        cores: those that it may use; none given: those of this process.
        variables: of its environment, beside this process's.
    """

    def __init__(
        self,
        command: Sequence[str],
        folder: Path,
        cores: Sequence[int] = (),
        variables: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        # Trackers name a run by its folder, which is `run` for every trial.
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

    def look(self, patience: float = 0) -> Look:
        """See how it gets on, after at most `patience` seconds in which it may end."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(patience)
        code = self._process.poll()
        words = "" if code is None else last_words(self._folder / LOG)
        return Look(code, load_readings(self._folder), words)

    def close(self) -> None:
        """End it with all its workers, if it runs, and wait until it is gone."""
        if self._process.poll() is None:
            os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()
        self._process.stdin.close()


def last_words(log: Path) -> str:
    """The last error in what a process printed, or else the last line.

    Without what differs where trials fail alike: the folder.
    """
    text = Text.from_ansi(log.read_text(errors="replace")).plain
    lines = [line for line in text.splitlines() if line.strip()]
    errors = [line.removeprefix(ERROR) for line in lines if line.startswith(ERROR)]
    words = (errors or lines or [""])[-1]
    return shown(shorten(words.replace(f"{log.parent}/", ""), REASON_LENGTH))


def share_of_cores(slot: int, workers: int) -> list[int]:
    """The cores of one of so many workers: a share of those that this process may use."""
    if not hasattr(os, "sched_getaffinity"):
        return []
    cores = sorted(os.sched_getaffinity(0))
    return cores[slot::workers] or [cores[slot % len(cores)]]


@contextlib.contextmanager
def pinned(cores: Sequence[int]) -> Iterator[None]:
    """Keep this thread, and what it starts meanwhile, to some cores; none given: to no fewer."""
    if not cores:
        yield
        return
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, cores)
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)
