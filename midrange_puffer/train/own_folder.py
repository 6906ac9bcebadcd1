"""Temporary folders that are removed even if their owner is killed."""

import contextlib
import os
import shutil
import tempfile
from pathlib import Path

from midrange_puffer.system import lock_file


class OwnFolder:
    """A temporary folder of this process.

    The process holds a lock on the folder, which ends with the process. The next process that makes
    a folder with the same prefix removes those without a lock.

    Args:
        prefix: of the folder's name.
        parent: where the folder is made.

    Attributes:
        path: of the folder.
    """

    def __init__(self, prefix: str, parent: str | Path) -> None:
        for path in Path(parent).glob(f"{prefix}*"):
            with contextlib.suppress(OSError):  # locked, or being removed by another process
                _remove(path, _lock(path))
        self._handle: int | None = None
        while self._handle is None:  # another process may have locked it first
            self.path = Path(tempfile.mkdtemp(prefix=prefix, dir=parent))
            with contextlib.suppress(BlockingIOError, FileNotFoundError):
                self._handle = _lock(self.path)

    def close(self) -> None:
        """Removes the folder with its content."""
        if self._handle is not None:
            _remove(self.path, self._handle)


def _lock(path: Path) -> int:
    """Locks a folder; returns its handle.

    Raises:
        BlockingIOError: Another process has locked it.
        OSError: It is gone, or is another user's, or a link or a pipe of this name.
    """
    handle = os.open(path, os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        lock_file(handle)
        path.stat()
    except OSError:
        os.close(handle)
        raise
    return handle


def _remove(path: Path, handle: int) -> None:
    shutil.rmtree(path, ignore_errors=True)
    os.close(handle)
