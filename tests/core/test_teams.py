"""Teams of all sizes: starts, shots, lost targets, outcomes, what is observed, and symmetry."""

from itertools import product

import numpy as np
import pytest
from scenes import FAR

from midrange_puffer import FEATURES, Simulation, _core
from midrange_puffer.errors import UsageError
from midrange_puffer.game.observation import controls_of, features_of, is_of_mission, rows_of

SIZES = [(2, 2), (3, 1), (1, 3), (4, 4), (5, 8), (8, 8), (9, 4), (16, 16)]
EACH_SIZE = pytest.mark.parametrize("sizes", SIZES, ids="{0[0]}v{0[1]}".format)


def teams(sizes: tuple[int, int], num_envs: int = 1, **kwargs: float) -> Simulation:
    return Simulation(num_envs=num_envs, red_size=sizes[0], blue_size=sizes[1], **kwargs)


def feature(sim: Simulation, name: str, fighter: int = 0, env: int = 0) -> float:
    names = [row.name for row in features_of(_core.TEAM, *sizes_of(sim))]
    return float(sim.observe()[env, fighter, names.index(name)])


def sizes_of(sim: Simulation) -> tuple[int, int]:
    return sim.parameters["red_size"], sim.parameters["blue_size"]


def controls(sim: Simulation) -> np.ndarray:
    """Everybody flies straight on at full throttle."""
    out = np.zeros((*sim.rewards.shape, 3), np.float32)
    out[..., 1] = 1
    return out


# Start


@pytest.mark.parametrize("sizes", [(8, 8), (9, 9), (16, 1), (16, 16)])
def test_lines_of_the_default_spacing_fit(sizes):
    """Facing each other at any bearing, the ends of two lines are further apart than neighbours."""
    sim = teams(sizes, 200, seed=5)
    state, red = sim.fighters, slice(0, sizes[0])
    places = np.stack([state["x"], state["y"]], axis=-1)
    assert (
        sum(
            np.linalg.norm(places[:, line].mean(axis=1)[:, None] - places[:, line], axis=-1).max()
            for line in (red, slice(sizes[0], None))
        )
        < sim.parameters["start_range_min"]
    )
    gaps = np.linalg.norm(np.diff(places[:, red], axis=1), axis=-1)
    assert 900 < gaps.min() < gaps.max() < 4_000.1


def test_an_automatic_spacing_of_large_sides_is_scaled():
    """Sixteen on a side take 14/30 of it, so that the line is as long as one of eight."""
    spacing = lambda **given: [  # noqa: E731
        Simulation(**given).parameters[f"start_spacing_{end}"] for end in ("min", "max")
    ]
    large = {"red_size": 16, "blue_size": 16}
    auto = {"start_spacing_min": "auto", "start_spacing_max": "auto"}
    assert spacing(**large) == spacing(**large, **auto) == [933, 1_866]
    assert spacing(red_size=8, blue_size=8) == [2_000, 4_000]
    assert spacing(red_size=12, blue_size=1) == [2_000, 4_000]  # they fit
    far = {"start_range_min": 70_000, "start_range_max": 80_000}
    assert spacing(**large, **far) == [2_000, 4_000]


@pytest.mark.parametrize("spacing", [(2_000, 4_000), ("auto", 2_500), (2_000, "auto")])
def test_a_given_spacing_holds_or_is_refused(spacing):
    """Also where it is the default one."""
    large = {"red_size": 16, "blue_size": 16}
    given = dict(zip(("start_spacing_min", "start_spacing_max"), spacing, strict=True))
    most = 4_000 if spacing[1] == "auto" else spacing[1]
    with pytest.raises(ValueError, match=f"start_spacing_max = {most}: must be below 2000"):
        Simulation(**large, **given)
    far = {"start_range_min": 70_000, "start_range_max": 80_000}
    assert Simulation(**large, **given, **far).parameters["start_spacing_max"] == most


@pytest.mark.parametrize("sizes", [(9, 2), (9, 5), (9, 7), (10, 7), (12, 1)])
def test_the_default_spacing_is_only_shortened(sizes):
    """At a short range the lines may meet by the default, and a longer spacing does not help."""
    gaps, near = sum(sizes) - 2, {"start_range_min": 1_999.0 * (sum(sizes) - 2)}
    game = (
        dict(zip(("red_size", "blue_size"), sizes, strict=True)) | near | {"start_range_max": 90e3}
    )
    if gaps <= 14:
        with pytest.raises(ValueError, match=r"start_spacing_max = 4000: must be below 3998"):
            Simulation(**game)
        return
    assert Simulation(**game).parameters["start_spacing_max"] == 4_000 * 14 // gaps


