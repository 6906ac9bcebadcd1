"""The league of a run in training: ratings that go on, on both sides, through resumes."""

import json

import numpy as np
import pytest
import runs
from policies import Constant, random_policy

from midrange_puffer.config.reading import load_config
from midrange_puffer.config.sections import League
from midrange_puffer.contest.match import rate_pilots
from midrange_puffer.contest.ratings import ANCHORS
from midrange_puffer.game.parameters import PILOTS, resolve
from midrange_puffer.policies import model_file
from midrange_puffer.policies.model_file import CheckpointError
from midrange_puffer.train import run_folder
from midrange_puffer.train.raters import TrainingLeague
from midrange_puffer.train.run_files import LEAGUE

pytestmark = pytest.mark.slow

CONFIG = load_config(None, ["--policy.hidden-size", "16"])


def open_league(folder, agent_steps=0, checkpoints=2, **parameters) -> TrainingLeague:
    """The league of a run that has trained for so long."""
    settings = League(interval=1, games=8, checkpoints=checkpoints)
    return TrainingLeague(folder, settings, parameters, agent_steps)


def add_checkpoint(folder, update: int):
    """Write a checkpoint of so many updates and a thousand times the steps; return its policy."""
    policy = random_policy(seed=update)
    path = folder / f"model_{update:06d}.pt"
    model_file.save_model(path, CONFIG, policy.state_dict(), 1000 * update)
    return policy


def read(folder) -> dict:
    return json.loads((folder / LEAGUE).read_text())


def ratings(folder) -> dict[str, float]:
    return {row["name"]: row["rating"] for row in read(folder)["ratings"]}


def test_a_rating_comes_with_its_interval_and_a_score_for_each_pilot(tmp_path):
    metrics = open_league(tmp_path).rate(Constant(fire=0), "model_000001", 1000)
    assert set(metrics) == {
        "league/rating", "league/rating_low", "league/rating_high",
        "league/panel_score", "league/worst_score",
        *(f"league/score_vs_{pilot}" for pilot in PILOTS),
    }  # fmt: skip
    assert metrics["league/rating_low"] < metrics["league/rating"] < metrics["league/rating_high"]
    # Who flies on without a shot draws with those that do, and loses to all that fire at it.
    assert metrics["league/score_vs_straight"] == 0.5
    assert metrics["league/score_vs_shooter"] == metrics["league/score_vs_evader"] == 0
    by_pilot = [metrics[f"league/score_vs_{pilot}"] for pilot in PILOTS]
    assert metrics["league/panel_score"] == pytest.approx(np.mean(by_pilot))
    assert metrics["league/worst_score"] == 0
    assert metrics["league/rating"] == pytest.approx(ANCHORS["straight"], abs=200)
    met = [(result["first"], result["second"]) for result in read(tmp_path)["results"]]
    assert met == [("model_000001", pilot) for pilot in PILOTS]


def test_ratings_move_on_both_sides(tmp_path):
    """Who scores more than the ratings from the pilots say rises, and the older one falls."""
    older, newer = add_checkpoint(tmp_path, 1), random_policy(seed=7)
    alone = open_league(tmp_path, checkpoints=0)
    alone.rate(newer, "model_000002", 2000)
    by_pilots = ratings(tmp_path)["model_000002"]
    league = open_league(tmp_path)
    league.rate(older, "model_000001", 1000)
    before = ratings(tmp_path)["model_000001"]
    metrics = league.rate(newer, "model_000002", 2000)
    after = ratings(tmp_path)
    expected = 1 / (1 + 10 ** ((before - by_pilots) / 400))
    surplus = metrics["league/score_vs_checkpoints"] - expected
    assert abs(surplus) > 0.05
    assert np.sign(after["model_000002"] - by_pilots) == np.sign(surplus)
    assert np.sign(after["model_000001"] - before) == -np.sign(surplus)
    assert metrics["league/rating"] == after["model_000002"]


def test_earlier_checkpoints_are_met_and_the_untrained_left_out(tmp_path):
    league = open_league(tmp_path)
    policies = [add_checkpoint(tmp_path, update) for update in range(5)]
    league.rate(policies[4], "model_000004", 4000)
    met = {result["second"] for result in read(tmp_path)["results"]}
    assert met - set(PILOTS) == {"model_000002", "model_000003"}


def test_a_resumed_run_goes_on_as_if_it_had_not_stopped(tmp_path):
    league = open_league(tmp_path)
    first, second = (add_checkpoint(tmp_path, update) for update in (1, 2))
    league.rate(first, "model_000001", 1000)
    kept = (tmp_path / LEAGUE).read_bytes()
    expected = league.rate(second, "model_000002", 2000)
    # As it was when the run was killed; then rated twice at the same step.
    (tmp_path / LEAGUE).write_bytes(kept)
    resumed = open_league(tmp_path, 1000)
    assert resumed.rate(second, "model_000002", 2000) == expected
    assert resumed.rate(second, "model_000002", 2000) == expected


def test_what_lies_past_the_point_of_resuming_is_dropped(tmp_path):
    league = open_league(tmp_path)
    for update in (1, 2, 3):
        league.rate(add_checkpoint(tmp_path, update), f"model_{update:06d}", 1000 * update)
    resumed = open_league(tmp_path, 1500)
    resumed.rate(random_policy(seed=9), "model_000009", 1500)
    assert list(ratings(tmp_path)) == ["model_000001", "model_000009"]
    # Nor are checkpoints of more training met.
    met = {(result["first"], result["second"]) for result in read(tmp_path)["results"]}
    assert met == {
        *(("model_000001", pilot) for pilot in PILOTS),
        *(("model_000009", pilot) for pilot in PILOTS),
    }


