"""The user's own environments: subclasses of `Midrange` with a reward, by name."""

import numpy as np

from midrange_puffer.envs.midrange import Midrange
from midrange_puffer.game.parameters import Parameters
from midrange_puffer.policies import own_code
from midrange_puffer.policies.own_code import MIDRANGE, OwnCodeError

TRIED = 8  # number of engagements in which `try_out` tries a user's own reward


def env_class(name: str) -> type[Midrange]:
    """Returns the class that base.env_class names: `Midrange`, or a user's own subclass.

    Raises:
        OwnCodeError: It cannot be imported, or is no subclass of Midrange with `own_reward`.
    """
    if name == MIDRANGE:
        return Midrange
    loaded = own_code.load(name)
    if not (isinstance(loaded, type) and issubclass(loaded, Midrange)):
        raise OwnCodeError(
            f"{name}: is {own_code.in_words(loaded)}, expected a subclass of "
            f"midrange_puffer.Midrange"
        )
    if loaded.own_reward is Midrange.own_reward:
        raise OwnCodeError(f"{name}: has no own_reward(self, decision, …)")
    return loaded


def try_out(name: str, env: Parameters) -> None:
    """Makes some decisions in the environment of a configuration, to check the user's own reward.

    Args:
        name: base.env_class.
        env: the section [env].

    Raises:
        OwnCodeError: The reward fails.
    """
    small = env_class(name)(**{**env, "num_envs": TRIED, "opponent": "shooter"})
    small.reset()
    for _ in range(2):
        small.step(np.zeros(small.actions.shape, small.actions.dtype))
    small.close()
