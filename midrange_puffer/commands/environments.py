"""Whose environment a command line names: ours, one of PufferLib's, or nobody's."""

import configparser
import importlib.util
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn

from midrange_puffer.errors import UsageError
from midrange_puffer.game.parameters import suggest

ENV_NAME = "midrange"


def pufferlibs() -> set[str]:
    """The environments that PufferLib's own command knows, by its ini files."""
    folder = Path(importlib.util.find_spec("pufferlib").submodule_search_locations[0], "config")
    names = {"default"}
    for path in folder.glob("**/*.ini"):
        ini = configparser.ConfigParser(interpolation=None)
        ini.read(path, encoding="utf-8")
        names.update(ini.get("base", "env_name", fallback="").split())
    return names


def become_pufferlib(words: Sequence[str]) -> NoReturn:
    """Replace this process by PufferLib's own command, with the same words.

    Raises:
        UsageError: It has no such environment.
    """
    mode, name, *_ = words
    known = pufferlibs()
    if name not in known:
        near = suggest(name, [ENV_NAME, *sorted(known)])
        ours = f"; ours is {ENV_NAME}: puffer {mode} {ENV_NAME} …"
        raise UsageError(f"{name}: no such environment, here or in PufferLib{near or ours}")
    command = [sys.executable, "-m", "pufferlib.pufferl", *words]
    os.execve(sys.executable, command, os.environ | {"PYTHONWARNINGS": _warnings()})


def _warnings() -> str:
    """PYTHONWARNINGS, without what PufferLib's requiring pynvml makes torch warn of."""
    ours = "ignore:The pynvml package is deprecated:FutureWarning"
    return ",".join(filter(None, (os.environ.get("PYTHONWARNINGS"), ours)))
