"""The doings of each fighter, in the words of the orders: from the geometry of its path alone.

So the words are the same for pilots, policies and humans, whatever flew the fighter. A fighter's
course is named by the angle between its nose and the line to what it flies by: an inbound missile
that it evades, otherwise an enemy. Angles between two words keep the earlier one, and a course
counts once it has been held for a while, so that the words do not flicker.

The page in the browser reads paths by the same rules, in web/manoeuvres.js.
"""

import math
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

from midrange_puffer.game.contacts import LIVE, TRACKED, ContactPath
from midrange_puffer.game.parameters import callsigns
from midrange_puffer.game.paths import RELAYED, SUPPORTED, FighterPath, MissilePath, Paths

COMMIT, CRANK, BEAM, COLD, NOTCH = "commit", "crank", "beam", "cold", "notch"
# The greatest angle off the nose of each course [rad], and how far beyond its ends it still counts.
ENDS = {
    COMMIT: math.radians(25),
    CRANK: math.radians(70),
    BEAM: math.radians(115),
    COLD: math.pi,
}
MARGIN = math.radians(7)
HELD = 2.0  # s for which a course is held before it counts
URGENT = 25.0  # s to go under which a missile may be evaded
NEARER = 0.8  # another enemy must be nearer by this factor, to be the one that is flown by
# The words of a manoeuvre: by its course, of one that evades a missile, and of one that guides one.
EVADES, SUPPORTS, ITS_OWN = "evades", "supports", "its_own"
WORDS = {
    COMMIT: "commit at {enemy}",
    CRANK: "crank {side} of {enemy}",
    BEAM: "beam from {enemy}",
    COLD: "cold from {enemy}",
    NOTCH: "notch against {enemy}",
    EVADES: "{course} from {enemy}’s missile",
    SUPPORTS: "{course}, supporting {whom}",
    ITS_OWN: "its missile",
}


@dataclass(frozen=True)
class Manoeuvre:
    """A course that a fighter holds.

    Attributes:
        course: COMMIT, CRANK, BEAM, COLD or NOTCH.
        enemy: number of the enemy that it is relative to, or whose missile it evades.
        evades: True if it is relative to an inbound missile.
        side: of CRANK: "left" or "right" of the enemy; "" for the others.
        supports: number of the fighter whose missile its radar guides: its own or an ally's; None.
    """

    course: str
    enemy: int
    evades: bool = False
    side: str = ""
    supports: int | None = None


@dataclass(frozen=True)
class Held:
    """A manoeuvre of a fighter from `start` to `end` [s]; `end` is the last time it was seen."""

    fighter: int
    start: float
    end: float
    manoeuvre: Manoeuvre


def in_words(held: Held, sizes: tuple[int, int]) -> str:
    """Returns a manoeuvre in words, such as "crank left of blue_1, supporting red_0".

    Args:
        held: the manoeuvre.
        sizes: numbers of red's and blue's fighters.
    """
    names, what = callsigns(sizes), held.manoeuvre
    course = WORDS[EVADES if what.evades else what.course].format(
        course=what.course, side=what.side, enemy=names[what.enemy]
    )
    if what.supports is None:
        return course
    whom = WORDS[ITS_OWN] if what.supports == held.fighter else names[what.supports]
    return WORDS[SUPPORTS].format(course=course, whom=whom)


def manoeuvres(paths: Paths) -> list[Held]:
    """Returns what each fighter of an engagement did, in the order of the times at which it began.

    Args:
        paths: of the engagement, whoever flew it.
    """
    every = [held for fighter in Doings(paths).of_fighters() for held in fighter]
    return sorted(every, key=lambda held: (held.start, held.fighter))


