"""The missile envelope in the core: pilots, observations and records look it up correctly.

Mostly a map that is none of any missile's, so that whatever is the wrong way round shows.
"""

import numpy as np
import pytest
from flights import exactly
from needs import EACH_ISA
from reference_envelope import Crooked, reach_of
from scenes import BLUE, RED

from midrange_puffer import STG_FEATURES, _core
from midrange_puffer.game.parameters import MAP_PILOTS, resolve, seat_weights

CROOKED = Crooked()
NAMES = [feature.name for feature in STG_FEATURES]


def make(
    num_envs: int, pilot: str = "agent", envelope: object = CROOKED, isa: str = "auto", **parameters
) -> _core.Core:
    """Makes a core with `pilot` in red."""
    weights = seat_weights({pilot: 1}), seat_weights({"agent": 1})
    observation = "default" if envelope is None else "stg"
    return _core.Core(
        resolve(parameters), num_envs, 0, weights, False, isa, envelope, observation=observation
    )


def put(core: _core.Core, env: int, seat: int, place, course: float, speed: float) -> dict:
    """Places a fighter; returns its motion for `reach_of`."""
    x, y = map(float, np.float32(place))
    state = core.get_fighter(env, seat)
    vx, vy = float(np.float32(np.cos(course))), float(np.float32(np.sin(course)))
    motion = {"x": x, "y": y, "speed": float(speed)}
    core.set_fighter(env, seat, state | motion | {"direction_x": vx, "direction_y": vy})
    return motion | {"vx": vx, "vy": vy}


def scatter(core: _core.Core, spread: float = 20e3) -> list[tuple[dict, ...]]:
    """Places all fighters at random, some with speeds beyond the map."""
    rng = np.random.default_rng(3)
    return [
        tuple(
            put(core, env, seat, rng.uniform(-spread, spread, 2), rng.uniform(-4, 4), speed)
            for seat, speed in enumerate(rng.uniform(100, 560, 2).astype(np.float32))
        )
        for env in range(core.num_envs)
    ]


def observe(core: _core.Core) -> np.ndarray:
    """[num_envs, fighters, features]."""
    out = np.zeros((core.num_envs * _core.FIGHTERS, core.features), np.float32)
    core.observe_all(out)
    return out.reshape(core.num_envs, _core.FIGHTERS, -1)


def value(seen: np.ndarray, name: str) -> np.ndarray:
    """Returns a feature in its unit."""
    index = NAMES.index(name)
    return seen[..., index].astype(float) * STG_FEATURES[index].scale


def distance(one: dict, other: dict) -> float:
    return float(np.hypot(one["x"] - other["x"], one["y"] - other["y"]))


@EACH_ISA
def test_ranges_are_those_of_the_map_between_its_nodes(isa):
    """Shots of both sides, from all directions, are compared with a look-up in float64."""
    core = make(300, isa=isa)
    pairs = scatter(core)
    seen = observe(core)
    for seat in (RED, BLUE):
        for env, pair in enumerate(pairs):
            shooter, target = pair[seat], pair[1 - seat]
            away = distance(shooter, target)
            for name in ("aero", "nez"):
                reach = reach_of(CROOKED, getattr(CROOKED, name), shooter, target)
                share = pytest.approx(reach / (reach + away), abs=2e-5)
                assert value(seen, f"own_{name}")[env, seat] == share
                assert value(seen, f"enemy_{name}")[env, 1 - seat] == share
            margin = away - reach_of(CROOKED, CROOKED.cold, shooter, target)
            margin = np.clip(margin, -20_000, 20_000)
            assert value(seen, "escape_margin")[env, 1 - seat] == pytest.approx(margin, abs=3)


def test_the_nodes_are_where_they_should_be():
    """Nose, aspect and speeds on a node: the map's own number, the mirrored one for a right nose.

    Red at the origin flies along +x. The third node of the map is 45 degrees off, the twelfth that
    of a target's nose 90 degrees counter-clockwise of the line to the shooter.
    """
    core = make(2)
    half = 10_000 / np.sqrt(2)
    for env, side in enumerate((1, -1)):  # the enemy to the right: the nose is left; mirrored
        put(core, env, RED, (0, 0), 0, 300)
        # The line back to red has the angle 135 (-135) degrees, the nose is 90 on from there.
        put(core, env, BLUE, (half, -side * half), side * np.radians(225), 480)
    seen = observe(core)
    reach = CROOKED.nez[2, 12, 1, 2]
    assert value(seen, "own_nez")[:, RED] == pytest.approx(reach / (reach + 10_000), abs=1e-5)


