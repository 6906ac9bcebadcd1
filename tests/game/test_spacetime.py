"""The space-time graph: its predictions are the flights that follow."""

from itertools import pairwise
from math import hypot

import numpy as np
import pytest
from needs import EACH_ISA
from scenes import BLUE, FAR, RED, controls, place, read, turned

from midrange_puffer import Simulation, _core
from midrange_puffer.game.spacetime import SpaceTime, spacetime

SECOND = 10  # physics steps


def fight(decisions: int, seed: int = 1, **parameters: float) -> Simulation:
    """Returns an engagement of two pilots that are near to each other and fire."""
    near = {"start_range_min": 20_000, "start_range_max": 30_000}
    sim = Simulation(red="snake", blue="shooter", seed=seed, **(near | parameters))
    for _ in range(decisions):
        sim.step()
    return sim


def scene(**blue: float) -> Simulation:
    """Places red at the origin along +x, blue nose-on 15 km ahead and somewhat to the left."""
    sim = Simulation(substeps=1)
    place(sim, blue={"x": 15_000, "y": 2000, **blue})
    return sim


def positions(sim: Simulation, group: str, index: int, env: int = 0) -> np.ndarray:
    values = getattr(sim, group)
    return np.array([values["x"][env, index], values["y"][env, index]])


def flown(sim: Simulation, seat: int, seconds: int) -> tuple[np.ndarray, np.ndarray]:
    """Paths of a seat and of all missiles, [T, 2] and [T, slots, 2], the controls held."""
    own, missiles = [], []
    for _ in range(seconds + 1):
        state = sim.missiles
        points = np.stack([state["x"], state["y"]], axis=-1)[0]
        missiles.append(np.where(state["active"][0, :, None], points, np.nan))
        own.append(positions(sim, "fighters", seat))
        sim.advance(SECOND)
    return np.array(own), np.array(missiles)


def same(one: np.ndarray, other: np.ndarray) -> bool:
    return np.array_equal(one, other, equal_nan=True)


# The present controls held, and the missiles in the air


@pytest.mark.parametrize("seat", [RED, BLUE])
@pytest.mark.parametrize("decisions", [30, 50])
def test_own_path_and_missiles_are_what_is_flown_if_the_controls_are_held(decisions, seat):
    sim = fight(decisions)
    graph = spacetime(sim, seat=seat)
    slots = sim.missiles["active"][0].nonzero()[0]
    assert len(slots) >= 2
    own, missiles = flown(sim, seat, 20)
    assert np.array_equal(graph.times, np.arange(21))
    assert same(graph.own, own)
    assert [missile.slot for missile in graph.missiles] == slots.tolist()
    for missile in graph.missiles:
        assert same(missile.points, missiles[:, missile.slot])


def test_hits_are_those_that_happen():
    """Only fighters that are predicted to be hit die; the other missiles end as predicted."""
    dead, gone = 0, 0
    for seed in range(25):
        sim = fight(40, seed)
        graph = spacetime(sim)
        for missile in graph.missiles:
            state = read(sim.missiles, missile.slot)
            assert (missile.owner, missile.target) == (state["owner"], state["target"])
        before = sim.fighters["alive"][0]
        sim.advance(20 * SECOND)
        alive, active = sim.fighters["alive"][0], sim.missiles["active"][0]
        hit = {missile.target for missile in graph.missiles if missile.hits}
        assert hit == set(np.flatnonzero(before > alive))
        for missile in graph.missiles:
            assert (missile.ended is None) == bool(active[missile.slot])
            assert missile.hits == (missile.miss == 0)
            gone += missile.ended is not None and not missile.hits
        dead += len(hit)
    assert dead > 5
    assert gone > 5


def distances(sim: Simulation, slot: int, seconds: int) -> list[float]:
    """Returns the distances of a missile to its target, step by step until its end."""
    out = []
    for _ in range(seconds * SECOND + 1):
        missiles = sim.missiles
        if not missiles["active"][0, slot]:
            break
        target = positions(sim, "fighters", missiles["target"][0, slot])
        out.append(hypot(*(target - positions(sim, "missiles", slot))))
        sim.advance(1)
    return out


# Red flies along +x at full throttle from the origin; what goes for it at t = 0, burnt out
MISSILES = {
    "outrun": {"x": -3000, "y": 0, "heading_deg": 0, "speed": 600},
    "too slow from the beginning": {"x": -3000, "y": 0, "heading_deg": 0, "speed": 290},
    "passing": {"x": 1500, "y": 1200, "heading_deg": 180, "speed": 900},
    "spent on its way": {"x": 60_000, "y": 0, "heading_deg": 180, "speed": 210},
    "still closing": {"x": 60_000, "y": 0, "heading_deg": 180, "speed": 900},
}
END, NOW, BETWEEN, NEVER = "end", "now", "between", "never"
EXPECTED = dict(zip(MISSILES, (BETWEEN, NOW, BETWEEN, END, NEVER), strict=True))


