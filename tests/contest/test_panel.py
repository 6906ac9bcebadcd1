"""The panel's rows are fixed, wide rows fly their parameters, figures are those of `evaluate`."""

import hashlib
import json

import numpy as np
import pytest
from policies import random_policy
from quick_fights import SHORT

from midrange_puffer import Simulation
from midrange_puffer.contest import panel
from midrange_puffer.contest.evaluation import evaluate
from midrange_puffer.contest.panel import (
    GROUPS,
    MEMBERS,
    SETS,
    VERSIONS,
    WIDE,
    Row,
    digest,
    draw_sets,
    format_report,
    frozen_folder,
    game_values,
    interval,
    meet_row,
    rate,
    rows_of,
    wide_of,
)
from midrange_puffer.contest.ratings import ANCHORS, Pairing
from midrange_puffer.game.games import DEFAULT_GAME, GAMES
from midrange_puffer.game.parameters import PARAMETERS, PILOTS, resolve
from midrange_puffer.policies.contestants import find_contestant

GAME = resolve(SHORT)
# Digests of the sets. A change of what is drawn raises the version, and then these. Version 2 added
# the rows of `patient`.
VERSION_2 = {
    0: "9ed76980354ea32de6301bb92f2d8d7c4e7e9e42d9957eaedeb5196d1973f508",
    1: "dd25925a39bf59df34f2f543c1db4c0f46b5592a50c7f335b332e7f272996ffb",
}
VERSION_1 = {
    0: "161ffce622af1b7230f74133c6eb4e91dbae0842175e635aec16bc886bba95b9",
    1: "faaaf0630d0ca1181252c8fa570d1f89ca2f58c502e2e3effe616fecc3555f56",
}


# Those of the other games: the version, and the digests for the seeds 0 and 1.
OTHER_GAMES = {
    "radar": (
        2,
        "d723551ec727065c702fd31c5adbbe5e097314ebebe36e5f1651aa098cae2f40",
        "744645f473bc7c6061e92249ea93fa9d709597608255673c6304a5484f40cf74",
    ),
    "team2": (2, *VERSION_2.values()),
    "team2_radar": (
        2,
        "a5359172ec3aa5c2fbfb57216fd78be5328196084544af00b94365ff2e10d38a",
        "a7ed1f48d4ffae428a6aa206d69d633d4e863b041979675a49182c1ce065499b",
    ),
}
FAMILIES = [(game, pilot) for game in GAMES for pilot in wide_of(game)]


def fought(policy, row, episodes=64, parameters=GAME):
    return meet_row(policy, row, episodes, 5, False, parameters=parameters)


def digest_of(sets):
    return hashlib.sha256(json.dumps(sets).encode()).hexdigest()


@pytest.mark.parametrize("seed", VERSION_1)
def test_a_version_and_a_seed_fix_the_rows(seed):
    """On every machine, with every NumPy."""
    sets = {pilot: draw_sets(pilot, seed) for pilot in WIDE}
    assert VERSIONS[DEFAULT_GAME] == 2
    assert digest_of(sets) == VERSION_2[seed]
    del sets["patient"]
    assert digest_of(sets) == VERSION_1[seed]


@pytest.mark.parametrize("game", OTHER_GAMES)
def test_a_version_of_another_game_and_a_seed_fix_the_rows(game):
    version, *digests = OTHER_GAMES[game]
    assert VERSIONS[game] == version
    for seed, expected in enumerate(digests):
        sets = {pilot: draw_sets(pilot, seed, game) for pilot in wide_of(game)}
        assert digest_of(sets) == expected


def members_of(game):
    """Source and digest of each network of a panel, which may have none."""
    path = frozen_folder(game) / MEMBERS
    return json.loads(path.read_text()) if path.exists() else {}


@pytest.mark.parametrize(
    ("game", "own"),
    [
        (DEFAULT_GAME, []),
        ("radar", ["notcher"]),
        ("team2", []),
        ("team2_radar", ["notcher", "pair"]),
    ],
)
def test_there_is_a_row_for_each_pilot_family_and_network(game, own):
    rows = rows_of(0, game)
    pilots = [*PILOTS, *own]
    assert [row.name for row in rows if row.group == "pilots"] == pilots
    fighting = [pilot for pilot in pilots if pilot not in ("straight", "weave")]
    assert [row.opponent for row in rows if row.group == "wide"] == fighting
    assert {row.name for row in rows if row.group == "frozen"} == {
        f"frozen:{name}" for name in members_of(game)
    }
    assert {row.group for row in rows} == {*GROUPS[:2], *(["frozen"] * bool(members_of(game)))}
    assert len({row.name for row in rows}) == len(rows)


@pytest.mark.parametrize(("game", "pilot"), FAMILIES)
def test_every_threshold_of_a_pilot_is_wide(game, pilot):
    prefix = {"bracket_shooter": "bracket"}.get(pilot, pilot)
    own = {name for name in PARAMETERS if name.startswith(f"{prefix}_")}
    own |= {"pilot_fire_off_boresight_deg"}
    own -= {"notcher_height"}  # with height only, and no panel has height
    own -= {"patient_left_spread"}  # the panel fixes the number
    # It waits for a time if it does not see how many missiles the enemy has.
    has_sensors = game_values(game)["sensing"] == "radar"
    own -= {"patient_left"} if has_sensors else {"patient_time"}
    if pilot == "evader":  # fires as shooter does
        own |= {"shooter_fire_min", "shooter_fire_max"}
    for one in draw_sets(pilot, 0, game):
        assert set(one) == own
        for name, value in resolve(one).items():  # which refuses what is out of range
            if name in own and name.endswith("_min"):
                assert value == one[name.replace("_min", "_max")]


