"""Orders: they equal the scripted pilots where both mean the same, and fly the named courses."""

from math import atan2, degrees

import numpy as np
import pytest
from flights import bearing_deg, exactly
from needs import EACH_ISA
from scenes import BLUE, RED, fighter, missiles_in_the_air, place, read

from midrange_puffer import RADAR_FEATURES, Simulation, _core
from midrange_puffer.game.orders import ORDERS, heads_of, in_words, parse_order
from midrange_puffer.game.targets import enemies_of

HEIGHT = {"dimensions": 3, **exactly(pilot_height=9_000)}
GAMES = {
    "plane": {},
    "radar": {"sensing": "radar"},
    "height": HEIGHT,
    "team": {"red_size": 4, "blue_size": 3},
    "team_radar": {"red_size": 3, "blue_size": 4, "sensing": "radar"},
    "team_height": {"red_size": 2, "blue_size": 3, **HEIGHT},
    "radar_height": {"sensing": "radar", **HEIGHT},
}
EACH_GAME = pytest.mark.parametrize("game", GAMES)


def given_to(sim: Simulation, orders: dict[int, list[int]]) -> np.ndarray:
    """Returns the controls of orders to some fighters in all engagements; others have none."""
    heads = len(heads_of(sim.parameters))
    levels = np.full((sim.num_envs, sim.core.fighters, heads), -1, np.int32)
    for number, order in orders.items():
        levels[:, number] = order
    controls = np.zeros((sim.num_envs, sim.core.fighters, sim.core.controls), np.float32)
    sim.core.controls_of_orders(levels, controls)
    return controls


def follow(sim: Simulation, text: str, decisions: int, number: int = RED) -> None:
    """Flies red by an order that need not find what it speaks of; the others fly straight on."""
    order = parse_order(text, heads_of(sim.parameters))
    for _ in range(decisions):
        sim.step(given_to(sim, {number: order}))


def assert_same(one: Simulation, other: Simulation) -> None:
    for name, values in one.fighters.items():
        assert name == "pilot" or np.array_equal(values, other.fighters[name]), name
    for name, values in one.missiles.items():
        assert np.array_equal(values, other.missiles[name]), name


# Against the pilots


@pytest.mark.parametrize("game", ["plane", "radar", "height", "radar_height"])
def test_commit_and_free_is_the_pilot_shooter(game):
    settings = GAMES[game] | {"order_salvo": 6, "seed": 3, "num_envs": 20}
    pilot, ordered = (Simulation(red=red, blue="weave", **settings) for red in ("shooter", "agent"))
    order = parse_order(
        "commit free high" if "height" in game else "commit free", heads_of(pilot.parameters)
    )
    for _ in range(200):
        pilot.step()
        ordered.step(given_to(ordered, {RED: order}))
        assert_same(pilot, ordered)
    assert (pilot.fighters["ammo"][:, RED] < 6).sum() > 15


def test_orders_of_a_team_at_its_pilots_targets_are_the_pilots_shooter():
    settings = {"red_size": 3, "blue_size": 4, "order_salvo": 6, "seed": 3}
    pilots, ordered = (
        Simulation(red=red, blue="weave", **settings) for red in ("shooter", "agent")
    )
    heads = heads_of(pilots.parameters)
    while not pilots.outcome[0]:
        pilots.step()
        targets = pilots.core.read("fighter")["target"][0]
        places = {n: enemies_of(ordered, n).tolist() for n in range(3)}
        orders = {
            n: parse_order(f"commit free {places[n].index(targets[n]) + 1}", heads)
            for n in range(3)
        }
        ordered.step(given_to(ordered, orders))
        assert_same(pilots, ordered)
    assert pilots.outcome[0] == 1


