"""Damaged files are refused by name, or are as good as undamaged: a few of each kind."""

import dataclasses
import json

import pytest
from hostile import archives, damage, places, samples
from hostile.files import Reader
from hostile.formats import FORMATS
from hostile.outcome import CHANGED, REFUSED, TRACEBACK

from midrange_puffer.files import read_whole

CASES = 20


@pytest.fixture(scope="module")
def undamaged(tmp_path_factory):
    folder = tmp_path_factory.mktemp("samples")
    samples.make(folder, exported=False)
    return folder


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in FORMATS if name != "exported"])
def test_damaged_files_do_no_harm(undamaged, monkeypatch, name):
    monkeypatch.setattr(archives, "BOMB", 1)
    monkeypatch.setattr(places, "DENSE", 300_000)
    reader = Reader(name, undamaged)
    cases = 4 if name == "league" else CASES  # it rates the pilots at every start
    outcomes = [reader.try_one(seed) for seed in range(cases)]
    reader.close()
    assert [outcome for outcome in outcomes if outcome.is_finding] == []
    assert any(outcome.result == REFUSED for outcome in outcomes) or name in ("metrics", "lock")


@pytest.mark.slow
def test_a_reader_that_trusts_its_file_is_found_out(undamaged, monkeypatch):
    """It trusts the content. Reading a pipe, too, it would wait without end."""
    monkeypatch.setattr(places, "DENSE", 300_000)
    trusting = dataclasses.replace(
        FORMATS["readings"],
        read=lambda path: json.loads(read_whole(path, damage.MEGABYTE))["readings"],
        is_sealed=True,
    )
    monkeypatch.setitem(FORMATS, "readings", trusting)
    reader = Reader("readings", undamaged)
    results = {reader.try_one(seed).result for seed in range(100)}
    reader.close()
    assert {TRACEBACK, CHANGED} <= results
