"""PettingZoo's `ParallelEnv` on the core: both sides are agents, `red_0`, … and `blue_0`, …."""

from midrange_puffer.envs.pettingzoo import STATE, MidrangeParallelEnv, parallel_env

__all__ = ["STATE", "MidrangeParallelEnv", "parallel_env"]
