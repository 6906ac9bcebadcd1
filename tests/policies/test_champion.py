"""The champion: the files are those that docs/champion.md quotes, and play as it says."""

import hashlib
import re

import numpy as np
import pytest
from places import ROOT

from midrange_puffer import FEATURES
from midrange_puffer.contest.panel import interval, meet
from midrange_puffer.contest.panel_rows import rows_of
from midrange_puffer.game.parameters import resolve
from midrange_puffer.policies.loading import load_policy
from midrange_puffer.policies.models import CHAMPION, path_of
from midrange_puffer.policies.player import Player

PAGE = (ROOT / "docs" / "champion.md").read_text()
MODEL = path_of(CHAMPION)
EXPORTED = MODEL.with_suffix(".onnx")
QUICK = ("evader", "turn_back", "ace", "frozen:default_1")  # rows of the panel


@pytest.mark.parametrize("path", [MODEL, EXPORTED], ids=lambda path: path.name)
def test_the_page_quotes_this_file(path):
    content = path.read_bytes()
    assert f"`{path.name}` | `{hashlib.sha256(content).hexdigest()}`" in PAGE
    assert len(content) <= 250_000


def quoted(row: str) -> tuple[float, float]:
    """The interval of the score that the page gives for a row of the panel."""
    found = re.search(rf"^\| `{row}` \|.*\((\d\.\d+)–(\d\.\d+)\) \|$", PAGE, re.MULTILINE)
    return float(found[1]), float(found[2])


@pytest.mark.parametrize("name", QUICK)
def test_it_plays_what_the_page_says(name):
    """From other starts: the 95 % intervals of both figures have to meet."""
    (row,) = (row for row in rows_of(0) if row.name == name)
    result, _ = meet(load_policy(CHAMPION)[0], row, 256, 7, False, parameters=resolve({}))
    low, high = interval(result)
    least, most = quoted(name)
    assert low <= most
    assert least <= high


def test_the_exported_file_is_the_same_policy():
    """C and onnxruntime choose the same likeliest controls, but where two are next to equal."""
    random = np.random.default_rng(3)
    observations = random.uniform(-1, 1, (1000, len(FEATURES))).astype(np.float32)
    controls = [
        Player(load_policy(path)[0], 1000, seed=0, greedy=True).act(observations, np.arange(1000))
        for path in (MODEL, EXPORTED)
    ]
    assert (controls[0] == controls[1]).all(axis=1).mean() > 0.995
