"""What has come since the last row of metrics, which is of one update or of several."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from statistics import fmean

import numpy as np

from midrange_puffer.train import ranks


class SinceRow:
    """Takes in update after update, so that the next row tells of all of them.

    Attributes:
        updates: how many have been taken in.
        rated: the metrics of ratings among them.
    """

    def __init__(self) -> None:
        self.updates = 0
        self.rated: dict[str, float] = {}
        self._results: defaultdict[str, list[float]] = defaultdict(list)
        self._losses: defaultdict[str, list[float]] = defaultdict(list)

    def add(self, results: Mapping[str, Sequence[float]], losses: Mapping[str, float]) -> None:
        """Take in an update.

        Args:
            results: of each engagement told of meanwhile, by name, of all ranks.
            losses: means over the update, of this rank.
        """
        self.updates += 1
        for name, values in results.items():
            self._results[name] += values
        for name, value in losses.items():
            self._losses[name].append(value)

    def results(self) -> dict[str, float]:
        """The means over engagements, and the least and greatest return."""
        figures = {name: np.mean(values) for name, values in self._results.items()}
        returns = self._results.get("episode_return")
        if returns:
            figures |= {"episode_return_min": min(returns), "episode_return_max": max(returns)}
        return figures

    def losses(self) -> dict[str, float]:
        """The means over updates and ranks."""
        means = {name: fmean(values) for name, values in self._losses.items()}
        return ranks.means(ranks.gather(means))
