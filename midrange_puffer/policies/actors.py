"""The actor heads of a policy, and the actions drawn from their output."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import torch
from torch import nn
from torch.distributions import Normal
from torch.nn import functional

from midrange_puffer.game.observation import Rows
from midrange_puffer.puffer_import import contained

with contained():
    from pufferlib.pytorch import layer_init

STD = (0.05, 1.0)  # bounds of the standard deviation, in half the range of a control
# An actor's output: logits [agents, levels] for each control, or a normal distribution [agents,
# heads] of the controls. A head is a number of an action: 3 in the plane, 4 with height.
Distribution = tuple[torch.Tensor, ...] | Normal
# The logit of firing at an absent enemy. Its probability is 0 in float32. It is finite, so that
# probability times logit is 0 and not not-a-number.
ABSENT = -1e4


class OrderFlyer(Protocol):
    """Something that flies fighters by orders, see `subordinate.Subordinate`."""

    features: int
    any_size: bool

    def act(self, observations: np.ndarray, orders: np.ndarray) -> np.ndarray:
        """Returns the controls by which fighters follow orders, float32 [n, controls]."""
        ...


class PolicyModule(nn.Module):
    """A policy: a torch module with the attributes that players, exports and the trainer read.

    Attributes:
        features: number of features of its observations.
        memory_size: size of its memory, the numbers it keeps from one decision to the next; 0:
            none.
        is_continuous: True if its actions are numbers, False if they are levels.
        action_size: number of heads of its actions.
        commanded: number of fighters that it commands; 1: it flies a fighter.
        order_decisions: if its actions are orders, number of decisions for which one is flown; 0
            if they are controls.
        order_features: number of features, the last of its observations, of the order that it is
            given; 0: it is no subordinate.
        subordinate: flies the fighters by its orders; None: the scripted courses are flown.
        label: its name in messages: the file, or the package's name of it, if it was loaded.
    """

    features: int
    memory_size: int
    is_continuous: bool
    action_size: int
    order_decisions: int = 0
    commanded: int = 1
    order_features: int = 0
    subordinate: OrderFlyer | None = None
    label: str

    if TYPE_CHECKING:

        def forward_eval(
            self, observations: torch.Tensor, state: Any
        ) -> tuple[Distribution, torch.Tensor]:
            """Returns actor outputs and values [agents, 1] of one decision."""
            ...


def label_of(policy: PolicyModule) -> str:
    """Returns the name of a policy in messages: the file or name by which it was loaded, if any."""
    return getattr(policy, "label", "a policy")


class LevelActor(nn.Linear):
    """A layer from hidden features to logits [agents, levels] of each head; fire is the last."""

    def __init__(self, hidden_size: int, levels: Sequence[int]) -> None:
        super().__init__(hidden_size, sum(levels))
        self.levels = tuple(levels)

    def initialise(self, fire_bias: float) -> None:
        """Sets weights for nearly uniform actions, but with the logit `fire_bias` for firing."""
        layer_init(self, std=0.01)
        with torch.no_grad():
            self.bias[-1] = fire_bias

    def forward(self, hidden: torch.Tensor) -> tuple[torch.Tensor, ...]:
        """Returns the logits for hidden features [agents, hidden_size]."""
        logits = super().forward(hidden).float()  # bfloat16 would change probabilities by 1 %
        return logits.split(self.levels, dim=1)


class TargetActor(LevelActor):
    """A `LevelActor` for teams: the fire action also chooses one of the observed enemies.

    The hidden features give a logit for firing and a query vector. Each enemy's observation row
    gives a key vector. The enemy's logit is the firing logit plus the scalar product of query and
    key. So the number of enemies may vary, and an absent enemy is never chosen.

    Args:
        hidden_size: number of hidden features.
        levels: levels of the controls before fire.
        enemies: the enemies' rows in the observations of training.
        size: length of query and key.
    """

    def __init__(self, hidden_size: int, levels: Sequence[int], enemies: Rows, size: int) -> None:
        super().__init__(hidden_size, (*levels, 2, size))
        self.keys = nn.Linear(enemies.features, size, bias=False)

    def initialise(self, fire_bias: float) -> None:
        """Sets weights as `LevelActor.initialise` does, the same for each enemy."""
        layer_init(self, std=0.01)
        nn.init.orthogonal_(self.keys.weight)
        with torch.no_grad():
            self.bias[sum(self.levels[:-2]) + 1] = fire_bias

    def forward(self, hidden: torch.Tensor, enemies: torch.Tensor) -> tuple[torch.Tensor, ...]:
        """Returns the logits for hidden features and enemy rows [agents, enemies, features]."""
        *others, fire, query = super().forward(hidden)
        match = (self.keys(enemies).float() @ query[:, :, None]).squeeze(2)
        is_present = enemies[:, :, 0] > 0
        targets = torch.where(is_present, fire[:, 1:] + match, ABSENT)
        return *others, torch.cat([fire[:, :1], targets], dim=1)


class GaussianActor(nn.Linear):
    """A layer from hidden features to a normal distribution [agents, heads] of the controls.

    The linear layer gives the mean: 0 is the middle of a control's range, 1 its upper end. The
    standard deviation does not depend on the observation. It is bounded: the entropy bonus always
    favours a larger one, but with a large one most actions are clipped to the ends of the range.

    Args:
        hidden_size: number of hidden features.
        low, high: the ends of the controls' ranges, float32 [controls].
    """

    middle: torch.Tensor
    reach: torch.Tensor

    def __init__(self, hidden_size: int, low: np.ndarray, high: np.ndarray) -> None:
        super().__init__(hidden_size, len(low))
        self.spread = nn.Parameter(torch.empty(len(low)))
        self.register_buffer("middle", torch.from_numpy((high + low) / 2), persistent=False)
        self.register_buffer("reach", torch.from_numpy((high - low) / 2), persistent=False)

    def initialise(self, fire_bias: float) -> None:
        """Spreads the controls over their range, but fires as often as by `fire_bias`."""
        layer_init(self, std=0.01)
        nn.init.zeros_(self.spread)
        chance = torch.tensor(fire_bias, dtype=torch.float64).sigmoid()
        with torch.no_grad():
            # An action fires if it is above 0.5: of one kind of missile, the middle of the range.
            threshold = (0.5 - self.middle[-1]) / self.reach[-1]
            self.bias[-1] = threshold + self.std[-1] * torch.special.ndtri(chance)

    @property
    def std(self) -> torch.Tensor:
        """The standard deviation [heads], in half the range of a control."""
        low, high = STD
        return low + (high - low) * self.spread.sigmoid()

    def forward(self, hidden: torch.Tensor) -> Normal:
        """Returns the distribution for hidden features [agents, hidden_size]."""
        mean = super().forward(hidden).float()  # NumPy has no bfloat16
        std = (self.reach * self.std).expand_as(mean)
        return Normal(self.middle + self.reach * mean, std, validate_args=False)


def noise_for(
    count: int,
    heads: int,
    is_continuous: bool,
    device: torch.device | str,
    generator: torch.Generator | None = None,
) -> torch.Tensor:
    """Returns the random numbers for drawing `count` actions, [count, heads].

    They are standard normal for continuous actions, otherwise uniform in [0, 1).
    """
    make = torch.randn if is_continuous else torch.rand
    return make(count, heads, device=device, generator=generator)


def draw(distribution: Distribution, noise: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Draws one action for each agent.

    Args:
        distribution: an actor's output for n agents.
        noise: [n, heads], from `noise_for`.

    Returns:
        Actions [n, heads], int32 levels or float32, and their log-probabilities [n].
    """
    if isinstance(distribution, Normal):
        actions = distribution.loc + distribution.scale * noise
        return actions, distribution.log_prob(actions).sum(1)
    logprob, levels = torch.zeros(()), []
    for logits, uniform in zip(distribution, noise.split(1, dim=1), strict=True):
        logprobs = functional.log_softmax(logits, dim=1)
        # Index of the first level whose cumulative probability exceeds the random number.
        level = (uniform >= logprobs.exp().cumsum(1)[:, :-1]).sum(1, keepdim=True)
        logprob = logprob + logprobs.gather(1, level)
        levels.append(level)
    return torch.cat(levels, dim=1).int(), logprob.squeeze(1)


def likeliest(distribution: Distribution) -> torch.Tensor:
    """Returns each agent's likeliest action [n, heads], int32 levels or float32."""
    if isinstance(distribution, Normal):
        return distribution.loc
    return torch.stack([logits.argmax(dim=1) for logits in distribution], dim=1).int()


def judge(distribution: Distribution, actions: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Returns the log-probabilities [n] of actions [n, heads], and the entropies [n]."""
    if isinstance(distribution, Normal):
        return distribution.log_prob(actions).sum(1), distribution.entropy().sum(1)
    logprob, entropy = torch.zeros(()), torch.zeros(())
    for logits, level in zip(distribution, actions.long().split(1, dim=1), strict=True):
        logprobs = functional.log_softmax(logits, dim=1)
        logprob = logprob + logprobs.gather(1, level)
        entropy = entropy - (logprobs.exp() * logprobs).sum(1)
    return logprob.squeeze(1), entropy
