"""What `puffer runs midrange` takes."""

import argparse
from collections.abc import Sequence

from midrange_puffer.commands.arguments import Parser
from midrange_puffer.config.key import Key


def read(argv: Sequence[str]) -> argparse.Namespace:
    """Read and check the words after `puffer runs midrange`."""
    return parser().read(argv)


def parser() -> Parser:
    """The options of this mode."""
    parser = Parser(
        "runs", "List the runs: when each began, how far it is, and what it was made from."
    )
    parser.add_data_dir()
    parser.add_key(Key("last", int, "list the last so many runs", 20, 1, 1_000_000))
    parser.add_json()
    return parser
