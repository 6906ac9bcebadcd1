"""What must hold for any engagement: symmetries, zero sums, and no input that breaks it.

Scenarios are drawn by hypothesis: two fighters, missiles in the air, and controls of both seats.
Each is played as drawn and once more transformed.
"""

from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass, field, replace

import numpy as np
import pytest
from flights import with_room
from hypothesis import given, settings
from hypothesis import strategies as st
from parameter_values import a_word, of_one_game
from scenes import BLUE, BLUE_WINS, DRAW, IDEAL, OPEN, RED, RED_WINS

from midrange_puffer import STG_FEATURES, Midrange, Simulation
from midrange_puffer.game.parameters import (
    CONTROLLERS,
    MISSION_PILOTS,
    PAIRS,
    PARAMETERS,
    SENSOR_PILOTS,
    WING_PILOTS,
    resolve,
    reward_bound,
)

LATERAL = np.array([feature.lateral for feature in STG_FEATURES])
BODY = ("x", "y", "vx", "vy", "speed", "rudder")
# At up to 50 km, 120 steps round a position by up to 2 mm each, and missiles react to that.
MOVED = 0.5  # m
SETTINGS = settings(max_examples=40, derandomize=True)


@dataclass
class Scenario:
    """A start and the controls [decisions, 2, 3] that follow."""

    fighters: list[dict]
    missiles: list[dict]
    controls: np.ndarray


@dataclass
class Play:
    """The states of a scenario after each decision."""

    fighters: list[dict] = field(default_factory=list)
    missiles: list[dict] = field(default_factory=list)
    observations: list[np.ndarray] = field(default_factory=list)
    rewards: list[np.ndarray] = field(default_factory=list)
    outcomes: list[int] = field(default_factory=list)


def whole(low: int, high: int) -> st.SearchStrategy[int]:
    return st.integers(low, high)


@st.composite
def scenarios(draw: Callable) -> Scenario:
    fighters = [
        {
            "x": draw(whole(-8_000, 8_000)),
            "y": draw(whole(-8_000, 8_000)),
            "heading_deg": draw(whole(-179, 180)),
            "speed": draw(whole(100, 600)),
            "rudder": draw(whole(-4, 4)) / 4,
            "throttle": draw(whole(0, 4)) / 4,
            "ammo": draw(whole(0, 6)),
        }
        for _ in range(2)
    ]
    missiles = [
        {
            "owner": slot % 2,
            "x": draw(whole(-8_000, 8_000)),
            "y": draw(whole(-8_000, 8_000)),
            "heading_deg": draw(whole(-179, 180)),
            "speed": draw(whole(150, 1400)),
            "rudder": 0,
            "age": draw(whole(0, 200)),
        }
        for slot in range(draw(whole(0, 4)))
    ]
    random = np.random.default_rng(draw(whole(0, 2**32 - 1)))
    decisions = draw(whole(1, 24))
    controls = random.uniform([-1, 0, 0], 1, (decisions, 2, 3))
    controls[..., 2] = controls[..., 2] < 0.3
    return Scenario(fighters, missiles, controls.astype(np.float32))


def play(scenario: Scenario, **parameters: float) -> Play:
    sim = Simulation(observation="stg", **parameters)
    for seat, state in enumerate(scenario.fighters):
        sim.set_fighter(0, seat, **state)
    for slot, state in enumerate(scenario.missiles):
        sim.set_missile(0, slot, **state)
    result = Play()
    for controls in scenario.controls:
        sim.step(controls[None])
        result.fighters.append({k: v[0].astype(np.float64) for k, v in sim.fighters.items()})
        result.missiles.append(in_the_air(sim))
        result.observations.append(sim.observe()[0].copy())
        result.rewards.append(sim.rewards[0].copy())
        result.outcomes.append(int(sim.outcome[0]))
    return result


