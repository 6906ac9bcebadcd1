"""Ranks of --ranks and torchrun: two learn as one, stop together, and survive failures."""

import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from unittest import mock

import numpy as np
import psutil
import pytest
import runs
import strangers
from machines import machine
from places import SUPPORT

from midrange_puffer.commands import cli
from midrange_puffer.config.configuration import ConfigError
from midrange_puffer.config.machine import choose_device
from midrange_puffer.config.reading import load_config
from midrange_puffer.errors import UsageError
from midrange_puffer.files import WriteError
from midrange_puffer.train import ranks, run_folder
from midrange_puffer.train.machine import this_machine

pytestmark = pytest.mark.slow

PROBE = SUPPORT / "rank_probe.py"
FAULTS = SUPPORT / "rank_faults.py"


def torchrun(*words: str) -> subprocess.CompletedProcess:
    """Runs two ranks of torchrun to their end."""
    return python("-m", "torch.distributed.run", "--standalone", "--nproc-per-node=2", *words)


def python(*words: str) -> subprocess.CompletedProcess:
    """Runs a program to its end."""
    return subprocess.run(
        [sys.executable, *words],
        env={**os.environ, "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def rank_process(job: subprocess.Popen, number: int) -> psutil.Process:
    """Returns the process of a rank of a running job."""
    children = psutil.Process(job.pid).children()
    return next(child for child in children if child.environ().get("RANK") == str(number))


@pytest.fixture(scope="module")
def probed(tmp_path_factory):
    """A run of two ranks in two stages, the second with a pool; and LSTM, replay, league, notes."""
    folder = tmp_path_factory.mktemp("probed")
    words = ["train", "midrange", "--config", str(runs.small_config(folder))]
    words += ["--train.data-dir", str(folder), "--train.run-name=run"]
    words += ["--base.rnn-name=Recurrent", "--train.total-timesteps=16384"]
    words += ["--league.interval=4", "--league.games=2", "--train.minibatch-size=256"]
    words += ["--experience-buffer.capacity=100", "--experience-buffer.share=0.5"]
    words += ["--curriculum.stages=first,second", "--curriculum.first.max-steps=6000"]
    words += ["--curriculum.second.env.opponent=self:1,pool:2,straight:1"]
    done = torchrun(str(PROBE), str(folder), *words)
    assert done.returncode == 0, done.stderr
    return folder, done


def notes(folder: Path) -> list[dict]:
    return [json.loads((folder / f"rank-{rank}.json").read_text()) for rank in range(2)]


def test_weights_are_equal_on_all_ranks_after_every_step(probed):
    folder, _ = probed
    first, second = notes(folder)
    assert first["weights"] == second["weights"]
    updates = len(first["experience"])
    assert len(set(first["weights"])) == len(first["weights"]) > 3 * updates


def test_every_rank_gathers_experience_of_its_own(probed):
    folder, _ = probed
    first, second = (set(rank["experience"]) for rank in notes(folder))
    assert len(first) == len(second) > 1
    assert not first & second


def test_ranks_with_a_part_each_step_as_one_process_with_the_whole(probed):
    """The gradient is that of the whole, up to the order of the sum."""
    folder, _ = probed
    of = [{name: np.array(x) for name, x in one["gradients"].items()} for one in notes(folder)]
    whole = of[0]["whole"]
    for rank in of:
        scale = np.abs(whole).max()
        np.testing.assert_allclose(rank["shared"], whole, rtol=0, atol=1e-6 * scale)
        assert np.abs(rank["part"] - whole).max() > 0.1 * scale


def test_ranks_with_the_native_engine_share_the_gradient_of_the_whole(probed):
    folder, _ = probed
    for rank in notes(folder):
        shared, whole = (np.array(rank["native"][name]) for name in ("shared", "whole"))
        np.testing.assert_allclose(shared, whole, rtol=0, atol=1e-5 * np.abs(whole).max())


@pytest.mark.nightly
def test_ranks_of_a_team_learn_as_one_through_stages_of_sizes(tmp_path):
    """Each counts its own living fighters, and all end together."""
    words = ["train", "midrange", "--config", str(runs.small_config(tmp_path)), *runs.TEAM]
    words += ["--train.data-dir", str(tmp_path), "--train.run-name=run"]
    words += ["--train.total-timesteps=16384", "--train.minibatch-size=256"]
    words += ["--env.opponent=self:1,pool:1,shooter:2", "--curriculum.stages=twos,threes"]
    words += ["--curriculum.twos.max-steps=6000", "--curriculum.threes.env.red-size=3"]
    words += ["--train.critic=side"]
    done = torchrun(str(PROBE), str(tmp_path), *words)
    assert done.returncode == 0, done.stderr
    first, second = notes(tmp_path)
    assert first["weights"] == second["weights"]  # the critic's among them
    shared, whole = (np.array(first["gradients"][name]) for name in ("shared", "whole"))
    np.testing.assert_allclose(shared, whole, rtol=0, atol=1e-6 * np.abs(whole).max())
    assert len(set(first["weights"])) > 3
    assert not {*first["experience"]} & {*second["experience"]}
    assert first["stages"] == second["stages"]
    assert {*first["stages"]} == {"twos", "threes"}
    rows = runs.rows(tmp_path / "run")
    # An update of twos: 2 ranks x 160 agents x 16 decisions, less those of the dead.
    assert 0.8 * 5120 < rows[0]["agent_steps"] <= 5120
    assert rows[-1]["agent_steps"] >= 16384 > rows[-2]["agent_steps"]


def test_nothing_of_the_group_is_left_when_the_interpreter_ends(probed):
    """Its threads could free Python's tensors and abort the process."""
    folder, _ = probed
    for rank in notes(folder):
        assert "python" in rank["threads"][0]
        assert not any("gloo" in name for name in rank["threads"])


def test_all_ranks_enter_a_stage_together(probed):
    folder, _ = probed
    first, second = (rank["stages"] for rank in notes(folder))
    assert first == second == ["first"] * 3 + ["second"] * (len(first) - 3)


def test_the_run_is_one_run(probed):
    folder, done = probed
    rows = runs.rows(folder / "run")
    # An update of stage 1: 2 ranks x 64 agents x 16 decisions; of stage 2: 80 agents.
    assert [row["agent_steps"] for row in rows[:4]] == [2048, 4096, 6144, 6144 + 2560]
    assert rows[-1]["agent_steps"] >= 16384 > rows[-2]["agent_steps"]
    assert [row["epoch"] for row in rows] == list(range(1, len(rows) + 1))
    assert {row["ranks"] for row in rows} == {2}
    assert run_folder.load_state(folder / "run")["global_step"] == rows[-1]["agent_steps"]
    assert "league/rating" in rows[-1]
    assert rows[-1]["pool/size"] >= 1
    assert rows[-1]["experience_buffer/size"] == 100
    for once in ("run folder", "stage 1/2 first, from", "stage 2/2 second, from", "last score"):
        assert done.stdout.count(once) == 1
    assert done.stderr.count("on one machine use --ranks 2 instead") == 1
    assert "Warning" not in done.stdout + done.stderr.replace("FutureWarning: The pynvml", "")


def test_nobody_else_reaches_ranks_which_a_signal_stops_with_a_checkpoint(tmp_path):
    workers = ("--vec.backend=Multiprocessing", "--vec.num-workers=1")
    job = runs.start(tmp_path, *workers, "--ranks=2")
    children = psutil.Process(job.pid).children(recursive=True)
    assert len(children) >= 4  # two ranks with a worker each
    listening = strangers.listening([psutil.Process(job.pid), *children])
    assert {address for address, _ in listening} == {"127.0.0.1"}
    assert strangers.reached(port for _, port in listening) == []
    job.terminate()
    out, _ = job.communicate(timeout=90)
    assert job.returncode == 128 + signal.SIGTERM
    run = tmp_path / "run"
    assert out.count("stopped by SIGTERM; saved") == out.count(f"--resume {run}") == 1
    assert "WorkerError" not in out
    assert psutil.wait_procs(children, timeout=10)[1] == []
    saved = run_folder.load_state(run)["global_step"]
    assert saved == runs.rows(run)[-1]["agent_steps"] > 0
    # One process goes on with what two have begun.
    words = ("--vec.backend=Serial", "--train.total-timesteps", str(saved + 2048))
    assert runs.resume(run, *words) == 0
    assert [row["agent_steps"] for row in runs.rows(run)][-2:] == [saved + 1024, saved + 2048]


def test_a_stranger_reaches_what_listens_on_all_interfaces():
    """The helper of the test above does find open ports."""
    with socket.create_server(("", 0)) as server:
        here = server.getsockname()
        assert here in strangers.listening([psutil.Process()])
        assert ("127.0.0.2", here[1]) in strangers.reached([here[1]])


@pytest.mark.nightly
def test_two_ranks_go_on_with_what_one_process_began(tmp_path):
    assert runs.train(tmp_path, "--train.total-timesteps=1024") == 0
    words = ["--resume", str(tmp_path / "run"), "--train.total-timesteps=5000"]
    done = python("-m", "midrange_puffer", "train", "midrange", *words, "--ranks=2")
    assert done.returncode == 0, done.stderr
    rows = runs.rows(tmp_path / "run")
    assert [row["agent_steps"] for row in rows] == [1024, 3072, 5120]
    assert run_folder.load_state(tmp_path / "run")["global_step"] == 5120


@pytest.mark.nightly
def test_after_a_killed_rank_the_job_goes_on_and_ends_when_its_launcher_is_killed(tmp_path):
    options = ("--train.checkpoint-interval=2", "--ranks=2", "--max-restarts=1")
    job = runs.start(tmp_path, *options)
    rank_process(job, 1).kill()
    run = tmp_path / "run"
    resumed = next(line for line in job.stdout if line.startswith(f"resuming {run} at "))
    saved = int(resumed.split(" at ")[1].split()[0])
    next(line for line in job.stdout if "M steps" in line)
    left = psutil.Process(job.pid).children()
    job.kill()
    out, _ = job.communicate(timeout=60)
    assert psutil.wait_procs(left, timeout=10)[1] == []
    assert out.count("the launcher of the ranks is gone; stopping after this update") == 1
    assert out.count(f"--resume {run}") == 1
    assert "gloo" not in out
    steps = [row["agent_steps"] for row in runs.rows(run)]
    assert steps == list(range(2048, steps[-1] + 1, 2048))
    assert run_folder.load_state(run)["global_step"] == steps[-1] > saved


def test_a_rank_ends_with_its_launcher_though_nobody_hears_of_it():
    """The terminal is gone with it."""
    code = """if True:
        import os, time
        from midrange_puffer.train import ranks
        os.close(2)
        ranks._end_with_launcher()
        time.sleep(60)
        """
    environment = os.environ | {ranks.PROCESS: "1", "LOCAL_RANK": "0"}
    done = subprocess.run([sys.executable, "-c", code], env=environment, check=False)
    assert done.returncode == -signal.SIGTERM


@pytest.mark.nightly
def test_a_job_that_fails_before_its_first_checkpoint_begins_again(tmp_path):
    """The error is printed once, whichever ranks see it."""
    words = ["train", "midrange", "--config", str(runs.small_config(tmp_path))]
    words += ["--train.data-dir", str(tmp_path), "--train.run-name", "run"]
    done = torchrun("--max-restarts=1", str(FAULTS), *words)
    assert done.returncode != 0
    assert done.stdout.count(f"run folder {tmp_path / 'run'}") == 2
    for once in ("ValueError: a fault of rank 1", "puffer: error: training diverged: ",
                 f"the last checkpoint still stands: --resume {tmp_path / 'run'}"):  # fmt: skip
        assert done.stderr.count(once) == 1
    assert "gloo" not in done.stderr
    assert run_folder.load_state(tmp_path / "run")["global_step"] == 0


@pytest.fixture
def restarted(monkeypatch):
    """Makes this process a restarted job of torchrun, without a process group."""
    monkeypatch.setattr(ranks, "is_launched", lambda: False)
    monkeypatch.setattr(ranks, "may_restart", lambda: True)
    monkeypatch.setattr(ranks, "is_restarted", lambda: True)
    monkeypatch.setenv("TORCHELASTIC_RUN_ID", "a job")


def test_a_restarted_job_leaves_another_run_of_its_name_alone(tmp_path, restarted, monkeypatch):
    assert runs.train(tmp_path, "--train.total-timesteps=1024") == 0
    saved = (tmp_path / "run" / run_folder.STATE).read_bytes()
    monkeypatch.setenv("TORCHELASTIC_RUN_ID", "another job")
    with pytest.raises(WriteError, match="cannot make the folder"):
        runs.train(tmp_path)
    assert (tmp_path / "run" / run_folder.STATE).read_bytes() == saved


def test_a_job_that_failed_after_its_last_step_has_made_it(tmp_path, restarted):
    words = ["--train.total-timesteps=1024"]
    for _ in range(2):
        assert runs.train(tmp_path, *words) == 0
        assert [row["agent_steps"] for row in runs.rows(tmp_path / "run")] == [1024]
        assert run_folder.load_state(tmp_path / "run")["global_step"] == 1024


@pytest.mark.parametrize("mode", sorted(set(cli.MODES) - {"train", "profile"}))
def test_commands_that_each_rank_would_do_alone_are_refused(mode, monkeypatch):
    monkeypatch.setenv("TORCHELASTIC_RUN_ID", "a job")
    with pytest.raises(
        UsageError, match=f"{mode}: each process of torchrun would do all of the work"
    ):
        cli.run(mode, [])


@pytest.mark.parametrize(
    ("job", "said"),
    [
        ("a job", r"train\.run_name = None: must be given with --max-restarts"),
        ("none", r"torchrun --max-restarts: needs --standalone or an --rdzv-id"),
    ],
)
def test_a_job_that_may_be_restarted_needs_a_name_and_one_for_its_run(
    tmp_path, restarted, monkeypatch, job, said
):
    """Without an --rdzv-id every job of torchrun is called "none"."""
    monkeypatch.setenv("TORCHELASTIC_RUN_ID", job)
    words = ["--config", str(runs.small_config(tmp_path)), "--train.data-dir", str(tmp_path)]
    with pytest.raises(ConfigError, match=said):
        cli.run("train", words)


@pytest.mark.parametrize(
    ("device", "said"),
    [
        ("mps", "ranks learn on cuda, one each, or on the cpu"),
        ("cuda:0", "ranks learn on cuda, one each, or on the cpu"),
        ("cuda", "4 ranks on this machine, which has 2 CUDA devices"),
    ],
)
def test_ranks_have_a_device_each(device, said):
    here = machine(gpus=2, has_mps=True, ranks=4, ranks_here=4)
    config, _ = choose_device(load_config(None, ["--train.device=cpu"]), here)
    assert config.train.device == "cpu"
    with pytest.raises(ConfigError, match=said):
        choose_device(load_config(None, [f"--train.device={device}"]), here)


def test_ranks_of_a_machine_divide_its_cores(monkeypatch):
    monkeypatch.setattr(psutil, "cpu_count", lambda logical=True: 12)
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(12)), raising=False)
    counts = []
    for ranks_here in (1, 2, 5, 16):
        monkeypatch.setattr(ranks, "on_this_machine", lambda ranks_here=ranks_here: ranks_here)
        counts.append(this_machine().cores)
    assert counts == [12, 6, 2, 1]


