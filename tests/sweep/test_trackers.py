"""Trackers see the trials of a sweep as one group, with the score that the sweep goes by."""

import struct
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import sweeps

from midrange_puffer.sweep.record import Record

pytestmark = pytest.mark.slow


def read_offline(path: Path) -> list[Any]:
    """The records of a file of wandb's, which a process of its own writes to its end."""
    from wandb.proto import wandb_internal_pb2  # takes a second

    until = time.monotonic() + 60
    while True:
        records = [wandb_internal_pb2.Record.FromString(data) for data in read_log(path)]
        if records and records[-1].HasField("exit"):
            return records
        assert time.monotonic() < until, "wandb's record has no end"
        time.sleep(0.1)


def read_log(path: Path) -> Iterator[bytes]:
    """The contents of a log in LevelDB's format, but for its checksums, after wandb's header.

    https://github.com/google/leveldb/blob/main/doc/log_format.md
    """
    data, place, content = path.read_bytes(), 7, b""
    while place + 7 <= len(data):
        if (left := 32768 - place % 32768) < 7:  # of a block: no room for a header
            place += left
            continue
        _, length, kind = struct.unpack_from("<IHB", data, place)
        place += 7 + length
        content += data[place - length : place]
        if kind in (1, 4) and place <= len(data):  # all of it, or its last part
            yield content
            content = b""


def test_wandb_offline_has_the_trials_in_a_group_with_their_scores(tmp_path, monkeypatch):
    monkeypatch.setenv("WANDB_MODE", "offline")
    monkeypatch.setenv("WANDB_SILENT", "true")
    for name in ("WANDB_DIR", "WANDB_NAME"):
        monkeypatch.delenv(name, raising=False)
    assert sweeps.sweep(tmp_path, "--wandb", "--sweep.trials=1") == 0
    record = Record(tmp_path / "sweeps" / "small")
    for trial in record.trials:
        folder = record.trial_folder(trial)
        (path,) = folder.glob("run/wandb/offline-run-*/*.wandb")
        records = read_offline(path)
        (run,) = [one.run for one in records if one.HasField("run")]
        assert (run.run_group, list(run.tags)) == ("small", ["small"])
        assert run.display_name == folder.name
        scores = [
            float(item.value_json)
            for one in records
            for item in one.history.item
            if "sweep/score" in (item.key, "/".join(item.nested_key))
        ]
        assert scores == pytest.approx([reading.score for reading in trial.readings])
