"""PufferLib, imported without its side effects on the rest of the process."""

import os
import signal
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NoReturn


@contextmanager
def contained() -> Iterator[None]:
    """Keeps PufferLib's import from doing more than defining its names.

    `pufferlib` links a folder `resources` into the working directory and hides warnings;
    `pufferlib.pufferl` exits at once on SIGINT, with status 0, turns every RuntimeWarning into an
    error and installs its own traceback printer.
    """
    excepthook, handle, symlink = sys.excepthook, signal.signal, os.symlink
    os.symlink, signal.signal = _refuse_link, _ignore_signal
    try:
        with warnings.catch_warnings():
            yield
    finally:
        os.symlink, signal.signal, sys.excepthook = symlink, handle, excepthook


def _refuse_link(*_: object) -> NoReturn:
    raise FileExistsError


def _ignore_signal(*_: object) -> None:
    """Does nothing, in place of signal.signal."""


with contained():
    import pufferlib

__all__ = ["contained", "pufferlib"]
