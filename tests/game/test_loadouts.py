"""Loads: several types of missiles on one fighter, in the game with height."""

import numpy as np
import pytest
from flights import states
from hypothesis import given
from hypothesis import strategies as st
from policies import random_policy

from midrange_puffer import Midrange, Simulation, _core
from midrange_puffer.contest.evaluation import evaluate, fight, summarize_wins
from midrange_puffer.envs.gym import MidrangeEnv
from midrange_puffer.errors import UsageError
from midrange_puffer.game.envelope import relevant
from midrange_puffer.game.observation import HEIGHT_FEATURES, controls_of, features_of, levels_of
from midrange_puffer.game.parameters import HUMAN, resolve
from midrange_puffer.game.paths import Paths
from midrange_puffer.game.types import MAX_CARRIED, MAX_MISSILES, checked_loadout, parse_loadout
from midrange_puffer.policies.exported import explain
from midrange_puffer.replays.acmi import format_acmi
from midrange_puffer.replays.replay import Recorder, Replay
from midrange_puffer.replays.session import Session

HEIGHT = {"dimensions": 3}
TWO = {"red_missiles": "medium:4,long:2"}


def held_fire(level: int) -> np.ndarray:
    """Returns controls of one engagement: both fly on, and red fires at a level."""
    return np.array([[[0, 0, 1, level], [0, 0, 1, 0]]], np.float32)


def face_to_face(range_m: float = 30_000, **game: str) -> Simulation:
    sim = Simulation(1, launch_interval=0, **HEIGHT, **game)
    sim.set_fighter(0, 0, x=0, y=0, z=8000, heading_deg=0, speed=300)
    sim.set_fighter(0, 1, x=range_m, y=0, z=8000, heading_deg=180, speed=300)
    return sim


# What flies -------------------------------------------------------------------------------------


def test_a_load_of_one_type_is_the_game_with_that_type():
    """All bits are the same: the loadout `long:6` is six missiles of the type `long`."""
    flown = [
        Simulation(32, 4, "ace", "crank", **HEIGHT, **game)
        for game in ({"red_missiles": "long:6"}, {"red_missile": "long"})
    ]
    for _ in range(200):
        for sim in flown:
            sim.step()
    ours, its = map(states, flown)
    assert ours.keys() == its.keys()
    assert all(np.array_equal(ours[name], values) for name, values in its.items())
    assert flown[0].fight_hash() == flown[1].fight_hash()


@pytest.mark.parametrize("isa", _core.isas())
@pytest.mark.parametrize("spread", [0, 0.25])
def test_missiles_of_equal_kinds_fly_alike(isa, spread):
    """Fired at one level or at the others, copies of `medium` fly the same path."""
    load = {"types": "twin=medium, third=medium", "red_missiles": "medium:2,twin:2,third:2"}
    load |= {"missile_spread": spread}
    flown = [face_to_face(60_000, isa=isa, **load) for _ in range(3)]
    for level, sim in enumerate(flown, 1):
        sim.step(held_fire(level))
        assert sim.missiles["kind"][0, 0] == level - 1
        for _ in range(60):
            sim.step(held_fire(0))
    first, *others = (sim.missiles for sim in flown)
    assert first["active"][0, 0]
    for other in others:
        assert all(np.array_equal(first[name], other[name]) for name in first if name != "kind")


def test_each_level_fires_its_kind_until_none_is_left():
    sim = face_to_face(**TWO)
    for fired, left in ((2, [4, 1, 0]), (2, [4, 0, 0]), (2, [4, 0, 0]), (1, [3, 0, 0])):
        sim.step(held_fire(fired))
        assert sim.ammo_by_type[0, 0].tolist() == left
        assert sim.fighters["ammo"][0, 0] == sum(left)
    kinds = sim.missiles["kind"][0][sim.missiles["active"][0] == 1]
    assert sorted(kinds) == [0, 1, 1]
    assert sim.launch(0, 0)  # the first kind that is left
    assert sim.ammo_by_type[0, 0].tolist() == [2, 0, 0]


