"""The air at a height, and the speed of sound."""

import math

SPEED_OF_SOUND = 340.0  # m/s, Mach 1 in the plane


def air(z: float) -> tuple[float, float]:
    """Returns the density at a height [m], relative to sea level, and the speed of sound [m/s].

    Of the International Standard Atmosphere (ISO 2533), up to 20 km.
    """
    temperature = 1 - 0.0065 * min(z, 11_000) / 288.15  # relative to sea level
    density = temperature**4.25588 * math.exp(-max(z - 11_000, 0) / 6341.6)
    return density, 340.294 * math.sqrt(temperature)
