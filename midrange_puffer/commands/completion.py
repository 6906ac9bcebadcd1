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
from midrange_puffer.policies.shipped import shipped_models
from midrange_puffer.replays.replay import SUFFIX
from midrange_puffer.train import run_folder


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
            options = [_options(import_module(f"{room}.{mode}").parser())]
        else:
            options = []
        parser.add_parser(ENV_NAME, parents=options, add_help=False, allow_abbrev=False)
    argcomplete.autocomplete(top)


def _options(parser: Parser) -> Parser:
    """A mode's options, with those of the configuration where it takes them, and their values."""
    if isinstance(parser, ConfigParser):
        for section, keys in schema().items():
            for key in keys.values():
                parser.add_key(key, key.name if section == "base" else f"{section}.{key.name}")
    for action in parser._actions:
        name = action.option_strings[0] if action.option_strings else action.dest
        action.completer = _completer(parser.keys.get(name), name)
    return parser


def _completer(key: Key | None, name: str) -> Callable[..., Iterable[str]]:
    """What gives the values of an option, or files where it takes any text."""
    if name in _VALUES:
        return _VALUES[name]
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
    return ["latest", *sorted(path.parent.name for path in found)]


_PLAYERS = (*MODEL_SUFFIXES, ".py")  # end the names of files of models and of functions
_WHO = _with_files((HUMAN, "latest", *PILOTS, *shipped_models()), *_PLAYERS)
_VALUES = {
    "--load-model-path": _with_files(("latest", *shipped_models()), *MODEL_SUFFIXES),
    "--opponent": _with_files((*PILOTS, SELF, ALL, "latest", *shipped_models()), *_PLAYERS),
    "--env.opponent": _with_files((*PILOTS, SELF, POOL, "latest", *shipped_models()), *_PLAYERS),
    "--red": _WHO,
    "--blue": _WHO,
    "--config": _with_files(installed(), ".ini"),
    "--resume": _runs,
    "--run": _runs,
    "files": _with_files(("example", *shipped_models()), SUFFIX, *MODEL_SUFFIXES),
}
