"""The outcome of a case, and the line in which a child reports it to its parent."""

import json
from dataclasses import asdict, dataclass

# Allowed results of damaged files.
REFUSED = "refused"  # by an error for users, which names the file
SAME = "same"  # the damaged part is not used
OTHER = "other"  # another content, and a sound one: the file is text that users may change
# Allowed result of calls and kills.
PASSED = "passed"
FINE = (REFUSED, SAME, OTHER, PASSED)
# Forbidden results: each is a finding.
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
    """Raises FoundError, with `what` as the finding, unless a condition holds."""
    if not condition:
        raise FoundError(UNSOUND, what)


@dataclass(frozen=True)
class Outcome:
    """One case.

    Attributes:
        kind: the attacked part, such as "files:model".
        seed: repeats the case, with the kind.
        result: one of the words above.
        told: the attack and its result, in a few words.
    """

    kind: str
    seed: int
    result: str
    told: str

    @property
    def is_finding(self) -> bool:
        """True if this must not happen."""
        return self.result not in FINE

    @property
    def name(self) -> str:
        """The argument of `--again`."""
        return f"{self.kind}:{self.seed}"

    def to_line(self) -> str:
        """Returns the outcome as a line for the pipe from a child."""
        return json.dumps(asdict(self))

    @classmethod
    def from_line(cls, line: str) -> "Outcome":
        """Returns the outcome that `to_line` has written."""
        return cls(**json.loads(line))
