"""The law of height in C, compiled as a library and flown through ctypes."""

import ctypes
from collections.abc import Sequence
from ctypes import byref, c_double, c_float, c_int

import numpy as np
from places import GOLDEN

GRAVITY = 9.8
TRACES = GOLDEN / "height"
AIRCRAFT, MISSILE = "light", "medium"


class Vector(ctypes.Structure):
    _fields_ = [(name, c_float) for name in "xyz"]


class Body(ctypes.Structure):
    """A body: position [m], direction, speed [m/s], and a fighter's actuators."""

    _fields_ = [
        ("position", Vector),
        ("direction", Vector),
        *((name, c_float) for name in ("v", "rudder", "climb", "throttle")),
    ]

    def array(self) -> np.ndarray:
        """Returns the ten numbers as float64: x y z dx dy dz v rudder climb throttle."""
        return np.frombuffer(self, np.float32).astype(np.float64)


class _Setting(ctypes.Structure):
    _fields_ = [
        ("gravity", c_double),
        *((name, c_float) for name in ("dt", "rudder_step", "climb_step", "throttle_step")),
    ]


class Law:
    """The law with some fields of the types changed.

    Args:
        library: of tests/support/height_flight.c.
        dt: length of a step [s].
        gravity: [m/s^2].
        rates: of the actuators rudder, climb and throttle [1/s].
        aircraft, missile: fields by name.
    """

    def __init__(
        self,
        library: ctypes.CDLL,
        dt: float = 0.1,
        gravity: float = GRAVITY,
        rates: Sequence[float] = (2, 2, 1),
        aircraft: dict[str, float] | None = None,
        missile: dict[str, float] | None = None,
    ) -> None:
        self._c, self.dt, self.gravity = library, dt, gravity
        self._set = _Setting(gravity, dt, *(rate * dt for rate in rates))
        self.aircraft = fields(library, AIRCRAFT) | (aircraft or {})
        self.missile = fields(library, MISSILE) | (missile or {})
        self._aircraft, self._missile = (
            (c_float * len(values))(*values.values()) for values in (self.aircraft, self.missile)
        )

    def air(self, z: float) -> tuple[float, float, float]:
        """Returns thin, density and 1/c^2 [s^2/m^2]."""
        out = (c_float * 3)()
        self._c.air(c_float(z), out)
        return tuple(out)

    def performance(
        self, z: float, v: float, throttle: float = 1.0, lift: float = GRAVITY
    ) -> tuple[float, float, float, float]:
        """Returns zero-lift drag [1/m], lift limit, thrust [m/s^2], and D/v [1/s]."""
        out = (c_float * 4)()
        numbers = (c_float(one) for one in (z, v, throttle, lift))
        self._c.performance(self._aircraft, c_double(self.gravity), *numbers, out)
        return tuple(out)

    def missile_drag(self, mach: float) -> float:
        """Returns a missile's zero-lift drag at sea level [1/m]."""
        self._c.missile_drag.restype = c_float
        return self._c.missile_drag(self._missile, c_double(self.gravity), c_float(mach**2))

    def fly(self, body: Body, command: Sequence[float], steps: int) -> Body:
        """Flies a fighter with constant commands rudder, climb, throttle, in place."""
        self._c.fly_fighter(
            self._aircraft, byref(self._set), byref(body), (c_float * 3)(*command), c_int(steps)
        )
        return body

    def shoot(
        self, body: Body, age: int, asked: Sequence[float] | None = None, target: Body | None = None
    ) -> Body:
        """Flies a missile of an age in steps for one step, in place: a given lift, or guided."""
        lift = byref(Vector(*asked)) if asked is not None else None
        aim = byref(target if target is not None else Body())
        self._c.fly_missile(self._missile, byref(self._set), byref(body), lift, aim, c_int(age))
        return body

    def guide(
        self, sight: Sequence[float], drift: Sequence[float], direction: Sequence[float], v: float
    ) -> np.ndarray:
        """Returns the lift that a missile's guidance asks for, [3]."""
        asked = Vector()
        vectors = (byref(Vector(*one)) for one in (sight, drift, direction))
        self._c.guide(self._missile, c_double(self.gravity), *vectors, c_float(v), byref(asked))
        return np.array([asked.x, asked.y, asked.z])

    def least_range(self, a: Sequence[float], b: Sequence[float]) -> float:
        """Returns the least range while the line of sight goes from a to b [m]."""
        self._c.least_range2.restype = c_float
        return float(np.sqrt(self._c.least_range2(byref(Vector(*a)), byref(Vector(*b)))))


def body(
    position: Sequence[float] = (0, 0, 5000),
    direction: Sequence[float] = (1, 0, 0),
    v: float = 300,
    rudder: float = 0,
    climb: float = 0,
    throttle: float = 1,
) -> Body:
    """Returns a body, in the direction that is given in any length."""
    unit = np.asarray(direction, float) / np.linalg.norm(direction)
    return Body(Vector(*position), Vector(*unit), v, rudder, climb, throttle)


def fields(library: ctypes.CDLL, name: str) -> dict[str, float]:
    """Returns the fields of a type of aircraft or missile, in their order."""
    kind = "aircraft" if name in types(library, "aircraft") else "missile"
    names = [*_names(library, "airframe_names"), *_names(library, f"{kind}_names")]
    table = getattr(library, f"{kind}_types")
    table.restype = ctypes.POINTER(c_float * len(names))
    values = table()[types(library, kind).index(name)]
    return dict(zip(names, (round(value, 6) for value in values), strict=True))


def types(library: ctypes.CDLL, kind: str) -> list[str]:
    """Returns the names of all types of a kind, "aircraft" or "missile"."""
    return _names(library, f"{kind}_type_names")


def limits(library: ctypes.CDLL, kind: str) -> dict[str, tuple[float, float]]:
    """Returns the least and the greatest value of each field of a kind of types."""
    found = {}
    for group in ("airframe", kind):
        names = _names(library, f"{group}_names")
        values = (c_float * 2 * len(names)).in_dll(library, f"{group}_limits")
        found |= {name: tuple(pair) for name, pair in zip(names, values, strict=True)}
    return found


def _names(library: ctypes.CDLL, array: str) -> list[str]:
    names, count = [], 0
    while text := (ctypes.c_char_p * (count + 1)).in_dll(library, array)[count]:
        names.append(text.decode())
        count += 1
    return names