def test_the_kinds_differ_in_flight():
    """After half a minute the long missile, with its sustained thrust, is faster and farther."""
    sim = face_to_face(range_m=100_000, **TWO)
    sim.step(held_fire(1))
    sim.step(held_fire(2))
    for _ in range(60):
        sim.step(held_fire(0))
    missiles = {name: values[0] for name, values in sim.missiles.items()}
    assert missiles["kind"][:2].tolist() == [0, 1]
    assert missiles["speed"][1] > missiles["speed"][0] + 100
    assert missiles["x"][1] > missiles["x"][0]


@pytest.mark.parametrize(("control", "kind"), [(0.5, None), (0.6, 0), (1.4, 0), (1.6, 1), (9, 1)])
def test_a_continuous_control_fires_the_kind_that_it_is_nearest_to(control, kind):
    sim = face_to_face(**TWO)
    sim.step(held_fire(control))
    flying = sim.missiles["active"][0, 0]
    assert (sim.missiles["kind"][0, 0] if flying else None) == kind


def test_a_pilot_fires_the_shortest_kind_that_is_enough():
    """From far away the long missile, near the enemy the short one."""
    for range_m, name in ((60_000, "long"), (28_000, "medium"), (9_000, "short")):
        sim = Simulation(
            1, 0, "shooter", "straight", **HEIGHT, red_missiles="long:2,medium:2,short:2"
        )
        sim.set_fighter(0, 0, x=0, y=0, z=8000, heading_deg=0, speed=300)
        sim.set_fighter(0, 1, x=range_m, y=0, z=8000, heading_deg=180, speed=300)
        sim.step()
        assert sim.missiles["active"][0, 0]
        assert ("long", "medium", "short")[sim.missiles["kind"][0, 0]] == name


# What is observed and acted ---------------------------------------------------------------------


def test_actions_and_features_are_of_the_kinds():
    for load, kinds in (("medium:6", 1), ("medium:4,long:2", 2), ("medium:1,long:1,short:1", 3)):
        env = Midrange(num_envs=2, opponent="self", blue_missiles=load, **HEIGHT)
        count = env.single_observation_space.shape[0]
        assert env.single_action_space.nvec.tolist() == [5, 5, 3, 1 + kinds]
        assert tuple(levels_of(count).values()) == (5, 5, 3, 1 + kinds)
        assert controls_of(count).kinds == kinds
        assert count == len(HEIGHT_FEATURES) + 4 * kinds * (kinds > 1)
        box = Midrange(blue_missiles=load, action_mode="continuous", **HEIGHT).single_action_space
        assert box.high.tolist() == [1, 1, 1, kinds]


def test_levels_are_the_controls_of_their_kinds():
    rng = np.random.default_rng(0)
    kwargs = {"num_envs": 8, "opponent": "evader", "seed": 4, **HEIGHT, **TWO}
    by_levels, by_numbers = Midrange(**kwargs), Midrange(action_mode="continuous", **kwargs)
    by_levels.reset()
    by_numbers.reset()
    for _ in range(150):
        actions = np.stack([rng.integers(0, n, 8) for n in (5, 5, 3, 3)], axis=1).astype(np.int32)
        numbers = ((actions - (2, 2, 0, 0)) / (2, 2, 2, 1)).astype(np.float32)
        results = by_levels.step(actions), by_numbers.step(numbers)
        for one, other in zip(results[0][:4], results[1][:4], strict=True):
            np.testing.assert_array_equal(one, other)


def test_the_features_of_a_kind_show_its_missiles_left():
    sim = face_to_face(blue_missiles="short:1,medium:3")
    names = [feature.name for feature in features_of("height_2")]
    sim.set_fighter(0, 1, ammo=(1, 2))
    red, blue = (dict(zip(names, row, strict=True)) for row in sim.observe()[0])
    assert (red["own_first_ammunition"], red["own_second_ammunition"]) == (1, 0)
    assert red["enemy_first_ammunition"] == blue["own_first_ammunition"] == pytest.approx(1 / 6)
    assert red["enemy_second_ammunition"] == blue["own_second_ammunition"] == pytest.approx(2 / 6)
    assert red["own_second_reach"] == red["own_first_reach"] == red["own_reach"]
    assert blue["own_second_reach"] > blue["own_first_reach"]


