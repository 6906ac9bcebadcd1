"""What `puffer sweep midrange` takes."""

import argparse
from collections.abc import Sequence

from midrange_puffer.commands.options.configured import ConfigParser
from midrange_puffer.config.checks import check_update
from midrange_puffer.config.configuration import ConfigError
from midrange_puffer.config.key import Key
from midrange_puffer.config.reading import data_dir, load_config
from midrange_puffer.show.figures import require_matplotlib
from midrange_puffer.sweep.record import Record, find_sweep
from midrange_puffer.sweep.space import Space, trial_config


def read(argv: Sequence[str]) -> argparse.Namespace:
    """Read and check the words after `puffer sweep midrange`.

    Returns:
        The options, with the `overrides` of the configuration, and the `folder` of the sweep that
        is named, None of a new one.

    Raises:
        UserError: Something cannot be done.
    """
    options, options.overrides = parser().read_known(argv)
    if options.resume is not None and options.report is not None:
        raise ConfigError("--resume and --report: give one of them")
    for name, does in (("resume", "goes on with"), ("report", "reads")):
        if options.config is not None and vars(options)[name] is not None:
            raise ConfigError(f"--{name} {does} the sweep's own sweep.ini: leave --config out")
    sweep = options.resume if options.report is None else options.report
    options.folder = None if sweep is None else find_sweep(sweep, data_dir(options.overrides))
    path = options.config if options.folder is None else options.folder / Record.CONFIG
    config = load_config(path, options.overrides, complete=options.folder is not None)
    if options.report is None:
        require_matplotlib()
        check_update(trial_config(config, Space(config).center))
    return options


def parser() -> ConfigParser:
    """The options of this mode."""
    options = ConfigParser("sweep", "Search for better hyperparameters and rewards.")
    for name, meaning in (
        ("config", "an ini file that also says what is varied: configs/sweep.ini"),
        ("resume", "go on with a sweep: its folder, its name, or latest"),
        ("report", "write report.html and best.ini of a sweep; it may still be running"),
    ):
        options.add_key(Key(name, str, meaning, None))
    return options
