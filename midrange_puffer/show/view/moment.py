"""The state of an engagement at any time of its paths, also between two decisions.

In a game with sensors the state may be one side's knowledge. Then enemies are `Contact`s, missiles
are the side's own, and warnings of the others come from the side's receivers.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from midrange_puffer.game.contacts import (
    SILENT,
    TRACKED,
    TRACKS,
    ContactPath,
    quality,
)
from midrange_puffer.game.mission_line import Line
from midrange_puffer.game.paths import (
    ACTIVE,
    FLYING,
    HIT,
    BodyPath,
    FighterPath,
    MissilePath,
    Paths,
    Types,
)
from midrange_puffer.game.types import AIRCRAFT, MISSILE
from midrange_puffer.show.view.states import (
    Body,
    Contact,
    Fighter,
    Missile,
    ReceiverWarning,
    curves,
)

GONE = "gone"  # fate of an ended missile, as far as its own side knows


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
        kind: The place in its loadout of the type of its next shot.
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
    for contact in sorted(contacts, key=lambda contact: quality(contact.source, contact.age)):
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
    z = path.z[before] if path.z else 0.0
    return replace(missile, path=replace(path, fate=GONE), index=before, place=place, z=z)


def _contact(path: ContactPath, side: int, time: float) -> Contact:
    index = path.at(time) or 0
    since = time - path.times[index]
    place = np.array([path.x[index], path.y[index]])
    source, heading, speed = path.source[index], path.heading[index], path.speed[index]
    z, climb = (path.z[index], path.climb[index]) if path.z else (0.0, 0.0)
    if source in TRACKS:  # between entries it flies straight on
        ground = since * speed * math.cos(climb)
        place = place + ground * np.array([math.cos(heading), math.sin(heading)])
        z += since * speed * math.sin(climb)
    age = path.age[index] + since
    return Contact(path, path.enemy, side, index, source, place, heading, speed, age, z, climb)


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
    cloud = path.cloud(index)
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
        silent=bool(path.silent and path.silent[after]),
        cloud=None if cloud is None else np.array(cloud),
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
