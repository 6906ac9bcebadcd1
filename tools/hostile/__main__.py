"""The command of tools/hostile: see there."""

import argparse
import contextlib
import itertools
import shutil
import sys
import time
from pathlib import Path

from rich.console import Console
from rich.progress import Progress

from hostile import samples
from hostile.callees import CALLEES
from hostile.formats import FORMATS
from hostile.kills import KILLS
from hostile.outcome import FINE
from hostile.parent import run_cases
from hostile.report import Report

BUILD = Path("build/hostile")
# How many cases a round has of each kind of a concern, or of one kind; in twenty minutes of two
# cores there are seven rounds or so. A run is killed two or three times in a case.
ROUND = {"files": 100, "calls": 40, "kills": 8, "kills:sweep": 2}
SEEDS = 1_000_000  # of one --seed


def main() -> int:
    """Attacks for so many minutes, or repeats one case; returns 1 if there are findings."""
    options = _parser().parse_args()
    console = Console()
    place = (BUILD / "samples").resolve()
    if options.again:
        return _again(options.again, place, console)
    kinds = _kinds(options.what)
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir(parents=True)
    with console.status("making undamaged files"):
        samples.make(place)
    report = Report(BUILD / "findings", console)
    with contextlib.suppress(KeyboardInterrupt):
        _attack(kinds, place, options, report, console)
    report.print(kinds)
    return bool(report.findings)


def _attack(
    kinds: list[str], place: Path, options: argparse.Namespace, report: Report, console: Console
) -> None:
    """Attacks in rounds, until the minutes are over or every kind had its rounds."""
    end = time.monotonic() + 60 * options.minutes
    with Progress(console=console, transient=True) as progress:
        task = progress.add_task("", total=60 * options.minutes)
        for number in itertools.count():
            if options.rounds is not None and number >= options.rounds:
                return
            for kind in kinds:
                count = ROUND.get(kind) or ROUND[kind.partition(":")[0]]
                before = time.monotonic()
                for outcome in run_cases(kind, place, SEEDS * options.seed + number * count, count):
                    now = time.monotonic()
                    report.add(outcome, now - before, place)
                    told = f"round {number + 1}, {kind}, {report.findings} findings"
                    done = 60 * options.minutes - (end - now)
                    progress.update(task, description=told, completed=done)
                    before = now
                    if now >= end:
                        return
                if not console.is_terminal:
                    console.print(told)


def _again(name: str, place: Path, console: Console) -> int:
    """Repeats one case, on the files of the last run."""
    kind, _, seed = name.rpartition(":")
    _kinds([kind])
    if not place.is_dir():
        sys.exit(f"{place}: has no files; attack first")
    [outcome] = run_cases(kind, place, int(seed), 1)
    console.print(f"{outcome.result}: {outcome.told}", markup=False)
    return outcome.result not in FINE


def _kinds(words: list[str]) -> list[str]:
    """Returns the kinds that these words name: concerns, kinds, or nothing for all."""
    concerns = {"files": FORMATS, "calls": CALLEES, "kills": KILLS}
    kinds = [f"{concern}:{name}" for concern, names in concerns.items() for name in names]
    for word in words:
        if word not in concerns and word not in kinds:
            sys.exit(f"{word}: must be of {', '.join([*concerns, *kinds])}")
    return [kind for kind in kinds if not words or {kind, kind.partition(":")[0]} & {*words}]


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="hostile", description=__doc__)
    parser.add_argument("what", nargs="*", help="files, calls, kills, or a kind (all of them)")
    parser.add_argument("--minutes", type=float, default=20, help="how long at most (20)")
    parser.add_argument("--rounds", type=int, help="how many rounds at most (any number)")
    parser.add_argument("--seed", type=int, default=1, help="where the seeds begin (1)")
    parser.add_argument("--again", metavar="CASE", help="one case again, as a finding names it")
    return parser


if __name__ == "__main__":
    sys.exit(main())
