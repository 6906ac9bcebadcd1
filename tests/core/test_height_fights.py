"""Fights with height beside their float64 reference: starts, flights, ends, rewards, views, pilots.

height_games.py has the tolerances.
"""

from collections.abc import Iterator
from math import radians, sin

import height
import numpy as np
import pytest
import reference_height_fight as ref
from flights import exactly, without_draws
from height_games import (
    ADRIFT,
    MISSILE_ADRIFT,
    POSITION,
    REWARD,
    Game,
    facts,
    near_call,
    same_states,
)
from height_symmetry import place_mirrored, step_mirrored
from needs import nightly
from reference import BLUE_WINS, OPEN, RED_WINS
from reference_height import Fields
from reference_height_fight import BLUE, RED, Fight
from reference_height_pilots import HeightPilot

from midrange_puffer import _core
from midrange_puffer.game.parameters import PILOTS, SENSOR_PILOTS

FEATURES = _core.feature_rows(_core.HEIGHTS[0])
LATERAL = np.array([lateral for _, _, lateral, _ in FEATURES], bool)


@pytest.fixture(scope="module")
def types(library) -> dict[str, Fields]:
    """Returns the fields of all types, by name."""
    names = [*height.types(library, "aircraft"), *height.types(library, "missile")]
    return {name: height.fields(library, name) for name in names}


def flown(types: dict[str, Fields]) -> dict[str, Fields]:
    """Returns the fields of all types of a game with `OWN`, by name."""
    return types | {
        "agile": types["light"] | {"thrust": 18, "turn_radius": 310, "ram": 0.25},
        "far": types["long"] | {"loft_max": 3000, "navigation": 3},
        "short": types["short"] | {"burn_time": 7, "spent_speed": 250},
    }


# Starts ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", [0, 7, 2**40 + 3])
@pytest.mark.parametrize("settings", [{}, {"start_off_boresight_max_deg": 180, "ammunition": 2}])
def test_starts(types, seed, settings):
    """Places, heights, headings and speeds are those of the random numbers."""
    game = Game(types, 6, seed, **settings)
    episodes = [(env, 0) for env in range(4)] + [(2, 5), (100_000, 2**20)]
    for env, (engagement, episode) in enumerate(episodes):
        if env >= 4:
            game.sim.start(env, engagement, episode)
        ours = game.copy(env)
        fighters, heights = ref.start(game.p, seed, engagement, episode)
        for a, b in zip(ours.fighters, fighters, strict=True):
            assert a.state[:3] == pytest.approx(b.state[:3], abs=0.02)
            assert a.state[3:] == pytest.approx(b.state[3:], rel=1e-6, abs=1e-6)
            assert (a.ammo, a.alive, a.last_launch) == (b.ammo, True, None)
        assert game.sim.core.read("fighter")["height"][env] == pytest.approx(heights, abs=0.01)
        assert not ours.missiles
        assert (ours.time, ours.outcome) == (0, OPEN)


# Flights and ends ------------------------------------------------------------------------------

CLOSE = {
    "start_range_min": 8_000,
    "start_range_max": 35_000,
    "start_off_boresight_max_deg": 25,
    "start_height_min": 1_500,
    "start_height_max": 9_000,
    "time_limit": 60,
    "reward_pressure": 0.05,
}
# Both sides draw from all types, and each fighter and missile flies by factors of its own.
DRAWN = {
    "red_aircraft": "light:1,heavy:1,fast:1,trainer:1",
    "blue_aircraft": "trainer:2,heavy:3",
    "red_missile": "short:1,long:2",
    "blue_missile": "medium:1,long:1,short:1",
    "aircraft_spread": 0.3,
    "missile_spread": 0.2,
}
# A new aircraft and missile, and a changed missile. `flown` has their fields.
OWN = {
    "types": "agile=light thrust=18 turn_radius=310 ram=0.25, far=long loft_max=3000 navigation=3, "
    "short burn_time=7 spent_speed=250",
    "red_aircraft": "agile",
    "blue_aircraft": "heavy,agile",
    "red_missile": "far:1,medium:1",
    "blue_missile": "short",
}
# Both sides carry several kinds, whose factors are drawn.
LOADED = {
    "red_missiles": "medium:2,long:2,short:2",
    "blue_missiles": "short:1,medium:2",
    "missile_spread": 0.2,
}
PAIR_OF_LOADOUTS = {"red_missiles": "medium:2,long:1", "blue_missiles": "short:2,medium:2"}
ONE_LOADED = {"red_missiles": "short:2,medium:3", "blue_missile": "long:1,medium:1"}
# Fewer types, since the reference takes seconds for R_NEZ of each missile against each aircraft.
SPREAD = {name: DRAWN[name] for name in ("aircraft_spread", "missile_spread")}
OTHER = {"blue_aircraft": "heavy", "red_missile": "long", **SPREAD}
FEW = {"red_aircraft": "light,heavy", "blue_missile": "long", **SPREAD}
OTHERWISE = {
    "gravity": 7,
    "physics_dt": 0.05,
    "substeps": 7,
    "fighter_rudder_rate": 0.8,
    "fighter_climb_rate": 0.6,
    "fighter_throttle_rate": 0.3,
    "missile_hit_radius": 40,
    "missile_launch_offset": 90,
    "launch_interval": 2,
    "pressing_margin": 5,
}


