"""Subordinates: policies that fly fighters by orders, for agents that command.

A subordinate is trained with env.agents = subordinate. It observes what its fighter does and the
order that it is given (`game.observation.order_features`), and flies by levels of the controls,
the likeliest ones. So its flight follows from observations and orders alone.
"""

import numpy as np

from midrange_puffer.errors import UsageError
from midrange_puffer.game.actions import controls
from midrange_puffer.game.observation import controls_of, order_features, rows_of
from midrange_puffer.game.parameters import SUBORDINATE
from midrange_puffer.policies.actors import PolicyModule
from midrange_puffer.policies.native import FrozenNetwork
from midrange_puffer.policies.networks import Policy

HOW = f"must be a model file of env.agents = {SUBORDINATE}, such as configs/subordinate.ini trains"


class Subordinate:
    """A policy that flies fighters by orders.

    Args:
        policy: with `order_features`, on the CPU.
        threads: number of threads that compute it.

    Attributes:
        features: number of features of a fighter's observation in training, without the order.
        any_size: True if it flies in teams of any size.
    """

    def __init__(self, policy: Policy, threads: int = 1) -> None:
        self.features = policy.features - policy.order_features
        self.any_size = policy.any_size
        self._controls = controls_of(self.features)
        self._network = FrozenNetwork(policy, threads)

    def __deepcopy__(self, memo: dict[int, object]) -> "Subordinate":
        """Returns this subordinate: copies of a policy share it, since it is frozen."""
        return self

    def act(self, observations: np.ndarray, orders: np.ndarray) -> np.ndarray:
        """Returns the controls by which fighters follow orders, float32 [n, controls].

        Args:
            observations: float32 [n, features].
            orders: int [n, heads].
        """
        seen = np.concatenate([observations, order_features(orders, observations)], axis=1)
        levels = self._network.act(seen, None)
        return controls(levels, self._controls, bool(rows_of(self.features)))


def check_no_subordinate(name: str, policy: PolicyModule) -> None:
    """Raises UsageError if a policy that is to fly by itself needs orders."""
    if getattr(policy, "order_features", 0):
        raise UsageError(
            f"{name} is of env.agents = {SUBORDINATE} and flies by orders only; give it as "
            "env.subordinates to a policy that gives orders"
        )