class Doings:
    """The doings of an engagement's fighters, while its paths grow or are cut back.

    Args:
        paths: of the engagement.
    """

    def __init__(self, paths: Paths) -> None:
        self.paths = paths
        self._readers = [_Reader(path) for path in paths.fighters]

    def of_fighters(self) -> list[list[Held]]:
        """Returns the manoeuvres of each fighter up to now, without those that it does not hold."""
        return [reader.read(self.paths) for reader in self._readers]

    def words(self, time: float) -> list[str]:
        """Returns in words what each fighter does at a time [s]; "" if it is dead, or at first."""
        return [
            "" if _is_dead(path, time) else _words_at(held, time, self.paths.sizes)
            for path, held in zip(self.paths.fighters, self.of_fighters(), strict=True)
        ]


def _words_at(held: Sequence[Held], time: float, sizes: tuple[int, int]) -> str:
    begun = bisect_right(held, time, key=lambda one: one.start)
    return in_words(held[begun - 1], sizes) if begun else ""


class _Reader:
    """The manoeuvres of one fighter, read from the entries of its path, each once."""

    def __init__(self, own: FighterPath) -> None:
        self._own = own
        self._forget()

    def _forget(self) -> None:
        self._read = 0  # entries of the path
        self._runs: list[Held] = []
        self._seen: Manoeuvre | None = None

    def read(self, paths: Paths) -> list[Held]:
        """Returns the manoeuvres up to the last entry of the path."""
        own = self._own
        if len(own.times) < self._read:
            self._forget()
        for index in range(self._read, len(own.times)):
            if not _is_dead(own, own.times[index]):
                self._add(paths, index)
        self._read = len(own.times)
        return _joined(self._runs)

    def _add(self, paths: Paths, index: int) -> None:
        own, time = self._own, self._own.times[index]
        self._seen = _manoeuvre(paths, own, index, self._seen)
        if self._seen is None:
            return
        runs = self._runs
        if runs and runs[-1].manoeuvre == self._seen:
            runs[-1] = Held(own.number, runs[-1].start, time, self._seen)
        else:
            runs.append(Held(own.number, time, time, self._seen))


def _joined(runs: list[Held]) -> list[Held]:
    """Returns the runs that are held long enough; equal neighbours are one."""
    out: list[Held] = []
    for run in runs:
        if out and out[-1].manoeuvre == run.manoeuvre:
            out[-1] = Held(run.fighter, out[-1].start, run.end, run.manoeuvre)
        elif run.end - run.start >= HELD:
            out.append(run)
    return out


def _manoeuvre(
    paths: Paths, own: FighterPath, index: int, before: Manoeuvre | None
) -> Manoeuvre | None:
    """Returns a fighter's manoeuvre at one of its noted times; None where no enemy lives."""
    time = own.times[index]
    enemy = _enemy(paths, own, time, before)
    if enemy is None:
        return None
    supports = _supported(paths, own, time)
    missile = _inbound(paths, own, time)
    if missile is not None:
        angle = _off_nose(own, index, missile, time)
        course = _course(abs(angle), before.course if before and before.evades else None)
        if course in (BEAM, COLD):
            return Manoeuvre(course, missile.owner, evades=True, supports=supports)
    angle = _off_nose(own, index, paths.fighters[enemy], time)
    course = _course(abs(angle), before.course if before and not before.evades else None)
    if course == BEAM and _is_tracked_by(paths, own, enemy, time):
        course = NOTCH
    side = ("right" if angle > 0 else "left") if course == CRANK else ""
    return Manoeuvre(course, enemy, side=side, supports=supports)


def _course(angle: float, before: str | None) -> str:
    """Returns the course at an angle off the nose [rad]; between two the one of before."""
    before = BEAM if before == NOTCH else before
    low = 0.0
    for course, high in ENDS.items():
        if course == before and low - MARGIN <= angle <= high + MARGIN:
            return course
        low = high
    return next(course for course, high in ENDS.items() if angle <= high + 1e-9)


def _off_nose(own: FighterPath, index: int, other: FighterPath | MissilePath, time: float) -> float:
    """Returns the angle from the nose to another body as seen from above [rad], left positive."""
    place = other.at(time)
    assert place is not None  # it is there at this time
    dx, dy = other.x[place] - own.x[index], other.y[place] - own.y[index]
    return math.remainder(math.atan2(dy, dx) - own.heading[index], math.tau)


