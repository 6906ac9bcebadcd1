"""The Nash mixture against closed forms."""

import numpy as np
import pytest

from midrange_puffer.contest.nash import nash_weights

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


def test_who_is_worse_than_another_everywhere_is_left_out():
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
