"""What came of a case, and the line in which a child tells its parent."""

import json
from dataclasses import asdict, dataclass

# What may come of a damaged file.
REFUSED = "refused"  # by an error of a kind that is meant for users, which names the file
SAME = "same"  # what was damaged is not used
OTHER = "other"  # another content, and a sound one: the file is text that users may change
# What may come of calls and kills.
PASSED = "passed"
FINE = (REFUSED, SAME, OTHER, PASSED)
# What must not: each of these is a finding.
TRACEBACK = "traceback"  # an error of another kind
UNNAMED = "unnamed"  # an error that does not say which file
GARBLED = "garbled"  # an error of many lines, or with control characters
CHANGED = "changed"  # other content from a file that has a checksum
UNSOUND = "unsound"  # content that its reader should have refused
MEMORY = "memory"
HANG = "hang"
CRASH = "crash"


class FoundError(Exception):
    """A finding.

    Args:
        result: one of the words above.
        told: what it is.
    """

    def __init__(self, result: str, told: str) -> None:
        super().__init__(told)
        self.result = result


def require(condition: bool, what: str) -> None:
    """Raise FoundError, `what` being unsound, unless a condition holds."""
    if not condition:
        raise FoundError(UNSOUND, what)


@dataclass(frozen=True)
class Outcome:
    """One case.

    Attributes:
        kind: what was attacked, such as "files:model".
        seed: with the kind, makes the case again.
        result: one of the words above.
        told: what was done, and what came of it, in a few words.
    """

    kind: str
    seed: int
    result: str
    told: str

    @property
    def is_finding(self) -> bool:
        """Whether this must not happen."""
        return self.result not in FINE

    @property
    def name(self) -> str:
        """What `--again` takes."""
        return f"{self.kind}:{self.seed}"

    def to_line(self) -> str:
        """For the pipe from a child."""
        return json.dumps(asdict(self))

    @classmethod
    def from_line(cls, line: str) -> "Outcome":
        """What `to_line` has written."""
        return cls(**json.loads(line))
