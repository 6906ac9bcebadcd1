"""Radar, track, warning receiver and seeker against closed forms; RULES.md, "Sensors"."""

from math import cos, hypot, radians, sin, sqrt

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scenes import BLUE, RED, controls, fighter, hold

from midrange_puffer import RADAR_FEATURES, Simulation
from midrange_puffer.game.parameters import PARAMETERS

UNSEEN, RADAR, MEMORY, LOST = range(4)  # places among SOURCES
DEFAULTS = {name: row.default for name, row in PARAMETERS.items()}
COLUMN = {feature.name: column for column, feature in enumerate(RADAR_FEATURES)}
# A decision is one physics step, and a track begins at once; at the start nobody sees anybody.
QUICK = {"sensing": "radar", "substeps": 1, "radar_acquire_time": 0}
QUICK |= {"start_range_min": 200_000, "start_range_max": 200_000}


def scene(
    distance: float,
    bearing_deg: float = 0.0,
    aspect_deg: float = 0.0,
    speed: float = 300.0,
    **settings: float,
) -> Simulation:
    """Red at the origin, nose to +x; blue at a bearing, its nose `aspect_deg` off red.

    Blue looks away from red unless the aspect is small: its radar is no part of what is tested.
    The picture is that of the first update, which a decision of almost no length brings.
    """
    sim = Simulation(1, **({"physics_dt": 0.001} | QUICK | settings))
    bearing = radians(bearing_deg)
    sim.set_fighter(0, RED, x=0, y=0, heading_deg=0, speed=300)
    x, y = distance * cos(bearing), distance * sin(bearing)
    heading = bearing_deg + 180 + aspect_deg
    sim.set_fighter(0, BLUE, x=x, y=y, heading_deg=heading, speed=speed)
    hold(sim, 1)
    return sim


def is_seen(sim: Simulation) -> bool:
    return sim.contacts["source"][0, RED] == RADAR


def seen(sim: Simulation, name: str, seat: int = RED) -> float:
    """An observed feature, in its own unit."""
    return float(sim.observe()[0, seat, COLUMN[name]]) * RADAR_FEATURES[COLUMN[name]].scale


# The radar


@pytest.mark.parametrize("half_angle", [20, 60, 90, 120])
@pytest.mark.parametrize("side", [1, -1])
def test_the_radar_sees_within_its_half_angle(half_angle, side):
    for off, expected in ((-0.1, True), (0.1, False)):
        sim = scene(30_000, side * (half_angle + off), radar_half_angle_deg=half_angle)
        assert is_seen(sim) == expected


def test_a_radar_of_180_degrees_sees_all_around():
    for bearing in (0, 90, 179.99, 180, -135):
        assert is_seen(scene(30_000, bearing, radar_half_angle_deg=180))


@pytest.mark.parametrize("aspect", [0, 30, 60, 80, 100, 120, 150, 180, -45, -135])
def test_the_range_of_the_radar_goes_with_the_aspect(aspect):
    end = "radar_range_nose" if abs(aspect) < 90 else "radar_range_tail"
    share = cos(radians(aspect)) ** 2
    reach = DEFAULTS[end] * share + DEFAULTS["radar_range_beam"] * (1 - share)
    for off, expected in ((-20, True), (20, False)):
        assert is_seen(scene(reach + off, aspect_deg=aspect)) == expected


@pytest.mark.parametrize("speed", [100, 300, 450])
def test_the_notch_hides_by_the_targets_own_radial_speed(speed):
    notch = DEFAULTS["radar_notch_speed"]
    for radial, expected in ((notch + 1, True), (notch - 1, False), (-notch - 1, True)):
        aspect = np.degrees(np.arccos(radial / speed))
        assert is_seen(scene(30_000, aspect_deg=aspect, speed=speed)) == expected


def test_a_tail_chase_at_equal_speed_is_seen():
    """The range rate is 0, but the target moves over the ground."""
    sim = scene(20_000, aspect_deg=180, speed=300)
    assert abs(seen(sim, "enemy_closing")) < 0.5
    assert is_seen(sim)


# The track