def test_a_name_taken_again_after_more_training_is_rated_by_its_new_games(tmp_path):
    """As where a run is resumed from before, with larger updates."""
    open_league(tmp_path).rate(Constant(fire=0), "model_000100", 6000)
    open_league(tmp_path, 4000).rate(Constant(), "model_000100", 7000)
    [row] = read(tmp_path)["ratings"]
    assert row["agent_steps"] == 7000
    met = [result["second"] for result in read(tmp_path)["results"]]
    assert met == [*PILOTS]
    kept = open_league(tmp_path, 7000)  # the rating at the very step of resuming
    kept.rate(Constant(), "model_000200", 8000)
    assert list(ratings(tmp_path)) == ["model_000100", "model_000200"]


def test_results_of_another_game_are_not_mixed_in(tmp_path, capsys):
    open_league(tmp_path).rate(Constant(), "model_000001", 1000)
    short = open_league(tmp_path, 1000, time_limit=5)
    assert "league.json is of another game; the ratings start anew" in capsys.readouterr().err
    metrics = short.rate(Constant(), "model_000002", 2000)
    assert list(ratings(tmp_path)) == ["model_000002"]
    assert metrics["league/rating"] == pytest.approx(1000)  # in 5 s nobody is hit


def test_in_another_game_the_pilots_are_rated_once(tmp_path, capsys):
    open_league(tmp_path, time_limit=60).rate(Constant(), "model_000001", 1000)
    assert capsys.readouterr().err.count("rating the pilots") == 1
    anchors = read(tmp_path)["anchors"]
    assert anchors == rate_pilots(resolve({"time_limit": 60})) != ANCHORS
    capsys.readouterr()
    open_league(tmp_path, 1000, time_limit=60).rate(Constant(), "model_000002", 2000)
    assert capsys.readouterr().err == ""
    assert read(tmp_path)["anchors"] == anchors


def test_a_damaged_checkpoint_is_left_out_and_named(tmp_path, capsys):
    add_checkpoint(tmp_path, 1)
    (tmp_path / "model_000002.pt").write_bytes(b"no model")
    open_league(tmp_path).rate(Constant(), "model_000003", 3000)
    met = {result["second"] for result in read(tmp_path)["results"]}
    assert met - set(PILOTS) == {"model_000001"}
    assert "model_000002.pt: damaged" in capsys.readouterr().err


RATED = {"name": "model_000001", "agent_steps": 1000}
RESULT = {"first": "model_000001", "second": "ace", "wins": 1, "draws": 0, "losses": 1}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"ratings": {}}, "ratings = {}: must be a list"),
        ({"ratings": [RATED | {"agent_steps": "1"}]}, r"ratings\[0\].agent_steps = '1': must"),
        ({"ratings": [RATED | {"rating": None}]}, r"ratings\[0\].rating = None: must be a number"),
        ({"results": [RESULT | {"wins": -1}]}, r"results\[0\].wins = -1: must be an integer"),
        ({"results": [RESULT | {"wins": 10**9}]}, r"results\[0\].wins = 1.*: must be an integer"),
        ({"results": [RESULT | {"wins": 0, "losses": 0}]}, r"results\[0\]: .* must not all be 0"),
        ({"results": [RESULT | {"first": "who"}]}, r"results\[0\].first = who: must be a name in"),
        ({"results": [RESULT, RESULT]}, r"results\[1\].second = ace: must be another"),
        ({"results": [RESULT | {"second": str(n)} for n in range(5000)]}, "5001 players, at most"),
        ({"anchors": {"ace": 1e300}}, r"anchors.ace = 1e\+300: must be a number from -10000"),
        ({"parameters": []}, r"parameters = \[\]: must be an object"),
        ({"more": 1}, "more: no such entry; there are parameters, anchors, ratings, results"),
    ],
)
def test_a_damaged_file_is_named_with_what_is_wrong_in_it(tmp_path, change, message):
    content = {"parameters": resolve({}), "anchors": ANCHORS}
    content |= {"ratings": [RATED], "results": [RESULT]}
    (tmp_path / LEAGUE).write_text(json.dumps(content))
    open_league(tmp_path, 1000)
    (tmp_path / LEAGUE).write_text(json.dumps(content | change))
    told = f"league.json: damaged: {message}.*; without the file the ratings of the run start anew"
    with pytest.raises(CheckpointError, match=told):
        open_league(tmp_path)


def test_a_resumed_run_drops_the_ratings_of_the_training_that_it_takes_back(tmp_path):
    """Resumed from update 4 with larger updates, so that their names come at other steps."""
    words = ("--league.games", "2", "--league.checkpoints", "0")
    assert (
        runs.train(tmp_path, "--league.interval", "1", *words, "--train.total-timesteps=4096") == 0
    )
    run = tmp_path / "run"
    state = (run / run_folder.STATE).read_bytes()
    longer = "--train.total-timesteps=8192"
    assert runs.resume(run, longer) == 0
    assert read(run)["ratings"][-1]["agent_steps"] == 8192
    (run / run_folder.STATE).write_bytes(state)
    assert runs.resume(run, longer, "--env.num-envs=128", "--train.batch-size=2048") == 0
    steps = [row["agent_steps"] for row in read(run)["ratings"]]
    assert steps == [1024, 2048, 3072, 4096, 6144, 8192]
    assert list(ratings(run)) == [f"model_{update:06d}" for update in range(1, 7)]
