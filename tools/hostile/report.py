"""Report of cases and findings: while they are tried, and at the end."""

import shutil
import time
from collections import Counter, defaultdict
from collections.abc import Sequence
from pathlib import Path

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from hostile.outcome import FINE, Outcome

SHOWN = 200  # characters of a finding, on the screen


class Report:
    """Counts outcomes, and keeps the findings.

    Args:
        folder: where findings are kept; what is there is removed.
    """

    def __init__(self, folder: Path, console: Console) -> None:
        shutil.rmtree(folder, ignore_errors=True)
        self._folder, self._console = folder, console
        self._counts: dict[str, Counter[str]] = defaultdict(Counter)
        self._seconds: Counter[str] = Counter()
        self._began = time.monotonic()
        self.findings = 0

    def add(self, outcome: Outcome, seconds: float, samples: Path) -> None:
        """Counts a case that took so long; keeps it if it is a finding."""
        self._counts[outcome.kind][outcome.result] += 1
        self._seconds[outcome.kind] += seconds
        if not outcome.is_finding:
            return
        self.findings += 1
        self._console.print(
            Text(f"{outcome.name} {outcome.result}: {_printable(outcome.told)[:SHOWN]}", "red")
        )
        self._keep(outcome, samples)

    def print(self, kinds: Sequence[str]) -> None:
        """Prints the results of each kind, and the wanted kinds without a case."""
        table = Table(box=box.SIMPLE_HEAD, show_edge=False, padding=(0, 1, 0, 0))
        table.add_column("kind", no_wrap=True)
        for heading in ("cases", *FINE, "ms each"):
            table.add_column(heading, justify="right", no_wrap=True)
        table.add_column("findings")
        for kind in filter(self._counts.__contains__, kinds):
            counts = self._counts[kind]
            cells = [str(counts[result] or "·") for result in FINE]
            mean = f"{1000 * self._seconds[kind] / counts.total():.0f}"
            findings = [f"{counts[result]} {result}" for result in sorted(counts.keys() - {*FINE})]
            table.add_row(kind, str(counts.total()), *cells, mean, ", ".join(findings) or "none")
        self._console.print(table)
        if missed := [kind for kind in kinds if kind not in self._counts]:
            self._console.print(f"not reached: {', '.join(missed)}")
        cases = sum(counts.total() for counts in self._counts.values())
        minutes = (time.monotonic() - self._began) / 60
        found = f"{self.findings} findings, in {self._folder}" if self.findings else "nothing found"
        self._console.print(f"{cases} cases in {minutes:.1f} minutes: {found}")

    def _keep(self, outcome: Outcome, samples: Path) -> None:
        folder = self._folder / outcome.name.replace(":", "-")
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "outcome.json").write_text(f"{outcome.to_line()}\n")
        concern, _, name = outcome.kind.partition(":")
        if concern == "files":
            from hostile.files import damaged, find, placed

            if placed(name, outcome.seed) is None:
                _, data, _ = damaged(name, samples, outcome.seed)
                (folder / find(name, samples).name).write_bytes(data)


def _printable(text: str) -> str:
    return "".join(letter if letter.isprintable() else " " for letter in text)
