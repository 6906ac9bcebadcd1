"""metrics.jsonl: a resume keeps its good rows, whatever else is in it."""

import json

import pytest

from midrange_puffer.files import WriteError
from midrange_puffer.train.run_files import LONGEST_ROW, MetricsFile, read_metrics

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


def test_how_many_are_bad_is_said(tmp_path, capsys):
    path = tmp_path / "metrics.jsonl"
    path.write_bytes(b"".join(BAD.values()))
    assert read_metrics(path) == []
    assert f"left out {len(BAD)} rows that are" in capsys.readouterr().err


@pytest.mark.parametrize(("end", "left"), [(GOOD[1][:-1], GOOD[1]), (GOOD[1][:-5], b"")])
def test_the_next_row_has_a_line_of_its_own(tmp_path, end, left):
    """Where a run was killed in the midst of a row; of one only the end of the line may lack."""
    path = tmp_path / "metrics.jsonl"
    path.write_bytes(GOOD[0] + end)
    MetricsFile(path, resume_at=2048).log({"agent_steps": 3072}, 3072)
    assert path.read_bytes() == GOOD[0] + left + b'{"agent_steps": 3072}\n'


def test_what_is_no_file_is_named(tmp_path):
    path = tmp_path / "metrics.jsonl"
    path.mkdir()
    with pytest.raises(WriteError, match=r"cannot read .*metrics.jsonl: Is a directory"):
        MetricsFile(path, resume_at=1)
