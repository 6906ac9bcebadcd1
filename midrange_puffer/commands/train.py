"""`puffer train midrange`: a run that is new, resumed, or restarted with its ranks."""

import argparse
from collections.abc import Sequence
from contextlib import AbstractContextManager, ExitStack
from pathlib import Path

from midrange_puffer.config.configuration import ConfigError
from midrange_puffer.config.reading import load_config
from midrange_puffer.train import ranks, run_folder
from midrange_puffer.train.ranks import launch
from midrange_puffer.train.run import is_of_this_job, new_run, resumed_run, train_to_end
from midrange_puffer.train.run_folder import Run


def main(options: argparse.Namespace) -> int:
    """Train, with what `options.train` has read; return the exit status."""
    if options.ranks is not None:
        return launch(options.words, options.ranks, options.max_restarts or 0)
    with ranks.joined(), ExitStack() as held:
        is_restarted = ranks.is_restarted()
        run = ranks.from_first(lambda: held.enter_context(_find_run(options, is_restarted)))
        return train_to_end(run)


def _find_run(options: argparse.Namespace, is_restarted: bool) -> AbstractContextManager[Run]:
    """The run that a command line asks for, whose folder is locked meanwhile."""
    if options.resume is not None:
        return resumed_run(options.resume, options.overrides)
    restarted = _restarted_run(options.config, options.overrides, is_restarted)
    return restarted or new_run(options.config, options.overrides)


def _restarted_run(
    config_path: str | None, overrides: Sequence[str], is_restarted: bool
) -> AbstractContextManager[Run] | None:
    """The run of a job that was started anew, as of its last checkpoint; None: a new one.

    Raises:
        ConfigError: The job may be restarted, and its run has no name to be found by, or the job
            none to know its run by.
    """
    if not ranks.may_restart():
        return None
    if ranks.job() == ranks.UNNAMED:
        raise ConfigError(
            "torchrun --max-restarts: needs --standalone or an --rdzv-id that only this job has. "
            "By it a restarted job knows its run"
        )
    train = load_config(config_path, overrides)["train"]
    if train["run_name"] is None:
        raise ConfigError(
            "train.run_name = None: must be given with --max-restarts. By it a restarted job finds "
            "its run"
        )
    folder = Path(train["data_dir"], train["run_name"])
    if not (is_restarted and is_of_this_job(folder) and (folder / run_folder.STATE).is_file()):
        return None
    # Its config.ini has the overrides, too, as they were settled. It may have failed after its end.
    return resumed_run(str(folder), [], may_be_done=True)
