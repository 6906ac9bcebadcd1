"""The package's MLP as a network of the C learner."""

import numpy as np
import torch
from torch import nn

from midrange_puffer import _learner
from midrange_puffer.game.observation import OWN_ALIVE, enemies_of
from midrange_puffer.policies.actors import STD, GaussianActor, LevelActor
from midrange_puffer.policies.critic import Critic
from midrange_puffer.policies.networks import Policy


def reason_against(policy: nn.Module) -> str | None:
    """Returns the reason why the C learner cannot compute a policy, or None if it can."""
    if not isinstance(policy, Policy) or type(policy) is not Policy:
        return f"{type(policy).__name__} is not the package's MLP"
    unit, most = _learner.WIDTH_UNIT, _learner.MAX_LAYERS
    if policy.hidden_size % unit:
        return f"policy.hidden_size = {policy.hidden_size} is no multiple of {unit}"
    if policy.hidden_size > _learner.MAX_WIDTH:
        return f"policy.hidden_size = {policy.hidden_size} is more than {_learner.MAX_WIDTH}"
    if policy.rows and (policy.entity_size % unit or policy.entity_size > _learner.MAX_ENTITY_SIZE):
        return (
            f"policy.entity_size = {policy.entity_size} is no multiple of {unit} up to "
            f"{_learner.MAX_ENTITY_SIZE}"
        )
    if policy.hidden_layers + policy.shares > most:
        joint = ", and the joint layer," if policy.shares else ""
        return f"policy.hidden_layers = {policy.hidden_layers}{joint} is more than {most}"
    values = list(policy.parameters())
    if any(value.dtype != torch.float32 or value.device.type != "cpu" for value in values):
        return "its parameters are not float32 on the CPU"
    return None


def make_network(
    policy: Policy, threads: int = 1, learns: bool = True, features: int | None = None
) -> _learner.Network:
    """Returns a C network of a policy's shape, without its weights.

    Args:
        policy: an instance of `networks.Policy` without a `reason_against`.
        threads: number of threads it may use.
        learns: True to allocate gradients.
        features: number of features of the observations, for teams of another size than in
            training; None: the policy's.
    """
    features = features or policy.features
    fighters = policy.commanded if policy.shares else 1
    rows = policy.rows_in(features // fighters) if policy.rows else ()
    levels = policy.actor.levels if isinstance(policy.actor, LevelActor) else None
    if rows and levels is not None:
        levels = (*levels[:-2], 1 + enemies_of(rows).rows) * fighters
    entities = None
    if rows:  # row layout of a team observation
        own, *others = rows
        kinds = [(kind.rows, kind.features, kind.place) for kind in others]
        entities = own.features, policy.entity_size, others.index(enemies_of(rows)), kinds
    actor = policy.actor
    is_continuous = isinstance(actor, GaussianActor)
    ranges = (actor.middle.tolist(), actor.reach.tolist()) if is_continuous else None
    return _learner.Network(
        features,
        (policy.hidden_size,) * (policy.hidden_layers + policy.shares),
        levels,
        ranges,
        STD,
        threads,
        learns,
        entities=entities,
        fighters=fighters,
        own_alive=OWN_ALIVE,
    )


def make_critic_network(critic: Critic, threads: int = 1) -> _learner.Network:
    """Returns a C network of a central critic's shape, without its weights."""
    view = critic.view
    kinds = [
        (kind.fighters * kind.rows, kind.features, kind.place, kind.rows, kind.stride)
        for kind in view.pooled
    ]
    no_targets = 0
    entities = (view.plain, critic.entity_size, no_targets, kinds) if kinds else None
    widths = (critic.hidden_size,) * critic.hidden_layers
    return _learner.Network(view.width, widths, (), None, STD, threads, entities=entities)


def flat_copy(policy: nn.Module) -> torch.Tensor:
    """Returns a copy of all parameters of a policy in one array, float32 [size]."""
    return torch.cat([value.detach().flatten() for value in policy.parameters()])


def flattened(policy: nn.Module) -> torch.Tensor:
    """Moves all parameters of a policy into one array and returns it; they become views of it."""
    flat = flat_copy(policy)
    for value, part in zip(policy.parameters(), parts(flat, policy), strict=True):
        value.data = part
    return flat


def parts(flat: torch.Tensor, policy: nn.Module) -> list[torch.Tensor]:
    """Returns the view of `flat` [size] for each parameter, in its shape."""
    values = list(policy.parameters())
    pieces = flat.split([value.numel() for value in values])
    return [piece.view_as(value) for piece, value in zip(pieces, values, strict=True)]


class FrozenNetwork:
    """A C network that acts by a policy's weights and does not learn.

    It follows changes that torch makes to the weights, but not those of a `NativeEngine`.

    Args:
        policy: an instance of `networks.Policy` without a `reason_against`.
        threads: number of threads it may use.
    """

    def __init__(self, policy: Policy, threads: int = 1) -> None:
        self._policy, self._threads = policy, threads
        self._network = make_network(policy, threads, learns=False)
        self._versions: list[int] = []

    def act(self, observations: np.ndarray, noise: torch.Tensor | None) -> np.ndarray:
        """Returns actions [n, heads], int32 levels or float32 within their limits.

        Args:
            observations: float32 [n, features] or more.
            noise: from `noise_for`; None: take the likeliest actions.
        """
        features = observations.shape[1]
        if self._policy.rows and features != self._network.features:
            self._network = make_network(self._policy, self._threads, False, features)
            self._versions = []
        versions = [value._version for value in self._policy.parameters()]
        if versions != self._versions:
            self._network.load(flat_copy(self._policy).numpy())
            self._versions = versions
        shape = len(observations), self._policy.action_size
        if self._policy.is_continuous:
            actions = np.empty(shape, np.float32)
        else:
            actions = np.empty(shape, np.int32)
        self._network.act(observations, None if noise is None else noise.numpy(), actions)
        return actions
