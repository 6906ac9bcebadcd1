"""Pipes, devices and files of any size in a stranger's folder are refused at once, by name."""

import contextlib
import os
import signal
import stat

import pytest
from hostile import limits

from midrange_puffer.checkpoint import load_policy
from midrange_puffer.commands.plot import _read_curves
from midrange_puffer.config.configuration import format_config
from midrange_puffer.config.reading import load_config
from midrange_puffer.errors import UserError
from midrange_puffer.files import lock
from midrange_puffer.game.envelope import Envelope
from midrange_puffer.json_files import LARGEST, MOST_SIGNS, JsonError, read_json
from midrange_puffer.policies.mix import parse_mix
from midrange_puffer.policies.pool_file import read_members
from midrange_puffer.replays.replay import Replay
from midrange_puffer.sweep.record import Record, load_readings
from midrange_puffer.train import trainer_state
from midrange_puffer.train.run_files import (
    MetricsFile,
    read_league,
    read_metrics,
    read_turns,
)
from midrange_puffer.train.run_folder import read_run

PATIENCE = 5  # s, for a reader that needs some milliseconds
TERABYTE = 1 << 40
MEMORY = 150 << 20  # bytes for a JSON file
MANY = f"has {TERABYTE} bytes, more than"


READERS = {
    "model.pt": load_policy,
    "model.onnx": load_policy,
    "trainer_state.pt": trainer_state.load,
    "x.replay": Replay.read,
    "map.npz": Envelope.load,
    "config.ini": load_config,
    "sweep.ini": lambda path: Record(path.parent),
    "metrics.jsonl": read_metrics,
    "resumed.jsonl": lambda path: MetricsFile(path, resume_at=1),
    "league.json": read_league,
    "pool.json": read_members,
    "nash.json": lambda path: parse_mix(f"nash:{path}"),
    "population.json": lambda path: read_turns(path.parent),
    "readings.json": lambda path: load_readings(path.parent),
    "report.json": _read_curves,
}


def fifo(path):
    os.mkfifo(path)


def device(path):
    path.symlink_to("/dev/zero")


def sparse(path):
    path.touch()
    os.truncate(path, TERABYTE)


@contextlib.contextmanager
def soon():
    """Ends a body that takes too long, by an error."""

    def stop(*_):
        raise AssertionError(f"not done after {PATIENCE} s")

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, PATIENCE)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


@pytest.mark.parametrize("make", [fifo, device, sparse])
@pytest.mark.parametrize("name", READERS)
def test_a_file_that_is_none_is_refused_at_once(tmp_path, name, make):
    path = tmp_path / name
    make(path)
    reason = MANY if make is sparse else "not a file|not a regular file|there is no sweep.ini"
    with soon(), pytest.raises((UserError, OSError), match=rf"(?s)(?=.*{name}).*({reason})"):
        READERS[name](path)


@pytest.mark.parametrize("make", [fifo, device, sparse])
def test_a_run_is_listed_although_its_files_are_none(tmp_path, make):
    (tmp_path / "config.ini").write_text(format_config(load_config()))
    for name in ("metrics.jsonl", "league.json", "lock"):
        make(tmp_path / name)
    with soon():
        info = read_run(tmp_path)
    assert info.metrics == {}
    assert info.best is None


@pytest.mark.parametrize("make", [fifo, device])
def test_a_lock_that_is_no_file_is_refused(tmp_path, make):
    make(tmp_path / "lock")
    with soon(), pytest.raises(UserError, match=r"cannot lock .*lock: "):
        lock(tmp_path, "digs here").__enter__()
    assert not stat.S_ISREG((tmp_path / "lock").lstat().st_mode)


def test_a_lock_that_is_a_link_leaves_its_file(tmp_path):
    precious = tmp_path / "precious"
    precious.write_text("content")
    (tmp_path / "lock").symlink_to(precious)
    with pytest.raises(UserError, match=r"cannot lock .*lock: "):
        lock(tmp_path, "digs here").__enter__()
    assert precious.read_text() == "content"


@pytest.mark.parametrize(
    "item", ["{}", "[0]", '{"":0}', '"ab"', '"\u0101b"', "1.5", '"' + "a" * 12 + '"']
)
@pytest.mark.parametrize("signs", [MOST_SIGNS - 2, LARGEST])
def test_a_file_of_many_tiny_values_takes_little_memory(tmp_path, item, signs):
    """One file has as many values as are read, one as many as the largest file has room for."""
    path, size = tmp_path / "pool.json", len(item.encode()) + 1
    count = min(signs // sum(map(item.__add__(",").count, "{[,:")), (LARGEST - 2) // size)
    path.write_text(f"[{','.join([item] * count)}]")
    limits.forget_peak()
    before = limits.memory()
    with pytest.raises(JsonError, match=r"pool\.json: damaged"):
        read_json(path, list[bool])
    assert limits.peak() - before < MEMORY
