"""A reward that takes time in numpy, to measure when worker processes pay.

    puffer autotune midrange --env-class benchmarks/slow_reward.py:Slow --env.rounds 20

On an Intel Xeon with 2.5 GHz 20 rounds take 1 us a decision, and 400 rounds 20 us.
"""

import numpy as np

from midrange_puffer import Decision, Midrange

BLOCK = 64  # engagements at a time, so that the time is proportional to them


class Slow(Midrange):
    """An environment whose tiny reward is computed many times."""

    def own_reward(self, decision: Decision, rounds: int = 20) -> dict[str, np.ndarray]:
        """Returns a reward of less than a millionth, after `rounds` rounds of numpy."""
        ranges = np.asarray(decision.after.range)
        total = np.zeros_like(ranges)
        for first in range(0, len(ranges), BLOCK):
            block = ranges[first : first + BLOCK]
            reward = block * 0
            for _ in range(rounds):
                reward = reward + np.sqrt(np.abs(block)) * 1e-12
            total[first : first + BLOCK] = reward
        return {"slow": total}
