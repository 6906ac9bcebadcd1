"""How much memory this process takes and may take."""

import resource
from pathlib import Path

GIGABYTE = 2**30


def memory() -> int:
    """What it has in memory now [bytes]."""
    return _status("VmRSS")


def peak() -> int:
    """The most that it had in memory since `forget_peak` [bytes]."""
    return _status("VmHWM")


def forget_peak() -> None:
    """Count the peak from now on."""
    Path("/proc/self/clear_refs").write_text("5")


def allow(more: int) -> None:
    """Let this process map so many bytes more than it has, and no core be dumped."""
    limit = _status("VmSize") + more
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _status(name: str) -> int:
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(f"{name}:"):
            return 1024 * int(line.split()[1])
    raise KeyError(name)
