"""What an agent sees and does: the tables of features (csrc/feature_table.h), and the spaces."""

from dataclasses import dataclass
from functools import cache

import numpy as np

from midrange_puffer import _core
from midrange_puffer.puffer_import import gymnasium


@dataclass(frozen=True)
class Feature:
    """One number of the observation: value / scale, clipped to [-1, 1]."""

    name: str
    scale: float
    lateral: bool  # changes sign when the engagement is reflected
    meaning: str


OBSERVATION_VERSION: int = _core.OBSERVATION_VERSION


def features_of(observation: str) -> tuple[Feature, ...]:
    """The features of an observation; those of "default" come first in any.

    Raises:
        KeyError: There is no such observation.
    """
    return STG_FEATURES[: _core.OBSERVATIONS[observation]]


STG_FEATURES: tuple[Feature, ...] = tuple(Feature(*row) for row in _core.feature_rows())
FEATURES: tuple[Feature, ...] = features_of("default")


@dataclass(frozen=True)
class Spaces:
    """An agent's spaces, all that a policy needs to know of its environment."""

    single_observation_space: gymnasium.spaces.Box
    single_action_space: gymnasium.spaces.MultiDiscrete


@cache
def spaces_of(observation: str) -> Spaces:
    """The spaces of an agent with this observation.

    Raises:
        KeyError: There is no such observation.
    """
    return Spaces(
        gymnasium.spaces.Box(-1.0, 1.0, (_core.OBSERVATIONS[observation],), dtype=np.float32),
        gymnasium.spaces.MultiDiscrete(_core.ACTION_LEVELS),
    )


SPACES = spaces_of("default")
