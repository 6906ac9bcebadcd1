"""What a pool's file says: which frozen policies are met, how often, and how they have done."""

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Literal

from midrange_puffer.errors import UsageError
from midrange_puffer.json_files import Count, JsonError, Share, Within, read_json
from midrange_puffer.names import inside

FORMAT = "midrange_puffer pool"
# A member's score is the mean of about its last RECENT engagements, after RUN_IN that count as
# drawn, so that the first few do not decide how often a newcomer is met.
RECENT = 256
RUN_IN = 8
MOST = 1024  # members of a pool


class PoolError(UsageError):
    """A pool's settings or its file cannot be used."""


@dataclass
class Member:
    """A frozen policy, and how the learner has done against it lately."""

    name: str
    path: str  # of its model file, relative to the pool's folder
    agent_steps: Count  # the training it has had
    own: bool  # a checkpoint of this run, not a model named by pool.include
    weight: Annotated[float, Within(0, 1e6)] = 0.0  # its share of the engagements against the pool
    games: Annotated[int, Within(0, RECENT)] = 0  # engagements its score is of
    score: Share = 0.5  # the learner's against it: win 1, draw 0.5
    exploiter: bool = False  # own, and trained against this run's policy

    def observe(self, scores: Sequence[float]) -> None:
        """Count the learner's scores of finished engagements against this member."""
        count = len(scores)
        share = count / (RUN_IN + self.games + count)
        self.score += share * (sum(scores) / count - self.score)
        self.games = min(self.games + count, RECENT)


@dataclass
class _PoolFile:
    """The content of a pool's file."""

    format: Literal[FORMAT]
    members: Annotated[list[Member], Within(0, MOST)]


def read_members(path: Path) -> list[Member]:
    """Read a pool's file. The paths of the members are within its folder.

    Raises:
        PoolError: It is missing, damaged or something else; which entry, and what it must be.
    """
    try:
        members = read_json(path, _PoolFile).members
    except JsonError as error:
        raise PoolError(str(error)) from None
    taken = Counter(member.name for member in members)
    for index, member in enumerate(members):
        where = f"{path}: damaged: members[{index}]"
        if taken[member.name] > 1:
            raise PoolError(f"{where}.name = {member.name}: must be the name of no other")
        try:
            inside(path.parent, member.path)
        except ValueError as error:
            raise PoolError(f"{where}.path = {error}") from None
    return members


def format_members(members: Sequence[Member]) -> str:
    """The text of a pool's file."""
    entries = {"format": FORMAT, "members": [asdict(member) for member in members]}
    return json.dumps(entries, indent=1) + "\n"
