"""Ratings, intervals and cycles, against published figures and closed forms."""

import math

import numpy as np
import pytest

from midrange_puffer.contest.ratings import (
    ELO,
    MEAN,
    Z95,
    bradley_terry,
    covariance_within,
    nash_weights,
    score_interval,
    shortest_cycle,
    three_cycles,
)

# American League East, 1987: Agresti, Categorical Data Analysis (2002), section 10.6. Wins of row
# against column; every two met 13 times.
WINS = np.array(
    [
        [0, 7, 9, 7, 7, 9, 11],
        [6, 0, 7, 5, 11, 9, 9],
        [4, 6, 0, 7, 7, 8, 12],
        [6, 8, 6, 0, 6, 7, 10],
        [6, 2, 6, 7, 0, 7, 12],
        [4, 4, 5, 6, 6, 0, 6],
        [2, 4, 1, 3, 1, 7, 0],
    ]
)
# Abilities relative to Baltimore's and their standard errors, from Turner and Firth (2012),
# Bradley-Terry Models in R, Journal of Statistical Software 48(9), section 2.
ABILITIES = [1.5814, 1.4364, 1.2945, 1.2476, 1.1077, 0.6839]
STANDARD_ERRORS = [0.3433, 0.3396, 0.3367, 0.3359, 0.3339, 0.3319]
SEASONS = 10_000  # so many alike that the prior no longer shows


def duel(won: float, games: int) -> tuple[np.ndarray, np.ndarray]:
    """Points and games of two players."""
    return np.array([[0, won], [games - won, 0]]), np.array([[0, games], [games, 0]])


def test_ratings_and_intervals_are_those_published():
    games = WINS + WINS.T
    assert (games + 13 * np.eye(7) == 13).all()
    fixed = [None] * 6 + [MEAN]
    ratings, half_widths = bradley_terry(SEASONS * WINS, SEASONS * games, fixed)
    assert (ratings[:6] - MEAN) / ELO == pytest.approx(ABILITIES, abs=2e-4)
    errors = half_widths[:6] / (Z95 * ELO) * np.sqrt(SEASONS)
    assert errors == pytest.approx(STANDARD_ERRORS, abs=2e-4)
    assert (ratings[6], half_widths[6]) == (MEAN, 0)


def test_the_prior_hardly_moves_what_one_season_tells():
    """By less than a tenth of the standard errors."""
    ratings, _ = bradley_terry(WINS, WINS + WINS.T, [None] * 7)
    published = np.array([*ABILITIES, 0.0])
    assert (ratings - MEAN) / ELO == pytest.approx(published - published.mean(), abs=0.03)


def test_odds_of_ten_are_400_points():
    points, games = duel(10_000 * 10 / 11, 10_000)
    ratings, half_widths = bradley_terry(points, games, [None, None])
    assert ratings[0] - ratings[1] == pytest.approx(400, abs=0.3)
    # The variance of a difference in log odds is 1 / (n p q); each is half of it from the mean.
    error = ELO / np.sqrt(10_000 * 10 / 11 / 11)
    assert half_widths == pytest.approx([Z95 * error / 2] * 2, rel=1e-3)


def test_points_move_both_sides_alike():
    """If both are free, the one with more than half the points rises, the other falls."""
    points, games = duel(60, 100)
    ratings, _ = bradley_terry(points, games, [None, None])
    assert ratings[0] > MEAN > ratings[1]
    assert ratings.mean() == pytest.approx(MEAN)
    even, _ = bradley_terry(*duel(50, 100), [None, None])
    assert even == pytest.approx([MEAN, MEAN])


def test_fixed_ratings_stay_and_set_the_scale():
    points, games = duel(10_000 * 10 / 11, 10_000)
    ratings, half_widths = bradley_terry(points, games, [None, 1234.0])
    assert ratings == pytest.approx([1634, 1234], abs=0.5)
    assert ratings[1] == 1234
    assert half_widths[0] > 0 == half_widths[1]


