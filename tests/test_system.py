"""The package works on systems that lack POSIX's services, such as Windows."""

import os
import subprocess
import sys
from types import SimpleNamespace

import pytest

from midrange_puffer.files import LockedError, lock, write_whole
from midrange_puffer.system import LOCKED_BYTE

# Other packages, which know the system; services that Windows lacks; and what needs no training.
CODE = """
import os, signal, sys
import gymnasium, numpy, psutil

for name in ("fcntl", "grp", "posix", "pwd", "resource", "termios", "tty"):
    sys.modules[name] = None
for name in ("fork", "getuid", "killpg", "mkfifo", "register_at_fork", "sched_getaffinity",
             "setsid", "uname", "O_DIRECTORY", "O_NOFOLLOW", "O_NONBLOCK"):
    delattr(os, name)
for name in ("SIGALRM", "SIGCHLD", "SIGHUP", "SIGKILL"):
    delattr(signal, name)

import midrange_puffer.gym, midrange_puffer.spacetime
from midrange_puffer import Simulation
from midrange_puffer.commands import cli
from midrange_puffer.game import envelope
from midrange_puffer.replays import acmi, recorder, replay
from midrange_puffer.show import web_page

sim = Simulation(3, blue="ace")
sim.step(numpy.zeros((3, 2, 3)))
print(f"{sim.state_hash():x}")
"""


@pytest.mark.slow
def test_it_imports_and_flies_without_posix():
    expected = CODE[CODE.index("import midrange_puffer.gym") :]
    results = [
        subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
        for code in (CODE, f"import numpy\n{expected}")
    ]
    assert [result.returncode for result in results] == [0, 0], results[0].stderr
    assert results[0].stdout == results[1].stdout != ""


class WindowsLocks:
    """Windows' locks of bytes: one holder each, who may still be this process."""

    LK_NBLCK = 2

    def __init__(self) -> None:
        self.held: dict[tuple[int, int], int] = {}

    def locking(self, handle: int, mode: int, count: int) -> None:
        assert (mode, count) == (self.LK_NBLCK, 1)
        byte = os.fstat(handle).st_ino, os.lseek(handle, 0, os.SEEK_CUR)
        if byte in self.held:
            raise PermissionError(13, "Permission denied")
        self.held[byte] = handle


def test_windows_locks_keep_others_out(tmp_path, monkeypatch):
    """The holder's name stays readable: the locked byte is beyond it."""
    locks = WindowsLocks()
    monkeypatch.setitem(sys.modules, "fcntl", None)
    monkeypatch.setitem(sys.modules, "msvcrt", SimpleNamespace(
        LK_NBLCK=locks.LK_NBLCK, locking=locks.locking,
    ))  # fmt: skip
    with lock(tmp_path, "digs here"):
        holder = rf"another process digs here: process {os.getpid()} on "
        with pytest.raises(LockedError, match=holder):
            lock(tmp_path, "digs here").__enter__()
    assert [byte for _, byte in locks.held] == [LOCKED_BYTE]


def test_files_are_written_whole_where_folders_cannot_be_opened(tmp_path, monkeypatch):
    def refuse(*_: object) -> int:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(os, "open", refuse)
    monkeypatch.setattr("midrange_puffer.system.CAN_OPEN_FOLDERS", False)
    write_whole(tmp_path / "file", b"content")
    assert (tmp_path / "file").read_bytes() == b"content"
