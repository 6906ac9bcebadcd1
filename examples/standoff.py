"""A reward of your own: a bonus for staying beyond a distance from the enemy.

    puffer train midrange --config configs/default.ini --env-class examples/standoff.py:Standoff

The arguments of `own_reward` are keys of [env]: --env.standoff-bonus 0.01. A sweep may vary them.
"""

import numpy as np

from midrange_puffer import Decision, Midrange


class Standoff(Midrange):
    """An environment that also rewards each second beyond a distance."""

    def own_reward(
        self, decision: Decision, standoff_bonus: float = 0.005, standoff_range: float = 20_000.0
    ) -> dict[str, np.ndarray]:
        """Returns the bonus [1/s] for each second at more than the range [m] from the enemy."""
        is_beyond = decision.after.range > standoff_range
        return {"standoff": standoff_bonus * decision.seconds * is_beyond}
