"""Replays for Tacview: ACMI flight recordings 2.2 (https://www.tacview.net/documentation/acmi/).

The plane of the game lies at one altitude over the point where the equator meets the zero meridian,
with x to the east and y to the north. U and V are x and y themselves. With height, altitudes are
those of the fight. Aircraft and missiles then have the names of real ones, so that Tacview shows
their shapes.
"""

import io
import itertools
import math
import zipfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from midrange_puffer.files import write_whole
from midrange_puffer.game.contacts import LIVE
from midrange_puffer.game.parameters import SEATS, callsigns, is_team, sizes_of
from midrange_puffer.game.paths import (
    ACTIVE,
    FLYING,
    HIT,
    SPEED_OF_SOUND,
    BodyPath,
    FighterPath,
    MissilePath,
    Paths,
    air,
)
from midrange_puffer.game.types import AIRCRAFT, MISSILE
from midrange_puffer.names import shown, versus
from midrange_puffer.replays.replay import Replay

T = TypeVar("T")

ZIP_SUFFIX = ".zip.acmi"
ALTITUDE = 6000.0  # m
DEGREE = 111_320.0  # m along the equator, and near it along a meridian
# Tacview's names of what the types of the package are like.
NAMES = {
    "light": "F-16C", "heavy": "F-15C", "fast": "MiG-31", "trainer": "T-38A",
    "medium": "AIM-120C", "long": "Meteor", "short": "AIM-9X",
}  # fmt: skip
FIRST_MISSILE = 0x100  # its object id; the fighters' ids start from 1
HEADER = (
    "FileType=text/acmi/tacview",
    "FileVersion=2.2",
    "0,ReferenceTime=2000-01-01T00:00:00Z",  # arbitrary; the default of Tacview is 1970
    "0,ReferenceLongitude=0",
    "0,ReferenceLatitude=0",
    "0,DataSource=midrange_puffer",
)


def write_acmi(replay: Replay, path: str | Path) -> None:
    """Flies a replay and writes it as a file for Tacview, zipped if the name ends in .zip.acmi.

    Raises:
        ReplayError: The replay gives other states than recorded.
        WriteError: The file could not be written.
    """
    # Tacview's documentation recommends a byte order mark.
    data = format_acmi(replay, replay.paths()).encode("utf-8-sig")
    path = Path(path)
    if path.name.endswith(ZIP_SUFFIX):
        # ZipInfo has a constant date: equal replays give equal files.
        member = zipfile.ZipInfo(path.name.removesuffix(ZIP_SUFFIX) + ".txt.acmi")
        archive = io.BytesIO()
        with zipfile.ZipFile(archive, "w") as file:
            file.writestr(member, data, zipfile.ZIP_DEFLATED)
        data = archive.getvalue()
    write_whole(path, data)


def format_acmi(replay: Replay, paths: Paths) -> str:
    """Returns the text of a recording."""
    frames: dict[float, list[str]] = {}
    # Ends come after all positions, a missile's before its target's.
    missiles = [
        _missile(path, paths.fighters[path.owner].side, number, paths)
        for number, path in enumerate(paths.missiles)
    ]
    fighters = [_fighter(path, replay, paths) for path in paths.fighters]
    bodies = (*missiles, *fighters)
    positions = (line for body in bodies for line in _positions(body))
    ends = (line for body in bodies for line in _end(body))
    locks = _locks(paths, missiles, replay.parameters)
    pairs = zip(missiles, paths.missiles, strict=True)
    targets = (line for body, path in pairs for line in _new_targets(body, path))
    for time, line in itertools.chain(positions, locks, targets, ends):
        frames.setdefault(round(time, 3), []).append(line)
    end = frames.setdefault(round(paths.time, 3), [])
    end.append(f"0,Event=Bookmark|{_text(replay.outcome)}")
    lines = [*HEADER, f"0,Title={_text(versus(replay.names, paths.sizes))}"]
    for time in sorted(frames):
        lines += [f"#{time}", *frames[time]]
    return "\n".join(lines) + "\n"


@dataclass(frozen=True)
class _Body:
    """An object of the recording: its id, its path, and its constant properties."""

    id: str
    path: FighterPath | MissilePath
    properties: str


def _fighter(path: FighterPath, replay: Replay, paths: Paths) -> _Body:
    pilot, name = _text(replay.fighter_names[path.number]), _name(paths, AIRCRAFT, path.side)
    properties = f"{name},Type=Air+FixedWing,Pilot={pilot},{_side(path.side)}"
    if is_team(replay.parameters):
        properties += f",CallSign={callsigns(sizes_of(replay.parameters))[path.number]}"
    return _Body(_fighter_id(path.number), path, properties)


def _missile(path: MissilePath, side: int, number: int, paths: Paths) -> _Body:
    properties = (
        f"{_name(paths, MISSILE, side, path.kind)},Type=Weapon+Missile,"
        f"Parent={_fighter_id(path.owner)},LockedTarget={_fighter_id(path.targets[0])},"
        f"{_side(side)}"
    )
    return _Body(f"{FIRST_MISSILE + number:x}", path, properties)


def _name(paths: Paths, kind: str, side: int, place: int = 0) -> str:
    """Returns the properties that name the type of a side's fighters, or of a missile's place."""
    if not paths.types:
        return "Name=Fighter" if kind == AIRCRAFT else "Name=Missile"
    name, base = paths.types[kind][side][place]
    return f"Name={NAMES[base]}" if name == base else f"Name={NAMES[base]},LongName={name}"


