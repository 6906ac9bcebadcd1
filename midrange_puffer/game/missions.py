"""Missions beside the fight: a line to hold, and a transport to escort."""

from typing import Any

from midrange_puffer.errors import UsageError
from midrange_puffer.game.game_facts import has_mission, sizes_of
from midrange_puffer.game.parameter_table import ESCORT, LINE, PARAMETERS, Parameters

# Rows of the mission escort, and of all missions.
ESCORT_ONLY = ("transport_speed", "start_transport_trail", "transport_cold_time")
MISSION_ONLY = ("attacker", "start_line_depth", "reward_line", "reward_line_range", *ESCORT_ONLY)
_NEAREST_LINE = 10_000.0  # least distance from the attackers at the start to their line [m]
_FASTEST = 800.0  # m/s, which no aircraft of the package reaches


def without_mission(parameters: Parameters) -> dict[str, Any]:
    """Returns the parameters of the same game without its mission."""
    return dict(parameters) | {
        name: PARAMETERS[name].default for name in ("mission", *MISSION_ONLY)
    }


def check_mission(values: Parameters) -> None:
    """Refuses missions whose geometry decides them, and values of missions in other games.

    Raises:
        UsageError, ValueError: One of these is given.
    """
    if not has_mission(values):
        _check_unset(values, MISSION_ONLY, f"in missions only; set mission = {LINE} or {ESCORT}")
        return
    if values["mission"] != ESCORT:
        _check_unset(values, ESCORT_ONLY, f"only with a transport; set mission = {ESCORT}")
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
            f"time_limit = {values['time_limit']:g}: with start_line_depth = {depth:g} the line "
            f"may be {farthest:g} m from the attackers, and {of_whom} faster than {speed:g} m/s; "
            f"must be above {farthest / speed:g}"
        )


def _check_unset(values: Parameters, names: tuple[str, ...], allowed: str) -> None:
    """Refuses values of rows that have no effect in a game."""
    for name in names:
        if values[name] != PARAMETERS[name].default:
            raise UsageError(f"{name} = {values[name]}: {allowed}")