def test_a_track_begins_after_the_time_to_acquire():
    settings = {"physics_dt": 0.1, "substeps": 5, "radar_acquire_time": 2}
    sim = Simulation(1, sensing="radar", **settings)
    sim.set_fighter(0, RED, x=0, y=0, heading_deg=0, speed=300)
    sim.set_fighter(0, BLUE, x=40_000, y=0, heading_deg=90, speed=300)  # in the notch
    hold(sim, 3)
    assert sim.contacts["source"][0, RED] == UNSEEN
    sim.set_fighter(0, BLUE, x=40_000, y=0, heading_deg=180, speed=300)
    expected = [UNSEEN] * 4 + [RADAR]  # first seen at the end of the first of these decisions
    for source in expected:
        hold(sim, 1)
        assert sim.contacts["source"][0, RED] == source


def test_a_track_is_the_truth_and_then_flies_straight_on_in_memory_until_it_is_lost():
    sim = scene(30_000, physics_dt=0.1, track_memory=3)
    hold(sim, 10)
    blue, contact = fighter(sim, BLUE), {n: v[0, RED] for n, v in sim.contacts.items()}
    assert [contact[name] for name in ("x", "y", "vx", "vy")] == pytest.approx(
        [blue[name] for name in ("x", "y", "vx", "vy")]
    )
    assert contact["age"] == 0
    sim.set_fighter(0, BLUE, x=-30_000, y=5_000, heading_deg=180, speed=300)  # behind red
    for age in range(1, 31):
        hold(sim, 1)
        now = {n: v[0, RED] for n, v in sim.contacts.items()}
        assert (now["source"], now["age"]) == (MEMORY, age)
        assert now["x"] == pytest.approx(blue["x"] + 0.1 * age * blue["vx"], abs=0.1)
        assert now["y"] == pytest.approx(blue["y"] + 0.1 * age * blue["vy"], abs=0.1)
        assert seen(sim, "track_age") == pytest.approx(0.1 * age, abs=1e-6)
    hold(sim, 1)
    assert sim.contacts["source"][0, RED] == LOST
    last = sim.contacts["x"][0, RED]
    hold(sim, 20)
    assert sim.contacts["source"][0, RED] == LOST
    assert sim.contacts["x"][0, RED] == last
    geometry = [name for name in COLUMN if name.startswith(("enemy_", "track_", "own_aspect"))]
    assert len(geometry) > 10
    assert not any(seen(sim, name) for name in [*geometry, "own_reach", "enemy_reach"])


def test_a_memory_is_live_again_at_once_and_a_lost_track_has_to_be_acquired_anew():
    settings = {"radar_acquire_time": 1, "track_memory": 2, "physics_dt": 0.1}
    for away, expected in ((10, RADAR), (30, LOST)):
        sim = scene(30_000, **settings)
        hold(sim, 20)
        assert is_seen(sim)
        sim.set_fighter(0, RED, x=0, y=0, heading_deg=180, speed=300)
        hold(sim, away)
        sim.set_fighter(0, RED, x=0, y=0, heading_deg=0, speed=300)
        hold(sim, 1)
        assert sim.contacts["source"][0, RED] == expected
        hold(sim, 11)
        assert is_seen(sim)


# The warning receiver


def heard(sim: Simulation, seat: int = BLUE) -> tuple[float, ...]:
    names = ("receiver_searched", "receiver_tracked", "receiver_ahead", "receiver_left")
    return tuple(seen(sim, name, seat) for name in names)


def test_the_receiver_tells_a_search_from_a_track_and_the_bearing():
    for aspect in (0, 40, -90, 180):  # in the notch as well
        sim = scene(30_000, 10, aspect_deg=aspect)
        tracked = aspect != -90
        # Blue's nose is `aspect` off the line to red, to the left: red is as far to its right.
        bearing = cos(radians(aspect)), -sin(radians(aspect))
        expected = (float(not tracked), float(tracked), *bearing)
        assert heard(sim) == pytest.approx(expected, abs=1e-3)


