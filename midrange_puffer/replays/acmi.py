"""Replays for Tacview: ACMI flight recordings 2.2 (https://www.tacview.net/documentation/acmi/).

The plane of the game is laid on the sea where the equator meets the zero meridian, x to the east, y
to the north, and lifted to one altitude. U and V are x and y themselves.
"""

import io
import math
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from midrange_puffer.files import write_whole
from midrange_puffer.game.parameters import SEATS
from midrange_puffer.game.paths import (
    FLYING,
    HIT,
    SPEED_OF_SOUND,
    FighterTrack,
    MissileTrack,
    Track,
    Tracks,
)
from midrange_puffer.replays.replay import Replay

ZIP_SUFFIX = ".zip.acmi"
ALTITUDE = 6000.0  # m
DEGREE = 111_320.0  # m along the equator, and near it along a meridian
FIRST_MISSILE = 0x100  # object id; the fighters have 1 and 2
HEADER = (
    "FileType=text/acmi/tacview",
    "FileVersion=2.2",
    "0,ReferenceTime=2000-01-01T00:00:00Z",  # of no meaning; without one Tacview takes 1970
    "0,ReferenceLongitude=0",
    "0,ReferenceLatitude=0",
    "0,DataSource=midrange_puffer",
)


def write_acmi(replay: Replay, path: str | Path) -> None:
    """Fly a replay and write it as a file for Tacview, in a zip where it ends in .zip.acmi.

    Raises:
        ReplayError: It does not go as it went.
        WriteError: The file could not be written.
    """
    # Tacview's documentation finds text with a byte order mark cleaner.
    data = format_acmi(replay, replay.tracks()).encode("utf-8-sig")
    path = Path(path)
    if path.name.endswith(ZIP_SUFFIX):
        # ZipInfo has a constant date, so that equal replays give equal files.
        member = zipfile.ZipInfo(path.name.removesuffix(ZIP_SUFFIX) + ".txt.acmi")
        archive = io.BytesIO()
        with zipfile.ZipFile(archive, "w") as file:
            file.writestr(member, data, zipfile.ZIP_DEFLATED)
        data = archive.getvalue()
    write_whole(path, data)


def format_acmi(replay: Replay, tracks: Tracks) -> str:
    """The text of a recording."""
    red, blue = replay.names
    frames: dict[float, list[str]] = {}
    # What ends comes after where everything is, a missile before its target.
    missiles = [_missile(track, number) for number, track in enumerate(tracks.missiles)]
    fighters = [_fighter(track, replay.names[track.seat]) for track in tracks.fighters]
    for part in (_positions, _end):
        for body in (*missiles, *fighters):
            for time, line in part(body):
                frames.setdefault(round(time, 3), []).append(line)
    end = frames.setdefault(round(tracks.time, 3), [])
    end.append(f"0,Event=Bookmark|{_text(replay.outcome)}")
    lines = [*HEADER, f"0,Title={_text(f'{red} (red) against {blue} (blue)')}"]
    for time in sorted(frames):
        lines += [f"#{time}", *frames[time]]
    return "\n".join(lines) + "\n"


@dataclass(frozen=True)
class _Body:
    """An object of the recording: its id, and the properties that it keeps."""

    id: str
    track: FighterTrack | MissileTrack
    properties: str


def _fighter(track: FighterTrack, name: str) -> _Body:
    properties = f"Name=Fighter,Type=Air+FixedWing,Pilot={_text(name)},{_side(track.seat)}"
    return _Body(_fighter_id(track.seat), track, properties)


def _missile(track: MissileTrack, number: int) -> _Body:
    properties = (
        f"Name=Missile,Type=Weapon+Missile,Parent={_fighter_id(track.owner)},"
        f"LockedTarget={_fighter_id(track.target)},{_side(track.owner)}"
    )
    return _Body(f"{FIRST_MISSILE + number:x}", track, properties)


def _positions(body: _Body) -> Iterator[tuple[float, str]]:
    """Every entry of a track; what does not change stands only in the first."""
    track = body.track
    for index, time in enumerate(track.times):
        x, y, load = track.x[index], track.y[index], track.load[index]
        heading = (90 - math.degrees(track.heading[index])) % 360
        # A fighter banks as for a level turn, a missile turns by its fins.
        roll = -math.degrees(math.atan(load)) if isinstance(track, FighterTrack) else 0.0
        altitude, pitch, lasting = ("", "", "")
        if index == 0:
            altitude, pitch, lasting = (f"{ALTITUDE:g}", "0", f",{body.properties}")
        yield (
            time,
            f"{body.id},T={x / DEGREE:z.7f}|{y / DEGREE:z.7f}|{altitude}|{roll:z.1f}|{pitch}|"
            f"{heading:.2f}|{x:z.2f}|{y:z.2f}|{heading:.2f},{_instruments(track, index)}{lasting}",
        )


def _instruments(track: Track, index: int) -> str:
    """The numeric properties that change. To the right is positive, as for the roll."""
    speed, load = track.speed[index], track.load[index]
    text = f"IAS={speed:.1f},TAS={speed:.1f},Mach={speed / SPEED_OF_SOUND:.3f}"
    if isinstance(track, FighterTrack):
        text += f",Throttle={track.throttle[index]:.2f},Rudder={-track.rudder[index]:z.2f}"
        return f"{text},VerticalGForce={math.hypot(1, load):.2f}"
    return f"{text},LateralGForce={-load:z.2f}"


def _end(body: _Body) -> Iterator[tuple[float, str]]:
    """How a fighter or a missile ended, and its removal; nothing of what flies to the last."""
    track = body.track
    end = track.times[-1]
    if isinstance(track, FighterTrack):
        if track.died is None:
            return
        yield end, f"0,Event=Destroyed|{body.id}|"
    elif track.fate == FLYING:
        return
    else:
        yield (
            end,
            f"0,Event=Timeout|SourceId:{_fighter_id(track.owner)}|AmmoType:Missile|AmmoCount:1|"
            f"TargetId:{_fighter_id(track.target)}|"
            f"Outcome:{'Kill' if track.fate == HIT else 'Miss'}",
        )
        if track.fate != HIT:  # or it would count as destroyed
            yield end, f"0,Event=LeftArea|{body.id}|"
    yield end, f"-{body.id}"


def _side(seat: int) -> str:
    colour = SEATS[seat].capitalize()
    return f"Coalition={colour},Color={colour}"


def _fighter_id(seat: int) -> str:
    return f"{1 + seat:x}"


def _text(text: str) -> str:
    """A text property: one line, its commas escaped."""
    return " ".join(text.split()).replace(",", "\\,")
