"""Teams with sensors: data link, wingmen that guide, what a side knows, and symmetry."""

from math import hypot

import numpy as np
import pytest

from midrange_puffer import Simulation, features_of, team_rows
from midrange_puffer.errors import UsageError
from midrange_puffer.game.contacts import LINKED, LIVE, LOST, MEMORY, TRACKS, UNSEEN
from midrange_puffer.game.observation import sensing_of

SIZES = [(2, 2), (3, 1), (1, 3), (4, 4), (5, 8), (8, 8), (10, 3)]
EACH_SIZE = pytest.mark.parametrize("sizes", SIZES, ids="{0[0]}v{0[1]}".format)
# A decision is one physics step, a track begins at once, and at the start nobody sees anybody.
QUICK = {"sensing": "radar", "substeps": 1, "radar_acquire_time": 0}
QUICK |= {"start_range_min": 200_000, "start_range_max": 200_000}
RED = {"looks": 0, "looks_away": 1}  # of the scene below
BLUE = 2


def scene(**settings: float) -> Simulation:
    """Red 0 looks at blue from 30 km; red 1, 3 km beside it, looks away. Blue sees nobody."""
    sim = Simulation(red_size=2, blue_size=1, **QUICK | settings)
    sim.set_fighter(0, 0, x=0, y=0, heading_deg=0, speed=300)
    sim.set_fighter(0, 1, x=0, y=3_000, heading_deg=180, speed=300)
    sim.set_fighter(0, BLUE, x=30_000, y=0, heading_deg=10, speed=300)
    return sim


def straight(sim: Simulation, decisions: int = 1, fire: int | None = None) -> None:
    """Everybody flies straight on; one may fire at each decision."""
    controls = np.zeros((*sim.rewards.shape, 3), np.float32)
    controls[..., 1] = 0.5
    if fire is not None:
        controls[:, fire, 2] = 1
    for _ in range(decisions):
        sim.step(controls)


def contact(sim: Simulation, fighter: int, enemy: int = 0) -> dict[str, float]:
    return {name: values[0, fighter, enemy] for name, values in sim.contacts.items()}


def seen(sim: Simulation, name: str, fighter: int) -> float:
    sizes = sim.parameters["red_size"], sim.parameters["blue_size"]
    features = features_of("team_radar", *sizes)
    [column] = [n for n, feature in enumerate(features) if feature.name == name]
    return float(sim.observe()[0, fighter, column]) * features[column].scale


# The data link


def test_a_track_arrives_one_decision_late():
    sim = scene()
    straight(sim)
    assert [contact(sim, fighter)["source"] for fighter in (0, 1)] == [LIVE, UNSEEN]
    before = contact(sim, 0)
    straight(sim)
    told = contact(sim, 1)
    assert (told["source"], told["age"]) == (LINKED, 1)
    dt = sim.parameters["physics_dt"]
    for name in ("x", "y"):
        assert told[name] == pytest.approx(before[name] + dt * before[f"v{name}"], abs=0.01)


def test_a_linked_track_is_not_passed_on_and_lives_on_in_memory():
    sim = scene(track_memory=0.5)
    straight(sim, 2)
    sim.set_fighter(0, 0, heading_deg=180)  # now nobody looks
    sources = []
    for _ in range(8):
        straight(sim)
        sources.append((contact(sim, 0)["source"], contact(sim, 1)["source"]))
    assert sources[0] == (MEMORY, LINKED)  # what was seen a decision before
    # Five steps of memory since the enemy was last seen, for both.
    assert sources[1:5] == [(MEMORY, MEMORY)] * 4
    assert sources[5:] == [(LOST, LOST)] * 3