def test_crank_and_tight_are_those_of_the_pilots():
    """`crank` and `bracket_shooter` against an enemy that never fires, by their own rules."""
    rules = {
        "crank": ("free", "crank_fire", 0.9),
        "bracket_shooter": ("tight", "bracket_fire", 1.0),
    }
    for pilot, (permission, threshold, share) in rules.items():
        settings = exactly(**{threshold: share}) | {"seed": 5}
        settings |= {"order_fire": share, "order_salvo": 1, "bracket_salvo": 1}
        one = Simulation(red=pilot, blue="weave", **settings)
        other = Simulation(blue="weave", envelope=True, **settings)
        for _ in range(160):
            cranks = pilot == "crank" and missiles_in_the_air(other, RED)
            order = f"{'crank' if cranks else 'commit'} {permission}"
            one.step()
            other.step(other.controls_of({RED: order}))
            assert_same(one, other)
        assert one.fighters["ammo"][0, RED] < 6


# Courses


def settled_deg(text: str, side: int = 1, seconds: float = 40, **parameters: float) -> float:
    """Returns the target's bearing after a while; it is so far away that it stands still."""
    sim = Simulation(**parameters)
    place(sim, blue={"y": side * 1_000.0})
    follow(sim, text, int(2 * seconds))
    return bearing_deg(fighter(sim, BLUE), fighter(sim, RED))


@pytest.mark.parametrize("side", [1, -1])
@pytest.mark.parametrize(
    ("text", "parameters", "expected"),
    [
        ("commit", {}, 0),
        ("crank", {}, 55),
        ("crank", {"order_crank_angle_deg": 130}, 130),
        ("beam", {}, 90),
        ("cold", {}, 180),
    ],
)
def test_a_course_settles_at_its_angle_on_the_side_of_the_nose(text, parameters, expected, side):
    """With the target a little left of the nose the fighter turns right, and vice versa."""
    bearing = settled_deg(text, side, **parameters)
    if expected == 180:
        assert abs(bearing) == pytest.approx(180, abs=0.5)
    else:
        assert bearing == pytest.approx(side * expected, abs=0.5)


@pytest.mark.parametrize(("text", "expected"), [("beam", 90), ("cold", 180), ("crank", 55)])
def test_a_missile_comes_before_the_target(text, expected):
    """A missile comes from the left, the target is ahead: beam and cold are from the missile."""
    sim = Simulation(missile_burn_time=120)
    place(sim)
    sim.set_missile(0, 0, owner=BLUE, x=0, y=40_000, heading_deg=-90, speed=900)
    follow(sim, text, 24)
    assert sim.missiles["active"][0, 0]
    body = fighter(sim, BLUE) if text == "crank" else read(sim.missiles, 0)
    assert abs(bearing_deg(body, fighter(sim, RED))) == pytest.approx(expected, abs=2)


def sensed(**parameters: float) -> Simulation:
    """Both radars track the other fighter, which is 40 km away, a little to the left."""
    sim = Simulation(sensing="radar", radar_acquire_time=0, missile_burn_time=120, **parameters)
    place(sim, blue={"x": 40_000, "y": 2_000.0})
    sim.step()
    return sim


@pytest.mark.parametrize(
    ("text", "fires", "expected"),
    [("support", False, 55), ("crank", False, 100), ("crank", True, 55), ("notch", False, 90)],
)
def test_courses_by_sensors(text, fires, expected):
    """`support` keeps the target at the edge of the cone, `crank` too while a missile needs it."""
    sim = sensed(order_crank_angle_deg=100)
    if fires:
        assert sim.launch(0, RED)
    follow(sim, text, 20)
    bearing = bearing_deg(fighter(sim, BLUE), fighter(sim, RED))
    assert bearing == pytest.approx(expected, abs=1.5)


def test_notch_beams_a_missile_where_no_radar_tracks_it_and_no_order_turns_in_circles():
    sim = Simulation(sensing="radar", start_range_min=200_000, start_range_max=200_000)
    before = fighter(sim, RED)
    for text in ("commit", "crank", "beam", "cold", "notch", "support"):
        follow(sim, text, 10)
    assert fighter(sim, RED)["heading"] == before["heading"]