def in_the_air(sim: Simulation) -> dict[tuple[int, ...], dict[str, float]]:
    """Missiles by (owner, age, rank among those), whatever slots they are kept in."""
    m = {name: values[0] for name, values in sim.missiles.items()}
    found: dict[tuple[int, ...], dict[str, float]] = {}
    for slot in np.flatnonzero(m["active"]):
        key, rank = (int(m["owner"][slot]), int(m["age"][slot])), 0
        while (*key, rank) in found:
            rank += 1
        found[(*key, rank)] = {name: float(m[name][slot]) for name in BODY}
    return found


def transformed(scenario: Scenario, change: Callable[[dict], dict]) -> Scenario:
    fighters = [state | change(state) for state in scenario.fighters]
    return replace(
        scenario,
        fighters=fighters,
        missiles=[state | change(state) for state in scenario.missiles],
    )


def assert_same_play(
    play_a: Play, play_b: Play, turn: np.ndarray, shift: np.ndarray, tolerance: float
) -> None:
    """Play b is play a turned and shifted, up to rounding; frame-free things are the same."""
    assert play_a.outcomes == play_b.outcomes
    for a, b in zip(play_a.fighters, play_b.fighters, strict=True):
        assert turn @ [a["x"], a["y"]] + shift[:, None] == pytest.approx(
            np.array([b["x"], b["y"]]), abs=tolerance
        )
        assert a["speed"] == pytest.approx(b["speed"], abs=tolerance)
    for a, b in zip(play_a.missiles, play_b.missiles, strict=True):
        assert a.keys() == b.keys()
        for key, shot in a.items():
            moved = turn @ [shot["x"], shot["y"]] + shift
            assert moved == pytest.approx([b[key]["x"], b[key]["y"]], abs=tolerance)
    assert np.array(play_a.rewards) == pytest.approx(np.array(play_b.rewards), abs=1e-4)
    assert np.array(play_a.observations) == pytest.approx(np.array(play_b.observations), abs=1e-3)


@given(scenarios(), whole(-40_000, 40_000), whole(-40_000, 40_000))
@SETTINGS
def test_translation(scenario, dx, dy):
    """Moving the whole engagement changes nothing but coordinates."""
    moved = transformed(scenario, lambda s: {"x": s["x"] + dx, "y": s["y"] + dy})
    shift = np.array([dx, dy], float)
    assert_same_play(play(scenario), play(moved), np.eye(2), shift, tolerance=MOVED)


@given(scenarios(), whole(-360, 360) | st.sampled_from([90, 180, -90, 270]))
@SETTINGS
def test_rotation(scenario, angle_deg):
    """Turning the whole engagement changes nothing but coordinates."""
    angle = np.radians(angle_deg)
    turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])

    def rotate(state: dict) -> dict:
        x, y = turn @ [state["x"], state["y"]]
        return {"x": x, "y": y, "heading_deg": state["heading_deg"] + angle_deg}

    rotated = transformed(scenario, rotate)
    assert_same_play(play(scenario), play(rotated), turn, np.zeros(2), tolerance=MOVED)


def mirror(body: dict) -> dict:
    """Reflection at the x axis of a set of bodies or of one."""
    return {
        name: -value if name in ("y", "vy", "rudder") else value for name, value in body.items()
    }


@given(scenarios())
@SETTINGS
def test_reflection_is_exact(scenario):
    """Reflecting an engagement mirrors its course and negates lateral features, all bit for bit."""
    reflected = transformed(
        scenario,
        lambda s: {"y": -s["y"], "heading_deg": -s["heading_deg"], "rudder": -s["rudder"]},
    )
    reflected.controls = scenario.controls * np.array([-1, 1, 1], np.float32)
    a, b = play(scenario), play(reflected)
    assert a.outcomes == b.outcomes
    assert np.array_equal(a.rewards, b.rewards)
    sign = np.where(LATERAL, -1, 1)
    assert np.array_equal(np.array(a.observations) * sign, b.observations)
    for before, after in zip(a.fighters, b.fighters, strict=True):
        assert all(np.array_equal(mirror(before)[name], after[name]) for name in BODY)
    for before, after in zip(a.missiles, b.missiles, strict=True):
        assert {key: mirror(shot) for key, shot in before.items()} == after