@EACH_SIZE
def test_a_side_starts_abreast_in_line(sizes):
    sim = teams(sizes, 500, seed=3, start_spacing_min=700, start_spacing_max=900)
    state, middles = sim.fighters, []
    for first, size in ((0, sizes[0]), (sizes[0], sizes[1])):
        side = slice(first, first + size)
        x, y = state["x"][:, side], state["y"][:, side]
        for name in ("heading", "speed"):
            assert (state[name][:, side] == state[name][:, first : first + 1]).all()
        middles.append((x.mean(axis=1), y.mean(axis=1)))
        if size == 1:
            continue
        heading = state["heading"][:, first].astype(np.float64)
        gaps = np.diff(x, axis=1), np.diff(y, axis=1)
        right = gaps[0] * np.sin(heading)[:, None] - gaps[1] * np.cos(heading)[:, None]
        ahead = gaps[0] * np.cos(heading)[:, None] + gaps[1] * np.sin(heading)[:, None]
        assert np.abs(ahead).max() < 0.1
        assert right.min() >= 699.9
        assert right.max() <= 900.1
        assert right.max() - right.min() > 150
        assert np.ptp(right, axis=1).max() < 0.1  # drawn once for the side
    apart = np.hypot(middles[1][0] - middles[0][0], middles[1][1] - middles[0][1])
    assert apart.min() >= 29_999
    assert apart.max() <= 60_001


def test_the_first_fighters_start_as_in_one_against_one():
    """But for the place in the line: the same seed gives the same sides."""
    pair, team = Simulation(50, seed=4), teams((2, 2), 50, seed=4)
    for name in ("heading", "speed"):
        assert (pair.fighters[name] == team.fighters[name][:, ::2]).all()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"red_size": 17}, "red_size = 17: must be from 1 to 16"),
        ({"blue_size": 0}, "blue_size = 0"),
        ({"red_size": 2.5}, "must be a whole number"),
        ({"red_sise": 2}, "did you mean 'red_size'"),
        ({"start_spacing_max": 9000}, "start_spacing_max = 9000: must be below"),
        (
            {"red_size": 16, "blue_size": 16, "start_spacing_max": 5000},
            r"2000, .*; start_spacing_min = 2000 must",
        ),
        ({"observation": "stg"}, "must be default for teams"),
        ({"red": ["agent"]}, "red_size is 8"),
        ({"red": ["agent"] * 7 + ["asce"]}, "did you mean 'ace'"),
    ],
)
def test_impossible_teams_are_refused_by_name(change, message):
    with pytest.raises((ValueError, UsageError), match=message):
        Simulation(**({"red_size": 8, "blue_size": 8} | change))


# Shots and missiles


def facing(sizes: tuple[int, int], places: list[tuple[float, float]], **kwargs) -> Simulation:
    """Red flies east, its first from the origin, the others far off; blue west, from `places`."""
    sim = teams(sizes, substeps=1, **kwargs)
    for seat in range(sizes[0]):
        sim.set_fighter(0, seat, x=0, y=-FAR * seat, heading_deg=0, speed=300)
    for seat, (x, y) in enumerate(places, start=sizes[0]):
        sim.set_fighter(0, seat, x=x, y=y, heading_deg=180, speed=300)
    return sim


PLACES = [(30_000, 0), (9_000, 9_000), (20_000, -5_000)]  # ranges 30, 12.7 and 20.6 km
BY_RANGE = [1 + 1, 1 + 2, 1 + 0]


def shot_by_level(level: int, **alive: bool) -> np.ndarray:
    """The targets of the missiles in the air after one decision in which red 0 chose a level."""
    sim = facing((1, 3), PLACES)
    observations = np.zeros((4, sim.core.features), np.float32)
    actions = np.tile(np.array([2, 2, 0], np.int32), (4, 1))
    actions[0, 2] = level
    for fighter, lives in alive.items():
        sim.set_fighter(0, int(fighter[1:]), alive=lives)
    rewards, ends = np.zeros(4, np.float32), np.zeros((2, 4), np.uint8)
    sim.core.step(actions, observations, rewards, *ends)
    missiles = sim.missiles
    return missiles["target"][missiles["active"] == 1]


@pytest.mark.parametrize("level", [0, 1, 2, 3, 99])
def test_a_level_of_fire_is_a_shot_at_the_kth_nearest_enemy(level):
    expected = [] if level == 0 else [BY_RANGE[min(level, 3) - 1]]
    assert shot_by_level(level).tolist() == expected


