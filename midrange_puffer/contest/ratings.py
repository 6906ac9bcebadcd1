"""Strength from the results of fights: intervals, ratings, payoffs, cycles, Nash mixtures."""

import itertools
import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated, NamedTuple

import numpy as np

from midrange_puffer.game.parameters import PARAMETERS
from midrange_puffer.json_files import Within

GAMES = 400  # engagements of a pairing, half of them in each seat
Z95 = 1.959964  # standard normal quantile of 97.5 %
ELO = 400 / math.log(10)  # points for a factor e in the odds; 400 points are a factor of 10
MEAN = 1000.0  # mean of the pilots' ratings
PRIOR = 500.0  # standard deviation of the weak prior around MEAN, in rating points
NASH_STEPS = 100_000
NASH_PRECISION = 1e-4  # the most that a single player may score above 0.5 against the mixture
# Ratings of the pilots in the game of the parameter table, as printed by
#     puffer league midrange --games 2000
# They are fixed when other players are rated, so that ratings of different leagues and runs can be
# compared. `patient` has none: it draws with most pilots, so a rating predicts its scores badly.
ANCHORS: dict[str, float] = {
    "straight": 561.0,
    "weave": 522.0,
    "shooter": 938.0,
    "evader": 1308.0,
    "crank": 997.0,
    "bracket_shooter": 1001.0,
    "turn_back": 1114.0,
    "snake": 1073.0,
    "ace": 1485.0,
}
ANCHOR_GAMES = 2000  # engagements of a pairing of pilots
_Games = Annotated[int, Within(0, 1_000_000)]  # the most that a league may have of a pairing


class Pairing(NamedTuple):
    """The games of two players: wins, draws and losses of the first, and `tally`'s covariance."""

    first: str
    second: str
    wins: _Games
    draws: _Games
    losses: _Games
    covariance: Annotated[float, Within(-1e6, 1e6)] = 0.0

    @property
    def games(self) -> int:
        """Number of engagements."""
        return self.wins + self.draws + self.losses

    @property
    def score(self) -> float:
        """Mean points of the first player a game: win 1, draw 0.5."""
        return (self.wins + self.draws / 2) / self.games


Numbers = float | np.ndarray


def score_interval(
    wins: Numbers, draws: Numbers, losses: Numbers, covariance: Numbers
) -> tuple[np.ndarray, np.ndarray]:
    """Returns 95 % intervals (low, high) of scores (win 1, draw 0.5).

    The interval is the normal one after z²/2 wins and as many losses are added (Agresti and Coull
    1998). Its variance is that of the points: small if most games are draws, large if the two
    fights of a start tend to have the same result. For a share, pass the counted cases as wins and
    all others as losses.

    Args:
        wins, draws, losses: counts.
        covariance: `covariance_within` of fights whose results may be correlated.
    """
    total = wins + draws + losses + Z95**2
    mean = (wins + draws / 2 + Z95**2 / 2) / total
    variance = (wins + draws / 4 + Z95**2 / 2 + 2 * covariance) / total - mean**2
    spread = Z95 * np.sqrt(variance / total)
    return np.maximum(mean - spread, 0.0), np.minimum(mean + spread, 1.0)


def covariance_within(points: np.ndarray) -> float:
    """Returns the sum of covariances of fights within groups, such as the two fights of a start.

    Args:
        points: points of the fights, [groups, fights], from 0 to 1.

    Returns:
        The sum of (p_i - m) (p_j - m) over all pairs i < j of fights of a group, and over the
        groups; m is the mean of all points. It is about 0 if the fights of a group are independent.
    """
    distances = points - points.mean()
    return float((distances.sum(axis=1) ** 2 - (distances**2).sum(axis=1)).sum() / 2)


