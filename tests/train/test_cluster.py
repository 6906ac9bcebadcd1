"""Training with collectors on a Ray cluster of this machine."""

import contextlib
import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest
import ray
import ray_nodes
import runs
import strangers
import torch
from fake_actors import FakeActors
from needs import nightly

from midrange_puffer.config.configuration import ConfigError
from midrange_puffer.policies.loading import load_policy
from midrange_puffer.train import run_folder
from midrange_puffer.train.cluster import collector, learner, shared_buffer
from midrange_puffer.train.cluster.collector import RayActors
from midrange_puffer.train.cluster.collectors import Collectors
from midrange_puffer.train.cluster.connect import ClusterError, connected
from midrange_puffer.train.machine import usable_cores
from midrange_puffer.train.run_files import shared_buffer_name
from midrange_puffer.training import Trainer, load_config

pytestmark = pytest.mark.slow

RAY = ("--cluster.engine=ray", "--cluster.max-collectors=2", "--vec.backend=auto")


@pytest.fixture(scope="module")
def joined(cluster) -> Iterator[None]:
    """One connection for all runs of this module, which saves some seconds a run."""
    with connected(cluster.address, 2), pytest.MonkeyPatch.context() as patch:
        patch.setattr(learner, "connected", lambda *_: contextlib.nullcontext())
        yield


@pytest.fixture(scope="module")
def blocking(joined, tmp_path_factory) -> Path:
    """The folder of a run of four updates; tests must not change it."""
    folder = tmp_path_factory.mktemp("blocking")
    assert runs.train(folder, *RAY, "--train.total-timesteps=4096") == 0
    return folder / "run"


def weights(run: Path) -> dict[str, torch.Tensor]:
    policy, _ = load_policy(run / run_folder.load_state(run)["model"])
    return policy.state_dict()


def mirrors(folder: Path) -> list[Path]:
    """Returns the folders of collectors' pools in a cluster's folder."""
    return list(folder.glob("**/midrange-pool-*"))


def test_the_tests_cluster_leaves_that_of_the_user_alone(cluster):
    """Ray notes the latest cluster in the cluster's own folder, not in the shared one."""
    note = Path(cluster.head_node.temp_dir) / "ray_current_cluster"
    assert note.read_text() == cluster.address


def test_a_blocking_run_repeats_itself(tmp_path, joined, blocking):
    assert runs.train(tmp_path, *RAY, "--train.total-timesteps=4096") == 0
    one, same = (runs.timeless(run) for run in (blocking, tmp_path / "run"))
    assert len(one) == 4
    assert one == same
    for name, value in weights(blocking).items():
        assert torch.equal(weights(tmp_path / "run")[name], value), name


def test_a_run_goes_on_where_it_was_stopped(tmp_path, joined, blocking):
    run = shutil.copytree(blocking, tmp_path / "run")
    assert runs.resume(run, "--train.total-timesteps=8192") == 0
    rows = runs.rows(run)
    assert rows[:4] == runs.rows(blocking)
    assert [row["agent_steps"] for row in rows] == list(range(1024, 8193, 1024))
    assert [row["epoch"] for row in rows] == list(range(1, 9))


def test_a_commander_learns_from_collectors(tmp_path, joined):
    """An agent is a side, of which none is dead while it decides: there are no masks."""
    words = ("--env.action-mode=orders", "--env.agents=side", "--train.total-timesteps=4096")
    assert runs.train(tmp_path, *RAY, *runs.TEAM, *words) == 0
    assert runs.rows(tmp_path / "run")[-1]["agent_steps"] == 4096


def test_rows_of_the_log_describe_the_collectors(tmp_path, joined):
    words = (*RAY, "--cluster.sync=non_blocking", "--cluster.max-policy-lag=3")
    assert runs.train(tmp_path, *words, "--cluster.weight-sync-interval=2") == 0
    rows = runs.rows(tmp_path / "run")
    assert [row["agent_steps"] for row in rows] == list(range(1024, 8193, 1024))
    # Two of 32 agents, 16 decisions each of 71 features, 3 actions and 4 numbers more.
    assert {row["cluster/rollout_bytes"] for row in rows} == {32 * 16 * 4 * (71 + 3 + 4)}
    assert rows[0]["cluster/policy_lag"] == rows[0]["cluster/policy_lag_max"] == 0
    assert max(row["cluster/policy_lag"] for row in rows) > 0
    assert {row["cluster/lost"] for row in rows} == {0}
    assert {row["cluster/collectors"] for row in rows} <= {1, 2}  # the second may come later
    gathering = ("broadcast", "queue", "copy")
    for row in rows:
        assert min(row[f"performance/{name}"] for name in gathering) > 0
        decisions = row["cluster/collector_sps"] * row["performance/collect"]
        assert decisions == pytest.approx(512)
    whole = sum(row[f"performance/{name}"] for row in rows for name in gathering)
    assert whole <= rows[-1]["performance/eval"]  # which is of all updates