@pytest.mark.parametrize("games", [2, 400, 1_000_000])
def test_a_contestant_that_wins_everything_has_a_finite_rating(games):
    """A ladder on which each always beats all below; more games tell more."""
    points = games * np.triu(np.ones((6, 6)), 1)
    ratings, half_widths = bradley_terry(points, points + points.T, [None] * 6)
    assert (np.diff(ratings) < 0).all()
    assert ratings.mean() == pytest.approx(MEAN)
    assert np.isfinite(ratings).all()
    assert np.isfinite(half_widths).all()
    assert (half_widths > 0).all()
    fewer, _ = bradley_terry(points / 2, (points + points.T) / 2, [None] * 6)
    assert ratings[0] > fewer[0]


def test_far_from_every_fixed_rating_the_fit_is_found():
    points, games = duel(1000, 1000)
    ratings, _ = bradley_terry(points, games, [None, 4000.0])
    assert ratings[0] > 4000


ROCK, SCISSORS, PAPER, WELL = range(4)


def beaten(*pairs: tuple[int, int]) -> tuple[np.ndarray, np.ndarray]:
    """Returns `beats` and scores that fit it: the later a pair, the clearer."""
    beats, scores = np.zeros((4, 4), bool), np.full((4, 4), 0.5)
    for place, pair in enumerate(pairs):
        beats[pair] = True
        scores[pair] = 0.6 + 0.05 * place
        scores[pair[::-1]] = 1 - scores[pair]
    return beats, scores


def test_cycles_are_found_each_once_the_clearest_first():
    beats, scores = beaten(
        (ROCK, SCISSORS), (SCISSORS, PAPER), (PAPER, ROCK), (WELL, SCISSORS), (PAPER, WELL)
    )
    # Each is as clear as its least score: rock's against scissors, scissors' against paper.
    assert three_cycles(beats, scores) == [
        (SCISSORS, PAPER, WELL), (ROCK, SCISSORS, PAPER)
    ]  # fmt: skip
    assert len(shortest_cycle(beats)) == 3


def test_a_longer_cycle_is_found_and_told_from_none():
    pairs = [(0, 1), (1, 2), (2, 3), (3, 0)]
    ring, scores = beaten(*pairs)
    assert three_cycles(ring, scores) == []
    assert shortest_cycle(ring) == (0, 1, 2, 3)
    chain, scores = beaten(*pairs[:3], (0, 3), (0, 2))
    assert three_cycles(chain, scores) == []
    assert shortest_cycle(chain) == ()


def test_the_shorter_of_two_cycles_is_taken():
    """A ring of five, and one of four that shares an edge with it."""
    beats = np.zeros((8, 8), bool)
    for winner, loser in [(0, 1), (1, 2), (2, 3), (3, 4), (4, 0), (1, 5), (5, 6), (6, 0), (7, 0)]:
        beats[winner, loser] = True
    assert shortest_cycle(beats) == (0, 1, 5, 6)


@pytest.mark.parametrize(
    ("count", "total", "low", "high"),
    # Newcombe (1998), Statistics in Medicine 17, table I, method 3: Wilson's interval
    [(81, 263, 0.2553, 0.3662), (15, 148, 0.0624, 0.1605)],
)
def test_intervals_of_shares_lie_around_the_centres_of_those_published(count, total, low, high):
    """Agresti and Coull's interval has the centre of Wilson's, and is a little wider."""
    got = score_interval(count, 0, total - count, 0.0)
    assert sum(got) == pytest.approx(low + high, abs=1e-4)
    assert 1 <= (got[1] - got[0]) / (high - low) < 1.04
    mirrored = score_interval(total - count, 0, count, 0.0)
    assert mirrored == pytest.approx((1 - got[1], 1 - got[0]))


def coverage(total: int, win: float, loss: float) -> float:
    """Returns the chance that a score's interval holds the true score, over all counts."""
    chance = 0.0
    for wins in range(total + 1):
        losses = np.arange(total - wins + 1)
        draws = total - wins - losses
        low, high = score_interval(wins, draws, losses, 0.0)
        holds = (low <= (1 + win - loss) / 2) & ((1 + win - loss) / 2 <= high)
        ways = math.comb(total, wins) * np.array(
            [math.comb(total - wins, n) for n in losses], float
        )
        chance += (holds * ways * win**wins * loss**losses * (1 - win - loss) ** draws).sum()
    return chance


