"""States of fighters and missiles that callers set: checked, and by the core's names."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from midrange_puffer import _core
from midrange_puffer.game.parameters import (
    OFF,
    ON,
    PARAMETERS,
    Parameters,
    finite,
    has_height,
    require_height,
)

# Limits of values that a caller may set: positions [m], speeds [m/s], missiles, ages [steps].
MAX_POSITION = 1e7
MAX_SPEED = 10_000.0
HEIGHTS = (-1000.0, 30_000.0)  # m, of settable states: a crashed fighter is below the ground
MAX_AMMUNITION = int(PARAMETERS["ammunition"].maximum)
MAX_AGE = 1_000_000_000
# Height and direction of a body that flies level along x, by the core's names.
LEVEL = {"z": 0.0, "direction_x": 1.0, "direction_y": 0.0, "direction_z": 0.0}

# The systems of a fighter in a game without them, by the core's names.
NO_SYSTEMS = {"silent": 0, "chaff": 0, "cloud_wait": 0}

_LEAST_COSINE = 1e-3  # of a climb, below which a body has no heading


def within(name: str, value: float, low: float, high: float) -> float:
    """Returns a number within limits; ValueError otherwise."""
    number = finite(value)
    if number is None or not low <= number <= high:
        raise ValueError(f"{name} = {value!r}: must be a number from {low:g} to {high:g}")
    return number


def whole_within(name: str, value: int, low: int, high: int) -> int:
    """Returns a whole number within limits; ValueError otherwise."""
    number = within(name, value, low, high)
    if number != int(number):
        raise ValueError(f"{name} = {value!r}: must be a whole number")
    return int(number)


def body_changes(
    body: str,
    x: float | None,
    y: float | None,
    speed: float | None,
    rudder: float | None,
) -> dict[str, float]:
    """Returns those fields of a fighter or missile that are given, by the core's names."""
    state = {}
    for name, value, low, high in (
        ("x", x, -MAX_POSITION, MAX_POSITION),
        ("y", y, -MAX_POSITION, MAX_POSITION),
        ("speed", speed, 0, MAX_SPEED),
        ("rudder", rudder, -1, 1),
    ):
        if value is not None:
            state[name] = within(f"{body} {name}", value, low, high)
    return state


def missiles_left(ammo: int | Sequence[int], types: int) -> dict[str, int]:
    """Returns a fighter's missiles left, by the core's names.

    Args:
        ammo: their number; of a loadout of several types the number of each.
        types: number of types in its loadout.
    """
    counts: list[Any] = list(ammo) if isinstance(ammo, tuple | list | np.ndarray) else [ammo]
    if len(counts) != types:
        wanted = f"{types} numbers, one for each type of its loadout" if types > 1 else "a number"
        raise ValueError(f"ammo = {ammo!r}: must be {wanted}")
    counts = [whole_within("ammo", count, 0, MAX_AMMUNITION) for count in counts]
    total = whole_within("the sum of ammo", sum(counts), 0, MAX_AMMUNITION)
    second, third = (*counts[1:], 0, 0)[:2]
    return {"ammunition": total, "ammunition_2": second, "ammunition_3": third}


def system_changes(
    parameters: Parameters, silent: bool | None, chaff: int | None
) -> dict[str, int]:
    """Returns those systems of a fighter that are given, by the core's names."""
    state = {}
    if silent is not None:
        if parameters["emission_control"] == OFF:
            raise ValueError(f"silent = {silent!r}: needs emission_control = {ON}")
        if silent not in (False, True):
            raise ValueError(f"silent = {silent!r}: must be True or False")
        state["silent"] = int(silent)
    if chaff is not None:
        state["chaff"] = whole_within("chaff", chaff, 0, parameters["chaff"])
    return state


def attitude(
    parameters: Parameters,
    body: str,
    state: Mapping[str, float],
    z: float | None,
    heading_deg: float | None,
    climb_deg: float | None,
) -> dict[str, float]:
    """Returns height and direction of a body after a change, by the core's names.

    Args:
        parameters: of the game.
        body: "fighter" or "missile".
        state: its present state.
        z, heading_deg, climb_deg: the new values; None: as they are.
    """
    out = {}
    for name, value in (("z", z), ("climb_deg", climb_deg)):
        if value is not None:
            require_height(parameters, f"{body} {name} = {value!r}")
    if z is not None:
        out["z"] = within(f"{body} z", z, *HEIGHTS)
    level = state["direction_x"], state["direction_y"]
    up, along = state["direction_z"], math.hypot(*level) if has_height(parameters) else 1.0
    if heading_deg is not None:
        level = _core.direction(within(f"{body} heading_deg", heading_deg, -1e6, 1e6))
    elif along > _LEAST_COSINE:
        level = level[0] / along, level[1] / along
    elif climb_deg is not None:
        raise ValueError(
            f"{body} climb_deg = {climb_deg!r}: it flies straight up or down; "
            "give its heading_deg, too"
        )
    if climb_deg is not None:
        along, up = _core.direction(within(f"{body} climb_deg", climb_deg, -90, 90))
    if heading_deg is not None or climb_deg is not None:
        out["direction_x"], out["direction_y"] = level[0] * along, level[1] * along
        out["direction_z"] = up
    return out
