"""Mid-range air combat for learning: a C core as a native PufferLib environment."""

import os
import warnings
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from midrange_puffer.envs.midrange import Midrange
    from midrange_puffer.envs.own_reward import Decision
    from midrange_puffer.game.observation import (
        FEATURES,
        OBSERVATION_VERSION,
        RADAR_FEATURES,
        STG_FEATURES,
        Feature,
        Rows,
        features_of,
        team_rows,
    )
    from midrange_puffer.game.simulation import Simulation

__all__ = [
    "FEATURES",
    "OBSERVATION_VERSION",
    "RADAR_FEATURES",
    "STG_FEATURES",
    "Decision",
    "Feature",
    "Midrange",
    "Rows",
    "Simulation",
    "__version__",
    "features_of",
    "team_rows",
]

__version__ = "0.1.0"

# What others would say when they are imported: torch of pynvml, which is there because PufferLib
# requires it, and pygame of itself.
warnings.filterwarnings("ignore", "The pynvml package is deprecated", FutureWarning)
os.environ.setdefault("PYGAME_HIDE_SUPPORT_PROMPT", "1")

_HOMES = {
    "Decision": "envs.own_reward",
    "Midrange": "envs.midrange",
    "Simulation": "game.simulation",
}


def __getattr__(name: str) -> object:
    """A name of `__all__`, imported when it is asked for.

    `Midrange` alone needs PufferLib, and the command line is to begin at once.
    """
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    home = _HOMES.get(name, "game.observation")
    return getattr(import_module(f"midrange_puffer.{home}"), name)


def __dir__() -> list[str]:
    """The names of `__all__` are there, though not yet imported."""
    return sorted({*globals(), *__all__})
