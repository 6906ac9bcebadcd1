"""Standard streams that never raise errors: closed, on a full disk, or a pipe without a reader."""

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
    """Standard output or error. After the first error it discards all further output.

    Args:
        number: its file descriptor.

    Attributes:
        error: the first error of a write; None without one.
    """

    def __init__(self, number: int) -> None:
        super().__init__(number, "w", closefd=False)
        self.error: OSError | None = None

    def write(self, data: "ReadableBuffer", /) -> int:
        """Writes, and waits if another process has made the stream non-blocking.

        Data that cannot be written are discarded.
        """
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
        """Reports the error on stderr, unless stderr is the stream with the error."""
        if self.fileno() == STDOUT:
            print(
                f"puffer: cannot write to stdout: {error.strerror}; going on without it",
                file=sys.stderr,
            )


class QuietPipe(Output):
    """Standard output whose reader may close it early, for example `head`; that is not reported."""

    def _tell(self, error: OSError) -> None:
        if error.errno != errno.EPIPE:
            super()._tell(error)


@contextlib.contextmanager
def lasting(kind: type[Output] = Output) -> Iterator[Output | None]:
    """Replaces sys.stdout and sys.stderr during the body by streams that raise no errors.

    Characters that a stream's encoding lacks are written as "?", on stderr as escapes.
    Closed descriptors are opened to /dev/null: otherwise a file that is opened later would get the
    descriptor, and then the printed text.

    Args:
        kind: the class of stdout's stream.

    Yields:
        The `Output` beneath sys.stdout. None if sys.stdout was already replaced, as in a test; then
        nothing is changed.
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
    """Opens those of the descriptors 0 to 2 that are closed to /dev/null, also for children."""
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            lowest_free = os.open(os.devnull, os.O_RDWR)  # it equals `number`
            os.set_inheritable(lowest_free, True)


def _text(output: Output, stream: object, errors: str) -> io.TextIOWrapper:
    """Returns a text stream that writes to `output`, in the encoding and buffering of `stream`."""
    like = stream if isinstance(stream, io.TextIOWrapper) else None
    is_unbuffered = like is not None and like.write_through  # PYTHONUNBUFFERED
    return io.TextIOWrapper(
        output if is_unbuffered else io.BufferedWriter(output),
        encoding=like.encoding if like else "utf-8",
        errors=errors,
        line_buffering=like.line_buffering if like else True,
        write_through=is_unbuffered,
    )
