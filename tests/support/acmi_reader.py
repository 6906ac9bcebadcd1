"""A strict reader of ACMI 2.2 by its documentation alone: https://www.tacview.net/documentation/acmi/

Anything that the documentation does not name is an error.
"""

import re
from dataclasses import dataclass, field
from datetime import datetime

PLACE = ("Longitude", "Latitude", "Altitude", "Roll", "Pitch", "Yaw", "U", "V", "Heading")
GLOBAL = {"ReferenceTime", "ReferenceLongitude", "ReferenceLatitude", "DataSource", "Title"}
IDS = {"Parent", "LockedTarget"}
TEXTS = {"Name", "LongName", "Type", "CallSign", "Pilot", "Coalition", "Color"} | IDS
NUMBERS = {"IAS", "TAS", "Mach", "Throttle", "Rudder", "VerticalGForce", "LateralGForce"}
LOCKS = {"LockedTargetMode", "LockedTarget", "RadarMode", "RadarHorizontalBeamwidth"}
COLOURS = {"Red", "Orange", "Yellow", "Green", "Cyan", "Blue", "Violet"}
TYPES = {"Air+FixedWing", "Weapon+Missile"}
TIMEOUT = {"SourceId", "AmmoType", "AmmoCount", "TargetId", "Outcome"}


@dataclass
class Body:
    """An object: its texts, its numbers and locks by time, and the time of its removal."""

    texts: dict[str, str] = field(default_factory=dict)
    locks: dict[float, dict[str, str]] = field(default_factory=dict)
    numbers: dict[float, dict[str, float]] = field(default_factory=dict)
    removed: float | None = None


@dataclass
class Recording:
    """The content of a file."""

    properties: dict[str, str] = field(default_factory=dict)
    bodies: dict[int, Body] = field(default_factory=dict)
    events: list[tuple[float, str, list[str]]] = field(default_factory=list)
    times: list[float] = field(default_factory=list)


def read(data: bytes) -> Recording:
    """Reads a file's content, with or without a byte order mark."""
    text = data.decode("utf-8-sig")
    assert "\r" not in text
    assert text.endswith("\n")
    first, second, *lines = text[:-1].split("\n")
    assert (first, second) == ("FileType=text/acmi/tacview", "FileVersion=2.2")
    recording = Recording()
    for line in lines:
        if line.startswith("#"):
            recording.times.append(float(line[1:]))
        elif line.startswith("-"):
            body = recording.bodies[_id(line[1:])]
            assert body.removed is None
            body.removed = recording.times[-1]
        else:
            _take(recording, line)
    for body in recording.bodies.values():
        for name in IDS & set(body.texts):
            assert _id(body.texts[name]) in recording.bodies
    return recording


def _take(recording: Recording, line: str) -> None:
    """Returns an object id and its properties, split at commas that are not escaped."""
    name, *properties = re.split(r"(?<!\\),", line)
    pairs = [tuple(text.replace("\\,", ",").split("=", 1)) for text in properties]
    assert pairs
    assert len(dict(pairs)) == len(pairs)
    if name != "0":
        body = recording.bodies.setdefault(_id(name), Body())
        assert body.removed is None
        _take_body(body, recording.times[-1], dict(pairs))
        return
    for key, value in pairs:
        if key == "Event":
            recording.events.append((recording.times[-1], *_event(recording, value)))
            continue
        assert key in GLOBAL
        assert not recording.times
        recording.properties[key] = value
        if key == "ReferenceTime":
            datetime.strptime(value, "%Y-%m-%dT%H:%M:%SZ")


def _take_body(body: Body, time: float, pairs: dict[str, str]) -> None:
    if "T" not in pairs:  # of sensors
        assert body.texts
        assert set(pairs) <= LOCKS
        body.locks[time] = body.locks.get(time, {}) | pairs
        return
    before = next(reversed(body.numbers.values()), {})
    assert time not in body.numbers
    parts = pairs.pop("T").split("|")
    assert len(parts) == len(PLACE)
    place = {key: float(part) for key, part in zip(PLACE, parts, strict=True) if part}
    numbers = {key: float(pairs.pop(key)) for key in NUMBERS & set(pairs)}
    body.numbers[time] = before | place | numbers
    assert set(PLACE) <= set(body.numbers[time])
    assert set(pairs) <= TEXTS
    body.texts |= pairs
    assert body.texts["Color"] in COLOURS
    assert body.texts["Type"] in TYPES


def _event(recording: Recording, value: str) -> tuple[str, list[str]]:
    """Returns the kind of an event and its parts; the last is a text, which may be empty."""
    kind, *parts = value.split("|")
    if kind == "Timeout":
        fields = dict(part.split(":", 1) for part in parts)
        assert set(fields) == TIMEOUT
        assert fields["Outcome"] in ("Kill", "Miss")
        ids = [fields["SourceId"], fields["TargetId"]]
    else:
        assert kind in ("Bookmark", "LeftArea", "Destroyed")
        ids = parts[:-1]
    assert all(_id(name) in recording.bodies for name in ids)
    return kind, parts


def _id(text: str) -> int:
    """Reads a hexadecimal number without prefix or leading zeros."""
    assert re.fullmatch("[1-9a-f][0-9a-f]{0,15}", text)
    return int(text, 16)
