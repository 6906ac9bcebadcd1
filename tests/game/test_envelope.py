"""Missile envelopes of the game: limits in closed form, symmetry, order, and shots flown again."""

import numpy as np
import pytest
from closed_forms import BURN_TIME, FIGHTER, HIT_RADIUS, MISSILE
from scenes import BLUE, RED, controls

from midrange_puffer import Simulation, _core
from midrange_puffer.game.envelope import (
    COLD,
    EVASIONS,
    PLAIN,
    RELEVANT,
    Grid,
    build,
    direction,
    find_edges,
    game_envelope,
)
from midrange_puffer.game.envelope_lookup import look_up
from midrange_puffer.game.envelope_search import RESOLUTION, farthest
from midrange_puffer.game.parameters import PARAMETERS, SEATS, resolve, seat_weights

EDGES = ("minimum", "inner", "nez", "cold", "aero")
OFFSET = PARAMETERS["missile_launch_offset"].default
STEP = PARAMETERS["physics_dt"].default
SPENT = PARAMETERS["missile_spent_speed"].default


@pytest.fixture(scope="module")
def game():
    """Builds an envelope as fine as the core's, with more launch speeds."""
    return build(resolve({}), Grid(9, 16, (200.0, 300.0, 400.0, 500.0), (250.0, 450.0)))


def core(**parameters) -> _core.Core:
    seats = [seat_weights({"agent": 1.0})] * len(SEATS)
    return _core.Core(resolve(parameters), 1, 0, seats, auto_reset=False, isa="auto")


def in_order(envelope) -> bool:
    ranges = np.stack([getattr(envelope, edge) for edge in EDGES])
    return (np.diff(ranges, axis=0) >= 0).all() and np.isfinite(ranges).all()


def test_directions_of_diamond_angles():
    """Sine and cosine over the sum of their sizes; exact, and exactly mirrored."""
    angles = np.linspace(-2, 2, 33)
    x, y = direction(angles).astype(float).T
    share = np.abs(y) / (np.abs(x) + np.abs(y))
    np.testing.assert_allclose(
        np.copysign(np.where(x < 0, 2 - share, share), angles), angles, atol=1e-6
    )
    np.testing.assert_allclose(x**2 + y**2, 1, rtol=1e-6)
    np.testing.assert_array_equal(direction(-angles), direction(angles) * [1, -1])
    right = direction(np.array([0.0, 1.0, -1.0, 2.0]))
    np.testing.assert_array_equal(right, [[1, 0], [0, 1], [0, -1], [-1, 0]])


@pytest.mark.parametrize("launch", [300.0, 400.0])
@pytest.mark.parametrize("target", [200.0, 300.0, 400.0, 489.0])
def test_r_aero_from_behind_and_from_ahead_is_the_closed_form(launch, target):
    """P10 and P11, to the resolution and the way of a step.

    From behind, a missile gains on its target until it is as slow; head on, until it is spent.
    """
    way, burnt_out = MISSILE.boost(launch, BURN_TIME)
    coast, coast_time = MISSILE.coast_to(burnt_out, target)
    behind = way + coast - target * (BURN_TIME + coast_time) + HIT_RADIUS + OFFSET
    coast, coast_time = MISSILE.coast_to(burnt_out, SPENT)
    ahead = way + coast + target * (BURN_TIME + coast_time) + HIT_RADIUS + OFFSET
    tail_on, _, nose_on, _ = build(resolve({}), Grid(2, 4, (launch,), (target,))).aero[0, :, 0, 0]
    assert tail_on == pytest.approx(behind, abs=RESOLUTION)
    assert nose_on == pytest.approx(ahead, abs=RESOLUTION + STEP * (SPENT + target))


def test_ranges_are_in_order_and_along_the_line_to_the_target_exactly_mirrored(game):
    """The nose on the target or directly away from it: to the left is as to the right."""
    assert in_order(game)
    assert (game.stretches >= 1).all()  # point blank everything hits
    mirror = -np.arange(game.grid.aspect) % game.grid.aspect
    for name in (*EDGES, "stretches", "gaps"):
        values = getattr(game, name)[[0, -1]]
        np.testing.assert_array_equal(values, values[:, mirror], err_msg=name)
    assert not (game.aero[4] == game.aero[4][mirror]).all()


