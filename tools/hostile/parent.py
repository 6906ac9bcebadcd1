"""Cases in processes of their own, which may not survive them.

Each has a temporary folder, and a process group for its processes, and both end with it.
"""

import contextlib
import os
import select
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from hostile.outcome import CRASH, HANG, Outcome

START, CASE = 120, 60  # seconds that the start of a child and a case of most kinds may take
KILLS = 300  # and a case of kills, which starts processes that are killed
TAIL = 400  # reported characters of a child's output


def run_cases(kind: str, samples: Path, first: int, count: int) -> Iterator[Outcome]:
    """Tries so many cases of a kind, from a seed on; starts another child if one dies."""
    seed, last = first, first + count
    while seed < last:
        for outcome in _run_child(kind, samples, seed, last - seed):
            yield outcome
            seed = outcome.seed + 1


def _run_child(kind: str, samples: Path, first: int, count: int) -> Iterator[Outcome]:
    """Yields the outcomes that a child reports; if it dies or hangs, also that case."""
    words = [sys.executable, "-m", "hostile.child", kind, str(samples), str(first), str(count)]
    patience = KILLS if kind.startswith("kills") else CASE
    with (
        tempfile.TemporaryDirectory(prefix="hostile-", ignore_cleanup_errors=True) as folder,
        tempfile.TemporaryFile() as log,
        subprocess.Popen(
            words,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=log,
            env={**os.environ, "OMP_NUM_THREADS": "1", "TMPDIR": folder},
            start_new_session=True,
        ) as child,
    ):
        lines = _Lines(child.stdout.fileno())
        try:
            if lines.next(START) != "ready":
                raise RuntimeError(f"{kind}: the child did not start: {_tail(log)}")
            for seed in range(first, first + count):
                line = lines.next(patience)
                if line is None:
                    yield _died(child, lines, kind, seed, log)
                    return
                yield Outcome.from_line(line)
        finally:
            with contextlib.suppress(ProcessLookupError):  # all of them have ended
                os.killpg(child.pid, signal.SIGKILL)


def _died(child: subprocess.Popen, lines: "_Lines", kind: str, seed: int, log: BinaryIO) -> Outcome:
    """Returns the outcome of the case that a child did not report."""
    if not lines.ended:
        return Outcome(kind, seed, HANG, f"no answer; {_tail(log)}")
    return Outcome(kind, seed, CRASH, f"status {child.wait()}: {_tail(log)}")


def _tail(log: BinaryIO) -> str:
    """Returns the end of a child's output."""
    log.seek(0)
    return log.read()[-TAIL:].decode(errors="replace")


class _Lines:
    """The lines of a pipe, waited for so long and no longer.

    Attributes:
        ended: True if no further line will come.
    """

    def __init__(self, pipe: int) -> None:
        self._pipe, self._waiting, self.ended = pipe, b"", False

    def next(self, seconds: float) -> str | None:
        """Returns the next line; None after so long without one, or at the end."""
        while b"\n" not in self._waiting:
            if not select.select([self._pipe], [], [], seconds)[0]:
                return None
            data = os.read(self._pipe, 65536)
            if not data:
                self.ended = True
                return None
            self._waiting += data
        line, _, self._waiting = self._waiting.partition(b"\n")
        return line.decode()