# Policies, replays ------------------------------------------------------------------------------


def test_policies_of_other_loads_are_refused():
    of_two = random_policy(observation="height_2")
    assert 0 <= evaluate(of_two, "crank", 8, **HEIGHT, **TWO)["score"] <= 1
    for game, here in (({}, 1), ({"blue_missiles": "long:2,medium:2,short:2"}, 3)):
        words = f"was trained with loadouts of 2 types of missiles: .* with loadouts of {here}"
        with pytest.raises(UsageError, match=words):
            evaluate(of_two, "crank", 8, **HEIGHT, **game)


def test_a_fight_with_loads_is_replayed_and_names_each_missile(tmp_path):
    own = {"types": "far=long life=170", "red_missiles": "short:3,far:3"}
    sim = Simulation(1, 3, red="agent", blue="weave", launch_interval=1, **HEIGHT, **own)
    recorder, paths = Recorder(sim, seed=3, pilots=("agent", "weave")), Paths(sim)
    for count in range(40):
        controls = held_fire((1, 0, 2, 0)[count % 4])
        sim.step(controls)
        recorder.add(controls)
        paths.note()
    recorder.replay().write(tmp_path / "fight.replay")
    replay = Replay.read(tmp_path / "fight.replay")
    assert replay.verify() is None
    assert replay.parameters["red_missiles"] == own["red_missiles"]
    assert [path.kind for path in paths.missiles] == [0, 1] * 3
    text = format_acmi(replay, paths)
    assert text.count("Name=AIM-9X,Type") == 3
    assert text.count("LongName=far,Type") == 3
    burns = {round(path.burnt_out - path.launched, 3) for path in paths.missiles}
    assert burns == {5.0, 41.0}


def test_reports_of_wins_count_the_missiles_of_loads():
    """A fighter with two missiles has fired or kept two."""
    game = resolve(HEIGHT | {"red_missiles": "medium:1,long:1", "start_range_max": 35_000})
    red, blue = fight("ace", "weave", 32, 1, False, lambda count: None, parameters=game)
    won = summarize_wins([red, blue[:0]], game)
    assert won["policy"]["shots"] + won["policy"]["left"] == pytest.approx(2)
    assert won["opponent"]["shots"] + won["opponent"]["left"] == pytest.approx(6)


def test_by_hand_the_first_type_that_is_left_is_fired():
    session = Session(
        (HUMAN, "straight"), seed=1, red_missiles="short:1,long:2", launch_interval=0, **HEIGHT
    )
    for left in ([0, 2, 0], [0, 1, 0], [0, 0, 0], [0, 0, 0]):
        session.fire(0)
        session.step()
        assert session.sim.ammo_by_type[0, 0].tolist() == left


def test_an_exported_policy_says_what_fire_means():
    env = Midrange(**HEIGHT, **TWO).parameters
    env |= {"observation": "default", "action_mode": "discrete"}
    fire = explain({"env": env})["actions"]["fire"]
    assert fire["levels"] == [0, 1, 2]
    assert "k-th type of missile" in fire["meaning"]


# What is refused --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("game", "words"),
    [
        ({"red_missiles": "medium:4,medium:2"}, "medium is given twice"),
        ({"red_missiles": "medium:0"}, "medium: its number, '0', must be a whole number above 0"),
        ({"red_missiles": "medium:1.5"}, "its number, '1.5', must be a whole number"),
        ({"blue_missiles": "medium"}, "its number, '', must be a whole number"),
        ({"red_missiles": "medium:4,long:3"}, f"7 missiles: .* at most {MAX_MISSILES}"),
        ({"red_missiles": "medium:1,short:1,long:1,a:1"}, f"4 types .* at most {MAX_CARRIED}"),
        ({"red_missiles": "medium:1,lang:1"}, "'lang': a loadout is of .* did you mean 'long'"),
        ({"red_missiles": "light:1"}, "'light': a loadout is of medium, long, short"),
        ({"red_missiles": "long:1", "red_missile": "short"}, "one of them says what"),
        (TWO | {"blue_missiles": "long:1", "ammunition": 2}, "ammunition = 2: both sides have"),
        ({"red_missiles": "medium:1,"}, "there is a comma too many"),
        ({"red_missiles": "long:1", "dimensions": 2}, "with height only; set dimensions = 3"),
    ],
)
def test_impossible_loads_are_named(game, words):
    with pytest.raises((ValueError, UsageError), match=words):
        resolve(HEIGHT | game)