def test_a_killed_collector_is_lost_and_the_run_goes_on(tmp_path, cluster, joined):
    """test_cluster_chaos.py kills nodes and learners."""
    counts = []

    def kill_one(trainer: Trainer, row: dict[str, float]) -> None:
        if not counts:
            ray_nodes.collectors(cluster)[0].kill()
        counts.append(row["cluster/lost"])
        if row["cluster/lost"] and row["cluster/collectors"]:
            trainer.stop()

    values = {"cluster.engine": "ray", "cluster.max_collectors": 2, "vec.backend": "auto"}
    values |= {"train.data_dir": tmp_path, "train.run_name": "run", "train.total_timesteps": 1e8}
    with Trainer(load_config(runs.small_config(tmp_path), values), callbacks=[kill_one]) as trainer:
        trainer.run()
    assert counts[0] == 0
    assert counts[-1] == 1
    steps = [row["agent_steps"] for row in runs.rows(tmp_path / "run")]
    assert steps == list(range(1024, 1024 * len(counts) + 1, 1024))


def buffers() -> list[str]:
    """Returns the names of the experience buffers on the cluster."""
    return [actor["name"] for actor in ray.util.list_named_actors(all_namespaces=True)]


def test_a_shared_buffer_is_there_for_the_resumed_run_and_ends_with_it(
    tmp_path, cluster, joined, capsys
):
    """The actor is lost once, with all that was in it, and the run's folder is moved."""
    words = ["--experience-buffer.capacity=160", "--experience-buffer.shared"]
    words += [f"--cluster.address={cluster.address}"]

    def act(trainer: Trainer, row: dict[str, float]) -> None:
        (name,) = buffers()
        assert name == shared_buffer_name(tmp_path / "run")
        if row["epoch"] == 2:
            ray.kill(ray.get_actor(name, shared_buffer.NAMESPACE))
        if row["epoch"] == 6:
            trainer.stop()

    place = [f"--train.data-dir={tmp_path}", "--train.run-name=run"]
    config = load_config(runs.small_config(tmp_path), [*RAY, *words, *place])
    with Trainer(config, callbacks=[act]) as trainer:
        trainer.run()
    run = (tmp_path / "run").rename(tmp_path / "moved")
    assert "cannot reach the experience buffer: " in capsys.readouterr().err
    assert runs.resume(run) == 0
    assert "experience buffer on the cluster: 160 segments from before" in capsys.readouterr().out
    sizes = [row["experience_buffer/size"] for row in runs.rows(run)]
    assert sizes == [64, 128, 64, 128, 160, 160, 160, 160]
    assert buffers() == []


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ([], r"set cluster\.engine = ray and cluster\.address"),
        (RAY, r"set cluster\.engine = ray and cluster\.address"),
        ([*RAY, "--cluster.address=a:1", "--experience-buffer.on-disk"], "not shared"),
        (["--experience-buffer.capacity=0"], r"shared = True: there is no buffer while"),
    ],
)
def test_a_shared_buffer_needs_a_cluster_that_outlives_the_run(tmp_path, words, told):
    words = ["--experience-buffer.capacity=128", "--experience-buffer.shared", *words]
    with pytest.raises(ConfigError, match=told):
        runs.train(tmp_path, *words)
    assert not (tmp_path / "run").exists()


def test_stages_and_the_pool_are_what_they_are_in_one_process(
    tmp_path, cluster, joined, monkeypatch
):
    folder, started, there = Path(cluster.head_node.temp_dir), [], []
    start, close = RayActors.start, Collectors.close
    monkeypatch.setattr(RayActors, "start", lambda actors: started.append(0) or start(actors))
    monkeypatch.setattr(
        Collectors, "close", lambda all_: there.extend(mirrors(folder)) or close(all_)
    )
    words = ["--curriculum.stages=first,second", "--curriculum.first.max-steps=3000"]
    words += ["--curriculum.second.env.opponent=self:1,pool:2,straight:1"]
    words += ["--train.minibatch-size=256", "--train.checkpoint-interval=2"]
    words += ["--league.interval=4", "--league.games=2"]
    assert runs.train(tmp_path, *RAY, *words) == 0
    assert len(started) == 2  # for both stages
    rows = runs.rows(tmp_path / "run")
    # An update of stage 1: 64 agents x 16 decisions; of stage 2: 80 agents.
    assert [row["agent_steps"] for row in rows[:4]] == [1024, 2048, 3072, 3072 + 1280]
    assert [row["cluster/lost"] for row in rows] == [0] * len(rows)
    assert rows[-1]["pool/size"] >= 2
    assert "league/rating" in rows[-1]
    assert len(there) == 2
    assert mirrors(folder) == []


