"""The state of an engagement at any time of its paths, also between two decisions.

In a game with sensors the state may be one side's knowledge. Then enemies are `Contact`s, missiles
are the side's own, and warnings of the others come from the side's receivers.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from midrange_puffer.game.contacts import SILENT, TRACKED, TRACKS, UNSEEN, ContactPath
from midrange_puffer.game.paths import (
    ACTIVE,
    FLYING,
    HIT,
    SPEED_OF_SOUND,
    BodyPath,
    FighterPath,
    Line,
    MissilePath,
    Paths,
    Types,
    air,
)
from midrange_puffer.game.types import AIRCRAFT, MISSILE

GONE = "gone"  # fate of an ended missile, as far as its own side knows
STEPS = 3  # points of a trail for each entry of its path


@dataclass(frozen=True)
class Body:
    """A fighter or missile at one time.

    Attributes:
        path: Its flight.
        index: The path's last entry up to this time.
        place: [2] in the plane [m].
        heading: Counter-clockwise from +x [rad].
        speed: [m/s]
        rudder: -1 (right) to 1 (left).
        load: Positive to the left [g]; with height all lift, without a sign.
        z: Height [m]; 0 in the plane.
        climb: Angle of the climb [rad]; 0 in the plane.
    """

    path: BodyPath
    index: int
    place: np.ndarray
    heading: float
    speed: float
    rudder: float
    load: float
    z: float
    climb: float

    @property
    def point(self) -> np.ndarray:
        """[3], its place and height [m]."""
        return np.append(self.place, self.z)

    @property
    def mach(self) -> float:
        """The Mach number; with height by the speed of sound there."""
        return self.speed / (air(self.z)[1] if self.path.z else SPEED_OF_SOUND)

    @property
    def rise(self) -> float:
        """The speed upward [m/s]."""
        return self.speed * math.sin(self.climb)

    def course(self, first: int = 0) -> np.ndarray:
        """Returns the points of `trail` with their heights, [n, 3]."""
        trail = self.trail(first)
        if not self.path.z:
            return np.column_stack([trail, np.zeros(len(trail))])
        past = self.path.z[first : self.index + 1]
        at = np.arange(len(trail)) / STEPS
        heights = np.interp(at, np.arange(len(past) + 1), [*past, self.z])
        return np.column_stack([trail, heights])

    def trail(self, first: int = 0) -> np.ndarray:
        """Returns the path up to now as a curve [n, 2], from the entry `first` on.

        It has STEPS points for each entry.
        """
        end = self.index + 1
        past = np.column_stack([self.path.x[first:end], self.path.y[first:end]])
        headings = [*self.path.heading[first:end], self.heading]
        points = np.vstack([past, self.place])
        steps = curves(points, np.array(headings), np.arange(1, STEPS + 1) / STEPS)
        return np.vstack([points[:1], steps.reshape(-1, 2)])


@dataclass(frozen=True)
class Fighter(Body):
    """A fighter.

    Attributes:
        number, side: Its number, and red (0) or blue (1).
        alive: True until it is killed.
        throttle: Position, 0 to 1.
        ammo: Missiles left.
        missiles_left: Those left of each type in its load.
        aircraft: Name of its type; "" in the plane.
        missile_types: Names of the types in its load; empty in the plane.
    """

    path: FighterPath
    number: int
    side: int
    alive: bool
    throttle: float
    ammo: int
    missiles_left: tuple[int, ...]
    aircraft: str
    missile_types: tuple[str, ...]

    @property
    def first_type(self) -> int:
        """The place in its load of the first type of which missiles are left, or 0."""
        return next((place for place, left in enumerate(self.missiles_left) if left), 0)


@dataclass(frozen=True)
class Contact:
    """A side's knowledge of one enemy at one time.

    Attributes:
        path: The contact over time.
        number, side: The enemy's number, and red (0) or blue (1).
        index: The path's last entry up to this time.
        source: The source of the belief, an index into `SOURCES`.
        place: [2] in the plane [m]: the believed place, or the place where the track was lost.
        heading: As believed, counter-clockwise from +x [rad].
        speed: As believed [m/s].
        age: Time since the enemy was last seen [s].
    """

    path: ContactPath
    number: int
    side: int
    index: int
    source: int
    place: np.ndarray
    heading: float
    speed: float
    age: float

    @property
    def point(self) -> np.ndarray:
        """[3], its place, with the height 0 of the plane [m]."""
        return np.append(self.place, 0.0)

    @property
    def mach(self) -> float:
        """The believed Mach number."""
        return self.speed / SPEED_OF_SOUND

    @property
    def is_known(self) -> bool:
        """True if there has ever been a track; otherwise the contact has no place."""
        return self.source != UNSEEN

    @property
    def alive(self) -> bool:
        """True if there is a track. All see a kill, so the track of a dead enemy is lost."""
        return self.source in TRACKS

    @property
    def tracks(self) -> list[np.ndarray]:
        """The parts of the believed course during which there was a track, [n, 2] each."""
        end = self.index + 1
        source = np.array(self.path.source[:end])
        places = np.column_stack([self.path.x[:end], self.path.y[:end]])
        breaks = np.flatnonzero(np.diff(np.isin(source, TRACKS))) + 1
        parts = zip(np.split(places, breaks), np.split(source, breaks), strict=True)
        return [places for places, sources in parts if sources[0] in TRACKS]


@dataclass(frozen=True)
class Missile(Body):
    """A missile.

    Attributes:
        flying: True until it has ended.
        burning: True while its motor burns.
        target: The fighter that it flies at, or flew at when it ended.
        guided: The source of its guidance: ALONE, SUPPORTED, ACTIVE or RELAYED.
    """

    path: MissilePath
    flying: bool
    burning: bool
    target: int
    guided: int


@dataclass(frozen=True)
class ReceiverWarning:
    """A warning by the receiver of a fighter.

    Attributes:
        fighter: The receiver's fighter.
        bearing: Direction of the source, counter-clockwise from +x [rad].
        is_seeker: True for a missile's seeker with a lock, False for the enemy's radar.
        is_tracking: True if the source tracks the fighter.
    """

    fighter: int
    bearing: float
    is_seeker: bool
    is_tracking: bool


@dataclass(frozen=True)
class Moment:
    """All fighters by their numbers, and all missiles launched up to `time` [s].

    In a side's view, enemies among `fighters` are contacts, `missiles` are the side's own, and
    `warnings` are those of its receivers. In missions there is a `line`.
    """

    time: float
    fighters: tuple[Fighter | Contact, ...]
    missiles: tuple[Missile, ...]
    warnings: tuple[ReceiverWarning, ...] = ()
    line: Line | None = None

    @property
    def known(self) -> list[Fighter | Contact]:
        """The fighters whose place is known, at present or when their track was lost."""
        return [body for body in self.fighters if isinstance(body, Fighter) or body.is_known]

    @property
    def is_team(self) -> bool:
        """True if there are more than two fighters."""
        return len(self.fighters) > 2

    @property
    def has_height(self) -> bool:
        """True if the fight is in three dimensions."""
        return any(isinstance(body, Body) and bool(body.path.z) for body in self.fighters)

    def range(self, first: int, second: int) -> float | None:
        """Returns the range between two fighters [m]; None if one has no track."""
        pair = self.fighters[first], self.fighters[second]
        if any(isinstance(body, Contact) and not body.alive for body in pair):
            return None
        return math.dist(*(body.point for body in pair))

    def enemies(self, fighter: int) -> list[int]:
        """Returns a fighter's living enemies, the nearest first; only those with a track."""
        own = self.fighters[fighter]
        enemies = [body.number for body in self.fighters if body.side != own.side and body.alive]
        return sorted(enemies, key=lambda number: self.range(fighter, number) or 0.0)

    def inbound(self, fighter: int) -> list[Missile]:
        """Returns the missiles in the air that fly at a fighter, the nearest first."""
        own = self.fighters[fighter]
        inbound = [body for body in self.missiles if body.flying and body.target == fighter]
        return sorted(inbound, key=lambda missile: math.dist(missile.point, own.point))

    def foe(self, fighter: int) -> int:
        """Returns the enemy that a fighter has to watch.

        It is the owner of the nearest inbound missile; otherwise the nearest living enemy;
        otherwise the enemy whose path ends last.
        """
        if not self.is_team:
            return 1 - fighter
        if inbound := self.inbound(fighter):
            return inbound[0].path.owner
        if enemies := self.enemies(fighter):
            return enemies[0]
        own = self.fighters[fighter]
        dead = [body for body in self.fighters if body.side != own.side]
        return max(dead, key=lambda body: body.path.times[body.index]).number