def test_a_linked_track_is_live_as_soon_as_the_own_radar_sees_it():
    sim = scene(radar_acquire_time=1)
    straight(sim, 13)
    assert contact(sim, 1)["source"] == LINKED
    sim.set_fighter(0, 1, heading_deg=0)
    straight(sim)
    assert contact(sim, 1)["source"] == LIVE
    alone = scene(radar_acquire_time=1)
    alone.set_fighter(0, 0, heading_deg=180)
    straight(alone, 13)
    alone.set_fighter(0, 1, heading_deg=0)
    straight(alone)
    assert contact(alone, 1)["source"] == UNSEEN


def test_the_dead_tell_nothing_and_nobody_tracks_the_dead():
    sim = scene()
    straight(sim)
    sim.set_fighter(0, 0, alive=False)
    straight(sim, 2)
    assert contact(sim, 1)["source"] == MEMORY
    sim.set_fighter(0, BLUE, alive=False)
    straight(sim)
    assert contact(sim, 1)["source"] == LOST


# Shots and guidance


def test_a_linked_track_is_enough_to_launch():
    sim = scene()
    straight(sim, fire=1)
    assert not sim.missiles["active"].any()
    straight(sim)
    straight(sim, fire=1)
    assert sim.missiles["owner"][0, 0] == 1
    assert sim.fighters["ammo"][0].tolist() == [6, 5, 6]


def guided(guides: bool) -> Simulation:
    """Red 1 has fired and turned away; red 0 keeps its radar on the target, or turns away, too.

    The target turns off to the side, where the missile must be told of it.
    """
    sim = scene(substeps=5, seeker_range=8_000)
    sim.set_fighter(0, 1, heading_deg=0)
    straight(sim, 2)
    assert sim.launch(0, 1)
    sim.set_fighter(0, 1, heading_deg=180)
    if not guides:
        sim.set_fighter(0, 0, heading_deg=180)
    sim.set_fighter(0, BLUE, heading_deg=120, speed=450)
    return sim


def test_a_wingman_guides_the_missile_of_one_who_turned_away():
    """With its radar on the target the missile finds it; without, it flies where nobody is."""
    nearest = {}
    for guides in (True, False):
        sim = guided(guides)
        turns = np.zeros((1, 3, 3), np.float32)
        turns[..., 1] = 1
        nearest[guides] = np.inf
        while sim.missiles["active"].any():
            x, y = (sim.missiles[n][0, 0] - sim.fighters[n][0, BLUE] for n in "xy")
            nearest[guides] = min(nearest[guides], hypot(x, y))
            sim.step(turns)
            assert contact(sim, 1)["source"] != LIVE
    assert nearest[True] < 8_000  # near enough for its seeker
    assert nearest[False] > 2 * nearest[True]


def test_a_dead_fighters_missile_is_guided_on_by_data_link():
    sim = guided(guides=True)
    sim.set_fighter(0, 1, alive=False)
    straight(sim, 10)
    assert sim.missiles["active"][0, 0]
    assert contact(sim, 1)["source"] == LINKED
    blue = {name: sim.fighters[name][0, BLUE] for name in "xy"}
    away = hypot(*(sim.beliefs[name][0, 0] - blue[name] for name in "xy"))
    assert away < 5  # it flies at where blue is


def test_the_kth_level_of_fire_counts_tracks_by_where_they_are_believed():
    sim = Simulation(red_size=1, blue_size=3, **QUICK)
    sim.set_fighter(0, 0, x=0, y=0, heading_deg=0, speed=300)
    places = [(30_000, 5_000), (-10_000, 0), (20_000, 0)]  # the nearest is behind, unseen
    for blue, (x, y) in enumerate(places, 1):
        sim.set_fighter(0, blue, x=x, y=y, heading_deg=180, speed=300)
    straight(sim)
    assert [contact(sim, 0, enemy)["source"] in TRACKS for enemy in range(3)] == [True, False, True]
    for level, target in ((1, 3), (2, 1), (3, None)):
        twin = Simulation(red_size=1, blue_size=3, **QUICK)
        twin.restore(sim.snapshot())
        controls = np.zeros((1, 4, 3), np.float32)
        controls[0, 0, 2] = level + 1
        twin.step(controls)
        active = twin.missiles["active"][0] == 1
        assert twin.missiles["target"][0, active].tolist() == ([] if target is None else [target])


