"""How an engagement stands at any time of its tracks, between two decisions, too."""

import math
from dataclasses import dataclass

import numpy as np

from midrange_puffer.game.paths import FLYING, FighterTrack, MissileTrack, Track, Tracks

STEPS = 3  # of a trail, from one entry of its track to the next


@dataclass(frozen=True)
class Body:
    """A fighter or missile at one time.

    Attributes:
        track: It is of.
        index: Of the track's last entry until then.
        place: [2] in the plane [m].
        heading: Counter-clockwise from +x [rad].
        speed: [m/s]
        rudder: -1 (right) to 1 (left).
        load: Positive to the left [g].
    """

    track: Track
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
        past = np.column_stack([self.track.x[:end], self.track.y[:end]])
        headings = [*self.track.heading[:end], self.heading]
        points = np.vstack([past, self.place])
        steps = curves(points, np.array(headings), np.arange(1, STEPS + 1) / STEPS)
        return np.vstack([points[:1], steps.reshape(-1, 2)])


@dataclass(frozen=True)
class Fighter(Body):
    """Besides: `alive`, `throttle` position and `ammo`, missiles left."""

    track: FighterTrack
    alive: bool
    throttle: float
    ammo: int


@dataclass(frozen=True)
class Missile(Body):
    """Besides: whether it is `flying`, and whether its motor is `burning`."""

    track: MissileTrack
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


def moment(tracks: Tracks, time: float | None = None) -> Moment:
    """An engagement at a time [s], by default the last one noted."""
    time = tracks.time if time is None else min(max(time, 0.0), tracks.time)
    fighters = tuple(_fighter(track, time) for track in tracks.fighters)
    missiles = tuple(
        _missile(track, time) for track in tracks.missiles if track.at(time) is not None
    )
    return Moment(time, fighters, missiles)


def _fighter(track: FighterTrack, time: float) -> Fighter:
    body = _body(track, time)
    alive = track.died is None or time < track.died
    index = body["index"]
    return Fighter(**body, alive=alive, throttle=track.throttle[index], ammo=track.ammo[index])


def _missile(track: MissileTrack, time: float) -> Missile:
    flying = time < track.times[-1] or track.fate == FLYING
    return Missile(**_body(track, time), flying=flying, burning=time < track.burnt_out)


def _body(track: Track, time: float) -> dict[str, object]:
    """The fields of a `Body`."""
    index = track.at(time)
    after = min(index + 1, len(track.times) - 1)
    length = track.times[after] - track.times[index]
    share = min((time - track.times[index]) / length, 1.0) if length else 0.0

    def between(values: list[float]) -> float:
        return values[index] + share * (values[after] - values[index])

    points = np.array([(track.x[i], track.y[i]) for i in (index, after)])
    headings = [track.heading[i] for i in (index, after)]
    turn = math.remainder(headings[1] - headings[0], math.tau)
    return {
        "track": track,
        "index": index,
        "place": curves(points, np.array(headings), np.array([share]))[0, 0],
        "heading": headings[0] + share * turn,
        "speed": between(track.speed),
        "rudder": between(track.rudder),
        "load": between(track.load),
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
