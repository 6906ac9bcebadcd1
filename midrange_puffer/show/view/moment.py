"""How an engagement stands at any time of its paths, between two decisions, too.

With sensors it may be shown as one side knows it: then the enemy is a `Contact`, of missiles there
are the own ones, and of the others what the receiver says of them.
"""

import math
from dataclasses import dataclass, replace

import numpy as np

from midrange_puffer.game.contact_path import SILENT, TRACKED, TRACKS, UNSEEN, ContactPath
from midrange_puffer.game.paths import (
    ACTIVE,
    FLYING,
    HIT,
    BodyPath,
    FighterPath,
    MissilePath,
    Paths,
)

GONE = "gone"  # how a missile's flight has ended, for a side that is not told
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

    @property
    def seat(self) -> int:
        """Red (0) or blue (1)."""
        return self.path.side


@dataclass(frozen=True)
class Contact:
    """What a side knows of its enemy at one time.

    Attributes:
        path: It is of.
        index: Of the path's last entry until then.
        place: [2] in the plane, where it is believed to be, or was lost [m].
        age: Since it was last seen [s].
    """

    path: ContactPath
    index: int
    place: np.ndarray
    age: float

    @property
    def seat(self) -> int:
        """The enemy's: red (0) or blue (1)."""
        return self.path.enemy

    @property
    def source(self) -> int:
        """What it rests on, an index into `SOURCES`."""
        return self.path.source[self.index]

    @property
    def is_known(self) -> bool:
        """Whether there has been a track: until then it is nowhere."""
        return self.source != UNSEEN

    @property
    def alive(self) -> bool:
        """Whether there is a track. Nobody is told of a kill."""
        return self.source in TRACKS

    @property
    def heading(self) -> float:
        """Counter-clockwise from +x [rad]."""
        return self.path.heading[self.index]

    @property
    def speed(self) -> float:
        """As it is believed [m/s]."""
        return self.path.speed[self.index]

    @property
    def tracks(self) -> list[np.ndarray]:
        """The curves on which it has been tracked until now, [n, 2] each."""
        end = self.index + 1
        source = np.array(self.path.source[:end])
        places = np.column_stack([self.path.x[:end], self.path.y[:end]])
        breaks = np.flatnonzero(np.diff(np.isin(source, TRACKS))) + 1
        parts = zip(np.split(places, breaks), np.split(source, breaks), strict=True)
        return [places for places, sources in parts if sources[0] in TRACKS]


@dataclass(frozen=True)
class Missile(Body):
    """Besides: whether it is `flying`, and whether its motor is `burning`."""

    path: MissilePath
    flying: bool
    burning: bool

    @property
    def guided(self) -> int:
        """What it flies at: ALONE, SUPPORTED or ACTIVE."""
        return self.path.guided[self.index]


@dataclass(frozen=True)
class ReceiverWarning:
    """What the receiver of a side tells: where from, and of what.

    Attributes:
        bearing: Counter-clockwise from +x [rad].
        is_seeker: A missile's seeker with a lock; else the enemy's radar.
        is_tracking: Whether that has a track.
    """

    bearing: float
    is_seeker: bool
    is_tracking: bool


@dataclass(frozen=True)
class Moment:
    """Both fighters, and all missiles launched until `time` [s].

    As a side knows it: the enemy's place among the fighters is a contact's, the missiles are the
    own ones, and there are the `warnings` of the own receiver.
    """

    time: float
    fighters: tuple[Fighter | Contact, Fighter | Contact]
    missiles: tuple[Missile, ...]
    warnings: tuple[ReceiverWarning, ...] = ()

    @property
    def known(self) -> list[Fighter | Contact]:
        """The fighters of which it is known where they are or were."""
        return [one for one in self.fighters if isinstance(one, Fighter) or one.is_known]

    @property
    def range(self) -> float | None:
        """Between the fighters [m]; None where the enemy is not tracked."""
        red, blue = self.fighters
        if any(isinstance(one, Contact) and not one.alive for one in self.fighters):
            return None
        return math.dist(red.place, blue.place)


def moment(paths: Paths, time: float | None = None, side: int | None = None) -> Moment:
    """An engagement at a time [s], by default the last one noted.

    Args:
        side: The seat as which it is known; None: as it is.
    """
    time = paths.time if time is None else min(max(time, 0.0), paths.time)
    fighters = [_fighter(path, time) for path in paths.fighters]
    missiles = tuple(_missile(path, time) for path in paths.missiles if path.at(time) is not None)
    if side is None:
        return Moment(time, tuple(fighters), missiles)
    own = fighters[side]
    contact = fighters[1 - side] = _contact(paths.contacts[side], time)
    warnings = _warnings(own, contact, missiles) if own.alive else ()
    mine = tuple(_untold(missile) for missile in missiles if missile.path.owner == side)
    return Moment(time, tuple(fighters), mine, warnings)


def _untold(missile: Missile) -> Missile:
    """A missile as its side knows it: of one that is gone nobody says whether it has hit."""
    path = missile.path
    if missile.flying or path.fate == GONE:
        return missile
    before = max(missile.index - 1, 0) if path.fate == HIT else missile.index
    place = np.array([path.x[before], path.y[before]])
    fields = vars(missile) | {"path": replace(path, fate=GONE), "index": before, "place": place}
    return Missile(**fields)


def _contact(path: ContactPath, time: float) -> Contact:
    index = path.at(time)
    since = time - path.times[index]
    place = np.array([path.x[index], path.y[index]])
    if path.source[index] in TRACKS:  # it is believed to fly straight on
        heading = path.heading[index]
        place = place + since * path.speed[index] * np.array([math.cos(heading), math.sin(heading)])
    return Contact(path, index, place, path.age[index] + since)


def _warnings(
    own: Fighter, contact: Contact, missiles: tuple[Missile, ...]
) -> tuple[ReceiverWarning, ...]:
    """Of the enemy's radar, and of all missiles with a lock on the own fighter."""
    heard = contact.path.heard[contact.index]
    found = []
    if heard != SILENT:
        bearing = contact.path.bearing[contact.index]
        found.append(ReceiverWarning(bearing, is_seeker=False, is_tracking=heard == TRACKED))
    for missile in missiles:
        is_locked = missile.flying and missile.guided == ACTIVE
        if is_locked and missile.path.target == own.path.number:
            dx, dy = missile.place - own.place
            bearing = math.atan2(dy, dx)
            found.append(ReceiverWarning(bearing, is_seeker=True, is_tracking=True))
    return tuple(found)


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
