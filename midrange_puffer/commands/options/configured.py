"""Options of the modes that take a whole configuration: every key of it is an option, too."""

import argparse
import os
import textwrap
from collections.abc import Sequence

import psutil

from midrange_puffer.commands.arguments import Parser
from midrange_puffer.config.hints import option_of
from midrange_puffer.config.key import Key
from midrange_puffer.config.reading import help_sections_of
from midrange_puffer.errors import UsageError

CONFIG = Key(
    "config",
    str,
    "an ini file whose values replace the defaults: configs/default.ini, or a run's config.ini",
    None,
)
RANKS = (
    Key("ranks", int, "learn in so many processes of this machine, side by side", None, 1, 10**6),
    Key("max_restarts", int, "how often to go on from the last checkpoint after one has failed",
        None, 0, 1000),
)  # fmt: skip


class ConfigParser(Parser):
    """A mode's own options; the words that are none of them are of the configuration."""

    def __init__(self, mode: str, description: str) -> None:
        super().__init__(mode, description)
        self.usage = "%(prog)s [--option VALUE …] [--section.key VALUE …]"
        self._words: Sequence[str] = ()

    def add_ranks(self) -> None:
        """Take --ranks and --max-restarts, for `check_ranks`."""
        for key in RANKS:
            self.add_key(key)

    def read_known(self, argv: Sequence[str]) -> tuple[argparse.Namespace, list[str]]:
        """As `Parser.read_known`."""
        self._words = argv
        return super().read_known(argv)

    def format_help(self) -> str:
        """The mode's own options, then every key."""
        lines = [
            super().format_help(),
            "Every key below may stand in an ini file, in its section, and is an option here:",
            "--section.key VALUE, or --key VALUE for a key of [base]. '-' and '_' are the same.",
            "The default is on the right.",
        ]
        for section, keys in help_sections_of(self._words).items():
            lines += ["", f"[{section}]"]
            for key in keys.values():
                unit = f" ({key.unit})" if key.unit not in ("", "1") else ""
                text = f"{key.meaning}{unit} [{key.allowed}]"
                lines.append(f"  {option_of(section, key.name):<44} {key.default}")
                lines += textwrap.wrap(text, 96, initial_indent=" " * 6, subsequent_indent=" " * 6)
        return "\n".join([*lines, ""])


def is_rank() -> bool:
    """Whether torchrun or --ranks has started this process: the first rank speaks for all."""
    # What torchrun sets, and torch.distributed.is_torchelastic_launched() looks at.
    return "TORCHELASTIC_RUN_ID" in os.environ


def check_ranks(options: argparse.Namespace) -> None:
    """Check --ranks and --max-restarts.

    Raises:
        UsageError: They do not fit each other or the machine, or this is a rank already.
    """
    count, restarts = options.ranks, options.max_restarts
    if count is None:
        if restarts is not None:
            raise UsageError(f"--max-restarts = {restarts}: is for --ranks; give both")
        return
    if is_rank():
        raise UsageError(f"--ranks = {count}: torchrun has launched this rank; use one of the two")
    if count > (cores := psutil.cpu_count()):
        raise UsageError(f"--ranks = {count}: must be at most {cores}, the cores of this machine")


def words_of_a_rank(mode: str, argv: Sequence[str]) -> list[str]:
    """What follows `puffer` for each rank of the job that `argv` asks for."""
    parser = ConfigParser(mode, "")
    parser.add_ranks()
    _, words = parser.read_known(argv)
    return [mode, "midrange", *words]
