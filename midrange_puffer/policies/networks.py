"""The policy: a small MLP, alone or in front of PufferLib's LSTM."""

import functools
import math
from collections.abc import Mapping

import numpy as np
import torch
from torch import nn

from midrange_puffer.game.observation import enemies_of, rows_of
from midrange_puffer.policies.actors import Actions, GaussianActor, LevelActor, TargetActor
from midrange_puffer.policies.own_code import PACKAGE
from midrange_puffer.policies.own_policy import MEMORY, make_own, own_policy
from midrange_puffer.policies.pooling import Pooling, entities
from midrange_puffer.puffer_import import pufferlib

# isort: split
import pufferlib.models
from pufferlib.pytorch import layer_init

# The largest weight of a policy: in trained ones the largest are below 10, and three layers of such
# as these cannot yet overflow a float32, whatever they see.
WEIGHT_LIMIT = 1e6


def are_usable(weights: torch.Tensor | np.ndarray) -> bool:
    """Whether all are numbers, and none is beyond WEIGHT_LIMIT."""
    return bool((abs(weights) <= WEIGHT_LIMIT).all())


class Policy(nn.Module):
    """Some hidden layers, then actions and a value.

    Observations float32 [agents, features] -> what the actor gives, by the environment's action
    space a `LevelActor` or a `GaussianActor`, and values [agents, 1].

    In a team `Pooling` is in front, and the levels are a `TargetActor`'s. The policy then flies in
    teams of any size, whose observations say of how many rows they are.

    Args:
        env: whatever has its spaces.
        hidden_size, hidden_layers: of the hidden layers.
        fire_bias: the logit of firing in a policy that has learnt nothing.
        entity_size: features of each kind of entity, and of a target.

    Attributes:
        rows: of the observations in teams; empty where one flies against one.
        any_size: whether it flies in teams of any size.
    """

    memory_size = 0  # what it remembers from one decision to the next

    def __init__(
        self,
        env: object,
        hidden_size: int = 128,
        fire_bias: float = -4.0,
        hidden_layers: int = 2,
        entity_size: int = 32,
    ) -> None:
        super().__init__()
        self.fire_bias = fire_bias
        self.hidden_size, self.hidden_layers = hidden_size, hidden_layers
        self.features = seen = env.single_observation_space.shape[0]
        self.rows, self.entity_size = rows_of(self.features), entity_size
        if self.rows:
            self.pooling = Pooling(self.rows, entity_size)
            seen = self.pooling.width
        levels = getattr(env.single_action_space, "nvec", None)
        self.is_continuous = levels is None  # asked by LSTMWrapper
        layers: list[nn.Module] = []
        for size in (seen, *[hidden_size] * (hidden_layers - 1)):
            layers += [nn.Linear(size, hidden_size), nn.GELU()]
        self.encoder = nn.Sequential(*layers)
        if self.is_continuous:
            self.actor = GaussianActor(hidden_size)
        elif self.rows:
            self.actor = TargetActor(
                hidden_size, levels[:2].tolist(), enemies_of(self.rows), entity_size
            )
        else:
            self.actor = LevelActor(hidden_size, levels.tolist())
        self.critic = nn.Linear(hidden_size, 1)
        self.initialise()

    @property
    def any_size(self) -> bool:
        """As of `observation.Seeing`."""
        return bool(self.rows)

    def initialise(self) -> None:
        """Orthogonal weights; actions that try everything but fire, which `fire_bias` makes rare.

        With an even chance six missiles are gone in half a minute, and *when* to fire is never
        explored.
        """
        for layer in self.encoder[::2]:
            layer_init(layer)
        if self.rows:
            for layer in self.pooling.layers.values():
                nn.init.orthogonal_(layer.weight, math.sqrt(2))  # as of `layer_init`, without bias
        layer_init(self.critic, std=1.0)
        self.actor.initialise(self.fire_bias)

    def forward(
        self, observations: torch.Tensor, state: dict | None = None
    ) -> tuple[Actions, torch.Tensor]:
        """Actions and values, without memory."""
        hidden = self.encode_observations(observations, state)
        return self.decode_actions(hidden, observations)

    forward_eval = forward

    def encode_observations(
        self, observations: torch.Tensor, state: dict | None = None
    ) -> torch.Tensor:
        """Hidden features [agents, hidden_size]; the part before a recurrent cell."""
        seen = observations.float()
        return self.encoder(self.pooling(seen) if self.rows else seen)

    def decode_actions(
        self, hidden: torch.Tensor, observations: torch.Tensor | None = None
    ) -> tuple[Actions, torch.Tensor]:
        """Actions and values of hidden features; the part after a recurrent cell.

        Args:
            hidden: [agents, hidden_size].
            observations: [agents, features], of which these are; needed for levels in teams.
        """
        if isinstance(self.actor, TargetActor):
            enemies = entities(observations, enemies_of(rows_of(observations.shape[1])))
            return self.actor(hidden, enemies), self.critic(hidden)
        return self.actor(hidden), self.critic(hidden)


