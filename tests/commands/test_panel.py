"""`puffer panel`: who may be tested, what is reported, and what is refused."""

import hashlib
import json
import os
from pathlib import Path

import pytest
import stand_ins
from near_exploiters import near_exploiters
from needs import nightly
from quick_fights import SHORT

from midrange_puffer import __version__
from midrange_puffer.commands import cli
from midrange_puffer.commands.exploit import StoppedEarlyError
from midrange_puffer.contest.evaluation import evaluate
from midrange_puffer.contest.panel import VERSIONS, frozen_folder, game_values, rows_of
from midrange_puffer.errors import UsageError, UserError
from midrange_puffer.game.games import DEFAULT_GAME, GAMES, game_name
from midrange_puffer.game.parameters import pilots_of
from midrange_puffer.policies.models import path_of
from midrange_puffer.replays.replay import Replay

pytestmark = pytest.mark.slow

GAME = [f"--env.{name.replace('_', '-')}={value}" for name, value in SHORT.items()]
NETWORK = str(frozen_folder(DEFAULT_GAME) / "default_1.onnx")
OWN = """
import numpy as np

def fly(observations):
    return np.tile(np.float32([0, 1, 1]), (len(observations), 1))
"""


def panel(folder: Path, *words: str) -> dict[str, object]:
    """Returns the report of a quick panel."""
    out = folder / "panel.json"
    assert cli.run("panel", [*words, *GAME, "--episodes", "64", "--json", str(out)]) == 0
    return json.loads(out.read_text())


@pytest.fixture(scope="module")
def own(tmp_path_factory):
    """The name of a function that flies straight on and fires."""
    path = tmp_path_factory.mktemp("own") / "own_for_the_panel.py"
    path.write_text(OWN)
    return f"{path}:fly"


@pytest.fixture
def few_rows(monkeypatch):
    """A pilot, two families and a network, for what all rows have alike."""
    few = [0, 10, 17, 18]
    monkeypatch.setattr(
        "midrange_puffer.commands.panel.rows_of",
        lambda seed, game: [rows_of(seed, game)[row] for row in few],
    )
    return few


def test_a_function_is_tested(own, tmp_path, capsys):
    report = panel(tmp_path, own)
    assert [row["row"] for row in report["rows"]] == [row.name for row in rows_of(0)]
    for row in report["rows"]:
        assert row["wins"] + row["draws"] + row["losses"] == 64
        assert row["score"] == pytest.approx((row["wins"] + row["draws"] / 2) / 64)
        low, high = row["score_ci95"]
        assert low <= row["score"] <= high
    assert report["rows"][0]["wins"] > 32  # who flies straight on is hit
    assert report["sha256"] is None
    assert {row["replay"] for row in report["rows"]} == {None}
    told = capsys.readouterr().out
    worst = min(report["rows"], key=lambda row: row["score"])
    assert report["worst"]["row"] == worst["row"]
    assert f"worst row: {worst['row']}, {worst['score']:.3f}" in told
    assert "not the public panel: 64 engagements a row, not the game of the parameter table" in told
    assert "no rating" in told


@pytest.mark.parametrize("name", [NETWORK, nightly("trained")])
def test_an_exported_policy_and_a_shipped_one_are_tested(name, few_rows, tmp_path, capsys):
    few_rows[:] = [0, 10, *range(18, len(rows_of(0)))]  # all networks
    path = Path(NETWORK) if name == NETWORK else path_of(name)
    report = panel(tmp_path, name)
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    assert report["sha256"] == digest
    assert digest in capsys.readouterr().out
    assert (report["panel"], report["package"]) == (2, __version__)
    assert report["rows"][0]["score"] > 0.6
    frozen = {row["row"]: row for row in report["rows"] if row["group"] == "frozen"}
    digests = {row["sha256"] for row in frozen.values()}
    assert len(digests) == len(frozen) == 6
    assert (digest in digests) == (name == NETWORK)
    if name == NETWORK:
        assert frozen["frozen:default_1"]["score"] == pytest.approx(0.5, abs=0.2)


def test_a_seed_repeats_itself_and_another_is_another_panel(own, few_rows, tmp_path, capsys):
    secret, again = (panel(tmp_path, own, "--seed", "77") for _ in range(2))
    public = panel(tmp_path, own)
    assert secret == again
    assert "not the public panel: seed 77" in capsys.readouterr().out
    for one, other, place in zip(public["rows"], secret["rows"], few_rows, strict=True):
        if one["group"] == "wide":
            assert other["parameter_sets"] == list(rows_of(77)[place].parts)
            assert one["parameter_sets"] != other["parameter_sets"]
    assert [row["wins"] for row in public["rows"]] != [row["wins"] for row in secret["rows"]]


def test_there_is_a_replay_of_each_row(own, few_rows, tmp_path):
    folder = tmp_path / "kept"
    report = panel(tmp_path, own, "--replay-dir", str(folder))
    assert {row["replay"] for row in report["rows"]} == set(map(str, folder.iterdir()))
    for row in report["rows"]:
        replay = Replay.read(Path(row["replay"]))
        replay.verify()
        assert replay.meta["opponent"] == row["row"]
        assert (replay.meta["kept"] == "lost") == (row["losses"] > 0)
        if row["group"] == "wide":
            [part] = [
                one
                for one in row["parameter_sets"]
                if all(replay.parameters[name] == value for name, value in one.items())
            ]
            starts = 32 // len(row["parameter_sets"])
            assert row["parameter_sets"].index(part) == replay.engagement // starts


