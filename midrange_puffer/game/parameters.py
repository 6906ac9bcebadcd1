"""The parameters of a game: the checks of every value, since the core trusts its caller.

The rest of the package also imports from here what these have: parameter_table.py (the table of
parameters and options), pilots.py (names of pilots and other contestants), game_facts.py (what
follows from the parameters of a game) and arguments.py (checks of other arguments).
"""

import math
from collections.abc import Callable, Mapping
from typing import Any

from midrange_puffer.errors import UsageError
from midrange_puffer.game.arguments import (
    checked_choice,
    checked_num_envs,
    checked_order_cost,
    checked_order_decisions,
    checked_seed,
    checked_threads,
    finite,
    keywords,
    one_of,
)
from midrange_puffer.game.game_facts import (
    blindness,
    callsigns,
    checked_agents,
    dies_alone,
    fighter_names,
    game_controls,
    has_height,
    has_mission,
    has_systems,
    is_team,
    kinds_of,
    loadouts_of,
    most_decisions,
    observed,
    pilots_of,
    require_height,
    require_plane,
    reward_bound,
    sizes_of,
)
from midrange_puffer.game.missions import check_mission, without_mission
from midrange_puffer.game.parameter_table import (
    ADDITIONS,
    AGENTS,
    AUTOMATIC,
    EFFECT_NEEDS,
    ESCORT,
    FIGHT,
    FIGHTER,
    FIRST_RULES,
    FULL,
    JAMMERS,
    LINE,
    LOADOUTS,
    NOISE,
    OBSERVATIONS,
    OBSERVED,
    OFF,
    ON,
    OPTIONS,
    PAIRS,
    PARAMETERS,
    RADAR,
    RULES_VERSION,
    SAME_BITS_SINCE,
    SEATS,
    SIDE,
    SPACINGS,
    SUBORDINATE,
    TYPES,
    Option,
    Parameter,
    Parameters,
    neutral_values,
)
from midrange_puffer.game.pilots import (
    ALL,
    CONTROLLERS,
    EASY,
    EXPORTED,
    HUMAN,
    LADDER,
    MAP_PILOTS,
    MISSION_PILOTS,
    MODEL_SUFFIXES,
    PILOTS,
    POOL,
    SCRIPTED,
    SELF,
    SENSOR_PILOTS,
    WING_PILOTS,
    WINGMEN,
    needs_map,
    pilot_names,
    seat_weights,
)
from midrange_puffer.game.types import (
    MISSILE,
    checked_loadout,
    checked_mix,
    checked_types,
    parse_loadout,
    parse_types,
    types_of,
)
from midrange_puffer.names import limits, suggest

__all__ = [
    "ADDITIONS", "AGENTS", "ALL", "AUTOMATIC", "CONTROLLERS", "EASY", "EFFECT_NEEDS", "ESCORT",
    "EXPORTED", "FIGHT", "FIGHTER", "FIRST_RULES", "FULL", "HUMAN", "JAMMERS", "LADDER", "LINE",
    "LOADOUTS", "MAP_PILOTS", "MISSION_PILOTS", "MODEL_SUFFIXES", "NOISE", "OBSERVATIONS",
    "OBSERVED", "OFF", "ON", "OPTIONS", "PAIRS", "PARAMETERS", "PILOTS", "POOL", "RADAR",
    "RULES_VERSION", "SAME_BITS_SINCE", "SCRIPTED", "SEATS", "SELF", "SENSOR_PILOTS", "SIDE",
    "SUBORDINATE", "TYPES", "WINGMEN", "WING_PILOTS", "Option", "Parameter", "Parameters",
    "blindness", "callsigns", "check", "checked_agents", "checked_choice", "checked_num_envs",
    "checked_order_cost", "checked_order_decisions", "checked_seed", "checked_threads",
    "dies_alone", "fighter_names", "finite", "game_controls", "has_height", "has_mission",
    "has_systems", "is_team", "keywords", "kinds_of", "loadouts_of", "most_decisions",
    "needs_map", "neutral_values", "observed", "pilot_names", "pilots_of", "require_height",
    "require_plane", "resolve", "reward_bound", "seat_weights", "sizes_of", "text_check",
    "with_automatic_spacing", "without_mission",
]  # fmt: skip


