"""Performance of aircraft with height: of the law in C, and of JSBSim's trims."""

from collections.abc import Callable
from math import sqrt

import numpy as np
from height import GRAVITY, Law


def root(function: Callable[[float], float], low: float, high: float) -> float:
    """Returns where a function changes its sign, by bisection."""
    sign = function(low) > 0
    assert (function(high) > 0) != sign
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if (function(middle) > 0) == sign else (low, middle)
    return low


def level_drag(law: Law, z: float, v: float, lift: float = GRAVITY) -> float:
    """Returns the drag at a lift [m/s^2]."""
    return v * law.performance(z, v, lift=lift)[3]


def excess(law: Law, z: float, v: float) -> float:
    """Returns the specific excess power in level flight at full throttle [m/s]."""
    return v * (law.performance(z, v)[2] - level_drag(law, z, v)) / GRAVITY


def sustained(law: Law, z: float, mach: float) -> tuple[float, float]:
    """Returns the load [g] at which drag equals thrust, within the limit, and the turn [deg/s]."""
    v = mach * law.air(z)[2] ** -0.5
    load = root(lambda n: level_drag(law, z, v, n * GRAVITY) - law.performance(z, v)[2], 1, 20)
    load = min(load, law.performance(z, v)[1] / GRAVITY)
    return load, float(np.degrees(GRAVITY * sqrt(load**2 - 1) / v))


def top_mach(law: Law, z: float) -> float:
    """Returns the greatest Mach number at which thrust equals the drag of level flight."""
    speeds = np.arange(150, 1000, 5.0)
    last = np.flatnonzero([excess(law, z, v) > 0 for v in speeds])[-1]
    top = root(lambda v: excess(law, z, v), speeds[last], speeds[last] + 5)
    return top * sqrt(law.air(z)[2])


def best_excess(law: Law, z: float) -> float:
    """Returns the best specific excess power in level flight at full throttle [m/s]."""
    return max(excess(law, z, v) for v in np.arange(100, 750, 2.0))


def excess_by_trims(trims: np.ndarray, z: float, mass: float) -> np.ndarray:
    """Returns the rows Mach and specific excess power [m/s] of JSBSim's trims at 1 g."""
    level = trims[(trims["h"] == z) & (abs(trims["lift_g"] - 1) < 0.05)]
    level = np.sort(level, order="M")
    power = level["v"] * (level["T"] - level["D"]) / (mass * GRAVITY)
    return np.stack([level["M"], power], axis=1)


def top_by_trims(trims: np.ndarray, z: float, mass: float) -> float:
    """Returns the Mach number at which excess power ends, linear between the trims."""
    machs, powers = excess_by_trims(trims, z, mass).T
    last = np.flatnonzero(powers > 0)[-1]
    return float(np.interp(0, -powers[last : last + 2], machs[last : last + 2]))


def sustained_by_trims(
    trims: np.ndarray, z: float, mach: float, load_limit: float = np.inf
) -> float:
    """Returns the turn [deg/s] in which JSBSim's drag equals its thrust.

    Drag is linear in the lift squared between trims, and beyond the last two.
    """
    some = trims[(trims["h"] == z) & (abs(trims["M"] - mach) < 1e-6)]
    some = np.sort(some, order="lift_g")
    after = min(max(int((some["D"] < some["T"]).sum()), 1), len(some) - 1)
    pair = some[after - 1 : after + 1]
    (one, other), (below, above) = pair["lift_g"] ** 2, pair["D"]
    load2 = one + (some["T"][0] - below) * (other - one) / (above - below)
    load2 = min(load2, load_limit**2)
    return float(np.degrees(GRAVITY * np.sqrt(load2 - 1) / some["v"][0]))
