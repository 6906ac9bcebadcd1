"""How the settings of a run on a cluster are settled, and what is refused."""

import contextlib
import io
import socket

import pytest
import runs
from machines import machine

from midrange_puffer.config.configuration import Config, ConfigError
from midrange_puffer.config.reading import load_config
from midrange_puffer.config.settle import settle
from midrange_puffer.train.cluster import collectors, learner


@pytest.fixture
def settled(tmp_path):
    """A function that settles a small run on a cluster, on a machine with so many cores."""

    def make(*options: str, cores: int = 4, launched: bool = False) -> Config:
        words = ["--cluster.engine=ray", "--vec.backend=auto", "--train.device=cpu", *options]
        here = machine(cores, is_launched=launched)
        return settle(load_config(runs.small_config(tmp_path), words), here)

    return make


@pytest.mark.parametrize(
    ("sync", "address", "cores", "collectors", "threads"),
    [
        ("blocking", None, 4, 4, 4),
        ("non_blocking", None, 4, 3, 1),
        ("blocking", None, 1, 1, 1),
        ("non_blocking", None, 1, 1, 1),
        ("non_blocking", "auto", 8, 7, 8),
    ],
)
@pytest.mark.parametrize("engine", ["native", "torch"])
def test_collectors_and_the_learner_share_the_cores(
    settled, monkeypatch, sync, address, cores, collectors, threads, engine
):
    monkeypatch.setenv("RAY_ADDRESS", "head:6379")
    monkeypatch.setattr(socket, "create_connection", lambda *_, **__: io.BytesIO())
    words = (f"--cluster.sync={sync}", f"--cluster.address={address}", f"--train.engine={engine}")
    config = settled(*words, cores=cores)
    assert config.cluster.max_collectors == collectors
    train = config.train
    found = train.threads, train.torch_threads
    assert found == ((threads, 1) if engine == "native" else (1, threads))


@pytest.mark.parametrize(("most", "count"), [(1, 1), (2, 2), (3, 2), (7, 4), (64, 64), (100, 64)])
def test_the_problem_and_the_update_do_not_depend_on_the_collectors(settled, most, count):
    config = settled(f"--cluster.max-collectors={most}")
    vec, env = config.vec, config.env
    assert vec.num_envs == count
    assert vec.num_envs * env.num_envs == 64
    assert config.train.batch_size == 64 * 16


def test_rollouts_can_be_more_than_collectors(settled):
    config = settled("--cluster.max-collectors=2", "--vec.num-envs=8")
    assert config.env.num_envs == 64
    assert config.train.batch_size == 8 * 64 * 16


def test_groups_of_opponents_are_not_torn_apart(settled):
    words = ("--env.opponent=self:1,straight:1,weave:2", "--train.minibatch-size=256")
    config = settled(*words, "--cluster.max-collectors=64")
    assert config.vec.num_envs == 16  # one against itself and three in each


def test_a_settled_configuration_can_be_settled_again(settled, tmp_path):
    config = settled()
    assert settle(config, machine(4)) == config


def test_without_an_engine_nothing_of_this_is_looked_at(settled):
    words = ("--cluster.engine=None", "--cluster.weight-sync-interval=9", "--vec.backend=Serial")
    assert settled(*words).cluster.max_collectors == "auto"


@pytest.fixture
def asked(settled, monkeypatch):
    """A function that returns what is asked of Ray for a run: address, cores, bytes of store."""

    def ask(*options: str, cores: int) -> tuple[str | None, int, int]:
        given = []
        monkeypatch.setattr(learner, "usable_cores", lambda: cores)
        monkeypatch.setattr(
            learner, "connected", lambda *found: given.append(found) or contextlib.nullcontext()
        )
        monkeypatch.setattr(collectors, "Collectors", lambda *_: io.BytesIO())
        with learner.collecting(settled(*options, cores=cores), bool):
            return given[0]

    return ask


@pytest.mark.parametrize(("most", "cores", "count"), [(4096, 4, 4), (2, 4, 2), (1, 4, 1)])
def test_a_cluster_of_ones_own_is_no_larger_than_the_machine(asked, most, cores, count):
    assert asked(f"--cluster.max-collectors={most}", cores=cores)[:2] == (None, count)


@pytest.mark.parametrize(
    ("options", "batches"),
    [
        (["--vec.num-envs=16"], 2),  # blocking: gathered and copied
        (["--vec.num-envs=16", "--cluster.sync=non_blocking"], 3),  # and one ahead
        (["--vec.num-envs=1", "--cluster.sync=non_blocking", "--cluster.max-policy-lag=9"], 11),
        (["--vec.num-envs=1", "--cluster.sync=non_blocking", "--cluster.max-policy-lag=99"], 18),
    ],
)
def test_all_that_is_gathered_ahead_fits_into_the_store(asked, options, batches):
    large = ("--env.num-envs=4096", "--train.total-timesteps=1e7", "--cluster.max-collectors=16")
    _, _, store = asked(*options, *large, cores=16)
    # A decision: 71 features, 3 actions of 8 bytes and 4 numbers more.
    batch = int(options[0].partition("=")[2]) * 4096 * 16 * (71 * 4 + 3 * 8 + 4 * 4)
    assert 0 < store - batches * batch < 2**27


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--vec.backend=Multiprocessing"], "vec.backend = Multiprocessing: .* use auto"),
        (["--cluster.weight-sync-interval=2"], "= 2: must be 1 where cluster.sync = blocking"),
        (
            ["--cluster.sync=non_blocking", "--cluster.weight-sync-interval=3"],
            "= 3: must be at most cluster.max_policy_lag = 2",
        ),
        (
            ["--env.num-envs=1", "--env.opponent=self:1,shooter:1"],
            "needs at least 2 engagements, one for each of self, pilots, not num_envs = 1",
        ),
    ],
)
def test_settings_that_do_not_fit_are_refused(settled, options, said):
    with pytest.raises(ValueError, match=said):
        settled(*options)


def test_ranks_have_no_collectors(settled):
    with pytest.raises(
        ConfigError, match=r"cluster.engine = ray: .* leave --ranks or torchrun out"
    ):
        settled(launched=True)
