"""What a shell offers at a press of TAB, by argcomplete; nothing heavy is imported for it.

Switched on in bash and zsh by: eval "$(register-python-argcomplete puffer)"
"""

import argparse
import os
from collections.abc import Callable, Iterable
from importlib import import_module
from pathlib import Path

import argcomplete
from argcomplete.completers import FilesCompleter

from midrange_puffer.commands.arguments import Parser
from midrange_puffer.commands.environments import ENV_NAME
from midrange_puffer.commands.options.configured import ConfigParser
from midrange_puffer.config.key import Key
from midrange_puffer.config.reading import data_dir, installed
from midrange_puffer.config.schema import schema
from midrange_puffer.game.parameters import ALL, HUMAN, MODEL_SUFFIXES, PILOTS, POOL, SELF
from midrange_puffer.policies.models import shipped_models
from midrange_puffer.replays.replay import SUFFIX
from midrange_puffer.sweep.record import Record, sweeps_folder
from midrange_puffer.train import run_folder
from midrange_puffer.train.run_folder import BEST, LATEST


def complete(modes: Iterable[str], room: str) -> None:
    """Answer the shell that asks, and end this process.

    Args:
        modes: the names of all.
        room: the package of their options.
    """
    top = argparse.ArgumentParser("puffer", allow_abbrev=False)
    top.add_argument("--version", action="store_true")
    modes_parser = top.add_subparsers()
    for mode in modes:
        parser = modes_parser.add_parser(mode, allow_abbrev=False).add_subparsers()
        if mode in os.environ["COMP_LINE"].split():  # no other one's options are asked for
            options = [_options(mode, import_module(f"{room}.{mode}").parser())]
        else:
            options = []
        parser.add_parser(ENV_NAME, parents=options, add_help=False, allow_abbrev=False)
    argcomplete.autocomplete(top)


def _options(mode: str, parser: Parser) -> Parser:
    """A mode's options, with those of the configuration where it takes them, and their values."""
    if isinstance(parser, ConfigParser):
        for section, keys in schema().items():
            for key in keys.values():
                parser.add_key(key, key.name if section == "base" else f"{section}.{key.name}")
    for action in parser._actions:
        name = action.option_strings[0] if action.option_strings else action.dest
        values = _VALUES.get(f"{mode} {name}") or _VALUES.get(name)
        action.completer = values or _completer(parser.keys.get(name))
    return parser


def _completer(key: Key | None) -> Callable[..., Iterable[str]]:
    """What gives the values of a key, or files where it takes any text."""
    names = () if key is None else (*map(str, key.words), *key.choices)
    if names or (key is not None and key.kind is not str):
        return lambda **_: names
    return FilesCompleter()


def _with_files(names: Iterable[str], *suffixes: str) -> Callable[..., Iterable[str]]:
    """What gives these names, and files with one of the suffixes."""
    files = FilesCompleter([suffix.removeprefix(".") for suffix in suffixes])
    return lambda prefix, **_: [*names, *files(prefix)]


def _runs(**_: object) -> list[str]:
    """The runs that can be gone on with, in the default data directory."""
    found = Path(data_dir([])).glob(f"*/{run_folder.STATE}")
    return [LATEST, *sorted(path.parent.name for path in found)]


def _sweeps(**_: object) -> list[str]:
    """The sweeps of the default data directory."""
    found = sweeps_folder(data_dir([])).glob(f"*/{Record.CONFIG}")
    return [LATEST, *sorted(path.parent.name for path in found)]


_PLAYERS = (*MODEL_SUFFIXES, ".py")  # end the names of files of models and of functions
_MODELS = (LATEST, BEST, *shipped_models())
_WHO = _with_files((HUMAN, *PILOTS, *_MODELS), *_PLAYERS)
# Of an option, or of the option of one mode alone.
_VALUES = {
    "--load-model-path": _with_files(_MODELS, *MODEL_SUFFIXES),
    "--opponent": _with_files((*PILOTS, SELF, ALL, *_MODELS), *_PLAYERS),
    "--env.opponent": _with_files((*PILOTS, SELF, POOL, *_MODELS), *_PLAYERS),
    "--red": _WHO,
    "--blue": _WHO,
    "--config": _with_files(installed(), ".ini"),
    "--resume": _runs,
    "sweep --resume": _sweeps,
    "sweep --report": _sweeps,
    "--run": _runs,
    "files": _with_files(("example", *shipped_models()), SUFFIX, *MODEL_SUFFIXES),
}