@pytest.mark.parametrize("words", [nightly(["trained"]), [NETWORK, "--start", "anew"]])
def test_exploiters_of_it_are_reported_too(words, few_rows, tmp_path, capsys):
    """`puffer exploit` gives the same figures for the same settings."""
    picture = tmp_path / "exploit.png"
    budget = ["--budget", "131072", "--seed", "3"]
    where = ["--train.data-dir", str(tmp_path)]
    given = ["--exploit", "--quick", "--seeds", "1", *budget, *where, "--out", str(picture)]
    with near_exploiters():
        report = panel(tmp_path, *words, *given)
    assert [row["row"] for row in report["rows"]] == [rows_of(3)[row].name for row in few_rows]
    assert picture.read_bytes().startswith(b"\x89PNG")
    found = report["exploit"]
    start = "own" if words == ["trained"] else "anew"
    (run,) = found["runs"]
    assert (run["start"], run["seed"]) == (start, 42)
    assert run["curve"]["agent_steps"][-1] == 131_072
    told = capsys.readouterr().out
    assert f"{run['score']:.3f}" in told
    assert "strongest exploiter of" in told
    alone = tmp_path / "alone.json"
    words = ["--load-model-path", words[0], *words[1:], *budget, *GAME, "--json", str(alone)]
    words += ["--quick"]
    with near_exploiters():
        assert cli.run("exploit", [*words, "--train.data-dir", str(tmp_path / "alone")]) == 0
    alone = json.loads(alone.read_text())
    assert alone["runs"][0]["curve"] == run["curve"]
    assert (alone["parameters"], alone["episodes"]) == (found["parameters"], found["episodes"])


@pytest.mark.parametrize("error", [None, StoppedEarlyError(143), UserError("failed")])
def test_a_stream_gets_one_document_however_the_exploiters_end(
    error, few_rows, monkeypatch, tmp_path
):
    few_rows[:] = [0]
    mode = "midrange_puffer.commands.panel.exploit_mode"

    def exploit(options: object) -> dict[str, float]:
        if error is not None:
            raise error
        return {"score": 0.75}

    monkeypatch.setattr(f"{mode}.exploit", exploit)
    monkeypatch.setattr(f"{mode}.print_report", lambda *_: None)
    read, write = os.pipe()
    words = ["--exploit", "--train.data-dir", str(tmp_path), "--json", f"/dev/fd/{write}"]
    given = ["trained", *words, *GAME, "--episodes", "64"]
    if isinstance(error, UserError):
        with pytest.raises(UserError, match="failed"):
            cli.run("panel", given)
    else:
        assert cli.run("panel", given) == (0 if error is None else 143)
    os.close(write)
    with os.fdopen(read) as pipe:
        report = json.load(pipe)
    assert report["exploit"] == ({"score": 0.75} if error is None else None)
    assert len(report["rows"]) == 1


@pytest.mark.parametrize("game", [name for name in GAMES if name != DEFAULT_GAME])
def test_a_model_of_another_game_meets_the_panel_of_its_game(game, few_rows, tmp_path, capsys):
    few_rows[:] = [0, len(pilots_of(game_values(game)))]  # a pilot and a family
    path = stand_ins.save(tmp_path / "own.pt", game)
    out = tmp_path / "panel.json"
    words = [str(path), "--episodes", "64", "--json", str(out), "--env.time-limit=20"]
    reports = []
    for asked in ([], ["--game", game]):
        assert cli.run("panel", [*words, *asked]) == 0
        reports.append(json.loads(out.read_text()))
    report = reports[0]
    assert reports[1] == report
    assert (report["game"], report["panel"], report["rating"]) == (game, VERSIONS[game], None)
    assert game_name(report["parameters"]) == game
    assert set(report["means"]) == {"pilots", "wide", "all"}  # a group without rows has no mean
    told = capsys.readouterr().out
    assert f"panel {VERSIONS[game]} of the game {game} ({GAMES[game].title})" in told
    assert f"not the game {game} of the parameter table" in told
    assert "mean of frozen" not in told
    # An engagement counts as in an evaluation.
    pilot = report["rows"][0]
    expected = evaluate(path, pilot["row"], 64, 0, **report["parameters"])
    assert pilot["score"] == expected["score"]
    assert pilot["score_ci95"] == expected["score_ci95"]


def test_a_function_meets_the_panel_that_is_asked_for(own, few_rows, tmp_path):
    few_rows[:] = [0]
    report = panel(tmp_path, own, "--game", "radar")
    assert report["game"] == "radar"
    assert report["parameters"]["sensing"] == "radar"
    assert panel(tmp_path, own)["game"] == DEFAULT_GAME


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["trained", "--game", "radar"], "radar: trained is of the game default .*, not of radar"),
        (
            ["ace:1,trained:1", "--game", "team2"],
            r"team2: ace:1,trained:1 is of the game default \(.*\), not of team2 \(.*\)",
        ),
        (
            ["ace", "--game", "team2", "--env.blue-size=3"],
            "of the game red_size = 2, blue_size = 3",
        ),
        (["ace", "--game", "team_2"], "--game: team_2: must be one of .*did you mean 'team2'"),
        (["ace", "--game", "rader"], "did you mean 'radar'"),
        (["champion", "--game", "team2", "--env.red-size=3"], "champion: this package has none of"),
    ],
)
def test_a_contestant_of_another_game_is_refused_with_both_named(words, message):
    with pytest.raises(UsageError, match=message):
        cli.run("panel", words)


def test_only_the_public_panel_is_called_so(few_rows, tmp_path, capsys):
    out = tmp_path / "public.json"
    assert cli.run("panel", ["straight", "--json", str(out)]) == 0
    report = json.loads(out.read_text())
    assert report["is_public"]
    assert (report["episodes"], report["seed"], report["greedy"]) == (512, 0, False)
    assert "not the public" not in capsys.readouterr().out
