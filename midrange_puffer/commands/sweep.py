"""`puffer sweep midrange`: begin a sweep, go on with one, or report on one."""

import contextlib
import signal
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from midrange_puffer.commands import option
from midrange_puffer.config.checks import check_pairs, check_update
from midrange_puffer.config.configuration import Config, ConfigError, changes, format_config
from midrange_puffer.config.reading import data_dir, load_config
from midrange_puffer.errors import UserError, require
from midrange_puffer.files import lock, new_name, remove_temporary, write_whole
from midrange_puffer.names import shown
from midrange_puffer.policies.models import is_shipped
from midrange_puffer.sweep.record import Record, best_trial, find_sweep, sweeps_folder
from midrange_puffer.sweep.report import BEST, write_report
from midrange_puffer.sweep.space import Space, trial_config
from midrange_puffer.train.loggers import format_duration
from midrange_puffer.train.run_folder import settled_models, settled_opponents

if TYPE_CHECKING:
    from midrange_puffer.sweep.runner import Worker

# Keys that may change when a sweep goes on: earlier trials still compare with later ones.
CHANGEABLE = (
    "sweep.trials", "sweep.workers", "sweep.engine", "sweep.trial_cores", "cluster.address",
    "sweep.max_cost", "sweep.stop_quantile", "sweep.stop_after",
)  # fmt: skip

RUNS = "runs this sweep"  # as an error of `lock` says it: another process runs this sweep


DESCRIPTION = "Search for better hyperparameters and rewards."


@dataclass(frozen=True, kw_only=True)
class Options:
    """Options of this mode, and the `folder` of the sweep that is named, None of a new one."""

    config: str | None = option.value(
        "an ini file that also names the varied keys: configs/sweep.ini", None
    )
    resume: str | None = option.value("go on with a sweep: its folder, its name, or latest", None)
    report: str | None = option.value(
        "write report.html and best.ini of a sweep; it may still be running", None
    )
    overrides: tuple[str, ...] = option.overrides()
    folder: Path | None = option.settled()


def read(argv: Sequence[str]) -> Options:
    """Reads and checks the words after `puffer sweep midrange`."""
    options = option.Parser("sweep", DESCRIPTION, Options).read(argv)
    if options.resume is not None and options.report is not None:
        raise ConfigError("--resume and --report: give one of them")
    for name, verb in (("resume", "goes on with"), ("report", "reads")):
        if options.config is not None and getattr(options, name) is not None:
            raise ConfigError(f"--{name} {verb} the sweep's own sweep.ini: leave --config out")
    sweep = options.resume if options.report is None else options.report
    folder = None if sweep is None else find_sweep(sweep, data_dir(options.overrides))
    path = options.config if folder is None else folder / Record.CONFIG
    config = load_config(path, options.overrides, complete=folder is not None)
    if options.report is None:
        require("plots need", "matplotlib")
        check_update(trial_config(config, Space(config).center))
    return replace(options, folder=folder)


class Interrupted(KeyboardInterrupt):
    """An interruption by the signal `number`."""

    def __init__(self, number: int) -> None:
        super().__init__()
        self.number = number


def main(options: Options) -> int:
    """Sweeps or reports; returns the exit status."""
    if options.folder is None:
        return begin(options.config, options.overrides)
    if options.report is not None:
        return report(options.folder, options.overrides)
    return resume(options.folder, options.overrides)


def begin(config_path: str | None, overrides: Sequence[str]) -> int:
    """Runs a new sweep; returns the exit status."""
    from midrange_puffer.sweep.runner import workers_of

    config = load_config(config_path, overrides)
    home = sweeps_folder(config.train.data_dir).absolute()  # as every process finds it
    folder = home / (config.sweep.name or new_name())
    _check(config, folder)
    config = _with_absolute_paths(config)
    with workers_of(config) as workers:
        record = Record.create(folder, config)
        with lock(folder, RUNS):
            return run(record, workers)


def resume(folder: Path, overrides: Sequence[str]) -> int:
    """Goes on with a sweep, with changed keys of [sweep]; returns the exit status.

    Raises:
        ConfigError: A key that cannot change is given.
    """
    from midrange_puffer.sweep.runner import workers_of

    with lock(folder, RUNS):
        remove_temporary(folder)
        record = Record(folder)
        config = _overridden(record, overrides)
        differences = changes(record.config, config)
        for key, (before, after) in differences.items():
            if key not in CHANGEABLE:
                raise ConfigError(
                    f"{key}: is {before} in {folder} and cannot become {after}; of a sweep that "
                    f"goes on {', '.join(CHANGEABLE)} may change"
                )
        _check(config, folder)
        write_whole(folder / Record.CONFIG, format_config(config).encode())
        print(f"{len(record.over)} of {config.sweep.trials} trials are over")
        for key, (before, after) in differences.items():
            print(f"  {key}: {shown(before)} -> {shown(after)}")
        with workers_of(config) as workers:
            return run(Record(folder), workers)


