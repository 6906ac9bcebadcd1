"""Errors that a user can correct: printed in one line, without a traceback."""

import contextlib
import importlib.util
from collections.abc import Generator

# Parts of torch's messages when main memory runs out: it raises a plain RuntimeError.
NO_MEMORY = ("can't allocate memory", "not enough memory")


class UserError(Exception):
    """An error outside the program. The message names the cause and the allowed values.

    An error with several messages, for example about several files, has one argument for each; each
    is printed on its own line.
    """

    exit_code = 1


class UsageError(UserError, ValueError):
    """A command line, a configuration, or a file named in one of them that cannot be used."""

    exit_code = 2


class CheckpointError(UsageError):
    """A file that is no checkpoint, or none that this version can use."""


def require_pygame() -> None:
    """Raises UsageError if pygame is not installed; called before imports that need it."""
    if importlib.util.find_spec("pygame") is None:
        raise UsageError("the viewer needs pygame-ce: pip install 'midrange_puffer[view]'")


@contextlib.contextmanager
def memory_advice(advice: str) -> Generator[None, None, None]:
    """Raises a UserError with `advice` if the body runs out of memory, also of a GPU's memory."""
    try:
        yield
    except (MemoryError, RuntimeError) as error:
        if not _is_out_of_memory(error):
            raise
        reason = " ".join(str(error).split("\n")[0].split()) or "no more can be had"
        raise UserError(f"out of memory: {advice} ({reason})") from error


def _is_out_of_memory(error: Exception) -> bool:
    if isinstance(error, MemoryError) or type(error).__name__ == "OutOfMemoryError":  # torch's
        return True
    return any(words in str(error) for words in NO_MEMORY)
