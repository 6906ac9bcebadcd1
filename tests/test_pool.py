"""The pool as the learner keeps it: who is in it, how often each is met, and what a run does."""

import json
import math
import shutil
from contextlib import closing
from pathlib import Path

import frozen
import numpy as np
import pytest
import runs
import torch
from test_selfplay import Spy

from midrange_puffer.checkpoint import CheckpointError
from midrange_puffer.config import load_config
from midrange_puffer.observation import FEATURES
from midrange_puffer.opponents import LOOK_INTERVAL, Opponents
from midrange_puffer.pool import Pool, PoolError
from midrange_puffer.trainer import Trainer
from midrange_puffer.vectorize import VecEnv, make_env

SETTINGS = {"size": 8, "sampling": "pfsp", "power": 2.0, "include": None, "own": True}
MIX = ("--env.opponent", "self:2,pool:1,straight:1")


def pool_of(folder: Path, count: int, **settings: object) -> Pool:
    """A pool that `count` checkpoints have joined, 1000 steps apart."""
    pool = Pool(folder, SETTINGS | settings)
    for n in range(count):
        pool.add(frozen.save(folder / f"model_{n:06d}.pt", frozen.constant(2)), 1000 * n)
    return pool


def members(folder: Path) -> dict[str, dict[str, object]]:
    """The entries of the pool's file by name."""
    entries = json.loads((folder / "pool.json").read_text())
    return {entry["name"]: entry for entry in entries["members"]}


def steps(pool: Pool) -> list[int]:
    return [member.agent_steps for member in pool.members]


# Who is met how often


@pytest.mark.parametrize(
    ("settings", "scores", "expected"),
    [
        # A tenth in equal parts, nine tenths by (1 - score) ** power.
        ({}, (0.0, 0.5, 1.0), (0.1 / 3 + 0.72, 0.1 / 3 + 0.18, 0.1 / 3)),
        ({"power": 1.0}, (0.0, 0.5, 1.0), (0.1 / 3 + 0.6, 0.1 / 3 + 0.3, 0.1 / 3)),
        ({"sampling": "uniform"}, (0.0, 0.5, 1.0), (1 / 3, 1 / 3, 1 / 3)),
        ({}, (1.0, 1.0, 1.0), (1 / 3, 1 / 3, 1 / 3)),
        ({}, (0.25, 0.25, 0.25), (1 / 3, 1 / 3, 1 / 3)),
    ],
)
def test_members_that_win_are_met_more_often_and_all_are_met(tmp_path, settings, scores, expected):
    pool = pool_of(tmp_path, 3, **settings)
    for member, score in zip(pool.members, scores, strict=True):
        member.score = score
    pool.refresh()
    weights = [entry["weight"] for entry in members(tmp_path).values()]
    assert weights == pytest.approx(expected)
    assert math.fsum(weights) == pytest.approx(1)


def test_scores_of_the_learner_are_what_weights_go_by(tmp_path):
    """One beats the learner, one draws, one loses; some games of another pool are ignored."""
    pool = pool_of(tmp_path, 3)
    for _ in range(50):
        pool.observe(
            {
                "model_000000": [0.0] * 10,
                "model_000001": [0.5] * 7,
                "model_000002": [1.0, 1.0],
                "model_000009": [0.0],
            }
        )
    pool.refresh()
    first, second, third = members(tmp_path).values()
    assert first["score"] < 0.02
    assert second["score"] == 0.5
    assert third["score"] > 0.95
    assert first["weight"] > 0.7 > second["weight"] > 0.15 > third["weight"] > 0.03
    metrics = pool.metrics()
    assert metrics["pool/size"] == 3
    assert metrics["pool/hardest"] == first["score"]
    assert metrics["pool/score"] == pytest.approx(0.5, abs=0.02)


