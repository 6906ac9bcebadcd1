"""The machine of this process, for which a configuration is settled."""

import os

import psutil

from midrange_puffer.config.key import Key
from midrange_puffer.config.machine import Machine
from midrange_puffer.errors import UsageError
from midrange_puffer.system import own_cores

CORES = "MIDRANGE_CORES"  # a variable of the environment
_CORES = Key(CORES, int, "most cores that this process may count on", None, 1, 1_000_000_000)


def this_machine() -> Machine:
    """Returns the resources that this process may use."""
    # Imported here, since the functions below need no torch.
    import torch

    from midrange_puffer.train import ranks

    gpus = torch.cuda.device_count() if torch.cuda.is_available() else 0
    return Machine(
        cores=usable_cores(ranks.on_this_machine()),
        physical_cores=physical_cores(),
        gpus=tuple(torch.cuda.get_device_name(index) for index in range(gpus)),
        has_mps=torch.backends.mps.is_available(),
        ranks=ranks.size(),
        ranks_here=ranks.on_this_machine(),
        is_launched=ranks.is_launched(),
    )


def physical_cores() -> int:
    """Returns the number of physical cores of the machine."""
    return psutil.cpu_count(logical=False) or 1


def usable_cores(ranks_here: int = 1) -> int:
    """Returns the number of physical cores for this process, at least 1.

    This is the process's share of the machine's hardware threads, in units of cores. The ranks of a
    machine divide it evenly. The variable `CORES` can lower it.

    Raises:
        UsageError: That variable is not a number of cores.
    """
    logical = psutil.cpu_count() or 1
    physical = psutil.cpu_count(logical=False) or logical
    physical = physical * (len(own_cores()) or logical) // logical
    cores = max(physical // ranks_here, 1)
    given = os.environ.get(CORES)
    if not given:
        return cores
    try:
        return min(cores, int(str(_CORES.parse(given))))
    except ValueError as error:
        raise UsageError(f"{CORES} = {given}: {error}") from None
