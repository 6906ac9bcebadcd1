"""The policy: a small MLP, alone or in front of PufferLib's LSTM."""

from collections.abc import Mapping

import torch
from torch import nn

from midrange_puffer.puffer_import import pufferlib

# isort: split
import pufferlib.models
from pufferlib.pytorch import layer_init


class Policy(nn.Module):
    """Two hidden layers, then action logits and a value.

    Observations float32 [agents, features] -> a tuple of logits [agents, levels], one for each of
    rudder, throttle and fire, and values [agents, 1].
    """

    is_continuous = False  # asked by LSTMWrapper

    def __init__(self, env: object, hidden_size: int = 128, fire_bias: float = -4.0) -> None:
        super().__init__()
        self.fire_bias = fire_bias
        self.hidden_size = hidden_size
        self.features = features = env.single_observation_space.shape[0]
        self.action_levels = tuple(int(n) for n in env.single_action_space.nvec)
        self.encoder = nn.Sequential(
            nn.Linear(features, hidden_size),
            nn.GELU(),
            nn.Linear(hidden_size, hidden_size),
            nn.GELU(),
        )
        self.actor = nn.Linear(hidden_size, sum(self.action_levels))
        self.critic = nn.Linear(hidden_size, 1)
        self.initialise()

    def initialise(self) -> None:
        """Orthogonal weights; near-uniform actions but for fire, with logit `fire_bias` for yes.

        With an even chance six missiles are gone in half a minute, and *when* to fire is never
        explored.
        """
        for layer in (self.encoder[0], self.encoder[2]):
            layer_init(layer)
        layer_init(self.critic, std=1.0)
        layer_init(self.actor, std=0.01)
        with torch.no_grad():
            self.actor.bias[-1] = self.fire_bias

    def forward(
        self, observations: torch.Tensor, state: dict | None = None
    ) -> tuple[tuple[torch.Tensor, ...], torch.Tensor]:
        """Logits and values, without memory."""
        return self.decode_actions(self.encode_observations(observations, state))

    forward_eval = forward

    def encode_observations(
        self, observations: torch.Tensor, state: dict | None = None
    ) -> torch.Tensor:
        """Hidden features [agents, hidden_size]; the part before a recurrent cell."""
        return self.encoder(observations.float())

    def decode_actions(self, hidden: torch.Tensor) -> tuple[tuple[torch.Tensor, ...], torch.Tensor]:
        """Logits and values of hidden features; the part after a recurrent cell."""
        return self.actor(hidden).split(self.action_levels, dim=1), self.critic(hidden)


class Recurrent(pufferlib.models.LSTMWrapper):
    """PufferLib's LSTM between the encoder and the heads of `Policy`."""

    def __init__(
        self, env: object, policy: Policy, input_size: int = 128, hidden_size: int = 128
    ) -> None:
        super().__init__(env, policy, input_size, hidden_size)
        policy.initialise()  # anew: LSTMWrapper has set all weights and biases its own way


def features_seen(policy: nn.Module) -> int:
    """How many features of an observation a policy was made for."""
    return getattr(policy, "policy", policy).features


def make_policy(
    env: object,
    policy_kwargs: Mapping[str, int],
    rnn_name: str | None = None,
    rnn_kwargs: Mapping[str, int] | None = None,
) -> nn.Module:
    """The policy of a configuration: `Policy`, wrapped in `Recurrent` where `rnn_name` says so."""
    policy = Policy(env, **policy_kwargs)
    if rnn_name is None:
        return policy
    return Recurrent(env, policy, **(rnn_kwargs or {}))