def test_a_faster_launch_reaches_farther(game):
    """R_NEZ within 31 degrees off the nose, R_aero everywhere but point blank.

    Farther off the nose a faster missile turns wider, for its limit of load: it comes round
    farther out, R_min grows, and with it R_NEZ, or nothing near is hit at all.
    """
    farther = np.diff(game.aero, axis=2) > -RESOLUTION
    assert (farther | (game.aero[:, :, :-1] < 500)).all()
    assert (np.diff(game.nez[:2], axis=2) > 0).all()
    assert (np.diff(game.nez[4:7], axis=2) < -RESOLUTION).any()


def test_more_evasions_only_shrink_the_range_of_no_escape():
    grid = Grid(3, 8, (250.0, 450.0), (250.0, 450.0))
    sets = [(PLAIN, *COLD), (PLAIN, *COLD, "beam_left", "beam_right"), tuple(EVASIONS)]
    few, more, most = (build(resolve({}), grid, names) for names in sets)
    assert (most.nez <= more.nez).all()
    assert (more.nez <= few.nez).all()
    assert (most.nez < few.nez).any()
    for name in ("minimum", "cold", "aero"):
        np.testing.assert_array_equal(getattr(few, name), getattr(most, name))
    np.testing.assert_array_equal(few.nez, few.cold)


@pytest.mark.parametrize(
    ("names", "message"),
    [
        (("fly_on", "cold_left"), "evasions fly_on, cold_left: cold_right must be among them"),
        (("fly_on", *COLD, "beam_lef"), "evasion 'beam_lef'.*did you mean 'beam_left'"),
    ],
)
def test_evasions_that_cannot_be_are_refused(names, message):
    with pytest.raises(ValueError, match=message):
        build(resolve({}), Grid(2, 4, (300.0,), (300.0,)), names)


# Flown again by a simulation, whose targets are flown from here.


def cruise_throttle(speed):
    """Holds a fighter's speed."""
    return FIGHTER.zero_lift_drag * speed**2 / FIGHTER.thrust


def fly_on(fighters, missiles):
    speed = np.hypot(fighters["vx"], fighters["vy"])[:, BLUE]
    return np.zeros(len(speed)), cruise_throttle(speed)


def turn_cold(side):
    """Returns an evasion: full rudder until the missile is behind, then straight away from it."""

    def turn(fighters, missiles):
        x, y, heading = (fighters[name][:, BLUE] for name in ("x", "y", "heading"))
        away = np.arctan2(y - missiles["y"][:, 0], x - missiles["x"][:, 0])
        ahead, left = np.cos(away - heading), np.sin(away - heading)
        near = (ahead > 0) & (np.abs(left) < 0.25)
        return np.where(near, 4 * left, side), np.ones(len(x))

    return turn


def degrees(vector: np.ndarray) -> float:
    return np.degrees(np.arctan2(vector[1], vector[0]))


def hits(grid, cells, ranges, evade) -> np.ndarray:
    """Returns True for shots that hit, [cells]; `evade` -> rudder and throttle of the targets."""
    sim = Simulation(num_envs=len(cells), substeps=1, ammunition=1, time_limit=3600)
    noses, aspects = direction(grid.off_angles), direction(grid.aspect_angles)
    for env, (off, aspect, launch, target) in enumerate(cells):
        own, speed = grid.launch_speeds[launch], grid.target_speeds[target]
        shooter = {"x": 0, "heading_deg": degrees(noses[off]), "speed": own}
        mark = {"x": ranges[env], "heading_deg": degrees(-aspects[aspect]), "speed": speed}
        mark["throttle"] = min(cruise_throttle(speed), 1)
        sim.set_fighter(env, RED, y=0, **shooter)
        sim.set_fighter(env, BLUE, y=0, rudder=0, **mark)
        assert sim.launch(env, RED)
    commands = controls(num_envs=len(cells))
    while (missiles := sim.missiles)["active"].any():
        commands[:, BLUE, 0], commands[:, BLUE, 1] = evade(sim.fighters, missiles)
        sim.step(commands)
    return sim.fighters["alive"][:, BLUE] == 0


@pytest.mark.parametrize(
    ("edge", "evasions"), [("aero", ()), ("cold", (turn_cold(1), turn_cold(-1)))]
)
def test_a_simulation_hits_from_inside_and_misses_from_outside(game, edge, evasions):
    """Inside by 200 m, outside by 5 %: between, hits and misses alternate with the steps."""
    rng = np.random.default_rng(5)
    some = np.argwhere((game.cold > game.minimum + 3000) & (game.stretches == 1))
    cells = rng.choice(some, 20, replace=False)
    far = getattr(game, edge)[tuple(cells.T)]
    for ranges, inside in ((far - 200, True), (1.05 * far + 200, False)):
        got = [hits(game.grid, cells, ranges, evade) for evade in (fly_on, *evasions)]
        assert (np.all(got, axis=0) == inside).all()


