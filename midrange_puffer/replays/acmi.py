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
from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from midrange_puffer.files import write_whole
from midrange_puffer.game.atmosphere import SPEED_OF_SOUND, air
from midrange_puffer.game.contacts import LIVE
from midrange_puffer.game.mission_line import Line
from midrange_puffer.game.parameters import SEATS, callsigns, is_team, sizes_of
from midrange_puffer.game.paths import (
    ACTIVE,
    FLYING,
    HIT,
    BodyPath,
    FighterPath,
    MissilePath,
    Paths,
)
from midrange_puffer.game.types import AIRCRAFT, MISSILE
from midrange_puffer.names import shown, versus
from midrange_puffer.replays.replay import Replay

ZIP_SUFFIX = ".zip.acmi"
ALTITUDE = 6000.0  # m
DEGREE = 111_320.0  # m along the equator, and near it along a meridian
# Tacview's names of what the types of the package are like.
NAMES = {
    "light": "F-16C", "heavy": "F-15C", "fast": "MiG-31", "trainer": "T-38A",
    "medium": "AIM-120C", "long": "Meteor", "short": "AIM-9X",
}  # fmt: skip
FIRST_MISSILE = 0x100  # its object id; the fighters' ids start from 1
MOST_IDS = 0x10000  # of a fight
# Posts on each side of the middle that show the line of a mission, their distance [m], and how far
# their ids are from the first missile's.
POSTS, POST_SPACING, MOST_POSTS = 10, 5_000.0, 0x8000
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
    frames = Frames(paths, replay.parameters, replay.fighter_names).take()
    end = frames.setdefault(round(paths.time, 3), [])
    end.append(bookmark(replay.outcome))
    title = f"0,Title={_text(versus(replay.names, paths.sizes))}"
    return "\n".join([*HEADER, title, *frame_lines(frames)]) + "\n"


def bookmark(text: str) -> str:
    """Returns the line of an event that is only a text."""
    return f"0,Event=Bookmark|{_text(text).replace('|', '/')}"


def frame_lines(frames: Mapping[float, Sequence[str]], start: float = 0.0) -> Iterator[str]:
    """Yields the lines of frames by time; the fight begins at a time of the recording."""
    for time in sorted(frames):
        yield f"#{round(start + time, 3)}"
        yield from frames[time]