@pytest.mark.parametrize("name", MISSILES)
def test_a_missile_is_harmless_from_where_it_comes_no_nearer(name):
    sim = scene(x=-FAR)
    sim.set_missile(0, 5, owner=BLUE, age=1000, **MISSILES[name])
    (missile,) = spacetime(sim).missiles
    seen = np.array(distances(sim, 5, 20))
    assert not missile.hits
    assert missile.miss <= seen.min() < missile.miss + 60  # it lies between two steps, or after
    if EXPECTED[name] == NEVER:
        assert missile.harmless is None
    elif EXPECTED[name] == END:
        assert missile.harmless == missile.ended
        assert missile.ended == pytest.approx(len(seen) / SECOND)
    else:
        assert missile.harmless == pytest.approx(seen.argmin() / SECOND, abs=1e-6)
        assert (missile.harmless == 0) == (EXPECTED[name] == NOW)


def test_a_missile_that_still_burns_is_never_harmless():
    """Launched with the tail to its target it opens at first, and comes back."""
    sim = scene()
    sim.set_missile(0, 0, owner=BLUE, x=9000, y=0, heading_deg=0, speed=900, age=10)
    assert spacetime(sim, horizon=3).missiles[0].harmless is None


def test_a_missile_that_loses_its_target_is_harmless_then():
    """Two for red: the nearer hits."""
    sim = scene(x=-FAR)
    for slot, x in enumerate((2000, 12_000)):
        sim.set_missile(0, slot, owner=BLUE, x=x, y=0, heading_deg=180, speed=700, age=1000)
    first, second = spacetime(sim).missiles
    assert (first.hits, first.harmless, second.hits) == (True, None, False)
    assert second.harmless == second.ended == first.ended
    assert second.miss == pytest.approx(10_000, abs=300)


# A missile launched now


def launched(sim: Simulation, rudder: float, seconds: int) -> tuple[np.ndarray, np.ndarray]:
    """Paths of red at full throttle, its rudder held, and of a missile that blue launches now."""
    assert sim.launch(0, BLUE)
    own, missile = [], []
    hold = controls(red=(rudder, 1, 0), blue=(0, 1, 0))
    for _ in range(seconds + 1):
        own.append(positions(sim, "fighters", RED))
        flies = sim.missiles["active"][0, 0]
        missile.append(positions(sim, "missiles", 0) if flies else [np.nan, np.nan])
        for _ in range(SECOND):
            sim.step(hold)
    return np.array(own), np.array(missile)


def test_the_shots_are_the_missiles_that_go_for_the_escapes():
    """Until the tail is to the enemy, an escape is the hardest turn, to the bit."""
    for side, rudder in ((0, 1), (1, -1)):
        sim = scene()
        graph = spacetime(sim)
        own, missile = launched(sim, rudder, 8)
        assert same(graph.escapes[side, :9], own)
        assert same(graph.shots[side, :9], missile)


def beyond(points: np.ndarray, front: np.ndarray) -> float:
    """Returns the greatest distance of positions [n, 2] outside of a convex front [m]."""
    angles = np.arange(0, 2 * np.pi, 0.1)
    normals = np.stack([np.cos(angles), np.sin(angles)])
    return ((points @ normals).max(axis=0) - (front @ normals).max(axis=0)).max()


def test_no_missile_leaves_the_threat_cone():
    """Targets at any place with any manoeuvre exceed it by 5 % at most: PN turns less hard."""
    random = np.random.default_rng(5)
    for speed in (200, 400):
        sim = Simulation(num_envs=60, substeps=1, red="agent", blue="weave", weave_rudder=1)
        for env in range(60):
            bearing, x = random.uniform(-np.pi, np.pi), random.uniform(1000, 15_000)
            sim.set_fighter(env, RED, x=0, y=0, heading_deg=0, speed=speed, rudder=0, throttle=1)
            far = {"x": x * np.cos(bearing), "y": x * np.sin(bearing)}
            sim.set_fighter(env, BLUE, **far, heading_deg=random.uniform(0, 360), speed=400)
        fronts = spacetime(sim, 0, BLUE).fronts
        assert fronts.shape == (21, 31, 2)
        assert [sim.launch(env, RED) for env in range(60)] == [True] * 60
        seen = 0
        for front in fronts[1:]:
            for _ in range(SECOND):
                sim.step()
            missiles = sim.missiles
            flies = missiles["active"][:, 0] == 1
            points = np.stack([missiles["x"][flies, 0], missiles["y"][flies, 0]], axis=-1)
            assert beyond(points, front) < 0.05 * front[15, 0] + 1
            seen += len(points)
        assert seen > 500


