"""The files of a run folder that say how the run goes; they are read without torch.

`metrics.jsonl` has one JSON object a row of metrics, in which numbers that are not finite are null.
`league.json` has the ratings of the run's checkpoints, `population.json` its exploiters, and
`shared_buffer.json` the name of its experience buffer on a cluster.
"""

import itertools
import json
import math
import secrets
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Final, Literal

from midrange_puffer.config.exploiter_kinds import ExploiterKind
from midrange_puffer.contest.ratings import ANCHORS, Pairing
from midrange_puffer.files import (
    WriteError,
    open_regular,
    open_to_append,
    read_end,
    write_json,
    write_whole,
)
from midrange_puffer.json_files import (
    Count,
    JsonError,
    Share,
    Within,
    checked,
    inside_all,
    parse,
    read_json,
)
from midrange_puffer.names import shown
from midrange_puffer.policies.models import PanelScore

LONGEST_ROW = 1 << 20  # bytes; written rows have some thousand
LARGEST_METRICS = 1 << 32  # bytes
MOST_ROWS = 1_000_000  # of a file that is drawn
LEAGUE = "league.json"
MOST_PLAYERS = 5000  # in a run's league, whose table of results has a row and a column a player
POPULATION, POPULATION_TABLE = "population.json", "population.txt"
SHARED_BUFFER = "shared_buffer.json"
FORMAT: Final = "midrange_puffer population"
COLUMNS = (
    "turn", "kind", "against", "its_steps_M", "trained_M", "wins", "draws", "losses", "score",
    "model",
)  # fmt: skip

Row = dict[str, float | None]


class MetricsFile:
    """The logger that writes metrics.jsonl.

    Args:
        path: of the file.
        resume_at: agent decisions of a resumed run, whose later rows are dropped; None: a new run.

    Raises:
        WriteError: The existing rows cannot be read or rewritten.
    """

    def __init__(self, path: Path, resume_at: int | None) -> None:
        self.path = path
        if resume_at is None or not path.exists():
            return
        try:
            rows = [line for line, row in _rows(path) if (row["agent_steps"] or 0) <= resume_at]
        except OSError as error:
            raise WriteError(f"cannot read {path}: {error.strerror}") from error
        write_whole(path, b"".join(rows))

    def log(self, metrics: Mapping[str, float], step: int) -> None:
        """Appends a row."""
        finite = {name: value if math.isfinite(value) else None for name, value in metrics.items()}
        try:
            with open_to_append(self.path) as file:
                file.write((json.dumps(finite) + "\n").encode())
        except OSError as error:
            raise WriteError(f"cannot write {self.path}: {error.strerror}") from error

    def close(self, model_path: str) -> None:
        """Does nothing: every row is already written."""


def read_metrics(path: Path) -> list[Row]:
    """Returns the rows of metrics.jsonl. Damaged lines are skipped and counted on stderr.

    Raises:
        JsonError: It cannot be read, or has more rows than `MOST_ROWS`.
    """
    try:
        rows = [row for _, row in itertools.islice(_rows(path), MOST_ROWS + 1)]
    except OSError as error:
        raise JsonError(f"{path}: {error.strerror}") from None
    if len(rows) > MOST_ROWS:
        raise JsonError(f"{path}: has more than {MOST_ROWS} rows")
    return rows


def last_row(path: Path) -> Row:
    """Returns the last whole row of metrics.jsonl, read from its end; empty if there is none."""
    try:
        lines = read_end(path, 2 * LONGEST_ROW).splitlines()
    except OSError:
        return {}
    rows = (_row(line) for line in reversed(lines))
    return next((row for row in rows if row is not None), {})


def _rows(path: Path) -> Iterator[tuple[bytes, Row]]:
    """Yields valid lines, each with its row, then prints the number of skipped ones to stderr."""
    bad, begins = 0, True  # `begins` is False in the rest of a line that is too long
    with open_regular(path, LARGEST_METRICS) as file:
        while line := file.readline(LONGEST_ROW):
            row = _row(line) if begins else None
            if row is not None:
                yield line if line.endswith(b"\n") else line + b"\n", row
            elif begins:
                bad += 1  # a killed run may leave half a row
            begins = line.endswith(b"\n")
    if bad:
        rows = "row that is" if bad == 1 else "rows that are"
        print(f"{shown(path)}: left out {bad} {rows} damaged or no metrics", file=sys.stderr)


def _row(line: bytes) -> Row | None:
    """Returns the row of a line; None if it is not a row of metrics."""
    if b'"agent_steps"' not in line:  # first, as reading millions of short lines takes minutes
        return None
    try:
        row = checked(parse(line), Row)
    except ValueError:
        return None
    if row.get("agent_steps") is None:
        return None
    return {sys.intern(name): value for name, value in row.items()}  # rows share their names


@dataclass
class Rating:
    """The rating of a checkpoint, with its 95 % interval."""

    name: str
    agent_steps: Count
    rating: float = 0.0  # until all checkpoints are rated
    rating_low: float = 0.0
    rating_high: float = 0.0


@dataclass
class LeagueFile:
    """The content of league.json."""

    parameters: dict[str, float | str]
    # The fit does not converge with ratings far beyond these, nor with too many games.
    anchors: dict[str, Annotated[float, Within(-1e4, 1e4)]]
    ratings: list[Rating]
    results: list[Pairing]


