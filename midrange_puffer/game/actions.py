"""An agent's actions, and the controls of a fighter that they stand for."""

import numpy as np

from midrange_puffer import _core

# discrete: MultiDiscrete(_core.ACTION_LEVELS), levels of rudder, throttle and fire.
# continuous: the controls themselves, Box from LOWEST to HIGHEST.
ACTION_MODES = ("discrete", "continuous")

_HIGHEST_LEVELS = np.array(_core.ACTION_LEVELS) - 1

_MOST_LEVELS = max(_core.action_levels(_core.MAX_SIDE, _core.MAX_SIDE))

# Controls of a fighter: rudder (positive left), throttle, fire (above 0.5).
LOWEST = np.array((-1, 0, 0), np.float32)
HIGHEST = np.array((1, 1, 1), np.float32)


def controls(actions: np.ndarray, in_team: bool = False) -> np.ndarray:
    """Returns the controls of discrete actions, as `Simulation.step` takes them.

    Args:
        actions: whole numbers [n, 3], each a level of rudder, throttle and fire.
        in_team: True if the levels of fire are enemies. The control of a shot at the k-th is k + 1,
            as 1 is a shot at the enemy nearest the nose.

    Returns:
        float32 [n, 3].
    """
    share = np.asarray(actions, np.float32) / _HIGHEST_LEVELS.astype(np.float32)
    values = LOWEST + (HIGHEST - LOWEST) * share
    if in_team:
        values[:, 2] += values[:, 2] > 0
    return values


def within_limits(values: np.ndarray) -> np.ndarray:
    """Returns the controls [n, 3] of continuous actions."""
    return np.clip(values, LOWEST, HIGHEST)


def action_buffer(shape: tuple[int, ...], action_mode: str) -> np.ndarray:
    """Returns zeros for actions as the core takes them: int32, or float32 if continuous."""
    return np.zeros(shape, np.float32 if action_mode == "continuous" else np.int32)


def as_actions(actions: np.ndarray, buffer: np.ndarray, name: str = "actions") -> np.ndarray:
    """Returns actions from outside as the core takes them.

    Args:
        actions: numbers of the shape of `buffer`; whole ones if it has integers.
        buffer: as of `action_buffer`, of agents or of one; written to if actions must be
            converted.
        name: of the actions, for errors.

    Returns:
        The actions themselves, or the buffer.

    Raises:
        ValueError: actions of another shape.
        TypeError: actions of another type.
    """
    actions = np.asarray(actions)
    whole = buffer.dtype.kind == "i"
    if actions.dtype.kind not in ("iu" if whole else "iuf"):
        wanted = "whole numbers" if whole else "numbers"
        raise TypeError(f"{name} of type {actions.dtype}: must be {wanted}")
    if actions.shape != buffer.shape:
        raise ValueError(f"{name} of shape {actions.shape}: must be {buffer.shape}")
    flags = actions.flags
    if actions.dtype == buffer.dtype and flags.c_contiguous and flags.aligned:
        return actions
    # Clipped before they are narrowed, so that nothing wraps around or overflows; all to the widest
    # limits, which is much faster than each to its own, as the core does anyway.
    lowest, highest = (0, _MOST_LEVELS - 1) if whole else (LOWEST.min(), _MOST_LEVELS)
    np.clip(actions, lowest, highest, out=buffer, casting="unsafe")
    return buffer