def test_the_receiver_hears_within_the_radars_angle_and_its_own_range():
    reach = DEFAULTS["receiver_range"] * DEFAULTS["radar_range_nose"]
    half_angle = DEFAULTS["radar_half_angle_deg"]
    for distance, bearing, expected in (
        (reach - 20, 0, True),
        (reach + 20, 0, False),
        (30_000, half_angle - 0.1, True),
        (30_000, half_angle + 0.1, False),
        (30_000, -half_angle - 0.1, False),
    ):
        assert any(heard(scene(distance, bearing, aspect_deg=180))) == expected


# Missiles


def test_a_launch_needs_a_track():
    for aspect, expected in ((0, True), (90, False)):
        sim = scene(20_000, aspect_deg=aspect)
        assert sim.launch(0, RED) == expected
        sim = scene(20_000, aspect_deg=aspect)
        sim.step(controls(red=(0, 1, 1), blue=(0, 1, 0)))
        assert sim.missiles["active"].sum() == expected
    assert Simulation(1).launch(0, RED)  # without sensors


def shot(distance: float, bearing_deg: float = 0.0, **settings: float) -> Simulation:
    """A missile of red at the origin, flying along +x, whose target is at a bearing."""
    sim = scene(60_000, 179, aspect_deg=180, **settings)
    bearing = radians(bearing_deg)
    sim.set_fighter(0, RED, x=-60_000, y=0, heading_deg=180, speed=300)
    x, y = distance * cos(bearing), distance * sin(bearing)
    sim.set_fighter(0, BLUE, x=x, y=y, heading_deg=bearing_deg, speed=300)
    sim.set_missile(0, 0, owner=RED, x=0, y=0, heading_deg=0, speed=800)
    hold(sim, 1)
    return sim


def is_locked(sim: Simulation) -> bool:
    return bool(sim.beliefs["locked"][0, 0])


def test_a_seeker_sees_within_its_range_and_angle():
    reach, half_angle = DEFAULTS["seeker_range"], DEFAULTS["seeker_half_angle_deg"]
    for distance, bearing, expected in (
        (reach - 20, 0, True),
        (reach + 20, 0, False),
        (5_000, half_angle - 0.1, True),
        (5_000, half_angle + 0.1, False),
        (5_000, -half_angle - 0.1, False),
    ):
        sim = shot(distance, bearing)
        assert is_locked(sim) == expected
        assert any(seen(sim, "seeker_1_present", BLUE) for _ in range(1)) == expected


def test_the_receiver_tells_the_bearing_of_a_seeker_and_nothing_else():
    sim = shot(9_000, 20)
    # Blue flies straight away from the missile's place: the missile is behind it.
    assert seen(sim, "seeker_1_ahead", BLUE) == pytest.approx(-1, abs=1e-3)
    assert seen(sim, "seeker_1_left", BLUE) == pytest.approx(0, abs=1e-2)
    assert not any(seen(sim, f"seeker_{rank}_present", BLUE) for rank in (2, 3))


def test_a_notch_breaks_the_lock_after_the_seekers_memory_and_it_is_found_again():
    """Until then the missile flies at where it believes the target, here straight on."""
    sim = shot(9_000, physics_dt=0.1, seeker_memory=1.2)
    assert is_locked(sim)
    before = fighter(sim, BLUE)
    sim.set_fighter(0, BLUE, x=before["x"], y=0, heading_deg=90, speed=300)
    for age in range(1, 13):
        hold(sim, 1)
        assert is_locked(sim)
        assert sim.beliefs["unseen"][0, 0] == age
        assert sim.beliefs["x"][0, 0] == pytest.approx(before["x"] + 30 * age, abs=0.1 * age)
    hold(sim, 1)
    assert not is_locked(sim)
    blue = fighter(sim, BLUE)
    sim.set_fighter(0, BLUE, x=blue["x"], y=blue["y"], heading_deg=0, speed=300)
    hold(sim, 1)
    assert is_locked(sim)


