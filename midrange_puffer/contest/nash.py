"""The mixture of players that none of them beats."""

import numpy as np

STEPS = 100_000
PRECISION = 1e-4  # in score, by which a player may still gain


def nash_weights(scores: np.ndarray) -> np.ndarray:
    """A Nash equilibrium of the game in which both sides choose a player.

    The game is symmetric and zero-sum, so that in equilibrium both choose alike, and nobody scores
    more than 0.5 against the mixture. It is found by regret matching (Hart and Mas-Colell 2000,
    Econometrica 68) with the + and the linear averages of Tammelin (2014, arXiv 1407.5042).

    Args:
        scores: of row against column (win 1, draw 0.5), [n, n]; the two scores of a pair sum to 1.

    Returns:
        Shares that sum to 1, [n].
    """
    gains = (scores - scores.T) / 2  # without the rounding of scores that do not quite sum to 1
    count = len(gains)
    regrets, sums = np.zeros(count), np.zeros(count)
    for step in range(1, STEPS + 1):
        positive = np.maximum(regrets, 0)
        total = positive.sum()
        share = positive / total if total else np.full(count, 1 / count)
        won = gains @ share
        regrets = np.maximum(regrets + won - share @ won, 0)
        sums += step * share
        if step % 100 == 0 and (gains @ sums).max() <= PRECISION * sums.sum():
            break
    return sums / sums.sum()