def test_a_straight_shot_is_the_tip_of_the_cone():
    """P4: it burns for 10 s from 300 m/s."""
    fronts = spacetime(scene(x=20_000, y=0)).fronts  # blue flies along -x
    assert np.hypot(*(fronts[10, 15] - fronts[0, 15])) == pytest.approx(8640, abs=12)
    assert np.ptp(fronts[0], axis=0).max() == 0
    for front in fronts:  # its left is red's right, and nothing is told apart
        assert same(front[:, 1], -front[::-1, 1])
    assert (np.diff(fronts[20, 9:22, 1]) > 0).all()  # from its left, at -y, to its right


@pytest.mark.parametrize(("side", "name"), [(0, "left"), (1, "right")])
def test_an_escape_turns_to_its_side_and_ends_tail_to_the_enemy(side, name):
    for heading in (0, 90, 240):
        sim = Simulation()
        place(sim, heading_deg=heading, blue={"x": 80_000, "y": 9000, "heading_deg": 90})
        graph = spacetime(sim, horizon=45, interval=0.5)
        legs = np.diff(graph.escapes[side], axis=0)
        courses = np.arctan2(legs[:, 1], legs[:, 0])
        turns = [turned(*pair) for pair in pairwise(courses)]
        assert min(turns) > -0.02 if name == "left" else max(turns) < 0.02
        assert 0.5 < abs(sum(turns)) < 6
        sim.advance(45 * SECOND)
        away = graph.escapes[side, -1] - positions(sim, "fighters", BLUE)
        assert abs(turned(np.arctan2(away[1], away[0]), courses[-1])) < 0.02
        assert hypot(*legs[-1]) > 0.5 * 420  # fast again


def test_an_escape_and_its_missile_end_as_if_flown_so():
    """The commands in plain Python; the outcome too, from near and from far."""
    for x in (8000, 15_000, 22_000):
        sim = scene(x=x)
        graph = spacetime(sim, horizon=60)
        assert sim.launch(0, BLUE)
        (missile,) = spacetime(sim, horizon=60).missiles
        assert same(missile.escape_miss, graph.escape_miss)
        path, nearest = [], np.inf
        for _ in range(60 * SECOND):
            red, blue = sim.fighters["heading"][0, RED], positions(sim, "fighters", BLUE)
            here = positions(sim, "fighters", RED)
            path.append(here)
            nearest = min(nearest, hypot(*(positions(sim, "missiles", 0) - here)))
            off = turned(red, np.arctan2(*(here - blue)[::-1]))
            near = abs(off) < np.pi / 2 and abs(4 * np.sin(off)) < 1
            sim.step(controls(red=(4 * np.sin(off) if near else 1, 1, 0), blue=(0, 1, 0)))
            if not sim.fighters["alive"][0, RED]:
                nearest = 0
                break
        assert (nearest == 0) == (x < 20_000)
        path = np.array(path[::SECOND])
        assert np.abs(graph.escapes[0, : len(path)] - path).max() < 1
        assert graph.escape_miss[0] == pytest.approx(nearest, abs=1 + 100 * (nearest < 1000))


def test_missiles_in_the_air_do_not_change_the_threat():
    alone, among = scene(), scene()
    for slot, owner in ((0, BLUE), (1, RED)):
        among.set_missile(0, slot, owner=owner, x=4000, y=900, heading_deg=180 * owner, speed=900)
    one, other = spacetime(alone), spacetime(among)
    assert not same(one.own, other.own)  # it is hit
    assert same(one.escapes, other.escapes)
    assert same(one.fronts, other.fronts)
    assert same(one.escape_miss, other.escape_miss)


def test_without_a_launch_there_is_no_threat():
    for red, blue in (({}, {"alive": False}), ({}, {"ammo": 0}), ({"alive": False}, {})):
        sim = scene()
        sim.set_fighter(0, RED, **red)
        sim.set_fighter(0, BLUE, **blue)
        graph = spacetime(sim)
        assert graph.fronts is None
        assert graph.shots is None
        assert graph.escape_miss is None
        assert np.isfinite(graph.escapes).all()
    sim = scene()
    sim.step(controls(blue=(0, 1, 1)))  # it may not launch again for some time, but who knows
    assert sim.fighters["wait"][0, BLUE] > 0
    assert spacetime(sim).fronts is not None


