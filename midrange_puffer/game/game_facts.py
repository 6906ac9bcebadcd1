"""Facts of a game that follow from its parameters: sides, missiles, observation, bounds."""

import math

from midrange_puffer import _core
from midrange_puffer.errors import UsageError
from midrange_puffer.game.actions import DISCRETE, ORDERS, Controls, controls_in
from midrange_puffer.game.arguments import checked_choice
from midrange_puffer.game.parameter_table import (
    FIGHT,
    FIGHTER,
    LOADOUTS,
    OFF,
    PARAMETERS,
    RADAR,
    SEATS,
    SIDE,
    SUBORDINATE,
    Parameters,
)
from midrange_puffer.game.pilots import PILOTS, SENSOR_PILOTS, WING_PILOTS
from midrange_puffer.game.types import parse_loadout


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


def has_systems(parameters: Parameters) -> bool:
    """True with emission control or chaff: fighters have the control of these systems."""
    return parameters.get("emission_control", OFF) != OFF or parameters.get("chaff", 0) > 0


def game_controls(parameters: Parameters) -> Controls:
    """Returns the controls of a fighter in a game."""
    return controls_in(int(parameters["dimensions"]), kinds_of(parameters), has_systems(parameters))


def checked_agents(agents: str, action_mode: str, parameters: Parameters) -> int:
    """Returns the number of fighters that an agent commands; 1: it is a fighter.

    Args:
        agents: one of AGENTS.
        action_mode: of the agents.
        parameters: with the sizes of the sides.

    Raises:
        ValueError: There is no such value, or no commander in such a game.
    """
    if checked_choice("agents", agents) == FIGHTER:
        return 1
    if agents == SUBORDINATE:
        if action_mode != DISCRETE:
            raise ValueError(
                f"agents = {agents}: it flies by levels, and this is action_mode = {action_mode}; "
                f"must be {FIGHTER}, or with action_mode = {DISCRETE}"
            )
        return 1
    if action_mode != ORDERS:
        raise ValueError(
            f"agents = {agents}: a commander gives orders, and this is action_mode = "
            f"{action_mode}; must be {FIGHTER}, or with action_mode = {ORDERS}"
        )
    red, blue = sizes_of(parameters)
    if red != blue or red == 1:
        raise ValueError(
            f"agents = {agents}: needs two equal sides of at least 2 fighters, and these are "
            f"red_size = {red}, blue_size = {blue}"
        )
    return red


def dies_alone(env: Parameters) -> bool:
    """True if an agent is a fighter of a team, which may be dead while its side fights on."""
    return is_team(env) and env.get("agents", FIGHTER) != SIDE


def loadouts_of(parameters: Parameters) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Returns the missiles that red's and blue's fighters start with, by type.

    Args:
        parameters: a value for every parameter.
    """
    red, blue = (
        tuple(parse_loadout(parameters[row.name]).values()) or (int(parameters["ammunition"]),)
        for row in LOADOUTS
    )
    return red, blue


def kinds_of(parameters: Parameters) -> int:
    """Returns the number of types of missiles in the loadout of the side that has more of them.

    Args:
        parameters: of a game; those that it lacks have their default.
    """
    return max(1, *(len(parse_loadout(parameters.get(row.name, row.default))) for row in LOADOUTS))


def require_height(parameters: Parameters, what: str) -> None:
    """Raises ValueError if a game has no height. `what` is the caller's argument."""
    if not has_height(parameters):
        raise ValueError(f"{what}: with height only, and this game has dimensions = 2")


def require_plane(parameters: Parameters, what: str) -> None:
    """Raises UsageError if a game has height. `what` is what only the plane has."""
    if has_height(parameters):
        raise UsageError(f"{what}: in the plane only, and this game has dimensions = 3")


def fighter_names(sizes: tuple[int, int]) -> tuple[str, ...]:
    """Returns the names of all fighters, such as red_0 and blue_7."""
    sides = zip(SEATS, sizes, strict=True)
    return tuple(f"{side}_{number}" for side, size in sides for number in range(size))


def callsigns(sizes: tuple[int, int]) -> tuple[str, ...]:
    """Returns the names of all fighters in pictures: in one against one "red" and "blue"."""
    return fighter_names(sizes) if max(sizes) > 1 else SEATS


def pilots_of(parameters: Parameters) -> tuple[str, ...]:
    """Returns the scripted pilots that can fly in a game."""
    if parameters["sensing"] != RADAR:
        return PILOTS
    return (*PILOTS, *(p for p in SENSOR_PILOTS if is_team(parameters) or p not in WING_PILOTS))


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


def observed(observation: str, parameters: Parameters) -> str:
    """Returns the observation that agents have in a game.

    * Full information, one against one: `observation`, with "default" as it is.
    * Sensors, one against one: "radar".
    * Teams: "team"; with sensors "team_radar".
    * With height: "height", or where fighters carry several types of missiles "height_2" or
      "height_3"; in teams "team_height". With sensors, too, "radar_height" and so on, and
      "team_radar_height".
    * With emission control or chaff the name is followed by "+systems".
    * In missions the name is followed by "+mission", at the end.

    Args:
        observation: the requested one; "default" fits every game.
        parameters: parameters of the game.

    Raises:
        ValueError: The observation is unknown, or does not fit the game's `sensing`.
    """
    checked_choice("observation", observation)
    name = _observed_in_fight(observation, parameters)
    if has_systems(parameters) and parameters["sensing"] == RADAR:
        name = _core.with_systems(name)
    return _core.in_mission(name, parameters.get("mission", FIGHT))


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