def read_league(path: Path) -> LeagueFile:
    """Reads league.json.

    Raises:
        JsonError: It cannot be read or is damaged.
    """
    content = read_json(path, LeagueFile)
    _check_results(content, path)
    return content


def panel_scores(league: LeagueFile) -> dict[str, PanelScore]:
    """Returns the panel scores of the checkpoints that met every pilot, the earliest first."""
    met: dict[str, list[Pairing]] = {rating.name: [] for rating in league.ratings}
    for result in league.results:
        met[result.first].append(result)
    scores = {name: panel_score(results) for name, results in met.items()}
    return {name: score for name, score in scores.items() if score is not None}


def panel_score(results: Iterable[Pairing]) -> PanelScore | None:
    """Returns a player's panel score from its results; None if a pilot of ANCHORS was not met."""
    by_pilot = {result.second: result for result in results if result.second in ANCHORS}
    if len(by_pilot) < len(ANCHORS):
        return None
    scores = {pilot: result.score for pilot, result in by_pilot.items()}
    worst = min(scores, key=lambda pilot: scores[pilot])
    mean = sum(scores.values()) / len(scores)
    return PanelScore(mean, scores[worst], worst, by_pilot[worst].games)


def _check_results(content: LeagueFile, path: Path) -> None:
    """Raises JsonError if a result has no games, or is of a checkpoint that is not rated."""
    rated = {row.name for row in content.ratings}
    players = rated | {result.second for result in content.results}
    if len(players) > MOST_PLAYERS:
        raise JsonError(f"{path}: damaged: {len(players)} players, at most {MOST_PLAYERS} allowed")
    met: set[tuple[str, str]] = set()
    for place, result in enumerate(content.results):
        where = f"{path}: damaged: results[{place}]"
        if result.first not in rated:
            raise JsonError(f"{where}.first = {result.first}: must be a name in ratings")
        if result.second == result.first or (result.first, result.second) in met:
            raise JsonError(f"{where}.second = {result.second}: must be another player, met once")
        met.add((result.first, result.second))
        if not result.games:
            raise JsonError(f"{where}: wins, draws and losses must not all be 0")


@dataclass
class Turn:
    """A trained and frozen exploiter.

    Attributes:
        kind: of exploiter.
        epoch, agent_steps: of the policy that it was trained against.
        against: file name of that policy.
        decisions: agent decisions of the exploiter's own training.
        win, draw, loss: shares of its engagements with that policy.
        path: of its model, relative to the run folder.
        reward_draw, ent_coef, learning_rate: of its training; None: those of its ini file.
    """

    kind: Literal["anew", "own", "league", "strongest"]  # EXPLOITERS
    epoch: Count
    agent_steps: Count
    against: str
    decisions: Count
    win: Share
    draw: Share
    loss: Share
    path: str
    reward_draw: float | None = None
    ent_coef: float | None = None
    learning_rate: float | None = None

    @property
    def score(self) -> float:
        """The score: a win is 1, a draw 0.5."""
        return self.win + self.draw / 2


@dataclass
class PopulationFile:
    """The content of population.json."""

    format: Literal["midrange_puffer population"]  # FORMAT
    turns: list[Turn]


def read_turns(folder: Path) -> list[Turn]:
    """Reads population.json; returns the exploiters of a run, none if there is no file.

    Raises:
        JsonError: It is damaged, or names a file outside the folder.
    """
    path = folder / POPULATION
    if not path.exists():
        return []
    turns = read_json(path, PopulationFile).turns
    inside_all(path, "turns", [turn.path for turn in turns])
    return turns


def write_turns(folder: Path, turns: list[Turn]) -> None:
    """Writes population.json, and population.txt as a table for people.

    Raises:
        WriteError: The disk is full or the folder not writable.
    """
    write_json(folder / POPULATION, {"format": FORMAT, "turns": [asdict(turn) for turn in turns]})
    write_whole(folder / POPULATION_TABLE, format_turns(turns).encode())


def format_turns(turns: list[Turn]) -> str:
    """Formats a table with a line for each exploiter."""
    rows = [COLUMNS, *(_turn_row(number, turn) for number, turn in enumerate(turns, 1))]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = (
        "  ".join(word.ljust(width) for word, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    )
    return "\n".join(lines) + "\n"


def _turn_row(number: int, turn: Turn) -> tuple[str, ...]:
    millions = (f"{steps / 1e6:.1f}" for steps in (turn.agent_steps, turn.decisions))
    shares = (f"{share:.3f}" for share in (turn.win, turn.draw, turn.loss, turn.score))
    kind = ExploiterKind(turn.kind, turn.reward_draw, turn.ent_coef, turn.learning_rate)
    return (str(number), str(kind), turn.against, *millions, *shares, turn.path)


@dataclass
class SharedBufferFile:
    """The content of shared_buffer.json: the name of the run's experience buffer on a cluster."""

    actor: str


def shared_buffer_name(folder: Path) -> str:
    """Returns the name of a run's experience buffer on a cluster; the first call draws it.

    Raises:
        JsonError: shared_buffer.json is damaged.
    """
    path = folder / SHARED_BUFFER
    if not path.exists():
        write_json(path, {"actor": secrets.token_hex(16)})
    return read_json(path, SharedBufferFile).actor