@EACH_ISA
def test_pilots_go_by_the_map(isa):
    """They fire inside R_NEZ of the very geometry, at any angle that they fire at."""
    rng = np.random.default_rng(5)
    for pilot in MAP_PILOTS:
        alone = exactly(ace_probe=0, ace_fire=1, bracket_fire=1, patient_fire=1)
        core = make(200, pilot, isa=isa, pilot_fire_off_boresight_deg=180, **alone)
        near = rng.random(200) < 0.5
        for env in range(200):
            off, course = rng.uniform(-3, 3), rng.uniform(-4, 4)
            shooter = put(core, env, RED, (0, 0), 0, rng.uniform(200, 500))
            there = np.array([np.cos(off), np.sin(off)])
            target = put(core, env, BLUE, 10_000 * there, course, rng.uniform(200, 500))
            reach = reach_of(CROOKED, CROOKED.nez, shooter, target)
            away = (0.99 if near[env] else 1.01) * reach
            put(core, env, BLUE, away * there, course, target["speed"])
        core.step_controls(np.zeros((200, 2, 3), np.float32), np.zeros((200, 2), np.float32))
        fired = [core.get_fighter(env, RED)["ammunition"] < 6 for env in range(200)]
        assert fired == near.tolist()


def fire_once(core: _core.Core) -> np.ndarray:
    """Returns the records of engagements in which each fighter fires its only missile."""
    shots = np.zeros((core.num_envs, 2, 3), np.float32)
    shots[..., 2] = 1
    for _ in range(2):
        core.step_controls(shots, np.zeros((core.num_envs, 2), np.float32))
    records = core.take_records()
    assert records["shots"].tolist() == [[1, 1]] * core.num_envs
    return records


@EACH_ISA
def test_shots_are_classed_by_the_map(isa):
    """Each engagement ends with one shot; its record says where that stood in the envelope.

    The map has places where R_NEZ is beyond R_min, and others without any range in R_NEZ.
    """
    core = make(200, isa=isa, ammunition=1, time_limit=1)
    pairs = scatter(core, 10e3)
    records = fire_once(core)
    for record in records:
        pair = pairs[record["env"]]
        for seat in (RED, BLUE):
            shooter, target = pair[seat], pair[1 - seat]
            away = distance(shooter, target)
            minimum, nez, aero = (
                reach_of(CROOKED, ranges, shooter, target)
                for ranges in (CROOKED.minimum, CROOKED.nez, CROOKED.aero)
            )
            classed = minimum <= away <= nez and nez > minimum, away > aero or away < minimum
            assert (record["shots_in_nez"][seat], record["shots_wasted"][seat]) == classed
    assert 0.1 < records["shots_in_nez"].mean() < 0.9
    assert 0.1 < records["shots_wasted"].mean() < 0.9


def test_no_shot_is_inside_if_r_nez_is_r_min():
    escape = type("Escape", (Crooked,), {"nez": CROOKED.minimum})
    core = make(200, envelope=escape(), ammunition=1, time_limit=1)
    scatter(core, 10e3)
    records = fire_once(core)
    assert not records["shots_in_nez"].any()
    assert 0.1 < records["shots_wasted"].mean() < 0.9


def test_without_a_map_no_shot_is_classed():
    (record,) = fire_once(make(1, envelope=None, ammunition=1, time_limit=1))
    assert not record["shots_in_nez"].any()
    assert not record["shots_wasted"].any()


# What the core refuses


@pytest.mark.parametrize("pilot", MAP_PILOTS)
def test_a_pilot_that_goes_by_the_map_needs_one(pilot):
    with pytest.raises(ValueError, match=f"{pilot}: needs an envelope"):
        make(1, pilot, envelope=None)


def test_the_observation_needs_a_map():
    weights = [seat_weights({"agent": 1})] * 2
    with pytest.raises(ValueError, match=r"stg.*needs an envelope"):
        _core.Core(resolve({}), 1, 0, weights, True, "auto", observation="stg")


@pytest.mark.parametrize("name", ["aero", "nez", "cold", "minimum"])
@pytest.mark.parametrize("shape", [(9, 16, 3), (9, 15, 3, 3)])
def test_a_map_of_another_shape_is_refused(name, shape):
    cut = type("Cut", (Crooked,), {name: np.zeros(shape, np.float32)})
    with pytest.raises(ValueError, match=rf"{name}|dimensions"):
        make(1, envelope=cut())


@pytest.mark.parametrize("name", ["aero", "nez", "cold", "minimum"])
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_a_map_that_is_not_finite_is_refused(name, value):
    ranges = getattr(CROOKED, name).copy()
    ranges[8, 15, 2, 2] = value
    holed = type("Holed", (Crooked,), {name: ranges})
    with pytest.raises(ValueError, match=rf"envelope\.{name} must be finite"):
        make(1, envelope=holed())


@pytest.mark.parametrize("axis", ["launch_speeds", "target_speeds"])
@pytest.mark.parametrize(
    "ends", [(300, 300), (400, 300), (np.nan, 300), (200, np.inf), (-1e300, 300), (300, 300 + 1e-6)]
)
def test_speeds_of_a_map_must_rise_and_be_finite(axis, ends):
    """Rounding to float32 counts."""
    low, high = ends
    with pytest.raises(ValueError, match="must rise and be finite"):
        make(1, envelope=Crooked(**{axis: (low, (low + high) / 2, high)}))