def check(
    name: str, value: object, caller: Callable[..., object] | None = None
) -> int | float | str:
    """Returns the value of a parameter, converted to the parameter's type.

    Args:
        name: name of the parameter.
        value: value to check.
        caller: the function or class that received it; a message may suggest one of its arguments.

    Raises:
        ValueError: There is no such parameter, or the value is not a number, not whole where it
            must be, out of range, or not one of the choices.
    """
    if name not in PARAMETERS:
        known = [*PARAMETERS, *(keywords(caller) if caller else ())]
        raise ValueError(f"{name} = {value!r}: no such parameter{suggest(name, known)}")
    row = PARAMETERS[name]
    if row.is_mixed or row.kind is str:
        try:
            return _checked_text(row, value)
        except ValueError as error:
            raise ValueError(f"{name} = {value!r}: {error}") from None
    if row.choices:
        if row.choices == (OFF, ON) and isinstance(value, bool):
            return ON if value else OFF
        return one_of(name, value, row.choices)
    if row.is_automatic and value == AUTOMATIC:
        return AUTOMATIC
    number = finite(value)
    if number is None or (row.kind is int and number != math.floor(number)):
        wanted = "a whole number" if row.kind is int else "a number"
        raise ValueError(
            f"{name} = {value!r}: must be {wanted}{f' or {AUTOMATIC}' * row.is_automatic}"
        )
    if not row.minimum <= number <= row.maximum:
        allowed = limits(row.minimum, row.maximum, row.unit)
        raise ValueError(f"{name} = {value!r}: must be {allowed}")
    return row.kind(number)


def _checked_text(row: Parameter, value: object) -> str:
    """Returns a text as it is stored. `resolve` checks the names of types in mixes and loadouts."""
    if row.is_mixed:
        return checked_mix(str(value), row.choices, None)
    if not isinstance(value, str):
        raise ValueError("must be a text")
    return text_check(row)(value)


def text_check(row: Parameter) -> Callable[[str], str]:
    """Returns the check of a text, which returns it as it is stored, or raises ValueError."""
    return checked_loadout if row in LOADOUTS else checked_types


def resolve(
    overrides: Mapping[str, object],
    caller: Callable[..., object] | None = None,
    teams: bool = False,
) -> dict[str, Any]:
    """Returns a value for every parameter: the checked overrides, otherwise the defaults.

    Args:
        overrides: values by name.
        caller: as in `check`.
        teams: True if sides of several fighters are allowed.

    Raises:
        ValueError: As in `check`; or a lower end is above its upper end, or the starting range is
            too short for the fighters.
        UsageError: The parameters ask for teams where they are not allowed.
    """
    values: dict[str, Any] = {
        row.name: AUTOMATIC if row.is_automatic else row.default for row in PARAMETERS.values()
    }
    values.update({name: check(name, value, caller) for name, value in overrides.items()})
    _choose_spacing(values)
    for low, high in PAIRS:
        if values[low] > values[high]:
            raise ValueError(
                f"{low} = {values[low]:g} is above {high} = {values[high]:g}: "
                f"{low} may be at most {high}"
            )
    if is_team(values):
        _check_teams(values, teams)
    _check_sensors(values)
    if has_height(values):
        _check_height(values)
        _check_type_names(values)
    else:
        for name in _HEIGHT_ONLY:
            if values[name] != PARAMETERS[name].default:
                raise UsageError(f"{name} = {values[name]}: with height only; set dimensions = 3")
    check_mission(values)
    return values


def _check_type_names(values: dict[str, Any]) -> None:
    """Checks the names of the types that the sides fly, and puts mixes into their one order."""
    types = types_of(parse_types(values[TYPES.name]))
    ammunition = PARAMETERS["ammunition"]
    if all(values[row.name] for row in LOADOUTS) and values["ammunition"] != ammunition.default:
        raise UsageError(
            f"ammunition = {values['ammunition']}: both sides have loadouts, which say how many "
            "missiles they carry"
        )
    for row in LOADOUTS:
        single = row.name.removesuffix("s")
        if values[row.name] and values[single] != PARAMETERS[single].default:
            raise UsageError(
                f"{row.name} = {values[row.name]} and {single} = {values[single]}: one of them "
                "says what a fighter carries, not both"
            )
        try:
            checked_loadout(values[row.name], list(types[MISSILE]))
        except ValueError as error:
            raise ValueError(f"{row.name} = {values[row.name]!r}: {error}") from None
    for row in PARAMETERS.values():
        if row.is_mixed:
            new = [name for name in types[row.name.partition("_")[2]] if name not in row.choices]
            try:
                values[row.name] = checked_mix(values[row.name], row.choices, new)
            except ValueError as error:
                raise ValueError(f"{row.name} = {values[row.name]!r}: {error}") from None


# With the default spacing and start_range_min, the lines of sides up to this size cannot meet.
_LONGEST_LINE = 8