def test_a_score_forgets_what_is_long_ago_but_not_at_once(tmp_path):
    pool = pool_of(tmp_path, 1)
    (member,) = pool.members
    pool.observe({member.name: [0.0] * 10_000})
    assert member.score < 0.01
    pool.observe({member.name: [1.0] * 25})
    assert 0.05 < member.score < 0.15
    pool.observe({member.name: [1.0] * 2000})
    assert member.score > 0.85
    pool.observe({member.name: []})
    assert member.score < 1


def test_few_games_do_not_decide(tmp_path):
    pool = pool_of(tmp_path, 2)
    pool.observe({"model_000001": [1.0, 1.0]})
    pool.refresh()
    assert members(tmp_path)["model_000001"]["weight"] > 0.3


# Who is in it


@pytest.mark.parametrize("size", [4, 8])
def test_thinning_keeps_the_oldest_the_newest_and_a_spread(tmp_path, size):
    """No gap is above twice an even one.

    A gap is made by taking out who has the least sum of two neighbouring gaps. Among `size` gaps
    there are size - 1 such sums, together at most twice the whole span.
    """
    pool = Pool(tmp_path, SETTINGS | {"size": size})
    for n in range(100):
        pool.add(tmp_path / f"model_{n:06d}.pt", 1000 * n)
        kept = steps(pool)
        assert len(kept) == min(n + 1, size)
        assert kept == sorted(kept)
        assert (kept[0], kept[-1]) == (0, 1000 * n)
        if n >= size:
            assert max(np.diff(kept)) <= 2 * 1000 * n / (size - 1)


def test_a_pool_of_one_holds_the_newest(tmp_path):
    assert steps(pool_of(tmp_path, 4, size=1)) == [3000]


def test_a_checkpoint_joins_once(tmp_path):
    pool = pool_of(tmp_path, 2)
    pool.observe({"model_000001": [1.0] * 9})
    pool.add(tmp_path / "model_000001.pt", 1000)
    assert steps(pool) == [0, 1000]
    assert pool.members[1].games == 9


def test_named_models_stay_and_share_the_room(tmp_path):
    paths = [frozen.save(tmp_path / f"{name}.pt", frozen.constant(1), 77) for name in "ab"]
    run = tmp_path / "run"
    run.mkdir()
    include = f"{paths[0]}, {paths[1]}"
    pool = pool_of(run, 10, size=5, include=include)
    assert len(pool) == 5
    assert steps(pool)[:3] == [77, 77, 0]
    assert steps(pool)[-1] == 9000
    pool.refresh()
    folder = tmp_path.name
    assert list(members(run))[:2] == [f"{folder}/a", f"{folder}/b"]
    assert set(Opponents(run / "pool.json", 200, seed=0).names()) == set(members(run))
    only = pool_of(run, 3, size=2, include=include, own=False)
    assert steps(only) == [77, 77]


def test_a_resumed_run_takes_its_pool_up_also_from_another_place(tmp_path):
    here, there = tmp_path / "here", tmp_path / "there"
    here.mkdir()
    other = frozen.save(tmp_path / "other.pt", frozen.constant(1), 5)
    pool = pool_of(here, 4, include=str(other))
    pool.observe({"model_000002": [1.0] * 30, f"{tmp_path.name}/other": [0.0] * 20})
    pool.refresh()
    shutil.move(here, there)
    again = Pool(there, SETTINGS | {"include": str(other)})
    again.refresh()
    assert again.members == pool.members
    assert set(Opponents(there / "pool.json", 200, seed=0).names()) == set(members(there))
    assert [member.name for member in Pool(there, SETTINGS).members] == [
        f"model_{n:06d}" for n in range(4)
    ]


def test_a_vanished_file_is_dropped_with_a_warning(tmp_path, capfd):
    pool = pool_of(tmp_path, 3)
    pool.refresh()
    (tmp_path / "model_000001.pt").unlink()
    pool.refresh()
    pool.refresh()
    (line,) = capfd.readouterr().err.splitlines()
    assert line.startswith(f"warning: pool: {tmp_path / 'model_000001.pt'} has vanished")
    assert list(members(tmp_path)) == ["model_000000", "model_000002"]
    assert [entry["weight"] for entry in members(tmp_path).values()] == [0.5, 0.5]