def report(folder: Path, overrides: Sequence[str]) -> int:
    """Writes the report of a sweep, which may be running; returns the exit status."""
    record = Record(folder)
    if changed := changes(record.config, _overridden(record, overrides)):
        raise ConfigError(f"{', '.join(changed)}: --report shows a sweep as it was")
    print(f"report {shown(write_report(record))}")
    return 0


def run(record: Record, workers: Sequence["Worker"]) -> int:
    """Runs a sweep to its end, or until a signal comes; returns the exit status.

    Raises:
        SweepError: No trial finished, or the sweep cannot go on.
    """
    from midrange_puffer.sweep.progress import Progress, format_params
    from midrange_puffer.sweep.runner import Runner, SweepError
    from midrange_puffer.sweep.search import Search

    print(f"sweep folder {shown(record.folder)}", flush=True)
    how_to_go_on = f"go on with: puffer sweep midrange --resume {shown(record.folder)}"
    space = Space(record.config)
    record.check_params(space.parameters)
    search = Search(record.config, space)
    try:
        with _interruptible(), Progress(record) as progress:
            Runner(record, search, progress.show, workers).run()
    except Interrupted as interrupted:
        print(f"stopped by {signal.Signals(interrupted.number).name}; {how_to_go_on}")
        return 128 + interrupted.number
    except (UserError, OSError) as error:
        print(f"the trials that are over are kept: {how_to_go_on}", file=sys.stderr)
        if isinstance(error, UserError | BrokenPipeError):
            raise
        raise SweepError(f"{record.folder}: {error}") from error
    best = best_trial(record.trials)
    if best:
        score = f"best score {best.score:.3f} by trial {best.number}"
        print(f"{score} in {format_duration(best.cost)}: {format_params(best)}")
        print(f"train with: puffer train midrange --config {shown(record.folder / BEST)}")
    print(f"report {shown(write_report(record))}")
    if not best:
        reasons = Counter(trial.reason for trial in record.trials)
        failures = "; ".join(f"{count} x {reason}" for reason, count in reasons.most_common())
        raise SweepError(
            f"{record.folder}: none of {len(record.trials)} trials finished: {failures}"
        )
    return 0


def _overridden(record: Record, overrides: Sequence[str]) -> Config:
    """Returns a sweep's configuration with overrides; of train.data_dir only the sweep's counts."""
    config = load_config(record.folder / Record.CONFIG, overrides, complete=True)
    data_dir = record.config.train.data_dir
    return config.replaced("train", "the sweep's folder", data_dir=data_dir)


def _check(config: Config, folder: Path) -> None:
    """Raises UserError if the first worker could not run the first trial, or report on it."""
    from midrange_puffer.sweep.workers import pinned, share_of_cores
    from midrange_puffer.train.run import planned_run

    settings, on_ray = config.sweep, config.sweep.engine == "ray"
    if on_ray and config.cluster.engine is not None:
        raise ConfigError(
            f"sweep.engine = ray: trials collect in their own process, so that cluster.engine must "
            f"be None, not {config.cluster.engine}"
        )
    space = Space(config)
    center = trial_config(config, space.center)
    check_pairs(center, "the sweep at its means")
    cores = share_of_cores(0, 1 if on_ray else settings.workers)
    with pinned(cores[: settings.trial_cores] if on_ray else cores):
        plan = planned_run(center, folder / "run").config
    space.check_effects(plan)


def _with_absolute_paths(config: Config) -> Config:
    """Returns the configuration with absolute paths of models, for any current folder."""
    config = settled_models(settled_opponents(config))
    path, include = config.base.load_model_path, config.pool.include
    if path is not None:
        source, path = config.source("base", "load_model_path"), _absolute(path)
        config = config.replaced("base", source, load_model_path=path)
    if include:
        paths = [_absolute(word.strip()) for word in include.split(",")]
        config = config.replaced("pool", config.source("pool", "include"), include=", ".join(paths))
    return config


def _absolute(model: str) -> str:
    """Returns the absolute path of a model file; the name of a shipped model as it is."""
    return model if is_shipped(model) else str(Path(model).absolute())


@contextlib.contextmanager
def _interruptible() -> Iterator[None]:
    """Lets SIGINT and SIGTERM raise Interrupted: all results are saved already."""
    numbers = (signal.SIGINT, signal.SIGTERM)
    before = [signal.signal(number, _interrupt) for number in numbers]
    try:
        yield
    finally:
        for number, handler in zip(numbers, before, strict=True):
            signal.signal(number, handler)


def _interrupt(number: int, frame: object) -> NoReturn:
    raise Interrupted(number)
