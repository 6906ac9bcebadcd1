"""Machines that configurations are settled for."""

from midrange_puffer.config.machine import Machine


def machine(cores: int = 2, gpus: int = 0, **facts: object) -> Machine:
    """Returns a machine with so many free cores and so many GPUs."""
    return Machine(cores=cores, physical_cores=cores, gpus=("a GPU",) * gpus, **facts)
