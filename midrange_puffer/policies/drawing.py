"""Actions drawn from what a policy gives, and how likely given ones are."""

import torch
from torch.distributions import Normal
from torch.nn import functional

from midrange_puffer.game.actions import HIGHEST
from midrange_puffer.policies.actors import Actions

HEADS = len(HIGHEST)  # numbers of an action


def noise_for(
    count: int,
    is_continuous: bool,
    device: torch.device | str,
    generator: torch.Generator | None = None,
) -> torch.Tensor:
    """What `count` actions are drawn with, [count, HEADS].

    Standard normal where actions are continuous, otherwise uniform in [0, 1).
    """
    make = torch.randn if is_continuous else torch.rand
    return make(count, HEADS, device=device, generator=generator)


def draw(found: Actions, noise: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Draw an action each.

    Args:
        found: what the policy gives for n observations.
        noise: [n, HEADS], as of `noise_for`.

    Returns:
        Actions [n, HEADS], int32 levels or float32, and their log-probabilities [n].
    """
    if isinstance(found, Normal):
        actions = found.loc + found.scale * noise
        return actions, found.log_prob(actions).sum(1)
    logprob, levels = 0.0, []
    for logits, uniform in zip(found, noise.split(1, dim=1), strict=True):
        logprobs = functional.log_softmax(logits, dim=1)
        # The level whose part of the cumulative probabilities the number falls into.
        level = (uniform >= logprobs.exp().cumsum(1)[:, :-1]).sum(1, keepdim=True)
        logprob = logprob + logprobs.gather(1, level)
        levels.append(level)
    return torch.cat(levels, dim=1).int(), logprob.squeeze(1)


def likeliest(found: Actions) -> torch.Tensor:
    """The likeliest action each, [n, HEADS]: int32 levels or float32."""
    if isinstance(found, Normal):
        return found.loc
    return torch.stack([logits.argmax(dim=1) for logits in found], dim=1).int()


def judge(found: Actions, actions: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """The log-probabilities of actions [n, HEADS], and the entropies of what they were drawn from.

    Returns:
        [n] each.
    """
    if isinstance(found, Normal):
        return found.log_prob(actions).sum(1), found.entropy().sum(1)
    logprob, entropy = 0.0, 0.0
    for logits, level in zip(found, actions.long().split(1, dim=1), strict=True):
        logprobs = functional.log_softmax(logits, dim=1)
        logprob = logprob + logprobs.gather(1, level)
        entropy = entropy - (logprobs.exp() * logprobs).sum(1)
    return logprob.squeeze(1), entropy
