"""Teams with height: beside their float64 reference, and what holds in teams of all games.

height_games.py has the tolerances.
"""

from collections.abc import Iterator

import height
import numpy as np
import pytest
from flights import exactly, without_draws
from height_games import MISSILE_ADRIFT, POSITION, REWARD, Game, facts, near_call, same_states
from height_symmetry import check_snapshots_and_batches, place_mirrored, step_mirrored
from needs import nightly
from reference_height import Fields
from reference_height_fight import BLUE, RED
from reference_height_pilots import HeightPilot
from reference_height_teams import HeightTeams

from midrange_puffer import Simulation, _core
from midrange_puffer.errors import UsageError
from midrange_puffer.game.observation import features_of, rows_of, team_rows

NEAR = {
    "start_range_min": 9_000,
    "start_range_max": 25_000,
    "start_spacing_min": 300,
    "start_spacing_max": 1_500,
    "start_off_boresight_max_deg": 30,
    "start_height_min": 2_000,
    "start_height_max": 9_000,
    "time_limit": 60,
    "reward_pressure": 0.05,
    "reward_kill": 0.3,
}
DRAWN = {
    "red_aircraft": "heavy:1,light:2,trainer:1",
    "blue_aircraft": "fast:1,light:1",
    "blue_missile": "short:1,long:1",
    "aircraft_spread": 0.3,
    "missile_spread": 0.2,
}
UNEVEN = {"red_size": 3, "blue_size": 1}
PAIRS = {"red_size": 2, "blue_size": 2}


@pytest.fixture(scope="module")
def types(library) -> dict[str, Fields]:
    """Returns the fields of all types, by name."""
    names = [*height.types(library, "aircraft"), *height.types(library, "missile")]
    return {name: height.fields(library, name) for name in names}


def random_controls(seed: int, shape: tuple[int, int]) -> Iterator[np.ndarray]:
    """Yields controls [*shape, 4], held for four decisions on average; shots every 4 s."""
    random, count = np.random.default_rng(seed), 0
    held = np.zeros((*shape, 4), np.float32)
    while True:
        fresh = random.uniform([-1, -1, 0, 0], 1, held.shape).astype(np.float32)
        held = np.where(random.random((*shape, 1)) < 0.25, fresh, held)
        held[..., 3] = count % 8 == 1
        yield held
        count += 1


def close(a: HeightTeams, b: HeightTeams) -> bool:
    """True if the targets of all missiles are the same, too."""
    return sorted((m.owner, m.age, m.target) for m in a.missiles) == sorted(
        (m.owner, m.age, m.target) for m in b.missiles
    )


# Beside the reference


@pytest.mark.parametrize("sizes", [PAIRS, UNEVEN], ids=["2v2", "3v1"])
def test_decisions(types, sizes):
    """Decisions under random controls, from the core's states, are the reference's."""
    game = Game(types, 6, 3, **(NEAR | DRAWN | sizes))
    names = [name for name, *_ in _core.feature_rows(_core.TEAM_HEIGHT, *sizes.values())]
    scales = {name: scale for name, scale, *_ in _core.feature_rows("team_height", *sizes.values())}
    random, worst = np.random.default_rng(0), dict.fromkeys(names, 0.0)
    forks = seen = hits = 0
    for controls in random_controls(5, game.sim.rewards.shape):
        chosen = [e for e in range(6) if random.random() < 0.3 and not game.sim.outcome[e]]
        fights = {env: game.copy(env) for env in chosen}
        shown = game.sim.observe()
        game.sim.step(controls)
        for env, fight in fights.items():
            for seat in range(len(fight.fighters)):
                values = fight.observe(seat)
                for name, value in zip(names, shown[env, seat], strict=True):
                    wanted = np.clip(values.get(name, 0.0) / scales[name], -1, 1)
                    worst[name] = max(worst[name], abs(value - wanted))
                assert values.keys() <= worst.keys()
            alive = sum(f.alive for f in fight.fighters)
            rewards = fight.decide(controls[env])
            ours = game.copy(env)
            agree = facts(ours) == facts(fight) and close(ours, fight)
            agree = agree and same_states(ours, fight, POSITION, MISSILE_ADRIFT)
            agree = agree and np.allclose(game.sim.rewards[env], rewards, atol=4 * REWARD)
            assert agree or near_call(fight)
            seen, forks = seen + 1, forks + (not agree)
            hits += alive - sum(f.alive for f in ours.fighters)
        if game.sim.outcome.all():
            break
    assert seen > 60
    assert hits > 1
    assert forks <= 3
    assert {name: error for name, error in worst.items() if error > 2e-5} == {}


