"""Recordings for Tacview, read by a reader that follows only Tacview's documentation."""

import zipfile
from math import atan, degrees, hypot

import acmi_reader
import numpy as np
import pytest
import team_fights
from replays import record
from team_fights import EACH_SIZE, sized

from midrange_puffer.game.paths import FLYING, HIT, LOST, SPENT, Paths
from midrange_puffer.replays.acmi import ALTITUDE, FIRST_MISSILE, format_acmi, write_acmi
from midrange_puffer.replays.replay import Replay

EARTH = 6_371_000.0  # m


@pytest.fixture(scope="module", params=[("ace", "evader"), ("agent", "shooter"), ("snake",) * 2])
def flown(request) -> tuple[Replay, Paths, acmi_reader.Recording]:
    """A fight whose missiles end in more than one way, and its recording."""
    for seed in range(100):
        replay, _ = record(request.param, seed, start_range_max=20_000, time_limit=90)
        paths = replay.paths()
        if {SPENT, HIT} <= {missile.fate for missile in paths.missiles}:
            return replay, paths, acmi_reader.read(format_acmi(replay, paths).encode())
    raise AssertionError("no such fight")


def bodies(paths: Paths, recording: acmi_reader.Recording):
    """Returns each path with its object, in the order of launches."""
    fighters = [recording.bodies[1], recording.bodies[2]]
    missiles = [recording.bodies[number] for number in sorted(recording.bodies)[2:]]
    assert len(missiles) == len(paths.missiles)
    return [
        *zip(paths.fighters, fighters, strict=True),
        *zip(paths.missiles, missiles, strict=True),
    ]


def test_everything_is_where_it_was_to_the_metre(flown):
    _, paths, recording = flown
    assert recording.times == sorted(set(recording.times))
    for path, body in bodies(paths, recording):
        assert list(body.numbers) == pytest.approx(path.times, abs=1e-3)
        for index, numbers in enumerate(body.numbers.values()):
            x, y = path.x[index], path.y[index]
            assert hypot(numbers["U"] - x, numbers["V"] - y) < 0.01
            # On the globe it is a little off, as maps are: less than 1 % in place.
            metre = np.radians(1) * EARTH
            globe = hypot(numbers["Longitude"] * metre - x, numbers["Latitude"] * metre - y)
            assert globe < 0.01 * hypot(x, y)
            assert numbers["Altitude"] == ALTITUDE


def test_everything_points_where_it_flies(flown):
    """Headings count from north clockwise; fighters bank as in level turns."""
    _, paths, recording = flown
    for path, body in bodies(paths, recording):
        is_fighter = path in paths.fighters
        for index, numbers in enumerate(body.numbers.values()):
            north = np.radians(numbers["Heading"])
            heading = path.heading[index]
            assert (np.sin(north), np.cos(north)) == pytest.approx(
                (np.cos(heading), np.sin(heading)), abs=1e-3
            )
            assert numbers["Yaw"] == numbers["Heading"]
            assert numbers["TAS"] == pytest.approx(path.speed[index], abs=0.06)
            assert numbers["Pitch"] == 0
            if is_fighter:
                assert numbers["Roll"] == pytest.approx(-degrees(atan(path.load[index])), abs=0.1)
                assert numbers["Throttle"] == pytest.approx(path.throttle[index], abs=0.01)
    rolls = [numbers["Roll"] for numbers in recording.bodies[1].numbers.values()]
    yaws = np.unwrap([np.radians(n["Yaw"]) for n in recording.bodies[1].numbers.values()])
    hard = np.abs(rolls[1:]) > 60
    assert hard.any()
    assert (np.sign(np.diff(yaws)[hard]) == np.sign(np.array(rolls)[1:][hard])).mean() > 0.9


def test_objects_have_the_fighters_names(flown):
    replay, paths, recording = flown
    for seat, side in enumerate(("Red", "Blue")):
        texts = recording.bodies[1 + seat].texts
        assert (texts["Type"], texts["Coalition"], texts["Color"]) == ("Air+FixedWing", side, side)
        assert texts["Pilot"] == replay.names[seat]
    for path, body in bodies(paths, recording)[2:]:
        assert body.texts["Type"] == "Weapon+Missile"
        assert int(body.texts["Parent"], 16) == 1 + path.owner
        assert int(body.texts["LockedTarget"], 16) == 1 + path.target
        assert body.texts["Color"] == ("Red", "Blue")[path.owner]
    red, blue = replay.names
    assert recording.properties["Title"] == f"{red} (red) against {blue} (blue)"


def test_ends_of_all_objects_are_recorded(flown):
    replay, paths, recording = flown
    happened = [(round(time, 3), kind, parts) for time, kind, parts in recording.events]
    assert happened[-1] == (pytest.approx(paths.time), "Bookmark", [replay.outcome])
    for path, body in bodies(paths, recording):
        end = round(path.times[-1], 3)
        if path in paths.fighters:
            died = path.died is not None
            assert body.removed == (pytest.approx(end) if died else None)
            assert ((end, "Destroyed", [f"{1 + path.number}", ""]) in happened) == died
            continue
        assert body.removed == (None if path.fate == FLYING else pytest.approx(end))
    fates = [path.fate for path in paths.missiles]
    shots = [parts for _, kind, parts in happened if kind == "Timeout"]
    assert sum("Outcome:Kill" in parts for parts in shots) == fates.count(HIT)
    missed = fates.count(SPENT) + fates.count(LOST)
    assert sum("Outcome:Miss" in parts for parts in shots) == missed
    assert sum(kind == "LeftArea" for _, kind, _ in happened) == missed


