"""Recordings of teams for Tacview: who is who, and whose missile has killed whom."""

import acmi_reader
import pytest
from team_fights import EACH_SIZE, record, sized

from midrange_puffer.game.paths import FLYING, HIT
from midrange_puffer.replays.acmi import FIRST_MISSILE, format_acmi


def recorded(replay):
    paths = replay.paths()
    return paths, acmi_reader.read(format_acmi(replay, paths).encode())


@EACH_SIZE
def test_all_are_there_and_the_right_ones_have_killed(sizes):
    replay, _ = record(sized(*sizes), ("shooter", "ace"), seed=1)
    paths, recording = recorded(replay)
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
    replay, _ = record(
        sized(3, 1, time_limit=10), (["agent", "evader", "ace"], "crank"), names=("Ann", "Bob")
    )
    _, recording = recorded(replay)
    pilots = [recording.bodies[1 + number].texts["Pilot"] for number in range(4)]
    assert pilots == ["Ann", "evader", "ace", "crank"]
    assert recording.properties["Title"] == "Ann (3 red) against Bob (1 blue)"