def random_controls(seed: int, num_envs: int, kinds: int = 1) -> Iterator[np.ndarray]:
    """Yields controls [num_envs, 2, 4], held for four decisions on average; shots every 4 s."""
    random, count = np.random.default_rng(seed), 0
    held = np.zeros((num_envs, 2, 4), np.float32)
    while True:
        fresh = random.uniform([-1, -1, 0, 0], 1, held.shape).astype(np.float32)
        held = np.where(random.random((num_envs, 2, 1)) < 0.25, fresh, held)
        held[..., 3] = count % 8 == 1
        if kinds > 1:
            held[..., 3] *= random.uniform(0.4, kinds + 1, held.shape[:2])
        yield held
        count += 1


@pytest.mark.parametrize(
    ("settings", "kinds"),
    [({}, 1), (DRAWN, 1), (OWN, 1), (OTHERWISE, 1), (LOADED, 3), (ONE_LOADED, 2)],
    ids=["default", "drawn", "own", "otherwise", "loaded", "one loaded"],
)
def test_whole_fights(types, settings, kinds):
    """Both fly to the same places under random controls, and end alike."""
    game = Game(flown(types) if settings is OWN else types, 4, 3, **(CLOSE | settings))
    fights = {env: game.copy(env) for env in range(4)}
    hits = gone = forks = decisions = 0
    for controls in random_controls(5, 4, kinds):
        game.sim.step(controls)
        for env, fight in [*fights.items()]:
            fight.margins.clear()
            in_the_air = len(fight.missiles)
            rewards = fight.decide(controls[env])
            ours = game.copy(env)
            agree = facts(ours) == facts(fight)
            agree = agree and same_states(ours, fight, ADRIFT, MISSILE_ADRIFT)
            agree = agree and np.allclose(game.sim.rewards[env], rewards, atol=3e-6)
            assert agree or near_call(fight)
            decisions, forks = decisions + 1, forks + (not agree)
            hits += sum(not f.alive for f in ours.fighters) if fight.outcome else 0
            gone += len(ours.missiles) < in_the_air
            if not agree:
                fights[env] = ours
            if ours.outcome:
                del fights[env]
        if not fights:
            break
    assert hits > 1
    assert gone > 5
    assert forks <= decisions / 200


# Pilots, rewards and observations, from the core's state -----------------------------------------

PAIRS = [
    ("shooter", "evader"),
    ("crank", "snake"),
    ("turn_back", "bracket_shooter"),
    ("ace", "weave"),
    ("ace", "crank"),
    ("patient", "straight"),
    ("patient", "snake"),
    ("evader", "ace"),
]
# Without draws, but for the heights; the guard is in a test of its own.
KNOWN = without_draws() | exactly(ace_guard=0)
KNOWN |= {"pilot_height_min": 4_000, "pilot_height_max": 12_000, "ammunition": 3}
KNOWN |= {"start_range_min": 20_000, "start_range_max": 40_000, "reward_pressure": 0.05}


def test_all_pilots_fight():
    assert {pilot for pair in PAIRS for pilot in pair} == {*PILOTS} - {*SENSOR_PILOTS}