def _choose_spacing(values: dict[str, Any]) -> None:
    """Replaces AUTOMATIC by the default spacing, for larger sides by a shorter one in whole metres.

    It is shorter only if both ends are AUTOMATIC and the lines may meet. Both lines together are
    then as long as those of `_LONGEST_LINE` against `_LONGEST_LINE` fighters.
    """
    chosen = [name for name in SPACINGS if values[name] == AUTOMATIC]
    values.update({name: PARAMETERS[name].default for name in chosen})
    gaps, most_gaps = sum(sizes_of(values)) - 2, 2 * (_LONGEST_LINE - 1)
    if len(chosen) < 2 or gaps <= most_gaps or values[SPACINGS[1]] < _most_spacing(values):
        return
    for name in SPACINGS:
        values[name] = float(values[name] * most_gaps // gaps)


def with_automatic_spacing(env: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the [env] of a written file, with AUTOMATIC in place of the default spacing.

    Older files have the numbers. Where they were given, and fit, AUTOMATIC is the same game.
    """
    has_defaults = all(env.get(name) == PARAMETERS[name].default for name in SPACINGS)
    return {**env, **dict.fromkeys(SPACINGS, AUTOMATIC)} if has_defaults else {**env}


def _most_spacing(values: Parameters) -> float:
    """Returns the spacing at which the two lines may meet [m]."""
    return 2 * values["start_range_min"] / (sum(sizes_of(values)) - 2)  # both are centred


def _check_teams(values: Parameters, teams: bool) -> None:
    red, blue = sizes_of(values)
    sizes = f"red_size = {red}, blue_size = {blue}"
    if not teams:
        raise UsageError(
            f"{sizes}: here one flies against one, both must be 1; docs/teams.md says where teams "
            "fly"
        )
    spacing, least = values["start_spacing_max"], values["start_range_min"]
    most = _most_spacing(values)
    if spacing >= most:
        lowest = values["start_spacing_min"]
        lower = f"; start_spacing_min = {lowest:g} must be lower, too" if lowest >= most else ""
        raise ValueError(
            f"start_spacing_max = {spacing:g}: must be below {most:g}, or the lines of {red} and "
            f"{blue} fighters may meet at start_range_min = {least:g}{lower}"
        )


# Rows of the plane's flight law, which types of aircraft and missiles replace with height.
_PLANE_ONLY = tuple(
    row.name
    for row in PARAMETERS.values()
    if row.group in ("flight", "missile")
    and row.name
    not in (
        *("gravity", "fighter_rudder_rate", "fighter_climb_rate", "fighter_throttle_rate"),
        *("missile_hit_radius", "missile_launch_offset"),
    )
)
# Rows of the types, which the plane does not have.
_HEIGHT_ONLY = (
    *(row.name for row in PARAMETERS.values() if row.is_mixed),
    *("aircraft_spread", "missile_spread", TYPES.name),
    *(row.name for row in LOADOUTS),
)


def _check_sensors(values: Parameters) -> None:
    """Refuses what needs sensors, noise, jammers or chaff that the game does not have."""
    if values["sensing"] != RADAR:
        _check_no_sensors(values)
    decision = values["physics_dt"] * values["substeps"]
    if values["chaff"] and values["chaff_time"] <= decision:
        raise UsageError(
            f"chaff_time = {values['chaff_time']:g}: must be above {decision:g}, the length of a "
            "decision (physics_dt * substeps), or no sensor looks while there is a cloud"
        )
    for name, needed in EFFECT_NEEDS.items():
        if values[name] != PARAMETERS[name].default and not any(values[other] for other in needed):
            raise UsageError(f"{name} = {values[name]:g}: needs {' or '.join(needed)} above 0")


def _check_no_sensors(values: Parameters) -> None:
    """Refuses what needs sensors."""
    if values["emission_control"] != OFF:
        raise UsageError(
            f"emission_control = {values['emission_control']}: needs sensing = {RADAR}"
        )
    if values["chaff"]:
        raise UsageError(
            f"chaff = {values['chaff']}: without sensors there is nothing to decoy; needs "
            f"sensing = {RADAR}"
        )
    for name in (*NOISE, *JAMMERS):
        if values[name]:
            raise UsageError(f"{name} = {values[name]:g}: needs sensing = {RADAR}")


def _check_height(values: Parameters) -> None:
    """Refuses what the game with height does not have."""
    for row in LOADOUTS:
        if is_team(values) and len(parse_loadout(values[row.name])) > 1:
            raise UsageError(
                f"{row.name} = {values[row.name]}: in teams each side carries one type of "
                f"missile; several are for one against one. For a type drawn for each engagement "
                f"set {row.name.removesuffix('s')} to a mix"
            )
    least, difference = values["start_height_min"], values["start_height_difference_max"]
    if difference > 2 * least:
        raise ValueError(
            f"start_height_difference_max = {difference:g}: may be at most twice start_height_min "
            f"= {least:g}, or the lower side starts below the ground"
        )
    for name in _PLANE_ONLY:
        if values[name] != PARAMETERS[name].default:
            raise UsageError(
                f"{name} = {values[name]:g}: it is of the flight in the plane; with dimensions = 3 "
                "the types of aircraft and missiles stand for it"
            )
