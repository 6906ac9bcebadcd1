"""The learner's pool: its members and their weights."""

import json
import math
import shutil
from dataclasses import replace
from pathlib import Path

import frozen
import numpy as np
import pytest
import runs
import torch
from runs import MIX, members

from midrange_puffer.config.sections import PoolConfig
from midrange_puffer.envs.pool_crew import LOOK_INTERVAL, PoolCrew
from midrange_puffer.game.observation import FEATURES
from midrange_puffer.policies.model_file import CheckpointError
from midrange_puffer.policies.pool_file import PoolError
from midrange_puffer.train.pool import Pool

MEMBER = {"name": "a", "path": "a.pt", "agent_steps": 0, "own": True}


def pool_of(folder: Path, count: int, **settings: object) -> Pool:
    """Returns a pool of `count` checkpoints, 1000 steps apart."""
    pool = Pool(folder, PoolConfig(**settings))
    for n in range(count):
        pool.add(frozen.save(folder / f"model_{n:06d}.pt", frozen.constant(2)), 1000 * n)
    return pool


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
    """One beats the learner, one draws, one loses; games of other policies are ignored."""
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
    pool = Pool(tmp_path, PoolConfig(size=size))
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
    assert list(members(run))[:2] == [str(path) for path in paths]
    assert set(PoolCrew(run / "pool.json", 200, seed=0).names()) == set(members(run))
    only = pool_of(run, 3, size=2, include=include, own=False)
    assert steps(only) == [77, 77]


def test_named_models_of_one_name_are_told_apart(tmp_path):
    paths = [tmp_path / parent / "run" / "model_000001.pt" for parent in "ab"]
    for rudder, path in enumerate(paths):
        path.parent.mkdir(parents=True)
        frozen.save(path, frozen.constant(rudder))
    include = ",".join(str(path) for path in paths)
    Pool(tmp_path, PoolConfig(include=include, own=False)).refresh()
    copies = [tmp_path / entry["path"] for entry in members(tmp_path).values()]
    assert [copy.read_bytes() for copy in copies] == [path.read_bytes() for path in paths]


