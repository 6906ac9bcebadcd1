"""How the policy in training fared lately, against each opponent."""

from collections import deque
from collections.abc import Mapping
from statistics import fmean
from typing import NamedTuple

UPDATES = 10  # whose results are taken together: in one there are few against each opponent
PREFIX = "environment/"
VERSUS = f"{PREFIX}score_vs_"


class Result(NamedTuple):
    """Shares of the engagements with an opponent."""

    opponent: str
    win: float
    draw: float
    loss: float

    @property
    def score(self) -> float:
        """A draw is half a win."""
        return self.win + self.draw / 2


class Results:
    """The mean results of the last updates, as a logger."""

    def __init__(self) -> None:
        self._rows: deque[Mapping[str, float]] = deque(maxlen=UPDATES)
        self._stage: float | None = None

    def log(self, metrics: Mapping[str, float], step: int) -> None:
        """Take what an update told of the engagements."""
        stage = metrics.get("curriculum/stage")
        if stage != self._stage:
            self._rows.clear()
        self._stage = stage
        if f"{PREFIX}score" in metrics:
            self._rows.append(metrics)

    def close(self, model_path: str) -> None:
        """Nothing is left to do."""

    @property
    def all(self) -> Result | None:
        """Against all together, as often as they were met; None before the first."""
        shares = (self._mean(f"{PREFIX}{name}") for name in ("win", "draw", "loss"))
        return Result("all", *shares) if self._rows else None

    @property
    def opponents(self) -> list[Result]:
        """Against each, the worst first."""
        names = dict.fromkeys(name for row in self._rows for name in row if name.startswith(VERSUS))
        results = []
        for name in names:
            opponent = name.removeprefix(VERSUS)
            if not any(f"{PREFIX}win_vs_{opponent}" in row for row in self._rows):
                continue
            win, score = self._mean(f"{PREFIX}win_vs_{opponent}"), self._mean(name)
            draw = 2 * (score - win)
            results.append(Result(opponent, win, draw, max(1 - win - draw, 0.0)))
        return sorted(results, key=lambda result: result.score)

    def _mean(self, name: str) -> float:
        return fmean(row[name] for row in self._rows if name in row)


def worst(metrics: Mapping[str, float], count: int) -> list[tuple[str, float]]:
    """The opponents with the lowest scores of one update, and these."""
    scores = {
        name.removeprefix(VERSUS): score
        for name, score in metrics.items()
        if name.startswith(VERSUS)
    }
    return sorted(scores.items(), key=lambda item: item[1])[:count]
