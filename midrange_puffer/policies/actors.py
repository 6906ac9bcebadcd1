"""The heads of the policy that act: hidden features -> what an action is drawn from."""

from collections.abc import Sequence

import torch
from torch import nn
from torch.distributions import Normal

from midrange_puffer.game.actions import HIGHEST, LOWEST
from midrange_puffer.game.observation import Rows
from midrange_puffer.puffer_import import contained

with contained():
    from pufferlib.pytorch import layer_init

STD = (0.05, 1.0)  # bounds of the deviation, in half the range of a control
# What a policy gives to be drawn from: logits [agents, levels] of rudder, throttle and fire, or a
# distribution [agents, 3] of these controls.
Actions = tuple[torch.Tensor, ...] | Normal
# The logit of firing at nobody's row. Its probability is 0 in float32, and 0 times it is 0.
ABSENT = -1e4


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


class TargetActor(LevelActor):
    """The same in a team, where fire is at nobody or at one of the enemies in the observation.

    The hidden features say whether to fire, and what is wanted of a target; each enemy's row says
    what it has of that. Their scalar product is added to the enemy's logit. So there may be any
    number of enemies, and one that is absent is never chosen.

    Args:
        hidden_size: of the hidden features.
        levels: of rudder and throttle.
        enemies: the rows of enemies in the observations of training.
        size: numbers that are wanted of a target.
    """

    def __init__(self, hidden_size: int, levels: Sequence[int], enemies: Rows, size: int) -> None:
        super().__init__(hidden_size, (*levels, 2, size))
        self.keys = nn.Linear(enemies.features, size, bias=False)

    def initialise(self, fire_bias: float) -> None:
        """As `LevelActor.initialise`, alike for each enemy."""
        layer_init(self, std=0.01)
        nn.init.orthogonal_(self.keys.weight)
        with torch.no_grad():
            self.bias[sum(self.levels[:2]) + 1] = fire_bias

    def forward(self, hidden: torch.Tensor, enemies: torch.Tensor) -> tuple[torch.Tensor, ...]:
        """Logits of hidden features, and rows of enemies [agents, enemies, features]."""
        rudder, throttle, fire, wanted = super().forward(hidden)
        fit = (self.keys(enemies).float() @ wanted[:, :, None]).squeeze(2)
        is_there = enemies[:, :, 0] > 0
        at_each = torch.where(is_there, fire[:, 1:] + fit, ABSENT)
        return rudder, throttle, torch.cat([fire[:, :1], at_each], dim=1)


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