def test_a_pool_may_lose_every_file(tmp_path):
    """It is empty until the next checkpoint joins; who flies in an environment flies on."""
    pool = pool_of(tmp_path, 1)
    pool.refresh()
    opponents = Opponents(pool.path, 4, seed=0)
    (tmp_path / "model_000000.pt").unlink()
    pool.refresh()
    assert members(tmp_path) == {}
    assert pool.metrics() == {"pool/size": 0}
    for _ in range(LOOK_INTERVAL):
        opponents.act(np.zeros((4, len(FEATURES)), np.float32))
    assert opponents.names() == ["model_000000"] * 4


def test_the_file_is_written_only_where_something_changed(tmp_path):
    pool = pool_of(tmp_path, 2)
    pool.refresh()
    before = pool.path.stat()
    pool.refresh()
    assert pool.path.stat() == before
    pool.observe({"model_000000": [1.0]})
    pool.refresh()
    assert pool.path.stat() != before


# Bad input


def spoil(path: Path, **change: object) -> None:
    torch.save({**torch.load(path, weights_only=True), **change}, path)


@pytest.mark.parametrize(
    ("spoiled", "message"),
    [
        (lambda path: path.unlink(), "no such file"),
        (lambda path: path.write_text("[a]"), "damaged, or not a checkpoint"),
        (lambda path: path.write_bytes(path.read_bytes()[:1000]), "damaged, or not a checkpoint"),
        (lambda path: torch.save({"a": 1}, path), "not a midrange_puffer policy"),
        (lambda path: spoil(path, observation_version=99), "its observation_version is 99, expec"),
        (lambda path: spoil(path, action_nvec=[5, 3]), r"its action_nvec is \[5, 3\], expected"),
    ],
)
def test_a_named_model_that_cannot_be_used_is_refused(tmp_path, spoiled, message):
    """Before there is a run folder, by its name."""
    good = frozen.save(tmp_path / "good.pt", frozen.constant(1))
    path = frozen.save(tmp_path / "bad.pt", frozen.constant(1))
    spoiled(path)
    with pytest.raises(CheckpointError, match=f"bad.pt: .*{message}"):
        runs.train(tmp_path, *MIX, "--pool.include", f"{good},{path}")
    assert not (tmp_path / "run").exists()


def test_named_models_must_be_different_and_have_room(tmp_path):
    path = frozen.save(tmp_path / "a.pt", frozen.constant(1))
    with pytest.raises(PoolError, match=r"pool.include = .*/a stands there twice"):
        Pool(tmp_path, SETTINGS | {"include": f"{path},{path}"})
    other = frozen.save(tmp_path / "b.pt", frozen.constant(1))
    settings = SETTINGS | {"include": f"{path},{other}", "size": 2}
    with pytest.raises(PoolError, match=r"pool.size = 2: no room for the 2 models of pool.include"):
        Pool(tmp_path, settings)
    assert len(Pool(tmp_path, settings | {"own": False})) == 2


def test_a_damaged_pool_is_refused(tmp_path):
    (tmp_path / "pool.json").write_text('{"format": "midrange_puffer pool", "members": [{}]}')
    with pytest.raises(PoolError, match=r"pool.json: damaged, or not a midrange_puffer pool"):
        Pool(tmp_path, SETTINGS)


# Runs


@pytest.fixture(scope="module")
def finished(tmp_path_factory) -> Path:
    """The folder of a small run against itself, its past, and a pilot."""
    folder = tmp_path_factory.mktemp("finished")
    assert runs.train(folder, *MIX, "--train.checkpoint-interval", "2") == 0
    return folder / "run"


