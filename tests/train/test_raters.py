"""The league that rates a policy in training, and the replays of its fights."""

import errno
import json
import os
import re
import shutil

import numpy as np
import pytest
import runs
import torch
from machines import machine
from policies import Constant, random_policy
from quick_fights import SHORT

from midrange_puffer.config.reading import load_config
from midrange_puffer.config.sections import LeagueConfig
from midrange_puffer.config.settle import settle
from midrange_puffer.contest.match import rate_pilots
from midrange_puffer.contest.ratings import ANCHORS
from midrange_puffer.game.parameters import resolve
from midrange_puffer.policies import model_file
from midrange_puffer.policies.model_file import CheckpointError
from midrange_puffer.replays.recorder import FightRecorder
from midrange_puffer.replays.replay import Replay
from midrange_puffer.train import run_folder
from midrange_puffer.train.raters import TrainingLeague, TrainingReplays
from midrange_puffer.train.run_files import LEAGUE

pytestmark = pytest.mark.slow

CONFIG = load_config(None, ["--policy.hidden-size", "16"])


def open_league(folder, agent_steps=0, checkpoints=2, **parameters) -> TrainingLeague:
    """Opens the league of a run after `agent_steps` of training."""
    settings = LeagueConfig(interval=1, games=8, checkpoints=checkpoints)
    return TrainingLeague(folder, settings, parameters, agent_steps)


def add_checkpoint(folder, update: int):
    """Writes a checkpoint of `update` updates and 1000 x `update` steps; returns its policy."""
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
        *(f"league/score_vs_{pilot}" for pilot in ANCHORS),
    }  # fmt: skip
    assert metrics["league/rating_low"] < metrics["league/rating"] < metrics["league/rating_high"]
    # Who flies on without a shot draws with those that do, and loses to all that fire at it.
    assert metrics["league/score_vs_straight"] == 0.5
    assert metrics["league/score_vs_shooter"] == metrics["league/score_vs_evader"] == 0
    by_pilot = [metrics[f"league/score_vs_{pilot}"] for pilot in ANCHORS]
    assert metrics["league/panel_score"] == pytest.approx(np.mean(by_pilot))
    assert metrics["league/worst_score"] == 0
    assert metrics["league/rating"] == pytest.approx(ANCHORS["straight"], abs=200)
    met = [(result["first"], result["second"]) for result in read(tmp_path)["results"]]
    assert met == [("model_000001", pilot) for pilot in ANCHORS]


def test_ratings_move_on_both_sides(tmp_path):
    """A policy that scores more than expected from the pilots rises, and the older one falls."""
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
    assert met - set(ANCHORS) == {"model_000002", "model_000003"}


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


def test_ratings_past_the_point_of_resuming_are_dropped(tmp_path):
    league = open_league(tmp_path)
    for update in (1, 2, 3):
        league.rate(add_checkpoint(tmp_path, update), f"model_{update:06d}", 1000 * update)
    resumed = open_league(tmp_path, 1500)
    resumed.rate(random_policy(seed=9), "model_000009", 1500)
    assert list(ratings(tmp_path)) == ["model_000001", "model_000009"]
    # Nor are checkpoints of more training met.
    met = {(result["first"], result["second"]) for result in read(tmp_path)["results"]}
    assert met == {
        *(("model_000001", pilot) for pilot in ANCHORS),
        *(("model_000009", pilot) for pilot in ANCHORS),
    }


def test_a_name_taken_again_after_more_training_is_rated_by_its_new_games(tmp_path):
    """The run is resumed from an earlier checkpoint, with larger updates."""
    open_league(tmp_path).rate(Constant(fire=0), "model_000100", 6000)
    open_league(tmp_path, 4000).rate(Constant(), "model_000100", 7000)
    [row] = read(tmp_path)["ratings"]
    assert row["agent_steps"] == 7000
    met = [result["second"] for result in read(tmp_path)["results"]]
    assert met == [*ANCHORS]
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
    open_league(tmp_path, time_limit=30).rate(Constant(), "model_000001", 1000)
    assert capsys.readouterr().err.count("rating the pilots") == 1
    anchors = read(tmp_path)["anchors"]
    assert anchors == rate_pilots(resolve({"time_limit": 30})) != ANCHORS
    capsys.readouterr()
    open_league(tmp_path, 1000, time_limit=30).rate(Constant(), "model_000002", 2000)
    assert capsys.readouterr().err == ""
    assert read(tmp_path)["anchors"] == anchors


def test_a_damaged_checkpoint_is_left_out_and_named(tmp_path, capsys):
    add_checkpoint(tmp_path, 1)
    (tmp_path / "model_000002.pt").write_bytes(b"no model")
    open_league(tmp_path).rate(Constant(), "model_000003", 3000)
    met = {result["second"] for result in read(tmp_path)["results"]}
    assert met - set(ANCHORS) == {"model_000001"}
    assert "model_000002.pt: damaged" in capsys.readouterr().err


def test_a_damaged_league_is_refused_with_the_way_out(tmp_path):
    (tmp_path / LEAGUE).write_text("{}")
    told = "league.json: damaged: .*; without the file the ratings of the run start anew"
    with pytest.raises(CheckpointError, match=told):
        open_league(tmp_path)


def test_a_resumed_run_drops_the_ratings_of_the_training_that_it_takes_back(tmp_path):
    """It is resumed from update 4 with larger updates, so their names stand for other steps."""
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


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """A small run against two pilots, with replays at every third of its 8 updates."""
    folder = tmp_path_factory.mktemp("trained")
    words = ["--train.replay-interval=3", "--env.opponent=evader:1,shooter:2"]
    assert runs.train(folder, *words, "--train.checkpoint-interval=1") == 0
    return folder / "run"


