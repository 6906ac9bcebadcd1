"""The experience buffer: its content, the draws from it, and learning from them."""

import copy
import resource
from collections import Counter, deque
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import psutil
import pytest
import ray
import runs
import torch
from hypothesis import given
from hypothesis import strategies as st
from learners import (
    WHOLE,
    Reference,
    as_bytes,
    check_gradient,
    gathered,
    invent,
    small_trainer,
    watched_minibatches,
    watched_steps,
)

from midrange_puffer.config.configuration import ConfigError
from midrange_puffer.config.sections import ExperienceBufferConfig
from midrange_puffer.errors import UserError
from midrange_puffer.train.cluster import shared_buffer
from midrange_puffer.train.cluster.shared_buffer import BufferActor, SharedBuffer
from midrange_puffer.train.experience import ExperienceBuffer, draw_without_replacement
from midrange_puffer.train.trainer import StageTrainer

CPU = torch.device("cpu")


def settings(capacity: int = 8, **others: float) -> ExperienceBufferConfig:
    return ExperienceBufferConfig(capacity=capacity, **others)


@given(st.integers(1, 12), st.lists(st.integers(1, 12), max_size=8))
def test_the_latest_are_kept(capacity, counts):
    replay, rows = ExperienceBuffer(settings(capacity), CPU), [None] * capacity
    latest, number = deque(maxlen=capacity), 0
    for count in (count for count in counts if count <= capacity):
        for row in replay.add(torch.ones(count)):
            rows[row] = number
            latest.append(number)
            number += 1
        assert replay.size == len(latest)
        assert sorted(rows[: replay.size]) == [*latest]


def test_each_is_drawn_apart_as_often_as_two_draws_in_turn_would():
    """The second draw is among the rows left by the first, by their chances."""
    chances = torch.tensor([0.1, 0.2, 0.0, 0.3, 0.4])
    torch.manual_seed(0)
    rows = torch.stack([draw_without_replacement(chances, 2) for _ in range(40_000)])
    assert (rows[:, 0] != rows[:, 1]).all()
    p = chances.double()
    second = p[:, None] * p / (1 - p[:, None])
    pairs = torch.zeros(5, 5).index_put((rows[:, 0], rows[:, 1]), torch.ones(()), accumulate=True)
    expected = second.fill_diagonal_(0)
    np.testing.assert_allclose(pairs / len(rows), expected, rtol=0, atol=0.006)
    assert not pairs[expected == 0].any()


def test_many_are_drawn_apart_as_often_as_by_torch():
    """Each frequency agrees within six standard errors of the difference."""
    torch.manual_seed(1)
    chances = torch.rand(512) ** 4 + 1e-3
    chances /= chances.sum()
    counts, turns = torch.zeros(2, 512), 4000
    for count, draw in zip(counts, (draw_without_replacement, torch.multinomial), strict=True):
        for _ in range(turns):
            count[draw(chances, 64)] += 1
    ours, theirs = counts / turns
    error = ((ours + theirs) / turns).sqrt()
    assert ((ours - theirs).abs() <= 6 * error).all()
    assert theirs.max() > 20 * theirs.min()


def test_they_are_drawn_by_priority_and_weighted_against_it():
    """With beta at 1 the weighted mean of what is drawn is the mean of all.

    Also where a minibatch takes nearly as many as there are.
    """
    torch.manual_seed(0)
    replay = ExperienceBuffer(settings(alpha=0.5, beta0=0.3), CPU)
    replay.add(torch.zeros(5))
    replay.prioritise(torch.arange(5), torch.tensor([1.0, 4, 9, 16, 0]))
    rows, weights = replay.draw(10_000, 4, progress=1)
    assert rows.shape == weights.shape == (10_000, 4)
    chances = torch.bincount(rows.flatten(), minlength=5) / rows.numel()
    np.testing.assert_allclose(chances, [0.1, 0.2, 0.3, 0.4, 0], atol=0.01)
    told = torch.tensor([5.0, -3, 2, 7, 0])  # nothing of the one that is never drawn
    assert float((weights * told[rows]).mean()) == pytest.approx(float(told.mean()), abs=0.05)
    rows, early = replay.draw(10, 1, progress=0)
    np.testing.assert_allclose(early, (5 * chances[rows]) ** -0.3, rtol=0.05)