def test_levels_count_living_enemies_only():
    assert shot_by_level(1, f2=False).tolist() == [3]
    assert shot_by_level(3, f2=False).tolist() == []


def test_a_continuous_shot_is_at_the_enemy_nearest_the_nose():
    sim = facing((1, 3), PLACES)
    command = controls(sim)
    command[0, 0, 2] = 1
    sim.step(command)
    assert sim.missiles["target"][0, 0] == 1
    assert sim.fighters["ammo"][0].tolist() == [5, 6, 6, 6]


def kill(sim: Simulation, fighter: int, owner: int = 0) -> None:
    """Kills a fighter by a missile that is about to pass."""
    body = {name: float(sim.fighters[name][0, fighter]) for name in ("x", "y")}
    sim.set_missile(
        0, 0, owner=owner, target=fighter, x=body["x"] - 150, y=body["y"], heading_deg=0, speed=900
    )


def test_a_missile_goes_for_the_enemy_nearest_its_nose_when_its_target_dies():
    sim = facing((1, 3), [(30_000, 0), (12_000, 3_000), (14_000, -2_000)])
    sim.set_missile(0, 1, owner=0, target=1, x=5_000, y=0, heading_deg=0, speed=900)
    kill(sim, 1)
    sim.step(controls(sim))
    assert sim.fighters["alive"][0].tolist() == [1, 0, 1, 1]
    assert sim.missiles["active"][0, :2].tolist() == [0, 1]
    assert sim.missiles["target"][0, 1] == 3


@pytest.mark.parametrize("place", [(4_000, 9_000), (19_000, 500)])  # off its nose; too far
def test_without_another_enemy_in_its_cone_it_is_gone(place):
    sim = facing((1, 2), [(30_000, 0), place])
    sim.set_missile(0, 1, owner=0, target=1, x=5_000, y=0, heading_deg=0, speed=900)
    kill(sim, 1)
    sim.step(controls(sim))
    assert not sim.missiles["active"].any()


# Outcome and rewards


def test_the_side_with_more_left_wins_at_the_time_limit():
    sim = teams((2, 2), 3, time_limit=2, reward_kill=0.4)
    sim.set_fighter(0, 0, alive=False)
    sim.set_fighter(1, 3, alive=False)
    while not sim.outcome.all():
        sim.step(controls(sim))
    assert sim.outcome.tolist() == [2, 1, 3]
    assert sim.truncated.all()


@EACH_SIZE
def test_rewards_of_the_sides_are_each_others_negatives(sizes):
    rng = np.random.default_rng(0)
    near = {"start_range_min": 8_000, "start_range_max": 15_000, "start_spacing_max": 500}
    near |= {"start_spacing_min": 300, "reward_kill": 0.3, "time_limit": 60}
    sim = teams(sizes, 32, blue="shooter", **near)
    paid, some = 0.0, False
    for _ in range(150):
        sim.step(rng.uniform(-1, 1, (*sim.rewards.shape, 3)))
        red, blue = np.split(sim.rewards, [sizes[0]], axis=1)
        assert red.mean(axis=1) == pytest.approx(-blue.mean(axis=1), abs=2e-6)
        paid += np.abs(red).sum()
        some |= bool((np.ptp(red, axis=1) > 1e-4).any()) if sizes[0] > 1 else True
    assert paid > 1
    assert some  # with reward_team below 1 they are not all the same


# What is observed


def test_rows_of_a_pair_are_what_one_against_one_observes():
    """The own row and the enemy's, where there is only one enemy that lives."""
    pair, team = Simulation(1, seed=7), teams((2, 2), seed=7)
    for seat, other in ((0, 0), (1, 2)):
        names = ("x", "y", "speed", "heading")
        x, y, speed, heading = (float(pair.fighters[name][0, seat]) for name in names)
        team.set_fighter(0, other, x=x, y=y, speed=speed, heading_deg=np.degrees(heading))
        team.set_fighter(0, other + 1, alive=False)
    seen = dict(zip([f.name for f in FEATURES], pair.observe()[0, 0], strict=True))
    own = [row.name for row in features_of(_core.TEAM, 2, 2)]
    mine = dict(zip(own, team.observe()[0, 0], strict=True))
    alike = {name: name for name in own[:8]} | {
        f"enemy_1_{name}": f"enemy_{name}"
        for name in ("ahead", "left", "range", "nearness", "closing", "los_rate", "heading_ahead")
    }
    alike |= {"enemy_1_own_reach": "own_reach", "enemy_1_reach": "enemy_reach"}
    alike |= {"enemy_1_aspect_ahead": "own_aspect_ahead", "enemy_1_speed": "enemy_speed"}
    for ours, theirs in alike.items():
        assert mine[ours] == pytest.approx(seen[theirs], abs=1e-6), ours
    assert mine["own_survivors"] == mine["enemy_survivors"] == 1 / 8
    assert all(value == 0 for name, value in mine.items() if name.startswith(("ally", "enemy_2")))


