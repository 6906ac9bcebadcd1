"""Layers from observations to hidden features: an MLP, and in teams an encoder of entities."""

import math
from collections.abc import Sequence

import torch
from torch import nn

from midrange_puffer.game.observation import Rows
from midrange_puffer.puffer_import import contained

with contained():
    from pufferlib.pytorch import layer_init


def entities(observations: torch.Tensor, rows: Rows) -> torch.Tensor:
    """Returns one kind's rows, [agents, rows, features], from observations [agents, features]."""
    end = rows.place + rows.rows * rows.features
    return observations[:, rows.place : end].unflatten(1, (rows.rows, rows.features))


class EntityEncoder(nn.Module):
    """An encoder of team observations of any size: own state unchanged, other rows pooled by kind.

    Each kind of rows but the own state gives `size` features. It has a linear layer that all its
    rows share, a ReLU, and max pooling over the rows (Zaheer et al. 2017, arXiv 1703.06114). Rows
    of absent entities are zeros, and the layer's only bias is the weight of the feature `present`.
    So absent rows give zeros, the least output of a ReLU, and neither their number nor the order of
    rows changes the result.

    Args:
        rows: the rows of an observation of any size.
        size: number of features for each kind.

    Attributes:
        width: number of features of the output.
    """

    def __init__(self, rows: Sequence[Rows], size: int) -> None:
        super().__init__()
        self.layers = nn.ModuleDict(
            {kind.kind: nn.Linear(kind.features, size, bias=False) for kind in rows[1:]}
        )
        self.width = rows[0].features + size * len(self.layers)

    def forward(self, observations: torch.Tensor, rows: Sequence[Rows]) -> torch.Tensor:
        """Returns features [agents, width] of observations [agents, features] with these rows."""
        own, *others = rows
        parts = [entities(observations, own).squeeze(1)]
        for kind in others:
            features = self.layers[kind.kind](entities(observations, kind))
            parts.append(features.relu().amax(dim=1))
        return torch.cat(parts, dim=1)


def mlp(width: int, hidden_size: int, hidden_layers: int) -> nn.Sequential:
    """Returns hidden layers, each with a GELU, for inputs of `width` features."""
    layers: list[nn.Module] = []
    for size in (width, *[hidden_size] * (hidden_layers - 1)):
        layers += [nn.Linear(size, hidden_size), nn.GELU()]
    return nn.Sequential(*layers)


def initialise_hidden(encoder: nn.Module, pooling: nn.Module | None = None) -> None:
    """Sets orthogonal weights of hidden layers, and of layers whose outputs are pooled."""
    for layer in encoder.modules():
        if isinstance(layer, nn.Linear):
            layer_init(layer)
    if pooling is not None:
        for weight in pooling.parameters():
            nn.init.orthogonal_(weight, math.sqrt(2))  # PufferLib's `layer_init` needs a bias