def test_a_burnt_out_missile_that_knows_nothing_is_lost():
    burn = round(DEFAULTS["missile_burn_time"] / 0.1)
    for distance, age, expected in ((30_000, burn, 0), (30_000, burn - 5, 1), (9_000, burn, 1)):
        sim = scene(60_000, 179, aspect_deg=180, physics_dt=0.1)
        sim.set_fighter(0, RED, x=-60_000, y=0, heading_deg=180, speed=300)
        sim.set_fighter(0, BLUE, x=distance, y=0, heading_deg=0, speed=300)
        sim.set_missile(0, 0, owner=RED, x=0, y=0, heading_deg=0, speed=800, age=age)
        hold(sim, 1)
        assert sim.missiles["active"].sum() == expected


def test_a_missile_without_a_lock_flies_at_the_contact():
    """Its rudder is that of navigation toward where the contact is believed, not the truth."""
    sim = scene(25_000, physics_dt=0.1, seeker_range=0, track_memory=60)
    hold(sim, 5)
    assert sim.launch(0, RED)
    twin = Simulation(1, **(QUICK | {"seeker_range": 0, "track_memory": 60}))
    twin.restore(sim.snapshot())
    blue = fighter(sim, BLUE)
    for one, heading in ((sim, 90), (twin, 270)):  # both in the notch: red remembers the same
        one.set_fighter(0, BLUE, x=blue["x"], y=blue["y"], heading_deg=heading, speed=300)
    for _ in range(40):
        hold(sim, 1, red=(1, 1, 0))
        hold(twin, 1, red=(1, 1, 0))
        assert sim.contacts["source"][0, RED] == MEMORY
        assert {n: v[0, 0] for n, v in sim.missiles.items()} == {
            n: v[0, 0] for n, v in twin.missiles.items()
        }
    assert hypot(*(sim.fighters[n][0, BLUE] - twin.fighters[n][0, BLUE] for n in "xy")) > 2000


# What is observed


@given(st.integers(0, 2**31), st.sampled_from(["ace", "crank", "turn_back", "evader", "snake"]))
@settings(max_examples=30)
def test_the_observed_enemy_is_the_contact(seed, pilot):
    """Range, bearing, closing speed and aspect by plain geometry from what `contacts` tells."""
    sim = Simulation(8, seed, red=pilot, blue="ace", sensing="radar")
    for _ in range(60):
        sim.step()
    observed = sim.observe() * [feature.scale for feature in RADAR_FEATURES]
    own, contact = sim.fighters, sim.contacts
    for env in range(8):
        for seat in (RED, BLUE):
            row = {name: observed[env, seat, column] for name, column in COLUMN.items()}
            source = contact["source"][env, seat]
            assert (row["track_live"], row["track_memory"]) == (source == RADAR, source == MEMORY)
            if source not in (RADAR, MEMORY):
                continue
            me = {name: float(values[env, seat]) for name, values in own.items()}
            it = {name: float(values[env, seat]) for name, values in contact.items()}
            dx, dy = it["x"] - me["x"], it["y"] - me["y"]
            distance = hypot(dx, dy)
            c, s = cos(me["heading"]), sin(me["heading"])
            assert row["enemy_range"] == pytest.approx(min(distance, 100_000), rel=1e-3)
            assert row["enemy_ahead"] == pytest.approx((dx * c + dy * s) / distance, abs=1e-3)
            assert row["enemy_left"] == pytest.approx((dy * c - dx * s) / distance, abs=1e-3)
            assert row["enemy_speed"] == pytest.approx(min(it["speed"], 500), rel=1e-3)
            closing = -(dx * (it["vx"] - me["vx"]) + dy * (it["vy"] - me["vy"])) / distance
            assert row["enemy_closing"] == pytest.approx(closing, abs=1)
            toward = -(dx * it["vx"] + dy * it["vy"]) / distance / it["speed"]
            assert row["own_aspect_ahead"] == pytest.approx(toward, abs=1e-3)


def test_an_own_missile_tells_whether_it_is_supported_and_active():
    sim = scene(25_000, physics_dt=0.1, missile_hit_radius=1)
    hold(sim, 5)
    assert sim.launch(0, RED)
    sources, locks = [], []
    for _ in range(300):
        hold(sim, 1)
        if not sim.missiles["active"].any():
            break
        tracked = sim.contacts["source"][0, RED] in (RADAR, MEMORY)
        locks.append(is_locked(sim))
        sources.append(tracked)
        assert seen(sim, "own_missile_1_supported") == tracked
        assert seen(sim, "own_missile_1_active") == is_locked(sim)
    assert {*sources} >= {True}
    assert {*locks} == {True, False}


