"""What an agent sees and does: the table of features (csrc/feature_table.h), and the spaces."""

from dataclasses import dataclass

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


FEATURES: tuple[Feature, ...] = tuple(Feature(*row) for row in _core.feature_rows())
OBSERVATION_VERSION: int = _core.OBSERVATION_VERSION


@dataclass(frozen=True)
class Spaces:
    """An agent's spaces, all that a policy needs to know of its environment."""

    single_observation_space: gymnasium.spaces.Box
    single_action_space: gymnasium.spaces.MultiDiscrete


SPACES = Spaces(
    gymnasium.spaces.Box(-1.0, 1.0, (len(FEATURES),), dtype=np.float32),
    gymnasium.spaces.MultiDiscrete(_core.ACTION_LEVELS),
)