@pytest.mark.parametrize(
    ("red", "blue", "settings"),
    [
        *((*pair, {}) for pair in PAIRS),
        ("ace", "crank", OTHER),
        ("ace", "crank", {**PAIR_OF_LOADOUTS, "ammunition": 6}),
        nightly("ace", "crank", FEW),
    ],
)
def test_pilots(types, red, blue, settings):
    """Commands, states, ends and rewards of decisions at random moments are the reference's."""
    random = np.random.default_rng(2)
    game = Game(types, 4, 11, red=red, blue=blue, **(KNOWN | settings))
    heights = game.sim.core.read("fighter")["height"].astype(float)
    pilots = [[HeightPilot(name, game.p, of) for name in (red, blue)] for of in heights]
    seen = forks = guided = 0
    while not game.sim.outcome.all() and game.sim.time[0] < 2000:
        chosen = [e for e in range(4) if random.random() < 0.15 and not game.sim.outcome[e]]
        fights = {env: game.copy(env) for env in chosen}
        game.sim.step()
        for env, fight in fights.items():
            controls = [pilot.control(fight, seat) for seat, pilot in enumerate(pilots[env])]
            rewards = fight.decide(controls)
            ours = game.copy(env)
            agree = np.allclose(game.commands(env), controls, atol=2e-5)
            agree = agree and facts(ours) == facts(fight)
            agree = agree and same_states(ours, fight, POSITION, POSITION)
            agree = agree and np.allclose(game.sim.rewards[env], rewards, atol=REWARD)
            assert agree or near_call(fight)
            seen, forks, guided = seen + 1, forks + (not agree), guided + len(fight.missiles)
    assert seen > 40
    assert guided > 10
    assert forks <= 2


def observed(fight: Fight, seat: int, kinds: int = 1) -> np.ndarray:
    """Returns the reference's observation."""
    values, features = fight.observe(seat), _core.feature_rows(_core.HEIGHTS[kinds - 1])
    assert values.keys() == {name for name, *_ in features}
    return np.clip([values[name] / scale for name, scale, *_ in features], -1, 1)


@pytest.mark.parametrize(
    ("settings", "kinds"),
    [({}, 1), ({"gravity": 7, "time_limit": 500}, 1), (DRAWN, 1), (LOADED, 3), (ONE_LOADED, 2)],
)
def test_observations(types, settings, kinds):
    """All features of random fights, by the core's own states, are the reference's."""
    settings = CLOSE | {"start_height_max": 13_500} | settings
    features = _core.feature_rows(_core.HEIGHTS[kinds - 1])
    game, worst, missiles = Game(types, 6, 9, **settings), np.zeros(len(features)), 0
    for number, controls in enumerate(random_controls(1, 6, kinds)):
        if game.sim.outcome.all() or number == 90:
            break
        game.sim.step(controls)
        shown = game.sim.observe()
        for env in np.flatnonzero(game.sim.outcome == OPEN) if number % 5 == 0 else ():
            fight = game.copy(env)
            missiles += len(fight.missiles)
            for seat in (RED, BLUE):
                worst = np.maximum(worst, np.abs(observed(fight, seat, kinds) - shown[env, seat]))
    assert missiles > 50
    wrong = {name: error for (name, *_), error in zip(features, worst, strict=True) if error > 2e-5}
    assert not wrong


def test_the_enemys_reach_counts_the_approach_in_space(types):
    game = Game(types, 1, 0)
    game.place(RED, x=0, z=8_000, climb_deg=-40)
    game.place(BLUE, x=20_000, z=4_000, heading_deg=180)
    index = [name for name, *_ in FEATURES].index("enemy_reach")
    assert game.sim.observe()[0, RED, index] == pytest.approx(
        observed(game.copy(), RED)[index], abs=1e-5
    )


@pytest.mark.parametrize("beyond", [-500, 500])
def test_the_guard_counts_the_angle_in_space(types, beyond):
    """An ace that dives at a missile has it on its nose: it evades up to the full guard."""
    settings = KNOWN | exactly(ace_guard=2_000, ace_cold_time=100)
    game = Game(types, 1, 0, red="ace", **settings)
    game.place(RED, z=12_000, climb_deg=-45)
    game.place(BLUE, x=60_000, z=12_000, heading_deg=180)
    shot = {"y": 0, "heading_deg": 180, "climb_deg": 45, "speed": 700, "age": 100}
    distance = 10_000.0
    for _ in range(5):  # to so much beyond the guard, with height four times as much
        side = distance * sin(radians(45))
        game.sim.set_missile(0, 0, owner=BLUE, x=side, z=12_000 - side, **shot)
        fight = game.copy()
        distance = 8_000 + beyond + fight.chase(fight.missiles[0], fight.fighters[RED], 60)
    pilot = HeightPilot("ace", game.p, game.sim.core.read("fighter")["height"][0])
    expected = pilot.climb(fight, RED)
    assert (expected == -game.p["pilot_dive"]) is (beyond < 0)
    game.sim.step()
    assert game.commands(0)[RED, 1] == pytest.approx(expected, abs=1e-5)


