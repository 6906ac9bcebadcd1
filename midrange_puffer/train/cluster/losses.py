"""How Ray says that a process or a node is gone."""

import textwrap

import ray

# What Ray ends for want of memory is an error of its own kind, and no RayActorError.
LOSSES = (
    ray.exceptions.RayActorError,
    ray.exceptions.ObjectLostError,
    ray.exceptions.OutOfMemoryError,
    ray.exceptions.NodeDiedError,
)


def describe_loss(error: Exception) -> str:
    """Why it is gone: Ray's first sentence about that.

    The first line says that, or only that something is gone; particulars of it are indented.
    """
    lines = [line for line in str(error).splitlines() if line and not line[0].isspace()]
    says_why = isinstance(error, ray.exceptions.OutOfMemoryError)
    about = lines[:1] if says_why else lines[:2]
    return textwrap.shorten(about[-1].partition(". ")[0], 160)
