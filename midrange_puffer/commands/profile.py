"""`puffer profile midrange`: where the time of training goes, as a table and as a trace."""

import contextlib
import io
import math
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from midrange_puffer.commands import option
from midrange_puffer.commands.progress import progress_bar
from midrange_puffer.config.checks import check_update
from midrange_puffer.config.reading import load_config
from midrange_puffer.files import open_folder, write_json, write_whole
from midrange_puffer.names import shown
from midrange_puffer.train.loggers import TRACKERS

if TYPE_CHECKING:
    from rich.table import Table

    from midrange_puffer.train.profiling import Measurement, Memory
    from midrange_puffer.train.run_folder import Run
    from midrange_puffer.train.stop_signals import StopSignals

REPORT, TRACE = "profile.json", "trace.json.gz"
ENDLESS = 10**13  # agent decisions: the measurement ends the run
REST, BETWEEN = "rest", "bookkeeping"
MIB = 2**20


DESCRIPTION = (
    "Measure where the time of some updates of a training goes, and trace one more update."
)


@dataclass(frozen=True, kw_only=True)
class Options:
    """Options of this mode, the configuration's `overrides`, and the `words` for a rank."""

    config: str | None = option.config()
    updates: int = option.value("number of updates to measure", 10, 1, 1_000_000)
    out: str = option.value(f"the folder for {REPORT} and {TRACE}", "profile")
    ranks: int | None = option.ranks()
    max_restarts: int | None = option.max_restarts()
    overrides: tuple[str, ...] = option.overrides()
    words: list[str] = option.settled()


def read(argv: Sequence[str]) -> Options:
    """Reads and checks the words after `puffer profile midrange`."""
    options = option.Parser("profile", DESCRIPTION, Options).read(argv)
    option.check_ranks(options.ranks, options.max_restarts)
    if not option.is_rank():
        check_update(load_config(options.config, options.overrides))
    return replace(options, words=option.words_of_a_rank("profile", argv))


def main(options: Options) -> int:
    """Measures; returns the exit status."""
    from midrange_puffer.train import ranks
    from midrange_puffer.train.ranks import launch
    from midrange_puffer.train.stop_signals import StopSignals

    if options.ranks is not None:
        return launch(options.words, options.ranks, options.max_restarts or 0)
    out = Path(options.out)
    with ranks.joined(), tempfile.TemporaryDirectory(prefix="midrange-profile-") as folder:
        ranks.from_first(lambda: open_folder(out))
        run = ranks.from_first(lambda: plan(Path(folder), options.config, options.overrides))
        trace = Path(folder, TRACE)
        with StopSignals() as signals:
            bar = contextlib.nullcontext(lambda count: None)
            if ranks.is_first():
                bar = progress_bar("updates", updates_of(options.updates))
            with bar as advance:
                measurement = measure(
                    run, signals, options.updates, trace if ranks.is_first() else None, advance
                )
        if signals.caught:
            return 128 + signals.caught
        if ranks.is_first():
            report = make_report(measurement, run)
            write_whole(out / TRACE, trace.read_bytes())
            write_json(out / REPORT, report)
            print_report(report)
            print(f"{shown(out)}: {REPORT}, and {TRACE} for https://ui.perfetto.dev")
    return 0


def plan(folder: Path, config_path: str | None, overrides: Sequence[str]) -> "Run":
    """Returns the run to measure, without trackers."""
    from midrange_puffer.train.run import planned_run

    config = load_config(config_path, overrides)
    silent = config.replaced("base", "a profile", **dict.fromkeys(TRACKERS, False))
    run = planned_run(silent, folder)
    endless = run.config.replaced("train", "a profile", total_timesteps=ENDLESS)
    return replace(run, config=endless)


def updates_of(measured: int) -> int:
    """Returns the updates of a run in which so many are measured."""
    from midrange_puffer.train.profiling import TRACED, WARM_UP

    return WARM_UP + measured + TRACED


def measure(
    run: "Run",
    signals: "StopSignals",
    updates: int,
    trace: Path | None,
    advance: Callable[[int], None],
) -> "Measurement":
    """Runs a run until so many updates are measured, silently: see `profiling.Measurement`."""
    from midrange_puffer.train.profiling import Measurement, TracedProfile
    from midrange_puffer.train.run import train

    device = run.config.train.device
    profile = TracedProfile(device)  # of the trainers of all stages
    measurement = Measurement(profile, device, updates, trace, advance)
    with contextlib.redirect_stdout(io.StringIO()):
        train(run, signals, [measurement], profile)
    return measurement