def _enemy(paths: Paths, own: FighterPath, time: float, before: Manoeuvre | None) -> int | None:
    """Returns the number of the living enemy that a fighter flies by; None if none lives.

    It is the target of its last missile in the air, otherwise the nearest one; the one of before
    stays unless another is clearly nearer.
    """
    shots = [m for m in paths.missiles if m.owner == own.number and _flies(m, time)]
    ranges = {
        other.number: _range(own, other, time)
        for other in paths.fighters
        if other.side != own.side and not _is_dead(other, time)
    }
    if not ranges:
        return None
    targets = [m.targets[place] for m in shots if (place := m.at(time)) is not None]
    if targets and targets[-1] in ranges:
        return targets[-1]
    nearest = min(ranges, key=lambda number: ranges[number])
    if before and before.enemy in ranges and ranges[nearest] > NEARER * ranges[before.enemy]:
        return before.enemy
    return nearest


def _inbound(paths: Paths, own: FighterPath, time: float) -> MissilePath | None:
    """Returns the missile with the least time to go of those that close on a fighter; or None."""
    urgent, least = None, URGENT
    for missile in paths.missiles:
        place = missile.at(time)
        if place is None or not _flies(missile, time) or missile.targets[place] != own.number:
            continue
        range_now = _range(own, missile, time)
        closing = _closing(own, missile, time)
        if closing > 0 and range_now / closing < least:
            urgent, least = missile, range_now / closing
    return urgent


def _range(own: FighterPath, other: FighterPath | MissilePath, time: float) -> float:
    """Returns the distance of two bodies [m]."""
    one, two = own.at(time), other.at(time)
    assert one is not None
    assert two is not None
    return math.dist(own.place(one), other.place(two))


def _closing(own: FighterPath, missile: MissilePath, time: float) -> float:
    """Returns the closing speed of a missile, as seen from above [m/s]."""
    one, two = own.at(time), missile.at(time)
    assert one is not None
    assert two is not None
    dx, dy = own.x[one] - missile.x[two], own.y[one] - missile.y[two]
    vx, vy = (
        missile.speed[two] * turn(missile.heading[two]) - own.speed[one] * turn(own.heading[one])
        for turn in (math.cos, math.sin)
    )
    return (dx * vx + dy * vy) / max(math.hypot(dx, dy), 1.0)


def _flies(missile: MissilePath, time: float) -> bool:
    """True if a missile is in the air."""
    return missile.launched <= time <= missile.times[-1]


def _is_dead(fighter: FighterPath, time: float) -> bool:
    return fighter.died is not None and time >= fighter.died


def _contact(paths: Paths, fighter: int, enemy: int) -> ContactPath | None:
    """Returns the contact of a fighter with an enemy; None in a game without sensors."""
    return next((c for c in paths.contacts if (c.fighter, c.enemy) == (fighter, enemy)), None)


def _is_tracked_by(paths: Paths, own: FighterPath, enemy: int, time: float) -> bool:
    """True if a fighter's receiver hears that an enemy's radar tracks it."""
    contact = _contact(paths, own.number, enemy)
    return contact is not None and contact.heard[bisect_right(contact.times, time) - 1] == TRACKED


def _supported(paths: Paths, own: FighterPath, time: float) -> int | None:
    """Returns the fighter whose missile a fighter's radar guides, its own first; or None."""
    for missile in sorted(paths.missiles, key=lambda missile: missile.owner != own.number):
        place = missile.at(time)
        if place is None or not _flies(missile, time) or not paths.contacts:
            continue
        shooter = paths.fighters[missile.owner]
        if missile.owner == own.number and missile.guided[place] == SUPPORTED:
            return own.number
        if shooter.side != own.side or missile.guided[place] != RELAYED:
            continue
        contact = _contact(paths, own.number, missile.targets[place])
        if contact and contact.source[bisect_right(contact.times, time) - 1] == LIVE:
            return missile.owner
    return None
