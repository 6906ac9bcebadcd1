"""What the outcomes of fights say about strength: intervals, ratings, cycles."""

import itertools
import math
from collections.abc import Sequence
from typing import Annotated, NamedTuple

import numpy as np

from midrange_puffer.json_files import Within

GAMES = 400  # a pairing, half of them in each seat
Z95 = 1.959964  # standard normal quantile of 97.5 %
ELO = 400 / math.log(10)  # rating points of a factor e in the odds: 400 points are odds of 10
MEAN = 1000.0  # of the pilots' ratings
PRIOR = 500.0  # standard deviation of the weak prior around MEAN, in rating points
_Games = Annotated[int, Within(0, 1_000_000)]  # as many as a league may have of a pairing


class Result(NamedTuple):
    """What two players' games came to, for the first, as of `tally`; covariance is for both."""

    first: str
    second: str
    wins: _Games
    draws: _Games
    losses: _Games
    covariance: Annotated[float, Within(-1e6, 1e6)] = 0.0

    @property
    def games(self) -> int:
        """How many engagements there were."""
        return self.wins + self.draws + self.losses

    @property
    def score(self) -> float:
        """The first's points a game."""
        return (self.wins + self.draws / 2) / self.games


def score_interval(
    wins: np.ndarray, draws: np.ndarray, losses: np.ndarray, covariance: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """95 % intervals (low, high) of scores (win 1, draw 0.5) where every start is fought twice.

    The normal interval after z²/2 wins and as many losses are added (Agresti and Coull 1998), with
    the variance of what the starts came to: where most are draws it is narrow, and where the second
    fight from a start goes as the first it is wide. Of shares, too, with what is counted as wins
    and all else as losses.

    Args:
        wins, draws, losses: counts.
        covariance: of fights that may go alike, as of `covariance_within`.
    """
    total = wins + draws + losses + Z95**2
    mean = (wins + draws / 2 + Z95**2 / 2) / total
    variance = (wins + draws / 4 + Z95**2 / 2 + 2 * covariance) / total - mean**2
    spread = Z95 * np.sqrt(variance / total)
    return np.maximum(mean - spread, 0.0), np.minimum(mean + spread, 1.0)


def covariance_within(points: np.ndarray) -> float:
    """How alike the fights of a group go, such as the two from a start.

    Args:
        points: what the fights came to, [groups, fights], from 0 to 1.

    Returns:
        The products of every two fights' distances from the mean of all, summed over the groups;
        about 0 where the fights of a group have nothing to do with each other.
    """
    distances = points - points.mean()
    return float((distances.sum(axis=1) ** 2 - (distances**2).sum(axis=1)).sum() / 2)


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
        likelihood (the inverse Hessian); 0 where fixed. They are of the model: neither the error of
        the fixed ratings is in them, nor its misfit (cycles; draws, which vary less than wins and
        losses; fights from one start, which go alike).
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
        beats: bool [n, n], whether row beats column.
        scores: [n, n] of row against column; a cycle is as clear as its least score.
    """
    cycles = []
    for i, j, k in itertools.combinations(range(len(beats)), 3):
        for cycle in ((i, j, k), (i, k, j)):
            if all(beats[edge] for edge in edges(cycle)):
                cycles.append(cycle)
    return sorted(cycles, key=lambda cycle: -min(scores[edge] for edge in edges(cycle)))


def shortest_cycle(beats: np.ndarray) -> tuple[int, ...]:
    """The fewest players of which each beats the next and the last the first; () if there are none.

    Args:
        beats: bool [n, n], whether row beats column.
    """
    cycles = [_cycle_through(player, beats) for player in range(len(beats))]
    return min(filter(None, cycles), key=len, default=())


def edges(cycle: Sequence[int]) -> list[tuple[int, int]]:
    """The pairs (winner, loser) along a cycle."""
    return list(zip(cycle, [*cycle[1:], cycle[0]], strict=True))


def _cycle_through(player: int, beats: np.ndarray) -> tuple[int, ...]:
    """The shortest cycle from a player back to it, by a breadth-first search; () without one."""
    seen, paths = set(), [(player,)]
    for path in paths:
        for loser in np.flatnonzero(beats[path[-1]]).tolist():
            if loser == player:
                return path
            if loser not in seen:
                seen.add(loser)
                paths.append((*path, loser))
    return ()