def test_a_run_counts_the_steps_of_agents_only(finished):
    """32 engagements with two, 16 + 16 with one, 16 decisions an update."""
    rows = runs.rows(finished)
    assert [row["agent_steps"] for row in rows] == [96 * 16 * n for n in range(1, 7)]
    joined = set().union(*rows)
    assert {"environment/score_vs_pool", "environment/score_vs_straight"} < joined
    assert {"environment/draw_vs_self", "pool/size", "pool/score", "pool/hardest"} < joined
    assert not any("model_0" in name for name in joined)
    assert [row["pool/size"] for row in rows] == [1, 1, 2, 2, 3, 3]
    assert list(members(finished)) == [f"model_{n:06d}" for n in (0, 2, 4)]
    assert sum(entry["games"] for entry in members(finished).values()) > 0


def test_a_run_with_a_pool_repeats_itself(finished, tmp_path):
    assert runs.train(tmp_path, *MIX, "--train.checkpoint-interval", "2") == 0
    assert runs.timeless(tmp_path / "run") == runs.timeless(finished)
    assert members(tmp_path / "run") == members(finished)


def test_what_frozen_seats_see_and_do_is_not_learnt_from(tmp_path, monkeypatch):
    """The batch of an update is what the agents saw, did and got, and nothing else."""
    evaluate, seen = Trainer.evaluate, []

    def watched(self: Trainer) -> object:
        group = self.vecenv.driver_env._groups[-1]
        group.core = spy = Spy(group.core)
        stats = evaluate(self)
        seen.append((self, spy))
        assert self.global_step == len(seen) * 96 * 16
        assert self.observations.shape[:2] == (96, 16)
        for t in range(16):
            ours, theirs = spy.seen[t][:, 0], spy.seen[t][:, 1]
            assert np.array_equal(self.observations[80:, t], ours)
            assert np.array_equal(self.actions[80:, t], spy.done[t][:, 0])
            rows = {row.tobytes() for row in self.observations[:, t].numpy()}
            assert not rows & {row.tobytes() for row in theirs}
        group.core = spy._core
        return stats

    monkeypatch.setattr(Trainer, "evaluate", watched)
    assert runs.train(tmp_path, *MIX, "--train.total-timesteps", "4000") == 0
    assert len(seen) == 3


def test_a_run_goes_on_where_a_file_of_its_pool_vanishes(tmp_path, monkeypatch, capfd):
    learn = Trainer.train

    def lose_a_file(self: Trainer) -> object:
        if self.epoch == 3:
            (tmp_path / "run" / "model_000001.pt").unlink()
        return learn(self)

    monkeypatch.setattr(Trainer, "train", lose_a_file)
    assert runs.train(tmp_path, *MIX, "--train.checkpoint-interval", "1") == 0
    warnings = [line for line in capfd.readouterr().err.splitlines() if "warning" in line]
    assert len(warnings) == 1
    assert "model_000001.pt has vanished" in warnings[0]
    assert len(runs.rows(tmp_path / "run")) == 6
    assert list(members(tmp_path / "run")) == [f"model_{n:06d}" for n in (0, 2, 3, 4, 5)]


def test_workers_have_the_pool_too(tmp_path):
    """Frozen policies fly in the process of their environment."""
    path = frozen.write_pool(tmp_path, {"a": 1}, a=frozen.constant(2))
    words = ["--env.opponent", "pool", "--env.num-envs", "8", "--env.ammunition", "0"]
    config = load_config(None, words)
    config["vec"].update(backend="Multiprocessing", num_envs=1, num_workers=1, batch_size=1)
    infos = []
    with closing(VecEnv(make_env, config, path)) as vecenv:
        vecenv.async_reset(3)
        for _ in range(40):
            *_, info, _, _ = vecenv.recv()
            infos += info
            vecenv.send(np.zeros((8, 3), np.int32))
    (info,) = infos
    assert info["pool/a"] == [0.5] * 8 * 32