@pytest.mark.parametrize(
    ("win", "loss"), [(0.5, 0.5), (0.9, 0.1), (0.98, 0), (0.2, 0.1), (0.05, 0.02), (0.3, 0.3)]
)
def test_the_interval_of_a_score_holds_it_in_95_of_100(win, loss):
    """Rather more often where hardly anything but one outcome is ever seen."""
    chance = coverage(60, win, loss)
    assert chance > 0.93
    assert chance < 0.97 or 1 - max(win, loss, 1 - win - loss) < 0.1


@pytest.mark.parametrize(("alike", "naive"), [(0.5, (0.86, 0.92)), (-0.5, (0.98, 1))])
def test_the_two_fights_of_a_start_are_not_taken_for_independent(alike, naive):
    """In half of 4000 leagues the second fight goes as the first, in half the other way."""
    rng = np.random.default_rng(0)
    first, second = rng.integers(0, 2, (2, 4000, 200))
    copied = first if alike > 0 else 1 - first
    second = np.where(rng.random(second.shape) < abs(alike), copied, second)
    wins = first.sum(axis=1) + second.sum(axis=1)
    covariance = np.array([covariance_within(one) for one in np.stack([first, second], axis=2)])
    for used, (least, most) in ((covariance, (0.935, 0.965)), (0 * covariance, naive)):
        low, high = score_interval(wins, 0 * wins, 400 - wins, used)
        assert least < ((low <= 0.5) & (high >= 0.5)).mean() <= most


def test_the_fights_of_a_part_are_not_taken_for_independent():
    """4000 rows of 32 opponents of different strength, with 16 fights each."""
    rng = np.random.default_rng(0)
    chances = rng.beta(2, 1, (4000, 32, 1))
    points = rng.random((4000, 32, 16)) < chances
    wins = points.sum(axis=(1, 2))
    covariance = np.array([covariance_within(one) for one in points])
    for used, (least, most) in ((covariance, (0.92, 0.97)), (0 * covariance, (0, 0.75))):
        low, high = score_interval(wins, 0 * wins, 512 - wins, used)
        assert least < ((low <= 2 / 3) & (high >= 2 / 3)).mean() < most


def test_the_interval_of_a_score_is_narrow_where_most_are_draws():
    decided, drawn = (np.subtract(*score_interval(*n, 0.0)) for n in ((50, 0, 50), (5, 90, 5)))
    assert drawn / decided == pytest.approx(np.sqrt(0.1), abs=0.06)
    low, high = score_interval(0, 64, 0, 0.0)
    assert 0.45 < low < 0.5 < high < 0.55


# The Nash mixture

# Scores of row against column.
STONE_PAPER_SCISSORS = [[0.5, 0.0, 1.0], [1.0, 0.5, 0.0], [0.0, 1.0, 0.5]]


@pytest.mark.parametrize(
    ("scores", "expected"),
    [
        ([[0.5]], [1]),
        ([[0.5, 0.9], [0.1, 0.5]], [1, 0]),
        (STONE_PAPER_SCISSORS, [1 / 3] * 3),
        # The share of each is as the margin by which the other two beat one another.
        ([[0.5, 0.4, 0.7], [0.6, 0.5, 0.2], [0.3, 0.8, 0.5]], [0.3 / 0.6, 0.2 / 0.6, 0.1 / 0.6]),
    ],
)
def test_closed_forms(scores, expected):
    assert nash_weights(np.array(scores)) == pytest.approx(expected, abs=2e-3)


def test_a_dominated_contestant_is_left_out():
    scores = np.full((4, 4), 0.5)
    scores[:3, :3] = STONE_PAPER_SCISSORS
    scores[3, :3] = scores[0, :3] - 0.1
    scores[:3, 3] = 1 - scores[3, :3]
    assert nash_weights(scores) == pytest.approx([1 / 3, 1 / 3, 1 / 3, 0], abs=2e-3)


def test_nobody_beats_the_mixture():
    rng = np.random.default_rng(0)
    for count in (2, 5, 17, 30):
        scores = rng.random((count, count))
        scores = (scores + 1 - scores.T) / 2
        share = nash_weights(scores)
        assert share.sum() == pytest.approx(1)
        assert (share >= 0).all()
        assert (scores @ share).max() <= 0.5 + 2e-4
