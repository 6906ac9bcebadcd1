"""What an agent sees and does: the tables of features (csrc/feature_table.h), and the spaces."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache

import numpy as np

from midrange_puffer import _core
from midrange_puffer.errors import UsageError
from midrange_puffer.game.actions import HIGHEST, LOWEST
from midrange_puffer.game.parameters import FULL, PARAMETERS, RADAR
from midrange_puffer.gymnasium_import import gymnasium


@dataclass(frozen=True)
class Feature:
    """One number of the observation: value / scale, clipped to [-1, 1]."""

    name: str
    scale: float
    lateral: bool  # changes sign when the engagement is reflected
    meaning: str


MAX_SIDE = int(PARAMETERS["red_size"].maximum)  # fighters
OBSERVATION_VERSION: int = _core.OBSERVATION_VERSION


def features_of(observation: str, red_size: int = 1, blue_size: int = 1) -> tuple[Feature, ...]:
    """The features of an observation, where so many fight; those of "default" come first in "stg".

    Raises:
        KeyError: There is no such observation.
    """
    return tuple(Feature(*row) for row in _core.feature_rows(observation, red_size, blue_size))


@dataclass(frozen=True)
class Rows:
    """The rows of one kind in a team's observation, one after the other, all of the same schema."""

    kind: str  # "own", "ally", "enemy", "inbound" or "own_missile"
    rows: int
    features: int  # of each
    place: int  # of the first one's first feature


def team_rows(red_size: int, blue_size: int) -> tuple[Rows, ...]:
    """Of what rows an observation is where so many fight, in their order.

    Raises:
        ValueError: A size that there is not, or one against one, whose observation has no rows.
    """
    sizes = red_size, blue_size
    if not all(1 <= size <= MAX_SIDE for size in sizes) or sizes == (1, 1):
        raise ValueError(
            f"red_size = {red_size}, blue_size = {blue_size}: must be from 1 to {MAX_SIDE}, and not"
            " both 1"
        )
    return tuple(Rows(kind or "own", *numbers) for kind, *numbers in _core.team_rows(*sizes))


FEATURES: tuple[Feature, ...] = features_of("default")
STG_FEATURES: tuple[Feature, ...] = features_of("stg")
RADAR_FEATURES: tuple[Feature, ...] = features_of("radar")


def shows(observation: str, features: int) -> bool:
    """Whether a policy of so many features, or a function (0), finds them in an observation."""
    if not features:
        return True
    count, of_sensors = _core.OBSERVATIONS[observation], len(RADAR_FEATURES)
    if observation == RADAR:
        return features == of_sensors
    return features <= count and features != of_sensors


def check_sees(who: str, features: int, observation: str, where: str) -> None:
    """Raise UsageError where a policy of so many features does not find them in an observation."""
    if shows(observation, features):
        return
    count = _core.OBSERVATIONS[observation]
    if len(RADAR_FEATURES) in (features, count):
        own, other = (FULL, RADAR) if observation == RADAR else (RADAR, FULL)
        raise UsageError(f"{who} is of sensing = {own}: it cannot fly where sensing = {other}")
    raise UsageError(f"{who}: sees {features} features, more than the {count} of {where}")


def observation_for(features: Iterable[int], parameters: Mapping[str, float | str]) -> str:
    """The least observation of a game in which policies of so many features each find theirs.

    Raises:
        UsageError: One of them is of a game with another `sensing`.
    """
    *least, largest = (RADAR,) if parameters["sensing"] == RADAR else ("default", "stg")
    counts = list(features)
    for name in least:
        if all(shows(name, count) for count in counts):
            return name
    for count in counts:
        check_sees("a policy", count, largest, "this game")
    return largest


@dataclass(frozen=True)
class Spaces:
    """An agent's spaces, all that a policy needs to know of its environment."""

    single_observation_space: gymnasium.spaces.Box
    single_action_space: gymnasium.spaces.MultiDiscrete | gymnasium.spaces.Box


@cache
def spaces_of(
    observation: str, action_mode: str = "discrete", red_size: int = 1, blue_size: int = 1
) -> Spaces:
    """The spaces of an agent with this observation and these actions, where so many fight.

    Raises:
        KeyError: There is no such observation or action mode.
    """
    actions = {
        "discrete": gymnasium.spaces.MultiDiscrete(_core.action_levels(red_size, blue_size)),
        "continuous": gymnasium.spaces.Box(LOWEST, HIGHEST, dtype=np.float32),
    }
    features = len(features_of(observation, red_size, blue_size))
    return Spaces(
        gymnasium.spaces.Box(-1.0, 1.0, (features,), dtype=np.float32), actions[action_mode]
    )


SPACES = spaces_of("default")