# Scenes ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("seat", [RED, BLUE])
def test_a_crash_is_a_death_by_nobody(types, seat):
    """A fighter that dives into the ground is dead, its enemy wins, and nobody has hit it."""
    game = Game(types, 1, 0)
    game.place(seat, z=60, climb_deg=-60, speed=150, climb=-1)
    game.place(1 - seat, x=40_000, heading_deg=180)
    # A missile that would hit it in the next decision but one has lost its target.
    shot = {"x": 1_500, "y": 0, "z": 100, "heading_deg": 180, "speed": 900, "age": 90}
    game.sim.set_missile(0, 0, owner=1 - seat, **shot)
    fight = game.copy()
    rewards = fight.decide([(0, 0, 0, 0), (0, 0, 0, 0)])
    game.sim.step()
    ours = game.copy()
    assert facts(ours) == facts(fight)
    assert not ours.fighters[seat].alive
    assert not ours.missiles
    assert ours.fighters[seat].z < 0
    assert ours.outcome == (BLUE_WINS if seat == RED else RED_WINS)
    assert same_states(ours, fight, POSITION, POSITION)
    assert game.sim.rewards[0] == pytest.approx(rewards, abs=REWARD)
    assert not game.sim.core.read("fighter")["hits"].any()


@pytest.mark.parametrize(
    ("shot", "flies_on"),
    [
        ({"z": 5_000, "speed": 310, "age": 200}, True),
        ({"z": 5_000, "speed": 280, "age": 200}, False),
        ({"z": 9_000, "speed": 280, "age": 200}, True),  # its height counts as speed
        ({"z": 3_000, "speed": 320, "age": 200}, False),
        ({"z": 3_000, "speed": 320, "age": 74}, True),  # still burning at the end
        ({"z": 5_000, "speed": 900, "age": 994}, True),
        ({"z": 5_000, "speed": 900, "age": 995}, False),  # it has flown for its life
        ({"z": 30, "speed": 900, "age": 200, "climb_deg": -60}, False),
    ],
)
def test_spent_missiles(types, shot, flies_on):
    """A missile is spent by its energy over its target's height, by its life, or in the ground."""
    game = Game(types, 1, 0)
    game.place(RED)
    game.place(BLUE, x=40_000, heading_deg=180)
    game.sim.set_missile(0, 0, owner=RED, **({"x": 5_000, "y": 0, "heading_deg": 0} | shot))
    fight = game.copy()
    fight.decide([(0, 0, 1, 0), (0, 0, 1, 0)])
    game.sim.step(np.tile(np.array([0, 0, 1, 0], np.float32), (1, 2, 1)))
    assert facts(game.copy()) == facts(fight)
    assert bool(fight.missiles) is flies_on


def test_reflection_is_exact(types):
    """A mirrored fight has the mirrored states and observations, bit for bit."""
    games = [Game(types, 8, 4, **CLOSE) for _ in range(2)]
    place_mirrored(games)
    launches = 0
    for _, controls in zip(range(60), random_controls(6, 8), strict=False):
        a, b = step_mirrored(games, controls)
        assert np.array_equal(np.where(LATERAL, -1, 1) * a.observe(), b.observe())
        launches = max(launches, int(a.missiles["active"].sum()))
    assert launches > 8


def test_low_scenes(types):
    """Hits, crashes and spent missiles of one decision come in their order."""
    random, game = np.random.default_rng(8), Game(types, 1, 0, time_limit=3600)
    ends, forks = set(), 0
    for _ in range(100):
        game.sim.reset()
        for seat in (RED, BLUE):
            low = {"z": random.uniform(1, 250), "climb_deg": random.uniform(-80, 10)}
            x, y, heading = random.uniform([-900, -900, -180], [900, 900, 180])
            speed = random.uniform(90, 300)
            game.place(seat, x=x, y=y, heading_deg=heading, speed=speed, climb=-1, **low)
        for slot in range(3):
            z, climb, age = random.uniform([0, -30, 60], [300, 30, 120])
            x, y, heading = random.uniform([-1500, -1500, -180], [1500, 1500, 180])
            body = {"x": x, "y": y, "z": z, "heading_deg": heading, "climb_deg": climb}
            speed = random.uniform(250, 1000)
            game.sim.set_missile(0, slot, owner=slot % 2, age=int(age), speed=speed, **body)
        fight, controls = game.copy(), random.uniform([-1, -1, 0, 0], 1, (2, 4)).astype(np.float32)
        rewards = fight.decide(controls)
        game.sim.step(controls[None])
        ours = game.copy()
        # Several missiles of one owner and age may be in the air: their states are not compared.
        agree = facts(ours) == facts(fight)
        agree = agree and np.allclose(game.sim.rewards[0], rewards, atol=2e-6)
        assert agree or near_call(fight)
        forks += not agree
        fallen = [not f.alive and f.z < 0 for f in ours.fighters]
        ends.add((ours.outcome, tuple(f.alive for f in ours.fighters), tuple(fallen)))
    assert len(ends) > 7
    assert forks <= 2
