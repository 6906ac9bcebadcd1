"""Missions: the line and its start, outcomes, rewards, what is observed, and symmetry."""

import struct
from collections import Counter

import numpy as np
import pytest
from scenes import BLUE_WINS, OPEN, RED_WINS
from team_fights import record

from midrange_puffer import Simulation, _core, features_of
from midrange_puffer.contest.evaluation import fight, summarize_wins
from midrange_puffer.errors import UsageError
from midrange_puffer.game.observation import check_flies, check_sees, is_of_mission
from midrange_puffer.game.parameters import observed, resolve, sizes_of
from midrange_puffer.game.records import summary
from midrange_puffer.replays.replay import Replay

EACH_DIMENSION = pytest.mark.parametrize("dimensions", [2, 3])
LINE_AT, NEAR = 20_000.0, {"start_range_min": 20_000, "start_range_max": 20_000}
LINE = {"mission": "line", "attacker": "red"}
ESCORT = {"mission": "escort", "attacker": "red", "red_size": 3, "blue_size": 2, "time_limit": 480}
TRANSPORT = 2
GAMES = [
    {"mission": "line"},
    {"mission": "line", "red_size": 2, "blue_size": 3},
    {"mission": "escort", "red_size": 2, "blue_size": 2, "time_limit": 480},
]
ALL_GAMES = [
    game | {"dimensions": dimensions, "sensing": sensing}
    for game in GAMES
    for dimensions in (2, 3)
    for sensing in ("full", "radar")
]
EACH_GAME = pytest.mark.parametrize("game", ALL_GAMES, ids=str)


