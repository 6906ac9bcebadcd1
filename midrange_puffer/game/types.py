"""Types of aircraft and missiles in the game with height: the package's, and the user's own.

The parameter `types` is a text of changes to the package's types, and of new types:

    agile=light thrust=15 turn_radius=380, medium burn_time=10

makes a type of aircraft, `agile`, that is `light` with another thrust and turn radius, and changes
`medium`. `red_aircraft` and its like name one type, or a mix of several: "light:2,agile:1".
`red_missiles` is a loadout: how many missiles of which types a fighter carries, "medium:4,long:2".
"""

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from midrange_puffer import _core
from midrange_puffer.names import limits, suggest

AIRCRAFT, MISSILE = CATEGORIES = ("aircraft", "missile")
BASED_ON = "based_on"  # the key of a new type's section that names the type it begins as
MAX_TYPES: int = _core.MAX_TYPES  # of a category
MAX_CARRIED: int = _core.MAX_KINDS  # types in a loadout
MAX_MISSILES: int = _core.MAX_MISSILES  # of a fighter
LEAST_SHARE = 1e-4  # of a type in a mix; the core's float32 shares lose much smaller ones
LEAST_RISE = 0.01  # Mach, between the onset and the peak of the drag rise
_NAME = re.compile(r"[a-z][a-z0-9_]{0,31}")


@dataclass(frozen=True)
class Field:
    """One row of csrc/type_fields.h: a number of a type, with its limits."""

    name: str
    minimum: float
    maximum: float
    unit: str
    meaning: str

    def parse(self, text: str) -> float:
        """Reads a value, to the nine digits that it is stored with.

        Raises:
            ValueError: It is no number, or out of range.
        """
        try:
            value = float(f"{float(text):.9g}")
        except ValueError:
            value = math.nan
        if not self.minimum <= value <= self.maximum:
            raise ValueError(f"must be {limits(self.minimum, self.maximum, self.unit)}")
        return value


Fields = dict[str, float]  # values of a type by name
FIELDS: dict[str, dict[str, Field]] = {
    category: {row[0]: Field(*row) for row in _core.type_fields(category)}
    for category in CATEGORIES
}
PACKAGE: dict[str, dict[str, Fields]] = {
    category: {
        name: dict(zip(FIELDS[category], values, strict=True))
        for name, _, values in _core.package_types(category)
    }
    for category in CATEGORIES
}


@dataclass(frozen=True)
class Change:
    """The difference of a type from one of the package.

    Attributes:
        base: the type of the package: of a changed one, its own name.
        fields: the values that differ, by name.
    """

    base: str
    fields: Mapping[str, float]

    @property
    def category(self) -> str:
        """AIRCRAFT or MISSILE."""
        return category_of(self.base)


def category_of(base: str) -> str:
    """Returns the category of a type of the package: AIRCRAFT or MISSILE."""
    return next(category for category in CATEGORIES if base in PACKAGE[category])


def make_change(name: str, base: str | None, fields: Mapping[str, str]) -> Change:
    """Returns the change that makes a type.

    Args:
        name: name of the type.
        base: the type of the package that a new one begins as; None: `name` is such a type.
        fields: texts of its values, by name.

    Raises:
        ValueError: A name or a value is not allowed.
    """
    package = [type_name for category in CATEGORIES for type_name in PACKAGE[category]]
    if not name:
        raise ValueError("a type has no name: is there a comma too many?")
    if name not in package and not _NAME.fullmatch(name):
        raise ValueError(
            f"{name!r}: a type's name has small letters, digits and _, begins with a letter, and "
            "has at most 32 characters"
        )
    if base is None and name not in package:
        raise ValueError(
            f"{name}: no type of the package, which has {', '.join(package)}; a new type names the "
            f"one that it is based on{suggest(name, package)}"
        )
    if base is not None and name in package:
        raise ValueError(f"{name}: the package has this type, so it cannot be based on {base}")
    if base is not None and base not in package:
        raise ValueError(
            f"{name} is based on {base}: must be one of {', '.join(package)}"
            f"{suggest(base, package)}"
        )
    base = base or name
    known = FIELDS[category_of(base)]
    values: Fields = {}
    for field, text in fields.items():
        if field not in known:
            hint = suggest(field, known) or f"; it has {', '.join(known)}"
            raise ValueError(
                f"{name} {field} = {text}: {category_of(base)} has no such field{hint}"
            )
        try:
            values[field] = known[field].parse(text)
        except ValueError as error:
            raise ValueError(f"{name} {field} = {text}: {error}") from None
    return Change(base, {field: values[field] for field in known if field in values})