class Frames:
    """The lines of a fight by time, which can be taken while its paths grow.

    Args:
        paths: Of the fight; their `note` and `cut_back` are the caller's.
        parameters: Of the game.
        pilots: The name of each fighter's contestant.
        first_id: The object ids are larger than it, by at most MOST_IDS.
    """

    def __init__(
        self,
        paths: Paths,
        parameters: Mapping[str, float],
        pilots: Sequence[str],
        first_id: int = 0,
    ) -> None:
        self._paths, self._first_id = paths, first_id
        self._beam_width = 2 * parameters["radar_half_angle_deg"]
        self._fighters = [self._fighter(path, pilots[path.number]) for path in paths.fighters]
        self._posts = self._line_posts(paths.line) if paths.line is not None else {}
        self._are_posted = False
        if is_team(parameters):
            for body, name in zip(self._fighters, callsigns(sizes_of(parameters)), strict=True):
                body.properties += f",CallSign={name}"
        self._missiles: list[_Body] = []

    def take(self, before: float = math.inf) -> dict[float, list[str]]:
        """Returns, by time, the lines of all entries before a time that were not taken yet.

        A note of the paths may add a launch, or an end, at the time of the note before it. So all
        lines come in the order of their times if those of the last note are left to the next call.
        """
        for number in range(len(self._missiles), len(self._paths.missiles)):
            self._missiles.append(self._missile(number))
        # Ends come after all positions, a missile's before its target's.
        spans = []
        for body in (*self._missiles, *self._fighters):
            end = max(bisect_left(body.path.times, before), body.taken)
            spans.append(_Span(body, range(body.taken, end), 0))
        ends = (line for span in spans for line in self._end(span))
        frames: dict[float, list[str]] = {}
        for time, line in itertools.chain(self._states(spans), ends):
            frames.setdefault(round(time, 3), []).append(line)
        for body, entries, _ in spans:
            body.taken = entries.stop
        if frames and not self._are_posted:
            frames[min(frames)][:0] = self._posts.values()
            self._are_posted = True
        return frames

    def present(self) -> list[str]:
        """Returns lines with the last state that was taken of everything, also what is constant.

        Missiles that have ended are left out. A fighter that has died is removed at once: missiles
        may still name it.
        """
        flying = [missile for missile in self._missiles if missile.taken and not missile.is_over]
        spans = [
            _Span(body, range(body.taken - 1, body.taken), body.taken - 1)
            for body in (*flying, *self._fighters)
        ]
        removed = [f"-{body.id}" for body in self._fighters if body.is_over]
        posts = self._posts.values() if self._are_posted else ()
        return [*posts, *(line for _, line in self._states(spans)), *removed]

    def removals(self) -> list[str]:
        """Returns the lines that remove everything that is still there."""
        bodies = (*self._missiles, *self._fighters)
        posts = [f"-{number}" for number in self._posts] if self._are_posted else []
        return [*posts, *(f"-{body.id}" for body in bodies if body.taken and not body.is_over)]

    # Bodies

    def _line_posts(self, line: Line) -> dict[str, str]:
        """Returns, by id, the lines of posts along the line of a mission, which stay."""
        first = self._first_id + FIRST_MISSILE + MOST_POSTS
        start = self._paths.fighters[0]
        x, y = line.foot(start.x[0], start.y[0])
        out = {}
        for n in range(-POSTS, POSTS + 1):
            ahead_x, ahead_y = line.way
            post_x, post_y = x - n * POST_SPACING * ahead_y, y + n * POST_SPACING * ahead_x
            place = f"T={post_x / DEGREE:.7f}|{post_y / DEGREE:.7f}|0|{post_x:.2f}|{post_y:.2f}"
            properties = f"Name=Line,Type=Navaid+Static+Waypoint,{_side(line.attacker)}"
            number = f"{first + POSTS + n:x}"
            out[number] = f"{number},{place},{properties}"
        return out

    def _fighter(self, path: FighterPath, pilot: str) -> "_Body":
        name = self._name(AIRCRAFT, path.number)
        line = self._paths.line
        if line is not None and path.number == line.transport:
            name = "Name=C-130"  # by which Tacview shows a transport
        properties = f"{name},Type=Air+FixedWing,Pilot={_text(pilot)},{_side(path.side)}"
        return _Body(self._fighter_id(path.number), path, properties)

    def _missile(self, number: int) -> "_Body":
        path = self._paths.missiles[number]
        side = self._paths.fighters[path.owner].side
        properties = (
            f"{self._name(MISSILE, side, path.kind)},Type=Weapon+Missile,"
            f"Parent={self._fighter_id(path.owner)},{_side(side)}"
        )
        return _Body(f"{self._first_id + FIRST_MISSILE + number:x}", path, properties)

    def _name(self, kind: str, number: int, place: int = 0) -> str:
        """Returns the properties that name the type of a fighter, or of a side's missile."""
        if not self._paths.types:
            return "Name=Fighter" if kind == AIRCRAFT else "Name=Missile"
        name, base = self._paths.types[kind][number][place]
        return f"Name={NAMES[base]}" if name == base else f"Name={NAMES[base]},LongName={name}"

    def _fighter_id(self, number: int) -> str:
        return f"{self._first_id + 1 + number:x}"

    # Lines

    def _states(self, spans: Sequence["_Span"]) -> Iterator[tuple[float, str]]:
        """Yields positions, then locks, then new targets."""
        for span in spans:
            yield from self._positions(span)
        if self._paths.contacts:
            for span in spans:
                yield from self._locks(span)
        for body, entries, first in spans:
            if isinstance(path := body.path, MissilePath):
                for index in _changes(entries, first, path.targets.__getitem__):
                    if index != first:
                        yield path.times[index], f"{body.id},{self._locked(path.targets[index])}"

    def _positions(self, span: "_Span") -> Iterator[tuple[float, str]]:
        """Yields a line for every entry; constant properties are in that of the first one only."""
        body, entries, first = span
        path = body.path
        for index in entries:
            x, y, load = path.x[index], path.y[index], path.load[index]
            heading = (90 - math.degrees(path.heading[index])) % 360
            # A fighter banks so that its lift points where it accelerates; a missile turns by its
            # fins.
            up = path.lift[index] if path.lift else 1.0
            roll = -math.degrees(math.atan2(load, up)) if isinstance(path, FighterPath) else 0.0
            altitude, pitch, lasting = "", "", ""
            if path.z:
                altitude, pitch = f"{path.z[index]:z.1f}", f"{math.degrees(path.climb[index]):z.1f}"
            elif index == first:
                altitude, pitch = f"{ALTITUDE:g}", "0"
            if index == first:
                lasting = f",{body.properties}"
                if isinstance(path, MissilePath):
                    lasting += f",{self._locked(path.targets[index])}"
            yield (
                path.times[index],
                f"{body.id},T={x / DEGREE:z.7f}|{y / DEGREE:z.7f}|{altitude}|{roll:z.1f}|{pitch}|"
                f"{heading:.2f}|{x:z.2f}|{y:z.2f}|{heading:.2f},{_instruments(path, index)}"
                f"{lasting}",
            )

    def _locks(self, span: "_Span") -> Iterator[tuple[float, str]]:
        """Yields, with sensors, a fighter's radar and its targets, or the locks of a missile."""
        body, entries, first = span
        path = body.path
        if isinstance(path, MissilePath):
            for index in _changes(entries, first, lambda index: path.guided[index] == ACTIVE):
                yield (
                    path.times[index],
                    f"{body.id},LockedTargetMode={path.guided[index] == ACTIVE:d}",
                )
            return
        if first in entries:
            radar = f"RadarMode=1,RadarHorizontalBeamwidth={self._beam_width:g}"
            yield path.times[first], f"{body.id},{radar}"
        for index in _changes(entries, first, lambda index: self._on_radar(path, index)):
            enemy = self._on_radar(path, index)
            target = "" if enemy is None else f",{self._locked(enemy)}"
            yield path.times[index], f"{body.id},LockedTargetMode={enemy is not None:d}{target}"

    def _locked(self, target: int) -> str:
        return f"LockedTarget={self._fighter_id(target)}"

    def _on_radar(self, fighter: FighterPath, index: int) -> int | None:
        """Returns the nearest enemy on a fighter's radar at an entry of its path, or None."""
        place = fighter.x[index], fighter.y[index]
        ranges = {
            contact.enemy: math.dist(place, (contact.x[index], contact.y[index]))
            for contact in self._paths.contacts
            if contact.fighter == fighter.number and contact.source[index] == LIVE
        }
        return min(ranges, key=lambda enemy: ranges[enemy], default=None)

    def _end(self, span: "_Span") -> Iterator[tuple[float, str]]:
        """Yields the end and the removal of a body, once it has ended."""
        body, entries, _ = span
        path = body.path
        if body.is_over or entries.stop < len(path.times):
            return
        end = path.times[-1]
        if isinstance(path, FighterPath):
            if path.died is None:
                return
            yield end, f"0,Event=Destroyed|{body.id}|"
        elif path.fate == FLYING:
            return
        else:
            owner, target = self._fighter_id(path.owner), self._fighter_id(path.target)
            outcome = "Kill" if path.fate == HIT else "Miss"
            shot = f"SourceId:{owner}|AmmoType:Missile|AmmoCount:1|TargetId:{target}"
            yield end, f"0,Event=Timeout|{shot}|Outcome:{outcome}"
            if path.fate != HIT:  # a hit would count as destroyed
                yield end, f"0,Event=LeftArea|{body.id}|"
        yield end, f"-{body.id}"
        body.is_over = True


