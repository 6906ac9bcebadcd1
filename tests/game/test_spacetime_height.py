"""The space-time graph with height: its predictions are the flights that follow."""

import math

import numpy as np
import pytest
from needs import EACH_ISA
from scenes import BLUE, RED, read, turned

from midrange_puffer import Simulation
from midrange_puffer.errors import UsageError
from midrange_puffer.game.spacetime import SpaceTime, spacetime

SECOND = 10  # physics steps
HEIGHT = {"dimensions": 3, "substeps": 1}
SPREAD = {
    "red_aircraft": "light:1,heavy:1", "blue_missile": "medium:1,long:1",
    "aircraft_spread": 0.2, "missile_spread": 0.2,
}  # fmt: skip


def place(sim: Simulation, env: int = 0, **blue: float) -> None:
    """Puts red at the origin along +x, 7 km high, and blue nose-on 15 km ahead, 8 km high."""
    own = {"x": 0, "y": 0, "z": 7000, "heading_deg": 0, "climb_deg": 0, "speed": 300}
    levers = {"rudder": 0, "climb": 0, "throttle": 1}
    sim.set_fighter(env, RED, **own, **levers)
    there = {"x": 15_000, "y": 2000, "z": 8000, "heading_deg": 180, "climb_deg": 0, "speed": 300}
    sim.set_fighter(env, BLUE, **(there | blue), **levers)


def positions(bodies: dict[str, np.ndarray], number: int, env: int = 0) -> np.ndarray:
    return np.array([bodies[axis][env, number] for axis in "xyz"])


def held(sim: Simulation) -> np.ndarray:
    """Returns the present commands of all fighters, without fire."""
    given = sim.core.read("fighter")
    columns = [given[f"{name}_command"] for name in ("rudder", "climb", "throttle")]
    return np.stack([*columns, np.zeros_like(columns[0])], axis=-1)


@pytest.fixture(scope="module")
def fights() -> Simulation:
    """Twenty fights of pilots with missiles in the air, each with its own types."""
    near = {"start_range_min": 20_000, "start_range_max": 30_000}
    sim = Simulation(20, 3, "snake", "shooter", dimensions=3, **near, **SPREAD)
    for _ in range(40):
        sim.step()
    assert (sim.missiles["active"].sum(axis=1) > 1).sum() > 5
    return sim


def test_own_path_and_missiles_are_what_is_flown_if_the_controls_are_held(fights):
    """With the types that each fight has drawn; flown with agents instead of the pilots."""
    hits = 0
    sim = Simulation(20, 3, **HEIGHT, start_range_min=20_000, start_range_max=30_000, **SPREAD)
    slots = fights.missiles["active"]
    for env in range(20):
        for number in (RED, BLUE):
            sim.core.set_fighter(env, number, fights.core.get_fighter(env, number))
        for slot in np.flatnonzero(slots[env]):
            sim.core.set_missile(env, slot, fights.core.get_missile(env, slot))
    graphs = [spacetime(fights, env, env % 2) for env in range(20)]
    commands, alive = held(fights), sim.fighters["alive"]
    for second in range(21):
        fighters, missiles = sim.fighters, sim.missiles
        for env, graph in enumerate(graphs):
            np.testing.assert_array_equal(graph.own[second], positions(fighters, env % 2, env))
            for missile in graph.missiles:
                place = positions(missiles, missile.slot, env)
                flies = missiles["active"][env, missile.slot]
                expected = place if flies else np.full(3, np.nan)
                np.testing.assert_array_equal(missile.points[second], expected)
        for _ in range(SECOND):
            sim.step(commands)
    for env, graph in enumerate(graphs):
        assert [m.slot for m in graph.missiles] == np.flatnonzero(slots[env]).tolist()
        hit = {missile.target for missile in graph.missiles if missile.hits}
        died = (fighters["alive"][env] < alive[env]) & (fighters["z"][env] >= 0)  # without crashes
        assert hit == set(np.flatnonzero(died))
        hits += len(hit)
    assert hits > 5