@pytest.mark.parametrize(("game", "pilot"), FAMILIES)
def test_the_values_are_spread_over_the_whole_range_which_holds_the_table(game, pilot):
    sets = draw_sets(pilot, 3, game)
    for threshold, (low, high) in wide_of(game)[pilot].items():
        names = [name for name in sets[0] if name in (threshold, f"{threshold}_min")]
        values = np.sort([one[names[0]] for one in sets])
        if PARAMETERS[names[0]].kind is int:
            counts = np.bincount(values, minlength=high + 1)[low:]
            assert len(counts) == high - low + 1
            assert np.ptp(counts) <= 2
        else:
            edges = np.linspace(low, high, SETS + 1)
            slack = 0.005 * high  # three digits
            assert (edges[:-1] - slack <= values).all()
            assert (values <= edges[1:] + slack).all()
        ends = {PARAMETERS[name].default for name in sets[0] if name.startswith(threshold)}
        assert all(low <= end <= high for end in ends)


def test_another_seed_has_other_sets():
    for pilot in WIDE:
        first, second = (
            np.array([list(one.values()) for one in draw_sets(pilot, seed)]) for seed in (0, 1)
        )
        assert ((first != second).any(axis=1)).all()


def test_a_family_that_is_the_table_fights_as_the_pilot(monkeypatch):
    """To the bit: the sets share the pilot's starts."""
    table = {"shooter_fire": (0.7, 0.7), "evader_cold_time": (20, 20), "evader_salvo": (2, 2)}
    monkeypatch.setitem(panel.WIDE, "evader", table)
    monkeypatch.setattr(panel, "OF_ALL", {"pilot_fire_off_boresight_deg": (15, 15)})
    pilot, wide = Row("a", "pilots", "evader"), Row("b", "wide", "evader", draw_sets("evader", 9))
    assert len(wide.parts) == SETS
    (one, records), (other, of_sets) = (
        fought("crank", row, 128, resolve({})) for row in (pilot, wide)
    )
    np.testing.assert_array_equal(records, of_sets)
    assert one[2:5] == other[2:5]
    assert one.losses > 0 < one.wins + one.draws


def test_each_set_flies_by_its_own_thresholds():
    """Engagement by engagement as in a simulation that has only them."""
    row = Row("wide:ace", "wide", "ace", draw_sets("ace", 0))
    _, (as_red, _) = fought("snake", row, 4 * SETS, resolve({}))
    assert as_red["env"].tolist() == list(range(2 * SETS))
    for part in (0, 7, SETS - 1):
        sim = Simulation(2, 5, "snake", "ace", **row.parts[part])
        for env in (0, 1):
            sim.start(env, 2 * part + env)
        while (sim.outcome == 0).any():
            sim.step()
        mine = as_red[2 * part : 2 * part + 2]
        np.testing.assert_array_equal(mine["outcome"], sim.outcome)


def test_a_pilots_row_is_what_evaluate_measures():
    policy = random_policy()
    result, _ = fought(policy, Row("evader", "pilots", "evader"))
    expected = evaluate(policy, "evader", 64, 5, **SHORT)
    assert result.score == expected["score"]
    assert result.wins == 64 * expected["win"]
    assert interval(result) == expected["score_ci95"]


@pytest.mark.parametrize("game", GAMES)
def test_the_networks_are_those_that_are_written_down(game):
    members, folder = members_of(game), frozen_folder(game)
    assert set(members) == {path.stem for path in folder.glob("*.onnx")}
    for name, member in members.items():
        path = folder / f"{name}.onnx"
        assert digest(path) == member["sha256"]
        assert path.stat().st_size <= (110_000 if "team" in game else 80_000)
        assert member["command"].startswith("puffer train midrange --config configs/")


def test_a_network_flies_the_other_seat():
    row = next(row for row in rows_of(0) if row.group == "frozen")
    result, _ = fought("straight", row)
    network = find_contestant("network", row.opponent)
    back, _ = fought(network, Row("straight", "pilots", "straight"))
    assert result.losses > 48
    assert (result.wins, result.losses) == (back.losses, back.wins)


def test_a_policy_that_flies_as_ace_is_rated_as_ace():
    """The fixed ratings are of a round robin of the pilots with each other."""
    rows = [Row(pilot, "pilots", pilot) for pilot in PILOTS]
    results = [meet_row("ace", row, 512, 7, False, parameters=resolve({}))[0] for row in rows]
    rating, half_width = rate(results, resolve({}))
    assert abs(rating - ANCHORS["ace"]) < half_width < 100
    assert rate(results, GAME) is None


def test_the_report_names_the_worst_row_and_counts_each_row_alike():
    rows = [Row("ace", "pilots", "ace"), Row("crank", "pilots", "crank")]
    rows += [Row("wide:ace", "wide", "ace", ({}, {})), Row("wide:x", "wide", "ace", ({}, {}))]
    rows += [next(row for row in rows_of(0) if row.group == "frozen")]
    shares = [(10, 0, 0), (5, 0, 5), (0, 10, 0), (1, 2, 7), (4, 4, 2)]
    results = [
        Pairing("candidate", row.name, *counts) for row, counts in zip(rows, shares, strict=True)
    ]
    report = format_report(rows, results, GAME)
    assert report["worst"] == {"row": "wide:x", "score": 0.2}
    means = {"pilots": 0.75, "wide": 0.35, "frozen": 0.6, "all": 0.56}
    assert report["means"] == pytest.approx(means)
    assert report["rating"] is report["rating_ci95"] is None