REPLAY = ("--experience-buffer.capacity=150", "--experience-buffer.warm-up=128")


def test_a_part_of_every_minibatch_is_of_earlier_updates(tmp_path):
    """From the third update on, 4 of 16 segments are among the latest 150 before it."""
    kept, rows = deque(maxlen=150), []
    with small_trainer(tmp_path, *REPLAY, "--train.minibatch-size=256") as trainer:
        trainer.logger.add(SimpleNamespace(log=lambda row, step: rows.append(row)))
        minibatches = watched_minibatches(trainer)
        steps = watched_steps(trainer)
        for update in range(4):
            trainer.evaluate()
            fresh = as_bytes(trainer.observations)
            trainer.train()
            assert rows[-1]["experience_buffer/size"] == min(64 * (update + 1), 150)
            assert ("losses/older_ratio" in rows[-1]) == (update >= 2)
            for segments in minibatches:
                places = ((one in fresh, one in kept) for one in segments)
                parts = {(True, False): 12, (False, True): 4}
                assert Counter(places) == (parts if update >= 2 else {(True, False): 16})
            assert len(minibatches) == 4
            minibatches.clear()
            kept.extend(fresh)
    assert len(steps) == 16


@pytest.mark.parametrize("rnn", ["None", "Recurrent"])
def test_replayed_experience_is_weighted_and_corrected(tmp_path, rnn):
    """Compares the gradients of batches that are half fresh and half replayed."""
    options = [f"--base.rnn-name={rnn}", "--experience-buffer.capacity=128"]
    options += ["--experience-buffer.share=0.5", "--experience-buffer.alpha=0.9"]
    batches = []
    with small_trainer(tmp_path, *WHOLE, *options, "--train.learning-rate=0.3") as trainer:
        steps, minibatches = watched_steps(trainer), watched_minibatches(trainer)
        for update in range(3):
            trainer.evaluate()
            invent(trainer, seed=update, staleness=0)
            batches.append(gathered(trainer))
            trainer.train()
    config = trainer.run.config
    every = {name: torch.cat([batch[name] for batch in batches]) for name in batches[0]}
    numbers = {one: n for n, one in enumerate(as_bytes(every["observations"]))}
    priorities = torch.zeros(192, dtype=torch.float64)
    for update, ((policy, gradient), seen) in enumerate(zip(steps, minibatches, strict=True)):
        rows, before = torch.tensor([numbers[one] for one in seen]), 64 * update
        older = rows < before
        assert int(older.sum()) == (32 if update else 0)
        drawn = Reference(policy, {name: one[rows] for name, one in every.items()}, config)
        chances = priorities[rows] ** 0.9 / (priorities[:before] ** 0.9).sum()
        beta = 0.4 + 0.6 * (update + 1) / 8  # as far as the run has come
        weights = torch.where(older, (before * chances) ** -beta, 1.0)
        check_gradient(gradient, drawn.gradient(policy, policy, weights[:, None]))
        priorities[rows] = drawn.advantages(policy).abs().sum(1)
        fresh = Reference(policy, batches[update], config)
        priorities[before : before + 64] = fresh.advantages(policy).abs().sum(1)


def test_a_resumed_run_begins_without(tmp_path):
    assert runs.train(tmp_path, *REPLAY) == 0
    assert runs.resume(tmp_path / "run", "--train.total-timesteps=11264") == 0
    sizes = [row["experience_buffer/size"] for row in runs.rows(tmp_path / "run")]
    assert sizes == [64, 128] + 6 * [150] + [64, 128, 150]


