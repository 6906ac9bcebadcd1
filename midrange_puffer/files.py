"""Files that are written whole or not at all, results, strangers' files, and locked folders.

A stranger's file may be a pipe or a device, on which a reader would wait forever, or larger than
the memory. `open_regular` and `read_whole` refuse these before anything is read.
"""

import contextlib
import errno
import json
import os
import re
import secrets
import socket
import stat
import sys
import time
from collections.abc import Generator, Iterable, Mapping
from pathlib import Path
from typing import BinaryIO

from midrange_puffer.errors import UsageError, UserError
from midrange_puffer.names import shown
from midrange_puffer.system import call_after_fork, lock_file, sync_folder

LOCK = "lock"  # name of the locked file in a locked folder; it names the holder
LOCK_INTERVAL = 0.1  # s, between two tries
PIECE = 2**20  # bytes of a large file that are in memory at a time
TEMPORARY = ".tmp"  # end of the name of a file that is being written
TEMPORARY_NAME = re.compile(r".+\.[0-9a-f]{8}\.tmp", re.ASCII | re.DOTALL)

# Errors of file systems without locks: some kinds of NFS, and Lustre without its option flock.
_NO_LOCKS = (errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP)
_HOLDER = re.compile(
    r"process \d{1,10} on [\w.-]{1,255} since \d{4}-\d\d-\d\d \d\d:\d\d:\d\d", re.ASCII
)
_held: set[BinaryIO] = set()  # locked files of this process


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


@contextlib.contextmanager
def open_regular(path: str | Path, most: int) -> Generator[BinaryIO, None, None]:
    """Opens a stranger's file for reading, without waiting.

    Args:
        path: the file.
        most: most bytes that it may have.

    Raises:
        OSError: It cannot be opened, is no regular file, or is larger.
    """
    with open(path, "rb", opener=_open_at_once) as file:
        status = os.fstat(file.fileno())
        if not stat.S_ISREG(status.st_mode):
            raise OSError(errno.EINVAL, "not a regular file", str(path))
        if status.st_size > most:
            raise OSError(errno.EFBIG, f"has {status.st_size} bytes, more than {most}", str(path))
        yield file


def _open_at_once(path: str, flags: int) -> int:
    """Opens a file; a pipe or a terminal opens at once, too, and changes nothing."""
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOCTTY", 0))


def read_whole(path: str | Path, most: int) -> bytes:
    """Returns the content of a stranger's file of at most `most` bytes.

    Raises:
        OSError: As in `open_regular`; or there is not enough memory.
    """
    with open_regular(path, most) as file:
        try:
            return file.read(os.fstat(file.fileno()).st_size)
        except MemoryError:
            raise OSError(errno.ENOMEM, "larger than the memory", str(path)) from None


def pieces(path: str | Path, most: int) -> Generator[bytes, None, None]:
    """Returns the content of a stranger's file of at most `most` bytes, a piece at a time.

    Raises:
        OSError: As in `open_regular`.
    """
    with open_regular(path, most) as file:
        while piece := file.read(PIECE):
            yield piece


def read_end(path: Path, most: int) -> bytes:
    """Returns the last bytes of a stranger's file of any size, at most `most`.

    Raises:
        OSError: It cannot be opened or is no regular file.
    """
    with open_regular(path, sys.maxsize) as file:
        file.seek(max(0, file.seek(0, os.SEEK_END) - most))
        return file.read(most)


def open_to_append(path: Path) -> BinaryIO:
    """Opens a file of a folder for appending, and makes it if there is none.

    The file is buffered, so closing it writes all of the data or raises OSError. An unbuffered
    write on a full disk may write a part without an error.

    Raises:
        OSError: It cannot be opened, or is a link or no regular file.
    """
    file = open(path, "ab", opener=_open_no_link)  # noqa: SIM115 - the caller closes
    if stat.S_ISREG(os.fstat(file.fileno()).st_mode):
        return file
    file.close()
    raise OSError(errno.EINVAL, "not a regular file", str(path))


