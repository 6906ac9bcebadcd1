"""Replays that training keeps on its way, and what it does without."""

import errno
import os
import re
import shutil

import pytest
import runs
import torch
from machines import machine
from policies import Constant
from quick_fights import SHORT

from midrange_puffer.config.reading import load_config
from midrange_puffer.config.settle import settle
from midrange_puffer.game.parameters import PILOTS
from midrange_puffer.policies import model_file
from midrange_puffer.replays.recorder import FightRecorder
from midrange_puffer.replays.replay import Replay
from midrange_puffer.train.raters import TrainingReplays


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """A small run against two pilots, with replays at every third of its 8 updates."""
    folder = tmp_path_factory.mktemp("trained")
    words = ["--train.replay-interval=3", "--env.opponent=evader:1,shooter:2"]
    assert runs.train(folder, *words, "--train.checkpoint-interval=1") == 0
    return folder / "run"


def test_training_keeps_replays_on_its_schedule(run):
    """Against the pilots of the run, from one start, so that one sees what has changed."""
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
    """Nor an old replay that could be removed."""
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
    assert re.fullmatch(f"not all replays of model_000005 are kept: .*{reason}", line)


@pytest.mark.parametrize(
    ("opponent", "stages", "met"),
    [
        ("self:1,crank:1", {}, {"crank"}),
        ("self", {}, set(PILOTS)),
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
    config = load_config(runs.small_config(tmp_path), [f"--train.total-timesteps={steps}"])
    config = settle(config, machine())
    assert config["train"]["replay_interval"] == interval