def test_without_a_replay_there_are_puffers_buffers_and_no_others(tmp_path, monkeypatch):
    """No other buffer of this shape is ever allocated."""
    made = []
    zeros = torch.zeros
    monkeypatch.setattr(
        torch, "zeros", lambda *size, **of: made.append(zeros(*size, **of)) or made[-1]
    )
    with small_trainer(tmp_path) as trainer:
        shape = trainer.observations.shape
    assert sum(one.shape == shape for one in made) == 1


@pytest.mark.parametrize("engine", ["native", "torch"])
def test_a_buffer_on_disk_changes_nothing(tmp_path, engine):
    """Rows and weights are equal to the bit, and nothing of the file is left."""
    found = []
    for name in ("memory", "disk"):
        folder = tmp_path / name
        folder.mkdir()
        options = [*REPLAY, f"--train.engine={engine}"]
        options.append(f"--experience-buffer.on-disk={name == 'disk'}")
        assert runs.train(folder, *options) == 0
        weights = torch.load(folder / "run" / "model_000008.pt", weights_only=True)["weights"]
        names = sorted(path.name for path in (folder / "run").iterdir())
        found.append((names, runs.timeless(folder / "run"), weights))
    (names, rows, weights), (its_names, its_rows, its_weights) = found
    assert (names, rows) == (its_names, its_rows)
    assert all(torch.equal(weights[name], its_weights[name]) for name in weights)


class FakeRay:
    """Ray, as far as a shared buffer calls it: its actor is in this process. All is copied."""

    exceptions = ray.exceptions

    def remote(self, **_: object) -> Callable[[type], object]:
        return lambda kind: SimpleNamespace(
            options=lambda **_: SimpleNamespace(remote=lambda: FakeActor(kind()))
        )

    def get(self, result: object) -> object:
        return result

    def kill(self, actor: object) -> None:
        """Does nothing."""


class FakeActor:
    """An actor whose methods are called at once."""

    def __init__(self, actor: object) -> None:
        self._actor = actor

    def __getattr__(self, name: str) -> SimpleNamespace:
        def call(*given: object) -> object:
            if name == "begin":  # without its seed it draws what the learner would draw
                with torch.random.fork_rng():
                    return self._actor.begin(*given)
            return copy.deepcopy(getattr(self._actor, name)(*copy.deepcopy(given)))

        return SimpleNamespace(remote=call)


def on_the_cluster(trainer: StageTrainer) -> Callable[[int], SharedBuffer]:
    """Makes a shared buffer of a trainer without a cluster."""
    settings = trainer.run.config.experience_buffer
    return lambda first: SharedBuffer("", "", settings, first, seed=0, patience=0)


def test_a_buffer_on_the_cluster_keeps_segments_of_the_same_title_alone():
    """The draws are those of the seed."""
    actor, drawn = BufferActor(), []
    with torch.random.fork_rng():
        assert actor.begin("a", settings(capacity=8), seed=1) == 0
        actor.add({"values": np.arange(6.0)[:, None]}, np.ones(6, np.float32))
        for seed in (1, 1, 2):
            assert actor.begin("a", settings(capacity=8), seed) == 6
            rows, places, _, segments = actor.draw(8, 4, 0.5)
            assert np.array_equal(segments["values"][:, 0], rows)
            drawn.append(rows[places].tolist())
        assert drawn[0] == drawn[1] != drawn[2]
        assert actor.begin("b", settings(capacity=8), seed=1) == 0


