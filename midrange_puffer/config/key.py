"""The parts of a configuration: a key with its type and allowed values, and a section of keys."""

import configparser
import dataclasses
import types
import typing
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import (
    TYPE_CHECKING,
    Any,
    Generic,
    Literal,
    NoReturn,
    TypeVar,
    Union,
    get_args,
    get_origin,
    overload,
)

from midrange_puffer.game.parameter_table import AUTOMATIC
from midrange_puffer.names import suggest

if TYPE_CHECKING:
    from typing_extensions import dataclass_transform
else:  # for checkers of types alone, and Python 3.10 has none
    dataclass_transform = getattr(typing, "dataclass_transform", lambda **_: lambda kind: kind)

T = TypeVar("T")
V = TypeVar("V", covariant=True)
Value = bool | int | float | str | None  # of a key
Auto = Literal["auto"]  # the type of a value that `settle` may leave open
AUTO = (AUTOMATIC,)  # the words of a key whose value `settle` may choose
UNLIMITED = 1e15  # the bound of a number of which only the type is known


@dataclass(frozen=True)
class Key:
    """One configuration key.

    Attributes:
        kind: bool, int, float or str.
        minimum, maximum: Inclusive range of a number.
        words: Values allowed besides those of `kind` ("auto", None).
        choices: The only strings allowed; empty for any.
        is_mixed: True if a mix of the choices is allowed, too.
        check: Raises ValueError on a value that is not allowed. A text that it returns takes the
            place of the value.
    """

    name: str
    kind: type
    meaning: str
    default: Value = None
    minimum: float | None = None
    maximum: float | None = None
    words: tuple[Value, ...] = ()
    choices: tuple[str, ...] = ()
    check: Callable[[Any], object] | None = None
    unit: str = ""
    is_mixed: bool = False

    @property
    def allowed(self) -> str:
        """The allowed values in words, for an error message."""
        if self.kind is bool:
            text = "True or False"
        elif self.kind is str:
            text = f"one of {', '.join(self.choices)}" if self.choices else "text"
            text += ", or a mix of them" * self.is_mixed
        else:
            noun = "an integer" if self.kind is int else "a number"
            is_limited = self.minimum is not None and self.minimum > -UNLIMITED
            text = f"{noun} from {self.least} to {self.greatest}" if is_limited else noun
        return " or ".join([*map(str, self.words), text])

    @property
    def least(self) -> float:
        """The minimum of a number, as a value of its type."""
        return self._bound(self.minimum)

    @property
    def greatest(self) -> float:
        """The maximum of a number, as a value of its type."""
        return self._bound(self.maximum)

    def _bound(self, bound: float | None) -> float:
        if bound is None:
            raise TypeError(f"{self.name} is no number within bounds")
        return int(bound) if self.kind is int else float(bound)

    def parse(self, text: str) -> Value:
        """Reads a value from an ini file or a command line.

        Raises:
            ValueError: It is of another type or out of range; the message says what is allowed.
        """
        text = text.strip()
        for word in self.words:
            if text.lower() == str(word).lower():
                return word
        try:
            value = _CONVERT[self.kind](text)
        except (ValueError, KeyError, OverflowError):
            raise ValueError(f"must be {self.allowed}") from None
        if not self._is_within(value) or self._is_other(value):
            raise ValueError(f"must be {self.allowed}{suggest(text, self.choices)}")
        checked = self.check(value) if self.check else None
        return checked if isinstance(checked, str) else value

    def _is_other(self, value: Value) -> bool:
        return bool(self.choices) and not self.is_mixed and value not in self.choices

    def _is_within(self, value: bool | int | float | str) -> bool:
        if isinstance(value, str) or self.minimum is None or self.maximum is None:
            return True
        return self.minimum <= value <= self.maximum


def key(
    default: Value,
    *,
    meaning: str,
    minimum: float | None = None,
    maximum: float | None = None,
    words: tuple[Value, ...] = (),
    check: Callable[[Any], object] | None = None,
    unit: str = "",
) -> Any:  # so that a dataclass may have it in place of a default of any type
    """Declares a key as a field of a dataclass.

    The field's annotation gives the rest: its type, None as another word where it is optional, the
    choices where it is a Literal, and more words where a Literal stands beside another type.

    Args:
        default, meaning, minimum, maximum, check, unit: As of `Key`.
        words: Values that stand only until `settle` replaces them, and so not in the annotation.
    """
    limits = {"minimum": minimum, "maximum": maximum}
    facts = {"default": default, "meaning": meaning, "words": words, "check": check, "unit": unit}
    return dataclasses.field(default=default, metadata={**facts, **limits})


def keys_of(table: type) -> dict[str, Key]:
    """Returns name -> key of a dataclass whose fields are declared by `key`."""
    return {field.name: _key_of(field) for field in dataclasses.fields(table)}


def _key_of(field: dataclasses.Field[Any]) -> Key:
    is_union = get_origin(field.type) in (Union, types.UnionType)
    members = get_args(field.type) if is_union else (field.type,)
    kinds = [kind for kind in members if kind in (bool, int, float, str)]
    literals = [text for part in members if get_origin(part) is Literal for text in get_args(part)]
    facts = dict(field.metadata)
    words = (*facts.pop("words"), *(literals if kinds else ()))
    return Key(
        field.name,
        kinds[0] if kinds else str,
        words=(*words, None) if types.NoneType in members else words,
        choices=() if kinds else tuple(literals),
        **facts,
    )


def check_even(count: int) -> None:
    """Raises ValueError where `count` engagements cannot be divided between the two seats."""
    if count < 2 or count % 2:
        raise ValueError("must be an even number above 0: half of them in each seat")


class Entry(Generic[T]):
    """An attribute that returns the item of a mapping with its name, by a type of its own."""

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    @overload
    def __get__(self, mapping: None, owner: type) -> "Entry[T]": ...
    @overload
    def __get__(self, mapping: Mapping[str, Any], owner: type) -> T: ...
    def __get__(self, mapping: Mapping[str, Any] | None, owner: type) -> "T | Entry[T]":
        return self if mapping is None else mapping[self._name]

    def __set__(self, mapping: Mapping[str, Any], value: object) -> NoReturn:
        raise AttributeError(f"{self._name}: a configuration cannot be changed")


class Section(Mapping[str, V]):
    """Key -> value of one section, which cannot be changed."""

    def __init__(self, values: Mapping[str, V]) -> None:
        self._values = dict(values)

    def __getitem__(self, name: str) -> V:
        return self._values[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __repr__(self) -> str:
        return repr(self._values)


@dataclass_transform(frozen_default=True, eq_default=False)
class Typed(Section[Value]):
    """A section whose keys are the fields of a dataclass."""

    def __init_subclass__(cls) -> None:
        dataclass(frozen=True, eq=False, repr=False)(cls)

    @property
    def _values(self) -> dict[str, Value]:
        return vars(self)


def _to_int(text: str) -> int:
    """Reads 2000000, 2_000_000 or 2e6."""
    try:
        return int(text)
    except ValueError:
        if float(text).is_integer():
            return int(float(text))
        raise


_CONVERT: dict[type, Callable[[str], bool | int | float | str]] = {
    bool: lambda text: configparser.ConfigParser.BOOLEAN_STATES[text.lower()],
    int: _to_int,
    float: float,
    str: str,
}
