"""The rows of a central critic, written after every step of an environment."""

from collections.abc import Sequence

import numpy as np

from midrange_puffer.envs.groups import Group
from midrange_puffer.game.critic_views import CriticView


class CriticRows:
    """Writes the rows of a central critic: each agent's observation, then what only it sees.

    Args:
        view: the layout of the rows.
        groups: the groups of engagements.
        agents: the agents of each group, as slices.
        sides: the number of each agent's side, int64 [agents], ascending.
        out: the rows, float32 [agents, view.width]: written.

    Attributes:
        observations: the buffer of the agents' observations, float32 [agents, view.features].
    """

    def __init__(
        self,
        view: CriticView,
        groups: Sequence[Group],
        agents: Sequence[slice],
        sides: np.ndarray,
        out: np.ndarray,
    ) -> None:
        self._view, self._groups, self._agents, self._out = view, groups, agents, out
        # The last row stays zeros, and stands for fighters that a side does not have.
        self._seen = np.zeros((len(out) + 1, view.features), np.float32)
        self.observations: np.ndarray = self._seen[:-1]
        self._mates = _mates(sides, view.mates)
        self._truth = np.zeros((len(out), view.truth_features), np.float32)

    def write(self) -> None:
        """Writes the rows of the present observations."""
        features, out = self._view.features, self._out
        out[:, :features] = self.observations
        for number, mates in enumerate(self._mates, 1):
            out[:, number * features : (number + 1) * features] = self._seen[mates]
        if not self._view.truth_features:
            return
        for group, agents in zip(self._groups, self._agents, strict=True):
            group.observe_truth(self._truth[agents])
        out[:, -self._view.truth_features :] = self._truth


def _mates(sides: np.ndarray, count: int) -> np.ndarray:
    """Returns for each agent the others of its side, int64 [count, agents], and after them -1."""
    firsts = np.searchsorted(sides, sides)
    sizes = np.searchsorted(sides, sides, side="right") - firsts
    places = np.arange(len(sides)) - firsts
    mates = np.arange(count)[:, None]
    others = firsts + mates + (mates >= places)
    return np.where(mates < sizes - 1, others, -1)
