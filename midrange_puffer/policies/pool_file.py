"""The file of a pool of opponents: frozen policies, their shares and the scores against them."""

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Final, Literal

from midrange_puffer.errors import UsageError
from midrange_puffer.json_files import Count, JsonError, Share, Within, inside_all, read_json

FORMAT: Final = "midrange_puffer pool"
# `Member.score` is a running mean over about the last RECENT engagements. It begins as if there had
# been RUN_IN draws: otherwise the first few results would decide how often the member is drawn.
RECENT = 256
RUN_IN = 8
MAX_MEMBERS = 1024


class PoolError(UsageError):
    """A pool's settings or file that cannot be used."""


@dataclass
class Member:
    """A frozen policy that the learner fights, and the learner's recent score against it."""

    name: str
    path: str  # its model file, relative to the pool's folder
    agent_steps: Count  # length of its training when it was frozen
    own: bool  # True: made by this run (checkpoints, exploiters); False: named in pool.include
    weight: Annotated[float, Within(0, 1e6)] = 0.0  # relative chance to be drawn as opponent
    games: Annotated[int, Within(0, RECENT)] = 0  # engagements in `score`, without the RUN_IN draws
    score: Share = 0.5  # the learner's score against it: win 1, draw 0.5
    exploiter: bool = False  # True: an opponent that this run trained to beat its own policy

    def observe(self, scores: Sequence[float]) -> None:
        """Adds the learner's scores from newly finished engagements against this member."""
        count = len(scores)
        share = count / (RUN_IN + self.games + count)
        self.score += share * (sum(scores) / count - self.score)
        self.games = min(self.games + count, RECENT)


@dataclass
class _PoolFile:
    """The content of a pool's file."""

    format: Literal["midrange_puffer pool"]  # FORMAT
    members: Annotated[list[Member], Within(0, MAX_MEMBERS)]


def read_members(path: Path) -> list[Member]:
    """Reads a pool's file, whose members are in the same folder.

    Raises:
        PoolError: The file is missing or damaged; the message names the entry and its rule.
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
        inside_all(path, "members", [member.path for member in members])
    except JsonError as error:
        raise PoolError(str(error)) from None
    return members


def format_members(members: Sequence[Member]) -> str:
    """Returns the text of a pool's file."""
    entries = {"format": FORMAT, "members": [asdict(member) for member in members]}
    return json.dumps(entries, indent=1) + "\n"
