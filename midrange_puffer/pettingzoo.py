"""PettingZoo's `ParallelEnv` over the core: both seats, agents `red_0` and `blue_0`."""

from midrange_puffer.envs.pettingzoo import MidrangeParallelEnv, parallel_env
from midrange_puffer.envs.truth import STATE

__all__ = ["STATE", "MidrangeParallelEnv", "parallel_env"]
