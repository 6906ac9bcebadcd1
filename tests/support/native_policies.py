"""Policies that the C learner computes, and decisions for it to learn from."""

from types import SimpleNamespace

import numpy as np
import torch

from midrange_puffer.game.actions import HEIGHT, PLANE
from midrange_puffer.policies.actors import judge
from midrange_puffer.policies.networks import Policy


def make(
    features: int = 71,
    hidden_size: int = 64,
    hidden_layers: int = 2,
    levels: tuple[int, ...] | None = (5, 3, 2),
    scale: float = 0.1,
    seed: int = 0,
    heads: int = 3,
) -> Policy:
    """Returns a policy with weights that no training gives, the larger the greater `scale`.

    `heads`: number of numbers of an action, if `levels` is None: actions are continuous.
    """
    torch.manual_seed(seed)
    nvec = {} if levels is None else {"nvec": np.array(levels)}
    action_shape = (heads if levels is None else len(levels),)
    controls = HEIGHT if levels is None and heads == HEIGHT.count else PLANE
    spaces = SimpleNamespace(
        single_observation_space=SimpleNamespace(shape=(features,)),
        single_action_space=SimpleNamespace(
            shape=action_shape, low=controls.lowest, high=controls.highest, **nvec
        ),
    )
    policy = Policy(spaces, hidden_size=hidden_size, hidden_layers=hidden_layers)
    with torch.no_grad():
        for one in policy.parameters():
            one.add_(torch.randn_like(one) * scale)
    return policy


class Experience:
    """Invented decisions, [segments, horizon]."""

    def __init__(self, policy: Policy, segments: int, horizon: int, seed: int) -> None:
        rng = np.random.default_rng(seed)
        shape, heads = (segments, horizon), policy.action_size
        self.observations = rng.uniform(-1, 1, (*shape, policy.features)).astype(np.float32)
        if policy.is_continuous:
            self.actions = rng.normal(0.2, 0.7, (*shape, heads)).astype(np.float32)
        else:
            self.actions = rng.integers(0, policy.actor.levels, (*shape, heads)).astype(np.int32)
        # Near what the policy gives, so that some are within the clips and some beyond.
        with torch.no_grad():
            logprobs, values, _ = evaluate(policy, self.observations, self.actions, torch.float32)
        near = rng.normal(0, 0.2, (2, *shape))
        self.proximal = (logprobs.numpy() + near[0]).astype(np.float32)
        self.values = (values.numpy() + near[1]).astype(np.float32)

    def arrays(self) -> tuple[np.ndarray, ...]:
        return self.observations, self.actions, self.proximal, self.values


def evaluate(
    policy: Policy, observations: np.ndarray, actions: np.ndarray, kind: torch.dtype
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Log-probabilities, values and entropies by torch, [segments, horizon]."""
    hidden = policy.encoder(torch.from_numpy(observations).flatten(0, 1).to(kind))
    outputs = torch.nn.functional.linear(hidden, policy.actor.weight, policy.actor.bias)
    if policy.is_continuous:
        means = policy.actor.middle + policy.actor.reach * outputs
        deviations = (policy.actor.reach * policy.actor.std).expand_as(means)
        found = torch.distributions.Normal(means, deviations, validate_args=False)
    else:
        found = outputs.split(policy.actor.levels, dim=1)
    logprobs, entropies = judge(found, torch.from_numpy(actions).flatten(0, 1))
    shape = observations.shape[:2]
    return tuple(one.view(shape) for one in (logprobs, policy.critic(hidden), entropies))
