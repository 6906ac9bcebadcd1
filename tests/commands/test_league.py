"""The league: its table of results, the fixed scale of its ratings, and the command."""

import io
import itertools
import json
from pathlib import Path

import matplotlib.image
import numpy as np
import pytest
from policies import random_policy
from rich.console import Console

from midrange_puffer.commands import cli
from midrange_puffer.config.reading import load_config
from midrange_puffer.contest.match import rate_pilots
from midrange_puffer.contest.ratings import ANCHORS, Pairing, Payoffs, is_standard
from midrange_puffer.contest.standings import (
    format_cycles,
    format_matrices,
    format_ratings,
    format_report,
    rank,
)
from midrange_puffer.errors import UsageError
from midrange_puffer.files import WriteError
from midrange_puffer.game.parameters import PILOTS, resolve
from midrange_puffer.names import shown
from midrange_puffer.policies import model_file
from midrange_puffer.policies.models import spread
from midrange_puffer.show.league_plot import plot_standings
from midrange_puffer.train import run_folder

pytestmark = pytest.mark.slow

GAME = ["--env.time-limit", "20", "--env.start-range-min=9000", "--env.start-range-max", "9000"]

# Rock beats scissors, scissors paper, paper rock; dust loses to all and draws with paper.
RESULTS = [
    Pairing("rock", "scissors", 90, 0, 10),
    Pairing("paper", "scissors", 20, 10, 70),
    Pairing("rock", "paper", 30, 0, 70),
    Pairing("dust", "rock", 0, 0, 100),
    Pairing("scissors", "dust", 100, 0, 0),
    Pairing("dust", "paper", 10, 80, 10),
]
CYCLES = "cycles, each scoring above one half against the next by its 95 % interval"
NAMES = ("rock", "paper", "scissors", "dust")


@pytest.mark.nightly
def test_the_anchors_are_what_the_pilots_round_robin_gives():
    """The core is bit-exact, so that it gives the same everywhere.

    The hashes of tests/core/test_determinism.py tell in every run whether pilots fly as before.
    """
    assert is_standard(resolve({"reward_threat": 0}))
    assert rate_pilots(resolve({})) == ANCHORS
    assert (*ANCHORS, "patient") == PILOTS
    assert np.mean(list(ANCHORS.values())) == pytest.approx(1000, abs=1)


def test_another_game_has_other_anchors(capsys):
    short = resolve({"time_limit": 5})
    assert not is_standard(short)
    assert rate_pilots(short) == dict.fromkeys(ANCHORS, 1000.0)  # nobody has been hit yet: draws
    assert "rating the pilots in this game, 2000 engagements" in capsys.readouterr().err


def test_payoffs_hold_both_sides_of_every_result():
    payoffs = Payoffs(NAMES, RESULTS)
    scores = [[np.nan, 0.3, 0.9, 1], [0.7, np.nan, 0.25, 0.5], [0.1, 0.75, np.nan, 1]]
    np.testing.assert_allclose(payoffs.scores, [*scores, [0, 0.5, 0, np.nan]])
    np.testing.assert_array_equal(payoffs.games, 100 * (1 - np.eye(4)))
    met = payoffs.games > 0
    assert (payoffs.low[met] < payoffs.scores[met] + 1e-9).all()
    assert (payoffs.scores[met] < payoffs.high[met] + 1e-9).all()
    np.testing.assert_allclose((payoffs.low + payoffs.high.T)[met], 1)


def test_standings_name_worst_cases_and_cycles():
    standings = rank(NAMES, RESULTS, {})
    assert (np.diff(standings.ratings) < 0).all()
    assert set(standings.names[:3]) == {"rock", "paper", "scissors"}
    places = {name: place for place, name in enumerate(standings.names)}
    assert standings.worst(places["rock"]) == ("paper", 0.3)
    assert standings.worst(places["scissors"]) == ("rock", 0.1)
    [header, line] = format_cycles(standings)
    assert header == f"{CYCLES}: 1 of three"
    ring = "rock 90 % > scissors 75 % > paper 70 % > rock"
    turns = ring.rsplit(" > ", 1)[0].split(" > ")
    assert line.strip().rsplit(" > ", 1)[0].split(" > ") in [
        turns[start:] + turns[:start] for start in range(3)
    ]


