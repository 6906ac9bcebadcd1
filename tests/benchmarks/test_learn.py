"""benchmarks/learn.py: learning curves read from metrics of known course."""

import json
import sys

import numpy as np
import pytest
import runs
from places import BENCHMARKS

from midrange_puffer.game.parameters import PILOTS


@pytest.fixture
def learn(monkeypatch):
    monkeypatch.syspath_prepend(BENCHMARKS)
    import learn

    return learn


@pytest.fixture
def curve(learn, tmp_path):
    """The curve of a run of 1000 steps and 100 engagements a row, with these rates of wins."""

    def read(wins, opponent: str = "straight"):
        runs.small_config(tmp_path).rename(tmp_path / "config.ini")
        config = (tmp_path / "config.ini").read_text()
        config = config.replace("opponent = straight", f"opponent = {opponent}")
        (tmp_path / "config.ini").write_text(config.replace("[vec]", "[vec]\nnum_envs = 1"))
        rows = [
            {
                "agent_steps": 1000 * number,
                "uptime": 0.5 * number,
                "environment/episode_length": 10.0,
                "environment/win_vs_straight": win,
                "environment/score_vs_straight": win + (1 - win) / 2 * 0.6,
            }
            for number, win in enumerate(wins, 1)
        ]
        (tmp_path / "metrics.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
        return learn.read_curves(tmp_path)["straight"]

    return read


def test_a_curve_is_the_mean_of_the_last_500_engagements(curve):
    wins = np.random.default_rng(0).uniform(0, 1, 40)
    got = curve(wins)
    expected = [wins[i - 5 : i].mean() for i in range(5, 41)]
    np.testing.assert_allclose(got.rates["win"], expected)
    np.testing.assert_allclose(got.agent_steps, np.arange(5, 41) * 1000)
    np.testing.assert_allclose(got.seconds, np.arange(5, 41) / 2)
    # Of what is not won, 60 % is drawn.
    np.testing.assert_allclose(got.rates["draw"], 0.6 * (1 - got.rates["win"]))
    np.testing.assert_allclose(sum(got.rates.values()), 1)


def test_a_rarer_opponent_takes_more_rows(curve):
    got = curve(np.arange(40) / 40, "straight:1,weave:3")
    assert got.agent_steps[0] == 20_000
    assert got.rates["win"][0] == pytest.approx(np.mean(np.arange(20) / 40))


def test_reaching_and_falling_back(learn, curve):
    result = learn.reach(curve([0.5] * 10 + [1.0] * 10 + [0.6] * 5 + [1.0] * 10))
    assert result["agent_steps"] == 15_000
    assert result["seconds"] == 7.5
    assert result["lowest_after"] == pytest.approx(0.6)
    assert result["last"] == pytest.approx(1)


def test_not_reaching(learn, curve):
    result = learn.reach(curve([0.9] * 20))
    assert (result["agent_steps"], result["seconds"], result["lowest_after"]) == (None, None, None)
    assert result["last"] == pytest.approx(0.9)


def test_the_mean_score_counts_from_when_each_pilot_is_known(learn):
    """Each pilot's score lasts until the next is known; a draw is a half."""

    def known(steps, win, draw):
        return learn.Curve(
            np.array(steps) / 1000, np.array(steps), {"win": np.array(win), "draw": np.array(draw)}
        )

    curves = {
        "weave": known([1000, 3000, 5000], [0.0, 0.5, 1.0], [0.0, 0.5, 0.0]),
        "ace": known([2000, 4000, 6000], [0.2, 1.0, 0.98], [0.6, 0.0, 0.02]),
    }
    of = learn.mean_score(curves)
    assert [*of.agent_steps] == [2000, 3000, 4000, 5000, 6000]
    assert [*of.seconds] == [2, 3, 4, 5, 6]
    np.testing.assert_allclose(of.score, [0.25, 0.625, 0.875, 1.0, 0.995])
    reached = learn.reach_score(curves, ["weave", "ace"], start=3.5)
    lowest = {"lowest_after": pytest.approx(0.995), "last": pytest.approx(0.995)}
    assert reached == {"seconds": 8.5, "agent_steps": 5000, **lowest}
    assert learn.reach_score(curves, ["weave", "ace", "snake"], 3.5)["last"] is None
    curves["weave"].rates["win"][-1] = 0.9
    assert learn.reach_score(curves, ["weave", "ace"], 3.5)["seconds"] is None


@pytest.mark.slow
def test_the_report_of_a_run(learn, tmp_path, monkeypatch):
    assert runs.train(tmp_path, "--train.total-timesteps=40960") == 0
    out = {name: str(tmp_path / f"learn.{name}") for name in ("json", "png")}
    words = ["--runs", str(tmp_path / "run"), "--episodes=2"]
    words += [f"--{name}={path}" for name, path in out.items()]
    monkeypatch.setattr(sys, "argv", ["learn.py", *words])
    learn.main()
    report = json.loads((tmp_path / "learn.json").read_text())
    assert report["config"]["env"]["opponent"] == "straight"
    assert report["config"]["policy"]["hidden_size"] == 16
    assert [{*one["final"]} for one in report["runs"]] == [{*PILOTS}]
