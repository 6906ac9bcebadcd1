"""States of bodies at one time, as pictures show them: fighters, contacts, missiles, warnings."""

import math
from dataclasses import dataclass

import numpy as np

from midrange_puffer.game.atmosphere import SPEED_OF_SOUND, air
from midrange_puffer.game.contacts import TRACKS, UNSEEN, ContactPath, Course
from midrange_puffer.game.paths import BodyPath, FighterPath, MissilePath

STEPS = 3  # points of a trail for each entry of its path


class Motion:
    """Place and velocity of a body, or of a contact as believed."""

    path: Course
    place: np.ndarray
    speed: float
    z: float
    climb: float

    @property
    def point(self) -> np.ndarray:
        """[3], its place and height [m]."""
        return np.append(self.place, self.z)

    @property
    def mach(self) -> float:
        """The Mach number; with height by the speed of sound there."""
        return mach_number(self.path, self.speed, self.z)

    @property
    def rise(self) -> float:
        """The speed upward [m/s]."""
        return self.speed * math.sin(self.climb)


@dataclass(frozen=True)
class Body(Motion):
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
        missiles_left: Those left of each type in its loadout.
        aircraft: Name of its type; "" in the plane.
        missile_types: Names of the types in its loadout; empty in the plane.
        silent: True while its radar is silent.
        cloud: [3], place of its cloud of chaff [m]; None without one.
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
    silent: bool = False
    cloud: np.ndarray | None = None

    @property
    def first_type(self) -> int:
        """The place in its loadout of the first type of which missiles are left, or 0."""
        return next((place for place, left in enumerate(self.missiles_left) if left), 0)


@dataclass(frozen=True)
class Contact(Motion):
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
        z: As believed: height [m]; 0 in the plane.
        climb: As believed: angle of the climb [rad]; 0 in the plane.
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
    z: float
    climb: float

    @property
    def deviation(self) -> float:
        """Standard deviation of the place at the path's last entry [m]; 0 without noise."""
        return self.path.deviation[self.index]

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
        """The parts of the believed course during which there was a track, [n, 3] each."""
        end = self.index + 1
        source = np.array(self.path.source[:end])
        heights = self.path.z[:end] or np.zeros(end)
        places = np.column_stack([self.path.x[:end], self.path.y[:end], heights])
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


def mach_number(path: Course, speed: float, z: float) -> float:
    """Returns the Mach number of a body at a speed [m/s] and a height [m]."""
    return speed / (air(z)[1] if path.z else SPEED_OF_SOUND)


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