def test_lost_targets(types):
    """Missiles whose target dies go for the enemy nearest their nose in space, or are gone."""
    random, game = np.random.default_rng(8), Game(types, 1, 0, red_size=2, blue_size=3)
    found = gone = forks = 0
    for _ in range(60):
        game.sim.reset()
        for seat in (0, 1):
            game.place(seat, x=-40_000, y=3_000 * seat)
        for seat in (2, 3, 4):
            x, y, z = random.uniform([0, -4_000, 1_000], [9_000, 4_000, 9_000])
            game.place(seat, x=x, y=y, z=z, heading_deg=random.uniform(-180, 180))
        target = {name: float(game.sim.fighters[name][0, 2]) for name in "xyz"}
        near = target | {"x": target["x"] - 150}
        game.sim.set_missile(0, 0, owner=0, target=2, heading_deg=0, speed=900, age=30, **near)
        place = {"x": random.uniform(-9e3, -2e3), "y": target["y"], "z": random.uniform(2e3, 8e3)}
        shot = {"heading_deg": random.uniform(-40, 40), "climb_deg": random.uniform(-30, 30)}
        shot |= {"speed": random.uniform(250, 700), "age": int(random.integers(0, 200))}
        game.sim.set_missile(0, 1, owner=1, target=2, **(place | shot))
        fight = game.copy()
        rewards = fight.decide(np.zeros((5, 4)))
        game.sim.step(np.zeros((1, 5, 4), np.float32))
        ours = game.copy()
        agree = facts(ours) == facts(fight) and close(ours, fight)
        agree = agree and same_states(ours, fight, POSITION, MISSILE_ADRIFT)
        agree = agree and np.allclose(game.sim.rewards[0], rewards, atol=4 * REWARD)
        assert agree or near_call(fight)
        forks, found = forks + (not agree), found + fight.retargeted
        gone += not fight.missiles
    assert found > 10
    assert gone > 10
    assert forks <= 1


KNOWN = without_draws() | exactly(ace_guard=0)
KNOWN |= {"pilot_height_min": 4_000, "pilot_height_max": 12_000, "ammunition": 3}
KNOWN |= {"start_range_min": 20_000, "start_range_max": 40_000, "reward_pressure": 0.05}


@pytest.mark.parametrize(
    ("red", "blue", "settings"),
    [
        ("crank", "evader", PAIRS | {"red_aircraft": "heavy:1,light:1"}),
        ("ace", "snake", UNEVEN),
        nightly("patient", "turn_back", {"red_size": 2, "blue_size": 3}),
    ],
)
def test_pilots(types, red, blue, settings):
    """The pilots share the enemies out, fly and fire as the reference's do."""
    random = np.random.default_rng(2)
    game = Game(types, 3, 11, red=red, blue=blue, **(KNOWN | settings))
    heights = game.sim.core.read("fighter")["height"].astype(float)
    first = settings["red_size"]
    seen = forks = guided = 0
    while not game.sim.outcome.all() and game.sim.time[0] < 1500:
        chosen = [e for e in range(3) if random.random() < 0.15 and not game.sim.outcome[e]]
        fights = {env: game.copy(env) for env in chosen}
        game.sim.step()
        for env, fight in fights.items():
            kinds = [HeightPilot(name, game.p, heights[env]) for name in (red, blue)]
            pilots = {n: kinds[int(n >= first)] for n in range(len(fight.fighters))}
            for side in (RED, BLUE):
                fight.share_targets(side, pilots)
            controls = [pilot.control(fight, n) for n, pilot in pilots.items()]
            targets = dict(fight.targets)
            lives = [fighter.alive for fighter in fight.fighters]
            rewards = fight.decide(controls)
            ours = game.copy(env)
            given = game.commands(env)[lives]
            given[:, 3] = np.minimum(given[:, 3], 1)
            agree = np.allclose(given, np.array(controls)[lives], atol=2e-5)
            agree = agree and facts(ours) == facts(fight) and close(ours, fight)
            agree = agree and all(ours.targets[n] == targets[n] for n in np.flatnonzero(lives))
            agree = agree and same_states(ours, fight, POSITION, POSITION)
            agree = agree and np.allclose(game.sim.rewards[env], rewards, atol=4 * REWARD)
            assert agree or near_call(fight)
            seen, forks, guided = seen + 1, forks + (not agree), guided + len(fight.missiles)
    assert seen > 30
    assert guided > 10
    assert forks <= 2


# Types, loads, actions, rows


def test_each_fighter_draws_its_type_and_a_side_its_missile():
    """The shares are those of the mix, and the first fighters draw as in one against one."""
    settings = {"dimensions": 3, "red_aircraft": "heavy:1,light:2", "missile_spread": 0.2}
    team = Simulation(600, seed=4, red_size=4, blue_size=2, red_missile="long,short", **settings)
    pair = Simulation(600, seed=4, red_missile="long,short", **settings)
    drawn, names = team.types, team.type_names["aircraft"]
    is_heavy = drawn["aircraft"][:, :4] == names.index("heavy")
    assert is_heavy.mean(axis=0) == pytest.approx([1 / 3] * 4, abs=0.06)
    assert abs(np.corrcoef(is_heavy.T) - np.eye(4)).max() < 0.15  # each by itself
    assert (drawn["aircraft"][:, 4:] == names.index("light")).all()
    for name in ("missile", "missile_thrust_factor"):
        for side in (drawn[name][:, :4], drawn[name][:, 4:]):
            assert (side == side[:, :1]).all(), name
    for name, values in pair.types.items():
        assert np.array_equal(values, drawn[name][:, [0, 4]]), name


