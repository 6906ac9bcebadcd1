"""metrics.jsonl keeps its good rows, and what is wrong in league.json is named."""

import json
import resource

import pytest

from midrange_puffer.contest.ratings import ANCHORS
from midrange_puffer.files import WriteError
from midrange_puffer.game.parameters import resolve
from midrange_puffer.json_files import JsonError
from midrange_puffer.train.run_files import (
    LEAGUE,
    LONGEST_ROW,
    MetricsFile,
    read_league,
    read_metrics,
)

GOOD = [b'{"agent_steps": 1024, "SPS": 5.5}\n', b'{"SPS": null, "agent_steps": 2048}\n']
BAD = {
    "half a row": b'{"agent_steps": 3072, "SP\n',
    "not UTF-8": b'{"agent_steps": 1024, "\xff\xfe": 1}\n',
    "no object": b"[1024, 5.5]\n",
    "a number": b"1024\n",
    "without steps": b'{"SPS": 5.5}\n',
    "no number of steps": b'{"agent_steps": null}\n',
    "steps as text": b'{"agent_steps": "1024"}\n',
    "another kind of row": b'{"agent_steps": 1024, "notes": {"a": 1}}\n',
    "not a number": b'{"agent_steps": 1024, "SPS": NaN}\n',
    "too large": b'{"agent_steps": 1024, "SPS": 1e999}\n',
    "deep": b"[" * 100_000 + b"\n",
    "long": b" " * (3 * LONGEST_ROW) + b"1\n",
    "empty": b"\n",
}


@pytest.mark.parametrize("bad", BAD.values(), ids=BAD.keys())
def test_a_bad_row_is_left_out_with_a_word(tmp_path, capsys, bad):
    path = tmp_path / "metrics.jsonl"
    path.write_bytes(GOOD[0] + bad + GOOD[1])
    rows = read_metrics(path)
    assert capsys.readouterr().err == f"{path}: left out 1 row that is damaged or no metrics\n"
    assert rows == [json.loads(row) for row in GOOD]
    MetricsFile(path, resume_at=2048)
    assert path.read_bytes() == b"".join(GOOD)
    assert "left out 1 row" in capsys.readouterr().err
    assert read_metrics(path) == rows
    assert capsys.readouterr().err == ""


def test_the_number_of_bad_lines_is_reported(tmp_path, capsys):
    path = tmp_path / "metrics.jsonl"
    path.write_bytes(b"".join(BAD.values()))
    assert read_metrics(path) == []
    assert f"left out {len(BAD)} rows that are" in capsys.readouterr().err


@pytest.mark.parametrize(("end", "left"), [(GOOD[1][:-1], GOOD[1]), (GOOD[1][:-5], b"")])
def test_the_next_row_has_a_line_of_its_own(tmp_path, end, left):
    """A killed run leaves a part of a row, or a whole row without the end of its line."""
    path = tmp_path / "metrics.jsonl"
    path.write_bytes(GOOD[0] + end)
    MetricsFile(path, resume_at=2048).log({"agent_steps": 3072}, 3072)
    assert path.read_bytes() == GOOD[0] + left + b'{"agent_steps": 3072}\n'


def test_a_row_that_does_not_fit_on_the_disk_is_an_error(tmp_path):
    """The system writes the first bytes of such a row without an error."""
    metrics = MetricsFile(tmp_path / "metrics.jsonl", resume_at=None)
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (10, before[1]))
    try:
        with pytest.raises(WriteError, match=r"cannot write .*metrics.jsonl: File too large"):
            metrics.log({"agent_steps": 3072}, 3072)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def test_a_missing_file_is_named(tmp_path):
    path = tmp_path / "metrics.jsonl"
    path.mkdir()
    with pytest.raises(WriteError, match=r"cannot read .*metrics.jsonl: Is a directory"):
        MetricsFile(path, resume_at=1)


RATED = {"name": "model_000001", "agent_steps": 1000}
RESULT = {"first": "model_000001", "second": "ace", "wins": 1, "draws": 0, "losses": 1}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"ratings": {}}, "ratings = {}: must be a list"),
        ({"ratings": [RATED | {"agent_steps": "1"}]}, r"ratings\[0\].agent_steps = '1': must"),
        ({"ratings": [RATED | {"rating": None}]}, r"ratings\[0\].rating = None: must be a number"),
        ({"results": [RESULT | {"wins": -1}]}, r"results\[0\].wins = -1: must be an integer"),
        ({"results": [RESULT | {"wins": 10**9}]}, r"results\[0\].wins = 1.*: must be an integer"),
        ({"results": [RESULT | {"wins": 0, "losses": 0}]}, r"results\[0\]: .* must not all be 0"),
        ({"results": [RESULT | {"first": "who"}]}, r"results\[0\].first = who: must be a name in"),
        (
            {"results": [RESULT, RESULT]},
            r"results\[1\].second = ace: must be another player",
        ),
        ({"results": [RESULT | {"second": str(n)} for n in range(5000)]}, "5001 players, at most"),
        ({"anchors": {"ace": 1e300}}, r"anchors.ace = 1e\+300: must be a number from -10000"),
        ({"parameters": []}, r"parameters = \[\]: must be an object"),
        ({"more": 1}, "more: no such entry; there are parameters, anchors, ratings, results"),
    ],
)
def test_a_damaged_league_is_named_with_what_is_wrong_in_it(tmp_path, change, message):
    content = {"parameters": resolve({}), "anchors": ANCHORS}
    content |= {"ratings": [RATED], "results": [RESULT]}
    (tmp_path / LEAGUE).write_text(json.dumps(content))
    assert read_league(tmp_path / LEAGUE).ratings[0].name == "model_000001"
    (tmp_path / LEAGUE).write_text(json.dumps(content | change))
    with pytest.raises(JsonError, match=f"league.json: damaged: {message}"):
        read_league(tmp_path / LEAGUE)
