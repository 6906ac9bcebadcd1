"""How an engagement stands at any time of its paths, between two decisions, too."""

import math
from dataclasses import dataclass

import numpy as np

from midrange_puffer.game.paths import FLYING, BodyPath, FighterPath, MissilePath, Paths

STEPS = 3  # of a trail, from one entry of its path to the next


@dataclass(frozen=True)
class Body:
    """A fighter or missile at one time.

    Attributes:
        path: It is of.
        index: Of the path's last entry until then.
        place: [2] in the plane [m].
        heading: Counter-clockwise from +x [rad].
        speed: [m/s]
        rudder: -1 (right) to 1 (left).
        load: Positive to the left [g].
    """

    path: BodyPath
    index: int
    place: np.ndarray
    heading: float
    speed: float
    rudder: float
    load: float

    @property
    def trail(self) -> np.ndarray:
        """The curve it has flown, [n, 2], up to where it is."""
        end = self.index + 1
        past = np.column_stack([self.path.x[:end], self.path.y[:end]])
        headings = [*self.path.heading[:end], self.heading]
        points = np.vstack([past, self.place])
        steps = curves(points, np.array(headings), np.arange(1, STEPS + 1) / STEPS)
        return np.vstack([points[:1], steps.reshape(-1, 2)])


@dataclass(frozen=True)
class Fighter(Body):
    """Besides: `alive`, `throttle` position and `ammo`, missiles left."""

    path: FighterPath
    alive: bool
    throttle: float
    ammo: int


@dataclass(frozen=True)
class Missile(Body):
    """Besides: whether it is `flying`, and whether its motor is `burning`."""

    path: MissilePath
    flying: bool
    burning: bool


@dataclass(frozen=True)
class Moment:
    """Both fighters, and all missiles launched until `time` [s]."""

    time: float
    fighters: tuple[Fighter, Fighter]
    missiles: tuple[Missile, ...]

    @property
    def range(self) -> float:
        """Between the fighters [m]."""
        red, blue = self.fighters
        return math.dist(red.place, blue.place)


def moment(paths: Paths, time: float | None = None) -> Moment:
    """An engagement at a time [s], by default the last one noted."""
    time = paths.time if time is None else min(max(time, 0.0), paths.time)
    fighters = tuple(_fighter(path, time) for path in paths.fighters)
    missiles = tuple(_missile(path, time) for path in paths.missiles if path.at(time) is not None)
    return Moment(time, fighters, missiles)


def _fighter(path: FighterPath, time: float) -> Fighter:
    body = _body(path, time)
    alive = path.died is None or time < path.died
    index = body["index"]
    # A launch is at an entry and missing only in the next one: none is aboard and in the air.
    ammo = path.ammo[min(index + 1, len(path.ammo) - 1)]
    return Fighter(**body, alive=alive, throttle=path.throttle[index], ammo=ammo)


def _missile(path: MissilePath, time: float) -> Missile:
    flying = time < path.times[-1] or path.fate == FLYING
    return Missile(**_body(path, time), flying=flying, burning=time < path.burnt_out)


def _body(path: BodyPath, time: float) -> dict[str, object]:
    """The fields of a `Body`."""
    index = path.at(time)
    after = min(index + 1, len(path.times) - 1)
    length = path.times[after] - path.times[index]
    share = min((time - path.times[index]) / length, 1.0) if length else 0.0

    def between(values: list[float]) -> float:
        return values[index] + share * (values[after] - values[index])

    points = np.array([(path.x[i], path.y[i]) for i in (index, after)])
    headings = [path.heading[i] for i in (index, after)]
    turn = math.remainder(headings[1] - headings[0], math.tau)
    return {
        "path": path,
        "index": index,
        "place": curves(points, np.array(headings), np.array([share]))[0, 0],
        "heading": headings[0] + share * turn,
        "speed": between(path.speed),
        "rudder": between(path.rudder),
        "load": between(path.load),
    }


def curves(points: np.ndarray, headings: np.ndarray, shares: np.ndarray) -> np.ndarray:
    """What a body flies from each point to the next (cubic Hermite, tangents as long as the leg).

    Args:
        points: [n, 2] in the plane [m].
        headings: [n] it has there [rad].
        shares: [k], of the way from one to the next.

    Returns:
        [n - 1, k, 2]
    """
    legs = np.diff(points, axis=0)
    tangents = np.column_stack([np.cos(headings), np.sin(headings)])
    lengths = np.linalg.norm(legs, axis=1, keepdims=True)
    leaving, arriving = lengths * tangents[:-1], lengths * tangents[1:]
    s = shares[:, None]
    return (
        points[:-1, None]
        + (s * s * (3 - 2 * s)) * legs[:, None]
        + (s * (1 - s) ** 2) * leaving[:, None]
        - (s * s * (1 - s)) * arriving[:, None]
    )
