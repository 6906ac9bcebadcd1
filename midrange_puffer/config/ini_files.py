"""Reads ini files, each with the files that it is based on."""

import configparser
import io
from pathlib import Path
from typing import NamedTuple

from midrange_puffer.config.configuration import ConfigError
from midrange_puffer.files import read_whole
from midrange_puffer.names import suggest
from midrange_puffer.policies.mix import is_there

LARGEST_INI = 1 << 18  # bytes of an ini file; a run writes some thousand
BASED_ON = "based_on"  # key of [base]: the file that a file begins from
_INHERITED = ", based on "  # in the source of a value: between the file read and its base


class IniFile(NamedTuple):
    """An ini file.

    Attributes:
        path: as it is named in messages.
        source: for the source of its values: also the file that was asked for, if it is another.
        sections: section -> key -> text, without `BASED_ON`.
    """

    path: Path
    source: str
    sections: dict[str, dict[str, str]]


def read_ini_files(path: str | Path) -> list[IniFile]:
    """Returns the file that `find_config` finds, after those that it is based on.

    Each overrides those before it in the list.

    Raises:
        ConfigError: A file is missing, is no ini file, or is based on itself.
    """
    first = path = find_config(path)
    files: list[IniFile] = []
    while True:
        sections = _read_ini(path)
        source = str(path) if not files else f"{first}{_INHERITED}{path}"
        base = sections.get("base", {}).pop(BASED_ON, None)
        files.insert(0, IniFile(path, source, sections))
        if base is None:
            return files
        where = f"{path}: [base] {BASED_ON} = {base}"
        path = _find_base(path, base, where)
        if path.resolve() in [file.path.resolve() for file in files]:
            chain = " <- ".join(map(str, (path, *(file.path for file in files))))
            raise ConfigError(f"{where}: a file cannot be based on itself: {chain}")


def _find_base(path: Path, name: str, where: str) -> Path:
    """Returns the file beside `path` that is called `name`, or else the installed one.

    Raises:
        ConfigError: There is neither; `where` begins the message.
    """
    if not name:
        raise ConfigError(f"{where}: must be an ini file, relative to this one")
    if is_there(Path.exists, path.parent, name):
        return path.parent / name
    try:
        return _installed(Path(name))
    except ConfigError as error:
        raise ConfigError(f"{where}: relative to this file: {error}") from None


def file_asked_for(source: str) -> str:
    """Returns the file that was read, from the source of a value."""
    return source.partition(_INHERITED)[0]


def find_config(path: str | Path) -> Path:
    """Returns the file at `path` or else the installed one called NAME or configs/NAME.

    Raises:
        ConfigError: There is neither.
    """
    path = Path(path)
    try:
        path.stat()
    except FileNotFoundError:
        return _installed(path)
    except OSError:
        pass  # `_read_ini` reports why
    return path


def installed() -> dict[str, Path]:
    """Returns the installed configurations by name: configs/default.ini and the others."""
    package = Path(__file__).parents[1]
    # In the package or, for an editable installation, beside it.
    files = [*package.glob("configs/*.ini")] or [*package.parent.glob("configs/*.ini")]
    return {f"configs/{file.name}": file for file in sorted(files)}


def _installed(path: Path) -> Path:
    files = installed()
    name = f"configs/{path.name}"
    if path.parent in (Path(), Path("configs")) and name in files:
        return files[name]
    raise ConfigError(
        f"{path}: No such file or directory; installed are {', '.join(files)}{suggest(name, files)}"
    )


def _parser() -> configparser.ConfigParser:
    # No section is special and '%' is a plain character.
    return configparser.ConfigParser(interpolation=None, default_section="")


def _read_ini(path: Path) -> dict[str, dict[str, str]]:
    """Returns section -> key -> text of an ini file."""
    parser = _parser()
    try:
        data = read_whole(path, LARGEST_INI)
        parser.read_file(io.TextIOWrapper(io.BytesIO(data), encoding="utf-8-sig"))
    except OSError as error:
        raise ConfigError(f"{path}: {error.strerror}") from None
    except UnicodeDecodeError:
        raise ConfigError(f"{path}: not an ini file: it is not text") from None
    except configparser.DuplicateSectionError as error:
        raise ConfigError(
            f"{path}: line {error.lineno}: section [{error.section}] is given twice"
        ) from None
    except configparser.DuplicateOptionError as error:
        raise ConfigError(
            f"{path}: line {error.lineno}: [{error.section}] {error.option} is given twice"
        ) from None
    except configparser.Error as error:
        raise ConfigError(f"{path}: not an ini file: {' '.join(error.message.split())}") from None
    # A value may go on in further lines.
    return {
        section: {name: text.replace("\n", " ") for name, text in parser[section].items()}
        for section in parser.sections()
    }
