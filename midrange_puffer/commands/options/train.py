"""What `puffer train midrange` takes."""

import argparse
from collections.abc import Sequence

from midrange_puffer.commands.options.configured import (
    CONFIG,
    ConfigParser,
    check_ranks,
    is_rank,
    words_of_a_rank,
)
from midrange_puffer.config.checks import check_update
from midrange_puffer.config.configuration import ConfigError
from midrange_puffer.config.key import Key
from midrange_puffer.config.reading import data_dir, load_config
from midrange_puffer.train import run_folder


def read(argv: Sequence[str]) -> argparse.Namespace:
    """Read and check the words after `puffer train midrange`.

    Returns:
        The options, with the `overrides` of the configuration, and the `words` for a rank of it.

    Raises:
        UserError: Something cannot be done.
    """
    options, options.overrides = parser().read_known(argv)
    options.words = words_of_a_rank("train", argv)
    check_ranks(options)
    if options.resume is not None and options.config is not None:
        raise ConfigError("--resume goes on with the run's own config.ini: leave --config out")
    if not is_rank():
        _check(options)
    return options


def _check(options: argparse.Namespace) -> None:
    """Look for what can be seen to be wrong before anything is set up."""
    path, is_resumed = options.config, options.resume is not None
    if is_resumed:
        folder = run_folder.find_run(options.resume, data_dir(options.overrides))
        path = folder / run_folder.CONFIG
    check_update(load_config(path, options.overrides, complete=is_resumed))


def parser() -> ConfigParser:
    """The options of this mode."""
    options = ConfigParser("train", "Train a policy with PuffeRL.")
    options.add_key(CONFIG)
    options.add_key(Key("resume", str, "go on with a run: its folder, its name, or latest", None))
    options.add_ranks()
    return options
