"""Odd arguments for a call: numbers, arrays and other objects that nobody should give."""

import math
import random

import numpy as np

ODD_OBJECTS = (
    None, True, False, -1, 0, 1, 2, 3, 2**20 + 1, 2**31, 2**31 - 1, -(2**31), 2**63, 2**64, 10**400,
    0.5, -0.0, 1e7, 1e38, -1e38, 1e300, math.nan, math.inf, -math.inf, 1j, "", "x", "0", b"\0",
    "red_0", "straight", (), [], [[]], {}, {"x": 1}, {"range": math.nan}, {"engagement": 2**40},
    np.float32("nan"), np.int64(-1), np.uint64(2**64 - 1), np.array(2), np.array([]), np.str_("1"),
    object, ..., slice(None), range(3), lambda *_: 0,
)  # fmt: skip


def thing(rng: random.Random) -> object:
    """Returns any object."""
    return rng.choice(ODD_OBJECTS)


def index(rng: random.Random, count: int) -> object:
    """Returns an index of `count` things: mostly a valid one."""
    return rng.randrange(count) if rng.random() < 0.6 else thing(rng)


def array(rng: random.Random, shape: tuple[int, ...], dtype: type) -> object:
    """Returns a value in place of an array: often of the wanted shape and dtype, but odd."""
    numbers = np.random.default_rng(rng.randrange(2**32))
    values = np.asarray(numbers.integers(-3, 6, shape), dtype)
    way = rng.choice(_WAYS)
    return way(values, rng)


def _wild(values: np.ndarray, rng: random.Random) -> np.ndarray:
    if values.dtype.kind == "f":
        odd = [math.nan, math.inf, -math.inf, 3e38, 1e-45]
    else:
        odd = [-(2**31), 2**31 - 1] if values.dtype.itemsize == 4 else [0]
    values.flat[:: rng.randint(1, 3)] = rng.choice(odd)
    return values


def _shaped(values: np.ndarray, rng: random.Random) -> np.ndarray:
    shape = [max(side + rng.choice((-1, 0, 1)), 0) for side in values.shape]
    return np.resize(values, rng.choice((shape, shape[:-1], [1, *shape], [0, *shape], ())))


def _typed(values: np.ndarray, rng: random.Random) -> np.ndarray:
    kinds = (np.int8, np.int64, np.uint64, np.float16, np.float32, np.float64, bool, complex,
             object, "U4", ">i4", ">f4", "V4", "M8[s]")  # fmt: skip
    kind = rng.choice(kinds)
    try:
        return values.astype(kind)
    except (TypeError, ValueError):
        return np.zeros(values.shape, kind)


def _strided(values: np.ndarray, rng: random.Random) -> np.ndarray:
    ways = (
        lambda: np.asfortranarray(values),
        lambda: np.repeat(values, 2, axis=-1)[..., ::2],
        lambda: values[::-1],
        lambda: np.broadcast_to(values.flat[0] if values.size else 0, values.shape),
    )
    return rng.choice(ways)()


def _at_odd_address(values: np.ndarray, rng: random.Random) -> np.ndarray:
    room = np.zeros(values.nbytes + 8, np.uint8)
    at = rng.randint(1, 3)
    view = room[at : at + values.nbytes].view(values.dtype).reshape(values.shape)
    view[...] = values
    return view


def _read_only(values: np.ndarray, rng: random.Random) -> np.ndarray:
    values.flags.writeable = False
    return values


class _Liar(np.ndarray):
    """An array that says that it is another."""

    def __array__(self, *args: object, **kwargs: object) -> np.ndarray:
        return np.zeros((1, 1), np.float64)

    def __array_finalize__(self, other: object) -> None:
        pass


_WAYS = (
    lambda values, rng: values,
    _wild,
    _wild,
    _shaped,
    _typed,
    _strided,
    _at_odd_address,
    _read_only,
    lambda values, rng: values.view(_Liar),
    lambda values, rng: np.ma.masked_array(values, mask=True),
    lambda values, rng: memoryview(values),
    lambda values, rng: values.tolist(),
    lambda values, rng: values.tobytes(),
    lambda values, rng: thing(rng),
)