def team(**parameters: float) -> Simulation:
    """Two against two: red 1 stands 10 km to the left of red 0, the enemies are far ahead."""
    sim = Simulation(red_size=2, blue_size=2, **parameters)
    for number, x, y, heading in (
        (0, 0, 0, 0),
        (1, 0, 10_000, 0),
        (2, 50_000, 0, 180),
        (3, 0, 50_000, -90),
    ):
        sim.set_fighter(0, number, x=x, y=y, heading_deg=heading, speed=300)
    return sim


def bearing_of(sim: Simulation, other: int, number: int = RED) -> float:
    return bearing_deg(fighter(sim, other), fighter(sim, number))


def test_regroup_flies_to_the_living_allies():
    sim = team()
    follow(sim, "regroup", 12)
    assert abs(bearing_of(sim, 1)) < 3
    sim.set_fighter(0, 1, alive=False)
    with pytest.raises(ValueError, match="red_0: order = 'regroup'"):
        sim.controls_of({0: "regroup"})


@pytest.mark.parametrize("sensing", ["full", "radar"])
def test_guard_goes_for_the_enemy_that_menaces_the_nearest_ally(sensing):
    """Blue 3 fires at red 1, or with sensors its radar tracks red 1; blue 2 is nearer the nose."""
    sim = team(
        sensing=sensing, radar_acquire_time=0, radar_half_angle_deg=100, missile_burn_time=120
    )
    if sensing == "full":
        with pytest.raises(ValueError, match="the enemy that menaces the nearest ally"):
            sim.controls_of({0: "guard"})
        sim.set_missile(0, 0, owner=3, target=1, x=0, y=49_000, heading_deg=-90, speed=300)
    else:
        sim.set_fighter(0, 2, heading_deg=0)
        sim.set_fighter(0, 1, heading_deg=90)  # out of the notch
    sim.step()
    follow(sim, "guard", 14)
    assert abs(bearing_of(sim, 3)) < 3


def test_a_target_is_chosen_by_its_place_among_the_observed():
    sim = team()
    follow(sim, "commit", 12)
    assert abs(bearing_of(sim, 2)) < 3  # the one nearest the nose
    assert enemies_of(sim, 0).tolist() == [2, 3]
    follow(sim, "commit 2", 14)
    assert abs(bearing_of(sim, 3)) < 3
    sim.set_fighter(0, 3, alive=False)
    with pytest.raises(ValueError, match=r"red_0: .*no target 2, the fighter observes 1 enemy"):
        sim.controls_of({0: "commit 2"})
    follow(sim, "commit 2", 14)
    assert abs(bearing_of(sim, 2)) < 3


def test_permissions():
    """Near the enemy everything but hold fires; the salvo is the most missiles in the air."""
    for permission, expected in (("hold", 0), ("tight", 2), ("free", 2)):
        sim = Simulation(envelope=True, launch_interval=0)
        place(sim, blue={"x": 9_000})
        follow(sim, f"commit {permission}", 4)
        assert missiles_in_the_air(sim, RED) == expected, permission


def test_levels_with_height():
    for level, expected in (("low", -0.5), ("level", 0), ("high", None)):
        sim = Simulation(**HEIGHT)
        place(sim, z=6_000, blue={"z": 6_000})
        controls = sim.controls_of({RED: f"commit {level}"})
        assert expected is None or controls[0, RED, 1] == expected
        follow(sim, f"commit {level}", 160)
        z = fighter(sim)["z"]
        assert (z < 3_000, abs(z - 6_000) < 50, abs(z - 9_000) < 50) == (
            level == "low", level == "level", level == "high",
        )  # fmt: skip


# Everywhere alike


def fought(game: str, decisions: int, seed: int = 0, **settings: object) -> Simulation:
    """A fight of pilots in its middle, in several engagements."""
    sim = Simulation(33, seed, "crank", "evader", envelope=True, **GAMES[game] | settings)
    for _ in range(decisions):
        sim.step()
    return sim


