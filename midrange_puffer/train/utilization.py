"""What a run takes of the machine that it learns on: processors, memory and GPU."""

import contextlib
import math
import multiprocessing
import time

import psutil
import pynvml
import torch

INTERVAL = 1.0  # s from one reading to the next: processor time is counted in steps of 10 ms
MEMORY_INTERVAL = 10.0  # s: to count a process's memory takes Linux some 10 ms


class Utilization:
    """Reads the machine for the metrics, in place of PuffeRL's own thread.

    That thread gives a hundred times the share of the processors in use, looks at the current GPU
    whatever the run learns on, and keeps silent in a rank.

    Args:
        device: where the run learns, such as "cuda:1". Its other processes must have begun.
    """

    def __init__(self, device: str = "cpu") -> None:
        self._device = torch.device(device)
        workers = multiprocessing.active_children()
        self._processes = [psutil.Process(pid) for pid in (None, *(one.pid for one in workers))]
        self._cores = (0.0, 0.0)
        self._process_memory, self._next_memory = 0.0, 0.0
        self._read()  # from here on processor time is counted
        self._next = time.monotonic()

    def metrics(self) -> dict[str, float]:
        """What a row of metrics says of the machine, of the time since the reading before.

        Returns:
            machine/cpu [% of all cores], machine/memory [% in use], machine/process_cpu [cores used
            by this process and its workers], machine/process_memory [MiB that they take; what they
            share counts once, where the system tells], and with CUDA gpu/utilization [% of the
            time] and gpu/memory [% in use], by whomever; not-a-number for what the driver does not
            tell.
        """
        if time.monotonic() >= self._next:
            self._read()
            self._next = time.monotonic() + INTERVAL
        figures = {
            "machine/cpu": self._cpu_util,
            "machine/memory": self._cpu_mem,
            "machine/process_cpu": self._process_cpu,
            "machine/process_memory": self._process_memory,
        }
        if self._device.type == "cuda":
            figures |= {"gpu/utilization": self._gpu_util, "gpu/memory": self._gpu_mem}
        return figures

    def stop(self) -> None:
        """Nothing: there is no thread. PuffeRL asks for it where it is closed."""

    def _read(self) -> None:
        before, self._cores = self._cores, _core_seconds()
        busy, there = (now - then for now, then in zip(self._cores, before, strict=True))
        self._cpu_util = 100 * busy / there if there else 0.0
        self._cpu_mem = psutil.virtual_memory().percent
        self._process_cpu = 0.0
        for process in self._processes:
            with contextlib.suppress(psutil.NoSuchProcess):
                self._process_cpu += process.cpu_percent() / 100
        if time.monotonic() >= self._next_memory:
            self._process_memory = sum(map(_memory, self._processes)) / 2**20
            self._next_memory = time.monotonic() + MEMORY_INTERVAL
        self._gpu_util, self._gpu_mem = 0.0, 0.0
        if self._device.type == "cuda":
            free, total = torch.cuda.mem_get_info(self._device)
            self._gpu_util, self._gpu_mem = _utilization(self._device), 100 * (1 - free / total)


def _core_seconds() -> tuple[float, float]:
    """Seconds that the cores of this machine have been busy, and all of their seconds.

    psutil.cpu_percent counts from its last call by anybody.
    """
    times = psutil.cpu_times()._asdict()
    there = sum(seconds for kind, seconds in times.items() if not kind.startswith("guest"))
    return there - times["idle"] - times.get("iowait", 0.0), there


def _memory(process: psutil.Process) -> int:
    """Bytes of memory of a process; none of one that is gone.

    On Linux what n processes share counts an nth in each (PSS).
    """
    try:
        memory = process.memory_full_info()
    except psutil.NoSuchProcess:
        return 0
    except psutil.AccessDenied:
        memory = process.memory_info()
    return getattr(memory, "pss", memory.rss)


def _utilization(device: torch.device) -> float:
    """The share of its last second or less in which the GPU was at work [%], by NVML."""
    try:
        return float(torch.cuda.utilization(device))
    except (RuntimeError, pynvml.NVMLError):  # no NVML, or a GPU in parts (MIG)
        return math.nan
