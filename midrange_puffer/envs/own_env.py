"""Environments of the user's own: subclasses of `Midrange` that pay a reward besides, by name."""

import numpy as np

from midrange_puffer.envs.midrange import Midrange
from midrange_puffer.policies import own_code
from midrange_puffer.policies.own_code import MIDRANGE, OwnCodeError

FEW = 8  # engagements, that a reward is tried in


def env_class(name: str) -> type[Midrange]:
    """The class that base.env_class means: `Midrange`, or one of the user's own.

    Raises:
        OwnCodeError: It cannot be imported, or is no subclass of Midrange with `own_reward`.
    """
    if name == MIDRANGE:
        return Midrange
    found = own_code.load(name)
    if not (isinstance(found, type) and issubclass(found, Midrange)):
        raise OwnCodeError(
            f"{name}: is {own_code.in_words(found)}, expected a subclass of "
            f"midrange_puffer.Midrange"
        )
    if found.own_reward is Midrange.own_reward:
        raise OwnCodeError(f"{name}: has no own_reward(self, decision, …)")
    return found


def arguments(name: str) -> dict[str, own_code.Setting]:
    """The arguments of a class's `own_reward`, which are keys of [env], and their defaults.

    Raises:
        OwnCodeError: As `env_class`; or one has no default that tells its kind, or is a key of
            [env] already.
    """
    return env_class(name).reward_settings()


def try_out(name: str, env: dict[str, object]) -> None:
    """Make some decisions in the environment of a configuration, to see that its reward is one.

    Args:
        name: base.env_class.
        env: the section.

    Raises:
        OwnCodeError: It is not.
    """
    small = env_class(name)(**{**env, "num_envs": FEW, "opponent": "shooter"})
    small.reset()
    for _ in range(2):
        small.step(np.zeros(small.actions.shape, small.actions.dtype))
    small.close()
