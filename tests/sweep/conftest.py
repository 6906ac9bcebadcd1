"""Fixtures that the tests of sweeps share."""

import pufferlib.sweep
import pytest


@pytest.fixture
def quick_fit(monkeypatch):
    """The surrogates are fitted by 20 steps of 0.05, not 1000 of 0.0001: ten times as far."""
    train = pufferlib.sweep.gp.util.train

    def train_quickly(model, optimizer):
        for group in optimizer.param_groups:
            group["lr"] *= 500
        return train(model, optimizer, num_steps=20)

    monkeypatch.setattr(pufferlib.sweep.gp.util, "train", train_quickly)