@pytest.mark.parametrize("options", [(), runs.TEAM, ("--base.rnn-name=Recurrent",)])
def test_a_buffer_on_the_cluster_is_one_of_the_learner(tmp_path, monkeypatch, options):
    """Its segments travel, and are what they were, as are the draws."""
    monkeypatch.setattr(shared_buffer, "ray", FakeRay())
    monkeypatch.setattr(shared_buffer, "ray_losses", lambda: ())
    monkeypatch.setattr(torch, "set_num_threads", lambda count: None)
    found = []
    for name in ("own", "shared"):
        (tmp_path / name).mkdir()
        if name == "shared":
            monkeypatch.setattr(StageTrainer, "shared_buffer", on_the_cluster)
        with small_trainer(tmp_path / name, *REPLAY, *options) as trainer:
            rows = []
            for _ in range(4):
                trainer.evaluate()
                rows.append(trainer.train())
            found.append((rows, copy.deepcopy(trainer.uncompiled_policy)))
    (own, ours), (shared, theirs) = found
    assert own[-1]["experience_buffer/size"] == 150
    for row, its in zip(own, shared, strict=True):
        losses = {key: row[key] for key in row if key.startswith(("losses/", "experience"))}
        assert losses == pytest.approx({key: its[key] for key in losses}, rel=1e-4, abs=1e-6)
    assert "losses/older_ratio" in own[-1]
    for one, other in zip(ours.parameters(), theirs.parameters(), strict=True):
        torch.testing.assert_close(one, other, rtol=0, atol=1e-5)


def test_only_observations_are_on_disk_and_in_the_folder_given(tmp_path):
    with small_trainer(tmp_path, *REPLAY, "--experience-buffer.on-disk=True") as trainer:
        experience, folder = trainer.learner.experience, str(trainer.run.folder)
        maps = [line.split()[-2] for line in Path("/proc/self/maps").read_text().splitlines()
                if line.endswith("(deleted)") and folder in line]  # fmt: skip
        assert len(maps) == 1
        assert experience.observations.nbytes > experience.actions.nbytes
        experience.observations[:] = 3
        assert trainer.observations.mean() == 3


def test_a_disk_without_room_is_named(tmp_path):
    """10**7 segments of 1,024 decisions with 71 features are 2.6 TiB."""
    with pytest.raises(
        UserError, match=r"on_disk = True: the folder .*run has no room for [0-9.]+"
    ):
        runs.train(
            tmp_path, "--experience-buffer.capacity=10000000", "--experience-buffer.on-disk=True",
            "--train.bptt-horizon=1024", "--train.minibatch-size=65536",
            "--train.total-timesteps=65536",
        )  # fmt: skip


@pytest.fixture
def little_memory() -> Iterator[None]:
    """Limits this process to 2 GiB more than it has."""
    before = resource.getrlimit(resource.RLIMIT_AS)
    limit = psutil.Process().memory_info().vms + 2 * 2**30
    resource.setrlimit(resource.RLIMIT_AS, (limit, before[1]))
    yield
    resource.setrlimit(resource.RLIMIT_AS, before)


def test_a_replay_for_which_there_is_not_the_memory_is_refused(tmp_path, little_memory):
    """Each of a segment's 16 decisions has 71 features, 3 actions and 4 numbers."""
    size = 10**6 * 16 * 4 * (71 + 3 + 4) / 2**30
    message = rf"capacity = 1000000: its {size:.1f} GiB cannot be allocated: .*memory"
    with pytest.raises(UserError, match=message):
        runs.train(tmp_path, "--experience-buffer.capacity=1000000")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["capacity=63"], "capacity 63 must be 0 or at least the 64 segments"),
        (["capacity=100", "warm-up=101"], "warm_up 101 must be at most .*capacity 100"),
        (["capacity=100", "share=0.03"], r"share 0.03 must be at least 1/32 = 0.03125, one of"),
        (["share=0"], "share.* 0: must be a number from 0.001 to 0.9"),
    ],
)
def test_a_replay_that_cannot_work_is_refused(tmp_path, options, message):
    with pytest.raises(ConfigError, match=message):
        runs.train(tmp_path, *(f"--experience-buffer.{option}" for option in options))
    assert not (tmp_path / "run").exists()
