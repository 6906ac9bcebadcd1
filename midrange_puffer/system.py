"""Services of the operating system that some systems lack or name differently."""

import os
import signal
from collections.abc import Callable
from pathlib import Path

# Signals that ask a process to stop.
STOP_SIGNALS = tuple(
    getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)
)
# The byte that Windows locks. Others cannot read a locked byte, so it is beyond a file's content.
LOCKED_BYTE = 2**30
CAN_OPEN_FOLDERS = os.name != "nt"
LOOPBACK = "127.0.0.1"  # the address at which only programs of the same machine are heard


def lock_file(handle: int, is_shared: bool = False) -> None:
    """Locks an open file or folder until it is closed or the process ends; does not wait.

    Windows locks files only, and has no shared locks.

    Args:
        handle: the file descriptor.
        is_shared: True if several processes may hold the lock, all of them with `is_shared`.

    Raises:
        BlockingIOError: Another process holds the lock.
        OSError: The file cannot be locked, for example on a file system without locks.
    """
    try:
        import fcntl
    except ImportError:  # Windows
        _lock_byte(handle)
        return
    fcntl.flock(handle, (fcntl.LOCK_SH if is_shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)


def _lock_byte(handle: int) -> None:
    """Locks a file as Windows does, by one of its bytes."""
    import msvcrt

    place = os.lseek(handle, 0, os.SEEK_CUR)
    os.lseek(handle, LOCKED_BYTE, os.SEEK_SET)
    try:
        # Typed on Windows only.
        msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)  # pyright: ignore[reportAttributeAccessIssue]
    except PermissionError as error:
        raise BlockingIOError(error.errno, error.strerror) from None
    finally:
        os.lseek(handle, place, os.SEEK_SET)


def call_after_fork(function: Callable[[], None]) -> None:
    """Calls `function` in every process that is forked from this one, where the system can fork."""
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=function)


def sync_folder(path: Path) -> None:
    """Writes the folder `path` to the disk, so that a rename in it survives a power cut.

    Windows cannot open folders; NTFS logs renames by itself.

    Raises:
        OSError: The folder cannot be opened or written.
    """
    if not CAN_OPEN_FOLDERS:
        return
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def reserve(handle: int, size: int) -> None:
    """Gives an empty file `size` bytes of 0, with room of their own on the disk if the system can.

    Raises:
        OSError: There is no room.
    """
    if hasattr(os, "posix_fallocate"):  # neither macOS nor Windows has it
        os.posix_fallocate(handle, 0, size)
    else:
        os.ftruncate(handle, size)


def own_cores() -> list[int]:
    """Returns the numbers of the cores that this process may use; [] if the system tells none."""
    if not hasattr(os, "sched_getaffinity"):  # macOS, Windows
        return []
    return sorted(os.sched_getaffinity(0))


def kill_group(leader: int) -> None:
    """Kills a process and its children, if the process leads a session of its own.

    On Windows, which has no groups of this kind, it kills the process only.
    """
    if hasattr(os, "killpg"):
        os.killpg(leader, signal.SIGKILL)
    else:
        os.kill(leader, signal.SIGTERM)