# The search


@pytest.mark.parametrize(
    "parameters",
    [{}, {"fighter_thrust": 0}, {"missile_thrust": 0}, {"missile_spent_speed": 50},
     {"missile_hit_radius": 2000}, {"fighter_thrust": 2, "gravity": 20}],
)  # fmt: skip
def test_no_shot_hits_from_beyond_the_farthest_range(parameters):
    """Targets that slow down, and missiles that hardly fly or fly for long."""
    rng = np.random.default_rng(6)
    angles, launches, targets = rng.uniform(-np.pi, np.pi, 40), *rng.uniform(100, 600, (2, 8))
    aspects = np.stack([np.cos(angles), np.sin(angles)], axis=-1)
    limits = farthest(resolve(parameters), aspects, launches, targets)
    shots = np.zeros(limits.shape, _core.SHOT)
    shots["nose"], shots["aspect"] = (1, 0), aspects[:, None, None]
    shots["launch_speed"], shots["target_speed"] = launches[:, None], targets
    for share, anything in ((rng.uniform(1, 1.5, limits.shape), False), (0.8, True)):
        shots["range"] = share * limits
        assert core(**parameters).fly_shots(shots.ravel()).any() == anything


def test_the_scan_is_fine_enough(game):
    """Compares with shots from every 25 m in a part of the geometries."""
    ranges = np.arange(0, 30_000, 25, dtype=np.float32)
    shots = np.repeat(game.grid.shots()[::47, None], len(ranges), axis=1)
    shots["range"] = ranges
    flier, hit = core(), {}
    for number, name in enumerate(EVASIONS):
        shots["evasion"] = number
        hit[name] = flier.fly_shots(shots.ravel()).reshape(shots.shape)
    no_escape = np.all(list(hit.values()), axis=0)
    minimum, inner, nez = (
        getattr(game, edge).ravel()[::47, None] for edge in ("minimum", "inner", "nez")
    )
    within = (minimum <= ranges) & (ranges <= np.minimum(game.aero.ravel()[::47, None], 25_000))
    assert hit[PLAIN][within].mean() > 0.999
    some = (nez > minimum)[:, 0]
    zone = (inner <= ranges) & (ranges <= nez)
    assert no_escape[some][zone[some]].mean() > 0.999
    beyond = within & (ranges > nez + RESOLUTION)
    assert no_escape[beyond].mean() < 0.001


@pytest.mark.parametrize("end", ["minimum", "maximum"])
@pytest.mark.parametrize("name", RELEVANT)
def test_a_parameter_at_its_end_has_an_envelope(name, end):
    """Includes the longest flights and the farthest ranges."""
    parameters = resolve({name: getattr(PARAMETERS[name], end)})
    envelope = build(parameters, Grid(3, 4, (200.0, 500.0), (350.0,)))
    assert in_order(envelope)
    assert envelope.aero.max() > 0


def random_shots(count: int, widest: float) -> tuple[np.ndarray, np.ndarray]:
    """Shots, and their geometries: angles off the nose, up to `widest`, aspects [rad], speeds."""
    rng = np.random.default_rng(8)
    off, aspect = np.radians([rng.uniform(0, widest, count), rng.uniform(-180, 180, count)])
    launch, target = rng.uniform(200, 500, (2, count))
    shots = np.zeros(count, _core.SHOT)
    shots["nose"] = np.stack([np.cos(off), np.sin(off)], axis=-1)
    shots["aspect"] = np.stack([np.cos(aspect), np.sin(aspect)], axis=-1)
    shots["launch_speed"], shots["target_speed"] = launch, target
    return shots, np.stack([off, aspect, launch, target])


@pytest.mark.parametrize(
    ("widest", "nez", "aero"), [(30, (0.01, 0.04), (0.03, 0.08)), (75, (0.015, 0.15), (0.03, 0.09))]
)
def test_between_the_nodes_the_map_of_a_game_is_not_far_off(widest, nez, aero):
    """The median of its errors, and what 95 % of them are below, as shares of the range."""
    shots, geometries = random_shots(300, widest)
    parameters = resolve({})
    found = find_edges(parameters, shots, np.full(len(shots), 90_000.0))
    for edge, bounds in (("nez", nez), ("aero", aero)):
        true = getattr(found, edge)
        error = np.abs(look_up(game_envelope(parameters), edge, *geometries) - true) / true
        assert (np.percentile(error, (50, 95)) <= bounds).all()
