"""Files are whole whatever happens while they are written, and folders are locked."""

import contextlib
import errno
import fcntl
import json
import multiprocessing
import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from midrange_puffer.files import (
    PIECE,
    LockedError,
    WriteError,
    check_writable,
    lock,
    make_folder,
    open_folder,
    pieces,
    write_pieces,
    write_results,
    write_whole,
)


def test_two_that_write_the_same_file_do_not_disturb_each_other(tmp_path, monkeypatch):
    """As two processes: the other begins and ends while the first one writes."""
    path = tmp_path / "file"
    sync = os.fsync

    def write_another(handle):
        monkeypatch.setattr(os, "fsync", sync)
        write_whole(path, b"the other")
        assert path.read_bytes() == b"the other"
        sync(handle)

    monkeypatch.setattr(os, "fsync", write_another)
    write_whole(path, b"the first")
    assert path.read_bytes() == b"the first"
    assert list(tmp_path.iterdir()) == [path]


def test_a_failed_write_leaves_the_old_file(tmp_path, monkeypatch):
    path = tmp_path / "file"
    write_whole(path, b"before")

    def fail(*_):
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(WriteError, match=f"cannot write {path}: Input/output error"):
        write_whole(path, b"after")
    assert path.read_bytes() == b"before"
    assert list(tmp_path.iterdir()) == [path]


def test_a_large_file_is_copied_a_piece_at_a_time(tmp_path):
    data = np.random.default_rng(0).bytes(2 * PIECE + 5)
    source, copy = tmp_path / "source", tmp_path / "copy"
    source.write_bytes(data)
    assert [len(piece) for piece in pieces(source, len(data))] == [PIECE, PIECE, 5]
    write_pieces(copy, pieces(source, len(data)))
    assert copy.read_bytes() == data
    with pytest.raises(WriteError, match="more than 7"):
        write_pieces(copy, pieces(source, 7))
    assert copy.read_bytes() == data
    assert sorted(path.name for path in tmp_path.iterdir()) == ["copy", "source"]


def test_two_that_need_the_same_folder_both_have_it(tmp_path, monkeypatch):
    """The other makes it when this one has seen that there is none."""
    mkdir, path = Path.mkdir, tmp_path / "replays"

    def make_after_another(self, *arguments, **options):
        mkdir(self, exist_ok=True)
        mkdir(self, *arguments, **options)

    monkeypatch.setattr(Path, "mkdir", make_after_another)
    open_folder(path)
    assert path.is_dir()
    with pytest.raises(WriteError, match=r"cannot make the folder .*replays: File exists"):
        make_folder(path)


def test_a_locked_folder_says_who_works_in_it(tmp_path):
    with lock(tmp_path, "digs here"):
        who = rf"process {os.getpid()} on \S+ since \d{{4}}-\d\d-\d\d \d\d:\d\d:\d\d$"
        with pytest.raises(LockedError, match=f"^{tmp_path}: another process digs here: {who}"):
            lock(tmp_path, "digs here").__enter__()
    with lock(tmp_path, "digs here"):  # again, as its holder has gone
        pass


@pytest.mark.parametrize(
    "said",
    [b"", b"\x1b]0;pwned\x07", b"process 1 on \x1b[31m since 2026-01-01 00:00:00", b"\xff" * 9],
)
def test_other_text_in_a_lock_is_not_shown(tmp_path, said):
    with lock(tmp_path, "digs here"):
        (tmp_path / "lock").write_bytes(said)
        with pytest.raises(LockedError, match=r"another process digs here$"):
            lock(tmp_path, "digs here").__enter__()


def test_a_child_that_lives_on_does_not_keep_a_lock(tmp_path):
    """For example a stopped worker, or one that has not yet seen the end of its trainer."""
    with lock(tmp_path, "digs here"):
        child = multiprocessing.get_context("fork").Process(target=time.sleep, args=(60,))
        child.start()
        with pytest.raises(LockedError):  # and does not end it
            lock(tmp_path, "digs here").__enter__()
    try:
        with lock(tmp_path, "digs here", patience=10):  # the child may still be about to begin
            assert child.is_alive()
    finally:
        child.kill()
        child.join()


