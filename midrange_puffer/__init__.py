"""Mid-range air combat for learning: a C core as a native PufferLib environment."""

from typing import TYPE_CHECKING

from midrange_puffer.observation import FEATURES, OBSERVATION_VERSION, STG_FEATURES, Feature
from midrange_puffer.sim import Simulation

if TYPE_CHECKING:
    from midrange_puffer.env import Midrange

__all__ = [
    "FEATURES",
    "OBSERVATION_VERSION",
    "STG_FEATURES",
    "Feature",
    "Midrange",
    "Simulation",
]


def __getattr__(name: str) -> object:
    """`Midrange`, when it is asked for: it alone needs PufferLib."""
    if name == "Midrange":
        from midrange_puffer.env import Midrange

        return Midrange
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
