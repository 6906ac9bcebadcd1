"""Mid-range air combat for learning: a C core as a native PufferLib environment."""

from typing import TYPE_CHECKING

from midrange_puffer.game.observation import FEATURES, OBSERVATION_VERSION, STG_FEATURES, Feature
from midrange_puffer.game.simulation import Simulation

if TYPE_CHECKING:
    from midrange_puffer.envs.midrange import Midrange

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
        from midrange_puffer.envs.midrange import Midrange

        return Midrange
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
