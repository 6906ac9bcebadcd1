"""How an engagement stands at any time of its paths, between two decisions, too.

With sensors it may be shown as one side knows it: then enemies are each a `Contact`, of missiles
there are the own ones, and of the others what the receivers say of them.
"""

import math
from collections.abc import Sequence
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
        return self.tail(0)

    def tail(self, first: int) -> np.ndarray:
        """The end of that curve, from an entry of its path on; STEPS points an entry."""
        end = self.index + 1
        past = np.column_stack([self.path.x[first:end], self.path.y[first:end]])
        headings = [*self.path.heading[first:end], self.heading]
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
    def number(self) -> int:
        """Which fighter it is."""
        return self.path.number

    @property
    def side(self) -> int:
        """Red (0) or blue (1)."""
        return self.path.side


@dataclass(frozen=True)
class Contact:
    """What a side knows of an enemy at one time.

    Attributes:
        path: It is of.
        side: The enemy's: red (0) or blue (1).
        index: Of the path's last entry until then.
        place: [2] in the plane, where it is believed to be, or was lost [m].
        age: Since it was last seen [s].
    """

    path: ContactPath
    side: int
    index: int
    place: np.ndarray
    age: float

    @property
    def number(self) -> int:
        """Which fighter the enemy is."""
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
    def target(self) -> int:
        """The fighter that it flies at, or did at its end."""
        return self.path.targets[self.index]

    @property
    def guided(self) -> int:
        """What it flies at: ALONE, SUPPORTED or ACTIVE."""
        return self.path.guided[self.index]


@dataclass(frozen=True)
class ReceiverWarning:
    """What the receiver of a fighter tells: where from, and of what.

    Attributes:
        fighter: Whose receiver it is.
        bearing: Counter-clockwise from +x [rad].
        is_seeker: A missile's seeker with a lock; else the enemy's radar.
        is_tracking: Whether that has a track.
    """

    fighter: int
    bearing: float
    is_seeker: bool
    is_tracking: bool


@dataclass(frozen=True)
class Moment:
    """All fighters, in the order of their numbers, and all missiles launched until `time` [s].

    As a side knows it: the enemies' places among the fighters are contacts', the missiles are the
    own ones, and there are the `warnings` of the own receivers.
    """

    time: float
    fighters: tuple[Fighter | Contact, ...]
    missiles: tuple[Missile, ...]
    warnings: tuple[ReceiverWarning, ...] = ()

    @property
    def known(self) -> list[Fighter | Contact]:
        """The fighters of which it is known where they are or were."""
        return [one for one in self.fighters if isinstance(one, Fighter) or one.is_known]

    @property
    def is_team(self) -> bool:
        """Whether there are more than two."""
        return len(self.fighters) > 2

    def range(self, one: int, other: int) -> float | None:
        """Between two fighters [m]; None where one of them is an enemy that is not tracked."""
        pair = self.fighters[one], self.fighters[other]
        if any(isinstance(each, Contact) and not each.alive for each in pair):
            return None
        return math.dist(*(each.place for each in pair))

    def enemies(self, fighter: int) -> list[int]:
        """The enemies of a fighter that live, the nearest first; not those that nobody tracks."""
        own = self.fighters[fighter]
        found = [one.number for one in self.fighters if one.side != own.side and one.alive]
        return sorted(found, key=lambda number: self.range(fighter, number))

    def inbound(self, fighter: int) -> list[Missile]:
        """The missiles in the air that fly at a fighter, the nearest first."""
        own = self.fighters[fighter]
        found = [one for one in self.missiles if one.flying and one.target == fighter]
        return sorted(found, key=lambda one: math.dist(one.place, own.place))

    def since(self, missile: Missile) -> float:
        """How long ago a missile has ended [s]; below 0 while it flies."""
        return self.time - missile.path.times[-1]

    def side_of(self, fighter: int) -> int:
        """Red (0) or blue (1)."""
        return self.fighters[fighter].side

    def foe(self, fighter: int) -> int:
        """Whom it has to think of: of whom the nearest missile is, or else the nearest enemy.

        Where nobody is left to fight, the enemy that lived longest.
        """
        if not self.is_team:
            return 1 - fighter
        if found := self.inbound(fighter):
            return found[0].path.owner
        if found := self.enemies(fighter):
            return found[0]
        own = self.fighters[fighter]
        dead = [one for one in self.fighters if one.side != own.side]
        return max(dead, key=lambda one: one.path.times[one.index]).number


@dataclass(frozen=True)
class Focus:
    """Whom a picture is drawn for.

    Attributes:
        fighter: The one that it follows.
        foe: The enemy that it has to think of.
        target: The enemy that its next shot is at.
    """

    fighter: int
    foe: int
    target: int


def moment(paths: Paths, time: float | None = None, side: int | None = None) -> Moment:
    """An engagement at a time [s], by default the last one noted.

    Args:
        side: As which it is known, red (0) or blue (1); None: as it is.
    """
    time = paths.time if time is None else min(max(time, 0.0), paths.time)
    fighters = [_fighter(path, time) for path in paths.fighters]
    missiles = tuple(_missile(path, time) for path in paths.missiles if path.at(time) is not None)
    if side is None:
        return Moment(time, tuple(fighters), missiles)
    own = [fighter for fighter in fighters if fighter.side == side]
    numbers = [fighter.number for fighter in own]
    contacts = [
        _contact(path, 1 - side, time) for path in paths.contacts if path.fighter in numbers
    ]
    for contact in sorted(contacts, key=lambda one: (one.alive, -one.age)):  # the best comes last
        fighters[contact.number] = contact
    warnings = [
        warning for one in own if one.alive for warning in _warnings(one, contacts, missiles)
    ]
    mine = tuple(_untold(missile) for missile in missiles if missile.path.owner in numbers)
    return Moment(time, tuple(fighters), mine, tuple(warnings))


def _untold(missile: Missile) -> Missile:
    """A missile as its side knows it: of one that is gone nobody says whether it has hit."""
    path = missile.path
    if missile.flying or path.fate == GONE:
        return missile
    before = max(missile.index - 1, 0) if path.fate == HIT else missile.index
    place = np.array([path.x[before], path.y[before]])
    fields = vars(missile) | {"path": replace(path, fate=GONE), "index": before, "place": place}
    return Missile(**fields)


def _contact(path: ContactPath, side: int, time: float) -> Contact:
    index = path.at(time)
    since = time - path.times[index]
    place = np.array([path.x[index], path.y[index]])
    if path.source[index] in TRACKS:  # it is believed to fly straight on
        heading = path.heading[index]
        place = place + since * path.speed[index] * np.array([math.cos(heading), math.sin(heading)])
    return Contact(path, side, index, place, path.age[index] + since)


def _warnings(
    own: Fighter, contacts: Sequence[Contact], missiles: Sequence[Missile]
) -> list[ReceiverWarning]:
    """Of the enemies' radars, and of all missiles with a lock on the own fighter."""
    found = []
    for contact in contacts:
        heard = contact.path.heard[contact.index]
        if contact.path.fighter == own.number and heard != SILENT:
            bearing = contact.path.bearing[contact.index]
            found.append(ReceiverWarning(own.number, bearing, False, heard == TRACKED))
    for missile in missiles:
        is_locked = missile.flying and missile.guided == ACTIVE
        if is_locked and missile.target == own.number:
            dx, dy = missile.place - own.place
            found.append(ReceiverWarning(own.number, math.atan2(dy, dx), True, True))
    return found


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
