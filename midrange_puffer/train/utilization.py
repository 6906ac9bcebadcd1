"""The utilization of the learner's machine: processors, memory and GPU."""

import contextlib
import math
import multiprocessing
import time

import psutil
import pynvml
import torch

INTERVAL = 1.0  # s between two readings: processor time is counted in steps of 10 ms
MEMORY_INTERVAL = 10.0  # s: Linux needs some 10 ms to count a process's memory


class Utilization:
    """Reads the machine for the metrics, in place of PuffeRL's thread.

    That thread multiplies the processors' share in use by a hundred, reads the current GPU instead
    of the run's, and does not read the GPU in a rank.

    Args:
        device: where the run learns, such as "cuda:1". The run's other processes must exist.
    """

    def __init__(self, device: str = "cpu") -> None:
        self._device = torch.device(device)
        workers = multiprocessing.active_children()
        self._processes = [psutil.Process(pid) for pid in [None, *(each.pid for each in workers)]]
        self._cores = (0.0, 0.0)
        self._process_memory, self._next_memory = 0.0, 0.0
        self._read()  # starts the count of processor time
        self._next = time.monotonic()

    def metrics(self) -> dict[str, float]:
        """Returns the machine's metrics for a row, since the last reading.

        Returns:
            machine/cpu [% of all cores], machine/memory [% in use], machine/process_cpu [cores used
            by this process and its workers] and machine/process_memory [MiB of these processes;
            shared memory counts once if the system reports it]. With CUDA also gpu/utilization [%
            of the time] and gpu/memory [% in use], of all processes; nan if the driver does not
            report it.
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

    def _read(self) -> None:
        before, self._cores = self._cores, _core_seconds()
        busy, total = (now - then for now, then in zip(self._cores, before, strict=True))
        self._cpu_util = 100 * busy / total if total else 0.0
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
    """Returns the busy and the total seconds of this machine's cores.

    psutil.cpu_percent is not used: it counts from its last call in the process, by any caller.
    """
    times = psutil.cpu_times()._asdict()
    total = sum(seconds for kind, seconds in times.items() if not kind.startswith("guest"))
    return total - times["idle"] - times.get("iowait", 0.0), total


def _memory(process: psutil.Process) -> int:
    """Returns the bytes of memory of a process, 0 for an ended one.

    On Linux memory shared by n processes counts 1/n in each (PSS).
    """
    try:
        memory = process.memory_full_info()
    except psutil.NoSuchProcess:
        return 0
    except psutil.AccessDenied:
        memory = process.memory_info()
    return getattr(memory, "pss", memory.rss)


def _utilization(device: torch.device) -> float:
    """Returns the share of the last second or less in which the GPU was busy [%], by NVML."""
    try:
        return float(torch.cuda.utilization(device))
    except (RuntimeError, pynvml.NVMLError):  # no NVML, or a GPU in parts (MIG)
        return math.nan
