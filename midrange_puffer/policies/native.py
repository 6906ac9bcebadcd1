"""The package's MLP as the C learner computes it."""

import numpy as np
import torch
from torch import nn

from midrange_puffer import _learner
from midrange_puffer.game.actions import HIGHEST, LOWEST
from midrange_puffer.game.observation import Rows, enemies_of, rows_of
from midrange_puffer.policies.actors import STD
from midrange_puffer.policies.networks import Policy


def reason_against(policy: nn.Module) -> str | None:
    """Why the C learner cannot compute this policy, in words; None: it can."""
    if type(policy) is not Policy:
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
    if policy.hidden_layers > most:
        return f"policy.hidden_layers = {policy.hidden_layers} is more than {most}"
    if any(one.dtype != torch.float32 or one.device.type != "cpu" for one in policy.parameters()):
        return "its parameters are not float32 on the CPU"
    return None


def make_network(
    policy: Policy, threads: int = 1, learns: bool = True, features: int | None = None
) -> _learner.Network:
    """The C network of a policy's shape, without its weights.

    Args:
        policy: as of `networks.Policy`, against which nothing speaks.
        threads: that it may use.
        learns: make room for gradients, too.
        features: that it sees, in a team of any size; None: as many as the policy was made for.
    """
    features = features or policy.features
    rows = rows_of(features) if policy.rows else ()
    levels = None if policy.is_continuous else policy.actor.levels
    if rows and levels is not None:
        levels = (*levels[:2], 1 + enemies_of(rows).rows)
    return _learner.Network(
        features,
        (policy.hidden_size,) * policy.hidden_layers,
        levels,
        np.stack([(HIGHEST + LOWEST) / 2, (HIGHEST - LOWEST) / 2]),
        STD,
        threads,
        learns,
        entities=_entities(rows, policy.entity_size) if rows else None,
    )


def _entities(rows: tuple[Rows, ...], size: int) -> tuple[object, ...]:
    """What a network is told of a team's rows."""
    own, *others = rows
    kinds = [(one.rows, one.features, one.place) for one in others]
    return own.features, size, others.index(enemies_of(rows)), kinds


def flat_copy(policy: nn.Module) -> torch.Tensor:
    """All parameters of a policy one after another, float32 [size]."""
    return torch.cat([one.detach().flatten() for one in policy.parameters()])


def flattened(policy: nn.Module) -> torch.Tensor:
    """The same, of which the parameters become parts: what changes the one changes the other."""
    flat = flat_copy(policy)
    for one, part in zip(policy.parameters(), parts(flat, policy), strict=True):
        one.data = part
    return flat


def parts(flat: torch.Tensor, policy: nn.Module) -> list[torch.Tensor]:
    """The parts of `flat` [size] that belong to each parameter, in its shape."""
    pieces = flat.split([one.numel() for one in policy.parameters()])
    return [piece.view_as(one) for piece, one in zip(pieces, policy.parameters(), strict=True)]


class FrozenNetwork:
    """A policy that only acts.

    Args:
        policy: against which nothing speaks. What torch does to its weights is noticed; what a
            `NativeEngine` does is not.
        threads: that it may use.
    """

    def __init__(self, policy: Policy, threads: int = 1) -> None:
        self._policy, self._threads = policy, threads
        self._network = make_network(policy, threads, learns=False)
        self._versions: list[int] = []

    def act(self, observations: np.ndarray, noise: torch.Tensor | None) -> np.ndarray:
        """Actions [n, 3], int32 levels or float32 within their limits.

        Args:
            observations: float32 [n, features] or more.
            noise: as of `noise_for`; None: the likeliest actions are taken.
        """
        features = observations.shape[1]
        if self._policy.rows and features != self._network.features:
            self._network = make_network(self._policy, self._threads, False, features)
            self._versions = []
        versions = [one._version for one in self._policy.parameters()]
        if versions != self._versions:
            self._network.load(flat_copy(self._policy).numpy())
            self._versions = versions
        kind = np.float32 if self._policy.is_continuous else np.int32
        actions = np.empty((len(observations), _learner.HEADS), kind)
        self._network.act(observations, None if noise is None else noise.numpy(), actions)
        return actions