def test_training_keeps_replays_on_its_schedule(run):
    """Against the pilots of the run, always from the same start."""
    replays = {path.stem: Replay.read(path) for path in (run / "replays").iterdir()}
    met = {tuple(name.split("_vs-")) for name in replays}
    assert {(model, rest.split("_")[0]) for model, rest in met} == {
        (f"model_{update:06d}", pilot) for update in (3, 6, 8) for pilot in ("evader", "shooter")
    }
    for name, replay in replays.items():
        replay.verify()
        assert replay.pilots[0] == "agent"
        assert name == f"{replay.names[0]}_vs-{replay.pilots[1]}_{result(replay)}"
        assert replay.meta["agent_steps"] == 1024 * int(replay.names[0][-6:])
        assert replay.parameters["start_range_max"] == 6000
    starts = {tuple(replay.hashes[:1]) for replay in replays.values()}
    assert len(starts) == 2  # one for each pilot


def result(replay: Replay) -> str:
    return {"red wins": "win", "blue wins": "loss"}.get(replay.outcome, "draw")


def test_training_is_the_same_without(run, tmp_path):
    words = ["--train.replay-interval=0", "--env.opponent=evader:1,shooter:2"]
    assert runs.train(tmp_path, *words, "--train.checkpoint-interval=1") == 0
    plain = tmp_path / "run"
    assert not (plain / "replays").exists()
    assert runs.timeless(plain) == runs.timeless(run)
    models = sorted(path.name for path in plain.glob(model_file.MODELS))
    assert len(models) == 9
    for name in models:
        ours, theirs = (torch.load(at / name)["weights"] for at in (run, plain))
        assert all(torch.equal(ours[key], theirs[key]) for key in theirs)


def test_a_rating_taken_again_replaces_its_replays(tmp_path):
    config = load_config(None, ["--train.replay-interval=5", "--env.opponent=ace"])
    config = config.replaced("env", "test", **SHORT)
    replays = TrainingReplays(tmp_path, config)
    for level, rudder in ((2, 0.0), (4, 1.0)):
        replays.rate(Constant(level, fire=0), "model_000005", 5000)
        [path] = (tmp_path / "replays").iterdir()
        assert (Replay.read(path).controls[:, 0, 0] == rudder).all()
    assert [replays.is_due(epoch, 0, False) for epoch in (4, 5, 10)] == [False, True, True]
    assert replays.is_due(7, 0, True)


def full_disk(monkeypatch, replays: TrainingReplays) -> None:
    def fail(*_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", fail)


def no_folder(monkeypatch, replays: TrainingReplays) -> None:
    """Fails as if there were no old replay to remove either."""
    folder = replays._folder
    shutil.rmtree(folder)
    folder.write_text("")


def nothing_to_remove(monkeypatch, replays: TrainingReplays) -> None:
    (replays._folder / "model_000005_old.replay").mkdir()


def another_fight(monkeypatch, replays: TrainingReplays) -> None:
    def fail(*_):
        raise RuntimeError("engagement 0 of seed 42 goes another way alone")

    monkeypatch.setattr(FightRecorder, "replay", fail)


@pytest.mark.parametrize(
    ("mishap", "reason"),
    [
        (full_disk, "cannot write .*_vs-ace_loss.replay: No space left on device"),
        (no_folder, "cannot write .*_vs-ace_loss.replay: Not a directory"),
        (nothing_to_remove, "Is a directory: .*model_000005_old.replay'"),
        (another_fight, "goes another way alone"),
    ],
)
def test_no_training_ends_for_want_of_a_replay(tmp_path, monkeypatch, capsys, mishap, reason):
    config = load_config(None, ["--train.replay-interval=5", "--env.opponent=ace"])
    config = config.replaced("env", "test", **SHORT)
    replays = TrainingReplays(tmp_path, config)
    mishap(monkeypatch, replays)
    assert replays.rate(Constant(fire=0), "model_000005", 5000) == {}
    [line] = capsys.readouterr().err.splitlines()
    assert re.fullmatch(f"not all replays of model_000005 were saved: .*{reason}", line)


@pytest.mark.parametrize(
    ("opponent", "stages", "met"),
    [
        ("self:1,crank:1", {}, {"crank"}),
        ("self", {}, set(ANCHORS)),
        ("ace", {"a": "weave", "b": "self:1,evader:1"}, {"weave", "evader"}),
    ],
)
def test_the_pilots_of_the_run_are_met_or_all(tmp_path, opponent, stages, met):
    words = ["--train.replay-interval=1", f"--env.opponent={opponent}"]
    if stages:
        words += [f"--curriculum.stages={','.join(stages)}"]
        words += [f"--curriculum.{name}.env.opponent={met}" for name, met in stages.items()]
        words += [f"--curriculum.{name}.max-steps=10" for name in stages]
    config = load_config(None, words).replaced("env", "test", **SHORT)
    TrainingReplays(tmp_path, config).rate(Constant(), "model_000001", 1)
    assert {Replay.read(path).pilots[1] for path in (tmp_path / "replays").iterdir()} == met


@pytest.mark.parametrize(("steps", "interval"), [(1024, 1), (11 * 1024, 2), (200 * 1024, 20)])
def test_by_default_a_run_keeps_about_ten_sets(tmp_path, steps, interval):
    default = load_config()["train"]["replay_interval"]
    words = [f"--train.total-timesteps={steps}", f"--train.replay-interval={default}"]
    config = settle(load_config(runs.small_config(tmp_path), words), machine())
    assert config["train"]["replay_interval"] == interval
