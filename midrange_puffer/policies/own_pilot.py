"""Pilots of the user's own: functions that fly a seat, given by name or from Python."""

from collections.abc import Callable

import numpy as np

from midrange_puffer.game.actions import action_buffer, as_actions, controls
from midrange_puffer.game.observation import rows_of
from midrange_puffer.policies import own_code
from midrange_puffer.policies.own_code import OwnCodeError

# Observations float32 [n, features], which change afterwards -> actions [n, 3].
Function = Callable[[np.ndarray], np.ndarray]
ROWS = 3  # engagements that a function is tried with


class OwnPilot:
    """A function, every answer of which is checked.

    Whole numbers are levels of rudder, throttle and fire, 0..4, 0..2 and 0..1. Others are controls:
    rudder -1 (right) to 1 (left), throttle 0 to 1, and fire, above 0.5.

    Args:
        given: the function, or its name, `module:name` or `file.py:name`.

    Raises:
        OwnCodeError: It cannot be imported, or is no function.
    """

    def __init__(self, given: str | Function) -> None:
        is_name = isinstance(given, str)
        name = given if is_name else name_of(given)
        self._function = own_code.load(given) if is_name else given
        if isinstance(self._function, type) or not callable(self._function):
            raise OwnCodeError(
                f"{name}: is {own_code.in_words(self._function)}, expected a function: "
                f"observations float32 [n, features] -> actions [n, 3]"
            )
        self.__name__ = name.rpartition(":")[2]
        code = getattr(self._function, "__code__", None)
        where = f" ({code.co_filename}, line {code.co_firstlineno})" if code else ""
        self._who = f"opponent {name}{where}"
        self._tried: set[int] = set()  # with how many features

    def __call__(self, observations: np.ndarray) -> np.ndarray:
        """Controls float32 [n, 3] for observations float32 [n, features].

        Raises:
            OwnCodeError: The function fails, or gives what are no actions.
        """
        try:
            answer = np.asarray(self._function(observations))
        except Exception as error:  # whatever the user's code may raise
            raise OwnCodeError(f"{self._who}: {own_code.where_raised(error)}") from error
        shape = (len(observations), 3)
        if answer.dtype.kind not in "iuf" or answer.shape != shape:
            raise OwnCodeError(
                f"{self._who}: gives actions of shape {answer.shape} and type {answer.dtype}, "
                f"expected {shape}, whole numbers (levels) or others (controls)"
            )
        if not np.isfinite(answer).all():
            row, column = np.argwhere(~np.isfinite(answer))[0]
            raise OwnCodeError(
                f"{self._who}: gives {answer[row, column]} as actions[{row}, {column}], expected "
                f"finite numbers"
            )
        if answer.dtype.kind == "f":
            return as_actions(answer, action_buffer(shape, "continuous"))
        levels = as_actions(answer, action_buffer(shape, "discrete"))
        return controls(levels, in_team=bool(rows_of(observations.shape[1])))

    def try_out(self, features: int) -> None:
        """Let it answer observations of zeros, and look at the answer; once for so many features.

        Raises:
            OwnCodeError: As of a call.
        """
        if features not in self._tried:
            self(np.zeros((ROWS, features), np.float32))
            self._tried.add(features)


class FunctionPlayer:
    """A function at the controls, as `player.Player` is a policy there.

    Args:
        function: of `Function`.
        action_mode: of its actions.
    """

    features, any_size = 0, True  # it is given all that there are

    def __init__(self, function: Function, action_mode: str = "continuous") -> None:
        self._function, self._action_mode = function, action_mode
        self._name = name_of(function)

    def reset(self, envs: np.ndarray) -> None:
        """As `Player.reset`; there is nothing to forget."""

    def act(self, observations: np.ndarray, envs: np.ndarray) -> np.ndarray:
        """As `Player.act`."""
        answer = self._function(observations)
        buffer = action_buffer((len(observations), 3), self._action_mode)
        actions = as_actions(answer, buffer, f"opponent {self._name}: actions")
        if self._action_mode == "continuous":
            return actions
        return controls(actions, in_team=bool(rows_of(observations.shape[1])))

    def snapshot(self) -> None:
        """As `Player.snapshot`: a function remembers nothing."""

    def restore(self, snapshot: None) -> None:
        """As `Player.restore`."""


def name_of(function: Function) -> str:
    """What a function, or an object that can be called, is called."""
    return getattr(function, "__name__", type(function).__name__)
