"""The observation's table of features, as the core writes them (csrc/feature_table.h)."""

from dataclasses import dataclass

from midrange_puffer import _core


@dataclass(frozen=True)
class Feature:
    """One number of the observation: value / scale, clipped to [-1, 1]."""

    name: str
    scale: float
    lateral: bool  # changes sign when the engagement is reflected
    meaning: str


FEATURES: tuple[Feature, ...] = tuple(Feature(*row) for row in _core.feature_rows())
OBSERVATION_VERSION: int = _core.OBSERVATION_VERSION
