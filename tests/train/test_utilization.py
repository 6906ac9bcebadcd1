"""What a run says of the machine, and the memory that it locks for a GPU. The GPU is a fake."""

import multiprocessing
import time
from collections import namedtuple
from contextlib import closing
from types import SimpleNamespace

import numpy as np
import psutil
import pynvml
import pytest
import runs
import torch

from midrange_puffer.config.reading import load_config
from midrange_puffer.errors import UserError
from midrange_puffer.train import utilization
from midrange_puffer.train.utilization import Utilization
from midrange_puffer.train.vector import VecEnv, make_env

Cores = namedtuple("Cores", "user nice system idle iowait guest")
GIB = 2**30


@pytest.fixture
def cores(monkeypatch) -> list[Cores]:
    """What the system says of its processors, one reading after another."""
    readings = []
    monkeypatch.setattr(psutil, "cpu_times", lambda: readings.pop(0))
    return readings


@pytest.fixture
def gpus(monkeypatch) -> list[int]:
    """The utilization of the GPUs of this machine, and three quarters of their memory in use."""
    percent = [10, 20, 30, 40]
    monkeypatch.setattr(pynvml, "nvmlInit", lambda: None)
    monkeypatch.setattr(pynvml, "nvmlDeviceGetHandleByIndex", lambda index: index)
    monkeypatch.setattr(
        pynvml, "nvmlDeviceGetUtilizationRates", lambda index: SimpleNamespace(gpu=percent[index])
    )
    monkeypatch.setattr(torch.cuda, "mem_get_info", lambda device: (2 * GIB, 8 * GIB))
    return percent


def burn(begun, enough) -> None:
    begun.set()
    while not enough.is_set():
        pass


def test_the_share_of_the_cores_in_use(cores):
    cores.append(Cores(user=10, nice=1, system=5, idle=100, iowait=3, guest=4))
    cores.append(Cores(user=12, nice=1, system=6, idle=105, iowait=5, guest=5))
    assert Utilization().metrics()["machine/cpu"] == pytest.approx(30)  # 3 s of 10 s


def test_a_reading_holds_for_a_second(cores, monkeypatch):
    now = 100.0
    monkeypatch.setattr(utilization.time, "monotonic", lambda: now)
    cores += [Cores(*[seconds] * 6) for seconds in (0, 1)]
    ours = Utilization()
    first = ours.metrics()
    now += 0.99
    assert ours.metrics() == first
    now += 0.02
    cores.append(Cores(2, 2, 2, 9, 1, 0))
    assert ours.metrics()["machine/cpu"] == pytest.approx(100 * 3 / 11)


def test_the_cores_that_a_process_and_its_workers_use():
    context = multiprocessing.get_context("fork")
    begun, enough = context.Event(), context.Event()
    worker = context.Process(target=burn, args=(begun, enough))
    worker.start()
    assert begun.wait(60)
    system = psutil.Process(worker.pid)

    def used() -> float:
        """Seconds of both, by the system."""
        its = system.cpu_times()
        return time.process_time() + its.user + its.system

    before, start, ours = used(), time.perf_counter(), Utilization()
    while used() < before + 1:
        pass
    cores = ours.metrics()["machine/process_cpu"]
    expected = (used() - before) / (time.perf_counter() - start)
    enough.set()
    worker.join()
    assert cores == pytest.approx(expected, rel=0.1)
    time.sleep(utilization.INTERVAL)
    assert ours.metrics()["machine/process_cpu"] < 0.5  # the worker is gone, and this one slept


def test_the_memory_that_a_process_and_its_workers_take():
    """What a worker has from its parent counts once, what it takes itself besides."""
    mine = np.ones(100 * 2**17)  # 100 MiB
    before = Utilization().metrics()["machine/process_memory"]
    context = multiprocessing.get_context("fork")
    begun, enough = context.Event(), context.Event()

    def work() -> None:
        its = np.ones(200 * 2**17)
        begun.set()
        enough.wait()
        assert len(its) > len(mine)

    worker = context.Process(target=work)
    worker.start()
    assert begun.wait(60)
    after = Utilization().metrics()["machine/process_memory"]
    enough.set()
    worker.join()
    assert after - before == pytest.approx(200, abs=60)


@pytest.mark.parametrize(("device", "percent"), [("cuda:0", 40), ("cuda:1", 20)])
def test_the_gpu_that_the_run_learns_on(gpus, monkeypatch, device, percent):
    """CUDA numbers those that it sees, NVML all that there are."""
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "3,1")
    figures = Utilization(device).metrics()
    assert figures["gpu/utilization"] == percent
    assert figures["gpu/memory"] == 75


def test_without_a_gpu_there_are_no_figures_of_one():
    assert {*Utilization("cpu").metrics()} == {
        "machine/cpu",
        "machine/memory",
        "machine/process_cpu",
        "machine/process_memory",
    }


@pytest.mark.parametrize(
    ("function", "error"),
    [
        ("nvmlInit", pynvml.NVMLError_DriverNotLoaded),
        ("nvmlInit", pynvml.NVMLError_LibraryNotFound),
        ("nvmlDeviceGetUtilizationRates", pynvml.NVMLError_NotSupported),  # of a part of a GPU
    ],
)
def test_what_the_driver_does_not_tell_is_no_number(gpus, monkeypatch, function, error):
    def fail(*_):
        raise error

    monkeypatch.setattr(pynvml, function, fail)
    figures = Utilization("cuda:0").metrics()
    assert np.isnan(figures["gpu/utilization"])
    assert figures["gpu/memory"] == 75


def test_every_row_tells_the_machine(tmp_path):
    assert runs.train(tmp_path, "--train.total-timesteps=2048") == 0
    for row in runs.rows(tmp_path / "run"):
        assert 0 <= row["machine/cpu"] <= 100
        assert 0 < row["machine/memory"] < 100
        assert row["machine/process_cpu"] >= 0
        assert row["machine/process_memory"] > 50  # Python with torch


class Cuda:
    """CUDA's runtime as far as it locks memory."""

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
def test_what_is_locked_is_what_is_given_out(tmp_path, monkeypatch, backend):
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