def test_a_missile_whose_target_dies_locks_on_one_that_its_seeker_sees():
    """It ignores an enemy in the notch."""
    for heading, finds in ((180, True), (90, False)):
        sim = Simulation(red_size=1, blue_size=2, **QUICK | {"substeps": 2})
        sim.set_fighter(0, 0, x=-50_000, y=0, heading_deg=180, speed=300)
        sim.set_fighter(0, 1, x=2_000, y=500, heading_deg=180, speed=300)
        sim.set_fighter(0, 2, x=6_000, y=-300, heading_deg=heading, speed=300)
        near = {"x": 1_900, "y": 500, "heading_deg": 0, "speed": 900}
        sim.set_missile(0, 0, owner=0, target=1, **near)
        sim.set_missile(0, 1, owner=0, target=1, x=-2_000, y=0, heading_deg=0, speed=900)
        straight(sim)
        assert sim.fighters["alive"][0].tolist() == [1, 0, 1]
        assert bool(sim.missiles["active"][0, 1]) == finds
        if finds:
            assert (sim.missiles["target"][0, 1], sim.beliefs["locked"][0, 1]) == (2, 1)


# The pilot `pair`


def test_one_of_a_pair_fires_and_runs_while_the_other_guides():
    """While a missile has no lock its fighter flies away, and the partner's radar tracks."""
    sim = Simulation(64, 1, "pair", "straight", red_size=2, blue_size=2, sensing="radar")
    guided = away = 0
    before = sim.fighters["ammo"]
    for _ in range(160):
        sim.step()
        missiles, beliefs, fighters = sim.missiles, sim.beliefs, sim.fighters
        fired = (before - fighters["ammo"])[:, :2]
        assert not (fired == 1).all(axis=1).any()  # not both in one decision
        before = fighters["ammo"]
        unlocked = (missiles["active"] == 1) & (beliefs["locked"] == 0)
        for env, slot in zip(*np.nonzero(unlocked), strict=True):
            own, target = missiles["owner"][env, slot], missiles["target"][env, slot]
            partner = 1 - own
            busy = unlocked[env] & (missiles["owner"][env] == partner)
            source = sim.contacts["source"][env, partner, target - 2]
            # By this age it has turned.
            if missiles["age"][env, slot] < 80 or busy.any() or source != LIVE:
                continue
            x, y = (fighters[n][env, target] - fighters[n][env, own] for n in "xy")
            heading = fighters["heading"][env, own]
            ahead = (x * np.cos(heading) + y * np.sin(heading)) / np.hypot(x, y)
            guided += 1
            away += ahead < 0
    assert guided > 200
    assert away > 0.9 * guided


def test_pair_is_refused_where_it_cannot_fly():
    with pytest.raises(UsageError, match="pilot pair: needs sensing = radar"):
        Simulation(red="pair", red_size=2, blue_size=2)
    with pytest.raises(UsageError, match="pilot pair: needs a red_size or blue_size above 1"):
        Simulation(red="pair", sensing="radar")


# What a side knows


def known_to_red(sim: Simulation, red: int) -> list[np.ndarray]:
    """Returns what red's fighters observe and what its pilots have commanded."""
    fighters = sim.core.read("fighter")
    names = ("rudder_command", "throttle_command", "fire", "target")
    return [sim.observe()[0, :red], *(fighters[name][0, :red] for name in names)]


