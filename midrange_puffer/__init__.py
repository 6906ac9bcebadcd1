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
        HEIGHT_FEATURES,
        OBSERVATION_VERSION,
        RADAR_FEATURES,
        RADAR_HEIGHT_FEATURES,
        STG_FEATURES,
        Feature,
        Rows,
        features_of,
        team_rows,
    )
    from midrange_puffer.game.simulation import Simulation

__all__ = [
    "FEATURES",
    "HEIGHT_FEATURES",
    "OBSERVATION_VERSION",
    "RADAR_FEATURES",
    "RADAR_HEIGHT_FEATURES",
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

# Silences two libraries at import: torch warns about pynvml, which PufferLib requires, and pygame
# prints its version.
warnings.filterwarnings("ignore", "The pynvml package is deprecated", FutureWarning)
os.environ.setdefault("PYGAME_HIDE_SUPPORT_PROMPT", "1")

_HOMES = {
    "Decision": "envs.own_reward",
    "Midrange": "envs.midrange",
    "Simulation": "game.simulation",
}


def __getattr__(name: str) -> object:
    """Imports a name of `__all__` at its first use.

    Only `Midrange` needs PufferLib, and the command line starts faster without these imports.
    """
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from midrange_puffer.errors import naming_extra

    home = _HOMES.get(name, "game.observation")
    with naming_extra(f"{name} needs"):
        return getattr(import_module(f"midrange_puffer.{home}"), name)


def __dir__() -> list[str]:
    """Returns the module's names with those of `__all__` that are not imported yet."""
    return sorted({*globals(), *__all__})
