"""Environments: `Midrange` for PufferLib, and those for Gymnasium, PettingZoo and SB3."""
