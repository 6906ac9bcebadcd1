"""The random number generators of a process."""

import random

import numpy as np
import torch


def seed_everything(seed: int) -> None:
    """Seed every random number generator of this process."""
    torch.manual_seed(seed)
    np.random.seed(seed)  # noqa: NPY002, the generator that libraries share
    random.seed(seed)