def test_a_resumed_run_takes_its_pool_up_also_from_another_place(tmp_path, monkeypatch):
    """The named files are gone or changed."""
    here, there = tmp_path / "here", tmp_path / "there"
    here.mkdir()
    monkeypatch.chdir(tmp_path)
    settings = PoolConfig(include="other.pt, another")  # a name may end in anything
    for name in ("other.pt", "target.pt"):
        frozen.save(tmp_path / name, frozen.constant(1), 5)
    (tmp_path / "another").symlink_to("target.pt")
    pool = pool_of(here, 4, **settings)
    pool.observe({"model_000002": [1.0] * 30, "other.pt": [0.0] * 20})
    pool.refresh()
    assert all(entry["path"].endswith(".pt") for entry in members(here).values())
    shutil.move(here, there)
    (tmp_path / "another").unlink()
    monkeypatch.chdir(there)
    frozen.save(there / "other.pt", frozen.constant(3), 6)
    again = Pool(there, settings)
    again.refresh()
    assert again.members == pool.members
    opponents = PoolCrew(there / "pool.json", 200, seed=0)
    assert set(opponents.names()) == set(members(there))
    seen = np.zeros((200, len(FEATURES)), np.float32)
    assert set(opponents.act(seen)[:, 0]) == {-0.5, 0}
    assert [member.name for member in Pool(there, PoolConfig()).members] == [
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
    """It is empty until the next checkpoint; policies in present engagements fly on."""
    pool = pool_of(tmp_path, 1)
    pool.refresh()
    opponents = PoolCrew(pool.path, 4, seed=0)
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


def spoil(path: Path, without: str | None = None, **change: object) -> None:
    entries = {**torch.load(path, weights_only=True), **change}
    entries.pop(without, None)
    torch.save(entries, path)


@pytest.mark.parametrize(
    ("spoiled", "message"),
    [
        (lambda path: path.unlink(), "no such file"),
        (lambda path: path.write_text("[a]"), "damaged, or not a checkpoint"),
        (lambda path: path.write_bytes(b""), "damaged, or not a checkpoint"),
        (lambda path: path.write_bytes(path.read_bytes()[:1000]), "damaged, or not a checkpoint"),
        (lambda path: torch.save({"a": 1}, path), "not a midrange_puffer policy"),
        (lambda path: spoil(path, format="other"), "not a midrange_puffer policy"),
        (lambda path: spoil(path, version=99), "its version is 99, expected 1"),
        (lambda path: spoil(path, observation_version=99), "its observation_version is 99, expec"),
        (lambda path: spoil(path, action_nvec=[5, 3]), r"its action_nvec is \[5, 3\], expected"),
        (lambda path: spoil(path, without="weights"), "has no weights"),
        (lambda path: spoil(path, without="rnn"), "its rnn is missing"),
        (lambda path: spoil(path, without="rnn_name"), "its rnn_name is missing"),
        (lambda path: spoil(path, without="agent_steps"), "its agent_steps is missing"),
        (lambda path: spoil(path, weights=[1]), "has no weights"),
        (lambda path: spoil(path, weights={"a": 1}), "its weights do not fit its policy"),
        (lambda path: spoil(path, policy={"depth": 3}), "do not fit its policy: .*'depth'"),
        (lambda path: spoil(path, policy={"hidden_size": "8"}), "do not fit its policy"),
    ],
)
def test_a_named_model_that_cannot_be_used_is_refused(tmp_path, spoiled, message):
    """The message has the file, and there is no run folder."""
    good = frozen.save(tmp_path / "good.pt", frozen.constant(1))
    path = frozen.save(tmp_path / "bad.pt", frozen.constant(1))
    spoiled(path)
    with pytest.raises(CheckpointError, match=f"bad.pt: .*{message}"):
        runs.train(tmp_path, *MIX, "--pool.include", f"{good},{path}")
    assert not (tmp_path / "run").exists()


def test_named_models_must_be_different_and_have_room(tmp_path):
    path = frozen.save(tmp_path / "a.pt", frozen.constant(1))
    with pytest.raises(PoolError, match=r"pool.include = .*/a.pt is given twice"):
        Pool(tmp_path, PoolConfig(include=f"{path},{path}"))
    with pytest.raises(
        PoolError, match=r"pool.include = a.pt,: must be model files separated by commas"
    ):
        Pool(tmp_path, PoolConfig(include="a.pt,"))
    other = frozen.save(tmp_path / "b.pt", frozen.constant(1))
    settings = PoolConfig(include=f"{path},{other}", size=2)
    with pytest.raises(PoolError, match=r"pool.size = 2: no room for the 2 models of pool.include"):
        Pool(tmp_path, settings)
    assert len(Pool(tmp_path, replace(settings, own=False))) == 2


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"name": 5}, r"members\[1\].name = 5: must be a text"),
        ({"name": "model_000000"}, r"members\[0\].name = model_000000: must be the name of no oth"),
        ({"agent_steps": -1}, r"members\[1\].agent_steps = -1: must be an integer from 0"),
        ({"own": "yes"}, r"members\[1\].own = 'yes': must be true or false"),
        ({"weight": -0.1}, r"members\[1\].weight = -0.1: must be a number from 0"),
        ({"weight": math.nan}, "not JSON: NaN"),
        ({"games": 10**12}, r"members\[1\].games = 10+: must be an integer from 0 to 256"),
        ({"score": 2}, r"members\[1\].score = 2: must be a number from 0 to 1"),
        ({"path": "../model.pt"}, r"members\[1\].path = '../model.pt': must be a path within the"),
        ({"path": "/etc/passwd"}, r"members\[1\].path = '/etc/passwd': must be a path within the"),
        ({"more": 1}, r"members\[1\].more: no such entry; there are name, path"),
    ],
)
def test_a_damaged_pool_is_refused_with_what_is_wrong_in_it(tmp_path, change, message):
    pool = pool_of(tmp_path, 2)
    pool.refresh()
    content = json.loads(pool.path.read_text())
    content["members"][1] |= change
    pool.path.write_text(json.dumps(content))
    with pytest.raises(PoolError, match=f"pool.json: damaged: {message}"):
        Pool(tmp_path, PoolConfig())


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ({}, "format: is missing"),
        ({"format": "other", "members": []}, "format = 'other': must be one of midrange_puffer"),
        ({"format": "midrange_puffer pool", "members": [{}]}, r"members\[0\].name: is missing"),
        ({"format": "midrange_puffer pool", "members": [MEMBER] * 1025}, "members = .* to 1024"),
    ],
)
def test_a_file_that_is_no_pool_is_refused(tmp_path, content, message):
    (tmp_path / "pool.json").write_text(json.dumps(content))
    with pytest.raises(PoolError, match=f"pool.json: damaged: {message}"):
        Pool(tmp_path, PoolConfig())


def test_a_named_model_that_could_not_be_copied_into_the_run_is_refused(tmp_path):
    path = frozen.save(tmp_path / "a\\b.pt", frozen.constant(1))
    with pytest.raises(PoolError, match=r"pool.include = .*: its copy would be 'pool/a.*within"):
        Pool(tmp_path, PoolConfig(include=str(path)))
