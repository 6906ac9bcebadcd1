"""Shared code of the benchmarks: the machine they ran on, statistics, reports.

Every benchmark that reports rates can keep them: `--record` writes them to results/<machine>.json.
A later run on that machine prints its own rates beside the recorded ones.
"""

import argparse
import json
import platform
import re
import statistics
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import psutil
from rich.console import Console
from rich.table import Table

from midrange_puffer import _core
from midrange_puffer.files import open_folder, write_json, write_results
from midrange_puffer.train.machine import usable_cores

ROOT = Path(__file__).resolve().parents[1]
RESULTS = ROOT / "benchmarks" / "results"  # a file a machine
CONSOLE = Console(width=None if sys.stdout.isatty() else 120, highlight=False)


def machine() -> dict[str, object]:
    """Returns the processor, the build and the commit that the figures belong to."""
    return {
        "cpu": _cpu_info("model name") or platform.processor(),
        "mhz": round(float(_cpu_info("cpu MHz") or 0)),
        "cores": usable_cores(),
        "memory_gib": round(psutil.virtual_memory().total / 2**30),
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        "compiler": _compiler(),
        "isas": list(_core.isas()),
        "commit": _commit(),
    }


def _cpu_info(field: str) -> str:
    """Returns a line of Linux's description of the first core, or ""."""
    info = Path("/proc/cpuinfo")
    if not info.exists():
        return ""
    found = re.search(rf"^{field}\s*: (.*)$", info.read_text(), re.MULTILINE)
    return found[1] if found else ""


def _compiler() -> str:
    """Returns the compiler that built the core, as it wrote itself into the object file."""
    binary = Path(_core.__file__).read_bytes()
    found = re.search(rb"GCC: \([^)]*\) [\d.]+|[\w ]*clang version [\d.]+", binary)
    return found[0].decode() if found else "unknown"


def _commit() -> str:
    command = ["git", "describe", "--always", "--dirty", "--exclude=*"]
    try:
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return "unknown"
    return done.stdout.strip()


def median_and_spread(values: Sequence[float]) -> tuple[float, float]:
    """Returns the median, and the distance from least to greatest as a share of it."""
    middle = statistics.median(values)
    return middle, (max(values) - min(values)) / middle


def compare(
    runs: Mapping[str, Callable[[], Mapping[str, float]]], rounds: int, what: str
) -> dict[str, object]:
    """Trains in turns, `rounds` times each, and prints a table of medians.

    Args:
        runs: by name, what trains once and returns sps [agent decisions/s] and the environment's
            share of the time.
        what: the heading of the names.

    Returns:
        For each name sps, spread and env_share, and the rounds.
    """
    results = {name: [] for name in runs}
    for _ in range(rounds):
        for name, train in runs.items():
            results[name].append(train())
    report, rows = {}, []
    for name, seen in results.items():
        sps, spread = median_and_spread([one["sps"] for one in seen])
        share = statistics.median(one["share"] for one in seen)
        report[name] = {"sps": round(sps), "spread": round(spread, 3), "env_share": round(share, 4)}
        report[name]["rounds"] = seen
        rows.append((name, f"{sps:,.0f}", f"{spread:.0%}", f"{share:.1%}"))
    columns = [what, "agent-steps/s", "spread", "env's share of the time"]
    print_table(f"Training, median of {rounds} runs each", columns, rows)
    return report


def ratio(
    runs: Sequence[Mapping[str, float]], others: Sequence[Mapping[str, float]], names: str
) -> float:
    """Prints and returns the median of the rounds' ratios of sps."""
    ratios = [one["sps"] / other["sps"] for one, other in zip(runs, others, strict=True)]
    found = round(statistics.median(ratios), 3)
    print(f"{names}, median of the rounds: {found:.3f}")
    return found


def parse_training(doc: str, ini: str) -> tuple[argparse.Namespace, list[str]]:
    """Returns the options of a benchmark of training, by default of `ini`; and overrides."""
    parser = argparse.ArgumentParser(description=doc.splitlines()[0])
    parser.add_argument("--config", default=str(ROOT / "configs" / ini))
    parser.add_argument("--rounds", type=int, default=5, help="runs of each side")
    parser.add_argument("--updates", type=int, default=3, help="updates timed in a run")
    add_report_options(parser)
    return parser.parse_known_args()


