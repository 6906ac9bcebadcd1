"""`puffer profile midrange`: where the time of training goes, as a table and as a trace."""

import argparse
import contextlib
import io
import math
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from midrange_puffer.commands.options.profile import REPORT, TRACE
from midrange_puffer.commands.progress import progress_bar
from midrange_puffer.config.reading import load_config
from midrange_puffer.files import open_folder, write_json, write_whole
from midrange_puffer.names import shown
from midrange_puffer.train import ranks
from midrange_puffer.train.loggers import TRACKERS
from midrange_puffer.train.profiling import (
    LABELS,
    TRACED,
    WARM_UP,
    Measurement,
    TracedProfile,
)
from midrange_puffer.train.ranks import launch
from midrange_puffer.train.run import planned_run, train
from midrange_puffer.train.run_folder import Run
from midrange_puffer.train.stop_signals import StopSignals

ENDLESS = 10**13  # agent decisions: it is the measurement that ends the run
REST, BETWEEN = "rest", "bookkeeping"


def main(options: argparse.Namespace) -> int:
    """Measure, with what `options.profile` has read; return the exit status."""
    if options.ranks is not None:
        return launch(options.words, options.ranks, options.max_restarts or 0)
    out = Path(options.out)
    with ranks.joined(), tempfile.TemporaryDirectory(prefix="midrange-profile-") as folder:
        ranks.from_first(lambda: open_folder(out))
        run = ranks.from_first(lambda: _plan(Path(folder), options.config, options.overrides))
        trace = Path(folder, TRACE)
        with StopSignals() as signals:
            measurement = _measure(run, signals, options.updates, trace)
        if signals.caught:
            return 128 + signals.caught
        if ranks.is_first():
            report = make_report(measurement, run)
            write_whole(out / TRACE, trace.read_bytes())
            write_json(out / REPORT, report)
            print_report(report)
            print(f"{shown(out)}: {REPORT}, and {TRACE} for https://ui.perfetto.dev")
    return 0


def _plan(folder: Path, config_path: str | None, overrides: Sequence[str]) -> Run:
    """The run that is measured, which no tracker hears of."""
    config = load_config(config_path, overrides)
    silent = config.replaced("base", "a profile", **dict.fromkeys(TRACKERS, False))
    run = planned_run(silent, folder)
    endless = run.config.replaced("train", "a profile", total_timesteps=ENDLESS)
    return replace(run, config=endless)


def _measure(run: Run, signals: StopSignals, updates: int, trace: Path) -> Measurement:
    """Let a run go on for so long, silently."""
    device = run.config["train"]["device"]
    profile = TracedProfile(device)  # of the trainers of all stages
    with _progress(WARM_UP + updates + TRACED) as advance:
        measurement = Measurement(
            profile, device, updates, trace if ranks.is_first() else None, advance
        )
        with contextlib.redirect_stdout(io.StringIO()):
            train(run, signals, [measurement], profile)
    return measurement


def _progress(updates: int) -> contextlib.AbstractContextManager[Callable[[int], None]]:
    if ranks.is_first():
        return progress_bar("updates", updates)
    return contextlib.nullcontext(lambda count: None)


def make_report(measurement: Measurement, run: Run) -> dict[str, object]:
    """What was measured, for profile.json.

    Returns:
        seconds and agent decisions of an update; its parts, as of `divide`; the machine meanwhile,
        as far as it is known; how many times as long the update in the trace took, its operators,
        and the configuration.
    """
    seconds, decisions = measurement.seconds, measurement.decisions
    return {
        "updates": measurement.updates,
        "seconds": seconds,
        "decisions": decisions,
        "sps": decisions / seconds,
        "parts": divide(measurement.parts, measurement.parents, seconds, decisions),
        "machine": {
            name: value for name, value in measurement.machine.items() if math.isfinite(value)
        },
        "slowdown_of_trace": measurement.traced_seconds / seconds,
        "operators": measurement.operators,
        "config": run.config.as_dict(),
    }


def divide(
    parts: Mapping[str, float],
    parents: Mapping[str, str | None],
    seconds: float,
    decisions: float,
) -> list[dict[str, object]]:
    """The parts of an update, each with what is in it, down to what is in none of them.

    Args:
        parts: seconds of each.
        parents: what each lies in; None: in the update.
        seconds: of the update.
        decisions: agent decisions of the update.

    Returns:
        For each part its name, what it is `of` (None: the update), its seconds, its share of the
        update and seconds_per_million agent decisions.
    """
    found: list[tuple[str, str | None, float]] = []
    for whole in (name for name in parts if parents[name] is None):
        label = LABELS.get(whole, whole)
        found.append((label, None, parts[whole]))
        inner = {LABELS.get(name, name): parts[name] for name in parts if parents[name] == whole}
        if inner:
            rest = parts[whole] - sum(inner.values())
            found += [(name, label, inner[name]) for name in sorted(inner, key=inner.get)[::-1]]
            found.append((REST, label, rest))
    found.append((BETWEEN, None, seconds - sum(its for _, of, its in found if of is None)))
    return [
        {
            "part": name,
            "of": of,
            "seconds": its,
            "share": its / seconds,
            "seconds_per_million": its / decisions * 1e6,
        }
        for name, of, its in found
    ]


def print_report(report: Mapping[str, object]) -> None:
    """Print the tables of a report."""
    console = Console(highlight=False)
    console.print(
        f"An update of {report['decisions']:,.0f} decisions takes {report['seconds']:.3f} s, "
        f"{report['sps']:,.0f} decisions/s (mean of {report['updates']}):"
    )
    console.print(format_parts(report))
    console.print("  ".join(f"{name} {value:.3g}" for name, value in report["machine"].items()))
    console.print(
        f"The operators that took longest in the update traced, which took "
        f"{report['slowdown_of_trace']:.1f} times as long with the profiler:"
    )
    console.print(format_operators(report))


def format_parts(report: Mapping[str, object]) -> Table:
    """The parts of an update as a table."""
    table = Table(box=box.SIMPLE_HEAD)
    table.add_column("part")
    for column in ("ms", "share", "s per million\ndecisions"):
        table.add_column(column, justify="right")
    whole = {"part": "update", "of": None, "seconds": report["seconds"], "share": 1.0}
    whole["seconds_per_million"] = 1e6 / report["sps"]
    for row in [*report["parts"], whole]:
        if row["share"] >= 0.0005:
            table.add_row(
                row["part"] if row["of"] is None else f"  {row['part']}",
                f"{1000 * row['seconds']:.1f}",
                f"{row['share']:.1%}",
                f"{row['seconds_per_million']:.3f}",
                style=None if row["of"] else "bold",
            )
    return table


def format_operators(report: Mapping[str, object]) -> Table:
    """The costliest operators as a table."""
    table = Table(box=box.SIMPLE_HEAD)
    table.add_column("operator")
    for column in ("calls", "ms", "share"):
        table.add_column(column, justify="right")
    traced = report["seconds"] * report["slowdown_of_trace"]
    for row in report["operators"]:
        table.add_row(
            Text(row["operator"]),  # kernels' names may hold what is markup to rich
            f"{row['calls']:,}",
            f"{1000 * row['seconds']:.1f}",
            f"{row['seconds'] / traced:.1%}",
        )
    return table
