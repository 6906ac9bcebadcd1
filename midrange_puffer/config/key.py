"""A configuration key: what it may be, and how it is read from text."""

import configparser
from collections.abc import Callable
from dataclasses import dataclass

AUTO = ("auto",)
NONE = (None,)
UNLIMITED = 1e15  # size of a number of which only its kind is known
PUFFERLIB = object()  # default: as in PufferLib's own default.ini


@dataclass(frozen=True)
class Key:
    """One configuration key.

    Attributes:
        kind: bool, int, float or str.
        minimum, maximum: Inclusive range of a number.
        words: Values allowed besides those of `kind` ("auto", None).
        choices: The only strings allowed; empty for any.
        check: Raises ValueError on a value that is not allowed.
    """

    name: str
    kind: type
    meaning: str
    default: object = PUFFERLIB
    minimum: float | None = None
    maximum: float | None = None
    words: tuple[object, ...] = ()
    choices: tuple[str, ...] = ()
    check: Callable[[str], object] | None = None
    unit: str = ""

    @property
    def allowed(self) -> str:
        """What a value may be, in words."""
        if self.kind is bool:
            text = "True or False"
        elif self.kind is str:
            text = f"one of {', '.join(self.choices)}" if self.choices else "text"
        else:
            noun = "an integer" if self.kind is int else "a number"
            text = f"{noun} from {self.kind(self.minimum)} to {self.kind(self.maximum)}"
            if (self.minimum, self.maximum) == (-UNLIMITED, UNLIMITED):
                text = noun
        return " or ".join([*map(str, self.words), text])

    def parse(self, text: str) -> object:
        """Read a value from an ini file or a command line.

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
        in_range = self.minimum is None or self.minimum <= value <= self.maximum
        if not in_range or (self.choices and value not in self.choices):
            raise ValueError(f"must be {self.allowed}")
        if self.check:
            self.check(value)
        return value


def _to_int(text: str) -> int:
    """Read 2000000, 2_000_000 or 2e6."""
    try:
        return int(text)
    except ValueError:
        if float(text).is_integer():
            return int(float(text))
        raise


_CONVERT = {
    bool: lambda text: configparser.ConfigParser.BOOLEAN_STATES[text.lower()],
    int: _to_int,
    float: float,
    str: str,
}


def check_even(count: int) -> None:
    """Raise ValueError where so many engagements cannot be divided between the seats."""
    if count < 2 or count % 2:
        raise ValueError("must be an even number above 0: half of them in each seat")