def test_a_waiting_process_gets_the_lock_when_its_holder_ends(tmp_path, monkeypatch):
    with contextlib.ExitStack() as holder:
        holder.enter_context(lock(tmp_path, "digs here"))
        monkeypatch.setattr(time, "sleep", lambda seconds: holder.close())
        with lock(tmp_path, "digs here", patience=60):
            pass


def test_a_file_system_without_locks_is_told_of_and_used(tmp_path, monkeypatch, capsys):
    def refuse(*_):
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))

    monkeypatch.setattr(fcntl, "flock", refuse)
    with lock(tmp_path, "digs here"):
        assert capsys.readouterr().err == (
            f"warning: {tmp_path}/lock: this file system has no locks (No locks available); see to "
            "it that no other process digs here\n"
        )


def test_an_error_in_the_work_is_no_consequence_of_missing_locks(tmp_path, monkeypatch):
    def refuse(*_):
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))

    monkeypatch.setattr(fcntl, "flock", refuse)
    with pytest.raises(ValueError, match="in the work") as caught, lock(tmp_path, "digs here"):
        raise ValueError("in the work")
    assert caught.value.__context__ is None


def test_results_are_written_to_a_device_or_pipe_which_stays(tmp_path):
    """As `--json /dev/null` and `--json >(jq .)`; root could replace a device by a file."""
    pipe, link = tmp_path / "pipe", tmp_path / "link"
    os.mkfifo(pipe)
    link.symlink_to("/dev/full")
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    check_writable(str(pipe))
    write_results(pipe, {"a": 1})
    assert os.read(reader, 99) == b'{\n  "a": 1\n}\n'
    os.close(reader)
    assert pipe.is_fifo()
    with pytest.raises(WriteError, match=rf"cannot write {link}: {os.strerror(errno.ENOSPC)}"):
        write_results(link, {})
    assert link.is_char_device()
    assert [*tmp_path.glob("*.tmp")] == []


@pytest.mark.parametrize("path", ["/dev/stdout", "/dev/fd/1"])
def test_results_on_stdout_stand_between_what_is_printed(path, tmp_path):
    """Also where stdout is a file, which has an offset."""
    code = f"""
from midrange_puffer.files import check_writable, write_results
check_writable("{path}")
print("before", flush=True)
write_results("{path}", {{}})
print("after")
"""
    with (tmp_path / "out").open("wb") as out:
        subprocess.run([sys.executable, "-c", code], stdout=out, check=True)
    assert (tmp_path / "out").read_text() == "before\n{}\nafter\n"


def test_results_in_a_file_replace_it(tmp_path):
    path = tmp_path / "results.json"
    for content in ({"a": [1] * 99}, {"b": 2}):
        write_results(path, content)
        assert json.loads(path.read_text()) == content
    assert list(tmp_path.iterdir()) == [path]
    with pytest.raises(WriteError, match=os.strerror(errno.ENAMETOOLONG)):
        write_results(tmp_path / ("a" * 300), {})


@pytest.mark.parametrize("folder", ["/dev/shm", "/dev/fd"])
def test_a_folder_of_devices_is_no_device(folder):
    with pytest.raises(ValueError, match=r"is a folder|cannot be written to"):
        check_writable(folder)


def test_a_pipe_or_link_in_a_folder_of_ours_is_replaced(tmp_path):
    """A run folder may be a stranger's: a pipe would let its writer wait, a link lead elsewhere."""
    pipe, link, target = (tmp_path / name for name in ("pipe", "link", "target"))
    os.mkfifo(pipe)
    target.write_bytes(b"theirs")
    link.symlink_to(target)
    for path in (pipe, link):
        write_whole(path, b"ours")
        assert path.is_file()
        assert not path.is_symlink()
        assert path.read_bytes() == b"ours"
    assert target.read_bytes() == b"theirs"
