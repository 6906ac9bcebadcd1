"""Temporary folders that are removed, however their owner ends."""

import contextlib
import fcntl
import os
import shutil
import tempfile
from pathlib import Path


class OwnFolder:
    """A temporary folder; if its process is killed, the next that makes one like it removes it.

    By a lock on it, which ends with the process, others see that it has an owner.

    Args:
        prefix: of its name, and of all that are like it.
        parent: where it is made.

    Attributes:
        path: of the folder.
    """

    def __init__(self, prefix: str, parent: str | Path) -> None:
        for path in Path(parent).glob(f"{prefix}*"):
            with contextlib.suppress(OSError):  # it has an owner, or another process removes it
                _remove(path, _lock(path))
        self._handle = None
        while self._handle is None:  # another process may have been quicker to lock it
            self.path = Path(tempfile.mkdtemp(prefix=prefix, dir=parent))
            with contextlib.suppress(BlockingIOError, FileNotFoundError):
                self._handle = _lock(self.path)

    def close(self) -> None:
        """Remove it, with all that is in it."""
        _remove(self.path, self._handle)


def _lock(path: Path) -> int:
    """Lock a folder; return a handle of it.

    Raises:
        BlockingIOError: Another process has locked it.
        OSError: It is gone, or none of ours: in /tmp others may have a link or a pipe so named.
    """
    handle = os.open(path, os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        path.stat()
    except OSError:
        os.close(handle)
        raise
    return handle


def _remove(path: Path, handle: int) -> None:
    shutil.rmtree(path, ignore_errors=True)
    os.close(handle)
