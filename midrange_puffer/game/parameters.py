"""The keys of [env]: the core's parameters, the environment's options, and the names of pilots.

The parameters come from the one table in csrc/params.h; `types` alone is a text that types.py
reads. This module checks every value; the core trusts its caller.
"""

import inspect
import math
import numbers
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from midrange_puffer import _core
from midrange_puffer._threads import MAX_THREADS
from midrange_puffer.errors import UsageError
from midrange_puffer.game.actions import ACTION_MODES, ORDERS
from midrange_puffer.game.types import (
    MISSILE,
    checked_load,
    checked_mix,
    checked_types,
    parse_load,
    parse_types,
    types_of,
)
from midrange_puffer.names import suggest

# Values by the names of the table's rows. A row's type is int, float, or str for a choice.
Parameters = Mapping[str, Any]


@dataclass(frozen=True)
class Parameter:
    """One row of csrc/params.h: a number with limits, or a choice; or the text `types`."""

    group: str  # rules, flight, missile, sensor, start (the game); reward, pilot (training)
    name: str
    kind: type  # int, float, or str for a text
    default: int | float | str
    minimum: int | float
    maximum: int | float
    unit: str
    meaning: str
    choices: tuple[str, ...] = ()  # the allowed values of a choice
    is_mixed: bool = False  # a choice that may also be a mix, such as "light:2,heavy:1"


@dataclass(frozen=True)
class Option:
    """Another key of [env]: a number within limits, one of `choices`, or a text that is parsed."""

    name: str
    kind: type
    default: Any  # a value of this kind
    meaning: str
    minimum: int | None = None
    maximum: int | None = None
    choices: tuple[str, ...] = ()


TYPES = Parameter(
    "rules", "types", str, "", 0, 0, "",
    "with height: changes to types of aircraft and missiles, and new ones: agile=light thrust=15, "
    "medium burn_time=10",
)  # fmt: skip
LOADS: tuple[Parameter, Parameter] = (
    Parameter(
        "rules", "red_missiles", str, "", 0, 0, "",
        "with height: the load of red's fighters, medium:4,long:2, in place of ammunition and "
        "red_missile; fire level 1 fires the first type, and so on",
    ),
    Parameter(
        "rules", "blue_missiles", str, "", 0, 0, "", "with height: the load of blue's fighters",
    ),
)  # fmt: skip
PARAMETERS: dict[str, Parameter] = {
    **{row["name"]: Parameter(**row) for row in _core.parameter_rows()},
    **{row.name: row for row in (TYPES, *LOADS)},
}
RULES_VERSION: int = _core.RULES_VERSION  # written into replays and models
SAME_BITS_SINCE: int = _core.SAME_BITS_SINCE  # oldest version whose results are the same to the bit
FIRST_RULES = 1  # the version of files that state none
# Rows added after version 1: (name, version that added it, value that changes nothing).
ADDITIONS: list[tuple[str, int, float | str]] = [
    *_core.parameter_additions(),
    (TYPES.name, 11, TYPES.default),
    *((row.name, 12, row.default) for row in LOADS),
]
PAIRS: tuple[tuple[str, str], ...] = tuple(_core.parameter_pairs())

