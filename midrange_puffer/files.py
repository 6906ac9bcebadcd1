"""Files that are either complete or not there, and folders that one process at a time works in."""

import contextlib
import errno
import fcntl
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

LOCK = "lock"  # in a locked folder: the file that is locked, in which its holder says who it is
LOCK_INTERVAL = 0.1  # s, from one try to the next

# What a file system answers that has no locks: some of NFS, and Lustre without its option flock.
_NO_LOCKS = (errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP)
_HOLDER = re.compile(
    r"process \d{1,10} on [\w.-]{1,255} since \d{4}-\d\d-\d\d \d\d:\d\d:\d\d", re.ASCII
)
_held: set[io.FileIO] = set()  # the lock files of this process


class WriteError(UserError):
    """A file or folder could not be written; what was there before is untouched."""


class LockedError(UsageError):
    """Another process works in a folder."""


def make_folder(path: Path, is_new: bool = True) -> None:
    """Make the folder `path` and its parents.

    Raises:
        WriteError: It cannot be made, or exists already and should not (`is_new`).
    """
    try:
        path.mkdir(parents=True, exist_ok=not is_new)
    except OSError as error:
        raise WriteError(f"cannot make the folder {path}: {error.strerror}") from error


def open_folder(path: Path) -> None:
    """Make the folder `path` and its parents, where there is none, for files to come.

    Raises:
        WriteError: It cannot be made or written to.
    """
    make_folder(path, is_new=False)  # another process may do so at this moment
    if not os.access(path, os.W_OK):
        raise WriteError(f"the folder {path} cannot be written to")


def new_name() -> str:
    """A name for a new folder, which no other has and which sorts by time."""
    return time.strftime("%Y%m%d-%H%M%S-") + secrets.token_hex(2)


def write_whole(path: Path, data: bytes) -> None:
    """Replace the file at `path` by `data`, so that no crash leaves a part of it.

    Several processes may do so at once: the last one's stays. One that is killed leaves its
    temporary file, `path` with an ending of its own and .tmp.

    Raises:
        WriteError: The file could not be written; an older one is untouched.
    """
    temporary = path.with_name(f"{path.name}.{secrets.token_hex(4)}.tmp")
    try:
        with temporary.open("wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
        _sync_folder(path.parent)
    except OSError as error:
        with contextlib.suppress(OSError):
            temporary.unlink()
        raise WriteError(f"cannot write {path}: {error.strerror}") from error


def write_json(path: str | Path, content: Mapping[str, object]) -> None:
    """Write a JSON file whole.

    Raises:
        WriteError: As `write_whole`.
    """
    write_whole(Path(path), (json.dumps(content, indent=2) + "\n").encode())


def check_writable(path: str) -> None:
    """Raise ValueError where no file can come to be at `path`, before there is work to be lost."""
    folder = Path(path).parent
    if not folder.is_dir():
        raise ValueError(f"there is no folder {folder}")
    if not os.access(folder, os.W_OK):
        raise ValueError(f"the folder {folder} cannot be written to")
    if Path(path).is_dir():
        raise ValueError("is a folder")


@contextlib.contextmanager
def lock(folder: Path, does: str, patience: float = 0) -> Generator[None, None, None]:
    """Keep other processes from working in `folder`; it ends with this one, however that ends.

    A file system may have no locks. The work goes on then, with a word on stderr.

    Args:
        folder: that is there.
        does: what the holder does, as in "another process runs this sweep".
        patience: how long to wait for another holder to end [s].

    Raises:
        LockedError: Another holds it; the message says who.
        WriteError: The folder cannot be written to, or not be locked.
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
        with contextlib.suppress(OSError):  # on a full disk; the lock holds
            file.truncate(0)
            since = time.strftime("%Y-%m-%d %H:%M:%S")
            file.write(f"process {os.getpid()} on {socket.gethostname()} since {since}\n".encode())
        _held.add(file)
        try:
            yield
        finally:
            _held.discard(file)


def _flock(file: io.FileIO, patience: float) -> None:
    """Lock a file.

    Raises:
        BlockingIOError: Another process has it locked, for longer than `patience` [s].
        OSError: It cannot be locked.
    """
    latest = time.monotonic() + patience
    while True:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return
        except BlockingIOError:
            if time.monotonic() >= latest:
                raise
        time.sleep(LOCK_INTERVAL)


def _holder(path: Path) -> str:
    """Who holds a lock, to end a message with; nothing where its file is not as `lock` writes it.

    Whatever else may stand there is not for a terminal.
    """
    with contextlib.suppress(OSError), path.open("rb") as file:
        said = file.read(1000).decode("ascii", errors="replace").strip()
        if _HOLDER.fullmatch(said):
            return f": {said}"
    return ""


def _let_go() -> None:
    """In a process that was forked: leave the locks to its parent, with whom they are to end."""
    for file in _held:
        file.close()
    _held.clear()


os.register_at_fork(after_in_child=_let_go)


def _sync_folder(path: Path) -> None:
    """Make a rename in the folder `path` last through a power cut."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
