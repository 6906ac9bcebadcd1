"""Gymnasium environments: `Midrange-v0`, one agent against an opponent; single or many at once.

An import of this module registers it: `gymnasium.make("midrange_puffer.gym:Midrange-v0")`.
"""

from midrange_puffer.errors import naming_extra

with naming_extra("midrange_puffer.gym needs"):
    from midrange_puffer.envs.gym import MidrangeEnv
    from midrange_puffer.envs.gym_vector import MidrangeVectorEnv

__all__ = ["MidrangeEnv", "MidrangeVectorEnv"]