# Controllers of a fighter, in the core's order: "agent" (outside control), then scripted pilots.
CONTROLLERS: dict[str, str] = dict(_core.pilot_rows())
# Pilots that need sensors. They are not in PILOTS, which has the others.
SENSOR_PILOTS: tuple[str, ...] = _core.sensor_pilots()
WING_PILOTS: tuple[str, ...] = _core.wing_pilots()  # those SENSOR_PILOTS that need a team
MISSION_PILOTS: tuple[str, ...] = _core.mission_pilots()  # which the core alone puts into seats
PILOTS: tuple[str, ...] = tuple(
    name for name in CONTROLLERS if name not in (*SENSOR_PILOTS, *MISSION_PILOTS)
)[1:]
# The pilots from the weakest opponent to the strongest, for `puffer play`.
LADDER: tuple[str, ...] = (
    "straight", "weave", "shooter", "crank", "bracket_shooter", "snake", "turn_back", "evader",
    "ace", "patient",
)  # fmt: skip
EASY = "shooter"  # the pilot of the ladder that a new player meets: it never evades
SELF = "self"
POOL = "pool"
HUMAN = "human"
WINGMEN = "evader"  # the default wingmen: the strongest scripted team
ALL = "all"  # stands for all pilots
SCRIPTED = "pilots"  # names the group of engagements against pilots
EXPORTED = ".onnx"  # suffix of exported policies (exported.py)
MODEL_SUFFIXES = (".pt", EXPORTED)
MAP_PILOTS: tuple[str, ...] = _core.map_pilots()  # pilots that use the missile envelope
SEATS: tuple[str, str] = ("red", "blue")
OBSERVATIONS: tuple[str, ...] = tuple(_core.OBSERVATIONS)
# The parameters that determine the agents' observations and actions.
OBSERVED: tuple[str, ...] = (
    *("sensing", "red_size", "blue_size", "dimensions", "mission"),
    *(row.name for row in LOADS),
)
FULL, RADAR = "full", "radar"  # values of `sensing`; RADAR is also an observation
FIGHT, LINE, ESCORT = PARAMETERS["mission"].choices

OPTIONS: dict[str, Option] = {
    option.name: option
    for option in (
        Option("num_envs", int, 1024, "engagements side by side", 1, _core.MAX_ENVS),
        Option(
            "opponent",
            str,
            "shooter",
            f"one of {', '.join(PILOTS)}, self (both seats are agents), pool (frozen policies), a "
            "model (champion, trained, a file, a run's folder, RUN/best, latest or best; "
            "nash:FILE is several), a function (module:name or file.py:name), or a mix like "
            "self:4,pool:2,shooter:1,fighter.onnx:1: shares of the engagements",
        ),
        Option("seat", str, "red", "the agent's seat", choices=SEATS),
        Option(
            "observation",
            str,
            "default",
            "the agents' features; stg adds how both stand in each other's missile envelope, and "
            "by how much the inbound missiles would miss; radar has their sensors' data, the only "
            "one with sensing = radar",
            choices=OBSERVATIONS,
        ),
        Option(
            "action_mode",
            str,
            "discrete",
            "how the agents act: by levels of rudder, throttle and fire, by any numbers within "
            "their ranges, or by orders, which are flown as scripted pilots fly",
            choices=ACTION_MODES,
        ),
        Option(
            "order_decisions",
            int,
            4,
            "with action_mode = orders: an order is flown for so many decisions, together one step "
            "of the agent",
            1,
            100,
        ),
    )
}


def keywords(function: Callable[..., object]) -> list[str]:
    """Returns the names of a function's or class's arguments, without its `**` argument."""
    arguments = inspect.signature(function).parameters.values()
    return [item.name for item in arguments if item.kind is not inspect.Parameter.VAR_KEYWORD]


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
        return _checked_choice(name, value, row.choices)
    number = finite(value)
    if number is None or (row.kind is int and number != math.floor(number)):
        wanted = "a whole number" if row.kind is int else "a number"
        raise ValueError(f"{name} = {value!r}: must be {wanted}")
    if not row.minimum <= number <= row.maximum:
        raise ValueError(
            f"{name} = {value!r}: must be from {row.minimum:g} to {row.maximum:g} {row.unit}"
        )
    return row.kind(number)


def _checked_text(row: Parameter, value: object) -> str:
    """Returns a text as it is stored. `resolve` checks the names of types in mixes and loads."""
    if row.is_mixed:
        return checked_mix(str(value), row.choices, None)
    if not isinstance(value, str):
        raise ValueError("must be a text")
    return text_check(row)(value)


def text_check(row: Parameter) -> Callable[[str], str]:
    """Returns the check of a text, which returns it as it is stored, or raises ValueError."""
    return checked_load if row in LOADS else checked_types


