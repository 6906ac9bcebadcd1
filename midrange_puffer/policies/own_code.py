"""The user's own code, named `module:Name` or `path/file.py:Name`.

Modules are imported from the working directory first. If there is no such file, an example of the
package is found by its name, `examples/standoff.py` or `standoff.py`. The user's code runs only if
the user names it in a configuration, on the command line or from Python. No model, run or replay
file can cause it to run.
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
from midrange_puffer.names import suggest

PACKAGE = "Policy"  # base.policy_name of the package's own policy
ATTENTION = "Attention"  # and of its policy with a memory that is attention
PACKAGED = (PACKAGE, ATTENTION)
MIDRANGE = "Midrange"  # base.env_class of the package's own environment
Setting = bool | int | float | str  # type of a value in the configuration
FORM = re.compile(r"[^:,]*[^:,\s]:[A-Za-z_]\w*")


class Own(NamedTuple):
    """The settings that may name the user's own code; the configuration's keys depend on them."""

    policy_name: str = PACKAGE
    env_class: str = MIDRANGE

    def packaged(self) -> "Own":
        """Returns these settings with the package's defaults for the user's own code."""
        return Own(self.policy_name if self.policy_name in PACKAGED else PACKAGE)


class OwnCodeError(UsageError):
    """The user's own code cannot be imported, fails, or returns something unexpected."""


def check_form(name: str) -> None:
    """Raises ValueError if a text does not have the form `module:Name` or `file.py:Name`."""
    if not FORM.fullmatch(name):
        raise ValueError("must be module:Name or path/file.py:Name, without commas")


def load(name: str) -> object:
    """Returns the object that a name stands for; imports its module if necessary.

    Raises:
        OwnCodeError: The name has another form, or its module cannot be imported or has no such
            object.
    """
    try:
        check_form(name)
    except ValueError as error:
        raise OwnCodeError(f"{name}: {error}") from None
    home, _, attribute = name.rpartition(":")
    module = _module(home)
    if not hasattr(module, attribute):
        words = [word for word in vars(module) if not word.startswith("_")]
        raise OwnCodeError(f"{name}: {home} has no {attribute}{suggest(attribute, words)}")
    return getattr(module, attribute)


def absolute(name: str) -> str:
    """Returns a name with the absolute path of its file, valid in any working directory."""
    home, _, attribute = name.rpartition(":")
    return f"{_file(home).absolute()}:{attribute}" if home.endswith(".py") else name


def short_name(name: str) -> str:
    """Returns a name without the folder and suffix of its file."""
    home, colon, attribute = name.rpartition(":")
    if not colon:
        return name
    return f"{Path(home).stem if home.endswith('.py') else home}:{attribute}"


def settings_of(called: Callable, name: str, section: str, skip: int) -> dict[str, Setting]:
    """Returns the arguments of the user's code that become configuration keys, with defaults.

    Args:
        called: a class or a function.
        name: its name, for messages.
        section: section of the keys.
        skip: number of leading arguments that are no keys.

    Raises:
        OwnCodeError: An argument lacks a default, which gives the key's type.
    """
    parameters = list(inspect.signature(called).parameters.values())[skip:]
    variable = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    settings = {key.name: key.default for key in parameters if key.kind not in variable}
    for argument, default in settings.items():
        if not isinstance(default, Setting):
            raise OwnCodeError(
                f"{name}: its argument {argument} needs a default that is a number, a text, True "
                f"or False, so that {section}.{argument} can be a key"
            )
    return settings


def in_words(value: object) -> str:
    """Describes a value for an error message, for example "the class Pilot"."""
    if isinstance(value, type):
        return f"the class {value.__name__}"
    return f"of type {type(value).__name__}"


def where_raised(error: BaseException) -> str:
    """Describes an error of the user's code in one line, with the file and line that raised it."""
    frames = traceback.extract_tb(error.__traceback__)
    ours = Path(__file__).parents[1]
    last = next((frame for frame in reversed(frames) if not _is_foreign(frame, ours)), None)
    place = f" ({last.filename}, line {last.lineno})" if last else ""
    if isinstance(error, SyntaxError) and error.filename:
        place = f" ({error.filename}, line {error.lineno})"
    return f"{type(error).__name__}: {' '.join(str(error).split())}{place}"


def _is_foreign(frame: traceback.FrameSummary, ours: Path) -> bool:
    """True if a frame belongs to this package, an installed one or the standard library."""
    path = Path(frame.filename)
    return (
        frame.filename.startswith("<frozen")
        or "site-packages" in path.parts
        or any(path.is_relative_to(folder) for folder in (ours, Path(traceback.__file__).parent))
    )


def _module(home: str) -> ModuleType:
    """Imports a module by its file or its name.

    Raises:
        OwnCodeError: The module cannot be imported.
    """
    if home.endswith(".py") and not _file(home).exists():
        near = suggest(Path(home).name, [path.name for path in _examples().glob("*.py")])
        raise OwnCodeError(f"{home}: no such file{near}")
    try:
        if home.endswith(".py"):
            return _module_of_file(_file(home))
        if "" not in sys.path and str(Path.cwd()) not in sys.path:
            sys.path.insert(0, str(Path.cwd()))  # like `python -m`
        return importlib.import_module(home)
    except OwnCodeError:
        raise
    except (Exception, SystemExit) as error:  # the user's code may raise any type
        raise OwnCodeError(f"{home}: does not import: {where_raised(error)}") from error


def _file(home: str) -> Path:
    """Returns the file of a name, or else the example of the package with this name."""
    path = Path(home)
    example = _examples() / path.name
    is_example = path.parent in (Path(), Path("examples")) and example.exists()
    return example if is_example and not path.exists() else path


def _examples() -> Path:
    """Returns the folder of the examples: in the package or, in a clone, beside it."""
    package = Path(__file__).parents[1]
    installed = package / "examples"
    return installed if installed.exists() else package.parent / "examples"


def _module_of_file(path: Path) -> ModuleType:
    """Imports a file as the module of its stem, so that its definitions can be pickled by name."""
    present = sys.modules.get(path.stem)
    if present is not None:
        if Path(getattr(present, "__file__", None) or "").resolve() == path.resolve():
            return present
        raise OwnCodeError(f"{path}: another module is called {path.stem}; rename the file")
    spec = importlib.util.spec_from_file_location(path.stem, path)
    if spec is None or spec.loader is None:
        raise OwnCodeError(f"{path}: no Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    folder = str(path.parent.absolute())
    sys.path.insert(0, folder)  # like `python file.py`: for imports of neighbouring files
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[path.stem]
        raise
    finally:
        sys.path.remove(folder)
    return module
