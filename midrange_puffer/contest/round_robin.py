"""Everybody against everybody: the games of a league and their table of results."""

import sys
from collections.abc import Callable, Iterable, Mapping, Sequence

import numpy as np

from midrange_puffer.contest.match import Contestant, Fight, half_of, play, tally
from midrange_puffer.contest.ratings import GAMES, Result, bradley_terry, score_interval
from midrange_puffer.game.parameters import PARAMETERS, PILOTS

# Ratings of the pilots in the game of the parameter table, as printed by
#     puffer league midrange --games 2000
# Fixed when others are rated, so that ratings of different leagues and runs compare.
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
ANCHOR_GAMES = 2000  # a pairing


class Payoffs:
    """The results of all pairings as matrices [n, n], row against column, in the order of `names`.

    Attributes:
        wins, draws, games: counts.
        covariance: of the two fights from a start, summed over the starts.
        points: wins and half the draws.
        scores: points a game; NaN where two have not met.
        low, high: 95 % intervals of the scores.
    """

    def __init__(self, names: Sequence[str], results: Iterable[Result]) -> None:
        self.names = tuple(names)
        shape = (len(self.names), len(self.names))
        self.wins = np.zeros(shape, int)
        self.draws = np.zeros(shape, int)
        self.covariance = np.zeros(shape)
        places = {name: place for place, name in enumerate(self.names)}
        for result in results:
            pair = places[result.first], places[result.second]
            self.wins[pair] += result.wins
            self.wins[pair[::-1]] += result.losses
            for either in (pair, pair[::-1]):
                self.draws[either] += result.draws
                self.covariance[either] += result.covariance
        self.games = self.wins + self.wins.T + self.draws
        self.points = self.wins + self.draws / 2
        with np.errstate(invalid="ignore"):
            self.scores = self.points / self.games
        ends = score_interval(self.wins, self.draws, self.wins.T, self.covariance)
        self.low, self.high = np.where(self.games > 0, ends, np.nan)

    def rate(self, anchors: Mapping[str, float]) -> tuple[np.ndarray, np.ndarray]:
        """Ratings [n] and half widths [n] of their 95 % intervals; see `bradley_terry`.

        Where there are others than anchors, these are fixed; else nobody is.
        """
        fixed = [anchors.get(name) for name in self.names]
        if None not in fixed:
            fixed = [None] * len(fixed)
        return bradley_terry(self.points, self.games, fixed)


def meet(
    pairs: Sequence[tuple[str, str]],
    players: Mapping[str, Contestant],
    games: int,
    seed: int = 0,
    greedy: bool = False,
    progress: Callable[[int], None] = lambda count: None,
    *,
    threads: int = 1,
    parameters: Mapping[str, float],
) -> list[Result]:
    """Let pairs of players fight `games` engagements each, an even number.

    Every start is fought twice, the second time with the seats exchanged, and all pairs have the
    same starts. The other arguments are those of `play`.

    Raises:
        ValueError: An argument of the wrong name, type or range.
    """
    half = half_of("games", games)
    there = [Fight(players[first], players[second]) for first, second in pairs]
    back = [Fight(fight.blue, fight.red) for fight in there]
    records = play(
        there + back, half, seed, greedy, progress, threads=threads, parameters=parameters
    )
    halves = zip(pairs, records[: len(pairs)], records[len(pairs) :], strict=True)
    return [Result(*pair, *tally(as_red, as_blue)) for pair, as_red, as_blue in halves]


def round_robin(
    players: Mapping[str, Contestant],
    games: int = GAMES,
    seed: int = 0,
    greedy: bool = False,
    progress: Callable[[int], None] = lambda count: None,
    *,
    threads: int = 1,
    parameters: Mapping[str, float],
) -> list[Result]:
    """Let every two of the players meet; arguments as of `meet`."""
    names = list(players)
    results = []
    for place, name in enumerate(names):
        pairs = [(name, other) for other in names[:place]]
        results += meet(
            pairs, players, games, seed, greedy, progress, threads=threads, parameters=parameters
        )
    return results


def is_standard(parameters: Mapping[str, float]) -> bool:
    """Whether `ANCHORS` hold for a game: all but the rewards is as in the parameter table."""
    return all(
        parameters[name] == row.default for name, row in PARAMETERS.items() if row.group != "reward"
    )


def rate_pilots(parameters: Mapping[str, float], threads: int = 1) -> dict[str, float]:
    """The pilots' ratings by a round robin of their own, to whole points; 1000 is the mean.

    It says so, for it may take a while.
    """
    print(f"rating the pilots in this game, {ANCHOR_GAMES} engagements a pairing", file=sys.stderr)
    pilots = {pilot: pilot for pilot in PILOTS}
    results = round_robin(pilots, ANCHOR_GAMES, threads=threads, parameters=parameters)
    ratings, _ = Payoffs(PILOTS, results).rate({})
    return dict(zip(PILOTS, ratings.round().tolist(), strict=True))