def finite(value: object) -> float | None:
    """Returns a finite number as a float; None for anything else."""
    if not isinstance(value, numbers.Real) or isinstance(value, bool):
        return None
    try:
        number = float(value)
    except OverflowError:
        return None
    return number if math.isfinite(number) else None


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
    values: dict[str, Any] = {row.name: row.default for row in PARAMETERS.values()}
    values.update({name: check(name, value, caller) for name, value in overrides.items()})
    for low, high in PAIRS:
        if values[low] > values[high]:
            raise ValueError(
                f"{low} = {values[low]:g} is above {high} = {values[high]:g}: "
                f"{low} may be at most {high}"
            )
    if is_team(values):
        _check_teams(values, teams)
    if has_height(values):
        _check_height(values)
        _check_type_names(values)
    else:
        for name in _HEIGHT_ONLY:
            if values[name] != PARAMETERS[name].default:
                raise UsageError(f"{name} = {values[name]}: with height only; set dimensions = 3")
    if has_mission(values):
        _check_mission(values)
    else:
        for name in _MISSION_ONLY:
            if values[name] != PARAMETERS[name].default:
                raise UsageError(
                    f"{name} = {values[name]}: in missions only; set mission = {LINE} or {ESCORT}"
                )
    return values


def _check_type_names(values: dict[str, Any]) -> None:
    """Checks the names of the types that the sides fly, and puts mixes into their one order."""
    types = types_of(parse_types(values[TYPES.name]))
    ammunition = PARAMETERS["ammunition"]
    if all(values[row.name] for row in LOADS) and values["ammunition"] != ammunition.default:
        raise UsageError(
            f"ammunition = {values['ammunition']}: both sides have loads, which say how many "
            "missiles they carry"
        )
    for row in LOADS:
        single = row.name.removesuffix("s")
        if values[row.name] and values[single] != PARAMETERS[single].default:
            raise UsageError(
                f"{row.name} = {values[row.name]} and {single} = {values[single]}: one of them "
                "says what a fighter carries, not both"
            )
        try:
            checked_load(values[row.name], list(types[MISSILE]))
        except ValueError as error:
            raise ValueError(f"{row.name} = {values[row.name]!r}: {error}") from None
    for row in PARAMETERS.values():
        if row.is_mixed:
            new = [name for name in types[row.name.partition("_")[2]] if name not in row.choices]
            try:
                values[row.name] = checked_mix(values[row.name], row.choices, new)
            except ValueError as error:
                raise ValueError(f"{row.name} = {values[row.name]!r}: {error}") from None


def sizes_of(parameters: Parameters) -> tuple[int, int]:
    """Returns the numbers of red's and blue's fighters."""
    return int(parameters["red_size"]), int(parameters["blue_size"])


def is_team(parameters: Parameters) -> bool:
    """True if a side has more than one fighter."""
    return parameters["red_size"] > 1 or parameters["blue_size"] > 1


def has_height(parameters: Parameters) -> bool:
    """True if fighters fly in three dimensions."""
    return parameters["dimensions"] == 3


def has_mission(parameters: Parameters) -> bool:
    """True if one side attacks, and has to cross a line or to bring a transport there."""
    return parameters.get("mission", FIGHT) != FIGHT


def loads_of(parameters: Parameters) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Returns the missiles that red's and blue's fighters start with, of each type of their load.

    Args:
        parameters: a value for every parameter.
    """
    red, blue = (
        tuple(parse_load(parameters[row.name]).values()) or (int(parameters["ammunition"]),)
        for row in LOADS
    )
    return red, blue


def kinds_of(parameters: Parameters) -> int:
    """Returns the number of types of missiles in the load of the side that has more of them.

    Args:
        parameters: of a game; those that it lacks have their default.
    """
    return max(1, *(len(parse_load(parameters.get(row.name, row.default))) for row in LOADS))


def require_height(parameters: Parameters, what: str) -> None:
    """Raises ValueError if a game has no height. `what` is the caller's argument."""
    if not has_height(parameters):
        raise ValueError(f"{what}: with height only, and this game has dimensions = 2")


def require_plane(parameters: Parameters, what: str) -> None:
    """Raises UsageError if a game has height. `what` is what only the plane has."""
    if has_height(parameters):
        raise UsageError(f"{what}: in the plane only, and this game has dimensions = 3")


def needs_map(pilots: Iterable[str], observation: str) -> bool:
    """True if a pilot or the observation uses the map of the missile envelope, which takes time."""
    return _core.parts_of(observation)[0] == "stg" or not set(MAP_PILOTS).isdisjoint(pilots)


