"""Ratings, intervals and cycles, against published figures and closed forms."""

import numpy as np
import pytest

from midrange_puffer.ratings import (
    ELO,
    MEAN,
    Z95,
    bradley_terry,
    is_cyclic,
    three_cycles,
    wilson,
)

# American League East, 1987: Agresti, Categorical Data Analysis (2002), section 10.6. Wins of row
# against column; every two met 13 times.
TEAMS = ("Milwaukee", "Detroit", "Toronto", "New York", "Boston", "Cleveland", "Baltimore")
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
    """Of two who are both free, who has more than half the points rises, the other falls."""
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
def test_who_wins_everything_has_a_finite_rating(games):
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
    """Who surely beats whom, and scores that fit it: the later a pair, the clearer."""
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
    assert is_cyclic(beats)


def test_a_longer_cycle_is_told_from_none():
    pairs = [(0, 1), (1, 2), (2, 3), (3, 0)]
    ring, scores = beaten(*pairs)
    assert three_cycles(ring, scores) == []
    assert is_cyclic(ring)
    chain, scores = beaten(*pairs[:3], (0, 3), (0, 2))
    assert three_cycles(chain, scores) == []
    assert not is_cyclic(chain)


@pytest.mark.parametrize(
    ("count", "total", "low", "high"),
    # Newcombe (1998), Statistics in Medicine 17, table I, method 3
    [
        (81, 263, 0.2553, 0.3662),
        (15, 148, 0.0624, 0.1605),
        (0, 20, 0.0, 0.1611),
        (1, 29, 0.0061, 0.1718),
    ],
)
def test_intervals_are_those_published(count, total, low, high):
    assert wilson(count, total) == pytest.approx([low, high], abs=5e-5)
    assert wilson(total - count, total) == pytest.approx([1 - high, 1 - low], abs=5e-5)


def test_intervals_hold_for_half_points():
    """Half a point between two counts gives an interval between theirs."""
    ends = np.array([wilson(count, 20) for count in (7, 7.5, 8)])
    assert (np.diff(ends, axis=0) > 0).all()
