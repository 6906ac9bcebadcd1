"""PettingZoo's `ParallelEnv` on the core: both sides are agents, `red_0`, … and `blue_0`, …."""

from midrange_puffer.errors import naming_extra

with naming_extra("midrange_puffer.pettingzoo needs"):
    from midrange_puffer.envs.pettingzoo import STATE, MidrangeParallelEnv, parallel_env

__all__ = ["STATE", "MidrangeParallelEnv", "parallel_env"]
