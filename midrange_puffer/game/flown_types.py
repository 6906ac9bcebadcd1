"""The types that a game flies, as the core takes them, and those that a fight has drawn."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from midrange_puffer import _core
from midrange_puffer.game.types import (
    AIRCRAFT,
    CATEGORIES,
    FIELDS,
    MISSILE,
    Change,
    format_types,
    parse_loadout,
    parse_shares,
    parse_types,
    types_of,
)


@dataclass(frozen=True)
class FlownTypes:
    """The types of a game as `_core.Core` takes them.

    Attributes:
        names: of each category, its types in the core's order.
        fields: of each category and type, its values in the order of `FIELDS`.
        shares: of each category, side and type, the share of engagements in which it flies.
        loads: of each side's loadout, the number of each type and of its missiles; empty without a
            loadout.
    """

    names: Mapping[str, tuple[str, ...]]
    fields: Mapping[str, Sequence[Sequence[float]]]
    shares: Mapping[str, Sequence[Sequence[float]]]
    loads: Sequence[Sequence[tuple[int, int]]]


def flown_types(parameters: Mapping[str, Any]) -> FlownTypes | None:
    """Returns the types of a game; None in the plane.

    Args:
        parameters: a value for every parameter, as `parameters.resolve` returns them.
    """
    if parameters["dimensions"] != 3:
        return None
    types = types_of(parse_types(parameters["types"]))
    loadouts = [parse_loadout(parameters[f"{side}_missiles"]) for side in ("red", "blue")]
    mixes = {
        category: [parse_shares(parameters[f"{side}_{category}"]) for side in ("red", "blue")]
        for category in CATEGORIES
    }
    for side, loadout in enumerate(loadouts):
        if loadout:
            mixes[MISSILE][side] = {next(iter(loadout)): 1.0}
    order = tuple(types[MISSILE])
    return FlownTypes(
        names={category: tuple(types[category]) for category in CATEGORIES},
        fields={
            category: [[*fields.values()] for fields in types[category].values()]
            for category in CATEGORIES
        },
        shares={
            category: [[mix.get(name, 0.0) for name in types[category]] for mix in mixes[category]]
            for category in CATEGORIES
        },
        loads=[
            [(order.index(name), count) for name, count in loadout.items()] for loadout in loadouts
        ],
    )


@dataclass(frozen=True)
class DrawnTypes:
    """The types that one fighter flies.

    Attributes:
        aircraft: name of the type of its aircraft.
        missiles: names of the types of missiles that it carries, in the order of its loadout.
        factors: by which the engagement multiplies values of these types, by name, such as
            thrust_factor; 1 without a spread.
    """

    aircraft: str
    missiles: tuple[str, ...]
    factors: dict[str, float]


def drawn_types(core: _core.Core, env: int = 0) -> tuple[DrawnTypes, ...]:
    """Returns what each fighter of an engagement flies; nothing in the plane."""
    flown = flown_types(core.parameters)
    if flown is None:
        return ()
    fighters = []
    for number, row in enumerate(core.types()[env]):
        loadout = flown.loads[int(number >= core.red_size)]
        numbers = [number for number, _ in loadout] or [int(row["missile"])]
        factors = [name for name in row.dtype.names or () if name.endswith("_factor")]
        fighters.append(
            DrawnTypes(
                flown.names[AIRCRAFT][int(row["aircraft"])],
                tuple(flown.names[MISSILE][number] for number in numbers),
                {name: float(row[name]) for name in factors},
            )
        )
    return tuple(fighters)


# The fields that an engagement's factors change: factor -> field -> power of the factor. As in the
# core, the drag without lift (by terminal_speed) leaves the drag by lift (lift_drag) as it is.
_VARIED: dict[str, dict[str, dict[str, float]]] = {
    AIRCRAFT: {
        "thrust_factor": {"thrust": 1},
        "drag_factor": {"terminal_speed": -0.5, "lift_drag": -0.5},
        "lift_factor": {"turn_radius": -1},
        "induced_drag_factor": {"lift_drag": -0.5},
    },
    MISSILE: {
        "missile_thrust_factor": {"thrust": 1, "sustain_thrust": 1},
        "missile_drag_factor": {"terminal_speed": -0.5, "lift_drag": -0.5},
        "missile_lift_factor": {"turn_radius": -1},
        "missile_burn_time_factor": {"burn_time": 1, "sustain_time": 1},
    },
}


def varied(text: str, missile: str, aircraft: str, factors: Mapping[str, float]) -> str:
    """Returns a text of `types` with the factors that an engagement has drawn for two types.

    Values stay within the limits of their fields.

    Args:
        text: the text.
        missile, aircraft: names of the types.
        factors: by name, as of `DrawnTypes.factors`; those that are missing are 1.
    """
    changes = parse_types(text)
    types = types_of(changes)
    for category, name in ((MISSILE, missile), (AIRCRAFT, aircraft)):
        fields = dict(types[category][name])
        for factor, powers in _VARIED[category].items():
            for field, power in powers.items():
                fields[field] *= factors.get(factor, 1.0) ** power
        own = {
            field: min(max(value, FIELDS[category][field].minimum), FIELDS[category][field].maximum)
            for field, value in fields.items()
            if value != types[category][name][field]
        }
        change = changes.get(name, Change(name, {}))
        changes[name] = Change(change.base, {**change.fields, **own})
    return format_types(changes)
