"""Policies for the tests with known or at least repeatable actions."""

import torch
from torch import nn

from midrange_puffer.game.observation import spaces_of
from midrange_puffer.policies.networks import make_policy


class Constant(nn.Module):
    """A policy with constant levels of rudder, throttle and fire."""

    features = memory_size = 0
    is_continuous, action_size = False, 3

    def __init__(self, rudder: int = 2, throttle: int = 2, fire: int = 1) -> None:
        super().__init__()
        self.levels = (rudder, throttle, fire)

    def forward_eval(self, observations, state):
        count = len(observations)
        logits = [
            torch.full((count, levels), -1e9).index_fill(1, torch.tensor([level]), 0.0)
            for levels, level in zip((5, 3, 2), self.levels, strict=True)
        ]
        return logits, torch.zeros(count, 1)


def random_policy(
    *rnn: object,
    seed: int = 3,
    observation: str = "default",
    action_mode: str = "discrete",
    sizes: tuple[int, int] = (1, 1),
) -> nn.Module:
    """Returns a policy with random weights, so large that its actions depend on observations."""
    torch.manual_seed(seed)
    spaces = spaces_of(observation, action_mode, *sizes)
    policy = make_policy(spaces, {"hidden_size": 16}, *rnn).eval()
    actor = (policy.policy if rnn else policy).actor
    with torch.no_grad():
        actor.weight.mul_(100)
        actor.bias.zero_()
    return policy
