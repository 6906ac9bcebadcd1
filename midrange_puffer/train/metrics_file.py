"""metrics.jsonl of a run folder: one JSON object a log; what is not finite is null."""

import json
import math
import os
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

from midrange_puffer.files import WriteError, write_whole
from midrange_puffer.json_files import checked, parse
from midrange_puffer.names import shown

LONGEST_ROW = 1 << 20  # bytes; ours have some thousand

Row = dict[str, float | None]


class MetricsFile:
    """The file as a run writes it.

    Args:
        path: of the file.
        resume_at: of a run that goes on: after how many agent decisions. The rows past them are
            dropped.

    Raises:
        WriteError: The rows that are there cannot be read or written again.
    """

    def __init__(self, path: Path, resume_at: int | None) -> None:
        self.path = path
        if resume_at is None or not path.exists():
            return
        try:
            rows = [line for line, row in _rows(path) if row["agent_steps"] <= resume_at]
        except OSError as error:
            raise WriteError(f"cannot read {path}: {error.strerror}") from error
        write_whole(path, b"".join(rows))

    def log(self, metrics: Mapping[str, float], step: int) -> None:
        """Append one row."""
        finite = {name: value if math.isfinite(value) else None for name, value in metrics.items()}
        try:
            with self.path.open("a", encoding="utf-8") as file:
                file.write(json.dumps(finite) + "\n")
        except OSError as error:
            raise WriteError(f"cannot write {self.path}: {error.strerror}") from error

    def close(self, model_path: str) -> None:
        """Nothing is left to write."""


def read_metrics(path: Path) -> list[Row]:
    """The rows of a file. Lines that are no row are left out; stderr says how many.

    Raises:
        OSError: It cannot be read.
    """
    return [row for _, row in _rows(path)]


def last_row(path: Path) -> Row:
    """The last whole row of a file, which may be long; empty where there is none."""
    try:
        with path.open("rb") as file:
            file.seek(max(0, file.seek(0, os.SEEK_END) - 2 * LONGEST_ROW))
            lines = file.read().splitlines()
    except OSError:
        return {}
    rows = (_row(line) for line in reversed(lines))
    return next((row for row in rows if row is not None), {})


def _rows(path: Path) -> Iterator[tuple[bytes, Row]]:
    """The lines that are rows, each with its row. At the end stderr says how many are none."""
    bad, begins = 0, True  # `begins`: a line does, and none that is too long goes on
    with path.open("rb") as file:
        while line := file.readline(LONGEST_ROW):
            row = _row(line) if begins else None
            if row is not None:
                yield line if line.endswith(b"\n") else line + b"\n", row
            elif begins:
                bad += 1  # a run that was killed may end in half a row
            begins = line.endswith(b"\n")
    if bad:
        rows = "row that is" if bad == 1 else "rows that are"
        print(f"{shown(path)}: left out {bad} {rows} damaged or no metrics", file=sys.stderr)


def _row(line: bytes) -> Row | None:
    """What a line says; None where it is no row of metrics."""
    try:
        row = checked(parse(line), Row)
    except ValueError:
        return None
    return row if row.get("agent_steps") is not None else None
