"""Memory that this process takes and may take."""

import resource
from pathlib import Path

GIGABYTE = 2**30


def memory() -> int:
    """Returns the memory of this process now [bytes]."""
    return _status("VmRSS")


def peak() -> int:
    """Returns the greatest memory of this process since `forget_peak` [bytes]."""
    return _status("VmHWM")


def forget_peak() -> None:
    """Starts the peak anew."""
    Path("/proc/self/clear_refs").write_text("5")


def allow(more: int) -> None:
    """Lets this process map so many bytes more than it has, and dump no core."""
    limit = _status("VmSize") + more
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _status(name: str) -> int:
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(f"{name}:"):
            return 1024 * int(line.split()[1])
    raise KeyError(name)