@pytest.mark.parametrize("sizes", [(2, 2), (4, 3), (1, 5)], ids=str)
@pytest.mark.parametrize("seed", range(6))
def test_hidden_state_changes_no_observation_and_no_action_of_a_side(sizes, seed):
    """Changes places, ammunition and missiles without a lock of unseen enemies."""
    red, blue = sizes
    rng = np.random.default_rng(seed)
    pilots = ("pair", "notcher", "ace", "crank", "shooter", "evader")[seed]
    settings = {"red_size": red, "blue_size": blue, "sensing": "radar"}
    one, other = (Simulation(1, seed, pilots, "shooter", **settings) for _ in range(2))
    for _ in range(int(rng.integers(20, 90))):
        one.step()
    hidden = [enemy for enemy in range(red, red + blue) if rng.random() < 0.7]
    for enemy in hidden:
        behind_red(one, enemy, rng)
    for _ in range(20):
        one.step()
    other.restore(one.snapshot())
    for enemy in range(red, red + blue):
        other.set_fighter(0, enemy, ammo=int(rng.integers(0, 7)))
    for enemy in hidden:
        assert not np.isin(other.contacts["source"][0, :red, enemy - red], (LIVE, LINKED)).any()
        behind_red(other, enemy, rng)
    other_slots = other.core.read("missile")
    free = int(np.flatnonzero(other_slots["active"][0] == 0)[-1])
    place = {name: float(rng.integers(-60_000, 60_000)) for name in "xy"}
    other.set_missile(0, free, owner=red, target=0, heading_deg=0, speed=600, **place)
    for ours, theirs in zip(known_to_red(one, red), known_to_red(other, red), strict=True):
        assert np.array_equal(ours, theirs)
    if one.outcome[0] == 0 == other.outcome[0]:
        one.step()
        other.step()
        for ours, theirs in zip(
            known_to_red(one, red)[1:], known_to_red(other, red)[1:], strict=True
        ):
            assert np.array_equal(ours, theirs)


def behind_red(sim: Simulation, enemy: int, rng: np.random.Generator) -> None:
    """Put an enemy where no radar or receiver of red's shows it, flying away."""
    red = {name: values[0, 0] for name, values in sim.fighters.items()}
    back = float(rng.integers(150_000, 250_000))
    c, s = np.cos(red["heading"]), np.sin(red["heading"])
    degrees = float(np.degrees(red["heading"])) + 180
    place = {"x": float(red["x"] - back * c), "y": float(red["y"] - back * s)}
    sim.set_fighter(0, enemy, heading_deg=degrees, speed=300, **place)


# Rows, symmetry, snapshots


@EACH_SIZE
def test_rows_and_features_fit(sizes):
    larger = max(sizes) if max(sizes) <= 8 else 16
    rows = team_rows(*sizes, "radar")
    kinds = [(one.kind, one.rows) for one in rows]
    expected = [("own", 1), ("ally", larger - 1), ("enemy", larger), ("radar", larger)]
    assert kinds == [*expected, ("seeker", 3), ("own_missile", 2)]
    features = features_of("team_radar", *sizes)
    assert rows[-1].place + rows[-1].rows * rows[-1].features == len(features)
    assert len({feature.name for feature in features}) == len(features)
    sim = Simulation(red_size=sizes[0], blue_size=sizes[1], sensing="radar")
    assert sim.observe().shape[-1] == len(features)
    assert sensing_of(rows) == "radar"


