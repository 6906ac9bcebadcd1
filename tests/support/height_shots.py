"""Shots with height, and the ranges from which they hit."""

import height_flyouts as flyouts
import numpy as np

from midrange_puffer import _core
from midrange_puffer.game.envelope import find_edges, limits_of, relevant
from midrange_puffer.game.flown_types import flown_types
from midrange_puffer.game.parameters import resolve, seat_weights

GAME = {"dimensions": 3}


def core(**game) -> _core.Core:
    parameters = resolve(GAME | game)
    seats = [seat_weights({"agent": 1.0})] * 2
    types = flown_types(parameters)
    return _core.Core(parameters, 1, 0, seats, False, "auto", None, "height", 1, types)


def shots(count: int, aspect: tuple[float, float] = (1, 0), z: float = 5000) -> np.ndarray:
    """Returns shots with the nose on a target at the same height, both at 300 m/s."""
    out = np.zeros(count, _core.SHOT)
    out["nose"], out["aspect"] = (1, 0), aspect
    out["launch_speed"] = out["target_speed"] = flyouts.SPEED
    out["height"] = out["target_height"] = z
    return out


def edges(game: dict, some: np.ndarray) -> dict[str, np.ndarray]:
    values = relevant(resolve(GAME | game))
    limits = limits_of(values, some["aspect"], [500.0], [500.0]).ravel()
    return vars(find_edges(values, some, limits))
