"""PettingZoo's `ParallelEnv` over the core: both seats, agents `red_0` and `blue_0`."""

from midrange_puffer.envs.pettingzoo import MidrangeParallelEnv, parallel_env

__all__ = ["MidrangeParallelEnv", "parallel_env"]
