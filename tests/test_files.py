"""Files are whole whatever happens while they are written."""

import os

import pytest

from midrange_puffer.files import WriteError, write_whole


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


def test_what_cannot_be_written_leaves_what_was_there(tmp_path, monkeypatch):
    path = tmp_path / "file"
    write_whole(path, b"before")

    def fail(*_):
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(WriteError, match=f"cannot write {path}: Input/output error"):
        write_whole(path, b"after")
    assert path.read_bytes() == b"before"
    assert list(tmp_path.iterdir()) == [path]
