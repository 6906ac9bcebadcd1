"""The machine's metrics of a run. The GPU is a fake."""

import multiprocessing
import time
from collections import namedtuple
from types import SimpleNamespace

import numpy as np
import psutil
import pynvml
import pytest
import torch

from midrange_puffer.train import utilization
from midrange_puffer.train.utilization import Utilization

Cores = namedtuple("Cores", "user nice system idle iowait guest")
GIB = 2**30


@pytest.fixture
def cores(monkeypatch) -> list[Cores]:
    """The system's readings of its processors, in order."""
    readings = []
    monkeypatch.setattr(psutil, "cpu_times", lambda: readings.pop(0))
    return readings


@pytest.fixture
def gpus(monkeypatch) -> list[int]:
    """Fakes four GPUs with these utilizations and three quarters of their memory in use."""
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
        """Returns the seconds of both processes by the system."""
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
    """Memory shared with the parent counts once, and the worker's own memory is added."""
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
    """CUDA numbers the visible GPUs, NVML all GPUs."""
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
def test_values_that_the_driver_does_not_give_are_no_numbers(gpus, monkeypatch, function, error):
    def fail(*_):
        raise error

    monkeypatch.setattr(pynvml, function, fail)
    figures = Utilization("cuda:0").metrics()
    assert np.isnan(figures["gpu/utilization"])
    assert figures["gpu/memory"] == 75