def test_a_row_of_each_kind_says_what_is_there():
    sim = scene()
    sim.set_fighter(0, BLUE, heading_deg=180)  # it looks at red
    straight(sim, 2)
    assert (seen(sim, "enemy_1_live", 0), seen(sim, "enemy_1_linked", 0)) == (1, 0)
    assert (seen(sim, "enemy_1_live", 1), seen(sim, "enemy_1_linked", 1)) == (0, 1)
    assert seen(sim, "enemy_1_age", 1) == pytest.approx(0.1)
    assert seen(sim, "enemy_1_range", 0) == pytest.approx(29_890, abs=50)
    assert seen(sim, "enemy_2_present", 0) == 0
    assert (seen(sim, "radar_1_present", 0), seen(sim, "radar_1_tracked", 0)) == (1, 1)
    assert seen(sim, "radar_1_ahead", 1) == pytest.approx(-1, abs=0.01)
    assert seen(sim, "ally_1_tracked", 0) == 1
    sim.set_missile(0, 5, owner=BLUE, target=1, x=6_000, y=3_000, heading_deg=180, speed=900)
    sim.set_missile(0, 6, owner=1, target=BLUE, x=9_000, y=3_000, heading_deg=0, speed=900)
    straight(sim)
    assert seen(sim, "seeker_1_present", 1) == 1
    assert seen(sim, "ally_1_locked", 0) == pytest.approx(1)
    assert seen(sim, "seeker_1_present", 0) == 0
    assert (seen(sim, "own_missile_1_supported", 1), seen(sim, "own_missile_1_active", 1)) == (1, 0)
    assert seen(sim, "enemy_1_inbound", 0) == pytest.approx(1)


NEAR = {"start_range_min": 12_000, "start_range_max": 13_000, "start_spacing_min": 400}
NEAR |= {"start_spacing_max": 500, "sensing": "radar"}


@EACH_SIZE
@pytest.mark.parametrize("change", ["relabelled", "mirrored", "swapped"])
def test_a_change_of_names_or_a_mirror_changes_nothing_else(sizes, change):
    red, blue = sizes
    rng = np.random.default_rng(9)
    order = {
        "relabelled": [*rng.permutation(red), *(red + rng.permutation(blue))],
        "mirrored": [*range(red + blue)],
        "swapped": [*range(red, red + blue), *range(red)],
    }[change]
    sign = -1 if change == "mirrored" else 1
    others = (blue, red) if change == "swapped" else sizes
    one = Simulation(red_size=red, blue_size=blue, **NEAR)
    other = Simulation(red_size=others[0], blue_size=others[1], **NEAR)
    for seat, of_one in enumerate(order):
        start = {name: float(values[0, of_one]) for name, values in one.fighters.items()}
        degrees = round(np.degrees(start["heading"]))
        at = {"x": start["x"], "speed": start["speed"]}
        one.set_fighter(0, of_one, y=start["y"], heading_deg=degrees, **at)
        other.set_fighter(0, seat, y=sign * start["y"], heading_deg=sign * degrees, **at)
    sources = np.zeros(5, int)
    for _ in range(80):
        command = rng.uniform([-1, 0, 0], 1, (red + blue, 3)).astype(np.float32)
        command[:, 2] = command[:, 2] < 0.2
        one.step(command[None])
        other.step(command[order][None] * np.float32([sign, 1, 1]))
        for name in ("x", "speed", "ammo", "alive"):
            assert (one.fighters[name][0, order] == other.fighters[name][0]).all(), name
        mine, theirs = one.contacts["source"][0][order], other.contacts["source"][0]
        assert (np.sort(mine, axis=1) == np.sort(theirs, axis=1)).all()
        sources += np.bincount(theirs.ravel(), minlength=5)
    assert one.missiles["active"].any() or not one.fighters["alive"].all()
    assert sources[LIVE] > 0
    assert sources[LINKED] > 0 or max(sizes) == 1


@EACH_SIZE
def test_a_snapshot_rewinds_exactly_and_batches_change_nothing(sizes):
    settings = {"red_size": sizes[0], "blue_size": sizes[1], "sensing": "radar"}
    sim, other = (Simulation(18, seed, "pair", "ace", **settings) for seed in (3, 4))
    alone = Simulation(1, 3, "pair", "ace", **settings)
    for _ in range(60):
        sim.step()
        alone.step()
        assert np.array_equal(alone.observe()[0], sim.observe()[0])
    other.restore(sim.snapshot())
    for _ in range(60):
        sim.step()
        other.step()
    assert sim.state_hash() == other.state_hash()
    assert np.array_equal(sim.observe(), other.observe())
