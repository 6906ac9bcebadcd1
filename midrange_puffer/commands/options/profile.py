"""What `puffer profile midrange` takes."""

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
from midrange_puffer.config.key import Key
from midrange_puffer.config.reading import load_config

REPORT, TRACE = "profile.json", "trace.json.gz"


def read(argv: Sequence[str]) -> argparse.Namespace:
    """Read and check the words after `puffer profile midrange`.

    Returns:
        The options, with the `overrides` of the configuration, and the `words` for a rank of it.

    Raises:
        UserError: Something cannot be done.
    """
    options, options.overrides = parser().read_known(argv)
    options.words = words_of_a_rank("profile", argv)
    check_ranks(options)
    if not is_rank():
        check_update(load_config(options.config, options.overrides))
    return options


def parser() -> ConfigParser:
    """The options of this mode."""
    options = ConfigParser(
        "profile",
        "Measure where the time of some updates of a training goes, and trace one more update.",
    )
    options.add_key(CONFIG)
    options.add_key(Key("updates", int, "how many updates are measured", 10, 1, 1_000_000))
    options.add_key(Key("out", str, f"the folder for {REPORT} and {TRACE}", "profile"))
    options.add_ranks()
    return options