def test_missiles_in_the_air_have_their_misses_on_the_escapes_too():
    """A slow one from the left front: to the right there is more room."""
    sim = scene()
    sim.set_missile(0, 3, owner=BLUE, x=3000, y=2000, heading_deg=210, speed=450, age=1000)
    (missile,) = spacetime(sim).missiles
    left, right = missile.escape_miss
    assert left < right
    assert missile.miss == spacetime(sim, seat=BLUE).missiles[0].miss  # all hold their controls


# What must make no difference


def test_the_simulation_stays_as_it_is():
    sim = fight(40)
    before, observed = sim.snapshot(), sim.observe()
    spacetime(sim)
    spacetime(sim, seat=BLUE, horizon=60, interval=0.1)
    assert sim.snapshot() == before
    assert np.array_equal(sim.observe(), observed)


def everything(graph: SpaceTime) -> list[np.ndarray]:
    """Returns the whole graph as arrays."""
    out = [graph.times, graph.own, graph.escapes, graph.fronts, graph.shots, graph.escape_miss]
    for m in graph.missiles:
        ends = [np.nan if t is None else t for t in (m.ended, m.harmless)]
        out += [m.points, np.array([m.slot, m.owner, m.target, m.hits, m.miss, *ends])]
        out.append(m.escape_miss)
    return out


def test_the_mirrored_engagement_has_the_mirrored_graph():
    sim = fight(40)
    mirrored = Simulation()
    for seat in (RED, BLUE):
        state = sim.core.get_fighter(0, seat)
        mirrored.core.set_fighter(0, seat, state | mirror(state))
        sim.set_fighter(0, seat)  # its present rudder and throttle become its controls
    for slot in sim.missiles["active"][0].nonzero()[0]:
        state = sim.core.get_missile(0, slot)
        mirrored.core.set_missile(0, slot, state | mirror(state))
    plain = spacetime(sim)
    other = spacetime(mirrored)
    flip = np.array([1, -1], np.float32)
    assert len(plain.missiles) >= 2
    assert same(plain.own, other.own * flip)
    assert same(plain.escapes, other.escapes[::-1] * flip)
    assert same(plain.fronts, other.fronts[:, ::-1] * flip)
    assert same(plain.shots, other.shots[::-1] * flip)
    assert same(plain.escape_miss, other.escape_miss[::-1])
    for one, its_mirror in zip(plain.missiles, other.missiles, strict=True):
        assert same(one.points, its_mirror.points * flip)
        assert same(one.escape_miss, its_mirror.escape_miss[::-1])
        for name in ("hits", "ended", "harmless", "miss"):
            assert getattr(one, name) == getattr(its_mirror, name)


def mirror(state: dict[str, float]) -> dict[str, float]:
    return {name: -state[name] for name in ("y", "direction_y", "rudder")}


@EACH_ISA
def test_a_graph_depends_on_nothing_but_its_engagement(isa):
    """It has the same bits in any lane, batch and instruction set."""
    batch = Simulation(num_envs=20, seed=4, red="snake", blue="ace", start_range_max=31_000)
    for _ in range(50):
        batch.step()
    assert (batch.missiles["active"].sum(axis=1) >= 1).all()
    for env in (0, 7, 18):
        alone = Simulation(isa=isa)
        for seat in (RED, BLUE):
            alone.core.set_fighter(0, seat, batch.core.get_fighter(env, seat))
            batch.set_fighter(env, seat)
        for slot in range(_core.MISSILES):
            if batch.missiles["active"][env, slot]:
                alone.core.set_missile(0, slot, batch.core.get_missile(env, slot))
        for one, other in zip(
            everything(spacetime(batch, env)), everything(spacetime(alone)), strict=True
        ):
            assert same(one, other)


# What is refused


def test_horizon_and_interval():
    sim = scene()
    assert spacetime(sim, horizon=5, interval=0.25).times.tolist() == pytest.approx(
        (0.2 * np.arange(26)).tolist()  # a quarter of a second is no whole number of steps
    )
    assert len(spacetime(sim, horizon=0.5).times) == 1
    for name in ("horizon", "interval"):
        for value in (0, -1, float("nan"), float("inf"), "long"):
            with pytest.raises(ValueError, match=f"{name} = .*must be a number of seconds above 0"):
                spacetime(sim, **{name: value})
    assert len(spacetime(sim, horizon=999).times) == 1000
    for name, most, values in (
        ("horizon", "999 s, 1000 points 1", (1000, 1e300, 10**300)),
        ("interval", "100 s, 1000 physics", (101, 1e300, 1e308)),
    ):
        for value in values:
            with pytest.raises(ValueError, match=f"{name} = 1.*: must be at most {most}"):
                spacetime(sim, **{name: value})
    for wrong in ({"env": 1}, {"seat": 2}):
        [(name, value)] = wrong.items()
        with pytest.raises(IndexError, match=f"{name} = {value}"):
            spacetime(sim, **wrong)