def parse_types(text: str) -> dict[str, Change]:
    """Returns the changes of a text of `types` by the names of the types.

    Raises:
        ValueError: As `make_change`; or a name or field is given twice, or is no name=value.
    """
    changes: dict[str, Change] = {}
    for part in text.split(",") if text.strip() else ():
        head, *words = part.split() or [""]
        name, is_new, base = head.partition("=")
        fields: dict[str, str] = {}
        for word in words:
            field, has_value, value = word.partition("=")
            if not has_value or field in fields:
                wrong = "is given twice" if has_value else "must be field=value"
                raise ValueError(f"{name} {word}: {wrong}")
            fields[field] = value
        if name in changes:
            raise ValueError(f"{name} is given twice")
        changes[name] = make_change(name, base if is_new else None, fields)
    return changes


def format_types(changes: Mapping[str, Change]) -> str:
    """Returns the text of changes: those of the package's types first, in its order."""
    package = [name for category in CATEGORIES for name in PACKAGE[category] if name in changes]
    parts: list[str] = []
    for name in (*package, *(name for name in changes if name not in package)):
        change = changes[name]
        words = [f"{field}={value:.9g}" for field, value in change.fields.items()]
        if name != change.base:
            parts.append(" ".join([f"{name}={change.base}", *words]))
        elif words:
            parts.append(" ".join([name, *words]))
    return ", ".join(parts)


def types_of(changes: Mapping[str, Change]) -> dict[str, dict[str, Fields]]:
    """Returns the types of a game: category -> name -> fields, the package's first.

    A new type that is based on a changed one begins with its changes.

    Raises:
        ValueError: There are more than `MAX_TYPES` of a category, or the fields of one do not fit.
    """
    types = {
        category: {name: dict(PACKAGE[category][name]) for name in PACKAGE[category]}
        for category in CATEGORIES
    }
    for name in sorted(changes, key=lambda name: name != changes[name].base):
        of_category, change = types[changes[name].category], changes[name]
        of_category[name] = {**of_category[change.base], **change.fields}
    for category, of_category in types.items():
        if len(of_category) > MAX_TYPES:
            raise ValueError(
                f"{len(of_category)} types of {category}: at most {MAX_TYPES}, and the package has "
                f"{len(PACKAGE[category])} of them"
            )
        for name, fields in of_category.items():
            if fields["onset_mach"] > fields["peak_mach"] - LEAST_RISE:
                raise ValueError(
                    f"{name} onset_mach = {fields['onset_mach']:g}: must be at least "
                    f"{LEAST_RISE:g} below peak_mach = {fields['peak_mach']:g}"
                )
    return types


def with_type(text: str, category: str, name: str, fields: Mapping[str, str]) -> str:
    """Returns a text of `types` with more changes of one type.

    Args:
        text: the text.
        category: AIRCRAFT or MISSILE.
        name: name of the type.
        fields: texts of its values by name, and of a new type's base by `BASED_ON`. Without a base
            the text's stays; so do its other values.

    Raises:
        ValueError: As `make_change`; or the type is of the other category.
    """
    changes, base, all_fields = parse_types(text), None, {}
    other_category = AIRCRAFT if category == MISSILE else MISSILE
    if name in PACKAGE[other_category] or (name in changes and changes[name].category != category):
        raise ValueError(f"{name} is no {category}, but a type of {other_category}")
    if name in changes:
        base = changes[name].base if changes[name].base != name else None
        all_fields = {field: repr(value) for field, value in changes[name].fields.items()}
    all_fields |= fields
    changes[name] = make_change(name, all_fields.pop(BASED_ON, base), all_fields)
    return format_types(changes)


def checked_types(text: str) -> str:
    """Returns a text of `types` as it is stored, so that equal types have one text.

    Raises:
        ValueError: As `parse_types` and `types_of`.
    """
    changes = parse_types(text)
    types_of(changes)
    return format_types(changes)


# Mixes --------------------------------------------------------------------------------------------


