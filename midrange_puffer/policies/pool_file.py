"""What a pool's file says: which frozen policies are met, how often, and how they have done."""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from midrange_puffer.errors import UsageError

FORMAT = "midrange_puffer pool"
# A member's score is the mean of about its last RECENT engagements, after RUN_IN that count as
# drawn, so that the first few do not decide how often a newcomer is met.
RECENT = 256
RUN_IN = 8


class PoolError(UsageError):
    """A pool's settings or its file cannot be used."""


@dataclass
class Member:
    """A frozen policy, and how the learner has done against it lately."""

    name: str
    path: str  # of its model file, relative to the pool's folder
    agent_steps: int  # the training it has had
    own: bool  # a checkpoint of this run, not a model named by pool.include
    weight: float = 0.0  # its share of the engagements against the pool
    games: int = 0  # engagements its score is of, at most RECENT
    score: float = 0.5  # the learner's against it: win 1, draw 0.5

    def observe(self, scores: Sequence[float]) -> None:
        """Count the learner's scores of finished engagements against this member."""
        count = len(scores)
        share = count / (RUN_IN + self.games + count)
        self.score += share * (sum(scores) / count - self.score)
        self.games = min(self.games + count, RECENT)


def read_members(path: Path) -> list[Member]:
    """Read a pool's file.

    Raises:
        PoolError: It is missing, damaged or something else.
    """
    try:
        entries = json.loads(path.read_text(encoding="utf-8"))
        if entries["format"] != FORMAT:
            raise ValueError
        return [Member(**entry) for entry in entries["members"]]
    except OSError as error:
        raise PoolError(f"{path}: {error.strerror}") from None
    except (ValueError, TypeError, KeyError):
        raise PoolError(f"{path}: damaged, or not a {FORMAT}") from None


def format_members(members: Sequence[Member]) -> str:
    """The text of a pool's file."""
    entries = {"format": FORMAT, "members": [asdict(member) for member in members]}
    return json.dumps(entries, indent=1) + "\n"
