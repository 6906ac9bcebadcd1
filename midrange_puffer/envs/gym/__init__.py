"""Gymnasium environments: `Midrange-v0`, one agent against an opponent, alone or side by side.

Importing this registers it, as does importing its public name, `midrange_puffer.gym`.
"""

from midrange_puffer.envs.gym.env import MidrangeEnv
from midrange_puffer.envs.gym.vector_env import MidrangeVectorEnv
from midrange_puffer.gymnasium_import import gymnasium

__all__ = ["MidrangeEnv", "MidrangeVectorEnv"]

gymnasium.register(
    "Midrange-v0",
    entry_point="midrange_puffer.envs.gym.env:MidrangeEnv",
    vector_entry_point="midrange_puffer.envs.gym.vector_env:make_vector_env",
)
