"""Mid-range air combat for learning: a C core as a native PufferLib environment."""

from midrange_puffer.env import Midrange
from midrange_puffer.observation import FEATURES, OBSERVATION_VERSION, STG_FEATURES, Feature
from midrange_puffer.sim import Simulation

__all__ = [
    "FEATURES",
    "OBSERVATION_VERSION",
    "STG_FEATURES",
    "Feature",
    "Midrange",
    "Simulation",
]