def add_report_options(parser: argparse.ArgumentParser) -> None:
    """Adds the options that say where a report goes; see `finish`."""
    parser.add_argument("--json", metavar="FILE", help="write the report there, too")
    parser.add_argument(
        "--record",
        action="store_true",
        help="keep the rates in benchmarks/results/, to compare later runs on this machine",
    )


def finish(
    benchmark: str,
    report: Mapping[str, object],
    rates: Mapping[str, float],
    options: argparse.Namespace,
) -> None:
    """Compares a report's rates with the recorded ones, and writes them where the options say.

    Args:
        benchmark: its name, as "sps".
        report: the whole of it, with `machine()` as "machine"; goes to `--json`.
        rates: agent decisions/s by workload; go to the machine's file with `--record`.
        options: those of `add_report_options`.
    """
    path = RESULTS / f"{_slug(report['machine'])}.json"
    recorded = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    if earlier := recorded.get(benchmark):
        _print_change(earlier, rates)
    if options.json:
        write_results(options.json, report)
    if options.record:
        rates = {name: round(rate) for name, rate in rates.items()}
        entry = {
            "machine": report["machine"],
            "rates": earlier["rates"] | rates if earlier else rates,
        }
        open_folder(RESULTS)
        write_json(path, recorded | {benchmark: entry})
        print(path.relative_to(ROOT))


def _slug(report: Mapping[str, object]) -> str:
    """Returns the name of a machine for a file's name: its processor and its cores."""
    processor = re.sub(r"[^a-z0-9]+", "-", str(report["cpu"]).lower()).strip("-")
    return f"{processor}-{report['cores']}-cores"


def _print_change(earlier: Mapping[str, Mapping], rates: Mapping[str, float]) -> None:
    """Prints rates beside those recorded earlier, with their ratios."""
    rows = [
        (name, f"{before:,}", f"{rates[name]:,.0f}", f"{rates[name] / before:.3f}")
        for name, before in earlier["rates"].items()
        if name in rates
    ]
    if rows:
        columns = ["workload", "recorded", "now", "now / recorded"]
        title = (
            f"Agent decisions a second, recorded at commit {earlier['machine']['commit']} and now"
        )
        print_table(title, columns, rows)


def runs_parser(doc: str, mode: str, ini: str) -> argparse.ArgumentParser:
    """Returns the parser of a benchmark of runs of `puffer <mode>`, by default of configs/`ini`.

    Unknown options are overrides of the configuration.
    """
    parser = argparse.ArgumentParser(
        description=doc,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        epilog=f"Further options, --section.key VALUE, go to `puffer {mode}`.",
        allow_abbrev=False,
    )
    parser.add_argument("--config", default=str(ROOT / "configs" / ini))
    return parser


def parse_runs(parser: argparse.ArgumentParser, name: str) -> tuple[argparse.Namespace, list[str]]:
    """Parses the options of a benchmark whose runs, report and picture are in the folder `name`.

    Returns:
        The options, with `out`, `json` and `png` whose folders exist, and the overrides of the
        configuration.
    """
    parser.add_argument("--out", default=f"experiments/{name}", help="folder of the runs")
    parser.add_argument("--json", help=f"the report, instead of {name}.json in that folder")
    parser.add_argument("--png", help=f"the picture, instead of {name}.png in that folder")
    options, overrides = parser.parse_known_args()
    options.json = options.json or str(Path(options.out, f"{name}.json"))
    options.png = options.png or str(Path(options.out, f"{name}.png"))
    for path in (options.json, options.png):
        open_folder(Path(path).parent)  # now: the runs take long
    return options, overrides


def print_machine(report: Mapping[str, object]) -> None:
    """Prints the result of `machine` on a line."""
    words = [", ".join(value) if isinstance(value, list) else value for value in report.values()]
    CONSOLE.print(" · ".join(f"{name} {word}" for name, word in zip(report, words, strict=True)))


def print_table(title: str, columns: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    """Prints a table, text to the left and numbers to the right."""
    table = Table(title=title, title_justify="left")
    for column, first in zip(columns, rows[0], strict=True):
        number = re.fullmatch(r"[-+\d.,]+ ?[%MkG]?", str(first))
        table.add_column(column, justify="right" if number else "left")
    for row in rows:
        table.add_row(*map(str, row))
    CONSOLE.print(table)
