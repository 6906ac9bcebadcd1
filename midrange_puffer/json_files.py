"""JSON files that may be damaged or hostile: read within bounds, and checked entry by entry.

What a file must hold is said by annotations: of a dataclass or NamedTuple, whose fields are the
entries of an object, down to int, float, str, bool and None. An integer is a float, too. Numbers
are finite; `Annotated` with `Within` bounds them.
"""

import contextlib
import functools
import inspect
import json
import reprlib
import sys
import types
from collections.abc import Callable
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

LARGEST = 16 << 20  # bytes of a file; the largest that we write have a tenth of that
# kind -> what it is called, and the types that JSON's values of it have.
_PLAIN = {
    int: ("an integer", (int,)),
    float: ("a number", (int, float)),
    str: ("a text", (str,)),
    bool: ("true or false", (bool,)),
    types.NoneType: ("null", (types.NoneType,)),
}
T = TypeVar("T")


class JsonError(UsageError):
    """A JSON file is missing, damaged or something else."""


@dataclass(frozen=True)
class Within:
    """The bounds of a number, both allowed; of a list, those of its length."""

    low: float
    high: float


Count = Annotated[int, Within(0, 2**53)]  # beyond that a float does not tell all integers apart
Share = Annotated[float, Within(0, 1)]


def read_json(path: Path, kind: type[T]) -> T:
    """Read a file whose content is of a `kind`.

    Raises:
        JsonError: It cannot be read, or its content is not of that kind: which entry, its value,
            and what it must be.
    """
    try:
        with path.open("rb") as file:
            data = file.read(LARGEST + 1)
        if len(data) > LARGEST:
            raise ValueError(f"has more than {LARGEST} bytes")
        return checked(parse(data), kind)
    except OSError as error:
        raise JsonError(f"{path}: {error.strerror}") from None
    except ValueError as error:
        raise JsonError(f"{path}: damaged: {error}") from None


def parse(data: bytes) -> object:
    """What JSON text in UTF-8 says.

    Raises:
        ValueError: It is none, holds NaN or Infinity, or is nested too deeply.
    """
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
    """What was parsed, or read from another kind of file, as the annotation `kind` says.

    Args:
        where: its name, for errors.

    Raises:
        ValueError: It is something else.
    """
    if isinstance(kind, type) and kind in _PLAIN:  # first, for speed: a run has many metrics
        if _is_plain(value, kind):
            return value
    elif (origin := get_origin(kind)) is Annotated:
        inner, bounds = get_args(kind)
        if inner not in _PLAIN or _is_plain(value, inner):
            found = checked(value, inner, where)
            size = len(found) if isinstance(found, list) else found
            if bounds.low <= size <= bounds.high:
                return found
    elif origin in (Union, types.UnionType):
        for one in get_args(kind):
            with contextlib.suppress(ValueError):
                return checked(value, one, where)
    elif origin is Literal:
        if value in get_args(kind):
            return value
    elif origin is list:
        if isinstance(value, list):
            (of,) = get_args(kind)
            return [checked(one, of, f"{where}[{i}]") for i, one in enumerate(value)]
    elif origin is dict:
        if isinstance(value, dict) and all(isinstance(name, str) for name in value):
            _, of = get_args(kind)
            return {name: checked(one, of, _joined(where, name)) for name, one in value.items()}
    elif isinstance(value, dict):
        return _made(value, kind, where)
    raise ValueError(f"{where or 'its content'} = {reprlib.repr(value)}: must be {_words(kind)}")


def _made(entries: dict[str, object], kind: Callable[..., object], where: str) -> object:
    """A dataclass or NamedTuple of the entries of an object."""
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
    """Name -> annotation of what a kind is made of, and the names that have no default."""
    parameters = inspect.signature(kind).parameters
    hints = get_type_hints(kind, include_extras=True)
    needed = [name for name, one in parameters.items() if one.default is one.empty]
    return {name: hints[name] for name in parameters}, needed


def _words(kind: object) -> str:
    """What a value of a kind is, for an error."""
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
    """Whether a value is of a kind in _PLAIN, and finite."""
    if type(value) not in _PLAIN[kind][1]:
        return False
    return not isinstance(value, int | float) or abs(value) <= sys.float_info.max


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is no number of JSON")
