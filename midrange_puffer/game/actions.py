"""An agent's actions, and the fighter's controls that they select."""

from collections.abc import Sequence

import numpy as np

from midrange_puffer import _core

# "discrete": MultiDiscrete(_core.ACTION_LEVELS), a level of rudder, one of throttle, one of fire.
# "continuous": Box from LOWEST to HIGHEST, the controls themselves.
ACTION_MODES = ("discrete", "continuous")

_HIGHEST_LEVELS = np.array(_core.ACTION_LEVELS) - 1

_MOST_LEVELS = max(_core.action_levels(_core.MAX_SIDE, _core.MAX_SIDE))

CONTROL_NAMES = ("rudder", "throttle", "fire")

# Limits of a fighter's controls: rudder (positive left), throttle, fire (a shot if above 0.5).
LOWEST = np.array((-1, 0, 0), np.float32)
HIGHEST = np.array((1, 1, 1), np.float32)


def controls(actions: np.ndarray, in_team: bool = False) -> np.ndarray:
    """Returns the controls of discrete actions, as `Simulation.step` takes them.

    Args:
        actions: whole numbers [n, 3], each a level of rudder, throttle and fire.
        in_team: True in teams, where fire level k > 0 is a shot at the k-th enemy. Its control is
            k + 1, because control 1 is a shot at the enemy nearest the nose.

    Returns:
        float32 [n, 3].
    """
    share = np.asarray(actions, np.float32) / _HIGHEST_LEVELS.astype(np.float32)
    values = LOWEST + (HIGHEST - LOWEST) * share
    if in_team:
        values[:, 2] += values[:, 2] > 0
    return values


def levels(values: np.ndarray, in_team: bool = False) -> np.ndarray:
    """Returns the discrete actions int32 [..., 3] of controls [..., 3], the reverse of `controls`.

    Controls between two levels give the nearer one.
    """
    shares = (values - LOWEST) / (HIGHEST - LOWEST)
    shares[..., 2] -= in_team * (shares[..., 2] > 0)
    return np.rint(shares * _HIGHEST_LEVELS).astype(np.int32)


def within_limits(values: np.ndarray) -> np.ndarray:
    """Returns continuous actions [n, 3] clipped to the limits of controls."""
    return np.clip(values, LOWEST, HIGHEST)


def action_buffer(shape: tuple[int, ...], action_mode: str) -> np.ndarray:
    """Returns zeros for actions in the core's type: int32, or float32 if continuous."""
    return np.zeros(shape, np.float32 if action_mode == "continuous" else np.int32)


def check_levels(actions: np.ndarray, levels: Sequence[int], name: str = "actions") -> None:
    """Checks the discrete actions of a caller.

    Args:
        actions: whole numbers [..., 3].
        levels: how many levels rudder, throttle and fire have.
        name: name of the actions in error messages.

    Raises:
        ValueError: A level is outside; the message has its place, value and limits.
    """
    # As unsigned numbers, negative levels are large.
    unsigned = actions.view(actions.dtype.str.replace("i", "u"))
    for part, (title, count) in enumerate(zip(CONTROL_NAMES, levels, strict=True)):
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
    levels: Sequence[int] | None = None,
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
    lowest, highest = (0, _MOST_LEVELS - 1) if whole else (LOWEST.min(), _MOST_LEVELS)
    np.clip(actions, lowest, highest, out=buffer, casting="unsafe")
    return buffer
