"""Errors that a user can mend: printed in a line, without a traceback."""

import contextlib
import importlib.util
from collections.abc import Generator

# How torch says it of the main memory, in an error that has no class of its own.
NO_MEMORY = ("can't allocate memory", "not enough memory")


class UserError(Exception):
    """Something outside the program is wrong; the message says what and what is allowed.

    Of several messages, as of several files, each is an argument and a line of its own.
    """

    exit_code = 1


class UsageError(UserError, ValueError):
    """A command line, a configuration or a file named in them cannot be used."""

    exit_code = 2


class CheckpointError(UsageError):
    """A file is not a checkpoint that this version can use."""


def require_pygame() -> None:
    """Raises UsageError if pygame is not installed; called before imports that need it."""
    if importlib.util.find_spec("pygame") is None:
        raise UsageError("the viewer needs pygame-ce: pip install 'midrange_puffer[view]'")


@contextlib.contextmanager
def memory_advice(advice: str) -> Generator[None, None, None]:
    """Raise a UserError with `advice` where memory runs out, be it a GPU's."""
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