@dataclass(frozen=True)
class Focus:
    """The fighter that a picture is drawn for.

    Attributes:
        fighter: The fighter that the picture follows.
        foe: The enemy that it has to watch, see `Moment.foe`.
        target: The enemy that its next shot is at.
        kind: The place in its load of the type of its next shot.
    """

    fighter: int
    foe: int
    target: int
    kind: int = 0


def moment(paths: Paths, time: float | None = None, side: int | None = None) -> Moment:
    """Returns an engagement at a time [s], by default the last one noted.

    Args:
        paths: The engagement's paths.
        time: Clipped to the times of the paths.
        side: The side whose knowledge it is, red (0) or blue (1); None: the truth.
    """
    time = paths.time if time is None else min(max(time, 0.0), paths.time)
    own = [_fighter(path, paths.types, time) for path in paths.fighters]
    missiles = tuple(_missile(path, time) for path in paths.missiles if path.at(time) is not None)
    if side is None:
        return Moment(time, tuple(own), missiles, line=paths.line)
    fighters: list[Fighter | Contact] = [*own]
    own = [fighter for fighter in own if fighter.side == side]
    numbers = [fighter.number for fighter in own]
    contacts = [
        _contact(path, 1 - side, time) for path in paths.contacts if path.fighter in numbers
    ]
    # Sorted so that the best contact with an enemy comes last and replaces the others.
    for contact in sorted(contacts, key=lambda contact: (contact.alive, -contact.age)):
        fighters[contact.number] = contact
    warnings = [
        warning
        for fighter in own
        if fighter.alive
        for warning in _warnings(fighter, contacts, missiles)
    ]
    mine = tuple(_without_fate(missile) for missile in missiles if missile.path.owner in numbers)
    return Moment(time, tuple(fighters), mine, tuple(warnings), paths.line)


