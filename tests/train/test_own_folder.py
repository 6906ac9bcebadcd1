"""Temporary folders are removed with their owner."""

import os
import subprocess
import sys
from contextlib import closing
from pathlib import Path

from midrange_puffer.train.own_folder import OwnFolder

CODE = """
import sys
from midrange_puffer.train.own_folder import OwnFolder
folders = [OwnFolder("own-", sys.argv[1]) for _ in range(int(sys.argv[2]))]
print(all(folder.path.is_dir() for folder in folders), flush=True)
sys.stdin.read()
"""


def start(parent: Path, count: int) -> subprocess.Popen:
    """Starts a process that has `count` folders until its stdin ends."""
    return subprocess.Popen(
        [sys.executable, "-c", CODE, str(parent), str(count)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


def test_it_is_removed_with_what_is_in_it(tmp_path):
    with closing(OwnFolder("own-", tmp_path)) as folder:
        (folder.path / "deep").mkdir()
        (folder.path / "deep" / "file").touch()
    assert list(tmp_path.iterdir()) == []


def test_the_folder_of_a_killed_process_is_removed_by_the_next_and_no_other(tmp_path):
    (tmp_path / "another").mkdir()
    with start(tmp_path, 1) as living, start(tmp_path, 1) as killed:
        assert [process.stdout.readline() for process in (living, killed)] == ["True\n"] * 2
        killed.kill()
        killed.wait()
        assert len(list(tmp_path.glob("own-*"))) == 2
        with closing(OwnFolder("own-", tmp_path)) as ours:
            assert len(list(tmp_path.glob("own-*"))) == 2
            assert ours.path.is_dir()
        assert len(list(tmp_path.glob("own-*"))) == 1
    assert (tmp_path / "another").is_dir()


def test_many_that_are_made_at_a_time_do_not_take_each_other_for_left(tmp_path):
    processes = [start(tmp_path, 50) for _ in range(2)]
    said = [process.stdout.readline() for process in processes]
    found = list(tmp_path.iterdir())
    for process in processes:
        process.communicate()
    assert said == ["True\n"] * 2
    assert len(found) == 100


def test_files_of_others_under_such_a_name_stay(tmp_path):
    """Opening a pipe without a writer would never return."""
    (tmp_path / "theirs").mkdir()
    (tmp_path / "theirs" / "file").touch()
    os.mkfifo(tmp_path / "own-pipe")
    (tmp_path / "own-link").symlink_to(tmp_path / "theirs")
    with closing(OwnFolder("own-", tmp_path)):
        assert len(list(tmp_path.glob("own-*"))) == 3
    assert (tmp_path / "theirs" / "file").is_file()
