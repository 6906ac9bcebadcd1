"""Colours of heights, in plots and in the viewer: from violet at the ground to amber high up."""

import numpy as np

HIGHEST = 12_000.0  # m; bodies above it have its colour
# At the ground, half way and at HIGHEST. They stand out from light and from dark ground.
SHADES = ((126, 87, 194), (38, 160, 150), (245, 180, 40))
STEPS = 4_000.0  # m between the marks of a scale


def shade(height: float) -> tuple[int, int, int]:
    """Returns the colour of a height [m]."""
    places = np.linspace(0, HIGHEST, len(SHADES))
    red, green, blue = (
        round(float(np.interp(height, places, c))) for c in zip(*SHADES, strict=True)
    )
    return red, green, blue