def _open_no_link(path: str, flags: int) -> int:
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOFOLLOW", 0), 0o666)


def remove_temporary(folder: Path) -> None:
    """Removes the files that killed calls of `write_whole` have left in a folder and below.

    The caller holds the lock of the folder.
    """
    for path in folder.rglob(f"*{TEMPORARY}"):
        if TEMPORARY_NAME.fullmatch(path.name):
            with contextlib.suppress(OSError):
                path.unlink()


def new_name() -> str:
    """Returns a unique name for a new folder; names sort by their time."""
    return time.strftime("%Y%m%d-%H%M%S-") + secrets.token_hex(2)


def write_whole(path: Path, data: bytes) -> None:
    """Replaces the content of the file `path` by `data`, as `write_pieces` does."""
    write_pieces(path, [data])


def write_pieces(path: Path, parts: Iterable[bytes]) -> None:
    """Replaces the content of the file `path` by these; a crash never leaves a part of them.

    If several processes do so at once, the last one's data remain. A process that is killed
    meanwhile leaves its temporary file, `path` with a unique suffix and .tmp. A link, pipe or
    device is replaced, too: a stranger may have put it into a folder of ours.

    Raises:
        WriteError: The file could not be written; its earlier content is unchanged.
    """
    temporary = path.with_name(f"{path.name}.{secrets.token_hex(4)}{TEMPORARY}")
    try:
        with temporary.open("wb") as file:
            file.writelines(parts)
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
    write_whole(Path(path), _json_bytes(content))


def write_results(path: str | Path, content: Mapping[str, object]) -> None:
    """Writes results to the file that a user names, as JSON.

    A device, a pipe and an open descriptor, such as /dev/stdout, are written to and stay. Any other
    file is written by `write_whole`.

    Raises:
        WriteError: The file could not be written.
    """
    path, data = Path(path), _json_bytes(content)
    descriptor = _descriptor_of(path)
    if not is_stream(path):
        write_whole(path, data)
        return
    try:
        # A file opened anew as /dev/stdout would have an offset of its own, so that what is printed
        # later would overwrite the results.
        handle = os.open(path, os.O_WRONLY) if descriptor is None else os.dup(descriptor)
        with os.fdopen(handle, "wb") as stream:
            stream.write(data)
    except OSError as error:
        raise WriteError(f"cannot write {path}: {error.strerror}") from error


def _json_bytes(content: Mapping[str, object]) -> bytes:
    return (json.dumps(content, indent=2) + "\n").encode()


def _descriptor_of(path: Path) -> int | None:
    """Returns the open descriptor that a path names, as /dev/stdout does; None for other paths."""
    if path.parent == Path("/dev/fd") and path.name.isdecimal():
        return int(path.name)
    return {Path("/dev/stdout"): 1, Path("/dev/stderr"): 2}.get(path)


def is_stream(path: str | Path) -> bool:
    """True for a device, a pipe, a link to one, and an open descriptor, such as /dev/stdout."""
    path = Path(path)
    if _descriptor_of(path) is not None:
        return True
    try:
        mode = path.stat().st_mode
    except (OSError, ValueError):
        return False
    return not stat.S_ISREG(mode) and not stat.S_ISDIR(mode)


def check_writable(path: str) -> None:
    """Raises ValueError if no file can be written to `path`; to be called before long work."""
    folder = Path(path).parent
    if is_stream(path):
        if not os.access(path, os.W_OK):
            raise ValueError("cannot be written to")
        return
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
        file = open_to_append(path)
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
            holder = f"process {os.getpid()} on {socket.gethostname()} since {since}\n"
            os.write(file.fileno(), holder.encode())  # leaves no buffer that closing would write
        _held.add(file)
        try:
            yield
        finally:
            _held.discard(file)


def _flock(file: BinaryIO, patience: float) -> None:
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
    with contextlib.suppress(OSError):
        text = read_whole(path, 1000).decode("ascii", errors="replace").strip()
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