def any_orders(sim: Simulation, seed: int) -> np.ndarray:
    heads = [len(words) for words in heads_of(sim.parameters).values()]
    rng = np.random.default_rng(seed)
    return rng.integers(0, heads, (sim.num_envs, sim.core.fighters, len(heads)), np.int32)


def flown(sim: Simulation, orders: np.ndarray) -> np.ndarray:
    controls = np.zeros((*orders.shape[:2], sim.core.controls), np.float32)
    sim.core.controls_of_orders(orders, controls)
    return controls


@EACH_GAME
def test_orders_leave_the_state_as_it_is_and_others_controls(game):
    sim = fought(game, 60)
    before, orders = sim.snapshot(), any_orders(sim, 1)
    whole = flown(sim, orders)
    assert sim.snapshot() == before
    assert len(np.unique(whole[..., 0])) > 10
    orders[::2, 0, 0] = -1
    controls = np.full_like(whole, 7)
    sim.core.controls_of_orders(orders, controls)
    assert (controls[::2, 0] == 7).all()
    controls[::2, 0] = whole[::2, 0]
    assert np.array_equal(controls, whole)


@EACH_ISA
@EACH_GAME
def test_every_instruction_set_and_thread_gives_the_same_controls(game, isa):
    one, other = fought(game, 60, isa=_core.isas()[0]), fought(game, 60, isa=isa, threads=2)
    orders = any_orders(one, 2)
    assert flown(one, orders).tobytes() == flown(other, orders).tobytes()


@pytest.mark.parametrize("game", ["plane", "height", "team", "team_height"])
def test_orders_are_mirrored_in_the_mirror(game):
    sim, mirror = (fought(game, 0, time_limit=3600) for _ in range(2))
    for _ in range(70):
        sim.step()
    for env in range(sim.num_envs):
        for number in range(sim.core.fighters):
            state = sim.core.get_fighter(env, number)
            for name in ("y", "direction_y", "rudder"):
                state[name] = -state[name]
            mirror.core.set_fighter(env, number, state)
        for slot in np.flatnonzero(sim.core.read("missile")["active"][env]):
            state = sim.core.get_missile(env, int(slot))
            for name in ("y", "direction_y", "rudder"):
                state[name] = -state[name]
            mirror.core.set_missile(env, int(slot), state)
    orders = any_orders(sim, 3)
    one, other = flown(sim, orders), flown(mirror, orders)
    other[..., 0] *= -1
    assert np.array_equal(one, other)
    assert (one[..., 0] != 0).mean() > 0.5


@pytest.mark.parametrize("decisions", [60, 90, 120])
def test_with_sensors_orders_know_the_picture_only(decisions):
    """Neither where an unseen enemy is changes the controls, nor what it has left."""
    sim, moved = (Simulation(200, 5, "snake", "crank", sensing="radar") for _ in range(2))
    for _ in range(decisions):
        sim.step()
        moved.step()
    draw = np.random.default_rng(decisions)
    for env in range(moved.num_envs):
        x, y = draw.uniform(-90_000, 90_000, 2)
        heading = heading_away(moved, env, x, y)
        moved.set_fighter(env, BLUE, x=x, y=y, heading_deg=heading, ammo=0)
    track = sim.core.read("contact")["source"][:, RED] == 1
    seeker = (sim.beliefs["locked"] & (sim.missiles["owner"] == BLUE)).any(axis=1)
    unseen = np.flatnonzero(~track & ~seeker & ~heard(moved))
    assert unseen.size >= 10
    for number in range(8):
        orders = any_orders(sim, number)
        one, other = flown(sim, orders), flown(moved, orders)
        assert np.array_equal(one[unseen, RED], other[unseen, RED])