@dataclass(eq=False)
class _Body:
    """An object of the recording.

    Attributes:
        id: Its id.
        path: Its path.
        properties: Its constant properties.
        taken: Entries of the path that were taken.
        is_over: True once its removal was taken.
    """

    id: str
    path: FighterPath | MissilePath
    properties: str
    taken: int = 0
    is_over: bool = False


class _Span(NamedTuple):
    """Entries of a body's path; `first` is the entry with which the body is introduced."""

    body: _Body
    entries: range
    first: int


def _changes(entries: range, first: int, value: Callable[[int], object]) -> Iterator[int]:
    """Yields the entries whose value differs from the one before, and the first one."""
    for index in entries:
        if index == first or value(index) != value(index - 1):
            yield index


def _instruments(path: BodyPath, index: int) -> str:
    """Returns the numeric properties that change; to the right is positive, as for the roll."""
    speed, load, up = path.speed[index], path.load[index], path.lift[index] if path.lift else 1.0
    density, sound = air(path.z[index]) if path.z else (1.0, SPEED_OF_SOUND)
    text = f"IAS={speed * density**0.5:.1f},TAS={speed:.1f},Mach={speed / sound:.3f}"
    if isinstance(path, FighterPath):
        text += f",Throttle={path.throttle[index]:.2f},Rudder={-path.rudder[index]:z.2f}"
        return f"{text},VerticalGForce={math.hypot(up, load):.2f}"
    return f"{text},LateralGForce={-load:z.2f}"


def _side(side: int) -> str:
    colour = SEATS[side].capitalize()
    return f"Coalition={colour},Color={colour}"


def _text(text: str) -> str:
    """Returns a text property: one line, with commas escaped and backslashes replaced."""
    return shown(" ".join(text.split())).replace("\\", "/").replace(",", "\\,")
