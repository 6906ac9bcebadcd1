"""`puffer train midrange`: a run that is new, resumed, or restarted with its ranks."""

from collections.abc import Sequence
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from midrange_puffer.commands import option
from midrange_puffer.config.checks import check_update
from midrange_puffer.config.configuration import ConfigError
from midrange_puffer.config.reading import data_dir, load_config
from midrange_puffer.train import run_folder

if TYPE_CHECKING:
    from midrange_puffer.train.run_folder import Run


DESCRIPTION = "Train a policy with PuffeRL."


@dataclass(frozen=True, kw_only=True)
class Options:
    """Options of this mode, the configuration's `overrides`, and the `words` for a rank."""

    config: str | None = option.config()
    resume: str | None = option.value("go on with a run: its folder, its name, or latest", None)
    ranks: int | None = option.ranks()
    max_restarts: int | None = option.max_restarts()
    overrides: tuple[str, ...] = option.overrides()
    words: list[str] = option.settled()


def read(argv: Sequence[str]) -> Options:
    """Reads and checks the words after `puffer train midrange`."""
    options = option.Parser("train", DESCRIPTION, Options).read(argv)
    option.check_ranks(options.ranks, options.max_restarts)
    is_resumed = options.resume is not None
    if is_resumed and options.config is not None:
        raise ConfigError("--resume goes on with the run's own config.ini: leave --config out")
    if not option.is_rank():
        path = options.config
        if options.resume is not None:
            folder = run_folder.find_run(options.resume, data_dir(options.overrides))
            path = folder / run_folder.CONFIG
        check_update(load_config(path, options.overrides, complete=is_resumed))
    return replace(options, words=option.words_of_a_rank("train", argv))


def main(options: Options) -> int:
    """Trains; returns the exit status."""
    from midrange_puffer.train import ranks
    from midrange_puffer.train.ranks import launch
    from midrange_puffer.train.run import train_to_end

    if options.ranks is not None:
        return launch(options.words, options.ranks, options.max_restarts or 0)
    with ranks.joined(), ExitStack() as stack:
        is_restarted = ranks.is_restarted()
        run = ranks.from_first(lambda: stack.enter_context(_find_run(options, is_restarted)))
        return train_to_end(run)


def _find_run(options: Options, is_restarted: bool) -> AbstractContextManager["Run"]:
    """Returns the run that the options ask for; its folder is locked in the context."""
    from midrange_puffer.train.run import new_run, resumed_run

    if options.resume is not None:
        return resumed_run(options.resume, options.overrides)
    restarted = _restarted_run(options.config, options.overrides, is_restarted)
    return restarted or new_run(options.config, options.overrides)


def _restarted_run(
    config_path: str | None, overrides: Sequence[str], is_restarted: bool
) -> AbstractContextManager["Run"] | None:
    """Returns the run of a restarted job, from its last checkpoint; None: a new run is needed.

    Raises:
        ConfigError: The job may be restarted, but it or its run has no name to be found by.
    """
    from midrange_puffer.train import ranks
    from midrange_puffer.train.run import is_of_this_job, resumed_run

    if not ranks.may_restart():
        return None
    if ranks.job() == ranks.UNNAMED:
        raise ConfigError(
            "torchrun --max-restarts: needs --standalone or an --rdzv-id that only this job has. "
            "By it a restarted job knows its run"
        )
    train = load_config(config_path, overrides).train
    if train.run_name is None:
        raise ConfigError(
            "train.run_name = None: must be given with --max-restarts. By it a restarted job finds "
            "its run"
        )
    folder = Path(train.data_dir, train.run_name)
    if not (is_restarted and is_of_this_job(folder) and (folder / run_folder.STATE).is_file()):
        return None
    # Its config.ini holds the settled overrides. It may have failed after its end.
    return resumed_run(str(folder), [], may_be_done=True)
