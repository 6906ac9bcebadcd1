"""Sweeps on a Ray cluster end as those on one machine do, whatever is lost on the way."""

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import fake_trial
import psutil
import pytest
import ray_nodes
import sweeps
from sweeps import ENDS, Gammas, ends, new_record, wait_for

from midrange_puffer.commands import sweep as command
from midrange_puffer.config.configuration import ConfigError
from midrange_puffer.sweep import ray_worker
from midrange_puffer.sweep.ray_worker import NodeError
from midrange_puffer.sweep.record import FAILED, FINISHED, RUNNING, Record
from midrange_puffer.sweep.runner import Runner, workers_of
from midrange_puffer.train.cluster.connect import ClusterError

pytestmark = pytest.mark.slow


def on(cluster, *options: str) -> list[str]:
    return ["--sweep.engine=ray", f"--cluster.address={cluster.address}", *options]


def run(record: Record, acts: str, tell=lambda trial: None) -> None:
    with workers_of(record.config, (fake_trial.__file__, acts)) as workers:
        Runner(record, Gammas(), tell, workers).run()


def parent_of(record: Record, number: int) -> int:
    """The process id of who runs a trial that lingers, once it does."""
    path = record.trial_folder(record.trials[number]) / "parent"
    parent = wait_for(path)
    path.unlink()
    return parent


def test_every_end_is_what_it_is_on_one_machine(tmp_path, cluster):
    acts = [*ENDS, "hang", "count_cores"]
    options = on(cluster, f"--sweep.trials={len(acts)}", "--sweep.workers=2", "--sweep.max-cost=5")
    record = new_record(tmp_path, *options)
    run(record, ",".join(acts))
    found = [(trial.status, len(trial.readings), trial.reason) for trial in record.trials]
    hung, counted = found[-2:]
    assert found[:-2] == [*ENDS.values()]
    assert hung == (FAILED, 0, "took longer than sweep.max_cost = 5 s")
    assert counted == (FAILED, 0, "1 cores")
    assert ends(wait_for(record.trial_folder(record.trials[-2]) / "workers"))
    assert [trial.status for trial in Record(record.folder).trials] == [end[0] for end in found]


def test_a_trial_that_is_lost_is_run_again_and_has_failed_the_third_time(tmp_path, cluster):
    record = new_record(tmp_path, *on(cluster, "--sweep.trials=1"))
    calls = []

    def tell(trial):
        calls.append((trial.status, trial.reason))
        if calls[-1] == (RUNNING, None):
            os.kill(parent_of(record, 0), signal.SIGKILL)

    run(record, "linger", tell)
    lost = calls[1][1]
    assert re.fullmatch("lost on .+: The actor .* its worker process has died", lost)
    failed = (FAILED, f"lost 3 times, last {lost}")
    assert calls == [*[(RUNNING, None), (RUNNING, lost)] * 2, (RUNNING, None), failed]
    assert [(trial.status, trial.reason) for trial in Record(record.folder).trials] == [failed]


def test_a_node_that_dies_is_no_failure_and_one_that_joins_is_used(tmp_path, cluster):
    """Two trials wait for each other, for which there is no room before a node has joined."""
    record = new_record(tmp_path, *on(cluster, "--sweep.trials=4", "--sweep.workers=2"))
    began = []

    def tell(trial):
        if trial.status == RUNNING and trial.reason is None:
            began.append(trial.number)
            if began == [0, 1]:
                on_node, alone = (parent_of(record, number) for number in began)
                for number in began:
                    (record.trial_folder(record.trials[number]) / "enough").touch()
                ray_nodes.kill_node(cluster, on_node)
                os.kill(alone, signal.SIGKILL)
        elif trial.reason and trial.number == 0:
            ray_nodes.add_node(cluster)

    run(record, "linger,linger,meet,meet", tell)
    assert sorted(began) == [0, 0, 1, 1, 2, 3]
    assert [trial.status for trial in record.trials] == [FINISHED] * 4
    # What the first two had read before they were lost does not count.
    scores = [[reading.score for reading in trial.readings] for trial in record.trials]
    assert scores == [[0.25, 0.5]] * 4


def test_the_end_of_a_sweep_ends_its_trials(tmp_path, cluster):
    record = new_record(tmp_path, *on(cluster, "--sweep.trials=1"))
    hung = []

    def interrupt(trial):
        hung.append(psutil.Process(parent_of(record, 0)).children())
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(record, "linger", interrupt)
    assert len(hung[0]) == 1
    assert ends(hung[0][0].pid)
    assert Record(record.folder).trials[0].status == RUNNING


@pytest.mark.nightly
def test_a_killed_sweep_leaves_no_trial_and_goes_on_wherever(tmp_path, cluster, monkeypatch):
    """Here on this machine, without Ray."""
    options = on(cluster, "--train.total-timesteps=1e9", "--sweep.trials=1")
    sweep = subprocess.Popen(
        [sys.executable, "-m", "midrange_puffer", "sweep", "midrange",
         *sweeps.words(tmp_path, *options)],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )  # fmt: skip
    folder = tmp_path / "sweeps" / "small"
    while not (folder / "trials" / "0000" / "run" / "metrics.jsonl").exists():
        assert sweep.poll() is None, sweep.stdout.read()
        time.sleep(0.02)
    trials = [
        process
        for process in psutil.process_iter(["cmdline"])
        if (process.info["cmdline"] or [""])[-1] == str(folder / "trials" / "0000")
    ]
    sweep.kill()
    assert "trials at a time" in sweep.communicate()[0]
    assert len(trials) == 1
    assert ends(trials[0].pid)
    assert [trial.status for trial in Record(folder).trials] == [RUNNING]
    monkeypatch.setattr(command, "write_report", lambda record: record.folder / "report.html")
    sweeps.fake_trials(monkeypatch, "finish")
    assert sweeps.resume(tmp_path, "--sweep.engine=local") == 0
    assert [trial.status for trial in Record(folder).trials] == [FINISHED]


def test_a_node_without_the_folder_or_of_another_version_ends_the_sweep(
    tmp_path, cluster, monkeypatch, capsys
):
    sweeps.fake_trials(monkeypatch, "finish")
    with monkeypatch.context() as patch:
        patch.setattr(Path, "read_bytes", lambda path: b"another one")
        with pytest.raises(NodeError) as error:
            sweeps.sweep(tmp_path, *on(cluster, "--sweep.trials=1"))
    folder = tmp_path / "sweeps" / "small"
    assert f"does not see {folder / 'trials' / '0000' / 'trial.ini'}; with" in str(error.value)
    assert "all nodes must share the folder train.data_dir" in str(error.value)
    assert f"--resume {folder}" in capsys.readouterr().err
    assert [trial.status for trial in Record(folder).trials] == [RUNNING]
    monkeypatch.setattr(ray_worker, "__version__", "0.0")
    with pytest.raises(NodeError, match=r"has version .* of midrange_puffer, .* 0\.0: install"):
        sweeps.resume(tmp_path)


def test_settings_that_cannot_run_on_ray_are_refused_before_there_is_a_folder(tmp_path):
    with pytest.raises(ConfigError, match=r"sweep.engine = ray: .* cluster.engine must be None"):
        sweeps.sweep(tmp_path, "--sweep.engine=ray", "--cluster.engine=ray")
    with pytest.raises(ClusterError, match=r"address = 127.0.0.1:1: cannot connect to Ray: "):
        sweeps.sweep(tmp_path, "--sweep.engine=ray", "--cluster.address=127.0.0.1:1")
    assert not (tmp_path / "sweeps").exists()
