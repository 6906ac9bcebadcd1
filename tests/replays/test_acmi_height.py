"""Recordings of fights with height for Tacview, and the paths of which they are made."""

from math import asin, cos, degrees, radians

import acmi_reader
import numpy as np
import pytest
from reference_height import air

from midrange_puffer import Simulation
from midrange_puffer.game.paths import HIT, LOST, SPENT, Paths
from midrange_puffer.replays.acmi import format_acmi
from midrange_puffer.replays.recorder import nearest_miss
from midrange_puffer.replays.replay import Recorder

GAME = {
    "dimensions": 3,
    "types": "agile=light thrust=16",
    "red_aircraft": "agile",
    "blue_aircraft": "heavy",
    "red_missile": "long",
    "start_range_max": 40_000,
}
GRAVITY = 9.8


@pytest.fixture(scope="module")
def flown():
    """Returns a fight in which a missile hits and another does not: replay, paths, recording."""
    for seed in range(60):
        sim = Simulation(1, seed, "ace", "crank", **GAME)
        recorder, controls = Recorder(sim, seed=seed, pilots=("ace", "crank")), np.zeros((1, 2, 4))
        while not sim.outcome[0]:
            sim.step(controls)
            recorder.add(controls)
        replay = recorder.replay()
        paths = replay.paths()
        if {SPENT, HIT} <= {missile.fate for missile in paths.missiles}:
            return replay, paths, acmi_reader.read(format_acmi(replay, paths).encode())
    raise AssertionError("no such fight")


def test_altitude_pitch_and_mach_are_those_of_the_fight(flown):
    _, paths, recording = flown
    numbers = sorted(recording.bodies)
    for path, number in zip((*paths.fighters, *paths.missiles), numbers, strict=True):
        for index, values in enumerate(recording.bodies[number].numbers.values()):
            z, speed = path.z[index], path.speed[index]
            assert values["Altitude"] == pytest.approx(z, abs=0.06)
            assert values["Pitch"] == pytest.approx(degrees(path.climb[index]), abs=0.06)
            _, density, sound2 = air(z)
            assert values["Mach"] == pytest.approx(speed * sound2**0.5, rel=0.002, abs=0.001)
            assert values["IAS"] == pytest.approx(speed * density**0.5, rel=0.002, abs=0.1)


def test_types_have_tacviews_names(flown):
    _, paths, recording = flown
    red, blue = (recording.bodies[number].texts for number in (1, 2))
    assert (red["Name"], red["LongName"]) == ("F-16C", "agile")
    assert blue["Name"] == "F-15C"
    assert "LongName" not in blue
    for path, number in zip(paths.missiles, sorted(recording.bodies)[2:], strict=True):
        assert recording.bodies[number].texts["Name"] == ("Meteor", "AIM-120C")[path.owner]
    assert paths.missiles[0].burnt_out - paths.missiles[0].launched in (8, 6 + 35)


def test_a_path_climbs_as_its_speed_says(flown):
    """Between two entries half a second apart the height gains v sin γ."""
    _, paths, _ = flown
    for path in paths.fighters:
        gained = np.diff(path.z) / np.diff(path.times)
        rates = np.array(path.speed) * np.sin(path.climb)
        off = np.abs(gained - (rates[:-1] + rates[1:]) / 2)
        assert off[: -1 if path.died else None].max() < 6  # it dies within the last


def test_a_level_turn_banks_as_its_load_says(flown):
    """A steady level turn: lift n g, bank acos(1/n), and the turn's radius gives n."""
    sim = Simulation(1, dimensions=3)
    sim.set_fighter(0, 0, z=5000, speed=300, climb_deg=0, rudder=0.4, throttle=1)
    controls = np.array([[[0.4, 0, 1, 0], [0, 0, 0, 0]]], np.float32)
    paths = Paths(sim)
    for _ in range(30):
        sim.step(controls)
        paths.note()
    path = paths.fighters[0]
    turn = np.diff(np.unwrap(path.heading)) / np.diff(path.times)
    load = path.speed[-1] * turn[-1] / GRAVITY
    assert load > 2
    assert path.load[-1] == pytest.approx(load, rel=0.02)
    assert path.lift[-1] == pytest.approx(1, abs=0.03)
    body = acmi_reader.read(format_acmi(flown[0], paths).encode()).bodies[1]
    last = list(body.numbers.values())[-1]
    assert cos(radians(last["Roll"])) == pytest.approx(1 / np.hypot(1, load), abs=0.02)
    assert last["Roll"] < 0  # to the left
    assert last["VerticalGForce"] == pytest.approx(np.hypot(1, load), rel=0.03)


def test_the_nearest_miss_is_in_space():
    sim = Simulation(1, dimensions=3)
    sim.set_fighter(0, 0, x=0, y=0, z=9000, heading_deg=0, speed=300)
    sim.set_fighter(0, 1, x=2000, y=0, z=3000, heading_deg=0, speed=300)
    sim.launch(0, 0)
    paths = Paths(sim)
    for _ in range(4):
        sim.step(np.zeros((1, 2, 4), np.float32))
        paths.note()
    missile, target = paths.missiles[0], paths.fighters[1]
    gaps = [
        np.linalg.norm(np.subtract(missile.place(n), target.place(target.at(time))))
        for n, time in enumerate(missile.times)
    ]
    assert min(gaps) > 4000
    assert nearest_miss(paths, 1) == pytest.approx(min(gaps), rel=0.01)


def test_one_that_flies_into_the_ground_was_hit_by_nobody():
    game = {"types": "diver=light floor=-1e7 climb_max_deg=80", "red_aircraft": "diver"}
    sim = Simulation(1, dimensions=3, **game)
    sim.set_fighter(0, 0, z=1500, climb_deg=-60, speed=300, climb=-1)
    sim.launch(0, 1)
    paths = Paths(sim)
    while not sim.outcome[0]:
        sim.step(np.array([[[0, -1, 1, 0], [0, 0, 0, 0]]], np.float32))
        paths.note()
    assert paths.fighters[0].died is not None
    assert paths.fighters[0].z[-1] < 0
    assert asin(np.sin(paths.fighters[0].climb[-1])) < -1
    assert {missile.fate for missile in paths.missiles} <= {LOST, SPENT}
