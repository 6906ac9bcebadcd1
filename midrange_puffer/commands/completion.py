"""Completion of command lines in a shell, by argcomplete; nothing heavy is imported for it.

Switched on in bash and zsh by: eval "$(register-python-argcomplete puffer)"
"""

import argparse
import os
from collections.abc import Callable, Iterable
from importlib import import_module
from pathlib import Path
from typing import Any

import argcomplete
from argcomplete.completers import FilesCompleter

from midrange_puffer.commands.option import ENV_NAME, Parser
from midrange_puffer.config.ini_files import installed
from midrange_puffer.config.key import Key
from midrange_puffer.config.reading import data_dir
from midrange_puffer.config.schema import schema
from midrange_puffer.game.parameters import ALL, HUMAN, MODEL_SUFFIXES, PILOTS, POOL, SELF
from midrange_puffer.policies.models import shipped_models
from midrange_puffer.replays.replay import AGENT, SUFFIX
from midrange_puffer.sweep.record import Record, sweeps_folder
from midrange_puffer.train import run_folder
from midrange_puffer.train.run_folder import BEST, LATEST


def complete(modes: Iterable[str], room: str) -> None:
    """Prints the completions of the line that a shell gives, and ends this process.

    Args:
        modes: names of all modes.
        room: the package of their modules.
    """
    top = argparse.ArgumentParser("puffer", allow_abbrev=False)
    top.add_argument("--version", action="store_true")
    modes_parser = top.add_subparsers()
    for mode in modes:
        parser = modes_parser.add_parser(mode, allow_abbrev=False).add_subparsers()
        if mode in os.environ["COMP_LINE"].split():  # the options of other modes are not needed
            options = [_options(mode, Parser(mode, "", import_module(f"{room}.{mode}").Options))]
        else:
            options = []
        parser.add_parser(ENV_NAME, parents=options, add_help=False, allow_abbrev=False)
    argcomplete.autocomplete(top)


def _options(mode: str, parser: Parser[Any]) -> Parser[Any]:
    """Returns a mode's parser, with the configuration's keys if it takes them, and completers."""
    if parser.takes_config:
        for section, keys in schema().items():
            for key in keys.values():
                parser.add_key(key, key.name if section == "base" else f"{section}.{key.name}")
    for action in parser._actions:
        name = action.option_strings[0] if action.option_strings else action.dest
        values = _VALUES.get(f"{mode} {name}") or _VALUES.get(name)
        completer = values or _completer(parser.keys.get(name))
        action.completer = completer  # pyright: ignore[reportAttributeAccessIssue] - argcomplete's
    return parser


def _completer(key: Key | None) -> Callable[..., Iterable[str]]:
    """Returns the completer of a key: its values, or files if it takes any text."""
    names = () if key is None else (*map(str, key.words), *key.choices)
    if names or (key is not None and key.kind is not str):
        return lambda **_: names
    return FilesCompleter()


def _with_files(names: Iterable[str], *suffixes: str) -> Callable[..., Iterable[str]]:
    """Returns a completer that offers names, and files with one of the suffixes."""
    files = FilesCompleter([suffix.removeprefix(".") for suffix in suffixes])
    return lambda prefix, **_: [*names, *files(prefix)]


def _runs(**_: object) -> list[str]:
    """Returns the runs in the default data directory that can be resumed."""
    states = Path(data_dir([])).glob(f"*/{run_folder.STATE}")
    return [LATEST, *sorted(path.parent.name for path in states)]


def _sweeps(**_: object) -> list[str]:
    """Returns the sweeps of the default data directory."""
    configs = sweeps_folder(data_dir([])).glob(f"*/{Record.CONFIG}")
    return [LATEST, *sorted(path.parent.name for path in configs)]


_SUFFIXES = (*MODEL_SUFFIXES, ".py")  # of files of models and of functions
_MODELS = (LATEST, BEST, *shipped_models())
_PLAYER = _with_files((HUMAN, *PILOTS, *_MODELS), *_SUFFIXES)
_SEAT = _with_files((AGENT, *PILOTS, *_MODELS), *_SUFFIXES)
# Completers by option, or by mode and option.
_VALUES = {
    "--load-model-path": _with_files(_MODELS, *MODEL_SUFFIXES),
    "--opponent": _with_files((*PILOTS, SELF, ALL, *_MODELS), *_SUFFIXES),
    "--env.opponent": _with_files((*PILOTS, SELF, POOL, *_MODELS), *_SUFFIXES),
    "--red": _PLAYER,
    "--blue": _PLAYER,
    "serve --red": _SEAT,
    "serve --blue": _SEAT,
    "--config": _with_files(installed(), ".ini"),
    "--resume": _runs,
    "sweep --resume": _sweeps,
    "sweep --report": _sweeps,
    "--run": _runs,
    "files": _with_files(("example", *shipped_models()), SUFFIX, *MODEL_SUFFIXES),
}
