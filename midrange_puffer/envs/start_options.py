"""How an episode starts: the options of an environment's `reset`, and fighters placed by them."""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from midrange_puffer import _core
from midrange_puffer.game.parameters import PARAMETERS, suggest

# What an option's name begins with for red and for blue: in a game of two equals, and by the seat
# of the only agent.
EQUALS = ("red_", "blue_")
BY_SEAT = (("", "enemy_"), ("enemy_", ""))


class _Quantity(NamedTuple):
    """What a number may be."""

    minimum: float
    maximum: float
    unit: str
    whole: bool = False


def _limits(low: str, high: str) -> _Quantity:
    """Those of what a pair of parameters bounds."""
    return _Quantity(PARAMETERS[low].minimum, PARAMETERS[high].maximum, PARAMETERS[low].unit)


_OF_ENGAGEMENT = {
    "engagement": _Quantity(0, _core.MAX_START, "", whole=True),
    "episode": _Quantity(0, _core.MAX_START, "", whole=True),
    "range": _limits("start_range_min", "start_range_max"),
}
_OF_FIGHTER = {
    "off_boresight_deg": _Quantity(-180, 180, "deg"),
    "speed": _limits("start_speed_min", "start_speed_max"),
    "ammunition": _Quantity(0, PARAMETERS["ammunition"].maximum, "missiles", whole=True),
}


def quantities(prefixes: tuple[str, ...]) -> dict[str, _Quantity]:
    """All options by name; `prefixes` are those of red's and blue's, none for teams."""
    of_fighters = {
        prefix + name: quantity for prefix in prefixes for name, quantity in _OF_FIGHTER.items()
    }
    if not prefixes:
        return {name: _OF_ENGAGEMENT[name] for name in ("engagement", "episode")}
    return _OF_ENGAGEMENT | of_fighters


def checked_options(
    options: Mapping[str, object] | None, prefixes: tuple[str, ...], num_envs: int
) -> dict[str, np.ndarray]:
    """The options of a reset, each as float64 [num_envs].

    Args:
        options: numbers by name, one for all engagements or [num_envs].
        prefixes: of red's and blue's names.
        num_envs: engagements.

    Raises:
        TypeError: No dict.
        ValueError: An unknown name, no number, one out of range, or not as many as engagements.
    """
    known = quantities(prefixes)
    if not isinstance(options, Mapping | None):
        raise TypeError(f"options = {options!r}: must be a dict of numbers, or None")
    for name in options or {}:
        if name not in known:
            raise ValueError(
                f"options[{name!r}]: must be of {', '.join(known)}{suggest(str(name), known)}"
            )
    return {
        name: np.broadcast_to(_checked(name, value, known[name], num_envs), num_envs)
        for name, value in (options or {}).items()
    }


def _checked(name: str, value: object, quantity: _Quantity, num_envs: int) -> np.ndarray:
    numbers = np.asarray(value)
    if numbers.dtype.kind not in "iuf":
        raise ValueError(f"options[{name!r}] = {value!r}: must be a number")
    if numbers.shape not in ((), (num_envs,)):
        several = f" or {num_envs} of them" if num_envs > 1 else ""
        raise ValueError(f"options[{name!r}] of shape {numbers.shape}: must be a number{several}")
    minimum, maximum, unit, whole = quantity
    good = (minimum <= numbers) & (numbers <= maximum)  # False for not-a-number
    if not good.all() or (whole and (numbers != np.floor(numbers)).any()):
        kind = "a whole number " if whole else ""
        limits = f"from {minimum:.10g} to {maximum:.10g} {unit}".rstrip()
        raise ValueError(f"options[{name!r}] = {value!r}: must be {kind}{limits}")
    return numbers.astype(float)


def place(
    core: _core.Core, env: int, options: Mapping[str, np.ndarray], prefixes: tuple[str, str]
) -> None:
    """Move the fighters of an engagement that has just started to where the options want them.

    Args:
        env: the engagement.
        options: as `checked_options` gives them; what is not given stays as it was drawn.
        prefixes: of red's and blue's names.
    """
    fighters = [core.get_fighter(env, seat) for seat in range(_core.FIGHTERS)]
    red, blue = (np.array((fighter["x"], fighter["y"])) for fighter in fighters)
    line = (blue - red) / np.linalg.norm(blue - red)
    for seat, fighter in enumerate(fighters):
        own = {
            name: float(options[prefixes[seat] + name][env])
            for name in _OF_FIGHTER
            if prefixes[seat] + name in options
        }
        ahead = line if seat == 0 else -line  # toward the other
        if "range" in options:
            fighter["x"], fighter["y"] = -options["range"][env] / 2 * ahead
        if "off_boresight_deg" in own:
            # With the other to the left of the nose, the nose is to the right of the line.
            cosine, sine = _core.direction(-own["off_boresight_deg"])
            fighter["direction_x"] = ahead[0] * cosine - ahead[1] * sine
            fighter["direction_y"] = ahead[0] * sine + ahead[1] * cosine
        fighter["speed"] = own.get("speed", fighter["speed"])
        fighter["ammunition"] = int(own.get("ammunition", fighter["ammunition"]))
        core.set_fighter(env, seat, fighter)