def parse_shares(text: str) -> dict[str, float]:
    """Returns the shares of a mix by name: of "light:2,heavy" {"light": 2, "heavy": 1}.

    Raises:
        ValueError: A share is not a number above 0 or too small beside the others, or a name is
            given twice.
    """
    shares: dict[str, float] = {}
    for part in text.split(","):
        name, colon, share = (word.strip() for word in part.partition(":"))
        if name in shares:
            raise ValueError(f"{name} is given twice")
        try:
            shares[name] = float(share) if colon else 1.0
        except ValueError:
            raise ValueError(f"the share of {name}, {share!r}, is no number") from None
        if not 0 < shares[name] < math.inf:
            raise ValueError(f"the share of {name} is {shares[name]:g}: must be a number above 0")
    least, total = min(shares.values()), sum(shares.values())
    if least < LEAST_SHARE * total:
        name = min(shares, key=lambda one: shares[one])
        raise ValueError(
            f"the share of {name} is {least / total:g} of all: must be at least {LEAST_SHARE:g}"
        )
    return shares


def checked_mix(text: str, names: Sequence[str], new: Iterable[str] | None = ()) -> str:
    """Returns a mix of types as it is stored: in their order, the least share as 1.

    So every mix has one text: "light:1,heavy:2" for "heavy:4,light:2", and "light" for "light:3".

    Args:
        text: the mix.
        names: the package's types of this category.
        new: the user's own; None: they are not known yet, so that any name can be one.

    Raises:
        ValueError: As `parse_shares`; or a name is not one of them.
    """
    wanted = f"must be one of {', '.join((*names, *(new or ())))}"
    wanted += f", or a mix such as {names[0]}:2,{names[1]}:1"
    try:
        shares = parse_shares(text)
    except ValueError as error:
        raise ValueError(f"{error}; {wanted}") from None
    order = [*names, *(shares if new is None else new)]
    for name in shares:
        if name not in order or not _NAME.fullmatch(name):
            raise ValueError(f"{wanted}{suggest(name, [*names, *(new or ())])}")
    if len(shares) == 1:
        return next(iter(shares))
    least = min(shares.values())
    order = [name for name in dict.fromkeys(order) if name in shares]
    return ",".join(f"{name}:{shares[name] / least:.9g}" for name in order)


# Loadouts -----------------------------------------------------------------------------------------


def parse_loadout(text: str) -> dict[str, int]:
    """Returns the number of missiles of each type in a loadout: of "medium:4,long:2" both.

    Raises:
        ValueError: A number is not whole or below 1, a name is given twice, or the loadout has
            too many types or missiles.
    """
    loadout: dict[str, int] = {}
    for part in text.split(",") if text.strip() else ():
        name, _, count = (word.strip() for word in part.partition(":"))
        if not part.strip():
            raise ValueError("there is a comma too many")
        if name in loadout:
            raise ValueError(f"{name} is given twice")
        if not (count.isascii() and count.isdecimal()) or int(count) < 1:
            raise ValueError(f"{name}: its number, {count!r}, must be a whole number above 0")
        loadout[name] = int(count)
    if len(loadout) > MAX_CARRIED:
        raise ValueError(f"{len(loadout)} types of missiles: a loadout has at most {MAX_CARRIED}")
    if sum(loadout.values()) > MAX_MISSILES:
        raise ValueError(
            f"{sum(loadout.values())} missiles: a fighter carries at most {MAX_MISSILES}"
        )
    return loadout


def checked_loadout(text: str, names: Sequence[str] | None = None) -> str:
    """Returns a loadout as it is stored.

    Args:
        text: the loadout.
        names: the types of missiles; None: they are not known yet, so that any name can be one.

    Raises:
        ValueError: As `parse_loadout`; or a name is not one of them.
    """
    try:
        loadout = parse_loadout(text)
    except ValueError as error:
        raise ValueError(f"{error}; a loadout is like medium:4,long:2") from None
    for name in loadout:
        if not _NAME.fullmatch(name) or (names is not None and name not in names):
            wanted = ", ".join(PACKAGE[MISSILE] if names is None else names)
            raise ValueError(f"{name!r}: a loadout is of {wanted}{suggest(name, names or ())}")
    return ",".join(f"{name}:{count}" for name, count in loadout.items())
