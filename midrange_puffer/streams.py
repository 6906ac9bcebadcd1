"""Standard streams that may be closed, full or a pipe that nobody reads, and no work is lost."""

import contextlib
import errno
import io
import os
import select
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

STDOUT, STDERR = 1, 2


class Output(io.FileIO):
    """Standard output or error. Once it cannot be written to, all that comes goes nowhere.

    Args:
        number: its file descriptor.

    Attributes:
        error: why it could not be written to; None: it always could.
    """

    def __init__(self, number: int) -> None:
        super().__init__(number, "w", closefd=False)
        self.error: OSError | None = None

    def write(self, data: "ReadableBuffer", /) -> int:
        """Write, and wait where others have made the stream not to; drop what cannot be written."""
        try:
            while (count := super().write(data)) is None:
                select.select([], [self], [])
            return count
        except OSError as error:
            self.error = error
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, self.fileno())
            os.close(nowhere)
            self._tell(error)
            return memoryview(data).nbytes

    def _tell(self, error: OSError) -> None:
        """Says so on stderr, unless that is the stream."""
        if self.fileno() == STDOUT:
            print(
                f"puffer: cannot write to stdout: {error.strerror}; going on without it",
                file=sys.stderr,
            )


class QuietPipe(Output):
    """Standard output, whose reader may have enough of it."""

    def _tell(self, error: OSError) -> None:
        if error.errno != errno.EPIPE:
            super()._tell(error)


@contextlib.contextmanager
def lasting(kind: type[Output] = Output) -> Iterator[Output | None]:
    """Let sys.stdout and sys.stderr be streams that raise no errors.

    What their encoding does not have is written as "?" or, on stderr, by its number. Streams that
    are closed are opened to nowhere: a file opened later would get their numbers, and what is
    printed.

    Args:
        kind: of stdout.

    Yields:
        What is beneath stdout; None where sys.stdout is another's, as in a test.
    """
    if sys.stdout is not sys.__stdout__ or sys.stderr is not sys.__stderr__:
        yield None
        return
    _open_missing()
    before = sys.stdout, sys.stderr
    stdout, stderr = kind(STDOUT), Output(STDERR)
    sys.stdout = _text(stdout, sys.stdout, "replace")
    sys.stderr = _text(stderr, sys.stderr, "backslashreplace")
    try:
        yield stdout
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        sys.stdout, sys.stderr = before


def _open_missing() -> None:
    """Open file descriptors 0 to 2 to nowhere where they are closed, here and in children."""
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            lowest_free = os.open(os.devnull, os.O_RDWR)  # that is `number`
            os.set_inheritable(lowest_free, True)


def _text(output: Output, stream: object, errors: str) -> io.TextIOWrapper:
    """Returns a text stream into `output`, with the encoding and buffering of `stream`."""
    like = stream if isinstance(stream, io.TextIOWrapper) else None
    is_unbuffered = like is not None and like.write_through  # PYTHONUNBUFFERED
    return io.TextIOWrapper(
        output if is_unbuffered else io.BufferedWriter(output),
        encoding=like.encoding if like else "utf-8",
        errors=errors,
        line_buffering=like.line_buffering if like else True,
        write_through=is_unbuffered,
    )
