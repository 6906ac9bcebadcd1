"""Files that are written whole or not at all, and folders that one process at a time uses."""

import contextlib
import errno
import io
import json
import os
import re
import secrets
import socket
import sys
import time
from collections.abc import Generator, Mapping
from pathlib import Path

from midrange_puffer.errors import UsageError, UserError
from midrange_puffer.names import shown
from midrange_puffer.system import call_after_fork, lock_file, sync_folder

LOCK = "lock"  # name of the locked file in a locked folder; it names the holder
LOCK_INTERVAL = 0.1  # s, between two tries

# Errors of file systems without locks: some kinds of NFS, and Lustre without its option flock.
_NO_LOCKS = (errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP)
_HOLDER = re.compile(
    r"process \d{1,10} on [\w.-]{1,255} since \d{4}-\d\d-\d\d \d\d:\d\d:\d\d", re.ASCII
)
_held: set[io.FileIO] = set()  # locked files of this process


class WriteError(UserError):
    """A file or folder that could not be written; its earlier content is unchanged."""


class LockedError(UsageError):
    """A folder that another process is using."""


def make_folder(path: Path, is_new: bool = True) -> None:
    """Makes the folder `path` and its parents.

    Args:
        path: the folder.
        is_new: True if the folder must not exist yet.

    Raises:
        WriteError: The folder cannot be made, or exists although `is_new`.
    """
    try:
        path.mkdir(parents=True, exist_ok=not is_new)
    except OSError as error:
        raise WriteError(f"cannot make the folder {path}: {error.strerror}") from error


def open_folder(path: Path) -> None:
    """Makes the folder `path` and its parents if they do not exist, for files to be written later.

    Raises:
        WriteError: The folder cannot be made or written to.
    """
    make_folder(path, is_new=False)  # another process may be making it
    if not os.access(path, os.W_OK):
        raise WriteError(f"the folder {path} cannot be written to")


def new_name() -> str:
    """Returns a unique name for a new folder; names sort by their time."""
    return time.strftime("%Y%m%d-%H%M%S-") + secrets.token_hex(2)


def write_whole(path: Path, data: bytes) -> None:
    """Replaces the content of the file `path` by `data`; a crash never leaves a part of it.

    If several processes do so at once, the last one's data remain. A process that is killed
    meanwhile leaves its temporary file, `path` with a unique suffix and .tmp.

    Raises:
        WriteError: The file could not be written; its earlier content is unchanged.
    """
    temporary = path.with_name(f"{path.name}.{secrets.token_hex(4)}.tmp")
    try:
        with temporary.open("wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
        sync_folder(path.parent)
    except OSError as error:
        with contextlib.suppress(OSError):
            temporary.unlink()
        raise WriteError(f"cannot write {path}: {error.strerror}") from error


def write_json(path: str | Path, content: Mapping[str, object]) -> None:
    """Writes a JSON file by `write_whole`.

    Raises:
        WriteError: As in `write_whole`.
    """
    write_whole(Path(path), (json.dumps(content, indent=2) + "\n").encode())


def check_writable(path: str) -> None:
    """Raises ValueError if no file can be written to `path`; to be called before long work."""
    folder = Path(path).parent
    if not folder.is_dir():
        raise ValueError(f"there is no folder {folder}")
    if not os.access(folder, os.W_OK):
        raise ValueError(f"the folder {folder} cannot be written to")
    if Path(path).is_dir():
        raise ValueError("is a folder")


@contextlib.contextmanager
def lock(folder: Path, does: str, patience: float = 0) -> Generator[None, None, None]:
    """Locks a folder for the body, so that no other process uses it.

    The lock ends with this process at the latest, also if the process is killed. On a file system
    without locks the body runs all the same, after a warning on stderr.

    Args:
        folder: an existing folder.
        does: words for the holder's work, as in "another process runs this sweep".
        patience: longest wait for another holder [s].

    Raises:
        LockedError: Another process holds the lock; the message names it.
        WriteError: The folder cannot be written to or locked.
    """
    path = folder / LOCK
    try:
        file = path.open("ab", buffering=0)
    except OSError as error:
        raise WriteError(f"cannot lock {path}: {error.strerror}") from error
    with file:
        try:
            _flock(file, patience)
        except BlockingIOError:
            raise LockedError(f"{folder}: another process {does}{_holder(path)}") from None
        except OSError as error:
            if error.errno not in _NO_LOCKS:
                raise WriteError(f"cannot lock {path}: {error.strerror}") from error
            print(
                f"warning: {shown(path)}: this file system has no locks ({error.strerror}); see to "
                f"it that no other process {does}",
                file=sys.stderr,
            )
        with contextlib.suppress(OSError):  # fails on a full disk, but the lock holds
            file.truncate(0)
            since = time.strftime("%Y-%m-%d %H:%M:%S")
            file.write(f"process {os.getpid()} on {socket.gethostname()} since {since}\n".encode())
        _held.add(file)
        try:
            yield
        finally:
            _held.discard(file)


def _flock(file: io.FileIO, patience: float) -> None:
    """Locks a file.

    Raises:
        BlockingIOError: Another process has held the lock for longer than `patience` [s].
        OSError: The file cannot be locked.
    """
    latest = time.monotonic() + patience
    while True:
        try:
            lock_file(file.fileno())
            return
        except BlockingIOError:
            if time.monotonic() >= latest:
                raise
        time.sleep(LOCK_INTERVAL)


def _holder(path: Path) -> str:
    """Returns the name of a lock's holder, as the end of a message.

    Returns "" if the file does not have the form that `lock` writes: other content could contain
    anything, and must not reach a terminal.
    """
    with contextlib.suppress(OSError), path.open("rb") as file:
        text = file.read(1000).decode("ascii", errors="replace").strip()
        if _HOLDER.fullmatch(text):
            return f": {text}"
    return ""


def _let_go() -> None:
    """Closes the locked files in a process that was just forked.

    Otherwise the lock would last until the child ends, too; it is the parent's.
    """
    for file in _held:
        file.close()
    _held.clear()


call_after_fork(_let_go)