def test_names_are_no_markup(tmp_path):
    """Checks the table, the matrix, the words, and the picture of runs of any name."""
    names = ("[/b]", "\x1b[2J\n:snake:", r"$\frac$", "[red]a")
    odd = dict(zip(NAMES, names, strict=True))
    results = [result._replace(first=odd[result.first], second=odd[result.second])
               for result in RESULTS]  # fmt: skip
    standings = rank(names, results, {})
    console = Console(file=io.StringIO(), width=200)
    for table in (format_ratings(standings), *format_matrices(standings, 200)):
        console.print(table)
    told = console.file.getvalue()
    for name in names:
        assert told.count(shown(name)) >= 2  # as player, and in the matrix
    assert shown(names[1]) in "\n".join(format_cycles(standings))
    runs = {Path(f"_run {name}"): [(1000, name), (2000, names[0])] for name in names[1:]}
    with matplotlib.rc_context({"svg.fonttype": "none"}):
        plot_standings(standings, runs, tmp_path / "league.svg")
    picture = (tmp_path / "league.svg").read_text()
    for name in names[1:]:
        assert picture.count(f">_run {shown(name)}<") == 1


def test_without_cycles_it_says_so():
    lines = format_cycles(rank(NAMES, [RESULTS[0], *RESULTS[2:]], {}))
    assert lines == [f"{CYCLES}: none"]


def test_a_longer_cycle_is_named_too():
    """The cycle has four members; those across draw."""
    names = "abcd"
    ring = [Pairing(names[place], names[place - 1], 70, 0, 30) for place in range(4)]
    across = [Pairing("a", "c", 0, 100, 0), Pairing("b", "d", 0, 100, 0)]
    standings = rank(names, [*ring, *across], {})
    [header, line] = format_cycles(standings)
    assert header == f"{CYCLES}: none of three, but longer"
    players = line.strip().replace(" 70 %", "").split(" > ")
    assert players[0] == players[-1]
    assert sorted(players[1:]) == [*names]
    for one, other in itertools.pairwise(players):
        assert names.index(one) == (names.index(other) + 1) % 4
    assert format_report(standings)["cycles"] == [players[:-1]]


def test_anchored_players_keep_their_ratings_only_beside_others():
    standings = rank(NAMES, RESULTS, {"rock": 1200.0, "dust": 800.0})
    rated = dict(zip(standings.names, standings.ratings, strict=True))
    assert (rated["rock"], rated["dust"]) == (1200, 800)
    fixed = {player["name"] for player in format_report(standings)["players"] if player["fixed"]}
    assert fixed == {"rock", "dust"}
    everyone = rank(NAMES, RESULTS, dict.fromkeys(NAMES, 1.0))
    np.testing.assert_array_equal(everyone.ratings, rank(NAMES, RESULTS, {}).ratings)


@pytest.mark.parametrize("width", [20, 40, 80, 200])
def test_the_matrix_is_whole_in_any_width(width):
    """It is shown in parts that fit; together every row has all its scores in order."""
    names = [f"a_player_of_a_long_name_{letter}" for letter in "abcdefghijklmnopqrst"]
    results = [
        Pairing(first, second, place % 101, 0, 100 - place % 101)
        for place, (first, second) in enumerate(
            (first, second) for first in names for second in names if first < second
        )
    ]
    standings = rank(names, results, {})
    rows: dict[int, list[str]] = {}
    columns = []
    for table in format_matrices(standings, width):
        file = io.StringIO()
        Console(width=max(width, 28), file=file).print(table)
        header, _, *lines = file.getvalue().splitlines()
        columns += header.split()
        for line in lines:
            place, name, *cells = line.split()
            assert standings.names[int(place) - 1].endswith(name.removeprefix("…"))
            rows.setdefault(int(place) - 1, []).extend(cells)
    assert columns == [str(place) for place in range(1, 21)]
    for row, cells in rows.items():
        expected = [f"{100 * score:.0f}" for score in standings.payoffs.scores[row]]
        expected[row] = "·"
        assert cells == expected


@pytest.mark.parametrize(
    ("count", "expected"), [(1, "a"), (2, "ak"), (3, "afk"), (11, "abcdefghijk"), (99, None)]
)
def test_checkpoints_are_spread_over_the_run(count, expected):
    assert "".join(spread("abcdefghijk", count)) == (expected or "abcdefghijk")


# The command.


def save(folder, name: str, steps: int, *overrides: str, seed: int = 3):
    """Write a model with random weights; return its path."""
    config = load_config(None, ["--policy.hidden-size", "16", *GAME, *overrides])
    path = folder / f"{name}.pt"
    model_file.save_model(path, config, random_policy(seed=seed).state_dict(), steps)
    return path


@pytest.fixture
def run(tmp_path):
    """A run folder with five checkpoints."""
    folder = tmp_path / "some_run"
    folder.mkdir()
    for update in range(5):
        path = save(folder, f"model_{update:06d}", 1000 * update, seed=update)
    (folder / run_folder.STATE).touch()
    return path.parent


