"""`puffer autotune midrange`: which processes step the environments fastest on this machine."""

import contextlib
import io
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

from midrange_puffer.commands import option
from midrange_puffer.commands.profile import measure, plan, updates_of
from midrange_puffer.commands.progress import progress_bar
from midrange_puffer.config.checks import check_update
from midrange_puffer.config.configuration import ConfigError
from midrange_puffer.config.reading import load_config
from midrange_puffer.files import write_results

if TYPE_CHECKING:
    from rich.table import Table

    from midrange_puffer.train.run_folder import Run
    from midrange_puffer.train.stop_signals import StopSignals

DESCRIPTION = (
    "Train for some updates with each way to step the environments: in this process by its "
    "threads, and in worker processes, with all of them in a batch or half of them. The number of "
    "engagements and the learning problem stay the same. Each way is measured in turns."
)


@dataclass(frozen=True, kw_only=True)
class Options:
    """Options of this mode, and the configuration's `overrides`."""

    config: str | None = option.config()
    updates: int = option.value("number of updates to measure, each time", 10, 1, 1_000_000)
    rounds: int = option.value("how often each way is measured; the median counts", 3, 1, 1000)
    json: str | None = option.output("file for the results", ".json", None)
    overrides: tuple[str, ...] = option.overrides()


def read(argv: Sequence[str]) -> Options:
    """Reads and checks the words after `puffer autotune midrange`."""
    options = option.Parser("autotune", DESCRIPTION, Options).read(argv)
    check_update(load_config(options.config, options.overrides))
    return options


def main(options: Options) -> int:
    """Measures; returns the exit status."""
    from midrange_puffer.train.machine import physical_cores
    from midrange_puffer.train.stop_signals import StopSignals

    with tempfile.TemporaryDirectory(prefix="midrange-autotune-") as folder, StopSignals() as stop:
        runs = _plan_all(options, Path(folder), list(candidates(physical_cores())))
        total = len(runs) * options.rounds * updates_of(options.updates)
        speeds: dict[str, list[float]] = {words: [] for words in runs}
        with progress_bar("updates", total) as advance:
            for _ in range(options.rounds):
                for words, run in runs.items():
                    speeds[words].append(_speed(run, stop, options.updates, advance))
                    if stop.caught:
                        return 128 + stop.caught
    rows: list[dict[str, Any]] = [
        {"options": words, "sps": median(values), "all": values} for words, values in speeds.items()
    ]
    rows.sort(key=lambda row: row["sps"], reverse=True)
    if options.json:
        write_results(options.json, {"ways": rows})
    _print(rows)
    return 0


def candidates(cores: int) -> Iterator[str]:
    """Yields the options of each way to step the environments on so many cores."""
    yield "--vec.backend Serial"
    workers = 1
    while workers <= cores:
        for batch in sorted({workers, max(workers // 2, 1)}, reverse=True):
            numbers = f"--vec.num-workers {workers} --vec.batch-size {batch}"
            yield f"--vec.backend Multiprocessing {numbers}"
        workers *= 2


def _plan_all(options: Options, folder: Path, ways: Sequence[str]) -> dict[str, "Run"]:
    """Returns a run for each way that the configuration allows; prints why the others are left out.

    Raises:
        ConfigError: It allows none.
    """
    runs: dict[str, Run] = {}
    errors: list[ConfigError] = []
    for number, words in enumerate(ways):
        own = folder / str(number)
        own.mkdir()
        try:
            with contextlib.redirect_stdout(io.StringIO()):
                runs[words] = plan(own, options.config, [*options.overrides, *words.split()])
        except ConfigError as error:
            print(f"{words}: left out: {error}")
            errors.append(error)
    if not runs:
        raise errors[0]
    return runs


def _speed(run: "Run", stop: "StopSignals", updates: int, advance: Callable[[int], None]) -> float:
    """Returns agent decisions a second of training; 0 if it was stopped."""
    measurement = measure(run, stop, updates, None, advance)
    return 0.0 if stop.caught else measurement.decisions / measurement.seconds


def _print(rows: Sequence[dict[str, Any]]) -> None:
    from rich.console import Console

    Console(highlight=False).print(_table(rows))
    print(f"the fastest: {rows[0]['options']}")


def _table(rows: Sequence[dict[str, Any]]) -> "Table":
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD)
    table.add_column("backend")
    for column in ("workers", "batch", "decisions/s", "slowest to fastest", "ratio"):
        table.add_column(column, justify="right")
    for row in rows:
        backend, *numbers = row["options"].split()[1::2]
        spread = f"{min(row['all']):,.0f} – {max(row['all']):,.0f}"
        ratio = f"{row['sps'] / rows[0]['sps']:.2f}"
        table.add_row(backend, *(numbers or ("", "")), f"{row['sps']:,.0f}", spread, ratio)
    return table
