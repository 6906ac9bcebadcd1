"""PufferLib, imported without its side effects on the rest of the process."""

import os
import signal
import sys
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NoReturn


@contextmanager
def contained() -> Iterator[None]:
    """Undo what importing PufferLib does beyond defining its names.

    `pufferlib` links a folder `resources` into the working directory and hides warnings;
    `pufferlib.pufferl` exits at once on SIGINT, turns every RuntimeWarning into an error and
    installs its own traceback printer.
    """
    in_main_thread = threading.current_thread() is threading.main_thread()
    interrupt, excepthook, symlink = signal.getsignal(signal.SIGINT), sys.excepthook, os.symlink
    os.symlink = _already_there
    try:
        with warnings.catch_warnings():
            yield
    finally:
        os.symlink, sys.excepthook = symlink, excepthook
        if in_main_thread:
            signal.signal(signal.SIGINT, interrupt)


def _already_there(*_: object) -> NoReturn:
    raise FileExistsError


with contained():
    import pufferlib

__all__ = ["contained", "pufferlib"]