@given(scenarios())
@SETTINGS
def test_swapping_seats_is_exact(scenario):
    """Swapping seats swaps outcomes, observations and rewards, bit for bit."""
    swapped = Scenario(
        scenario.fighters[::-1],
        [shot | {"owner": 1 - shot["owner"]} for shot in scenario.missiles],
        scenario.controls[:, ::-1],
    )
    a, b = play(scenario), play(swapped)
    swap = {OPEN: OPEN, RED_WINS: BLUE_WINS, BLUE_WINS: RED_WINS, DRAW: DRAW}
    assert [swap[outcome] for outcome in a.outcomes] == b.outcomes
    assert np.array_equal(np.array(a.rewards)[:, ::-1], b.rewards)
    assert np.array_equal(np.array(a.observations)[:, ::-1], b.observations)
    for before, after in zip(a.fighters, b.fighters, strict=True):
        assert all(np.array_equal(before[name][::-1], after[name]) for name in BODY)


@pytest.mark.parametrize("seat", [RED, BLUE])
def test_slots_do_not_show(seat):
    """A missile's slot makes no difference, even if times to go are equal."""

    def observed(order: tuple[int, int]) -> np.ndarray:
        sim = Simulation()
        sim.set_fighter(0, RED, x=0, y=0, heading_deg=0, speed=300)
        sim.set_fighter(0, BLUE, x=30_000, y=0, heading_deg=0, speed=300)
        # Both fly away from either fighter: 100 s to go, as for any that does not close.
        for slot, y in zip(order, (4_000, -3_000), strict=True):
            heading_deg = 90 if y > 0 else -90
            body = {"x": 15_000, "y": y, "heading_deg": heading_deg, "speed": 900}
            sim.set_missile(0, slot, owner=1 - seat, age=150 + y // 1000, **body)
        return sim.observe()[0]

    assert np.array_equal(observed((0, 1)), observed((1, 0)))


@given(scenarios())
@SETTINGS
def test_rewards_sum_to_zero(scenario):
    """The seats' rewards are opposite and within the bound."""
    rewards = np.array(play(scenario).rewards)
    assert (rewards[:, RED] == -rewards[:, BLUE]).all()
    assert np.abs(rewards).max() <= reward_bound(resolve({}))


@given(whole(-4, 4), whole(0, 4), whole(100, 600))
@SETTINGS
def test_halving_the_step_converges(rudder, throttle, speed):
    """A fighter's final place changes at most half as much with each halving of the step."""

    def end(dt: float) -> np.ndarray:
        sim = Simulation(**(IDEAL | {"physics_dt": dt}))
        command = (rudder / 4, throttle / 4)
        sim.set_fighter(
            0, RED, x=0, y=0, heading_deg=0, speed=speed, rudder=command[0], throttle=command[1]
        )
        for _ in range(round(8 / dt)):
            sim.step(np.array([[[*command, 0], [0, 1, 0]]], np.float32))
        f = sim.fighters
        return np.array([f["x"][0, RED], f["y"][0, RED], f["speed"][0, RED]], float)

    coarse, middle, fine = (end(dt) for dt in (0.5, 0.25, 0.125))
    rounding = 0.02  # 64 steps at a few kilometres in float32
    assert np.abs(fine - middle).max() <= np.abs(middle - coarse).max() / 2 + rounding


EXTREMES = [np.nan, np.inf, -np.inf, 1e38, -1e38, 1e-45, -1e-45, 0.0, -0.0, 1.0]


@given(
    scenarios(),
    st.lists(st.floats(width=32) | st.sampled_from(EXTREMES), min_size=6, max_size=60),
)
@SETTINGS
def test_no_control_yields_a_non_finite_state(scenario, values):
    """Not-a-number, infinities and any other float leave state and observation finite."""
    hostile = deepcopy(scenario)
    hostile.controls = np.array(values[: len(values) // 6 * 6], np.float32).reshape(-1, 2, 3)
    result = play(hostile)
    for fighters in result.fighters:
        assert all(np.isfinite(fighters[name]).all() for name in BODY)
        assert np.abs(fighters["rudder"]).max() <= 1
        assert fighters["throttle"].min() >= 0
        assert fighters["throttle"].max() <= 1
    for missiles in result.missiles:
        assert all(np.isfinite(list(shot.values())).all() for shot in missiles.values())
    assert np.isfinite(result.observations).all()
    assert np.abs(result.observations).max() <= 1
    assert np.isfinite(result.rewards).all()


@st.composite
def parameter_sets(draw: Callable) -> dict[str, float]:
    """Any parameters within their limits, the limits themselves most of all."""
    chosen = {}
    for row in PARAMETERS.values():
        low, high = row.minimum, row.maximum
        if row.choices or row.kind is str:
            chosen[row.name] = draw(a_word(row))
            continue
        inside = st.integers(low, high) if row.kind is int else st.floats(low, high)
        chosen[row.name] = draw(st.sampled_from([row.default, low, high]) | inside)
    chosen["substeps"] = min(chosen["substeps"], 8)  # for the time it takes
    for lesser, greater in PAIRS:
        chosen[lesser], chosen[greater] = sorted([chosen[lesser], chosen[greater]])
    return chosen


FLYING = [name for name in CONTROLLERS if name not in MISSION_PILOTS]


@pytest.mark.usefixtures("one_map")
@given(parameter_sets(), st.sampled_from(FLYING), st.sampled_from(FLYING))
@SETTINGS
def test_no_parameters_yield_a_non_finite_state(parameters, red, blue):
    if {red, blue} & {*SENSOR_PILOTS}:
        parameters["sensing"] = "radar"
    if {red, blue} & {*WING_PILOTS}:
        parameters["red_size"] = max(parameters["red_size"], 2)
    sim = Simulation(num_envs=2, red=red, blue=blue, **with_room(of_one_game(parameters)))
    for _ in range(30):
        sim.step(np.ones((*sim.rewards.shape, sim.core.controls), np.float32))
        shown = [*sim.fighters.values(), *sim.missiles.values(), sim.observe(), sim.rewards]
        assert all(np.isfinite(values).all() for values in shown)
        assert np.abs(sim.observe()).max() <= 1


@given(scenarios(), st.sampled_from(EXTREMES[:6]), whole(0, 2))
@SETTINGS
def test_hostile_controls_act_as_their_clipped_value(scenario, value, index):
    """Not-a-number acts as 0, everything else as the nearest value in range."""
    hostile, tame = deepcopy(scenario), deepcopy(scenario)
    low = -1 if index == 0 else 0
    hostile.controls[..., index] = value
    tame.controls[..., index] = np.clip(0 if np.isnan(value) else value, low, 1)
    a, b = play(hostile), play(tame)
    assert np.array_equal(a.observations, b.observations)
    assert all(np.array_equal(m["x"], n["x"]) for m, n in zip(a.fighters, b.fighters, strict=True))


@given(st.lists(whole(-(2**31), 2**31 - 1), min_size=30, max_size=30))
@SETTINGS
def test_actions_out_of_range_are_clipped(values):
    """To the core a discrete action beyond its range is the nearest in range."""
    wild = np.array(values, np.int32).reshape(5, 2, 3)
    seen = []
    for actions in (wild, np.clip(wild, 0, [4, 2, 1]).astype(np.int32)):
        env = Midrange(num_envs=2, seed=1)
        env.checks_levels = False
        env.reset(seed=1)
        seen.append([env.step(action)[0].copy() for action in actions])
        env.close()
    assert np.array_equal(*seen)