def test_another_engagements_start_does_not_update_contacts():
    """An engagement that was changed from outside keeps the picture of its own last update."""
    alone, beside = (Simulation(2, **QUICK) for _ in range(2))
    for sim in (alone, beside):
        hold(sim, 1)
        sim.set_fighter(0, BLUE, x=0, y=0, heading_deg=0, speed=300)
        sim.set_fighter(0, RED, x=-20_000, y=0, heading_deg=0, speed=300)
    before = alone.contacts["source"][0].tolist()
    beside.start(1, 7, 3)
    assert beside.contacts["source"][0].tolist() == before
    hold(alone, 1)
    assert alone.contacts["source"][0].tolist() != before


def test_there_are_no_contacts_without_sensors():
    sim = Simulation(1)
    for name in ("contacts", "beliefs"):
        with pytest.raises(ValueError, match="none with sensing = full"):
            getattr(sim, name)


def test_a_snapshot_of_the_other_sensing_is_refused():
    with pytest.raises(ValueError, match="snapshot"):
        Simulation(1, sensing="radar").restore(Simulation(1).snapshot())
    with pytest.raises(ValueError, match="snapshot"):
        Simulation(1).restore(Simulation(1, sensing="radar").snapshot())


# Pilots


def test_a_pilot_keeps_the_enemy_in_its_radar_while_its_missile_needs_it():
    sim = Simulation(64, 3, red="ace", blue="straight", sensing="radar")
    widest = cos(radians(DEFAULTS["radar_half_angle_deg"]))
    checked = 0
    for _ in range(200):
        sim.step()
        beliefs, missiles, own = sim.beliefs, sim.missiles, sim.fighters
        needs = (missiles["active"] == 1) & (missiles["owner"] == RED) & ~(beliefs["locked"] == 1)
        contact = sim.contacts
        dx, dy = (own[name][:, BLUE] - own[name][:, RED] for name in "xy")
        ahead = (
            dx * np.cos(own["heading"][:, RED]) + dy * np.sin(own["heading"][:, RED])
        ) / np.sqrt(dx**2 + dy**2)
        rows = needs.any(axis=1) & (contact["source"][:, RED] == RADAR) & (sim.outcome == 0)
        assert (ahead[rows] > widest).all()
        checked += rows.sum()
    assert checked > 200


def test_a_pilot_turns_its_side_to_a_seeker_and_breaks_its_lock():
    """A straight flight from the same place is hit."""
    results = {}
    for pilot in ("evader", "straight"):
        sim = Simulation(1, red="agent", blue=pilot, sensing="radar", time_limit=100)
        sim.set_fighter(0, RED, x=0, y=0, heading_deg=180, speed=300)
        sim.set_fighter(0, BLUE, x=14_000, y=0, heading_deg=160, speed=300)
        sim.set_missile(0, 0, owner=RED, x=0, y=0, heading_deg=0, speed=900)
        locks, aspects = [], []
        for _ in range(40):
            hold(sim, 1, red=(0, 1, 0))
            if not sim.missiles["active"].any():
                break
            locks.append(is_locked(sim))
            missile, blue = sim.missiles, fighter(sim, BLUE)
            dx, dy = missile["x"][0, 0] - blue["x"], missile["y"][0, 0] - blue["y"]
            speed = sqrt(blue["vx"] ** 2 + blue["vy"] ** 2)
            aspects.append((dx * blue["vx"] + dy * blue["vy"]) / hypot(dx, dy) / speed)
        results[pilot] = (bool(sim.fighters["alive"][0, BLUE]), locks, aspects)
    assert not results["straight"][0]
    alive, locks, aspects = results["evader"]
    assert alive
    assert True in locks
    assert not locks[-1]
    assert min(map(abs, aspects)) < 0.1
