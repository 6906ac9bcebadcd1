"""Messages when memory is not enough."""

import numpy as np
import pytest
import runs
import torch

from midrange_puffer.errors import UserError, memory_advice
from midrange_puffer.train.trainer import StageTrainer

MOST = 2**50  # bytes: more than any machine has


@pytest.mark.parametrize(
    "take",
    [
        lambda: np.empty(MOST, np.uint8),
        lambda: torch.empty(MOST, dtype=torch.uint8),
        lambda: bytearray(2**62),
    ],
)
def test_an_error_of_memory_says_what_helps(take):
    with pytest.raises(UserError, match=r"out of memory: try fewer"), memory_advice("try fewer"):
        take()


def test_other_errors_stay_what_they_are():
    with pytest.raises(RuntimeError, match="of another kind"), memory_advice("try fewer"):
        raise RuntimeError("of another kind")


def test_a_run_out_of_memory_names_the_keys_that_help(tmp_path, monkeypatch):
    """Before its first checkpoint, so that nothing is left of it."""
    monkeypatch.setattr(StageTrainer, "gather", lambda _: torch.empty(MOST, dtype=torch.uint8))
    with pytest.raises(UserError, match=r"env\.num_envs = 64, .*train\.bptt_horizon = 16"):
        runs.train(tmp_path)