def lay(sim: Simulation, way: tuple[float, float] = (1, 0), at: float = LINE_AT) -> None:
    """Moves the lines of all engagements: `at` metres from the origin, along `way`."""
    fields, state = list(sim.core.read("engagement")), bytearray(sim.core.snapshot())
    blocks = -(-sim.num_envs // 16)
    for block in range(blocks):
        first = 8 + block * 16 * sim.core.state_bytes  # after the seed
        for name, value in {"line_x": way[0], "line_y": way[1], "line_at": at}.items():
            struct.pack_into("<16f", state, first + 64 * fields.index(name), *[value] * 16)
    sim.core.restore(np.frombuffer(state, np.uint8))


def scene(places: list[tuple[float, float]], **settings: object) -> Simulation:
    """Fighters at these places, red heading east toward a line at x = 20 km, blue west."""
    sim = Simulation(1, **({"reward_geometry": 0, "reward_pressure": 0} | settings))
    lay(sim)
    red = sizes_of(sim.parameters)[0]
    for fighter, (x, y) in enumerate(places):
        heading = 0 if fighter < red else 180
        sim.set_fighter(0, fighter, x=x, y=y, heading_deg=heading, speed=300, ammo=0)
    return sim


def engagement(sim: Simulation, name: str) -> np.ndarray:
    return sim.core.read("engagement")[name][:, 0]


# The start


@EACH_GAME
def test_the_line_is_behind_the_defender(game):
    sim = Simulation(64, seed=3, **game, start_line_depth=7_000)
    red, fighters = sizes_of(sim.parameters)[0], sim.fighters
    for env in range(sim.num_envs):
        attacker = engagement(sim, "attacker")[env] - 1
        sides = [slice(0, red), slice(red, None)]
        armed = [np.flatnonzero(fighters["ammo"][env, side] > 0) for side in sides]
        places = [
            np.array([fighters[axis][env, side][one].mean() for axis in "xy"])
            for side, one in zip(sides, armed, strict=True)
        ]
        between = places[1 - attacker] - places[attacker]
        length = np.hypot(*between)
        way = engagement(sim, "line_x")[env], engagement(sim, "line_y")[env]
        assert way == pytest.approx(between / length, abs=1e-4)
        far = engagement(sim, "line_at")[env] - np.dot(way, places[attacker])
        assert far == pytest.approx(length + 7_000, abs=1)
        if game["mission"] == "escort":
            last = (red, fighters["x"].shape[1])[attacker] - 1
            place = np.array([fighters[axis][env, last] for axis in "xy"])
            assert places[attacker] - place == pytest.approx(np.multiply(way, 15_000), abs=1)
            assert fighters["ammo"][env, last] == 0
            assert fighters["speed"][env, last] == 250
            assert (fighters["vx"][env, last], fighters["vy"][env, last]) == pytest.approx(
                np.multiply(way, 250), abs=1e-2
            )


def test_the_attacker_is_drawn_or_fixed():
    drawn = Counter(engagement(Simulation(1000, mission="line"), "attacker").tolist())
    assert drawn.keys() == {1, 2}
    assert min(drawn.values()) > 430
    for side, number in (("red", 1), ("blue", 2)):
        assert {*engagement(Simulation(32, mission="line", attacker=side), "attacker")} == {number}
    assert {*engagement(Simulation(32), "attacker")} == {0}


# Outcomes


@EACH_DIMENSION
def test_an_attacker_that_crosses_wins(dimensions):
    sim = scene([(17_000, 0), (60_000, 5_000)], **LINE, dimensions=dimensions)
    while sim.outcome[0] == OPEN:
        before = sim.fighters["x"][0, 0]
        sim.step()
        assert (sim.outcome[0] == RED_WINS) == (sim.fighters["x"][0, 0] >= LINE_AT)
    assert before < LINE_AT
    assert not sim.truncated[0]
    assert sim.rewards[0].tolist() == [1, -1]


def test_a_line_that_holds_until_the_time_limit_is_the_defenders_win():
    sim = scene([(-90_000, 0), (60_000, 0)], **LINE, time_limit=60, **NEAR)
    for decision in range(120):
        assert sim.outcome[0] == OPEN, decision
        sim.step()
    assert (sim.outcome[0], sim.truncated[0]) == (BLUE_WINS, True)


def test_dead_attackers_lose_whatever_is_in_the_air():
    sim = scene([(0, 0), (15_000, 0)], **LINE)
    sim.set_missile(0, 0, owner=0, x=5_000, y=0, heading_deg=0, speed=900)
    sim.set_fighter(0, 0, alive=False)
    sim.step()
    assert sim.outcome[0] == BLUE_WINS


def test_both_dead_is_the_defenders_win():
    sim = scene([(0, 0), (15_000, 0)], **LINE)
    for fighter in range(2):
        sim.set_fighter(0, fighter, alive=False)
    sim.step()
    assert sim.outcome[0] == BLUE_WINS


def test_dead_defenders_may_still_hit():
    sim = scene([(0, 0), (15_000, 0)], **LINE)
    sim.set_missile(0, 0, owner=1, x=9_000, y=0, heading_deg=180, speed=900)
    sim.set_fighter(0, 1, alive=False)
    sim.step()
    assert sim.outcome[0] == OPEN
    while sim.outcome[0] == OPEN:
        sim.step()
    assert (sim.outcome[0], sim.fighters["alive"][0, 0]) == (BLUE_WINS, 0)
    sim = scene([(0, 0), (15_000, 0)], **LINE)
    sim.set_fighter(0, 1, alive=False)
    sim.step()
    assert sim.outcome[0] == RED_WINS


@EACH_DIMENSION
def test_the_transport_alone_has_to_cross(dimensions):
    places = [(19_900, 0), (19_900, 9_000), (17_000, 4_000), (70_000, 0), (70_000, 9_000)]
    sim = scene(places, **ESCORT, dimensions=dimensions)
    while sim.outcome[0] == OPEN:
        sim.step()
        crossed = sim.fighters["x"][0] >= LINE_AT
        assert (sim.outcome[0] == RED_WINS) == crossed[TRANSPORT]
    assert crossed[:2].all()


def test_without_the_transport_the_defender_wins():
    places = [(0, 0), (0, 9_000), (-5_000, 4_000), (70_000, 0), (70_000, 9_000)]
    sim = scene(places, **ESCORT)
    sim.step()
    assert sim.outcome[0] == OPEN
    sim.set_fighter(0, TRANSPORT, alive=False)
    sim.step()
    assert sim.outcome[0] == BLUE_WINS


@EACH_DIMENSION
def test_the_transport_flies_to_the_line_at_its_speed(dimensions):
    """Its controls come from its pilot, whatever the side's agents do."""
    sim = Simulation(4, **(ESCORT | {"dimensions": dimensions, "transport_speed": 230}))
    command = np.zeros((*sim.rewards.shape, sim.core.controls), np.float32)
    command[:, : TRANSPORT + 1, 0] = command[:, : TRANSPORT + 1, -1] = 1
    height = sim.fighters["z"][:, TRANSPORT] if dimensions == 3 else None
    for _ in range(120):
        sim.step(command)
    fighters = sim.fighters
    way = engagement(sim, "line_x"), engagement(sim, "line_y")
    assert fighters["speed"][:, TRANSPORT] == pytest.approx(230, abs=15)
    course = fighters["vx"][:, TRANSPORT], fighters["vy"][:, TRANSPORT]
    assert np.array(course) / fighters["speed"][:, TRANSPORT] == pytest.approx(
        np.array(way), abs=1e-3
    )
    assert not fighters["ammo"][:, TRANSPORT].any()
    if dimensions == 3:
        assert fighters["z"][:, TRANSPORT] == pytest.approx(height, abs=30)


# Rewards


@EACH_GAME
def test_rewards_are_zero_sum_and_add_up(game):
    """The sides' means are each other's negatives, and the records have all parts of the sums."""
    sim = Simulation(8, 5, "evader", "crank", **game, reward_line=0.3, start_range_max=40_000)
    red = sizes_of(sim.parameters)[0]
    start = engagement(sim, "progress").copy()
    totals, records, pending = np.zeros((8, 2)), {}, np.ones(8, bool)
    while pending.any():
        sim.step()
        sides = [sim.rewards[:, :red].mean(1), sim.rewards[:, red:].mean(1)]
        assert sides[0] == pytest.approx(-sides[1], abs=2e-6)
        totals += np.stack(sides, 1)
        pending = sim.outcome == OPEN
        records |= {int(row["env"]): row for row in sim.core.take_records()}
    assert not (sim.outcome == 3).any()
    for env, row in records.items():
        assert row["attacker"] == engagement(sim, "attacker")[env]
        assert row["episode_return"] == pytest.approx(totals[env], abs=1e-4)
        assert row["paid_line"] == pytest.approx(-start[env], abs=1e-5)
        values = summary(np.array([row]), 0)
        parts = [value[0] for name, value in values.items() if name.startswith("reward_")]
        assert sum(parts) == pytest.approx(totals[env, 0], abs=1e-4)


@EACH_DIMENSION
def test_progress_is_by_the_nearest_attacker(dimensions):
    """R / (R + D) of the attacker nearest the line; nothing beyond it."""
    settings = LINE | {"red_size": 2, "blue_size": 1, "dimensions": dimensions}
    settings |= {"reward_line": 0.2, "reward_line_range": 8_000}
    sim = scene([(0, 0), (8_000, 9_000), (70_000, 0)], **settings)
    sim.step()
    near = LINE_AT - sim.fighters["x"][0, 1]
    assert engagement(sim, "progress")[0] == pytest.approx(0.2 * 8_000 / (8_000 + near), rel=1e-5)
    sim.set_fighter(0, 1, alive=False)
    far = LINE_AT - sim.fighters["x"][0, 0]
    assert engagement(sim, "progress")[0] == pytest.approx(0.2 * 8_000 / (8_000 + far), rel=1e-5)


# Observations


def seen(sim: Simulation, fighter: int) -> dict[str, float]:
    """Returns what a fighter observes of the mission, in the units of the table."""
    features = features_of(observed("default", sim.parameters), *sizes_of(sim.parameters))
    values = sim.observe()[0, fighter]
    return {
        row.name.removeprefix("mission_"): float(value * row.scale)
        for row, value in zip(features, values, strict=True)
        if row.name.startswith("mission_")
    }


@EACH_DIMENSION
@pytest.mark.parametrize("teams", [{}, {"red_size": 2, "blue_size": 2}])
def test_the_line_as_it_is_seen(dimensions, teams):
    sim = Simulation(1, **LINE, **teams, dimensions=dimensions)
    lay(sim, (0, 1), 30_000)
    blue = sizes_of(sim.parameters)[0]
    sim.set_fighter(0, 0, x=5_000, y=10_000, heading_deg=30, speed=300)
    sim.set_fighter(0, blue, x=5_000, y=40_000, heading_deg=-90, speed=300)
    red, defender = seen(sim, 0), seen(sim, blue)
    for view in (red, defender):
        others = [view.pop(name) for name in list(view) if name.startswith("transport")]
        assert others == [0] * (6 if teams else 0)
    sine, cosine = np.sin(np.radians(60)), np.cos(np.radians(60))
    assert red == pytest.approx(
        {"attacks": 1, "line_ahead": cosine, "line_left": sine, "line_range": 20_000}
        | {"line_nearness": 1 / 3},
        abs=1e-2,
    )
    assert defender == pytest.approx(
        {"attacks": -1, "line_ahead": -1, "line_left": 0, "line_range": -10_000}
        | {"line_nearness": 1},
        abs=1e-2,
    )


@EACH_DIMENSION
def test_the_transport_as_it_is_seen(dimensions):
    places = [(0, 0), (0, 9_000), (-5_000, 4_000), (3_000, -8_000), (70_000, 9_000)]
    sim = scene(places, **ESCORT, dimensions=dimensions)
    for fighter in range(5 if dimensions == 3 else 0):
        sim.set_fighter(0, fighter, z=6_000)
    own, enemy = seen(sim, 0), seen(sim, 3)
    range_, blue_range = np.hypot(5_000, 4_000), np.hypot(8_000, 12_000)
    assert own["transport_present"] == enemy["transport_present"] == 1
    assert own["transport_range"] == pytest.approx(range_, rel=1e-4)
    assert own["transport_ahead"] == pytest.approx(-5_000 / range_, abs=1e-5)
    assert own["transport_left"] == pytest.approx(4_000 / range_, abs=1e-5)
    assert enemy["transport_ahead"] == pytest.approx(8_000 / blue_range, abs=1e-5)
    assert enemy["transport_left"] == pytest.approx(-12_000 / blue_range, abs=1e-5)
    assert own["transport_line_range"] == pytest.approx(25_000, rel=1e-4)
    assert not sim.observe()[0, TRANSPORT].any()
    sim.set_fighter(0, TRANSPORT, alive=False)
    assert seen(sim, 0)["transport_present"] == seen(sim, 3)["transport_present"] == 0
    sim.set_fighter(0, 0, alive=False)
    assert not sim.observe()[0, 0].any()


@EACH_DIMENSION
def test_an_enemy_observes_no_transport_without_a_track(dimensions):
    """Its place then changes nothing; once there is a track it does."""
    game = ESCORT | {"dimensions": dimensions, "sensing": "radar"}
    game |= {"start_range_min": 200_000, "start_range_max": 200_000, "time_limit": 3_000}
    sims = [Simulation(1, seed=4, **game) for _ in range(2)]
    for sim in sims:
        sim.step()
    for sim, x in zip(sims, (-40_000, 10_000), strict=True):
        lay(sim)
        sim.set_fighter(0, TRANSPORT, x=x, y=90_000)
    views = [sim.observe()[0] for sim in sims]
    assert np.array_equal(views[0][3:], views[1][3:])
    assert seen(sims[0], 3)["transport_present"] == 0
    assert seen(sims[0], 0)["transport_present"] == 1
    for sim in sims:
        blue = sim.fighters
        sim.set_fighter(0, 3, x=0, y=0, heading_deg=0, speed=300)
        sim.set_fighter(0, TRANSPORT, x=20_000, y=0, heading_deg=180, **(
            {"z": float(blue["z"][0, 3])} if dimensions == 3 else {}
        ))  # fmt: skip
        for _ in range(6):
            sim.step()
        assert seen(sim, 3)["transport_present"] == 1


def test_no_two_games_have_observations_of_the_same_length():
    lengths = {}
    for sensing in ("full", "radar"):
        for dimensions in (2, 3):
            for mission in ("fight", "line", "escort"):
                for size in range(1 if mission != "escort" else 2, 9):
                    game = {"sensing": sensing, "dimensions": dimensions, "mission": mission}
                    game |= {"red_size": size, "blue_size": size, "start_spacing_max": 3_000}
                    game |= {"time_limit": 480}
                    values = resolve(game, teams=True)
                    name = observed("default", values)
                    count = len(features_of(name, size, size))
                    lengths.setdefault(count, set()).add((name, size))
                    assert is_of_mission(count) == (mission != "fight")
    assert all(len(games) == 1 for games in lengths.values())


def test_reports_of_wins_know_that_a_transport_has_no_missiles():
    """With red's transport two of red's three fighters, and blue's two, carry six missiles each."""
    game = resolve(ESCORT, teams=True)
    as_red, as_blue = fight("ace", "straight", 32, 1, False, lambda count: None, parameters=game)
    nobody = as_red[:0]
    for records in ([as_red, nobody], [nobody, as_blue]):
        won = summarize_wins(records, game)
        for side in ("policy", "opponent"):
            assert won[side]["shots"] + won[side]["left"] == pytest.approx(2 * 6)


def test_policies_of_other_missions_are_refused():
    of_line = len(features_of("default+mission"))
    with pytest.raises(
        UsageError, match=r"crew is of mission = line or escort: .* mission = fight"
    ):
        check_sees("crew", of_line, "default", "this game")
    with pytest.raises(
        UsageError, match=r"crew is of mission = fight: .* mission = line or escort"
    ):
        check_sees("crew", len(features_of("default")), "default+mission", "this game")

    class Crew:
        features, any_size = len(features_of("team+mission", 2, 2)), True

    with pytest.raises(UsageError, match=r"crew is of mission = line or escort: .* = fight"):
        check_flies("crew", Crew(), len(features_of("team", 2, 2)))


# Symmetry and bits


@EACH_GAME
def test_reflection_is_exact(game):
    """Pilots, rewards and observations of mirrored missions have the same bits."""
    pilots = ("evader", "crank")
    settings = game | {"attacker": "red", "reward_line": 0.1, "start_range_max": 40_000}
    sims = [Simulation(2, 6, *pilots, **settings) for _ in range(2)]
    way, at = (0.8, 0.6), 30_000
    lay(sims[0], way, at)
    lay(sims[1], (way[0], -way[1]), at)
    rng = np.random.default_rng(2)
    red = sizes_of(sims[0].parameters)[0]
    for env in range(2):
        for fighter in range(sims[0].rewards.shape[1]):
            along, across = rng.uniform([-9e3, -9e3], [-6e3, 9e3])
            x, y = (-3 if fighter >= red else 1) * along, across
            heading, rudder = rng.uniform([-180, -1], [180, 1])
            state = {"x": x, "speed": rng.uniform(250, 400)}
            if game["dimensions"] == 3:
                state["z"] = rng.uniform(3e3, 9e3)
            for sim, sign in zip(sims, (1, -1), strict=True):
                turned = {"y": sign * y, "heading_deg": sign * heading, "rudder": sign * rudder}
                sim.set_fighter(env, fighter, **state, **turned)
    name = observed("default", sims[0].parameters)
    features = features_of(name, *sizes_of(sims[0].parameters))
    signs = np.array([-1 if feature.lateral else 1 for feature in features])
    for _ in range(160):
        for sim in sims:
            sim.step()
        assert np.array_equal(sims[0].observe() * signs, sims[1].observe())
        assert np.array_equal(sims[0].rewards, sims[1].rewards)
        assert np.array_equal(sims[0].outcome, sims[1].outcome)


@EACH_GAME
def test_batches_threads_sets_and_snapshots_change_no_bit(game):
    pilots = ("evader", "crank")
    isas = _core.isas()
    sims = [Simulation(18, 2, *pilots, **game, isa=isa) for isa in isas]
    sims += [Simulation(18, 2, *pilots, **game, threads=2), Simulation(3, 2, *pilots, **game)]
    for _ in range(90):
        for sim in sims:
            sim.step()
    other = Simulation(18, 7, *pilots, **game)
    other.restore(sims[0].snapshot())
    for _ in range(90):
        for sim in (*sims, other):
            sim.step()
    assert {sim.state_hash() for sim in (*sims[:-1], other)} == {sims[0].state_hash()}
    for sim in (*sims, other):
        assert np.array_equal(sim.observe()[:3], sims[0].observe()[:3])


def test_a_snapshot_of_an_impossible_mission_is_refused():
    sim = Simulation(1, **LINE)
    with pytest.raises(ValueError, match="line"):
        lay(sim, (0.5, 0.5))
    state = bytearray(sim.core.snapshot())
    place = 8 + 64 * list(sim.core.read("engagement")).index("attacker")
    state[place : place + 64] = bytes(64)
    with pytest.raises(ValueError, match="attacker"):
        sim.core.restore(np.frombuffer(state, np.uint8))


@EACH_GAME
def test_a_mission_is_replayed(game, tmp_path):
    """Also from a file, to the same hashes."""
    replay, hashes = record(game, ("agent", "crank"), seed=3)
    replay.write(tmp_path / "mission.replay")
    again = Replay.read(tmp_path / "mission.replay")
    assert again.parameters == replay.parameters
    assert again.hashes[-1] == hashes[-1]
    again.verify()


EXTREMES = [
    {"start_line_depth": 200_000},
    {"start_line_depth": -20_000},
    {"reward_line": 0.3, "reward_line_range": 1_000},
    {"reward_line": 0.3, "reward_line_range": 200_000},
]
OF_TRANSPORTS = [
    {"start_line_depth": 200_000, "transport_speed": 100},
    {"start_line_depth": -20_000, "transport_speed": 600},
    {"start_transport_trail": 0, "transport_cold_time": 100},
    {"start_transport_trail": 50_000, "transport_cold_time": 0},
]


@EACH_DIMENSION
@pytest.mark.parametrize(
    ("mission", "extreme"),
    [
        *(("line", extreme) for extreme in EXTREMES),
        *(("escort", extreme) for extreme in (*OF_TRANSPORTS, *EXTREMES[2:])),
    ],
    ids=str,
)
def test_extremes_stay_finite(mission, dimensions, extreme):
    game = {"mission": mission, "dimensions": dimensions, "red_size": 2, "blue_size": 2}
    game |= {"time_limit": 3_600, "start_range_min": 40_000} | extreme
    sim = Simulation(4, 3, "evader", **game)
    rng = np.random.default_rng(1)
    for _ in range(100):
        sim.step(rng.uniform(-1, 1, (*sim.rewards.shape, sim.core.controls)))
        assert np.isfinite(sim.rewards).all()
        assert np.abs(sim.observe()).max() <= 1
    for kind in ("engagement", "fighter", "missile"):
        assert all(np.isfinite(values).all() for values in sim.core.read(kind).values())


# Refusals


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"mission": "lines"}, r"mission = 'lines': must be fight or line or escort.*line"),
        ({"attacker": "red"}, r"attacker = red: in missions only; set mission = line or escort"),
        ({"reward_line": 0.1}, r"reward_line = 0.1: in missions only"),
        (
            LINE | {"transport_speed": 200},
            r"transport_speed = 200.0: only with a transport; set mission = escort",
        ),
        (
            LINE | {"start_line_depth": -35_000},
            r"start_line_depth = -35000: .* may be behind the attackers; must be at least -20000",
        ),
        (
            LINE | {"start_line_depth": -25_000},
            r"may be 5000 m ahead of the attackers; must be at least -20000",
        ),
        (
            LINE | {"red_size": 3, "start_line_depth": -20_000},
            r"may be 10000 m ahead of the attackers; must be at least -16000",
        ),
        (
            LINE | {"start_line_depth": 200_000},
            r"time_limit = 300: with start_line_depth = 200000 the line may be 260000 m from the "
            r"attackers, and no fighter is faster than 800 m/s; must be above 325",
        ),
        (
            ESCORT | {"time_limit": 300},
            r"may be 85000 m .* the transport is not faster than 250 m/s; must be above 340",
        ),
        (
            {"mission": "escort"},
            r"red_size = 1, and attacker = drawn: a side with a transport must have at least 2",
        ),
        (ESCORT | {"attacker": "drawn", "blue_size": 1}, r"blue_size = 1, and attacker = drawn"),
    ],
)
def test_impossible_missions_are_refused_by_name(settings, message):
    with pytest.raises((ValueError, UsageError), match=message):
        resolve(settings, teams=True)


def test_the_pilot_of_the_transport_flies_nothing_else():
    for red, game in (("transport", ESCORT), ("transport", {}), ("transport", LINE)):
        with pytest.raises(UsageError, match="pilot transport: flies only the last fighter of a"):
            Simulation(1, red=red, **game)
    named, not_named = (
        Simulation(2, 3, ["evader", "evader", last], "crank", **ESCORT)
        for last in ("transport", "agent")
    )
    for sim in (named, not_named):
        for _ in range(100):
            sim.step()
    assert named.state_hash() == not_named.state_hash()