def test_others_are_observed_by_range_and_the_dead_see_nothing():
    sim = facing((1, 3), PLACES)
    ranges = [feature(sim, f"enemy_{k}_range") * 100_000 for k in (1, 2, 3)]
    assert ranges == pytest.approx(sorted(np.hypot(*np.transpose(PLACES))), rel=1e-5)
    assert [feature(sim, f"ally_{k}_range", fighter=2) for k in (1, 2)] == pytest.approx(
        sorted(np.hypot(x - 9_000, y - 9_000) / 100_000 for x, y in (PLACES[0], PLACES[2])),
        rel=1e-5,
    )
    sim.set_fighter(0, 2, alive=False)
    assert feature(sim, "enemy_1_range") == pytest.approx(np.hypot(20_000, 5_000) / 1e5)
    assert feature(sim, "enemy_3_present") == 0
    assert not sim.observe()[0, 2].any()


def test_missiles_are_observed_by_their_time_to_go():
    sim = facing((2, 2), [(30_000, 0), (40_000, 3_000)])
    for slot, (x, owner) in enumerate(
        [(9_000, 2), (4_000, 3), (15_000, 2), (7_000, 2), (2_500, 3)]
    ):
        sim.set_missile(0, slot, owner=owner, target=0, x=x, y=0, heading_deg=180, speed=800)
    seen = [feature(sim, f"inbound_{k}_nearness") for k in (1, 2, 3)]
    assert seen == pytest.approx([5000 / (5000 + x) for x in (2_500, 4_000, 7_000)], rel=1e-4)
    assert feature(sim, "own_missile_2_present", fighter=3) == 1
    assert feature(sim, "own_missile_1_present", fighter=1) == 0
    assert feature(sim, "own_in_air", fighter=2) == pytest.approx(3 / 6)
    assert feature(sim, "ally_1_inbound", fighter=1) == pytest.approx(5 / 6)


@EACH_SIZE
def test_features_are_as_many_as_are_named(sizes):
    names = [row.name for row in features_of(_core.TEAM, *sizes)]
    assert len(names) == len(set(names)) == teams(sizes).observe().shape[-1]
    kinds = _core.team_rows(_core.TEAM, *sizes)
    larger = max(sizes) if max(sizes) <= 8 else 16
    assert [rows for _, rows, _, _ in kinds] == [1, larger - 1, larger, 3, 2]
    last = kinds[-1]
    assert last[3] + last[1] * last[2] == len(names)


def test_no_two_observations_have_one_length():
    """Its length gives a policy the game, and the sides' size where that is up to 8."""
    lengths = {}
    sizes = [(size, 2) for size in range(2, 17)]
    pairs = (*_core.OBSERVATIONS, *_core.HEIGHTS, *_core.RADAR_HEIGHTS)
    systems = [_core.with_systems(name) for name in _core.WITH_SENSORS]
    for base, mission in product((*_core.TEAMS, *pairs, *systems), ("fight", "line")):
        name, observation = _core.parts_of(base)[0], _core.in_mission(base, mission)
        for red, blue in sizes if name in _core.TEAMS else [(1, 1)]:
            length = len(features_of(observation, red, blue))
            lengths.setdefault(length, set()).add((observation, min(red, 9)))
            assert bool(rows_of(length)) == (name in _core.TEAMS)
            assert is_of_mission(length) == (mission == "line")
            assert controls_of(length).systems == (base in systems)
            assert controls_of(length).dimensions == (3 if "height" in name else 2)
    assert {length: games for length, games in lengths.items() if len(games) > 1} == {}


def test_sides_of_nine_and_more_have_the_levels_of_sixteen():
    """Levels beyond the enemies that live are no shots, as in smaller teams."""
    assert _core.action_levels(9, 2) == _core.action_levels(16, 16) == (5, 3, 17)
    assert _core.action_levels(8, 8) == (5, 3, 9)
    sim = teams((12, 12), substeps=1)
    for level in (1, 9, 10, 12, 13, 16):
        sim.reset(seed=0)
        own = {name: sim.fighters[name][0] for name in ("x", "y")}
        ranges = np.hypot(own["x"][12:] - own["x"][0], own["y"][12:] - own["y"][0])
        order = 12 + np.argsort(ranges)
        expected = [int(order[level - 1])] if level <= 12 else []
        command = controls(sim)
        command[0, 0, 2] = level + 1
        sim.step(command)
        missiles = sim.missiles
        assert missiles["target"][missiles["active"] == 1].tolist() == expected


