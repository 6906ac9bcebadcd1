"""A process that tries cases: python -m hostile.child KIND SAMPLES FIRST COUNT.

It prints a line for each, so that its parent knows which one it did not survive.
"""

import faulthandler
import sys
from collections.abc import Callable
from pathlib import Path

from hostile import limits
from hostile.outcome import Outcome

MEMORY = 3 * limits.GIGABYTE


def main(kind: str, samples: Path, first: int, count: int) -> None:
    """Tries so many cases of a kind."""
    faulthandler.enable()
    told = sys.stdout
    sys.stdout = sys.stderr  # nothing else gets in between
    try_one = attack(kind, samples)
    print("ready", file=told, flush=True)
    if not kind.startswith("kills"):  # who starts other processes, which import torch
        limits.allow(MEMORY)
    for seed in range(first, first + count):
        print(try_one(seed).to_line(), file=told, flush=True)


def attack(kind: str, samples: Path) -> Callable[[int], Outcome]:
    """Returns the function that tries the case of a seed."""
    concern, _, name = kind.partition(":")
    if concern == "files":
        from hostile.files import Reader

        return Reader(name, samples).try_one
    if concern == "kills":
        from hostile.kills import Victims

        return Victims(name).try_one
    from hostile.calls import Caller

    return Caller(name).try_one


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4]))
