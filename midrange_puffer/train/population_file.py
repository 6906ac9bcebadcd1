"""`population.json` of a run folder: who was trained against whom, and how it went."""

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal

from midrange_puffer.config.sections import EXPLOITERS
from midrange_puffer.files import write_json, write_whole
from midrange_puffer.json_files import Count, Share, read_json

FILE, TABLE = "population.json", "population.txt"
FORMAT = "midrange_puffer population"
COLUMNS = (
    "turn", "kind", "against", "its_steps_M", "trained_M", "wins", "draws", "losses", "score",
    "model",
)  # fmt: skip


@dataclass
class Turn:
    """An exploiter that was trained and then frozen.

    Attributes:
        epoch, agent_steps: of the policy that it was trained against, which was `against`.
        decisions: its own training.
        win, draw, loss: shares of its engagements with that policy.
        path: of its model, relative to the run folder.
    """

    kind: Literal[EXPLOITERS]
    epoch: Count
    agent_steps: Count
    against: str
    decisions: Count
    win: Share
    draw: Share
    loss: Share
    path: str

    @property
    def score(self) -> float:
        """Win 1, draw 0.5."""
        return self.win + self.draw / 2


@dataclass
class PopulationFile:
    """The content of the file."""

    format: Literal[FORMAT]
    turns: list[Turn]


def read_turns(folder: Path) -> list[Turn]:
    """The exploiters of a run so far; none where there is no file.

    Raises:
        JsonError: It is damaged.
    """
    path = folder / FILE
    return read_json(path, PopulationFile).turns if path.exists() else []


def write_turns(folder: Path, turns: list[Turn]) -> None:
    """Write the file, and the same as a table to be read.

    Raises:
        WriteError: The disk is full or the folder not writable.
    """
    write_json(folder / FILE, {"format": FORMAT, "turns": [asdict(turn) for turn in turns]})
    write_whole(folder / TABLE, format_turns(turns).encode())


def format_turns(turns: list[Turn]) -> str:
    """A line for each exploiter, in columns."""
    rows = [COLUMNS, *(_row(number, turn) for number, turn in enumerate(turns, 1))]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = (
        "  ".join(word.ljust(width) for word, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    )
    return "\n".join(lines) + "\n"


def _row(number: int, turn: Turn) -> tuple[str, ...]:
    millions = (f"{steps / 1e6:.1f}" for steps in (turn.agent_steps, turn.decisions))
    shares = (f"{share:.3f}" for share in (turn.win, turn.draw, turn.loss, turn.score))
    return (str(number), turn.kind, turn.against, *millions, *shares, turn.path)
