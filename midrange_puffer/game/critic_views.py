"""What a central critic sees in training: an agent's observation, and after it what no actor sees.

A critic estimates values, which only training needs. So it may see more than the agents that act:
the observations of its whole side, or the truth where agents see by sensors. Its row is longer than
the observation: an actor reads the first features of the row, the critic reads all.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, get_args

import numpy as np

from midrange_puffer.game.observation import Rows, features_of, rows_of
from midrange_puffer.game.parameters import FULL, Parameters, observed, sizes_of
from midrange_puffer.names import suggest

if TYPE_CHECKING:
    from midrange_puffer.gymnasium_import import gymnasium

CriticKind = Literal["own", "side", "truth"]
OWN_CRITIC, SIDE_CRITIC, TRUTH_CRITIC = "own", "side", "truth"


@dataclass(frozen=True)
class PooledRows:
    """Rows of one kind in a critic's row, which it encodes alike and pools.

    Attributes:
        name: of the kind: "ally", "side_ally" or "truth_ally" and so on.
        fighters: number of fighters in whose observations they are.
        rows: number of rows in each of these.
        features: number of features of a row.
        place: index of the first row's first feature.
        stride: features from one fighter's first row to the next one's.
    """

    name: str
    fighters: int
    rows: int
    features: int
    place: int
    stride: int


@dataclass(frozen=True)
class CriticView:
    """The layout of a critic's row.

    Attributes:
        features: number of features of the agent's own observation, which come first.
        mates: number of further fighters of its side whose observations come next, in their order.
            Those of dead fighters, and of those that the side does not have, are zeros.
        truth_features: number of features of the observation with full information, which comes
            last; 0: there is none.
    """

    features: int
    mates: int = 0
    truth_features: int = 0

    @property
    def width(self) -> int:
        """Number of features of the whole row."""
        return self.features * (1 + self.mates) + self.truth_features

    @property
    def space(self) -> "gymnasium.spaces.Box":
        """The space of the whole row."""
        from midrange_puffer.gymnasium_import import gymnasium

        return gymnasium.spaces.Box(-1.0, 1.0, (self.width,), dtype=np.float32)

    @property
    def plain(self) -> int:
        """Number of leading features that are not pooled: in teams the own state, else all."""
        rows = rows_of(self.features)
        return rows[0].features if rows else self.width

    @property
    def pooled(self) -> tuple[PooledRows, ...]:
        """The kinds of pooled rows; empty in one against one."""
        own, *others = rows_of(self.features) or (None,)
        if own is None:
            return ()
        kinds = [_pooled(rows, "", 0) for rows in others]
        if self.mates:
            fighters = {"fighters": self.mates, "stride": self.features}
            kinds += [_pooled(rows, "side_", self.features, **fighters) for rows in (own, *others)]
        if self.truth_features:
            _, *true_rows = rows_of(self.truth_features)  # the own state is known already
            first = self.width - self.truth_features
            kinds += [_pooled(rows, "truth_", first) for rows in true_rows]
        return tuple(kinds)


def _pooled(rows: Rows, prefix: str, offset: int, fighters: int = 1, stride: int = 0) -> PooledRows:
    name, place = prefix + rows.kind, offset + rows.place
    return PooledRows(name, fighters, rows.rows, rows.features, place, stride)


def critic_view(critic: str, observation: str, parameters: Parameters) -> CriticView | None:
    """Returns the layout of a critic's row in a game; None for "own", which sees no more.

    In one against one a side has one fighter, and the row of "side" is the observation.

    Args:
        critic: one of `CriticKind`.
        observation: that of the agents, as `observed` returns it.
        parameters: parameters of the game.

    Raises:
        ValueError: There is no such critic, or it is "truth" where the agents have full information
            already.
    """
    kinds = get_args(CriticKind)
    if critic not in kinds:
        allowed = f"{' or '.join(kinds)}{suggest(critic, kinds)}"
        raise ValueError(f"critic = {critic!r}: must be {allowed}")
    sizes = sizes_of(parameters)
    features = len(features_of(observation, *sizes))
    if critic == OWN_CRITIC:
        return None
    if critic == SIDE_CRITIC:
        return CriticView(features, mates=max(sizes) - 1)
    if parameters["sensing"] == FULL:
        raise ValueError(
            f"critic = {critic}: with sensing = {FULL} every fighter observes the truth; must be "
            f"{OWN_CRITIC} or {SIDE_CRITIC}"
        )
    truth = observed("default", {**parameters, "sensing": FULL})
    return CriticView(features, truth_features=len(features_of(truth, *sizes)))