def test_an_error_is_reported_once(tmp_path):
    words = ["train", "midrange", "--config", str(runs.small_config(tmp_path))]
    words += ["--train.data-dir", str(tmp_path)]
    done = python("-m", "midrange_puffer", *words, "--train.batch-size=1000", "--ranks=2")
    assert done.returncode == UsageError.exit_code
    assert done.stderr.count("puffer: error: ") == 1
    assert list(tmp_path.glob("*/config.ini")) == []
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("--ranks=0", "--ranks: 0: must be an integer from 1"),
        ("--ranks=5", "--ranks = 5: must be at most 4, the cores of this machine"),
        ("--max_restarts=1", "--max-restarts = 1: is for --ranks"),
        ("--ranks=2 --max-restarts=-1", "--max-restarts: -1: must be an integer from 0"),
    ],
)
@pytest.mark.parametrize("mode", ["train", "profile"])
def test_ranks_that_cannot_be(mode, words, said, monkeypatch):
    monkeypatch.setattr(os, "cpu_count", lambda: 4)
    with pytest.raises(UsageError, match=said):
        cli.run(mode, words.split())


def test_ranks_of_ranks_are_refused(monkeypatch):
    monkeypatch.setenv("TORCHELASTIC_RUN_ID", "a job")
    with pytest.raises(UsageError, match="--ranks = 2: torchrun has launched this rank"):
        cli.run("train", ["--ranks=2"])


@pytest.fixture
def own_process() -> Iterator[None]:
    """Restores the variables and signal handlers that a launcher sets."""
    numbers = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT)
    handlers = [signal.getsignal(number) for number in numbers]
    with mock.patch.dict(os.environ):
        yield
    for number, handler in zip(numbers, handlers, strict=True):
        signal.signal(number, handler)


def test_a_rank_that_is_killed_is_named(own_process, tmp_path, monkeypatch):
    """The rank cannot report it itself."""
    rank = tmp_path / "rank"
    rank.write_text("#!/bin/sh\ntest $RANK = 1 && kill -9 $$; sleep 60\n")
    rank.chmod(0o700)
    monkeypatch.setattr(sys, "executable", str(rank))
    with pytest.raises(ranks.FailedRankError, match="rank 1 was ended by SIGKILL"):
        cli.run("train", ["--ranks=2"])
