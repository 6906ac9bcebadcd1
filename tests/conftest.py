"""What holds for every test."""

from collections.abc import Iterator

import pytest
import torch
from hypothesis import settings

# No test is of how long something takes: the machine may be busy.
settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")


@pytest.fixture(scope="session", autouse=True)
def one_thread() -> Iterator[None]:
    """Small tensors gain nothing from more, and tests may share the machine."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)
