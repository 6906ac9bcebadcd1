"""An agent's actions, and the fighter's controls that they select."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from midrange_puffer import _core

# "discrete": MultiDiscrete of the levels of the controls, `_core.action_levels`.
# "continuous": Box of their limits, the controls themselves.
# "orders": MultiDiscrete of the heads of an order, orders.py.
DISCRETE, CONTINUOUS, ORDERS = ACTION_MODES = ("discrete", "continuous", "orders")

_MOST_LEVELS = max(_core.action_levels(_core.MAX_SIDE, _core.MAX_SIDE))


@dataclass(frozen=True, eq=False)
class Controls:
    """A fighter's controls: in the plane, or with height.

    Attributes:
        dimensions: 2 or 3.
        names: of the controls, in their order; the last one is fire.
        lowest, highest: their limits, float32 [controls]. The rudder is positive left, the climb
            positive up; fire is a shot if above 0.5. With a loadout fire is the number of a type in
            it, from 1, rounded.
        kinds: types of missiles that a fighter may carry.
        systems: True with emission control or chaff, which the control "systems" before fire works:
            1 for a silent radar, 2 to drop chaff, 3 for both.
    """

    dimensions: int
    names: tuple[str, ...]
    lowest: np.ndarray
    highest: np.ndarray
    kinds: int = 1
    systems: bool = False

    @property
    def count(self) -> int:
        """The number of controls."""
        return len(self.names)

    @cached_property
    def highest_levels(self) -> np.ndarray:
        """The highest level of each control in one against one, float32 [controls]."""
        counts = _core.action_levels(1, 1, self.dimensions, self.kinds, self.systems)
        return np.array(counts, np.float32) - 1


SYSTEMS = "systems"  # the control of the radar's emissions and of chaff
# The limits of each control, without those of fire, which follow from the missiles.
_LIMITS = {
    "rudder": (-1, 1),
    "climb": (-1, 1),
    "throttle": (0, 1),
    SYSTEMS: (0, _core.SYSTEMS_LEVELS - 1),
}


def _make_controls(dimensions: int, kinds: int, systems: bool) -> Controls:
    """Returns the controls of a game."""
    absent = {*(["climb"] if dimensions == 2 else []), *([] if systems else [SYSTEMS])}
    limits = {name: ends for name, ends in _LIMITS.items() if name not in absent}
    limits["fire"] = (0, kinds)
    lowest, highest = np.array([*limits.values()], np.float32).T.copy()
    return Controls(dimensions, tuple(limits), lowest, highest, kinds, systems)


_CONTROLS = {
    (dimensions, kinds, systems): _make_controls(dimensions, kinds, systems)
    for systems in (False, True)
    for dimensions, most in ((2, 1), (3, _core.MAX_KINDS))
    for kinds in range(1, most + 1)
}
PLANE, HEIGHT = _CONTROLS[2, 1, False], _CONTROLS[3, 1, False]


def controls_in(dimensions: int, kinds: int = 1, systems: bool = False) -> Controls:
    """Returns a fighter's controls in a game.

    Args:
        dimensions, kinds: the dimensions, and the kinds of missiles, which count with height.
        systems: True with emission control or chaff.
    """
    return _CONTROLS[dimensions, kinds if dimensions == HEIGHT.dimensions else 1, systems]


def controls(actions: np.ndarray, game_controls: Controls, in_team: bool = False) -> np.ndarray:
    """Returns the controls of discrete actions, as `Simulation.step` takes them.

    Args:
        actions: whole numbers [n, controls], a level of each control. With height fire level k is
            a missile of the k-th kind.
        game_controls: the controls of the game.
        in_team: True in teams, where fire level k > 0 is a shot at the k-th enemy. Its control is
            k + 1, because control 1 is a shot at the enemy nearest the nose.

    Returns:
        float32 [n, controls].
    """
    share = np.asarray(actions, np.float32) / game_controls.highest_levels
    values = game_controls.lowest + (game_controls.highest - game_controls.lowest) * share
    if in_team:
        values[:, -1] += values[:, -1] > 0
    return values


def levels(values: np.ndarray, game_controls: Controls, in_team: bool = False) -> np.ndarray:
    """Returns the discrete actions int32 [..., controls] of controls, the reverse of `controls`.

    Controls between two levels give the nearer one.
    """
    shares = (values - game_controls.lowest) / (game_controls.highest - game_controls.lowest)
    shares[..., -1] -= in_team * (shares[..., -1] > 0)
    return np.rint(shares * game_controls.highest_levels).astype(np.int32)


def within_limits(values: np.ndarray, game_controls: Controls) -> np.ndarray:
    """Returns continuous actions [n, controls] clipped to the limits of the controls."""
    return np.clip(values, game_controls.lowest, game_controls.highest)


def action_buffer(shape: tuple[int, ...], action_mode: str) -> np.ndarray:
    """Returns zeros for actions in the core's type: int32, or float32 if continuous."""
    return np.zeros(shape, np.float32 if action_mode == CONTINUOUS else np.int32)


def check_levels(actions: np.ndarray, levels: Mapping[str, int], name: str = "actions") -> None:
    """Checks the discrete actions of a caller.

    Args:
        actions: whole numbers [..., heads].
        levels: how many levels each head has, by its name: of a control or a part of an order.
        name: name of the actions in error messages.

    Raises:
        ValueError: A level is outside; the message has its place, value and limits.
    """
    # As unsigned numbers, negative levels are large.
    unsigned = actions.view(actions.dtype.str.replace("i", "u"))
    for part, (title, count) in enumerate(levels.items()):
        column = unsigned[..., part]
        if column.size and column.max() >= count:
            place = np.argwhere(column >= count)[0]
            index = ", ".join(map(str, (*place, part)))
            raise ValueError(
                f"{name}[{index}] = {actions[(*place, part)]}: {title} must be from 0 to "
                f"{count - 1}"
            )


def as_actions(
    actions: np.ndarray,
    buffer: np.ndarray,
    name: str = "actions",
    levels: Mapping[str, int] | None = None,
) -> np.ndarray:
    """Returns a caller's actions in the type and layout that the core takes.

    Args:
        actions: numbers of the buffer's shape; whole numbers if the buffer has integers.
        buffer: an `action_buffer`. The actions are written to it if they must be converted.
        name: name of the actions in error messages.
        levels: as for `check_levels`; None: the core clips levels outside.

    Returns:
        `actions` itself if it fits, otherwise the buffer.

    Raises:
        ValueError: The actions have another shape, or a level is outside.
        TypeError: The actions have another type.
    """
    actions = np.asarray(actions)
    whole = buffer.dtype.kind == "i"
    if actions.dtype.kind not in ("iu" if whole else "iuf"):
        wanted = "whole numbers" if whole else "numbers"
        raise TypeError(f"{name} of type {actions.dtype}: must be {wanted}")
    if actions.shape != buffer.shape:
        raise ValueError(f"{name} of shape {actions.shape}: must be {buffer.shape}")
    if whole and levels is not None:
        check_levels(actions, levels, name)
    flags = actions.flags
    if actions.dtype == buffer.dtype and flags.c_contiguous and flags.aligned:
        return actions
    # Clipped before the conversion to a narrower type, so that no number wraps around or overflows.
    # All columns are clipped to the widest limits, which is much faster than each to its own. The
    # core clips each column to its own limits anyway.
    lowest, highest = (0, _MOST_LEVELS - 1) if whole else (-1.0, _MOST_LEVELS)
    np.clip(actions, lowest, highest, out=buffer, casting="unsafe")
    return buffer
