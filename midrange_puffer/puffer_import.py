"""Import of PufferLib without its side effects on the process."""

import os
import signal
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NoReturn


@contextmanager
def contained() -> Iterator[None]:
    """Suppresses the side effects of the imports of PufferLib in its body.

    `pufferlib` links a folder `resources` into the working directory and hides warnings.
    `pufferlib.pufferl` installs a handler that exits with status 0 at SIGINT, turns every
    RuntimeWarning into an error, and installs its own traceback printer.
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
    """Does nothing; replaces signal.signal during the import."""


with contained():
    import pufferlib

__all__ = ["contained", "pufferlib"]
