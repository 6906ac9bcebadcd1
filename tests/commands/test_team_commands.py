"""Commands for models of teams: what is done with them, and what is refused by name."""

import json
from pathlib import Path

import frozen_team
import numpy as np
import pytest
import runs
import stand_ins
import torch
from near_exploiters import near_exploiters

from midrange_puffer.commands import cli
from midrange_puffer.errors import UsageError
from midrange_puffer.game.games import game_name
from midrange_puffer.policies.loading import load_policy
from midrange_puffer.replays.replay import Replay


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """A tiny run of twos, with a checkpoint of each update."""
    folder = tmp_path_factory.mktemp("team")
    words = ("--train.total-timesteps=8192", "--train.checkpoint-interval=1")
    assert runs.train(folder, *runs.TEAM, *words) == 0
    return folder / "run"


def test_an_exploiter_of_a_team_is_trained_in_its_game(run, tmp_path):
    ini = tmp_path / "exploit.ini"
    ini.write_text(runs.SMALL.replace("opponent = straight", "opponent = pool"))
    report = tmp_path / "report.json"
    words = ["--load-model-path", str(run), "--config", str(ini), "--budget=4096"]
    words += ["--episodes=20", f"--train.data-dir={tmp_path}", "--json", str(report)]
    with near_exploiters():
        assert cli.run("exploit", [*words, "--start=own", "--quick"]) == 0
    found = json.loads(report.read_text())
    assert found["parameters"]["red_size"] == found["parameters"]["blue_size"] == 2
    assert found["episodes"] == 20
    _, about = load_policy(found["exploiter"])
    assert about["env"]["opponent"] == "pool"
    assert about["env"]["red_size"] == 2


@pytest.mark.parametrize("game", ["radar", "team2", "team2_radar"])
def test_a_champion_of_another_game_is_exploited_in_that_game(game, tmp_path, capsys):
    """The exploiter's fights are reported with shots, zones and a replay, as in every game."""
    (tmp_path / "models").mkdir()
    ini, out = tmp_path / "exploit.ini", tmp_path / "report.json"
    ini.write_text(runs.SMALL.replace("opponent = straight", "opponent = pool"))
    words = ["--load-model-path", f"champion:{game}", "--config", str(ini), "--budget=4096"]
    words += ["--episodes=40", f"--train.data-dir={tmp_path}", "--json", str(out), "--quick"]
    words += ["--env.start-range-min=5000", "--env.start-range-max=6000"]
    words += ["--env.start-spacing-min=500", "--env.start-spacing-max=900"]
    with stand_ins.champions(tmp_path / "models", [game]), near_exploiters():
        assert cli.run("exploit", words) == 0
    report = json.loads(out.read_text())
    assert game_name(report["parameters"]) == game
    side = report["parameters"]["red_size"]
    wins = report["wins"]
    assert wins["count"] == round(40 * report["exploitability_lower_bound"]["win"]) > 0
    for name in ("policy", "opponent"):
        figures = wins[name]
        assert figures["shots"] + figures["left"] == pytest.approx(6 * side)
        zones = [figures[f"{zone}_share"] for zone in ("in_nez", "between", "wasted")]
        assert sum(zones) == pytest.approx(1)
    replay = Replay.read(Path(report["replay"]))
    replay.verify()
    assert replay.meta["kept"] == "typical"
    told = " ".join(capsys.readouterr().out.split())
    assert ("sums over a side" in told) == (side > 1)


def test_other_teams_have_no_panel(run):
    message = r"panel: a fixed test of the games default, .*; .* flies with red_size = 3, blue_size"
    with pytest.raises(UsageError, match=message):
        cli.run("panel", [str(run), "--env.red-size=3"])


def test_a_teams_policy_is_exported_and_flies_as_an_opponent(run, tmp_path):
    out = tmp_path / "team.onnx"
    assert cli.run("export", ["--load-model-path", str(run), "--onnx", str(out)]) == 0
    report = tmp_path / "report.json"
    words = ["--load-model-path", str(run), "--opponent", str(out), "--episodes=20"]
    assert cli.run("eval", [*words, "--json", str(report)]) == 0
    # A mix is flown by one of them at a time, the whole side.
    left = frozen_team.save(tmp_path / "left.pt", frozen_team.constant(4))
    words[3] = f"{out}:1,{left}:1,ace:2"
    assert cli.run("eval", [*words, "--json", str(report)]) == 0
    [found] = json.loads(report.read_text())["opponents"].values()
    assert 0 <= found["score"] <= 1


def test_an_average_of_teams_is_that_of_their_weights(run, tmp_path):
    out = tmp_path / "average.pt"
    assert cli.run("average", ["--run", str(run), "--last=2", "--out", str(out)]) == 0
    models = [load_policy(path)[0] for path in sorted(run.glob("model_*.pt"))[-2:]]
    found = load_policy(out)[0].state_dict()
    for name, value in found.items():
        wanted = torch.stack([model.state_dict()[name] for model in models]).mean(dim=0)
        np.testing.assert_allclose(value, wanted, atol=1e-6)
