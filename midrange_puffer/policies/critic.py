"""A central critic: it values an agent's decisions by more than the agent sees, in training only.

It is a network of its own beside the actor, as in MAPPO (Yu et al. 2022, arXiv 2103.01955). Its
weights are in a run's trainer state. Model files have the actor alone.
"""

from typing import Any

import torch
from torch import nn

from midrange_puffer.game.critic_views import CriticView, PooledRows
from midrange_puffer.policies.actors import Distribution, PolicyModule
from midrange_puffer.policies.encoders import initialise_hidden, mlp
from midrange_puffer.puffer_import import contained

with contained():
    from pufferlib.pytorch import layer_init


def pooled_rows(observations: torch.Tensor, kind: PooledRows) -> torch.Tensor:
    """Returns one kind's rows of all fighters, [agents, rows, features], from a critic's rows."""
    length = kind.rows * kind.features
    starts = (kind.place + fighter * kind.stride for fighter in range(kind.fighters))
    parts = [observations[:, start : start + length] for start in starts]
    return torch.cat(parts, dim=1).unflatten(1, (-1, kind.features))


class Critic(nn.Module):
    """Values of decisions, from rows of a `CriticView`: hidden layers behind pooled rows.

    Its layers are as those of `networks.Policy`: in teams all rows of a kind share a linear layer
    and a ReLU, and the maximum over them enters the first hidden layer. So a fighter that is dead
    or not there, whose rows are zeros, changes nothing.

    Args:
        view: the layout of its rows.
        hidden_size: width of the hidden layers.
        hidden_layers: number of hidden layers.
        entity_size: number of features for each kind of pooled rows.
    """

    def __init__(
        self, view: CriticView, hidden_size: int, hidden_layers: int, entity_size: int
    ) -> None:
        super().__init__()
        self.view = view
        self.hidden_size, self.hidden_layers = hidden_size, hidden_layers
        self.entity_size = entity_size
        self.pooling = nn.ModuleDict(
            {kind.name: nn.Linear(kind.features, entity_size, bias=False) for kind in view.pooled}
        )
        width = view.plain + entity_size * len(self.pooling)
        self.encoder = mlp(width, hidden_size, hidden_layers)
        self.value = nn.Linear(hidden_size, 1)
        initialise_hidden(self.encoder, self.pooling)
        layer_init(self.value, std=1.0)

    def forward(self, observations: torch.Tensor) -> torch.Tensor:
        """Returns values [n, 1] of rows [n, view.width]."""
        seen = observations.float()
        parts = [seen[:, : self.view.plain]]
        for kind in self.view.pooled:
            features = self.pooling[kind.name](pooled_rows(seen, kind))
            parts.append(features.relu().amax(dim=1))
        return self.value(self.encoder(torch.cat(parts, dim=1)))


class ActorCritic(PolicyModule):
    """A policy whose values are those of a central critic.

    The actor's own critic, a layer on its hidden features, has no part in it. Its weights are set
    to zero and do not learn.

    Args:
        actor: a policy of this package, which flies alone after training.
        critic: the critic; its rows begin with the actor's observation.
    """

    def __init__(self, actor: PolicyModule, critic: Critic) -> None:
        super().__init__()
        self.actor, self.critic = actor, critic
        self.features, self.memory_size = actor.features, actor.memory_size
        self.is_continuous, self.action_size = actor.is_continuous, actor.action_size
        self.order_decisions, self.commanded = actor.order_decisions, actor.commanded
        unused: Any = getattr(actor, "policy", actor)
        for parameter in unused.critic.parameters():
            nn.init.zeros_(parameter)
            parameter.requires_grad_(False)

    def forward_eval(
        self, observations: torch.Tensor, state: dict[str, torch.Tensor]
    ) -> tuple[Distribution, torch.Tensor]:
        """Returns the actor's outputs and values [agents, 1] of one decision.

        Args:
            observations: the critic's rows, float32 [agents, view.width].
            state: as the actor's.
        """
        outputs, _ = self.actor.forward_eval(observations[:, : self.features], state)
        return outputs, self.critic(observations)

    def forward(
        self, observations: torch.Tensor, state: dict[str, torch.Tensor]
    ) -> tuple[Distribution, torch.Tensor]:
        """Returns the actor's outputs and values [decisions, 1].

        Args:
            observations: the critic's rows, [decisions, view.width], or with a memory [segments,
                horizon, view.width].
            state: as the actor's.
        """
        outputs, _ = self.actor(observations[..., : self.features], state)
        return outputs, self.critic(observations.flatten(0, -2))


def actor_of(policy: PolicyModule) -> PolicyModule:
    """Returns what flies and is saved of a policy: all of it, unless it has a central critic."""
    return policy.actor if isinstance(policy, ActorCritic) else policy
