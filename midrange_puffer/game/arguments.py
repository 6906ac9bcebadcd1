"""Checks of arguments that are no parameters: choices, seeds, numbers of engagements, threads."""

import inspect
import math
import numbers
from collections.abc import Callable, Sequence

from midrange_puffer import _core
from midrange_puffer._threads import MAX_THREADS
from midrange_puffer.game.actions import ORDERS
from midrange_puffer.game.parameter_table import OPTIONS, SUBORDINATE
from midrange_puffer.names import suggest


def keywords(function: Callable[..., object]) -> list[str]:
    """Returns the names of a function's or class's arguments, without its `**` argument."""
    arguments = inspect.signature(function).parameters.values()
    return [item.name for item in arguments if item.kind is not inspect.Parameter.VAR_KEYWORD]


def finite(value: object) -> float | None:
    """Returns a finite number as a float; None for anything else."""
    if not isinstance(value, numbers.Real) or isinstance(value, bool):
        return None
    try:
        number = float(value)
    except OverflowError:
        return None
    return number if math.isfinite(number) else None


def one_of(name: str, value: object, choices: Sequence[str]) -> str:
    """Returns a value that must be one of the choices; ValueError if it is not."""
    if not isinstance(value, str) or value not in choices:
        raise ValueError(
            f"{name} = {value!r}: must be {' or '.join(choices)}{suggest(str(value), choices)}"
        )
    return value


def checked_choice(name: str, value: str) -> str:
    """Returns the value of an option that has choices.

    Raises:
        ValueError: It is not one of them.
    """
    return one_of(name, value, OPTIONS[name].choices)


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


def checked_order_cost(order_cost: float, agents: str) -> float:
    """Returns the cost of a decision against an order.

    Raises:
        ValueError: It is not a number in its range, or is given to agents that follow no orders.
    """
    option, number = OPTIONS["order_cost"], finite(order_cost)
    low, high = option.minimum or 0, option.maximum or 0
    if number is None or not low <= number <= high:
        raise ValueError(f"order_cost = {order_cost!r}: must be a number from {low:g} to {high:g}")
    if agents != SUBORDINATE and number != option.default:
        raise ValueError(
            f"order_cost = {order_cost}: needs agents = {SUBORDINATE}, and this is agents = "
            f"{agents}"
        )
    return number


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
