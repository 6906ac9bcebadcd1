"""Jammers against closed forms: burn-through, what is heard of them, home-on-jam; RULES.md.

test_reference.py and test_height_sensors.py fly jammers beside their float64 reference.
"""

from math import cos, radians

import numpy as np
import pytest
from scenes import BLUE, RED

from midrange_puffer import Simulation, _core, features_of
from midrange_puffer.errors import UsageError
from midrange_puffer.game.contacts import LIVE, believed
from midrange_puffer.game.parameters import JAMMERS, resolve

QUICK = {"sensing": "radar", "substeps": 1, "radar_acquire_time": 0}
QUICK |= {"start_range_min": 200_000, "start_range_max": 200_000}
JAMMED = {"blue_jammer": 25_000.0}
EACH_DIMENSION = pytest.mark.parametrize("dimensions", [2, 3])


def scene(distance: float, heading: float = 180, **settings: object) -> Simulation:
    """Red at the origin, nose to +x, and blue in front of it, as high as red; a decision later."""
    sim = Simulation(1, 1, **({"physics_dt": 0.001} | QUICK | JAMMED | settings))
    level = {"z": 6_000, "climb_deg": 0} if settings.get("dimensions") == 3 else {}
    sim.set_fighter(0, RED, x=0, y=0, heading_deg=0, speed=300, **level)
    sim.set_fighter(0, BLUE, x=distance, y=0, heading_deg=heading, speed=300, **level)
    sim.step()
    return sim


def sees(sim: Simulation, seat: int = RED) -> bool:
    return bool(sim.contacts["source"][0, seat] == LIVE)


def shown(sim: Simulation, seat: int) -> dict[str, float]:
    """Returns the features that a fighter observes."""
    names = features_of("radar_height" if sim.parameters["dimensions"] == 3 else "radar")
    values = sim.observe()[0, seat]
    return {feature.name: float(v) for feature, v in zip(names, values, strict=True)}


def missile(sim: Simulation, distance: float, off_deg: float = 0.0) -> None:
    """Puts a missile of red's so far in front of blue, its nose off blue."""
    fighters = sim.fighters
    place = {"x": float(fighters["x"][0, BLUE]) - distance, "y": 0}
    if sim.parameters["dimensions"] == 3:
        place |= {"z": 6_000, "climb_deg": 0}
    sim.set_missile(0, 0, owner=RED, heading_deg=off_deg, speed=900, age=50, **place)
    sim.step()


def is_locked(sim: Simulation) -> bool:
    return bool(sim.beliefs["locked"][0, 0])


# Burn-through


@EACH_DIMENSION
@pytest.mark.parametrize("aspect", [0, 30, 60, 120, 150, 180])
def test_a_radar_burns_through_by_the_square_of_its_range(aspect, dimensions):
    p = resolve({})
    end = p["radar_range_nose" if aspect < 90 else "radar_range_tail"]
    share = cos(radians(aspect)) ** 2
    reach = end * share + p["radar_range_beam"] * (1 - share)
    burn = 25_000 * (reach / p["radar_range_nose"]) ** 2
    for off, seen in ((-20, True), (20, False)):
        at = {"heading": 180 + aspect, "dimensions": dimensions, "blue_aircraft": "own"}
        at |= {"types": "own=light cross_section=5"} if dimensions == 3 else {}
        if dimensions == 2:
            del at["blue_aircraft"]
        assert sees(scene(burn + off, **at)) == seen
    assert burn < reach


def test_burn_through_goes_with_the_root_of_the_cross_section():
    types = {"types": "own=light cross_section=20", "blue_aircraft": "own", "dimensions": 3}
    for off, seen in ((-20, True), (20, False)):
        assert sees(scene(2 * 25_000 + off, **types)) == seen  # twice for four times the area


def test_a_weak_jammer_hides_nothing():
    """Beyond the range of the radar on this target nothing is seen in any case."""
    for off, seen in ((-20, True), (20, False)):
        assert sees(scene(55_000 + off, blue_jammer=200_000)) == seen


def test_jammers_are_of_a_side():
    sim = scene(40_000)
    assert not sees(sim, RED)
    assert sees(sim, BLUE)
    sim = scene(40_000, blue_jammer=0, red_jammer=25_000)
    assert sees(sim, RED)
    assert not sees(sim, BLUE)


@pytest.mark.parametrize("factor", [0, 0.5, 1, 2])
def test_jammers_are_of_a_type(factor):
    """A factor of the burn-through range; 0 is no jammer, which is not heard either."""
    own = {"types": f"own=light jammer={factor}", "blue_aircraft": "own", "dimensions": 3}
    burn = 25_000 * factor if factor else 55_000
    for off, seen in ((-20, True), (20, False)):
        assert sees(scene(burn + off, **own)) == seen
    assert shown(scene(70_000, 0, **own), RED)["receiver_searched"] == (factor > 0)
    sim = scene(60_000, **own)
    missile(sim, 20_000)
    assert is_locked(sim) == (factor > 0)
    red = {"types": f"own=light jammer={factor}", "red_aircraft": "own", "dimensions": 3}
    assert not sees(scene(25_020, **red))  # blue's jammer is that of its own type


