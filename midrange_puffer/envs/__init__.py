"""Environments: `Midrange`, PufferLib's, and those of Gymnasium and PettingZoo."""
