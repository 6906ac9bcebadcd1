"""The user's own functions that fly a fighter, given by name or from Python."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from midrange_puffer.game.actions import action_buffer, as_actions, controls
from midrange_puffer.game.observation import controls_of, levels_of, rows_of
from midrange_puffer.policies import own_code
from midrange_puffer.policies.own_code import OwnCodeError

# Observations float32 [n, features], a buffer that is reused -> actions [n, controls].
Function = Callable[[NDArray[Any]], NDArray[Any]]
ROWS = 3  # number of observations in a trial call of a function


class OwnPilot:
    """A function that flies a fighter. Every result is checked.

    If it returns integers, they are levels: rudder 0..4, throttle 0..2, fire 0..1, in teams fire
    0 to the number of enemies. Other numbers are controls: rudder -1 (right) to 1 (left), throttle
    0 to 1, and fire, a shot if above 0.5. With height the climb stands after the rudder: levels
    0..4, or -1 (dive) to 1 (climb).

    Args:
        function: the function, or its name, `module:name` or `file.py:name`.

    Raises:
        OwnCodeError: It cannot be imported, or is no function.
    """

    def __init__(self, function: str | Function) -> None:
        name = function if isinstance(function, str) else name_of(function)
        loaded = own_code.load(function) if isinstance(function, str) else function
        if isinstance(loaded, type) or not callable(loaded):
            raise OwnCodeError(
                f"{name}: is {own_code.in_words(loaded)}, expected a function: "
                f"observations float32 [n, features] -> actions [n, controls]"
            )
        self._function: Callable[[np.ndarray], object] = loaded
        self.__name__ = name.rpartition(":")[2]
        code = getattr(self._function, "__code__", None)
        where = f" ({code.co_filename}, line {code.co_firstlineno})" if code else ""
        self._title = f"opponent {name}{where}"
        self._tried: set[int] = set()  # numbers of features that it was tried with

    @classmethod
    def of(cls, function: Function) -> "OwnPilot":
        """Returns the `OwnPilot` of a function; an `OwnPilot` unchanged."""
        return function if isinstance(function, cls) else cls(function)

    def __call__(self, observations: np.ndarray) -> np.ndarray:
        """Returns controls float32 [n, controls] for observations float32 [n, features].

        Raises:
            OwnCodeError: The function fails, or returns no valid actions.
        """
        try:
            actions = np.asarray(self._function(observations))
        except Exception as error:  # the user's code may raise any type
            raise OwnCodeError(f"{self._title}: {own_code.where_raised(error)}") from error
        features = observations.shape[1]
        shape = (len(observations), controls_of(features).count)
        if actions.dtype.kind not in "iuf" or actions.shape != shape:
            raise OwnCodeError(
                f"{self._title}: gives actions of shape {actions.shape} and type {actions.dtype}, "
                f"expected {shape}, whole numbers (levels) or others (controls)"
            )
        if not np.isfinite(actions).all():
            row, column = np.argwhere(~np.isfinite(actions))[0]
            raise OwnCodeError(
                f"{self._title}: gives {actions[row, column]} as actions[{row}, {column}], "
                f"expected finite numbers"
            )
        if actions.dtype.kind == "f":
            controls_given = as_actions(actions, action_buffer(shape, "continuous"))
            # Beyond its range a rudder would be read as the mark of an order.
            return np.concatenate(
                [controls_given[:, :1].clip(-1, 1), controls_given[:, 1:]], axis=1
            )
        try:
            buffer = action_buffer(shape, "discrete")
            levels = as_actions(actions, buffer, levels=levels_of(features))
        except ValueError as error:
            raise OwnCodeError(f"{self._title}: gives {error}") from None
        return controls(levels, controls_of(features), bool(rows_of(features)))

    def try_out(self, features: int) -> None:
        """Checks the function's actions for observations of 0.5, once for each number of features.

        Raises:
            OwnCodeError: As for a call.
        """
        if features not in self._tried:
            # Not of zeros, at which a quotient of features is no number.
            self(np.full((ROWS, features), 0.5, np.float32))
            self._tried.add(features)


class FunctionPlayer:
    """A function that flies fighters, with the methods of `player.Player`.

    Args:
        function: the function.
    """

    features, any_size = 0, True  # it takes observations of any length
    label = "a function"

    def __init__(self, function: OwnPilot) -> None:
        self._function = function

    def reset(self, envs: np.ndarray) -> None:
        """Does nothing: a function has no memory."""

    def act(self, observations: np.ndarray, envs: np.ndarray) -> np.ndarray:
        """Returns the next controls, as `Player.act`."""
        return self._function(observations)

    def snapshot(self) -> None:
        """Returns nothing: a function has no memory."""

    def restore(self, snapshot: None) -> None:
        """Does nothing: a function has no memory."""


def name_of(function: Function) -> str:
    """Returns the name of a function or another callable object."""
    return getattr(function, "__name__", type(function).__name__)
