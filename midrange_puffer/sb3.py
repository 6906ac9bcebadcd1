"""Stable-Baselines3's `VecEnv` over the core: one agent against an opponent, many times over."""

from midrange_puffer.envs.sb3 import MidrangeVecEnv

__all__ = ["MidrangeVecEnv"]
