"""What the trials of a sweep say of its parameters, and how much of it may be chance."""

import math
from collections.abc import Mapping, Sequence

import numpy as np

from midrange_puffer.sweep.record import FINISHED, STOPPED, Trial
from midrange_puffer.sweep.space import Parameter

ENOUGH = 8  # trials for a trend or a correlation to mean anything
SMOOTHING = 0.12  # standard deviation of the trend's kernel, as a share of the range
FEW = 8  # different values, as of an integer: a trend is of these only, not between them


def scored(trials: Sequence[Trial]) -> list[Trial]:
    """The trials whose scores say something of their parameters: those finished and stopped early.

    How far a failed one came says more of its failure.
    """
    return [trial for trial in trials if trial.status in (FINISHED, STOPPED)]


def rank_correlations(
    trials: Sequence[Trial], parameters: Mapping[str, Parameter]
) -> dict[str, float]:
    """Spearman's correlation of each parameter with the score, the strongest first.

    It is 1 where the score always rises with the parameter, -1 where it always falls, 0 where
    either never changes.
    """
    scores = ranks([trial.score for trial in trials])
    found = {
        name: _correlation(ranks([row.position(trial.params[name]) for trial in trials]), scores)
        for name, row in parameters.items()
    }
    return dict(sorted(found.items(), key=lambda item: -abs(item[1])))


def chance_correlation(count: int) -> float:
    """What 95 % of the absolute rank correlations of `count` independent trials are below.

    Of a parameter without any effect; by the normal distribution that they come near to.
    """
    return min(1.96 / math.sqrt(max(count - 1, 1)), 1.0)


def trend(positions: np.ndarray, scores: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The mean score of the trials nearby: each has the weight of a Gaussian kernel.

    Args:
        positions: of the trials along the range, 0 to 1.
        scores: theirs.

    Returns:
        Positions from the first trial to the last, of few different ones just these, and the mean
        scores there.
    """
    x = np.unique(positions)
    if len(x) > FEW:
        x = np.linspace(x[0], x[-1], 60)
    weights = np.exp(-(((x[:, None] - positions) / SMOOTHING) ** 2) / 2)
    return x, weights @ scores / weights.sum(1)


def ranks(values: Sequence[float]) -> np.ndarray:
    """Ranks from 1 on; equal values share the mean of theirs."""
    _, inverse, counts = np.unique(values, return_inverse=True, return_counts=True)
    return (np.cumsum(counts) - (counts - 1) / 2)[inverse]


def _correlation(x: np.ndarray, y: np.ndarray) -> float:
    """Pearson's; 0 where one of them never changes."""
    x, y = x - x.mean(), y - y.mean()
    scale = math.sqrt((x @ x) * (y @ y))
    return float(x @ y / scale) if scale else 0.0