def fighter_names(sizes: tuple[int, int]) -> tuple[str, ...]:
    """Returns the names of all fighters, such as red_0 and blue_7."""
    sides = zip(SEATS, sizes, strict=True)
    return tuple(f"{side}_{number}" for side, size in sides for number in range(size))


def callsigns(sizes: tuple[int, int]) -> tuple[str, ...]:
    """Returns the names of all fighters in pictures: in one against one "red" and "blue"."""
    return fighter_names(sizes) if max(sizes) > 1 else SEATS


def _check_teams(values: Parameters, teams: bool) -> None:
    red, blue = sizes_of(values)
    sizes = f"red_size = {red}, blue_size = {blue}"
    if not teams:
        raise UsageError(
            f"{sizes}: here one flies against one, both must be 1; docs/teams.md says where teams "
            "fly"
        )
    spacing, least = values["start_spacing_max"], values["start_range_min"]
    most = 2 * least / (red + blue - 2)  # both lines are centred, in any direction
    if spacing >= most:
        raise ValueError(
            f"start_spacing_max = {spacing:g}: must be below {most:g}, or the lines of {red} and "
            f"{blue} fighters may meet at start_range_min = {least:g}"
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
    *(row.name for row in LOADS),
)


def _check_height(values: Parameters) -> None:
    """Refuses what the game with height does not have."""
    for row in LOADS:
        if is_team(values) and len(parse_load(values[row.name])) > 1:
            raise UsageError(
                f"{row.name} = {values[row.name]}: in teams each side carries one type of missile"
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


# Rows of missions.
_MISSION_ONLY = (
    *(
        "attacker",
        "start_line_depth",
        "transport_speed",
        "start_transport_trail",
        "transport_cold_time",
    ),
    *("reward_line", "reward_line_range"),
)
_NEAREST_LINE = 10_000.0  # least distance from the attackers at the start to their line [m]
_FASTEST = 800.0  # m/s, which no aircraft of the package reaches


def without_mission(parameters: Parameters) -> dict[str, Any]:
    """Returns the parameters of the same game without its mission."""
    return dict(parameters) | {
        name: PARAMETERS[name].default for name in ("mission", *_MISSION_ONLY)
    }


def _check_mission(values: Parameters) -> None:
    """Refuses missions whose geometry decides them."""
    red, blue = sizes_of(values)
    attacker, depth = values["attacker"], values["start_line_depth"]
    sides = {"red": red, "blue": blue}
    attackers = {attacker: sides[attacker]} if attacker in sides else sides
    if values["mission"] == ESCORT and min(attackers.values()) < 2:
        side = min(attackers, key=attackers.__getitem__)
        raise UsageError(
            f"mission = {ESCORT}: {side}_size = {attackers[side]}, and attacker = {attacker}: a "
            "side with a transport must have at least 2 fighters, one of them the transport"
        )
    # A line abreast of attackers reaches ahead of their middle by half its width at most.
    width = values["start_spacing_max"] * (max(attackers.values()) - 1) / 2
    least = _NEAREST_LINE + width
    range_min = values["start_range_min"]
    nearest = range_min + depth
    if nearest < least:
        where = "behind the attackers" if nearest < 0 else f"{nearest:g} m ahead of the attackers"
        raise ValueError(
            f"start_line_depth = {depth:g}: with start_range_min = {range_min:g} the line may be "
            f"{where}; must be at least {least - range_min:g}"
        )
    farthest = values["start_range_max"] + depth
    speed, of_whom = max(_FASTEST, values["start_speed_max"]), "no fighter is"
    if values["mission"] == ESCORT:
        farthest += values["start_transport_trail"]
        speed, of_whom = values["transport_speed"], "the transport is not"
    if farthest >= speed * values["time_limit"]:
        raise ValueError(
            f"start_line_depth = {depth:g}: the line may be {farthest:g} m from the attackers, and "
            f"{of_whom} faster than {speed:g} m/s: with time_limit = {values['time_limit']:g} it "
            f"must be below {depth + speed * values['time_limit'] - farthest:g}"
        )


def pilots_of(parameters: Parameters) -> tuple[str, ...]:
    """Returns the scripted pilots that can fly in a game."""
    if parameters["sensing"] != RADAR:
        return PILOTS
    return (*PILOTS, *(p for p in SENSOR_PILOTS if is_team(parameters) or p not in WING_PILOTS))


def neutral_values(rules_version: int) -> dict[str, int | float | str]:
    """Returns the rows added after a version of the rules, at values that change nothing."""
    return {
        name: row.choices[int(neutral)] if (row := PARAMETERS[name]).choices else row.kind(neutral)
        for name, version, neutral in ADDITIONS
        if version > rules_version
    }


def reward_bound(parameters: Parameters) -> float:
    """Returns an upper bound of |reward| of one decision.

    The unit of a reward's row tells its kind (csrc/RULES.md, "Rewards"): "1" is the weight of a
    potential within +-1, "1/s" the weight of a rate within +-1, "result" the reward of a result.

    Args:
        parameters: a value for every parameter, as `resolve` returns them.
    """
    rewards = [row for row in PARAMETERS.values() if row.group == "reward"]
    weights = {
        unit: [abs(parameters[row.name]) for row in rewards if row.unit == unit]
        for unit in ("1", "1/s", "result")
    }
    potential, rate = sum(weights["1"]), sum(weights["1/s"])
    # Within a decision the potential goes at most from -1 to 1 (weighted). Or the engagement ends:
    # then the potential goes to 0, and the result is paid.
    most = max(2 * potential, potential + max(weights["result"]))
    return most + rate * parameters["physics_dt"] * parameters["substeps"]


def pilot_names(text: str) -> tuple[str, ...]:
    """Returns the pilots that a text names: "all", or names separated by commas.

    Raises:
        ValueError: A pilot is unknown, or named twice.
    """
    if text == ALL:
        return PILOTS
    names, known = tuple(name.strip() for name in text.split(",")), (*PILOTS, *SENSOR_PILOTS)
    for name in names:
        if name not in known:
            raise ValueError(
                f"{name}: must be of {', '.join(known)}, or {ALL}{suggest(name, known)}"
            )
        if names.count(name) > 1:
            raise ValueError(f"{name} is given twice")
    return names


def seat_weights(shares: Mapping[str, float]) -> list[float]:
    """Returns the core's row of weights for one seat, in the order of `CONTROLLERS`."""
    return [float(shares.get(name, 0.0)) for name in CONTROLLERS]


def checked_choice(name: str, value: str) -> str:
    """Returns the value of an option that has choices.

    Raises:
        ValueError: It is not one of them.
    """
    return _checked_choice(name, value, OPTIONS[name].choices)


def observed(observation: str, parameters: Parameters) -> str:
    """Returns the observation that agents have in a game.

    * Full information, one against one: `observation`, with "default" as it is.
    * Sensors, one against one: "radar".
    * Teams: "team"; with sensors "team_radar".
    * With height: "height", or where fighters carry several types of missiles "height_2" or
      "height_3"; in teams "team_height". With sensors, too, "radar_height" and so on, and
      "team_radar_height".
    * In missions the name is followed by "+mission".

    Args:
        observation: the requested one; "default" fits every game.
        parameters: parameters of the game.

    Raises:
        ValueError: The observation is unknown, or does not fit the game's `sensing`.
    """
    checked_choice("observation", observation)
    mission = parameters.get("mission", FIGHT)
    return _core.in_mission(_observed_in_fight(observation, parameters), mission)


def _observed_in_fight(observation: str, parameters: Parameters) -> str:
    """Returns the observation of a game without its mission."""
    if has_height(parameters):
        if observation not in ("default", *(RADAR,) * (parameters["sensing"] == RADAR)):
            raise ValueError(f"observation = {observation!r}: must be default with dimensions = 3")
        senses = parameters["sensing"] == RADAR
        if is_team(parameters):
            return _core.TEAM_RADAR_HEIGHT if senses else _core.TEAM_HEIGHT
        return (_core.RADAR_HEIGHTS if senses else _core.HEIGHTS)[kinds_of(parameters) - 1]
    sensing, in_team = parameters["sensing"], is_team(parameters)
    own = RADAR if sensing == RADAR else "stg"
    allowed = ("default",) if in_team and own == "stg" else ("default", own)
    if observation not in allowed:
        where = "for teams" if in_team else f"with sensing = {sensing}"
        raise ValueError(f"observation = {observation!r}: must be {' or '.join(allowed)} {where}")
    if in_team:
        return _core.TEAM_RADAR if sensing == RADAR else _core.TEAM
    return RADAR if sensing == RADAR else observation


def _checked_choice(name: str, value: object, choices: Sequence[str]) -> str:
    if not isinstance(value, str) or value not in choices:
        raise ValueError(
            f"{name} = {value!r}: must be {' or '.join(choices)}{suggest(str(value), choices)}"
        )
    return value


def blindness(parameters: Parameters) -> str | None:
    """Returns the reason why no radar in a game can ever have a track; None if one can.

    Args:
        parameters: a value for every parameter, as `resolve` returns them.
    """
    if parameters["sensing"] != RADAR:
        return None
    wait, limit = parameters["radar_acquire_time"], parameters["time_limit"]
    if wait >= limit:
        return f"radar_acquire_time = {wait:g}: an engagement ends after time_limit = {limit:g} s"
    if has_height(parameters):  # the notch hides nobody who is higher than the radar
        return None
    # At top speed thrust = zero-lift drag = g (speed / terminal speed)²; csrc/RULES.md, "Flight".
    share = parameters["fighter_thrust"] / parameters["gravity"]
    top = parameters["fighter_terminal_speed"] * math.sqrt(share)
    fastest, notch = max(top, parameters["start_speed_max"]), parameters["radar_notch_speed"]
    if notch > fastest:
        return f"radar_notch_speed = {notch:g}: no fighter is faster than {fastest:.0f} m/s"
    return None


def most_decisions(parameters: Parameters) -> int:
    """Returns an upper bound of the number of decisions of an engagement.

    It is one more than the time limit allows, because the core counts physics steps.
    """
    decision = parameters["physics_dt"] * parameters["substeps"]
    return math.ceil(parameters["time_limit"] / decision) + 1


def checked_order_decisions(order_decisions: int, action_mode: str) -> int:
    """Returns the number of decisions for which an order is flown, 0 if actions are no orders.

    Raises:
        ValueError: It is not a whole number in its range, or is given where there are no orders.
    """
    option = OPTIONS["order_decisions"]
    low, high = option.minimum or 0, option.maximum or 0
    if not _is_whole(order_decisions) or not low <= order_decisions <= high:
        raise ValueError(
            f"order_decisions = {order_decisions!r}: must be a whole number from {low} to {high}"
        )
    if action_mode == ORDERS:
        return int(order_decisions)
    if order_decisions != option.default:
        raise ValueError(
            f"order_decisions = {order_decisions}: needs action_mode = {ORDERS}, and this is "
            f"action_mode = {action_mode}"
        )
    return 0


def checked_seed(seed: int) -> int:
    """Returns the seed as an int.

    Raises:
        ValueError: Not a whole number from 0 to 2**64 - 1.
    """
    if not _is_whole(seed) or not 0 <= seed < 2**64:
        raise ValueError(f"seed = {seed!r}: must be a whole number from 0 to 2**64 - 1")
    return int(seed)


def checked_num_envs(num_envs: int) -> int:
    """Returns the number of engagements as an int.

    Raises:
        ValueError: Not a whole number from 1 to `_core.MAX_ENVS`.
    """
    if not _is_whole(num_envs) or not 1 <= num_envs <= _core.MAX_ENVS:
        raise ValueError(
            f"num_envs = {num_envs!r}: must be a whole number from 1 to {_core.MAX_ENVS}"
        )
    return int(num_envs)


def checked_threads(threads: int) -> int:
    """Returns the number of threads as an int.

    Raises:
        ValueError: Not a whole number from 1 to `MAX_THREADS`.
    """
    if not _is_whole(threads) or not 1 <= threads <= MAX_THREADS:
        raise ValueError(f"threads = {threads!r}: must be a whole number from 1 to {MAX_THREADS}")
    return int(threads)


def _is_whole(value: object) -> bool:
    return isinstance(value, numbers.Integral) and not isinstance(value, bool)
