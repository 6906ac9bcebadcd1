"""JSON files that may be damaged or hostile: read up to a size, and checked entry by entry.

Type annotations describe the allowed content. A dataclass or NamedTuple describes a JSON object:
its fields are the entries. An annotation may also be int, float, str, bool, None, a list, a dict, a
union or a Literal. An integer is also a float. Numbers must be finite; `Annotated` with `Within`
sets their bounds.
"""

import contextlib
import functools
import inspect
import json
import reprlib
import sys
import types
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import (
    Annotated,
    Any,
    Literal,
    TypeVar,
    Union,
    get_args,
    get_origin,
    get_type_hints,
    overload,
)

from midrange_puffer.errors import UsageError
from midrange_puffer.files import read_whole
from midrange_puffer.names import inside

LARGEST = 16 << 20  # most bytes of a file; the package writes at most a tenth of that
# Most brackets, commas and colons of a file. Two bytes, as in "{}", can take 100 bytes of memory.
MOST_SIGNS = 1_000_000
_SIGNS = (b"{", b"[", b",", b":")
# annotation -> its name in messages, and the types that json.loads gives its values.
_PLAIN = {
    int: ("an integer", (int,)),
    float: ("a number", (int, float)),
    str: ("a text", (str,)),
    bool: ("true or false", (bool,)),
    types.NoneType: ("null", (types.NoneType,)),
}
T = TypeVar("T")


class JsonError(UsageError):
    """A JSON file that is missing, is damaged or has other content than expected."""


@dataclass(frozen=True)
class Within:
    """The allowed bounds of a number, or of a list's length, inclusive."""

    low: float
    high: float


Count = Annotated[int, Within(0, 2**53)]  # a float represents all integers up to 2**53
Share = Annotated[float, Within(0, 1)]


def read_json(path: Path, kind: type[T]) -> T:
    """Returns the content of a file, checked against the annotation `kind`.

    Raises:
        JsonError: The file cannot be read, or its content does not fit. The message names the
            entry, its value and the allowed values.
    """
    try:
        return checked(parse(read_whole(path, LARGEST)), kind)
    except OSError as error:
        raise JsonError(f"{path}: {error.strerror}") from None
    except ValueError as error:
        raise JsonError(f"{path}: damaged: {error}") from None


def inside_all(path: Path, where: str, names: Sequence[str]) -> list[Path]:
    """Returns the paths that the entries `path` of a list name, relative to the file's folder.

    Args:
        path: the JSON file.
        where: name of the list in the file.
        names: the entries.

    Raises:
        JsonError: An entry is absolute, or leads out of the folder.
    """
    places = []
    for index, name in enumerate(names):
        try:
            places.append(inside(path.parent, name))
        except ValueError as error:
            raise JsonError(f"{path}: damaged: {where}[{index}].path = {error}") from None
    return places


def parse(data: bytes) -> Any:
    """Returns the value of a JSON text in UTF-8.

    Raises:
        ValueError: It is no JSON, has NaN or Infinity, is nested too deeply, or has too many
            values.
    """
    if (count := sum(map(data.count, _SIGNS))) > MOST_SIGNS:
        raise ValueError(f"has {count} brackets, commas and colons, more than {MOST_SIGNS}")
    try:
        return json.loads(data.decode(), parse_constant=_refuse)
    except UnicodeDecodeError:
        raise ValueError("not JSON: no text in UTF-8") from None
    except RecursionError:
        raise ValueError("nested too deeply") from None
    except ValueError as error:
        raise ValueError(f"not JSON: {error}") from None


@overload
def checked(value: object, kind: type[T], where: str = "") -> T: ...
@overload
def checked(value: object, kind: object, where: str = "") -> Any: ...
def checked(value: object, kind: Any, where: str = "") -> object:
    """Returns a parsed value in the type of the annotation `kind`, with all entries checked.

    Args:
        value: from `parse`, or from another kind of file.
        kind: the annotation.
        where: name of the value, for error messages.

    Raises:
        ValueError: The value does not fit the annotation.
    """
    if isinstance(kind, type) and kind in _PLAIN:  # first for speed, as a run has many metrics
        if _is_plain(value, kind):
            return value
    elif (origin := get_origin(kind)) is Annotated:
        inner, bounds = get_args(kind)
        if inner not in _PLAIN or _is_plain(value, inner):
            content = checked(value, inner, where)
            size = len(content) if isinstance(content, list) else content
            if bounds.low <= size <= bounds.high:
                return content
    elif origin in (Union, types.UnionType):
        for option in get_args(kind):
            with contextlib.suppress(ValueError):
                return checked(value, option, where)
    elif origin is Literal:
        if value in get_args(kind):
            return value
    elif origin is list:
        if isinstance(value, list):
            (inner,) = get_args(kind)
            return [checked(item, inner, f"{where}[{i}]") for i, item in enumerate(value)]
    elif origin is dict:
        if isinstance(value, dict) and all(isinstance(name, str) for name in value):
            _, inner = get_args(kind)
            return {
                name: checked(item, inner, _joined(where, name)) for name, item in value.items()
            }
    elif isinstance(value, dict):
        return _made(value, kind, where)
    raise ValueError(f"{where or 'its content'} = {reprlib.repr(value)}: must be {_words(kind)}")


def _made(entries: dict[str, object], kind: Callable[..., object], where: str) -> object:
    """Returns a dataclass or NamedTuple made of the entries of a JSON object."""
    fields, needed = _fields(kind)
    values = {}
    for name, value in entries.items():
        if name not in fields:
            known = ", ".join(fields)
            raise ValueError(f"{_joined(where, name)}: no such entry; there are {known}")
        values[name] = checked(value, fields[name], _joined(where, name))
    for name in needed:
        if name not in entries:
            raise ValueError(f"{_joined(where, name)}: is missing")
    return kind(**values)


@functools.cache
def _fields(kind: Callable[..., object]) -> tuple[dict[str, object], list[str]]:
    """Returns the annotations of a dataclass's fields by name, and the fields without default."""
    parameters = inspect.signature(kind).parameters
    hints = get_type_hints(kind, include_extras=True)
    needed = [name for name, row in parameters.items() if row.default is row.empty]
    return {name: hints[name] for name in parameters}, needed


def _words(kind: object) -> str:
    """Describes the values that an annotation allows, for an error message."""
    origin, arguments = get_origin(kind), get_args(kind)
    if origin is Annotated:
        bounds = arguments[1]
        return f"{_words(arguments[0])} from {bounds.low} to {bounds.high}"
    if origin in (Union, types.UnionType):
        return " or ".join(map(_words, arguments))
    if origin is Literal:
        return f"one of {', '.join(map(str, arguments))}"
    if origin is list:
        return "a list"
    return _PLAIN[kind][0] if kind in _PLAIN else "an object"


def _joined(where: str, name: str) -> str:
    return f"{where}.{name}" if where else name


def _is_plain(value: object, kind: type) -> bool:
    """True if a value has a type of `_PLAIN[kind]` and is finite."""
    if type(value) not in _PLAIN[kind][1]:
        return False
    return not isinstance(value, int | float) or abs(value) <= sys.float_info.max


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is no number of JSON")