def heading_away(sim: Simulation, env: int, x: float, y: float) -> float:
    """Returns a heading with which blue's radar at (x, y) does not point at red."""
    red = fighter(sim, RED, env)
    return degrees(atan2(y - red["y"], x - red["x"]))


def heard(sim: Simulation) -> np.ndarray:
    """True where red's receiver heard blue's radar before or hears it now: (engagements)."""
    names = [feature.name for feature in RADAR_FEATURES]
    seen = sim.observe()[:, RED]
    words = [names.index(name) for name in ("receiver_searched", "receiver_tracked")]
    return seen[:, words].any(axis=1)


# Words


@EACH_GAME
def test_words_and_levels_are_each_others_reverse(game):
    sim = Simulation(**GAMES[game])
    heads = heads_of(sim.parameters)
    for levels in any_orders(sim, 4).reshape(-1, len(heads))[:40].tolist():
        assert parse_order(in_words(levels, heads), heads) == levels
    has = {"", *(["sensors"] if "radar" in game else []), *(["team"] if "team" in game else [])}
    assert heads["order"] == tuple(name for name, row in ORDERS.items() if row.needs in has)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "must have one of commit, crank, beam, cold"),
        ("free", "must have one of commit"),
        ("crunk", "'crunk' is none of .*did you mean 'crank'"),
        ("crank cold", "crank and cold: one order only"),
        ("notch", "notch needs sensing = radar"),
        ("guard", "guard needs a red_size or blue_size above 1"),
        ("commit high", "high: with height only, and this game has dimensions = 2"),
        ("commit tight", r"red_0: .*tight needs the missile envelope; Simulation\(envelope=True\)"),
    ],
)
def test_a_wrong_order_is_an_error_that_names_it(text, message):
    with pytest.raises(ValueError, match=f"order = '{text}'.*{message}|{message}"):
        Simulation().controls_of({RED: text})


def test_an_order_without_its_object_is_an_error_for_people():
    sim = Simulation(sensing="radar", start_range_min=200_000, start_range_max=200_000)
    with pytest.raises(
        ValueError,
        match=r"red_0: order = 'notch hold': .*would be flown without such a radar as beam",
    ):
        sim.controls_of({RED: "notch hold"})


def test_the_core_says_whose_order_names_what_is_not_there():
    """A dead target is missed by every order, an ally by `regroup` alone."""
    sim = Simulation(1, red_size=2, blue_size=2)
    sim.set_fighter(0, 3, alive=False)
    missing = {}
    for order in ("commit", "regroup"):
        for target in ("", " 2"):
            levels = np.full((1, 4, len(heads_of(sim.parameters))), -1, np.int32)
            levels[0, 0] = parse_order(order + target, heads_of(sim.parameters))
            absent = np.zeros((1, 4), np.uint8)
            sim.core.controls_of_orders(levels, np.zeros((1, 4, 3), np.float32), absent)
            missing[order + target] = absent[0].tolist()
    there, not_there = [0, 0, 0, 0], [1, 0, 0, 0]
    assert missing == {
        "commit": there, "commit 2": not_there,
        "regroup": there, "regroup 2": not_there,
    }  # fmt: skip


def test_bad_shapes_are_refused():
    sim = Simulation()
    good = np.zeros((1, 2, 3), np.int32), np.zeros((1, 2, 3), np.float32)
    sim.core.controls_of_orders(*good)
    with pytest.raises(ValueError, match=r"orders of shape \(1, 2, 2\): must be \(1, 2, 3\)"):
        sim.core.controls_of_orders(np.zeros((1, 2, 2), np.int32), good[1])
    with pytest.raises(ValueError, match="controls of shape"):
        sim.core.controls_of_orders(good[0], np.zeros((1, 2, 4), np.float32))
    beyond, last = np.full((1, 2, 3), 99, np.int32), np.array([[[3, 2, 0]] * 2], np.int32)
    assert np.array_equal(flown(sim, beyond), flown(sim, last))