def _without_fate(missile: Missile) -> Missile:
    """Returns a missile as its own side knows it: without its fate and the place of a hit."""
    path = missile.path
    if missile.flying or path.fate == GONE:
        return missile
    before = max(missile.index - 1, 0) if path.fate == HIT else missile.index
    place = np.array([path.x[before], path.y[before]])
    return replace(missile, path=replace(path, fate=GONE), index=before, place=place)


def _contact(path: ContactPath, side: int, time: float) -> Contact:
    index = path.at(time) or 0
    since = time - path.times[index]
    place = np.array([path.x[index], path.y[index]])
    source, heading, speed = path.source[index], path.heading[index], path.speed[index]
    if source in TRACKS:  # between entries it flies straight on
        place = place + since * speed * np.array([math.cos(heading), math.sin(heading)])
    age = path.age[index] + since
    return Contact(path, path.enemy, side, index, source, place, heading, speed, age)


def _warnings(
    own: Fighter, contacts: Sequence[Contact], missiles: Sequence[Missile]
) -> list[ReceiverWarning]:
    """Returns warnings of the enemies' radars and of missiles with a lock on the own fighter."""
    warnings = []
    for contact in contacts:
        heard = contact.path.heard[contact.index]
        if contact.path.fighter == own.number and heard != SILENT:
            bearing = contact.path.bearing[contact.index]
            warnings.append(ReceiverWarning(own.number, bearing, False, heard == TRACKED))
    for missile in missiles:
        is_locked = missile.flying and missile.guided == ACTIVE
        if is_locked and missile.target == own.number:
            dx, dy = missile.place - own.place
            warnings.append(ReceiverWarning(own.number, math.atan2(dy, dx), True, True))
    return warnings


def _fighter(path: FighterPath, types: Types, time: float) -> Fighter:
    body = _body(path, time)
    index = body["index"]
    # A launched missile is in the air at once but leaves `ammo` only in the next entry.
    after = min(index + 1, len(path.ammo) - 1)
    return Fighter(
        **body,
        number=path.number,
        side=path.side,
        alive=path.died is None or time < path.died,
        throttle=path.throttle[index],
        ammo=path.ammo[after],
        missiles_left=path.missiles_left(after),
        aircraft="".join(name for name, _ in types[AIRCRAFT][path.number]) if types else "",
        missile_types=tuple(name for name, _ in types[MISSILE][path.side]) if types else (),
    )


def _missile(path: MissilePath, time: float) -> Missile:
    body = _body(path, time)
    return Missile(
        **body,
        flying=time < path.times[-1] or path.fate == FLYING,
        burning=time < path.burnt_out,
        target=path.targets[body["index"]],
        guided=path.guided[body["index"]],
    )


def _body(path: BodyPath, time: float) -> dict[str, Any]:
    """Returns the fields of a `Body`."""
    index = path.at(time) or 0
    after = min(index + 1, len(path.times) - 1)
    length = path.times[after] - path.times[index]
    share = min((time - path.times[index]) / length, 1.0) if length else 0.0

    def between(values: list[float]) -> float:
        return values[index] + share * (values[after] - values[index])

    points = np.array([(path.x[i], path.y[i]) for i in (index, after)])
    headings = [path.heading[i] for i in (index, after)]
    turn = math.remainder(headings[1] - headings[0], math.tau)
    load = between(path.load)
    if path.z:
        load = math.hypot(load, between(path.lift))
    return {
        "path": path,
        "index": index,
        "place": curves(points, np.array(headings), np.array([share]))[0, 0],
        "heading": headings[0] + share * turn,
        "speed": between(path.speed),
        "rudder": between(path.rudder),
        "load": load,
        "z": between(path.z) if path.z else 0.0,
        "climb": between(path.climb) if path.z else 0.0,
    }


def curves(points: np.ndarray, headings: np.ndarray, shares: np.ndarray) -> np.ndarray:
    """Interpolates a path from point to point by cubic Hermite curves.

    The tangents are as long as the leg between two points.

    Args:
        points: [n, 2] in the plane [m].
        headings: [n] at these points [rad].
        shares: [k], shares of each leg.

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


def minutes(time: float) -> str:
    """Returns a time [s] as minutes and seconds."""
    return f"{int(time) // 60}:{int(time) % 60:02}"


def signed(value: float) -> str:
    """Returns a value without decimals and, unless it is 0, with its sign."""
    return f"{round(value):+d}".replace("-", "−") if round(value) else "0"
