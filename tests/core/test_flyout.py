"""Fly-outs of shots against the declared evasions: `Core.fly_shots`."""

from math import atan2, hypot, pi, sin

import numpy as np
import pytest
from closed_forms import BURN_TIME, FIGHTER, HIT_RADIUS, MISSILE
from scenes import BLUE, RED, read, turned

from midrange_puffer import Simulation, _core

EVASIONS = [name for name, _ in _core.evasion_rows()]
ISAS = _core.isas()
NOSE_ON, TAIL_ON = 0.0, 180.0
LAUNCH_OFFSET = 20.0  # m


def shots(
    ranges, evasion="fly_on", off=0.0, aspect=NOSE_ON, launch_speed=300.0, target_speed=300.0
):
    """Shots at `ranges`, angles in degrees, positive to the left or counter-clockwise."""
    out = np.zeros(len(ranges), _core.SHOT)
    out["range"], out["launch_speed"], out["target_speed"] = ranges, launch_speed, target_speed
    out["nose"], out["aspect"] = _core.direction(off), _core.direction(aspect)
    out["evasion"] = EVASIONS.index(evasion)
    return out


def random_shots(count: int, seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    out = np.zeros(count, _core.SHOT)
    for name in ("nose", "aspect"):
        angles = rng.uniform(-pi, pi, count)
        out[name] = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    out["range"] = rng.uniform(50, 35_000, count)
    for name in ("launch_speed", "target_speed"):
        out[name] = rng.uniform(200, 490, count)
    out["evasion"] = rng.integers(len(EVASIONS), size=count)
    return out


@pytest.fixture(scope="module")
def core() -> _core.Core:
    return Simulation().core


# Straight flight has closed forms


def farthest_hit(core: _core.Core, guess: float, **shot: float) -> float:
    """The farthest hit within 300 m of a guess, to a metre; all that is nearer there hits."""
    ranges = guess + np.arange(-300.0, 300.0)
    hits = core.fly_shots(shots(ranges, **shot))
    assert hits[0]
    assert not hits[-1]
    assert (np.diff(hits.astype(int)) != 0).sum() == 1
    return ranges[hits].max()


@pytest.mark.parametrize("dt", [0.1, 0.02])
@pytest.mark.parametrize("speed", [300, 400, 489])
def test_the_reach_in_a_tail_chase_is_p10(speed, dt):
    boost, burnt = MISSILE.boost(300, BURN_TIME)
    coast, time = MISSILE.coast_to(burnt, speed)
    expected = boost + coast - speed * (BURN_TIME + time) + HIT_RADIUS + LAUNCH_OFFSET
    core = Simulation(physics_dt=dt).core
    got = farthest_hit(core, expected, aspect=TAIL_ON, target_speed=speed)
    assert got == pytest.approx(expected, abs=150 * dt)  # the way of a tenth of a step's boost


@pytest.mark.parametrize("dt", [0.1, 0.02])
@pytest.mark.parametrize("speed", [300, 400, 489])
def test_the_reach_head_on_is_p11(speed, dt):
    spent = 200
    boost, burnt = MISSILE.boost(300, BURN_TIME)
    coast, time = MISSILE.coast_to(burnt, spent)
    expected = boost + coast + speed * (BURN_TIME + time) + HIT_RADIUS + LAUNCH_OFFSET
    core = Simulation(physics_dt=dt).core
    got = farthest_hit(core, expected, aspect=NOSE_ON, target_speed=speed)
    # It is spent at the end of a step, and may hit in that step.
    assert got == pytest.approx(expected, abs=(speed + spent) * dt + 5)


def test_a_target_that_runs_is_hit_from_less_far_than_one_that_flies_on(core):
    """Nose-on at any range, each turn to one side is as good as the same to the other."""
    ranges = np.arange(1000, 70_000, 50.0)
    hits = {name: core.fly_shots(shots(ranges, name)) for name in EVASIONS}
    reach = {name: ranges[h].max() for name, h in hits.items()}
    assert reach["cold_left"] < reach["beam_left"] < reach["late_left"] < reach["fly_on"]
    for name in EVASIONS:
        assert np.array_equal(hits[name], hits[mirrored_name(name)])


def test_within_the_hit_radius_any_shot_hits(core):
    close = random_shots(200)
    close["range"] = 70  # the missile starts 20 m away from there at most
    assert core.fly_shots(close).all()


# The same shots flown one step after the other in a Simulation


class Evader:
    """The commands of one target, in float64 and angles."""

    def __init__(self, evasion: str) -> None:
        kind, _, side = evasion.partition("_")
        self.kind, self.side = kind, {"left": 1, "right": -1}.get(side, 0)
        self.flies_on = evasion == "fly_on" or kind == "late"

    def controls(self, own: dict[str, float], shot: dict[str, float]) -> tuple[float, float]:
        x, y = shot["x"] - own["x"], shot["y"] - own["y"]
        wx, wy = shot["vx"] - own["vx"], shot["vy"] - own["vy"]
        closing = -(x * wx + y * wy) / hypot(x, y)
        if self.kind == "late" and closing > 0 and hypot(x, y) / closing < 8:
            self.flies_on = False
        if self.flies_on:
            return 0, FIGHTER.zero_lift_drag * own["speed"] ** 2 / FIGHTER.thrust
        bearing = turned(own["heading"], atan2(y, x))
        if self.kind == "beam":
            off = bearing - pi / 2 if bearing > 0 else bearing + pi / 2
        else:
            off = turned(pi, bearing)
        on_course = abs(off) < pi / 2 and abs(4 * sin(off)) < 1
        return (4 * sin(off) if on_course else self.side), 1


def really_flown(cases: list[dict]) -> np.ndarray:
    """Returns which shots hit, each flown in an engagement of a Simulation of its own."""
    sim = Simulation(num_envs=len(cases), substeps=1)
    for env, case in enumerate(cases):
        cruise = FIGHTER.zero_lift_drag * case["target_speed"] ** 2 / FIGHTER.thrust
        place = {"y": 0, "rudder": 0}
        sim.set_fighter(env, RED, x=0, heading_deg=case["off"], speed=case["launch_speed"], **place)
        sim.set_fighter(
            env, BLUE, x=case["range"], heading_deg=180 + case["aspect"],
            speed=case["target_speed"], throttle=cruise, **place,
        )  # fmt: skip
        assert sim.launch(env, RED)
    evaders = [Evader(case["evasion"]) for case in cases]
    controls = np.zeros((len(cases), 2, 3))
    while (missiles := sim.missiles)["active"].any():
        fighters = sim.fighters
        for env in missiles["active"][:, 0].nonzero()[0]:
            own, shot = read(fighters, BLUE, env), read(missiles, 0, env)
            controls[env, BLUE, :2] = evaders[env].controls(own, shot)
        sim.step(controls)
    return ~sim.fighters["alive"][:, BLUE].astype(bool)


GEOMETRIES = [
    {"off": 0, "aspect": 0, "launch_speed": 300, "target_speed": 300},
    {"off": 40, "aspect": -30, "launch_speed": 400, "target_speed": 250},
    {"off": -20, "aspect": 100, "launch_speed": 250, "target_speed": 400},
    {"off": 75, "aspect": 150, "launch_speed": 350, "target_speed": 300},
]


def test_fly_shots_agrees_with_the_same_shots_flown_step_by_step(core):
    """The edges of hits are the same to 50 m: one side of them hits, the other does not."""
    ranges = np.arange(500, 80_000, 50.0)
    cases, expected = [], []
    for geometry in GEOMETRIES:
        for evasion in EVASIONS:
            hits = core.fly_shots(shots(ranges, evasion, **geometry))
            edge = ranges[hits].max()
            for distance in (edge - 50, edge + 100):
                cases.append({"range": distance, "evasion": evasion, **geometry})
                expected.append(distance < edge)
    assert np.array_equal(really_flown(cases), expected)


# Symmetry and independence, to the bit


def mirrored_name(evasion: str) -> str:
    kind, _, side = evasion.partition("_")
    return f"{kind}_{({'left': 'right', 'right': 'left'}).get(side, side)}"


def test_the_mirrored_shot_hits_alike(core):
    some = random_shots(4000)
    mirrored = some.copy()
    mirrored["nose"][:, 1] *= -1
    mirrored["aspect"][:, 1] *= -1
    swap = np.array([EVASIONS.index(mirrored_name(name)) for name in EVASIONS])
    mirrored["evasion"] = swap[some["evasion"]]
    hits = core.fly_shots(some)
    assert 0.2 < hits.mean() < 0.8
    assert np.array_equal(hits, core.fly_shots(mirrored))


def test_every_instruction_set_gives_the_same_hits():
    some = random_shots(4000, seed=1)
    hits = [Simulation(isa=isa).core.fly_shots(some) for isa in ISAS]
    assert all(np.array_equal(hits[0], other) for other in hits)


def test_a_shot_does_not_depend_on_the_others(core):
    """Neither its place nor their number matters."""
    some = random_shots(600, seed=2)
    hits = core.fly_shots(some)
    order = np.random.default_rng(0).permutation(len(some))
    assert np.array_equal(core.fly_shots(some[order]), hits[order])
    assert [core.fly_shots(some[i : i + 1])[0] for i in range(100)] == hits[:100].tolist()
    assert np.array_equal(core.fly_shots(some[:77]), hits[:77])


def test_the_state_of_the_simulation_plays_no_part():
    sim = Simulation(seed=3, red="shooter", blue="ace")
    some = random_shots(300, seed=3)
    hits = sim.core.fly_shots(some)
    for _ in range(100):
        sim.step()
    before = sim.state_hash()
    assert np.array_equal(sim.core.fly_shots(some), hits)
    assert sim.state_hash() == before


def test_the_checked_shots_are_flown(core, monkeypatch):
    """Another thread writes into the array just after the check."""
    some, check = shots([30_000.0]), np.isfinite

    def check_then_write(values: np.ndarray) -> np.ndarray:
        finite = check(values)
        some["range"] = 500_000
        return finite

    monkeypatch.setattr(np, "isfinite", check_then_write)
    assert core.fly_shots(some).all()
    assert some["range"] == 500_000
    assert not core.fly_shots(some).any()


def test_the_parameters_do(core):
    some = random_shots(300, seed=4)
    weak = Simulation(missile_thrust=50).core
    assert weak.fly_shots(some).sum() < core.fly_shots(some).sum() / 2


def test_a_missile_that_never_slows_down_is_given_up():
    """Drag so small that float32 loses it: the fly-out ends all the same."""
    core = Simulation(
        gravity=1, missile_terminal_speed=1000, missile_spent_speed=1, missile_thrust=0,
        physics_dt=0.5,
    ).core  # fmt: skip
    far = shots([500_000.0], aspect=TAIL_ON, launch_speed=350, target_speed=250)
    assert not core.fly_shots(far).any()


# What is refused


def test_wrong_shots_are_refused(core):
    assert core.fly_shots(np.zeros(0, _core.SHOT)).shape == (0,)
    with pytest.raises(ValueError, match="must be \\[n\\] of SHOT"):
        core.fly_shots(np.zeros(3))
    with pytest.raises(ValueError, match="must be \\[n\\] of SHOT"):
        core.fly_shots(np.zeros((3, 3), _core.SHOT))
    for evasion in (-1, len(EVASIONS)):
        wrong = shots([1000.0])
        wrong["evasion"] = evasion
        with pytest.raises(ValueError, match="evasion"):
            core.fly_shots(wrong)
    for value in (np.nan, np.inf):
        with pytest.raises(ValueError, match="finite"):
            core.fly_shots(shots([value]))