# The receiver


@EACH_DIMENSION
def test_a_jammer_is_heard_whichever_way_it_looks(dimensions):
    for heading in (180, 90, 0):
        heard = shown(scene(70_000, heading, dimensions=dimensions), RED)
        assert heard["receiver_searched"] == 1
        assert heard["receiver_ahead"] == pytest.approx(1, abs=1e-3)
    away = {"dimensions": dimensions, "blue_jammer": 0}
    assert shown(scene(70_000, 0, **away), RED)["receiver_searched"] == 0
    assert shown(scene(83_000, 0, dimensions=dimensions), RED)["receiver_searched"] == 0
    assert shown(scene(82_000, 0, dimensions=dimensions), RED)["receiver_searched"] == 1


def test_a_radar_that_tracks_is_reported_as_such():
    assert shown(scene(40_000), RED)["receiver_tracked"] == 1


# Home-on-jam


@EACH_DIMENSION
def test_a_seeker_homes_on_a_jammer_beyond_its_own_range(dimensions):
    for distance, heading, jammer, locked in (
        (29_000, 0, 25_000, True),
        (31_000, 0, 25_000, False),
        (29_000, 0, 0, False),
        (10_000, 90, 25_000, True),  # in the notch; with height that needs the ground behind
        (10_000, 90, 0, dimensions == 3),
    ):
        sim = scene(120_000, heading, dimensions=dimensions, blue_jammer=jammer)
        missile(sim, distance)
        assert is_locked(sim) == locked, (distance, heading, jammer)


def test_a_seeker_homes_within_its_half_angle():
    for off, locked in ((44, True), (46, False), (-44, True), (-46, False)):
        sim = scene(120_000)
        missile(sim, 20_000, off)
        assert is_locked(sim) == locked


@EACH_DIMENSION
def test_a_seeker_that_only_listens_is_not_heard(dimensions):
    for distance, heard in ((13_200, 0), (12_800, 1)):
        sim = scene(120_000, dimensions=dimensions)
        missile(sim, distance)
        assert is_locked(sim)
        assert shown(sim, BLUE)["seeker_1_present"] == heard


def test_allies_report_only_what_their_receivers_hear():
    for distance, heard in ((13_200, 0), (12_800, 1)):
        sizes = {"red_size": 1, "blue_size": 2}
        sim = Simulation(1, 1, **QUICK | JAMMED | sizes, physics_dt=0.001)
        sim.set_fighter(0, RED, x=-200_000, y=0, heading_deg=180, speed=300)
        sim.set_fighter(0, 1, x=0, y=0, heading_deg=0, speed=300)
        sim.set_fighter(0, 2, x=0, y=60_000, heading_deg=0, speed=300)
        shot = {"x": -distance, "y": 0, "heading_deg": 0, "speed": 900, "age": 50}
        sim.set_missile(0, 0, owner=RED, target=1, **shot)
        sim.step()
        assert is_locked(sim)
        names = [feature.name for feature in features_of("team_radar", 1, 2)]
        view = dict(zip(names, sim.observe()[0, 2], strict=True))
        assert view["ally_1_locked"] * 6 == pytest.approx(heard, abs=1e-6)


# What holds in all games


@EACH_DIMENSION
@pytest.mark.parametrize("sizes", [(1, 1), (2, 3)], ids=str)
def test_instruction_sets_and_threads_give_the_same_bits(dimensions, sizes):
    red, blue = sizes
    settings = {"sensing": "radar", "dimensions": dimensions, "red_size": red, "blue_size": blue}
    settings |= {"red": "ace", "blue": "crank", "red_jammer": 20_000, **JAMMED}
    several = [{"isa": isa} for isa in _core.isas()] + [{"threads": 2}]
    sims = [Simulation(20, 7, **settings, **extra) for extra in several]
    for _ in range(150):
        for sim in sims:
            sim.step()
    assert len({sim.state_hash() for sim in sims}) == 1
    assert np.isfinite(sims[0].observe()).all()


@pytest.mark.parametrize("name", JAMMERS)
def test_jammers_need_sensors(name):
    with pytest.raises(UsageError, match=f"{name} = 3: needs sensing = radar"):
        Simulation(**{name: 3})
    with pytest.raises((UsageError, ValueError), match=name):
        Simulation(sensing="radar", **{name + "s": 3})


def test_home_on_jam_needs_a_jammer():
    with pytest.raises(UsageError, match="home_on_jam_range = 3: needs red_jammer or blue_jammer"):
        resolve({"sensing": "radar", "home_on_jam_range": 3})
    with pytest.raises(UsageError, match="home_on_jam_range = 3"):
        resolve({"home_on_jam_range": 3})
    game = {"sensing": "radar", "home_on_jam_range": 3, "blue_jammer": 1}
    assert resolve(game)["home_on_jam_range"] == 3
    sim = Simulation(**game)
    sim.step()
    assert believed(sim, 0, 0).parameters["sensing"] == "full"
