"""The policy: a small MLP, alone or in front of PufferLib's LSTM."""

import functools
from collections.abc import Mapping, Sequence

import numpy as np
import torch
from torch import nn
from torch.distributions import Normal

from midrange_puffer.game.actions import HIGHEST, LOWEST
from midrange_puffer.policies.own_code import PACKAGE
from midrange_puffer.policies.own_policy import MEMORY, make_own, own_policy
from midrange_puffer.puffer_import import pufferlib

# isort: split
import pufferlib.models
from pufferlib.pytorch import layer_init

# The largest weight of a policy: in trained ones the largest are below 10, and three layers of such
# as these cannot yet overflow a float32, whatever they see.
WEIGHT_LIMIT = 1e6
STD = (0.05, 1.0)  # bounds of the deviation, in half the range of a control
# What a policy gives to be drawn from: logits [agents, levels] of rudder, throttle and fire, or a
# distribution [agents, 3] of these controls.
Actions = tuple[torch.Tensor, ...] | Normal


def are_usable(weights: torch.Tensor | np.ndarray) -> bool:
    """Whether all are numbers, and none is beyond WEIGHT_LIMIT."""
    return bool((abs(weights) <= WEIGHT_LIMIT).all())


class LevelActor(nn.Linear):
    """Hidden features -> a tuple of logits [agents, levels] of rudder, throttle and fire."""

    def __init__(self, hidden_size: int, levels: Sequence[int]) -> None:
        super().__init__(hidden_size, sum(levels))
        self.levels = tuple(levels)

    def initialise(self, fire_bias: float) -> None:
        """Near-uniform actions but for fire, with logit `fire_bias` for yes."""
        layer_init(self, std=0.01)
        with torch.no_grad():
            self.bias[-1] = fire_bias

    def forward(self, hidden: torch.Tensor) -> tuple[torch.Tensor, ...]:
        """Logits of hidden features [agents, hidden_size]."""
        logits = super().forward(hidden).float()  # bfloat16 is off by 1 % in a probability
        return logits.split(self.levels, dim=1)


class GaussianActor(nn.Linear):
    """Hidden features -> a normal distribution [agents, 3] of rudder, throttle and fire.

    The linear layer gives the mean, in half the control's range from its middle. The deviation is
    the same whatever is seen, and bounded: of a wide one most actions are clipped to the ends of
    the range, but the entropy bonus would always have it wider.
    """

    def __init__(self, hidden_size: int) -> None:
        super().__init__(hidden_size, len(LOWEST))
        self.spread = nn.Parameter(torch.empty(len(LOWEST)))
        self.register_buffer("middle", torch.from_numpy((HIGHEST + LOWEST) / 2), persistent=False)
        self.register_buffer("reach", torch.from_numpy((HIGHEST - LOWEST) / 2), persistent=False)

    def initialise(self, fire_bias: float) -> None:
        """The whole range of rudder and throttle; fire as likely as with logit `fire_bias`."""
        layer_init(self, std=0.01)
        nn.init.zeros_(self.spread)
        chance = torch.tensor(fire_bias, dtype=torch.float64).sigmoid()
        with torch.no_grad():
            # Fire is asked for above the middle of its range.
            self.bias[-1] = self.std[-1] * torch.special.ndtri(chance)

    @property
    def std(self) -> torch.Tensor:
        """The deviation [3], in half the range of a control."""
        low, high = STD
        return low + (high - low) * self.spread.sigmoid()

    def forward(self, hidden: torch.Tensor) -> Normal:
        """The distribution for hidden features [agents, hidden_size]."""
        mean = super().forward(hidden).float()  # NumPy knows no bfloat16
        std = (self.reach * self.std).expand_as(mean)
        return Normal(self.middle + self.reach * mean, std, validate_args=False)


class Policy(nn.Module):
    """Some hidden layers, then actions and a value.

    Observations float32 [agents, features] -> what the actor gives, by the environment's action
    space a `LevelActor` or a `GaussianActor`, and values [agents, 1].
    """

    memory_size = 0  # what it remembers from one decision to the next

    def __init__(
        self,
        env: object,
        hidden_size: int = 128,
        fire_bias: float = -4.0,
        hidden_layers: int = 2,
    ) -> None:
        super().__init__()
        self.fire_bias = fire_bias
        self.hidden_size, self.hidden_layers = hidden_size, hidden_layers
        self.features = features = env.single_observation_space.shape[0]
        levels = getattr(env.single_action_space, "nvec", None)
        self.is_continuous = levels is None  # asked by LSTMWrapper
        layers: list[nn.Module] = []
        for size in (features, *[hidden_size] * (hidden_layers - 1)):
            layers += [nn.Linear(size, hidden_size), nn.GELU()]
        self.encoder = nn.Sequential(*layers)
        self.actor = (
            GaussianActor(hidden_size)
            if self.is_continuous
            else LevelActor(hidden_size, levels.tolist())
        )
        self.critic = nn.Linear(hidden_size, 1)
        self.initialise()

    def initialise(self) -> None:
        """Orthogonal weights; actions that try everything but fire, which `fire_bias` makes rare.

        With an even chance six missiles are gone in half a minute, and *when* to fire is never
        explored.
        """
        for layer in self.encoder[::2]:
            layer_init(layer)
        layer_init(self.critic, std=1.0)
        self.actor.initialise(self.fire_bias)

    def forward(
        self, observations: torch.Tensor, state: dict | None = None
    ) -> tuple[Actions, torch.Tensor]:
        """Actions and values, without memory."""
        return self.decode_actions(self.encode_observations(observations, state))

    forward_eval = forward

    def encode_observations(
        self, observations: torch.Tensor, state: dict | None = None
    ) -> torch.Tensor:
        """Hidden features [agents, hidden_size]; the part before a recurrent cell."""
        return self.encoder(observations.float())

    def decode_actions(self, hidden: torch.Tensor) -> tuple[Actions, torch.Tensor]:
        """Actions and values of hidden features; the part after a recurrent cell."""
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
        return super().forward_eval(observations, state)

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
        hidden = self.policy.encode_observations(observations.flatten(0, 1), state)
        actions, values = self.policy.decode_actions(self._remember(hidden, state["done"]))
        return actions, values.view(observations.shape[:2])

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
