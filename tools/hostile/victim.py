"""A command of the package in a process that is killed: at some moment, or inside a save.

The process is a fork of this one, in which everything is imported already, so that it begins at
once. Nothing of the package is changed for it: in the fork os.fsync and os.replace, by which every
file of the package is saved, count their calls and kill the process at one of them.
"""

import contextlib
import os
import random
import signal
import time
import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from midrange_puffer.commands import cli
from midrange_puffer.errors import UserError

PATIENCE = 120  # seconds for a command that is not killed
CRASHED = 70  # the exit status of one that ends with a traceback


@dataclass(frozen=True)
class Kill:
    """The time at which a process is killed.

    Attributes:
        save: the number of the call of os.fsync or os.replace, from 1 on; None: by time.
        half: of a call of os.fsync: cut the file to its half before, as a power cut may.
        after: after that call, not before it.
        seconds: time before the kill [s], without `save`.
    """

    save: int | None = None
    half: bool = False
    after: bool = False
    seconds: float = 0.0

    @classmethod
    def draw(cls, rng: random.Random, saves: int, seconds: float) -> "Kill":
        """Draws a kill: half of them in one of so many calls, half within so many seconds."""
        if rng.random() < 0.5:
            return cls(rng.randint(1, saves), rng.random() < 0.3, rng.random() < 0.5)
        return cls(seconds=seconds * rng.random())

    def __str__(self) -> str:
        if self.save is None:
            return f"killed after {self.seconds:.2f} s"
        cut = " half-way" if self.half else ""
        return f"killed {'after' if self.after else 'before'} call {self.save} of a save{cut}"


@dataclass(frozen=True)
class End:
    """A command's end: its exit status, negative for a signal; None: it hung and was ended.

    Attributes:
        told: its output.
    """

    status: int | None
    told: str


def run(mode: str, words: Sequence[str], log: Path, kill: Kill | None = None) -> End:
    """Runs a mode of the command line in a fork, and kills it as `kill` says."""
    pid = os.fork()
    if pid == 0:
        _be_the_victim(mode, words, log, kill)
    seconds = kill.seconds if kill and kill.save is None else PATIENCE
    status = _wait(pid, seconds)
    if status is None:
        os.kill(pid, signal.SIGKILL)
        status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        if seconds == PATIENCE:
            status = None
    return End(status, log.read_text(errors="replace") if log.exists() else "")


def _wait(pid: int, seconds: float) -> int | None:
    """Returns the exit status of a child; None if it still runs after so long."""
    end = time.monotonic() + seconds
    while True:
        done, status = os.waitpid(pid, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status)
        if time.monotonic() >= end:
            return None
        time.sleep(0.005)


def _be_the_victim(mode: str, words: Sequence[str], log: Path, kill: Kill | None) -> None:
    """Runs the command and ends this process."""
    status = CRASHED
    try:
        file = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        os.dup2(file, 1)
        os.dup2(file, 2)
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        if kill and kill.save is not None:
            _arm(kill)
        try:
            status = cli.run(mode, list(words))
        except UserError as error:
            os.write(2, f"error: {error}\n".encode(errors="replace"))
            status = error.exit_code
    except BaseException:
        os.write(2, traceback.format_exc().encode(errors="replace"))
    finally:
        os._exit(status)


def _arm(kill: Kill) -> None:
    """Lets this process kill itself in one of its saves."""
    calls = 0

    def counting(call: Callable, is_sync: bool) -> Callable:
        def counted(*args: object, **kwargs: object) -> object:
            nonlocal calls
            calls += 1
            if calls != kill.save:
                return call(*args, **kwargs)
            if kill.half and is_sync:
                with contextlib.suppress(OSError):  # of a folder
                    os.ftruncate(args[0], os.fstat(args[0]).st_size // 2)
            if kill.after:
                call(*args, **kwargs)
            os.kill(os.getpid(), signal.SIGKILL)
            return None

        return counted

    os.fsync, os.replace = counting(os.fsync, True), counting(os.replace, False)
