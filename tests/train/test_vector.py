"""Vector environments: the time of their steps, workers that stop, and memory locked for a GPU."""

import multiprocessing
import os
import signal
import time
from contextlib import closing

import learners
import numpy as np
import psutil
import pufferlib
import pytest
import runs
import torch

from midrange_puffer.config.reading import load_config
from midrange_puffer.errors import UserError
from midrange_puffer.train import workers
from midrange_puffer.train.vector import VecEnv, make_env

SLEEP = 0.002  # s, in a step


def sleepy(**kwargs):
    """Makes an environment whose step takes at least `SLEEP`."""
    env = make_env(**kwargs)
    step = env.step

    def slow(actions):
        time.sleep(SLEEP)
        return step(actions)

    env.step = slow
    return env


def telling(**kwargs):
    """Makes an environment with infos in each step, which is slow in the second worker."""
    env = make_env(**kwargs)
    step, is_slow = env.step, kwargs.get("seed") == 1

    def with_infos(actions):
        time.sleep(20 * SLEEP * is_slow)
        return (*step(actions)[:-1], [{"steps": 1.0}])

    env.step = with_infos
    return env


def two_workers(tmp_path, batch: int) -> VecEnv:
    config = load_config(runs.small_config(tmp_path), ["--vec.backend=Multiprocessing"])
    config = config.replaced("vec", "test", num_envs=2, num_workers=2, batch_size=batch)
    return VecEnv(telling, config)


def cpu_seconds(vecenv: VecEnv) -> float:
    """Returns the processor time that the workers have used."""
    times = [psutil.Process(process.pid).cpu_times() for process in vecenv.processes]
    return sum(time.user + time.system for time in times)


def send_zeros(vecenv: VecEnv) -> None:
    vecenv.send(np.zeros((vecenv.agents_per_batch, 3), np.int32))


@pytest.mark.parametrize("backend", ["Serial", "Multiprocessing", "PufferEnv"])
def test_environments_time_their_own_steps(tmp_path, backend):
    """Waiting does not count: the main process sleeps, too."""
    words = [f"--vec.backend={backend}", "--train.threads=1"]
    config = load_config(runs.small_config(tmp_path), words)
    instances = 2 if backend == "Multiprocessing" else 1
    config = config.replaced("vec", "test", num_envs=instances, num_workers=instances, batch_size=1)
    with closing(VecEnv(sleepy, config)) as vecenv:
        assert vecenv.step_time == (0, 0)
        vecenv.async_reset(0)
        steps, start = 10, time.perf_counter()
        for _ in range(steps):
            agents = len(vecenv.recv()[0])
            vecenv.send(np.zeros((agents, 3), np.int32))
            time.sleep(5 * SLEEP)
        while vecenv.step_time.decisions < steps * agents:
            time.sleep(SLEEP)
        time.sleep(SLEEP)  # it writes the seconds after the decisions
        decisions, seconds = vecenv.step_time
        assert decisions == steps * agents
        assert steps * SLEEP <= seconds < (time.perf_counter() - start) * instances
        assert vecenv.step_time.sps == decisions / seconds


def test_a_worker_that_is_stopped_is_told_of_and_when_it_goes_on(tmp_path, monkeypatch, capsys):
    """PufferLib waits for it without a message."""
    monkeypatch.setattr(workers, "LOOK_INTERVAL", 0.01)
    told = ""
    with learners.small_trainer(tmp_path, "--vec.backend=Multiprocessing") as trainer:
        process = trainer.vecenv.processes[1].pid
        for number, word in ((signal.SIGSTOP, "is stopped"), (signal.SIGCONT, "goes on")):
            os.kill(process, number)
            while word not in (new := capsys.readouterr().err):
                time.sleep(0.01)
            told += new
        trainer.evaluate()
    assert told.splitlines() == [
        f"environment worker 1 (process {process}) is stopped, and training waits; it goes on "
        f"with: kill -CONT {process}",
        f"environment worker 1 (process {process}) goes on",
    ]


class Cuda:
    """A fake of the functions of CUDA's runtime that lock memory."""

    def __init__(self, status: int = 0) -> None:
        self.locked: dict[int, int] = {}
        self._status = status

    def cudaHostRegister(self, address, size, flags):  # noqa: N802
        assert flags == 0
        self.locked[address] = size
        return self._status

    def cudaHostUnregister(self, address):  # noqa: N802
        del self.locked[address]
        return 0


def small(tmp_path, backend: str, device: str) -> dict:
    words = [f"--vec.backend={backend}", f"--train.device={device}", "--train.pin-memory"]
    words += ["--train.threads=1"]
    config = load_config(runs.small_config(tmp_path), words)
    instances = 2 if backend == "Multiprocessing" else 1
    numbers = {"num_envs": instances, "num_workers": instances, "batch_size": 1}
    return config.replaced("vec", "test", **numbers)