def make_report(measurement: "Measurement", run: "Run") -> dict[str, Any]:
    """Returns the measurement, for profile.json.

    Returns:
        Seconds and agent decisions of an update; its parts, as `divide` returns them; the memory,
        as `weigh` returns it; the known readings of the machine; the factor by which the trace
        slowed its update, the operators of that update, and the configuration.
    """
    seconds, decisions = measurement.seconds, measurement.decisions
    return {
        "updates": measurement.updates,
        "seconds": seconds,
        "decisions": decisions,
        "sps": decisions / seconds,
        "parts": divide(measurement.parts, measurement.parents, seconds, decisions),
        "memory": weigh(measurement.grown, measurement.parents, measurement.ended),
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
) -> list[dict[str, Any]]:
    """Returns the parts of an update and their own parts, with the rest of each.

    Args:
        parts: seconds of each.
        parents: the part that each lies in; None: in the update.
        seconds: of the update.
        decisions: agent decisions of the update.

    Returns:
        For each part its name, the part it is `of` (None: the update), its seconds, its share of
        the update and seconds_per_million agent decisions.
    """
    from midrange_puffer.train.profiling import LABELS

    rows: list[tuple[str, str | None, float]] = []
    for whole in (name for name in parts if parents[name] is None):
        label = LABELS.get(whole, whole)
        rows.append((label, None, parts[whole]))
        inner = {LABELS.get(name, name): parts[name] for name in parts if parents[name] == whole}
        if inner:
            rest = parts[whole] - sum(inner.values())
            ordered = sorted(inner.items(), key=lambda item: item[1])[::-1]
            rows += [(name, label, time) for name, time in ordered]
            rows.append((REST, label, rest))
    rows.append((BETWEEN, None, seconds - sum(time for _, parent, time in rows if parent is None)))
    return [
        {
            "part": name,
            "of": parent,
            "seconds": time,
            "share": time / seconds,
            "seconds_per_million": time / decisions * 1e6,
        }
        for name, parent, time in rows
    ]


def weigh(
    grown: Mapping[str, "Memory"], parents: Mapping[str, str | None], ended: "Memory"
) -> dict[str, dict[str, int]]:
    """Returns the memory of a run by its parts.

    Args:
        grown: growth of memory in each part [bytes], with the parts in it.
        parents: as in `divide`.
        ended: memory at the end [bytes].

    Returns:
        For `process` and `gpu` the bytes that each part took for itself, those `before` or between
        the parts, and the `total`.
    """
    from midrange_puffer.train.profiling import LABELS

    report: dict[str, dict[str, int]] = {}
    for kind in ("process", "gpu"):
        total = getattr(ended, kind)
        own = {name: getattr(grown[name], kind) for name in parents if name in grown}
        outer = sum(size for name, size in own.items() if parents[name] is None)
        for name, parent in parents.items():
            if parent in own and name in own:
                own[parent] -= getattr(grown[name], kind)
        parts = {LABELS.get(name, name): size for name, size in own.items()}
        report[kind] = {"before": total - outer, **parts, "total": total}
    return report


def print_report(report: Mapping[str, Any]) -> None:
    """Prints the tables of a report."""
    from rich.console import Console

    console = Console(highlight=False)
    console.print(
        f"An update of {report['decisions']:,.0f} decisions takes {report['seconds']:.3f} s, "
        f"{report['sps']:,.0f} decisions/s (mean of {report['updates']}):"
    )
    console.print(format_parts(report))
    for kind, sizes in report["memory"].items():
        if sizes["total"]:
            console.print(format_memory(kind, sizes))
    console.print("  ".join(f"{name} {value:.3g}" for name, value in report["machine"].items()))
    console.print(
        f"The operators that took longest in the update traced, which took "
        f"{report['slowdown_of_trace']:.1f} times as long with the profiler:"
    )
    console.print(format_operators(report))


def format_parts(report: Mapping[str, Any]) -> "Table":
    """Returns the parts of an update as a table."""
    from rich import box
    from rich.table import Table

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


def format_memory(kind: str, sizes: Mapping[str, int]) -> str:
    """Returns the memory of the process or the GPU in a line, the largest parts first."""
    before, total = sizes["before"], sizes["total"]
    parts = sorted(
        ((size, name) for name, size in sizes.items() if name not in ("before", "total")),
        reverse=True,
    )
    words = [f"{name} {size / MIB:.0f}" for size, name in parts if size >= MIB]
    where = "the GPU" if kind == "gpu" else "the process"
    return (
        f"Memory of {where}: {total / MIB:.0f} MiB. Before the first update {before / MIB:.0f}; "
        f"taken in its parts: {', '.join(words) or 'nothing'}"
    )


def format_operators(report: Mapping[str, Any]) -> "Table":
    """Returns the costliest operators as a table."""
    from rich import box
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE_HEAD)
    table.add_column("operator")
    for column in ("calls", "ms", "share"):
        table.add_column(column, justify="right")
    traced = report["seconds"] * report["slowdown_of_trace"]
    for row in report["operators"]:
        table.add_row(
            Text(row["operator"]),  # rich would read kernels' names as markup
            f"{row['calls']:,}",
            f"{1000 * row['seconds']:.1f}",
            f"{row['seconds'] / traced:.1%}",
        )
    return table