def test_locks_are_those_of_the_radars_and_the_seekers():
    """The radars' targets at every time, and the times of each missile's lock."""
    replay, _ = record(("shooter", "notcher"), seed=1, sensing="radar", start_range_max=40_000)
    paths = replay.paths()
    recording = acmi_reader.read(format_acmi(replay, paths).encode())
    counts = {"0": 0, "1": 0}
    for path, body in bodies(paths, recording):
        is_fighter = path in paths.fighters
        if is_fighter:
            assert body.locks[0]["RadarHorizontalBeamwidth"] == "120"
        mode = None
        for index, time in enumerate(path.times):
            told = body.locks.get(round(time, 3), {})
            mode = told.get("LockedTargetMode", mode)
            if is_fighter:
                expected = paths.contacts[path.number].source[index] == 1
                assert told.get("LockedTarget", f"{2 - path.number}") == f"{2 - path.number}"
            else:
                expected = path.guided[index] == 2
            assert mode == f"{expected:d}"
            counts[mode] += 1
    assert min(counts.values()) > 10


def test_without_sensors_there_are_no_locks(flown):
    assert not any(body.locks for body in flown[2].bodies.values())


def test_names_are_free(tmp_path):
    replay, _ = record(names=("Ann, the \n first\\", "Zoë=|#-\x1b[0m\u202e"))
    write_acmi(replay, tmp_path / "names.acmi")
    recording = acmi_reader.read((tmp_path / "names.acmi").read_bytes())
    assert recording.bodies[1].texts["Pilot"] == "Ann, the first/"
    assert recording.bodies[1].texts["Coalition"] == "Red"
    assert recording.bodies[2].texts["Pilot"] == "Zoë=|#-/x1b[0m/u202e"


def test_a_zip_holds_the_same_text_and_repeats(tmp_path):
    replay, _ = record()
    for name in ("fight.acmi", "fight.zip.acmi"):
        write_acmi(replay, tmp_path / name)
    with zipfile.ZipFile(tmp_path / "fight.zip.acmi") as archive:
        [member] = archive.namelist()
        assert member == "fight.txt.acmi"
        assert archive.read(member) == (tmp_path / "fight.acmi").read_bytes()
    first = (tmp_path / "fight.zip.acmi").read_bytes()
    write_acmi(replay, tmp_path / "fight.zip.acmi")
    assert (tmp_path / "fight.zip.acmi").read_bytes() == first


def test_long_recordings_keep_their_time():
    """Decisions of a thousandth of a second."""
    replay, _ = record(("straight",) * 2, physics_dt=0.001, substeps=1, time_limit=1)
    recording = acmi_reader.read(format_acmi(replay, replay.paths()).encode())
    assert recording.times == pytest.approx(np.arange(1001) / 1000, abs=1e-9)


# Teams


@EACH_SIZE
def test_all_are_there_and_the_right_ones_have_killed(sizes):
    replay, _ = team_fights.record(sized(*sizes), ("shooter", "ace"), seed=1)
    paths = replay.paths()
    recording = acmi_reader.read(format_acmi(replay, paths).encode())
    names = [f"red_{n}" for n in range(sizes[0])] + [f"blue_{n}" for n in range(sizes[1])]
    assert len(recording.bodies) == len(names) + len(paths.missiles)
    for path, name in zip(paths.fighters, names, strict=True):
        body = recording.bodies[1 + path.number]
        side, _, _ = name.partition("_")
        assert body.texts["CallSign"] == name
        assert body.texts["Color"] == body.texts["Coalition"] == side.capitalize()
        assert body.texts["Pilot"] == {"red": "shooter", "blue": "ace"}[side]
        assert body.removed == (None if path.died is None else pytest.approx(path.died))
        numbers = body.numbers[round(path.times[-1], 3)]
        assert (numbers["U"], numbers["V"]) == pytest.approx((path.x[-1], path.y[-1]), abs=0.01)
    changed, kills = 0, {}
    for number, path in enumerate(paths.missiles):
        body = recording.bodies[FIRST_MISSILE + number]
        assert body.texts["Color"] == recording.bodies[1 + path.owner].texts["Color"]
        locked = int(body.texts["LockedTarget"], 16)
        for time, target in zip(path.times, path.targets, strict=True):
            told = body.locks.get(round(time, 3), {}).get("LockedTarget")
            changed += told is not None
            locked = int(told, 16) if told else locked
            assert locked == 1 + target
        if path.fate == HIT:
            kills[path.target] = path.owner, round(path.times[-1], 3)
        else:
            assert (body.removed is None) == (path.fate == FLYING)
    assert changed or sizes == (3, 1)
    assert kills
    told = {}
    for time, kind, parts in recording.events:
        fields = dict(part.split(":", 1) for part in parts) if kind == "Timeout" else {}
        if fields.get("Outcome") == "Kill":
            source, target = (int(fields[name], 16) - 1 for name in ("SourceId", "TargetId"))
            told[target] = source, round(time, 3)
    assert told == kills
    assert recording.events[-1][1:] == ("Bookmark", [replay.outcome])


def test_a_wingman_is_flown_by_its_pilot():
    pilots = ["agent", "evader", "ace"], "crank"
    replay, _ = team_fights.record(sized(3, 1, time_limit=10), pilots, names=("Ann", "Bob"))
    recording = acmi_reader.read(format_acmi(replay, replay.paths()).encode())
    pilots = [recording.bodies[1 + number].texts["Pilot"] for number in range(4)]
    assert pilots == ["Ann", "evader", "ace", "crank"]
    assert recording.properties["Title"] == "Ann (3 red) against Bob (1 blue)"