@pytest.mark.parametrize("names", [["one"], nightly(["one", "two"])], ids=["once", "twice"])
def test_collectors_fly_teams_of_the_sizes_of_each_stage(tmp_path, joined, names):
    """They also meet the pool, and see what a central critic sees; a second run is the same."""
    words = [*RAY, *runs.TEAM, "--env.opponent=self:1,pool:1,shooter:2", "--train.critic=side"]
    words += ["--curriculum.stages=twos,threes", "--curriculum.twos.max-steps=3000"]
    words += ["--curriculum.threes.env.red-size=3", "--train.minibatch-size=256"]
    for name in names:
        (tmp_path / name).mkdir()
        assert runs.train(tmp_path / name, *words) == 0
    one, *others = (runs.timeless(tmp_path / name / "run") for name in names)
    assert others == [one] * len(others)
    # An update of twos: 160 agents x 16 decisions, less those of the dead.
    assert 0.8 * 2560 < one[0]["agent_steps"] <= 2560
    assert [row["curriculum/stage"] for row in one] == sorted(
        row["curriculum/stage"] for row in one
    )
    assert one[-1]["curriculum/stage"] == 2
    assert [row["cluster/lost"] for row in one] == [0] * len(one)


def asked_by_strangers(address: str, tokens: list[str]) -> list[str]:
    """Returns a cluster's answers to each of the tokens; "" is no token."""
    code = """if True:
        import os, sys
        from ray._private.authentication_test_utils import reset_auth_token_state
        from ray._raylet import GcsClient
        for token in sys.argv[2:]:
            mode = "token" if token else "disabled"
            os.environ.update(RAY_AUTH_MODE=mode, RAY_AUTH_TOKEN=token)
            reset_auth_token_state()
            try:
                print(*GcsClient(sys.argv[1]).get_all_node_info())
            except Exception as error:
                print(type(error).__name__)
        """
    words = [sys.executable, "-c", code, address, *tokens]
    return subprocess.run(words, stdout=subprocess.PIPE, text=True, check=True).stdout.splitlines()


def test_nobody_else_can_use_its_own_cluster_which_a_signal_ends_leaving_nothing(
    tmp_path, monkeypatch
):
    """Settings of the shell do not open it."""
    monkeypatch.setenv("RAY_AUTH_MODE", "disabled")
    job = runs.start(tmp_path, *RAY, "--env.opponent=straight,pool", new_session=True)
    processes = psutil.Process(job.pid).children(recursive=True)
    (raylet,) = (process for process in processes if process.name() == "raylet")
    listening = strangers.listening([psutil.Process(job.pid), *processes])
    assert {address for address, _ in listening} <= strangers.LOOPBACK
    assert strangers.reached(port for _, port in listening) == []
    command = " ".join(raylet.cmdline())
    head, token = (
        re.search(r"--gcs-address=([\d.:]+)", command)[1],
        raylet.environ()["RAY_AUTH_TOKEN"],
    )
    *refused, told = asked_by_strangers(head, ["", "known", token])
    assert refused == ["AuthenticationError"] * 2
    assert "NodeID" in told
    folder = Path(re.search(r"/tmp/midrange-ray-[^/ ]+", command)[0])
    assert folder.stat().st_mode & 0o777 == 0o700
    count = min(2, usable_cores())
    assert len(mirrors(folder)) == sum(map(ray_nodes.is_collector, processes)) == count
    os.killpg(job.pid, signal.SIGINT)  # as Ctrl-C does
    out, _ = job.communicate(timeout=60)
    assert job.returncode == 128 + signal.SIGINT
    run = tmp_path / "run"
    assert out.count("stopping after this update") == out.count(f"--resume {run}") == 1
    assert "lost a collector" not in out
    assert psutil.wait_procs(processes, timeout=20)[1] == []
    assert run_folder.load_state(run)["global_step"] == runs.rows(run)[-1]["agent_steps"]
    assert not folder.exists()


def test_a_signal_while_nobody_can_finish_the_update_is_one_like_any_other(
    tmp_path, monkeypatch, capsys
):
    class Interrupted(FakeActors):
        def wait(self, *given: object) -> list[int]:
            if not self.now:  # once
                signal.raise_signal(signal.SIGINT)
            return super().wait(*given)

    monkeypatch.setattr(learner, "connected", lambda *_: contextlib.nullcontext())
    monkeypatch.setattr(collector, "RayActors", lambda: Interrupted(0))
    assert runs.train(tmp_path, *RAY) == 128 + signal.SIGINT
    run = tmp_path / "run"
    assert f"stopped by SIGINT; saved {run / 'model_000000.pt'}; go on" in capsys.readouterr().out
    assert run_folder.load_state(run)["global_step"] == 0


def test_without_a_cluster_there_is_no_run_folder(tmp_path):
    with pytest.raises(ClusterError, match=r"cluster.address = 127\.0\.0\.1:1: .*refused"):
        runs.train(tmp_path, *RAY, "--cluster.address=127.0.0.1:1")
    assert not (tmp_path / "run").exists()