@pytest.mark.parametrize("backend", ["Serial", "Multiprocessing", "PufferEnv"])
def test_the_locked_buffer_is_the_one_that_is_given_out(tmp_path, monkeypatch, backend):
    cuda = Cuda()
    monkeypatch.setattr(torch.cuda, "cudart", lambda: cuda)
    with closing(VecEnv(make_env, small(tmp_path, backend, "cuda:0"))) as vecenv:
        [(start, size)] = cuda.locked.items()
        assert size == vecenv.num_agents * vecenv.single_observation_space.shape[0] * 4
        vecenv.async_reset(0)
        for _ in range(4):
            observations = vecenv.recv()[0]
            address = torch.as_tensor(observations).data_ptr()
            assert start <= address
            assert address + observations.nbytes <= start + size
            vecenv.send(np.zeros((len(observations), 3), np.int32))
    assert not cuda.locked


@pytest.mark.parametrize(("device", "words"), [("cpu", True), ("cuda", False)])
def test_nothing_is_locked_unasked_or_without_a_gpu(tmp_path, monkeypatch, device, words):
    monkeypatch.delattr(torch.cuda, "cudart")
    config = small(tmp_path, "Serial", device)
    config = config.replaced("train", "test", pin_memory=words)
    VecEnv(make_env, config).close()


def test_memory_that_cannot_be_locked_ends_the_run_and_its_workers(tmp_path, monkeypatch):
    monkeypatch.setattr(torch.cuda, "cudart", lambda: Cuda(status=2))
    with pytest.raises(UserError, match=r"train.pin_memory = True: CUDA cannot lock 0.0 MiB .*2\)"):
        VecEnv(make_env, small(tmp_path, "Multiprocessing", "cuda"))
    assert not multiprocessing.active_children()


@pytest.mark.parametrize("batch", [4, 2])
def test_workers_step_like_one_process_and_sleep_while_they_wait(tmp_path, batch):
    """Four instances, of which each of two workers has two; each has a seed of its own."""
    config = load_config(runs.small_config(tmp_path), ["--vec.backend=Multiprocessing"])
    config = config.replaced("vec", "test", num_envs=4, num_workers=2, batch_size=batch)
    serial = config.replaced("vec", "test", backend="Serial")
    serial = serial.replaced("train", "test", threads=1)
    rng = np.random.default_rng(0)
    with closing(VecEnv(make_env, config)) as several, closing(VecEnv(make_env, serial)) as alone:
        for vecenv in (several, alone):
            vecenv.async_reset(3)
        count = several.agents_per_batch
        for _ in range(50):
            all_actions = rng.integers(0, 2, (several.num_agents, 3), dtype=np.int32)
            observations, rewards, ends, *_ = alone.recv()
            for first in range(0, several.num_agents, count):
                rows = slice(first, first + count)
                batch_observations, batch_rewards, batch_ends, *_ = several.recv()
                assert np.array_equal(batch_observations, observations[rows])
                assert np.array_equal(batch_rewards, rewards[rows])
                assert np.array_equal(batch_ends, ends[rows])
                several.send(all_actions[rows])
            alone.send(all_actions)
        assert len(np.unique(observations, axis=0)) == several.num_agents
        time.sleep(20 * SLEEP)
        before = cpu_seconds(several)
        time.sleep(0.2)  # PufferLib's workers poll for half a second
        assert cpu_seconds(several) - before < 0.1


@pytest.mark.parametrize("batch", [2, 1])
@pytest.mark.parametrize("is_sent", [False, True])
def test_workers_start_anew_at_any_time(tmp_path, batch, is_sent):
    """With infos received or not, and at work or not."""
    with closing(two_workers(tmp_path, batch)) as vecenv:
        vecenv.async_reset(7)
        first = vecenv.recv()[0].copy()
        for _ in range(3):
            send_zeros(vecenv)
            vecenv.recv()
        if is_sent:
            send_zeros(vecenv)
        vecenv.async_reset(7)
        assert np.array_equal(vecenv.recv()[0], first)
        send_zeros(vecenv)
        assert vecenv.recv()[4] == ([{"steps": 1.0}] * 2 if batch == 2 else [])


@pytest.mark.parametrize("batch", [2, 1])
def test_results_are_received_once(tmp_path, batch):
    with closing(two_workers(tmp_path, batch)) as vecenv:
        vecenv.async_reset(0)
        vecenv.recv()
        with pytest.raises(pufferlib.APIUsageError, match="reset before stepping"):
            vecenv.recv()
        send_zeros(vecenv)
        assert len(vecenv.recv()[0]) == vecenv.agents_per_batch


def test_a_wait_that_a_signal_has_ended_can_begin_again(tmp_path):
    def interrupt(*_):
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, interrupt)
    try:
        with closing(two_workers(tmp_path, 2)) as vecenv:
            vecenv.async_reset(0)
            vecenv.recv()
            send_zeros(vecenv)
            signal.setitimer(signal.ITIMER_REAL, 10 * SLEEP)
            with pytest.raises(KeyboardInterrupt):
                vecenv.recv()
            assert len(vecenv.recv()[4]) == 2
    finally:
        signal.signal(signal.SIGALRM, before)
