"""Stable-Baselines3's `VecEnv` on the core: one agent against an opponent, many engagements."""

from midrange_puffer.errors import naming_extra

with naming_extra("midrange_puffer.sb3 needs"):
    from midrange_puffer.envs.sb3 import MidrangeVecEnv

__all__ = ["MidrangeVecEnv"]