def test_a_heavier_fighter_flies_by_its_own_type():
    """In one side, the fighters with the same controls fly as their types do alone."""
    settings = {"dimensions": 3, "red_size": 2, "blue_size": 1, "red_aircraft": "trainer,light"}
    sim = Simulation(8, seed=1, **settings)
    controls = np.tile(np.float32([0.5, 0.3, 1, 0]), (8, 3, 1))
    for _ in range(20):
        sim.step(controls)
    kinds, speed = sim.types["aircraft"][:, :2], sim.fighters["speed"][:, :2]
    differs = kinds[:, 0] != kinds[:, 1]
    assert 0 < differs.mean() < 1
    assert ((speed[:, 0] == speed[:, 1]) == ~differs).all()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"red_missiles": "medium:4,long:2"}, "in teams each side carries one type of missile"),
        ({"observation": "stg"}, "must be default with dimensions = 3"),
        ({"fighter_thrust": 20}, "it is of the flight in the plane"),
    ],
)
def test_settings_that_teams_with_height_lack_are_named(change, message):
    with pytest.raises((ValueError, UsageError), match=message):
        Simulation(dimensions=3, red_size=2, **change)


def test_a_load_of_one_type_replaces_the_ammunition():
    sim = Simulation(dimensions=3, **PAIRS, red_missiles="long:2", blue_missile="short")
    assert sim.fighters["ammo"].tolist() == [[2, 2, 6, 6]]
    assert [sim.type_names["missile"][n] for n in sim.types["missile"][0]] == [
        *("long", "long"), *("short", "short"),
    ]  # fmt: skip


def test_levels_of_fire_are_enemies():
    """Level k fires at the k-th nearest in space, and the control above 0.5 at the nearest nose."""
    sim = Simulation(dimensions=3, **UNEVEN | {"red_size": 1, "blue_size": 3}, substeps=1)
    sim.set_fighter(0, 0, x=0, y=0, z=5_000, heading_deg=0)
    places = [(9_000, 500, 14_500), (11_000, 4_000, 5_000), (12_000, 0, 5_200)]
    for number, (x, y, z) in enumerate(places, 1):
        sim.set_fighter(0, number, x=x, y=y, z=z, heading_deg=180)
    start = sim.snapshot()
    by_level = []
    for level in (0, 1, 2, 3):
        actions = np.tile(np.int32([2, 2, 2, 0]), (4, 1))
        actions[0, 3] = level
        sim.restore(start)
        seen, out = np.zeros((4, sim.core.features), np.float32), np.zeros(4, np.float32)
        sim.core.step(actions, seen, out, *np.zeros((2, 4), np.uint8))
        by_level.append(sim.missiles["target"][sim.missiles["active"] == 1].tolist())
    assert by_level == [[], [2], [3], [1]]
    sim.restore(start)
    controls = np.zeros((1, 4, 4), np.float32)
    controls[0, 0, 3] = 1
    sim.step(controls)
    assert sim.missiles["target"][0, 0] == 3


@pytest.mark.parametrize("sizes", [(2, 2), (3, 1), (8, 8)])
def test_rows(sizes):
    """The rows are those of the plane, with more features, and no game has as many."""
    rows, plane = team_rows(*sizes, dimensions=3), team_rows(*sizes)
    assert [(row.kind, row.rows) for row in rows] == [(row.kind, row.rows) for row in plane]
    names = [row.name for row in features_of(_core.TEAM_HEIGHT, *sizes)]
    assert len(names) == len(set(names)) == rows[-1].place + rows[-1].rows * rows[-1].features
    assert {row.name for row in features_of(_core.TEAM, *sizes)} < set(names)
    assert rows_of(len(names)) == rows


# What holds in all games


def test_reflection_is_exact(types):
    """A mirrored fight has the mirrored states and observations, bit for bit."""
    sizes = {"red_size": 2, "blue_size": 3}
    games = [Game(types, 5, 4, **(NEAR | sizes)) for _ in range(2)]
    place_mirrored(games)
    rows = features_of(_core.TEAM_HEIGHT, 2, 3)
    signs, launches = np.array([-1 if row.lateral else 1 for row in rows]), 0
    for _, controls in zip(range(50), random_controls(6, (5, 5)), strict=False):
        a, b = step_mirrored(games, controls)
        assert np.array_equal(signs * a.observe(), b.observe())
        launches = max(launches, int(a.missiles["active"].sum()))
    assert launches > 8
    assert not a.fighters["alive"].all()


def test_snapshots_and_batches():
    """A fight is the same after a snapshot, in any batch and on any number of threads."""
    settings = NEAR | DRAWN | {"dimensions": 3, "red_size": 2, "blue_size": 3, "blue": "ace"}
    sim, other = check_snapshots_and_batches(settings)
    assert np.array_equal(other.types["aircraft"], sim.types["aircraft"])