def test_an_envelope_is_of_one_type():
    with pytest.raises(ValueError, match="red_missiles = medium:4,long:2: an envelope is of one"):
        relevant(resolve(HEIGHT | TWO))


def test_states_with_other_missiles_are_refused():
    sim = face_to_face(**TWO)
    for ammo, words in (
        (3, "ammo = 3: must be 2 numbers, one for each type of its loadout"),
        ((1, 2, 3), "must be 2 numbers"),
        ((5, 3), "the sum of ammo = 8: must be a .*from 0 to 6"),
    ):
        with pytest.raises(ValueError, match=words):
            sim.set_fighter(0, 0, ammo=ammo)
    shot = {"x": 0, "y": 0, "heading_deg": 0, "speed": 500, "owner": 0}
    with pytest.raises(ValueError, match="kind = 2: must be a number from 0 to 1"):
        sim.set_missile(0, 0, kind=2, **shot)
    plain = sim.core.get_fighter(0, 1)
    with pytest.raises(ValueError, match="fighter whose ammunition is out of range"):
        sim.core.set_fighter(0, 1, plain | {"ammunition": 1, "ammunition_2": 2})


def test_a_side_has_no_missiles_of_types_that_it_does_not_carry():
    """Blue without a loadout has one type, though red has two."""
    sim = face_to_face(**TWO)
    shot = {"x": 0, "y": 0, "heading_deg": 0, "speed": 500}
    sim.set_missile(0, 0, owner=0, kind=1, **shot)
    with pytest.raises(ValueError, match="kind = 1: must be a number from 0 to 0"):
        sim.set_missile(0, 1, owner=1, kind=1, **shot)
    with pytest.raises(ValueError, match="must be a number"):
        sim.set_fighter(0, 1, ammo=(0, 2))
    blue = sim.core.get_fighter(0, 1)
    with pytest.raises(ValueError, match="whose ammunition is out of range"):
        sim.core.set_fighter(0, 1, blue | {"ammunition_2": 1})
    missile = sim.core.get_missile(0, 0)
    with pytest.raises(ValueError, match="whose kind is out of range"):
        sim.core.set_missile(0, 1, missile | {"owner": 1, "target": 0})


def test_a_number_of_missiles_is_checked_as_before():
    sim = Simulation()
    sim.set_fighter(0, 0, ammo=3.0)
    assert sim.fighters["ammo"][0, 0] == 3
    for ammo in (2.5, "3", 7, -1):
        with pytest.raises(ValueError, match="ammo = "):
            sim.set_fighter(0, 0, ammo=ammo)
    with pytest.raises(ValueError, match="ammo_by_type: with height only"):
        _ = sim.ammo_by_type


def test_the_hash_tells_which_missiles_are_left():
    sim = face_to_face(red_missiles="medium:2,long:2,short:2")
    hashes = set()
    loads = [(a, b, c) for a in range(3) for b in range(3) for c in range(3)]
    for ammo in loads:
        sim.set_fighter(0, 0, ammo=ammo)
        hashes.add(sim.fight_hash())
    assert len(hashes) == len(loads)


def test_options_of_a_reset_leave_loads_alone():
    env = MidrangeEnv(opponent="weave", **HEIGHT, **TWO)
    env.reset(options={"enemy_ammunition": 3})
    with pytest.raises(ValueError, match=r"ammunition.*this side carries the loadout red_missiles"):
        env.reset(options={"ammunition": 3})


@given(
    st.dictionaries(
        st.from_regex(r"[a-z][a-z0-9_]{0,8}", fullmatch=True), st.integers(1, 2), max_size=3
    )
)
def test_a_load_is_stored_as_it_is_read(load):
    text = ",".join(f"{name}:{count}" for name, count in load.items())
    assert parse_loadout(text) == load
    assert checked_loadout(f" {text.replace(',', ' , ')} ") == text
