"""Training on a Ray cluster of several nodes, while processes are killed and nodes added."""

import json
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
import ray_nodes

pytestmark = [pytest.mark.slow, pytest.mark.nightly, pytest.mark.timeout(900)]

UPDATE = 256 * 64  # decisions: engagements x horizon
CONFIG = """
[cluster]
engine = ray
sync = non_blocking
max_collectors = 2
timeout = 300
[experience_buffer]
capacity = 512
shared = True
[env]
num_envs = 256
opponent = shooter
[policy]
hidden_size = 32
[train]
device = cpu
bptt_horizon = 64
learning_rate = 0.02
minibatch_size = 1024
checkpoint_interval = 5
"""
UPDATES_LEFT = 60  # when the learner has been killed
PATIENCE = 80  # s, for a machine that is busy with other things


class Job:
    """`puffer train midrange` on a cluster, in a process of its own.

    Attributes:
        process: of the learner.
        run: the run folder.
    """

    def __init__(self, run: Path, *words: str) -> None:
        self.run = run
        self._output = run.parent / "output"
        with self._output.open("a") as output:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "midrange_puffer", "train", "midrange", *words],
                stdout=output,
                stderr=subprocess.STDOUT,
            )

    def rows(self) -> list[dict[str, float]]:
        """The rows of metrics so far."""
        path = self.run / "metrics.jsonl"
        text = path.read_text() if path.exists() else ""
        return [json.loads(line) for line in text[: text.rfind("\n") + 1].splitlines()]

    def goes_on(self, until: Callable[[dict[str, float]], bool], updates: int = 1) -> None:
        """Waits until the rows meet a condition, and then for more updates."""
        self.wait(lambda: any(until(row) for row in self.rows()[-1:]))
        goal = len(self.rows()) + updates
        self.wait(lambda: len(self.rows()) >= goal)

    def wait(self, until: Callable[[], bool]) -> None:
        """Waits for a condition; fails if the learner ends first."""
        latest = time.monotonic() + PATIENCE
        while not until():
            assert self.process.poll() is None, f"it ended:\n{self.output}"
            assert time.monotonic() < latest, f"it never came:\n{self.output}"
            time.sleep(0.05)

    @property
    def output(self) -> str:
        """The output of this process and of those before it."""
        return self._output.read_text()


def none_is_left(cluster) -> None:
    """Checks that the collectors of an ended learner end."""
    latest = time.monotonic() + PATIENCE
    while left := ray_nodes.collectors(cluster):
        assert time.monotonic() < latest, left
        time.sleep(0.05)


@pytest.fixture(scope="module")
def disturbed(cluster, tmp_path_factory) -> Job:
    """A run that had two collectors again after each loss, and whose learner was killed then."""
    folder = tmp_path_factory.mktemp("chaos")
    (folder / "chaos.ini").write_text(CONFIG)
    words = [f"--config={folder / 'chaos.ini'}", f"--cluster.address={cluster.address}"]
    words += [f"--train.data-dir={folder}", "--train.run-name=run", "--train.total-timesteps=1e9"]
    job = Job(folder / "run", *words)
    try:
        job.goes_on(lambda row: row["cluster/collectors"] == 2)
        ray_nodes.collectors(cluster)[0].kill()
        job.goes_on(lambda row: row["cluster/collectors"] == 1)
        job.goes_on(lambda row: row["cluster/collectors"] == 2)
        ray_nodes.kill_node(cluster, ray_nodes.collectors(cluster)[0].pid)
        job.goes_on(lambda row: row["cluster/collectors"] == 1, updates=5)
        ray_nodes.add_node(cluster)
        job.goes_on(lambda row: row["cluster/collectors"] == 2, updates=5)
    finally:
        job.process.kill()
        job.process.wait()
    return job


def test_it_learns_on_with_whoever_is_left(disturbed):
    rows = disturbed.rows()
    at_work = [row["cluster/collectors"] for row in rows]
    changes = [at for at, before in zip(at_work[1:], at_work, strict=False) if at != before]
    assert changes[-4:] == [1, 2, 1, 2]
    assert rows[-1]["cluster/lost"] >= 2
    assert disturbed.output.count("lost a collector") == rows[-1]["cluster/lost"]


def test_a_killed_learner_leaves_no_collector_and_its_run_ends_on_the_same_cluster(
    cluster, disturbed
):
    none_is_left(cluster)
    before = len(disturbed.rows())
    goal = UPDATE * (before + UPDATES_LEFT)
    job = Job(disturbed.run, f"--resume={disturbed.run}", f"--train.total-timesteps={goal}")
    assert job.process.wait(PATIENCE) == 0, job.output
    none_is_left(cluster)
    rows = job.rows()
    assert [row["agent_steps"] for row in rows] == list(range(UPDATE, goal + 1, UPDATE))
    assert rows[-1]["cluster/collectors"] == 2
    # The buffer has outlived the learner. Before that it may have been on the lost node.
    assert {row["experience_buffer/size"] for row in rows[before:]} == {512}
    last = [row["environment/score"] for row in rows[-10:]]
    assert sum(last) / len(last) > 0.9