class Recurrent(pufferlib.models.LSTMWrapper):
    """PufferLib's LSTM between the encoder and the heads of `Policy`.

    Its memory ends with the engagement: where the state has `done`, which says of every decision
    whether the one before it was an engagement's last, it forgets before that decision.
    """

    def __init__(
        self, env: object, policy: Policy, input_size: int = 128, hidden_size: int = 128
    ) -> None:
        super().__init__(env, policy, input_size, hidden_size)
        self.features, self.memory_size = policy.features, hidden_size
        self.is_continuous = policy.is_continuous
        if hasattr(policy, "initialise"):
            policy.initialise()  # anew: LSTMWrapper has set all weights and biases its own way

    @property
    def any_size(self) -> bool:
        """As of `observation.Seeing`."""
        return getattr(self.policy, "any_size", False)

    def forward_eval(
        self, observations: torch.Tensor, state: dict[str, torch.Tensor]
    ) -> tuple[Actions, torch.Tensor]:
        """Actions and values [agents, 1] of one decision, the memory going on in `state`.

        Args:
            observations: float32 [agents, features].
            state: lstm_h and lstm_c [agents, memory_size], and perhaps done, bool [agents].
        """
        if "done" in state:
            for name in MEMORY:
                state[name] = state[name].masked_fill(state["done"][:, None], 0)
        hidden = self.policy.encode_observations(observations, state)
        memory = tuple(state[name] for name in MEMORY)
        state["lstm_h"], state["lstm_c"] = self.cell(hidden, memory)
        return self._decode(state["lstm_h"], observations)

    def forward(
        self, observations: torch.Tensor, state: dict[str, torch.Tensor]
    ) -> tuple[Actions, torch.Tensor]:
        """Actions of all decisions of some segments, one after another, and values.

        A segment begins without a memory. Without `done`, as in PuffeRL's own update, it forgets
        nothing until its end.

        Args:
            observations: float32 [segments, horizon, features].
            state: perhaps with done [segments, horizon].

        Returns:
            As `Policy` for segments x horizon agents, but values [segments, horizon].
        """
        if "done" not in state:
            return super().forward(observations, state)
        flat = observations.flatten(0, 1)
        hidden = self.policy.encode_observations(flat, state)
        actions, values = self._decode(self._remember(hidden, state["done"]), flat)
        return actions, values.view(observations.shape[:2])

    def _decode(
        self, hidden: torch.Tensor, observations: torch.Tensor
    ) -> tuple[Actions, torch.Tensor]:
        """As `Policy.decode_actions`; one of the user's own is given what PufferLib gives it."""
        if isinstance(self.policy, Policy):
            return self.policy.decode_actions(hidden, observations)
        return self.policy.decode_actions(hidden)

    def _remember(self, hidden: torch.Tensor, done: torch.Tensor) -> torch.Tensor:
        """The LSTM over each engagement's part of a segment by itself; [decisions, features]."""
        is_first = done != 0
        is_first[:, 0] = True
        starts = is_first.flatten().nonzero().squeeze(1)  # decisions with which a part begins
        part = is_first.flatten().cumsum(0) - 1  # of each decision
        step = torch.arange(len(part), device=part.device) - starts[part]  # of it in its part
        padded = hidden.new_zeros(int(step.max()) + 1, len(starts), self.input_size)
        padded[step, part] = hidden
        outputs, _ = self.lstm(padded)
        return outputs[step, part]


def policy_class(name: str) -> type[nn.Module]:
    """The class that base.policy_name means: `Policy`, or one of the user's own.

    Raises:
        OwnCodeError: As of `own_policy`.
    """
    return Policy if name == PACKAGE else own_policy(name)


def fit_to_team(policy: nn.Module, features: int) -> None:
    """Let a policy of teams take observations of so many features, of teams of another size."""
    for one in (policy, getattr(policy, "policy", None)):
        if getattr(one, "rows", ()):
            one.rows = rows_of(features)
            policy.features = one.features = features


def make_policy(
    env: object,
    policy_kwargs: Mapping[str, int],
    rnn_name: str | None = None,
    rnn_kwargs: Mapping[str, int] | None = None,
    policy_class: type[nn.Module] = Policy,
) -> nn.Module:
    """The policy of a configuration, wrapped in `Recurrent` where `rnn_name` says so.

    Raises:
        OwnCodeError: One of the user's own cannot be made.
    """
    make = Policy if policy_class is Policy else functools.partial(make_own, policy_class)
    policy = make(env, **policy_kwargs)
    if rnn_name is None:
        return policy
    return Recurrent(env, policy, **(rnn_kwargs or {}))
