"""A collector gathers the experience that a trainer would, with its policy and its game."""

import copy
import signal
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import frozen
import learners
import numpy as np
import pytest
import ray
import runs
import torch
from machines import machine
from ray.exceptions import RayTaskError

from midrange_puffer.config.configuration import Config
from midrange_puffer.config.reading import load_config
from midrange_puffer.config.settle import settle
from midrange_puffer.envs.midrange import Midrange
from midrange_puffer.policies.model_file import policy_spaces
from midrange_puffer.policies.networks import make_policy
from midrange_puffer.policies.pool_file import PoolError, read_members
from midrange_puffer.train.central import with_critic
from midrange_puffer.train.cluster.collector import (
    VERSIONS,
    Collector,
    PoolFiles,
    PoolMirror,
    PoolSender,
    RayActors,
    RemoteCollector,
    Rollout,
)
from midrange_puffer.train.cluster.connect import ClusterError
from midrange_puffer.train.experience import GATHERED
from midrange_puffer.train.trainer_state import seed_everything

SEED = 5
KINDS = {
    "discrete": (),
    "lstm": ("--base.rnn-name=Recurrent",),
    "continuous": ("--env.action-mode=continuous",),
    "critic": ("--env.sensing=radar", "--train.critic=truth"),
}


@pytest.fixture(params=KINDS)
def options(request) -> tuple[str, ...]:
    return KINDS[request.param]


def small_config(folder: Path, *options: str) -> Config:
    return settle(load_config(runs.small_config(folder), options), machine())


def policies(config: Config, count: int) -> list[torch.nn.Module]:
    """Returns different policies."""
    torch.manual_seed(0)
    spaces, rnn_name = policy_spaces(config["env"]), config["base"]["rnn_name"]
    parts = spaces, config["policy"], rnn_name, config["rnn"]
    return [with_critic(make_policy(*parts), config) for _ in range(count)]


def collect(config: Config, seed: int, of: list[torch.nn.Module]) -> Iterator[Rollout]:
    """Yields a rollout of each policy."""
    with closing(Collector(config, seed)) as collector:
        for policy in of:
            yield copy.deepcopy(collector.collect(policy.state_dict()))


def test_it_gathers_what_a_trainer_does(tmp_path, options):
    with learners.small_trainer(tmp_path, *options) as trainer:
        seed, config = trainer.config["seed"], trainer.run.config
        of = policies(config, 3)
        rollouts = list(collect(config, seed, of))
        seed_everything(seed)
        for policy, rollout in zip(of, rollouts, strict=True):
            trainer.policy.load_state_dict(policy.state_dict())
            trainer.engine.load()
            assert rollout.stats == trainer.evaluate()
            trainer.stats.clear()
            for name in GATHERED:
                gathered = getattr(trainer, name).numpy()
                np.testing.assert_array_equal(rollout.buffers[name], gathered, name)
    assert any(rollout.stats.get("score") for rollout in rollouts)


def test_probabilities_and_values_are_those_of_the_weights_that_were_sent(tmp_path, options):
    config = small_config(tmp_path, *options)
    of = policies(config, 2)
    for policy, rollout in zip(of, collect(config, SEED, of), strict=True):
        buffers = {name: torch.from_numpy(rollout.buffers[name]) for name in GATHERED}
        learners.check_gathered(policy, buffers)
    assert buffers["terminals"][:, 1:].any()  # of which a memory ends with the engagement


def test_segments_follow_each_other_and_are_of_the_game(tmp_path):
    """The actions, flown once more, give the same observations, rewards and ends.

    Rewards are beyond 1, too, where PuffeRL would clamp them: a long decision of much pressure.
    """
    long = ("--env.opponent=crank", "--env.substeps=50", "--env.reward-pressure=0.1")
    config = small_config(tmp_path, *long, "--env.time-limit=100")
    env = Midrange(**config["env"])
    observations, _ = env.reset(SEED)
    rewards, ends = np.zeros(env.num_agents), np.zeros(env.num_agents, bool)
    for rollout in collect(config, SEED, policies(config, 3)):
        buffers = rollout.buffers
        for step in range(config["train"]["bptt_horizon"]):
            np.testing.assert_array_equal(buffers["observations"][:, step], observations)
            np.testing.assert_array_equal(buffers["rewards"][:, step], rewards)
            np.testing.assert_array_equal(buffers["terminals"][:, step], ends)
            actions = buffers["actions"][:, step].astype(np.int32)
            observations, rewards, terminals, truncations, _ = env.step(actions)
            ends = terminals | truncations
    assert ends.any() or buffers["terminals"].any()
    assert np.abs(buffers["rewards"]).max() > 1


