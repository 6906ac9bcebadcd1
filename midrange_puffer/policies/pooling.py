"""The front of a team's policy: rows of entities -> features, however many rows there are."""

from collections.abc import Sequence

import torch
from torch import nn

from midrange_puffer.game.observation import OWN, Rows, rows_of


def entities(observations: torch.Tensor, rows: Rows) -> torch.Tensor:
    """The rows of one kind in observations [agents, features], [agents, rows, features]."""
    end = rows.place + rows.rows * rows.features
    return observations[:, rows.place : end].unflatten(1, (rows.rows, rows.features))


class Pooling(nn.Module):
    """Observations of a team -> one's own state, and for each kind of entity `size` features.

    A layer shared by all rows of a kind, a ReLU, and the largest over the rows (Zaheer et al. 2017,
    arXiv 1703.06114). The layer has no bias but the feature `present`, and rows of what is absent
    are zeros. So their features are zeros, as small as any: how many there are changes nothing, nor
    does the order of the others.

    Args:
        rows: of an observation of any size.
        size: features of each kind.

    Attributes:
        width: of what it gives.
    """

    def __init__(self, rows: Sequence[Rows], size: int) -> None:
        super().__init__()
        self.layers = nn.ModuleDict(
            {one.kind: nn.Linear(one.features, size, bias=False) for one in rows if one.kind != OWN}
        )
        self.width = rows[0].features + size * len(self.layers)

    def forward(self, observations: torch.Tensor) -> torch.Tensor:
        """Features [agents, width] of observations of any size, [agents, features]."""
        own, *others = rows_of(observations.shape[1])
        found = [entities(observations, own).squeeze(1)]
        for rows in others:
            each = self.layers[rows.kind](entities(observations, rows))
            found.append(each.relu().amax(dim=1))
        return torch.cat(found, dim=1)