@pytest.mark.parametrize(("side", "way"), [(0, 1), (1, -1)])
def test_an_escape_and_its_missile_end_as_if_flown_so(side, way):
    """The commands in plain Python: a dive, full rudder until the tail is to the enemy."""
    outcomes = set()
    for x, y in ((5000, 2000), (30_000, -4000)):
        sim = Simulation(**HEIGHT)
        place(sim, x=x, y=y)
        dive = sim.parameters["pilot_dive"]
        graph = spacetime(sim, horizon=40)
        assert sim.launch(0, BLUE)
        path, nearest = [], np.inf
        for step in range(40 * SECOND + 1):
            red, blue = (positions(sim.fighters, number) for number in (RED, BLUE))
            if step % SECOND == 0:
                path.append(red)
            nearest = min(nearest, math.dist(positions(sim.missiles, 0), red))
            if not sim.fighters["alive"][0, RED]:
                nearest = 0
                break
            away = red - blue
            off = turned(sim.fighters["heading"][0, RED], np.arctan2(away[1], away[0]))
            is_near = abs(off) < np.pi / 2 and abs(4 * np.sin(off)) < 1
            rudder = 4 * np.sin(off) if is_near else way
            sim.step([[[rudder, -dive, 1, 0], [0, 0, 1, 0]]])
        assert np.abs(graph.escapes[side, : len(path)] - path).max() < 1
        assert graph.escape_miss[side] == pytest.approx(nearest, abs=60)
        assert graph.verdict(side)[0] == (nearest > 0)
        outcomes.add(nearest > 0)
    assert outcomes == {True, False}


def beyond(points: np.ndarray, front: np.ndarray, start: np.ndarray) -> float:
    """Returns the greatest distance of positions outside of a front and its launch point [m].

    All are seen from above.
    """
    angles = np.arange(0, 2 * np.pi, 0.1)
    normals = np.stack([np.cos(angles), np.sin(angles)])
    hull = np.vstack([front[:, :2], start[:2]])
    return ((points[:, :2] @ normals).max(axis=0) - (hull @ normals).max(axis=0)).max()


@pytest.mark.parametrize("missile", ["medium", "long", "short"])
def test_no_missile_leaves_the_threat_cone(missile):
    """At targets anywhere, of any height, from launches up and down: 6 % at most."""
    random, count, seen = np.random.default_rng(5), 30, 0
    for height, speed, climb in (
        (1500, 200, 0),
        (6000, 400, 40),
        (6000, 200, -30),
        (11_000, 300, 10),
    ):
        sim = Simulation(
            count, 0, "agent", "weave", weave_rudder=1, red_missile=missile, **HEIGHT
        )  # fmt: skip
        for env in range(count):
            place(sim, env)
            sim.set_fighter(env, RED, z=height, climb_deg=climb, speed=speed)
            bearing, away = random.uniform(-np.pi, np.pi), random.uniform(1000, 30_000)
            sim.set_fighter(
                env, BLUE, x=away * np.cos(bearing), y=away * np.sin(bearing),
                z=random.uniform(500, 14_000), heading_deg=random.uniform(0, 360),
                climb_deg=random.uniform(-40, 40),
            )  # fmt: skip
        fronts = spacetime(sim, 0, BLUE).fronts
        assert fronts.shape == (21, 31, 3)
        assert all(sim.launch(env, RED) for env in range(count))
        for front in fronts[1:]:
            for _ in range(SECOND):
                sim.step()
            missiles = sim.missiles
            flies = missiles["active"][:, 0] == 1
            if flies.any():
                points = np.stack([missiles[axis][flies, 0] for axis in "xyz"], axis=-1)
                length = np.hypot(*(front[15] - fronts[0, 15])[:2])
                assert beyond(points, front, fronts[0, 15]) < 0.06 * length + 10
                seen += len(points)
    assert seen > 1000


