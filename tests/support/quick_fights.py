"""Settings with which many engagements are fought in little time, and simply rewarded."""

import numpy as np

from midrange_puffer import Midrange
from midrange_puffer.game.parameters import PARAMETERS

# Engagements that end soon, and in every way.
SHORT = {
    "start_range_min": 2000,
    "start_range_max": 9000,
    "start_off_boresight_max_deg": 90,
    "launch_interval": 1,
    "time_limit": 20,
}
# Nothing but the outcome: the weights are the rewards' parameters that may be 0.
UNSHAPED = {
    name: 0 for name, row in PARAMETERS.items() if row.group == "reward" and not row.minimum
}
LEVELS = (5, 3, 2)  # of rudder, throttle and fire
# Action modes whose actions are the controls of one decision; test_order_steps.py has orders.
FLAT = ("discrete", "continuous")


def joined(infos: list[dict[str, list[float]]]) -> dict[str, list[float]]:
    """Returns the infos of several steps as one: by name the values of all engagements."""
    values: dict[str, list[float]] = {}
    for info in infos:
        for name, of_step in info.items():
            assert of_step
            values.setdefault(name, []).extend(of_step)
    return values


def draw_actions(seed: int, steps: int, agents: int) -> np.ndarray:
    """Returns random actions int32 [steps, agents, 3]."""
    return np.random.default_rng(seed).integers(0, LEVELS, (steps, agents, 3), np.int32)


def same(arrays: list[np.ndarray], others: list[np.ndarray]) -> bool:
    """True if two lists hold equal arrays."""
    return len(arrays) == len(others) and all(map(np.array_equal, arrays, others))


def longest(env: Midrange) -> int:
    """Returns the number of decisions after which every engagement has ended."""
    rules = env.parameters
    return int(rules["time_limit"] / rules["physics_dt"]) // rules["substeps"] + 1
