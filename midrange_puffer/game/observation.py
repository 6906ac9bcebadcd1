"""What an agent sees and does: the tables of features (csrc/feature_table.h), and the spaces."""

from dataclasses import dataclass
from functools import cache

import numpy as np

from midrange_puffer import _core
from midrange_puffer.game.actions import HIGHEST, LOWEST
from midrange_puffer.gymnasium_import import gymnasium


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
    single_action_space: gymnasium.spaces.MultiDiscrete | gymnasium.spaces.Box


@cache
def spaces_of(observation: str, action_mode: str = "discrete") -> Spaces:
    """The spaces of an agent with this observation and these actions.

    Raises:
        KeyError: There is no such observation or action mode.
    """
    actions = {
        "discrete": gymnasium.spaces.MultiDiscrete(_core.ACTION_LEVELS),
        "continuous": gymnasium.spaces.Box(LOWEST, HIGHEST, dtype=np.float32),
    }
    features = _core.OBSERVATIONS[observation]
    return Spaces(
        gymnasium.spaces.Box(-1.0, 1.0, (features,), dtype=np.float32), actions[action_mode]
    )


SPACES = spaces_of("default")