def test_settings_of_a_learner_on_a_gpu_have_no_effect(tmp_path):
    config = small_config(tmp_path)
    of = policies(config, 1)
    (expected,) = collect(config, SEED, of)
    gpu = {"device": "cuda", "precision": "bfloat16", "compile": True}
    config = config.replaced("train", "test", **gpu, pin_memory=True, cpu_offload=True)
    (rollout,) = collect(config, SEED, of)
    for name in GATHERED:
        np.testing.assert_array_equal(rollout.buffers[name], expected.buffers[name], name)


def test_another_seed_gives_other_engagements_and_actions(tmp_path):
    config = small_config(tmp_path)
    of = policies(config, 1)
    ((one,), (same,), (other,)) = (list(collect(config, seed, of)) for seed in (5, 5, 6))
    for name in ("observations", "actions"):
        assert np.array_equal(one.buffers[name], same.buffers[name])
        assert not np.array_equal(one.buffers[name], other.buffers[name])


def test_a_machine_with_another_version_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(signal, "signal", lambda *_: None)  # Ctrl-C is this process's
    config, collector = small_config(tmp_path), RemoteCollector()
    collector.begin(VERSIONS, config, SEED, None)
    collector.close()
    for name in VERSIONS:
        with pytest.raises(ClusterError, match=f"of {name}, the learner's 99: install the same"):
            RemoteCollector().begin({**VERSIONS, name: "99"}, config, SEED, None)


@pytest.fixture
def raised(monkeypatch):
    """A function that returns the error that the learner gets if a collector raises one."""

    def hear(cause: Exception) -> Exception:
        def get(reference: str) -> None:
            raise RayTaskError("collect", "Traceback of it", cause).as_instanceof_cause()

        monkeypatch.setattr(ray, "get", get)
        with pytest.raises(type(cause)) as error:
            RayActors().get("a reference")
        return error.value

    return hear


def test_a_users_error_comes_as_it_was_raised_and_a_fault_with_its_traceback(raised):
    cause = ClusterError("has version 1")
    assert raised(cause) is cause
    assert isinstance(raised(KeyError("ours")), RayTaskError)


class Store(list):
    """A store that counts the values taken from it."""

    taken = 0

    def put(self, value: object) -> int:
        self.append(value)
        return len(self) - 1

    def get(self, reference: int) -> object:
        self.taken += 1
        return self[reference]


@pytest.fixture
def mirrored(tmp_path):
    """The learner's pool file, its sender, a mirror, and the store between them."""
    store = Store()
    path = frozen.write_pool(tmp_path, {"a": 1, "b": 1}, a=frozen.policy(1), b=frozen.policy(2))
    with closing(PoolMirror(store.get, tmp_path)) as mirror:
        yield path, PoolSender(path, store.put), mirror, store


def test_a_mirror_holds_the_pool_as_it_is_sent(mirrored):
    path, sender, mirror, _ = mirrored
    mirror.update(sender.files())
    assert mirror.path.parent != path.parent
    assert read_members(mirror.path) == read_members(path)
    for member in read_members(path):
        there, here = (one.parent / member.path for one in (path, mirror.path))
        assert there.read_bytes() == here.read_bytes()


def test_only_what_is_new_is_sent(mirrored, tmp_path):
    _, sender, mirror, store = mirrored
    mirror.update(sender.files())
    before = mirror.path.stat()
    mirror.update(sender.files())
    assert (len(store), store.taken) == (2, 2)
    assert mirror.path.stat() == before
    frozen.write_pool(tmp_path, {"b": 1, "c": 3}, b=frozen.policy(2), c=frozen.policy(3))
    mirror.update(sender.files())
    assert (len(store), store.taken) == (3, 3)
    assert [member.name for member in read_members(mirror.path)] == ["b", "c"]
    left = [path.name for path in mirror.path.parent.rglob("*.pt")]
    assert sorted(left) == sorted(Path(member.path).name for member in read_members(mirror.path))


def test_a_model_that_has_vanished_is_left_out(mirrored):
    path, sender, mirror, _ = mirrored
    (path.parent / read_members(path)[0].path).unlink()
    mirror.update(sender.files())
    assert len(list(mirror.path.parent.rglob("*.pt"))) == 1


@pytest.mark.parametrize("name", ["../out.pt", "{here}/out.pt", "a/../../out.pt", "a\\b"])
def test_a_mirror_writes_nowhere_else(mirrored, tmp_path, name):
    _, sender, mirror, store = mirrored
    models = {"good.pt": store.put(b"1"), name.format(here=tmp_path): store.put(b"2")}
    files = PoolFiles(sender.files().listing, models)
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(PoolError, match="must be a path within the folder"):
        mirror.update(files)
    assert sorted(tmp_path.rglob("*")) == before


def test_a_mirror_leaves_nothing(mirrored, tmp_path):
    _, sender, _, store = mirrored
    (tmp_path / "parent").mkdir()
    with closing(PoolMirror(store.get, tmp_path / "parent")) as mirror:
        mirror.update(sender.files())
        assert mirror.path.is_relative_to(tmp_path / "parent")
    assert not list((tmp_path / "parent").iterdir())
