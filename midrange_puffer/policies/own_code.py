"""The user's own code, by name: `module:Name` or `path/file.py:Name`.

Modules are looked for in the working directory first. Such code runs only where somebody names it:
in a configuration, on the command line or from Python. No file of ours ever brings it about.
"""

import importlib
import importlib.util
import inspect
import re
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import NamedTuple

from midrange_puffer.errors import UsageError
from midrange_puffer.game.parameters import suggest

PACKAGE = "Policy"  # names the package's own policy, where the user's own may be named
MIDRANGE = "Midrange"  # names the package's own environment, likewise
Setting = bool | int | float | str  # what a key of the configuration may hold
FORM = re.compile(r"[^:,]*[^:,\s]:[A-Za-z_]\w*")


class Own(NamedTuple):
    """What of a configuration may be the user's own code, by name. Its keys depend on it."""

    policy_name: str = PACKAGE
    env_class: str = MIDRANGE


class OwnCodeError(UsageError):
    """The user's own code cannot be found, or does not do what is expected of it."""


def check_form(name: str) -> None:
    """Raise ValueError where a text is not of the form `module:Name` or `file.py:Name`."""
    if not FORM.fullmatch(name):
        raise ValueError("must be module:Name or path/file.py:Name, without commas")


def load(name: str) -> object:
    """What a name means, its module imported if that has not been done.

    Raises:
        OwnCodeError: It is not of this form, the module does not import, or has no such name.
    """
    try:
        check_form(name)
    except ValueError as error:
        raise OwnCodeError(f"{name}: {error}") from None
    home, _, attribute = name.rpartition(":")
    module = _module(home)
    if not hasattr(module, attribute):
        found = [word for word in vars(module) if not word.startswith("_")]
        raise OwnCodeError(f"{name}: {home} has no {attribute}{suggest(attribute, found)}")
    return getattr(module, attribute)


def absolute(name: str) -> str:
    """The name with the whole path of a file, so that it means the same wherever it is read."""
    home, _, attribute = name.rpartition(":")
    return f"{Path(home).absolute()}:{attribute}" if home.endswith(".py") else name


def short_name(name: str) -> str:
    """The name without the folder and the end of a file: the same wherever the file is."""
    home, colon, attribute = name.rpartition(":")
    if not colon:
        return name
    return f"{Path(home).stem if home.endswith('.py') else home}:{attribute}"


def settings_of(called: Callable, name: str, section: str, skip: int) -> dict[str, Setting]:
    """The arguments of the user's own code that are keys of the configuration, and their defaults.

    Args:
        called: a class or a function.
        name: of it, for an error.
        section: of the keys.
        skip: how many arguments come before these.

    Raises:
        OwnCodeError: One has no default that tells its kind.
    """
    others = list(inspect.signature(called).parameters.values())[skip:]
    variable = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    found = {one.name: one.default for one in others if one.kind not in variable}
    for argument, default in found.items():
        if not isinstance(default, Setting):
            raise OwnCodeError(
                f"{name}: its argument {argument} needs a default that is a number, a text, True "
                f"or False, so that {section}.{argument} can be a key"
            )
    return found


def in_words(found: object) -> str:
    """What something is that should be something else, for an error."""
    if isinstance(found, type):
        return f"the class {found.__name__}"
    return f"of type {type(found).__name__}"


def where_raised(error: BaseException) -> str:
    """An error of the user's code in a line: what it is, and the file and line it came from."""
    frames = traceback.extract_tb(error.__traceback__)
    ours = Path(__file__).parents[1]
    last = next((frame for frame in reversed(frames) if not _is_foreign(frame, ours)), None)
    place = f" ({last.filename}, line {last.lineno})" if last else ""
    if isinstance(error, SyntaxError) and error.filename:
        place = f" ({error.filename}, line {error.lineno})"
    return f"{type(error).__name__}: {' '.join(str(error).split())}{place}"


def _is_foreign(frame: traceback.FrameSummary, ours: Path) -> bool:
    """Whether a frame is of this package, or of an installed one."""
    path = Path(frame.filename)
    return (
        frame.filename.startswith("<frozen")
        or "site-packages" in path.parts
        or any(path.is_relative_to(folder) for folder in (ours, Path(traceback.__file__).parent))
    )


def _module(home: str) -> ModuleType:
    """The module of a file, or the one of this name.

    Raises:
        OwnCodeError: It does not import.
    """
    if home.endswith(".py") and not Path(home).exists():
        raise OwnCodeError(f"{home}: no such file")
    try:
        if home.endswith(".py"):
            return _module_of_file(Path(home))
        if "" not in sys.path and str(Path.cwd()) not in sys.path:
            sys.path.insert(0, str(Path.cwd()))  # as `python -m` has it, and a command has not
        return importlib.import_module(home)
    except OwnCodeError:
        raise
    except (Exception, SystemExit) as error:  # whatever the user's code may raise
        raise OwnCodeError(f"{home}: does not import: {where_raised(error)}") from error


def _module_of_file(path: Path) -> ModuleType:
    """The module of a file, under its stem, so that what it defines can be pickled by name."""
    known = sys.modules.get(path.stem)
    if known is not None:
        if Path(getattr(known, "__file__", None) or "").resolve() == path.resolve():
            return known
        raise OwnCodeError(f"{path}: another module is called {path.stem}; rename the file")
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    folder = str(path.parent.absolute())
    sys.path.insert(0, folder)  # as `python file.py` has it, for the files beside this one
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[path.stem]
        raise
    finally:
        sys.path.remove(folder)
    return module