def test_a_level_shot_is_the_tip_of_the_cone():
    """Burnt out after 8 s from 300 m/s at 10 km: 5916 m, by RK4 of the law in float64."""
    sim = Simulation(**HEIGHT)
    place(sim)
    sim.set_fighter(0, RED, z=10_000)
    cone = sim.core.high_threat_cone(0, RED, SECOND, 9)
    level, straight = cone.shape[1] // 2, (0, 0)
    assert cone[8, level][straight] == pytest.approx([5916 + 20, 0, 10_000], abs=12)
    fronts = spacetime(sim, 0, BLUE).fronts
    assert fronts[8, 15, :2] - fronts[0, 15, :2] == pytest.approx([5916, 0], abs=30)
    assert np.ptp(fronts[0], axis=0).max() == 0
    for front in fronts:  # its left is the mirror image of its right, at the same heights
        np.testing.assert_allclose(front, front[::-1] * (1, -1, 1), rtol=1e-5, atol=0.01)
    assert (fronts[..., 2] >= 0).all()


def test_a_missile_reaches_farther_over_the_ground_from_higher_up():
    reach = []
    for height in (1000, 5000, 10_000):
        sim = Simulation(**HEIGHT)
        place(sim)
        sim.set_fighter(0, RED, z=height)
        fronts = spacetime(sim, 0, BLUE).fronts
        reach.append(fronts[20, 15, 0] - fronts[0, 15, 0])
    assert reach == sorted(reach)
    assert reach[2] > 1.2 * reach[0]


def test_the_cone_is_of_the_first_type_left():
    load = {"red_missiles": "short:1,long:2"}
    fronts = {}
    for ammo in ((1, 2), (0, 2)):
        sim = Simulation(**HEIGHT, **load)
        place(sim)
        sim.set_fighter(0, RED, ammo=ammo)
        fronts[ammo] = spacetime(sim, 0, BLUE).fronts
    for missile, ammo in (("short", (1, 2)), ("long", (0, 2))):
        sim = Simulation(**HEIGHT, red_missile=missile)
        place(sim)
        np.testing.assert_array_equal(spacetime(sim, 0, BLUE).fronts, fronts[ammo])


def test_an_escape_into_the_ground_is_not_safe():
    sim = Simulation(**HEIGHT)
    place(sim, x=80_000)
    sim.set_fighter(0, RED, z=150, climb_deg=-60, speed=400)
    assert spacetime(sim).verdict(0) == (False, "flies into the ground")


def everything(graph: SpaceTime) -> list[np.ndarray]:
    arrays = [graph.own, graph.escapes, graph.fronts, graph.shots, graph.escape_miss]
    for m in graph.missiles:
        ends = [np.nan if t is None else t for t in (m.ended, m.harmless)]
        arrays += [m.points, m.escape_miss, np.array([m.slot, m.hits, m.miss, *ends])]
    return [array for array in arrays if array is not None]


@EACH_ISA
def test_a_graph_depends_on_nothing_but_its_engagement(fights, isa):
    """It has the same bits on each instruction set, and looking changes nothing."""
    before = fights.snapshot()
    sim = Simulation(20, 3, "snake", "shooter", isa=isa, dimensions=3, start_range_min=20_000,
                     start_range_max=30_000, **SPREAD)  # fmt: skip
    for env in (0, 18):
        for number in (RED, BLUE):
            sim.core.set_fighter(env, number, fights.core.get_fighter(env, number))
        for slot in np.flatnonzero(fights.missiles["active"][env]):
            sim.core.set_missile(env, slot, fights.core.get_missile(env, slot))
        pairs = (everything(spacetime(one, env)) for one in (fights, sim))
        for one, other in zip(*pairs, strict=True):
            np.testing.assert_array_equal(one, other)
    assert fights.snapshot() == before


def test_cones_are_of_the_game_that_they_are_asked_of():
    high, flat = Simulation(**HEIGHT), Simulation()
    with pytest.raises(UsageError, match="threat_cone: in the plane only"):
        high.core.threat_cone(300, 1, 2)
    with pytest.raises(UsageError, match="high_threat_cone: with height only"):
        flat.core.high_threat_cone(0, 0, 1, 2)
    with pytest.raises(IndexError, match="fighter = 2"):
        high.core.high_threat_cone(0, 2, 1, 2)
    assert read(high.fighters, RED)["z"] > 0