def _positions(body: _Body) -> Iterator[tuple[float, str]]:
    """Yields a line for every entry of a path; constant properties are in the first one only."""
    path = body.path
    for index, time in enumerate(path.times):
        x, y, load = path.x[index], path.y[index], path.load[index]
        heading = (90 - math.degrees(path.heading[index])) % 360
        # A fighter banks so that its lift points where it accelerates; a missile turns by its fins.
        up = path.lift[index] if path.lift else 1.0
        roll = -math.degrees(math.atan2(load, up)) if isinstance(path, FighterPath) else 0.0
        altitude, pitch, lasting = ("", "", f",{body.properties}") if index == 0 else ("", "", "")
        if path.z:
            altitude, pitch = f"{path.z[index]:z.1f}", f"{math.degrees(path.climb[index]):z.1f}"
        elif index == 0:
            altitude, pitch = f"{ALTITUDE:g}", "0"
        yield (
            time,
            f"{body.id},T={x / DEGREE:z.7f}|{y / DEGREE:z.7f}|{altitude}|{roll:z.1f}|{pitch}|"
            f"{heading:.2f}|{x:z.2f}|{y:z.2f}|{heading:.2f},{_instruments(path, index)}{lasting}",
        )


def _instruments(path: BodyPath, index: int) -> str:
    """Returns the numeric properties that change; to the right is positive, as for the roll."""
    speed, load, up = path.speed[index], path.load[index], path.lift[index] if path.lift else 1.0
    density, sound = air(path.z[index]) if path.z else (1.0, SPEED_OF_SOUND)
    text = f"IAS={speed * density**0.5:.1f},TAS={speed:.1f},Mach={speed / sound:.3f}"
    if isinstance(path, FighterPath):
        text += f",Throttle={path.throttle[index]:.2f},Rudder={-path.rudder[index]:z.2f}"
        return f"{text},VerticalGForce={math.hypot(up, load):.2f}"
    return f"{text},LateralGForce={-load:z.2f}"


def _locks(
    paths: Paths, missiles: Sequence[_Body], parameters: Mapping[str, float]
) -> Iterator[tuple[float, str]]:
    """Yields, with sensors, each fighter's radar and its target, and the locks of missiles."""
    for fighter in paths.fighters if paths.contacts else ():
        own = _fighter_id(fighter.number)
        width = 2 * parameters["radar_half_angle_deg"]
        yield 0.0, f"{own},RadarMode=1,RadarHorizontalBeamwidth={width:g}"
        for time, enemy in _changes(fighter.times, _on_radar(paths, fighter)):
            target = "" if enemy is None else f",LockedTarget={_fighter_id(enemy)}"
            yield time, f"{own},LockedTargetMode={enemy is not None:d}{target}"
    if paths.contacts:
        for body, path in zip(missiles, paths.missiles, strict=True):
            is_active = (guided == ACTIVE for guided in path.guided)
            for time, has_lock in _changes(path.times, is_active):
                yield time, f"{body.id},LockedTargetMode={has_lock:d}"


def _on_radar(paths: Paths, fighter: FighterPath) -> list[int | None]:
    """Returns the nearest enemy on a fighter's radar, or None, for every time of its path."""
    contacts = [contact for contact in paths.contacts if contact.fighter == fighter.number]
    nearest = []
    for index, place in enumerate(zip(fighter.x, fighter.y, strict=True)):
        ranges = {
            contact.enemy: math.dist(place, (contact.x[index], contact.y[index]))
            for contact in contacts
            if contact.source[index] == LIVE
        }
        nearest.append(min(ranges, key=lambda enemy: ranges[enemy], default=None))
    return nearest


def _new_targets(body: _Body, path: MissilePath) -> Iterator[tuple[float, str]]:
    """Yields a missile's targets after the first one."""
    changes = itertools.islice(_changes(path.times, path.targets), 1, None)
    for time, target in changes:
        yield time, f"{body.id},LockedTarget={_fighter_id(target)}"


def _changes(times: Sequence[float], values: Iterable[T]) -> Iterator[tuple[float, T]]:
    """Yields the first of some values, and every later one that differs from the one before."""
    rows = list(zip(times, values, strict=True))
    yield from rows[:1]
    for (_, before), (time, value) in itertools.pairwise(rows):
        if value != before:
            yield time, value


def _end(body: _Body) -> Iterator[tuple[float, str]]:
    """Yields the end and the removal of a body; nothing if it flies to the end."""
    path = body.path
    end = path.times[-1]
    if isinstance(path, FighterPath):
        if path.died is None:
            return
        yield end, f"0,Event=Destroyed|{body.id}|"
    elif path.fate == FLYING:
        return
    else:
        yield (
            end,
            f"0,Event=Timeout|SourceId:{_fighter_id(path.owner)}|AmmoType:Missile|AmmoCount:1|"
            f"TargetId:{_fighter_id(path.target)}|"
            f"Outcome:{'Kill' if path.fate == HIT else 'Miss'}",
        )
        if path.fate != HIT:  # a hit would count as destroyed
            yield end, f"0,Event=LeftArea|{body.id}|"
    yield end, f"-{body.id}"


def _side(side: int) -> str:
    colour = SEATS[side].capitalize()
    return f"Coalition={colour},Color={colour}"


def _fighter_id(number: int) -> str:
    return f"{1 + number:x}"


def _text(text: str) -> str:
    """Returns a text property: one line, with commas escaped and backslashes replaced."""
    return shown(" ".join(text.split())).replace("\\", "/").replace(",", "\\,")
