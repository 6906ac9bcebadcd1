"""What the outcomes of fights say about strength: intervals, ratings, cycles."""

import itertools
import math
from collections.abc import Sequence

import numpy as np

Z95 = 1.959964  # standard normal quantile of 97.5 %
ELO = 400 / math.log(10)  # rating points of a factor e in the odds: 400 points are odds of 10
MEAN = 1000.0  # of the pilots' ratings
PRIOR = 500.0  # standard deviation of the weak prior around MEAN, in rating points


def wilson(count: float, total: int) -> list[float]:
    """95 % interval [low, high] of a share seen `count` times in `total`.

    Wilson's score interval (Wilson 1927), good for shares near 0 and 1 as well. With draws counted
    as halves it is a little too wide, for they vary less than wins and losses.
    """
    z2 = Z95**2
    spread = Z95 * math.sqrt(count * (total - count) / total + z2 / 4)
    ends = (count + z2 / 2 - spread, count + z2 / 2 + spread)
    return [min(max(end / (total + z2), 0.0), 1.0) for end in ends]


def bradley_terry(
    points: np.ndarray, games: np.ndarray, fixed: Sequence[float | None]
) -> tuple[np.ndarray, np.ndarray]:
    """Ratings on the Elo scale, fitted to the results of all games at once.

    The expected score of i against j is 1 / (1 + 10^((r_j - r_i) / 400)) (Bradley and Terry 1952,
    Elo 1978). The ratings are the most likely ones under that model and a normal prior of mean
    `MEAN` and standard deviation `PRIOR`, so weak that it tells only where a player has won or
    lost everything. Without a fixed rating the mean of all is `MEAN`.

    Args:
        points: float [n, n], those of row against column: a win 1, a draw 0.5.
        games: [n, n], symmetric, 0 on the diagonal.
        fixed: a rating for each player, None where it is to be found.

    Returns:
        Ratings [n], and the half widths [n] of their 95 % intervals, from the curvature of the
        likelihood (the inverse Hessian); 0 where fixed.
    """
    free = np.array([rating is None for rating in fixed])
    nats = np.array([0.0 if rating is None else (rating - MEAN) / ELO for rating in fixed])
    step = np.array([1.0])
    while np.abs(step).max(initial=0.0) > 1e-9:
        expected = 1 / (1 + np.exp(nats - nats[:, None]))
        precision = (ELO / PRIOR) ** 2
        gradient = (points - games * expected).sum(axis=1) - precision * nats
        information = games * expected * (1 - expected)
        hessian = np.diag(information.sum(axis=1) + precision) - information
        hessian, gradient = hessian[np.ix_(free, free)], gradient[free]
        step = np.linalg.solve(hessian, gradient)
        # Newton's method; where it is far from the goal its steps are too long.
        nats[free] += step / max(np.abs(step).max(initial=0.0), 1.0)
    covariance = np.linalg.inv(hessian)
    if free.all():  # only differences were seen, so the error is that of the distance to the mean
        centre = np.eye(len(nats)) - 1 / len(nats)
        covariance = centre @ covariance @ centre
    half_widths = np.zeros(len(nats))
    half_widths[free] = Z95 * ELO * np.sqrt(np.diag(covariance))
    return MEAN + ELO * nats, half_widths


def three_cycles(beats: np.ndarray, scores: np.ndarray) -> list[tuple[int, int, int]]:
    """All (i, j, k) of which i beats j, j beats k and k beats i, the clearest first.

    Args:
        beats: bool [n, n], whether row surely beats column.
        scores: [n, n] of row against column; a cycle is as clear as its least score.
    """
    cycles = []
    for i, j, k in itertools.combinations(range(len(beats)), 3):
        for cycle in ((i, j, k), (i, k, j)):
            if all(beats[edge] for edge in edges(cycle)):
                cycles.append(cycle)
    return sorted(cycles, key=lambda cycle: -min(scores[edge] for edge in edges(cycle)))


def edges(cycle: Sequence[int]) -> list[tuple[int, int]]:
    """The pairs (winner, loser) along a cycle."""
    return list(zip(cycle, [*cycle[1:], cycle[0]], strict=True))


def is_cyclic(beats: np.ndarray) -> bool:
    """Whether there is a cycle of any length: some remain when those who beat nobody leave."""
    remaining = np.ones(len(beats), bool)
    while remaining.any():
        winners = remaining & (beats & remaining).any(axis=1)
        if (winners == remaining).all():
            return True
        remaining = winners
    return False
