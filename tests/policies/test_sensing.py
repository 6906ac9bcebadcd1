"""Policies of the game with sensors, and the games in which a policy may fly."""

import re

import numpy as np
import pytest
from policies import random_policy
from runs import small_config, train

from midrange_puffer import RADAR_FEATURES, Midrange, Simulation
from midrange_puffer.commands import cli
from midrange_puffer.config.reading import load_config
from midrange_puffer.config.settle import settle
from midrange_puffer.errors import UserError
from midrange_puffer.evaluate import evaluate
from midrange_puffer.game.parameters import blindness, resolve
from midrange_puffer.policies import model_file
from midrange_puffer.policies.loading import load_policy
from midrange_puffer.replays.replay import Replay
from midrange_puffer.train.machine import this_machine

SHORT = {"time_limit": 20, "start_range_min": 10_000, "start_range_max": 20_000}
SENSES = {"sensing": "radar"} | SHORT


def save(path, sensing: str):
    """Writes a model file with random weights, for either game."""
    observation = "radar" if sensing == "radar" else "default"
    words = ["--policy.hidden-size=16", f"--env.sensing={sensing}"]
    config = load_config(None, [*words, f"--env.observation={observation}"])
    policy = random_policy(observation=observation)
    model_file.save_model(path, config, policy.state_dict(), 0)
    return path


@pytest.fixture
def files(tmp_path):
    return {sensing: save(tmp_path / f"{sensing}.pt", sensing) for sensing in ("full", "radar")}


def test_the_observation_of_a_game_with_sensors_is_radar_whatever_is_asked_for():
    for observation in ("default", "radar"):
        env = Midrange(4, observation=observation, **SENSES)
        assert env.single_observation_space.shape == (len(RADAR_FEATURES),)
    for sensing, observation in (("radar", "stg"), ("full", "radar")):
        expected = re.escape(f"observation = {observation!r}: must be default or ")
        with pytest.raises(ValueError, match=f"{expected}.* with sensing = {sensing}"):
            Midrange(4, observation=observation, sensing=sensing)
        with pytest.raises(ValueError, match=expected):
            Simulation(4, observation=observation, sensing=sensing)


def test_a_run_with_sensors_trains_and_its_policy_flies_everywhere(tmp_path):
    """It is trained, evaluated with replays, exported, and flown as an opponent."""
    words = ("--env.sensing", "radar", "--env.opponent", "self:2,ace:1,pool:1")
    assert train(tmp_path, *words) == 0
    run = tmp_path / "run"
    assert "observation = radar" in (run / "config.ini").read_text()
    model, exported = str(max(run.glob("model_*.pt"))), str(tmp_path / "fighter.onnx")
    policy, entries = load_policy(model)
    assert policy.features == len(RADAR_FEATURES)
    assert entries["env"]["sensing"] == "radar"
    folder = tmp_path / "replays"
    fight = ["--opponent", "ace", "--episodes", "20", "--save-replays", "2"]
    named = ["--load-model-path", model]
    assert cli.run("eval", [*named, *fight, "--replay-dir", str(folder)]) == 0
    replays = [Replay.read(path) for path in folder.rglob("*.replay")]
    assert len(replays) > 2
    for replay in replays:
        assert replay.parameters["sensing"] == "radar"
        replay.verify()
    assert cli.run("export", [*named, "--onnx", exported]) == 0
    report = evaluate(exported, model, 20, 0, **resolve(SENSES))
    assert report["win"] + report["draw"] + report["loss"] == pytest.approx(1)
    env = Midrange(4, opponent=exported, **SENSES)
    env.reset()
    for _ in range(5):
        env.step(np.zeros((4, 3), np.int32))


@pytest.mark.parametrize("sensing", ["full", "radar"])
def test_a_policy_of_one_sensing_is_refused_in_the_other_game(files, sensing):
    other = {"full": "radar", "radar": "full"}[sensing]
    expected = f"is of sensing = {other}: it cannot fly where sensing = {sensing}"
    game = {"sensing": sensing} | SHORT
    with pytest.raises(UserError, match=expected):
        Midrange(4, opponent=str(files[other]), **game)
    for pair in ((files[other], "ace"), (files[sensing], files[other])):
        with pytest.raises(UserError, match=expected):
            evaluate(*pair, 4, 0, **resolve(game))
    evaluate(files[sensing], files[sensing], 4, 0, **resolve(game))


def test_a_pilot_that_flies_by_sensors_is_refused_without_them(files):
    words = ["--opponent=notcher", "--episodes=2", "--env.time-limit=5"]
    assert cli.run("eval", ["--load-model-path", str(files["radar"]), *words]) == 0
    with pytest.raises(UserError, match="pilot notcher: needs sensing = radar"):
        cli.run("eval", ["--load-model-path", str(files["full"]), *words])


def test_a_mix_of_both_sensings_is_refused_in_both_games(files):
    for sensing in ("full", "radar"):
        mix = ",".join(f"{path}:1" for path in files.values())
        with pytest.raises(UserError, match=r"sensing = (radar|full)"):
            evaluate(files[sensing], mix, 4, 0, **resolve({"sensing": sensing} | SHORT))


@pytest.mark.parametrize(
    ("wrong", "reason"),
    [
        ({"radar_notch_speed": 600}, "radar_notch_speed = 600: no fighter is faster than 490 m/s"),
        ({"radar_acquire_time": 20}, "radar_acquire_time = 20: an engagement ends after"),
    ],
)
def test_sensors_that_can_have_no_track_are_said_aloud(files, wrong, reason, capsys, tmp_path):
    """In the core, no fighter has a track with these parameters."""
    sim = Simulation(32, red="ace", blue="shooter", **SENSES, **wrong)
    for _ in range(40):
        sim.step()
        assert not sim.contacts["source"][sim.outcome == 0].any()
    words = [
        f"--env.{name.replace('_', '-')}={value}" for name, value in {**SENSES, **wrong}.items()
    ]
    named = ["--load-model-path", str(files["radar"]), "--opponent", "ace", "--episodes", "2"]
    assert cli.run("eval", [*named, *words]) == 0
    assert reason in capsys.readouterr().err
    settle(load_config(str(small_config(tmp_path)), words), this_machine())
    assert reason in capsys.readouterr().out
    assert blindness(resolve(SENSES)) is None
    assert blindness(resolve(wrong)) is None  # without sensors


def test_a_run_refuses_a_misspelt_sensing_and_an_observation_that_does_not_go_with_it(tmp_path):
    config = str(small_config(tmp_path))
    for words, expected in (
        (["--env.sensing", "rader"], "sensing.*must be one of full, radar"),
        (["--env.sensing", "radar", "--env.observation", "stg"], "default or radar"),
        (["--env.observation", "radar"], "default or stg"),
        (["--env.opponent", "ace:1,notcher:2"], "notcher: needs env.sensing = radar"),
    ):
        with pytest.raises(UserError, match=expected):
            settle(load_config(config, words), this_machine())