def hold(folder, *words: str) -> dict:
    report = folder / "report.json"
    assert cli.run("league", ["--json", str(report), "--games", "10", *words]) == 0
    return json.loads(report.read_text())


def test_without_a_run_the_pilots_fight(tmp_path, capsys):
    report = hold(tmp_path, *GAME)
    printed = capsys.readouterr().out
    assert {player["name"] for player in report["players"]} == set(PILOTS)
    assert not any(player["fixed"] for player in report["players"])
    assert len(report["pairings"]) == len(PILOTS) * (len(PILOTS) - 1) / 2
    assert all(name in printed for name in PILOTS)
    assert "only pilots" in printed
    for pairing in report["pairings"]:
        low, high = pairing["score_ci95"]
        assert pairing["games"] == 10
        assert 0 <= low <= pairing["score"] <= high <= 1
        assert pairing["score"] == pytest.approx(pairing["win"] + pairing["draw"] / 2)
        assert pairing["win"] + pairing["draw"] + pairing["loss"] == pytest.approx(1)
    assert hold(tmp_path, *GAME) == report
    assert hold(tmp_path, *GAME, "--seed", "1") != report


def test_a_runs_checkpoints_meet_the_pilots(run, tmp_path, capsys):
    picture = tmp_path / "league.png"
    words = ["--run", str(run), "--checkpoints", "3", "--pilots", "ace,evader"]
    report = hold(tmp_path, *words, "--out", str(picture))
    players = {player["name"]: player for player in report["players"]}
    assert set(players) == {"model_000000", "model_000002", "model_000004", "ace", "evader"}
    assert players["model_000002"]["model"] == str(run / "model_000002.pt")
    assert players["model_000002"]["agent_steps"] == 2000
    ratings = [player["rating"] for player in report["players"]]
    assert ratings == sorted(ratings, reverse=True)
    short = rate_pilots(report["parameters"])
    for pilot in ("ace", "evader"):
        assert players[pilot]["fixed"]
        assert players[pilot]["rating"] == short[pilot] != ANCHORS[pilot]
    assert "rated anew" in capsys.readouterr().out
    height, width = matplotlib.image.imread(picture).shape[:2]
    assert width > 1.5 * height  # the matrix, and the ratings over the run beside it


def test_in_the_game_of_the_table_the_anchors_hold(tmp_path, capsys):
    table = ["--env.time-limit", "300", "--env.start-range-min", "30e3"]
    path = save(tmp_path, "one", 5, *table, "--env.start-range-max", "60e3")
    report = hold(tmp_path, str(path), "--pilots", "straight,weave", "--games", "2")
    rated = {player["name"]: player["rating"] for player in report["players"]}
    assert (rated["straight"], rated["weave"]) == (ANCHORS["straight"], ANCHORS["weave"])
    assert "the pilots' ratings are fixed" in capsys.readouterr().out


def test_models_are_told_apart_by_as_much_of_their_path_as_it_takes(run, tmp_path, capsys):
    other = tmp_path / "other"
    other.mkdir()
    files = [save(other, "model_000000", 0), run / "model_000000.pt", run / "model_000001.pt"]
    report = hold(tmp_path, *map(str, [*files, files[0]]), "--pilots", "none", "--greedy")
    assert {player["name"] for player in report["players"]} == {
        "other/model_000000", "some_run/model_000000", "some_run/model_000001"
    }  # fmt: skip
    assert "no pilots" in capsys.readouterr().out


def test_models_that_only_their_suffixes_tell_apart_have_their_whole_paths_as_names(tmp_path):
    first = save(tmp_path, "model", 0)
    second = first.with_suffix(".pth")
    second.write_bytes(first.read_bytes())
    report = hold(tmp_path, str(first), str(second), "--pilots", "none")
    assert {player["name"] for player in report["players"]} == {str(first), str(second)}


def test_played_fights_are_printed_before_they_are_written(tmp_path, capsys, monkeypatch):
    def fail(*_):
        raise WriteError("full")

    monkeypatch.setattr("midrange_puffer.commands.league.write_results", fail)
    with pytest.raises(WriteError, match="full"):
        hold(tmp_path, *GAME)
    printed = capsys.readouterr().out
    assert all(pilot in printed for pilot in PILOTS)


def test_models_of_different_games_need_a_word(run, tmp_path):
    longer = save(tmp_path, "longer", 0, "--env.time-limit", "30")
    words = [str(longer), "--pilots", "none", "--run", str(run)]
    message = "time_limit is 30.0 in .*longer.pt and 20.0 in .*choose one with --env.time-limit"
    with pytest.raises(UsageError, match=message):
        hold(tmp_path, *words)
    report = hold(tmp_path, *words, "--env.time-limit", "10")
    assert report["parameters"]["time_limit"] == 10