# Symmetry


def place_alike(one: Simulation, other: Simulation, order: list[int], sign: int) -> None:
    """Fighter `order[k]` of one is fighter k of the other, mirrored at the x axis with sign -1."""
    start = {name: values[0].astype(np.float64) for name, values in one.fighters.items()}
    for seat, of_one in enumerate(order):
        x, y, speed = (float(np.float32(start[name][of_one])) for name in ("x", "y", "speed"))
        degrees = round(float(np.degrees(start["heading"][of_one])))
        one.set_fighter(0, of_one, x=x, y=y, heading_deg=degrees, speed=speed)
        other.set_fighter(0, seat, x=x, y=sign * y, heading_deg=sign * degrees, speed=speed)


NEAR = {"start_range_min": 8_000, "start_range_max": 9_000, "start_spacing_min": 400}
NEAR |= {"start_spacing_max": 500, "substeps": 5}


@EACH_SIZE
@pytest.mark.parametrize("change", ["relabelled", "mirrored", "swapped"])
def test_a_change_of_names_or_a_mirror_changes_nothing_else(sizes, change):
    red, blue = sizes
    rng = np.random.default_rng(9)
    order = [*rng.permutation(red), *(red + rng.permutation(blue))]
    if change == "mirrored":
        order = [*range(red + blue)]
    if change == "swapped":
        order = [*range(red, red + blue), *range(red)]
    one = teams(sizes, **NEAR)
    other = teams((blue, red) if change == "swapped" else sizes, **NEAR)
    sign = -1 if change == "mirrored" else 1
    place_alike(one, other, order, sign)
    fired = 0
    for _ in range(80):
        command = rng.uniform([-1, 0, 0], 1, (red + blue, 3)).astype(np.float32)
        command[:, 2] = command[:, 2] < 0.2
        one.step(command[None])
        other.step(command[order][None] * np.float32([sign, 1, 1]))
        fired += one.missiles["active"].sum()
        for name in ("x", "speed", "ammo", "alive"):
            assert (one.fighters[name][0, order] == other.fighters[name][0]).all(), name
        assert (one.fighters["y"][0, order] == sign * other.fighters["y"][0]).all()
        assert one.rewards[0, order] == pytest.approx(other.rewards[0], abs=1e-5)
    assert fired > 10
    assert not one.fighters["alive"].all()


# Lanes, batches, threads, snapshots


@EACH_SIZE
def test_an_engagement_does_not_depend_on_the_others(sizes):
    """In any batch size and on any number of threads, an engagement is the same."""
    rng = np.random.default_rng(0)
    near = {"start_range_min": 8_000, "start_range_max": 15_000, "start_spacing_max": 500}
    near |= {"start_spacing_min": 300}
    commands = rng.uniform(-1, 1, (60, 70, sum(sizes), 3))
    seen = {}
    for num_envs, threads in ((70, 1), (70, 2), (17, 1), (1, 1)):
        sim = teams(sizes, num_envs, seed=2, blue="evader", threads=threads, **near)
        history = []
        for command in commands:
            sim.step(command[:num_envs])
            history.append((sim.observe(), sim.rewards.copy(), sim.outcome))
        seen[num_envs, threads] = history
    for (num_envs, _), history in seen.items():
        for whole, part in zip(seen[70, 1], history, strict=True):
            for expected, got in zip(whole, part, strict=True):
                assert np.array_equal(expected[:num_envs], got)


@EACH_SIZE
def test_a_snapshot_rewinds_exactly(sizes):
    rng = np.random.default_rng(5)
    commands = rng.uniform(-1, 1, (80, 18, sum(sizes), 3))
    sim, other = (teams(sizes, 18, seed=seed, blue="ace") for seed in (0, 1))
    for command in commands[:40]:
        sim.step(command)
    snapshot = sim.snapshot()
    for command in commands[40:]:
        sim.step(command)
    other.restore(snapshot)
    for command in commands[40:]:
        other.step(command)
    assert other.state_hash() == sim.state_hash()
    wrong = teams((sizes[1], sizes[0]) if sizes[0] != sizes[1] else (1, 8), 18, blue="ace")
    with pytest.raises(ValueError, match="another size"):
        wrong.restore(snapshot)
