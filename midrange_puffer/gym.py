"""Gymnasium environments: `Midrange-v0`, one agent against an opponent, alone or side by side.

Importing this registers it: `gymnasium.make("midrange_puffer.gym:Midrange-v0")`.
"""

from midrange_puffer.envs.gym import MidrangeEnv
from midrange_puffer.envs.gym_vector import MidrangeVectorEnv

__all__ = ["MidrangeEnv", "MidrangeVectorEnv"]