def bradley_terry(
    points: np.ndarray, games: np.ndarray, fixed: Sequence[float | None]
) -> tuple[np.ndarray, np.ndarray]:
    """Returns ratings on the Elo scale, fitted to all games at once.

    The expected score of i against j is 1 / (1 + 10^((r_j - r_i) / 400)) (Bradley and Terry 1952,
    Elo 1978). The ratings maximise the posterior with a normal prior of mean `MEAN` and standard
    deviation `PRIOR`. The prior is weak: it matters only for a player that has won or lost
    everything. Without a fixed rating the mean of all is `MEAN`.

    Args:
        points: float [n, n], points of row against column: a win 1, a draw 0.5.
        games: [n, n], symmetric, 0 on the diagonal.
        fixed: a rating for each player; None to fit it.

    Returns:
        Ratings [n], and the half widths [n] of their 95 % intervals, from the curvature of the
        likelihood (the inverse Hessian); a fixed rating has 0. The half widths do not include the
        error of the fixed ratings, nor the misfit of the model: cycles; draws, which vary less than
        wins and losses; and the correlation of fights from one start.
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
        # Newton's method; steps longer than 1 are shortened to 1.
        nats[free] += step / max(np.abs(step).max(initial=0.0), 1.0)
    covariance = np.linalg.inv(hessian)
    if free.all():  # games determine only differences: the error of r - mean(r)
        centre = np.eye(len(nats)) - 1 / len(nats)
        covariance = centre @ covariance @ centre
    half_widths = np.zeros(len(nats))
    half_widths[free] = Z95 * ELO * np.sqrt(np.diag(covariance))
    return MEAN + ELO * nats, half_widths


class Payoffs:
    """The results of all pairings as matrices [n, n], row against column, in the order of `names`.

    Attributes:
        wins, draws, games: counts.
        covariance: `Pairing.covariance`, the same for row against column and column against row.
        points: wins + draws / 2.
        scores: points / games; NaN without a game.
        low, high: ends of the 95 % intervals of the scores.
    """

    def __init__(self, names: Sequence[str], pairings: Iterable[Pairing]) -> None:
        self.names = tuple(names)
        shape = (len(self.names), len(self.names))
        self.wins = np.zeros(shape, int)
        self.draws = np.zeros(shape, int)
        self.covariance = np.zeros(shape)
        places = {name: place for place, name in enumerate(self.names)}
        for pairing in pairings:
            pair = places[pairing.first], places[pairing.second]
            self.wins[pair] += pairing.wins
            self.wins[pair[::-1]] += pairing.losses
            for either in (pair, pair[::-1]):
                self.draws[either] += pairing.draws
                self.covariance[either] += pairing.covariance
        self.games = self.wins + self.wins.T + self.draws
        self.points = self.wins + self.draws / 2
        with np.errstate(invalid="ignore"):
            self.scores = self.points / self.games
        ends = score_interval(self.wins, self.draws, self.wins.T, self.covariance)
        self.low, self.high = np.where(self.games > 0, ends, np.nan)

    def rate(self, anchors: Mapping[str, float]) -> tuple[np.ndarray, np.ndarray]:
        """Returns ratings [n] and half widths [n] of their 95 % intervals; see `bradley_terry`.

        The ratings in `anchors` are fixed. If all players are anchors, none is fixed.
        """
        fixed = [anchors.get(name) for name in self.names]
        if None not in fixed:
            fixed = [None] * len(fixed)
        return bradley_terry(self.points, self.games, fixed)


def is_standard(parameters: Mapping[str, float]) -> bool:
    """True if `ANCHORS` hold for a game: all parameters but the rewards' have their defaults."""
    return all(
        parameters[name] == row.default for name, row in PARAMETERS.items() if row.group != "reward"
    )


def three_cycles(beats: np.ndarray, scores: np.ndarray) -> list[tuple[int, int, int]]:
    """Returns all (i, j, k) for which i beats j, j beats k and k beats i, the clearest cycle first.

    Args:
        beats: bool [n, n], True if row beats column.
        scores: [n, n], row against column. The lowest of a cycle's three scores says how clear it
            is.
    """
    cycles = []
    for i, j, k in itertools.combinations(range(len(beats)), 3):
        for cycle in ((i, j, k), (i, k, j)):
            if all(beats[edge] for edge in edges(cycle)):
                cycles.append(cycle)
    return sorted(cycles, key=lambda cycle: -min(scores[edge] for edge in edges(cycle)))


def shortest_cycle(beats: np.ndarray) -> tuple[int, ...]:
    """Returns a shortest cycle, in which each player beats the next and the last the first; or ().

    Args:
        beats: bool [n, n], True if row beats column.
    """
    cycles = [_cycle_through(player, beats) for player in range(len(beats))]
    return min(filter(None, cycles), key=len, default=())


def edges(cycle: Sequence[int]) -> list[tuple[int, int]]:
    """Returns the pairs (winner, loser) along a cycle."""
    return list(zip(cycle, [*cycle[1:], cycle[0]], strict=True))


def _cycle_through(player: int, beats: np.ndarray) -> tuple[int, ...]:
    """Returns the shortest cycle through a player, by breadth-first search; () if there is none."""
    seen: set[int] = set()
    paths: list[tuple[int, ...]] = [(player,)]
    for path in paths:
        for loser in np.flatnonzero(beats[path[-1]]).tolist():
            if loser == player:
                return path
            if loser not in seen:
                seen.add(loser)
                paths.append((*path, loser))
    return ()


def nash_weights(scores: np.ndarray) -> np.ndarray:
    """Returns a Nash equilibrium of the game in which both sides choose a player.

    The game is symmetric and zero-sum: in equilibrium both sides have the same mixture of players,
    and no player scores more than 0.5 against it. The method is regret matching (Hart and
    Mas-Colell 2000, Econometrica 68), with regrets clipped at 0 and averages weighted linearly, as
    in regret matching+ of Tammelin (2014, arXiv 1407.5042).

    Args:
        scores: [n, n], row against column (win 1, draw 0.5); the two scores of a pair sum to 1.

    Returns:
        Shares of the players, which sum to 1, [n].
    """
    gains = (scores - scores.T) / 2  # exactly antisymmetric, also if rounded scores do not sum to 1
    count = len(gains)
    regrets, sums = np.zeros(count), np.zeros(count)
    for step in range(1, NASH_STEPS + 1):
        positive = np.maximum(regrets, 0)
        total = positive.sum()
        share = positive / total if total else np.full(count, 1 / count)
        won = gains @ share
        regrets = np.maximum(regrets + won - share @ won, 0)
        sums += step * share
        if step % 100 == 0 and (gains @ sums).max() <= NASH_PRECISION * sums.sum():
            break
    return sums / sums.sum()
