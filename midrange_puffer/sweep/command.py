"""`puffer sweep midrange`: begin a sweep, go on with one, or show what one has found."""

import argparse
import contextlib
import secrets
import signal
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NoReturn

from midrange_puffer.config import (
    Config,
    ConfigError,
    changes,
    format_config,
    given,
    load_config,
)
from midrange_puffer.errors import UserError
from midrange_puffer.files import write_whole
from midrange_puffer.loggers import format_duration
from midrange_puffer.plot import require_matplotlib
from midrange_puffer.settle import settle
from midrange_puffer.sweep.progress import Progress, format_params
from midrange_puffer.sweep.record import Lock, Record, best_trial, find_sweep, sweeps_folder
from midrange_puffer.sweep.report import BEST, write_report
from midrange_puffer.sweep.runner import Runner, pinned, share_of_cores
from midrange_puffer.sweep.search import Search
from midrange_puffer.sweep.space import Space, trial_config

# What may change where a sweep goes on: the trials so far compare with the next ones all the same.
CHANGEABLE = tuple(
    f"sweep.{name}" for name in ("trials", "workers", "max_cost", "stop_quantile", "stop_after")
)


class SweepError(UserError):
    """A sweep has come to nothing."""


class Interrupted(KeyboardInterrupt):
    """The signal `number` came."""

    def __init__(self, number: int) -> None:
        super().__init__()
        self.number = number


def main(argv: Sequence[str]) -> int:
    """Sweep, with the words after `puffer sweep midrange`; return the exit status."""
    parser = argparse.ArgumentParser("puffer sweep midrange", add_help=False, allow_abbrev=False)
    for option in ("--config", "--resume", "--report"):
        parser.add_argument(option)
    options, overrides = parser.parse_known_args(argv)
    chosen = [f"--{name}" for name, value in vars(options).items() if value is not None]
    if len(chosen) > 1:
        raise ConfigError(f"{' and '.join(chosen)}: only one, for a sweep has its own sweep.ini")
    if options.report is not None:
        return report(_find(options.report, overrides), overrides)
    if options.resume is not None:
        return resume(_find(options.resume, overrides), overrides)
    return begin(options.config, overrides)


def begin(config_path: str | None, overrides: Sequence[str]) -> int:
    """Run a new sweep."""
    config = load_config(config_path, overrides)
    _check(config)
    name = config["sweep"]["name"] or time.strftime("%Y%m%d-%H%M%S-") + secrets.token_hex(2)
    record = Record.create(sweeps_folder(config["train"]["data_dir"]) / name, config)
    with record.lock():
        return run(record)


def resume(folder: Path, overrides: Sequence[str]) -> int:
    """Go on with a sweep, with what of its [sweep] is to be another from now on.

    Raises:
        ConfigError: Something is given that cannot change.
    """
    with Lock(folder):
        record = Record(folder)
        config = _overridden(record, overrides)
        differences = changes(record.config, config)
        for key, (before, after) in differences.items():
            if key not in CHANGEABLE:
                raise ConfigError(
                    f"{key}: is {before} in {folder} and cannot become {after}; of a sweep that "
                    f"goes on {', '.join(CHANGEABLE)} may change"
                )
        _check(config)
        write_whole(folder / Record.CONFIG, format_config(config).encode())
        print(f"{len(record.over)} of {config['sweep']['trials']} trials are over")
        for key, (before, after) in differences.items():
            print(f"  {key}: {before} -> {after}")
        return run(Record(folder))


def report(folder: Path, overrides: Sequence[str]) -> int:
    """Write the report of a sweep, which may be running."""
    record = Record(folder)
    if changed := changes(record.config, _overridden(record, overrides)):
        raise ConfigError(f"{', '.join(changed)}: --report shows a sweep as it was")
    print(f"report {write_report(record)}")
    return 0


def run(record: Record) -> int:
    """Run a sweep to its end, or until a signal comes; return the exit status.

    Raises:
        SweepError: No trial finished.
    """
    print(f"sweep folder {record.folder}", flush=True)
    how_to_go_on = f"go on with: puffer sweep midrange --resume {record.folder}"
    search = Search(record.config, Space(record.config))
    try:
        with _interruptible(), Progress(record) as progress:
            Runner(record, search, progress.tell).run()
    except Interrupted as interrupted:
        print(f"stopped by {signal.Signals(interrupted.number).name}; {how_to_go_on}")
        return 128 + interrupted.number
    except UserError:
        print(f"the trials that are over are kept: {how_to_go_on}", file=sys.stderr)
        raise
    best = best_trial(record.trials)
    if best:
        found = f"best score {best.score:.3f} by trial {best.number}"
        print(f"{found} in {format_duration(best.cost)}: {format_params(best)}")
        print(f"train with: puffer train midrange --config {record.folder / BEST}")
    print(f"report {write_report(record)}")
    if not best:
        reasons = Counter(trial.reason for trial in record.trials)
        told = "; ".join(f"{count} x {reason}" for reason, count in reasons.most_common())
        raise SweepError(f"{record.folder}: none of {len(record.trials)} trials finished: {told}")
    return 0


def _find(name: str, overrides: Sequence[str]) -> Path:
    data_dir = given(overrides, "train.data_dir") or load_config()["train"]["data_dir"]
    return find_sweep(name, data_dir)


def _overridden(record: Record, overrides: Sequence[str]) -> Config:
    """The configuration of a sweep, changed; train.data_dir only says where it was looked for."""
    config = load_config(record.folder / Record.CONFIG, overrides)
    config["train"]["data_dir"] = record.config["train"]["data_dir"]
    return config


def _check(config: Config) -> None:
    """Refuse what cannot run, as the first worker would run the first trial, or be reported."""
    require_matplotlib()
    center = trial_config(config, Space(config).center)
    with pinned(share_of_cores(0, config["sweep"]["workers"])):
        settle(center)


@contextlib.contextmanager
def _interruptible() -> Iterator[None]:
    """Let SIGINT and SIGTERM raise Interrupted: nothing has to be saved that is not."""
    numbers = (signal.SIGINT, signal.SIGTERM)
    before = [signal.signal(number, _interrupt) for number in numbers]
    try:
        yield
    finally:
        for number, handler in zip(numbers, before, strict=True):
            signal.signal(number, handler)


def _interrupt(number: int, frame: object) -> NoReturn:
    raise Interrupted(number)
