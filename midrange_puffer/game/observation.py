"""An agent's observation and spaces: the tables of features of csrc/feature_table.h."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from itertools import product
from typing import Protocol

import numpy as np

from midrange_puffer import _core
from midrange_puffer.errors import UsageError
from midrange_puffer.game.actions import HIGHEST, LOWEST
from midrange_puffer.game.parameters import FULL, RADAR, is_team, observed, sizes_of
from midrange_puffer.gymnasium_import import gymnasium


@dataclass(frozen=True)
class Feature:
    """One number of the observation: value / scale, clipped to [-1, 1]."""

    name: str
    scale: float
    lateral: bool  # changes sign when the engagement is reflected
    meaning: str


# Kinds of rows in a team's observation: own state, enemies, and with sensors the radars heard.
OWN, ENEMY, HEARD = "own", "enemy", "radar"
OBSERVATION_VERSION: int = _core.OBSERVATION_VERSION


def features_of(observation: str, red_size: int = 1, blue_size: int = 1) -> tuple[Feature, ...]:
    """Returns the features of an observation for these sizes; "stg" begins with those of "default".

    Raises:
        KeyError: No such observation.
    """
    return tuple(Feature(*row) for row in _core.feature_rows(observation, red_size, blue_size))


@dataclass(frozen=True)
class Rows:
    """The rows of one kind in a team's observation, one after the other, all of the same schema."""

    kind: str  # OWN, "ally", ENEMY, "radar", "inbound", "seeker" or "own_missile"
    rows: int
    features: int  # of each
    place: int  # of the first one's first feature


def team_rows(red_size: int, blue_size: int, sensing: str = FULL) -> tuple[Rows, ...]:
    """Returns the kinds of rows of a team's observation, in their order.

    Args:
        red_size, blue_size: fighters of the sides.
        sensing: "full", or "radar": then "enemy" are contacts, "seeker" missiles with a lock on the
            fighter, and "radar" the enemy radars that its receiver hears.

    Raises:
        ValueError: A size out of range, or one against one, whose observation has no rows.
    """
    sizes = red_size, blue_size
    if not all(1 <= size <= _core.MAX_SIDE for size in sizes) or sizes == (1, 1):
        raise ValueError(
            f"red_size = {red_size}, blue_size = {blue_size}: must be from 1 to "
            f"{_core.MAX_SIDE}, and not both 1"
        )
    observation = _core.TEAM_RADAR if sensing == RADAR else _core.TEAM
    kinds = _core.team_rows(observation, *sizes)
    return tuple(Rows(kind or OWN, *numbers) for kind, *numbers in kinds)


@cache
def rows_of(features: int) -> tuple[Rows, ...]:
    """Returns the rows of a team's observation with so many features; () for other observations."""
    for sensing, size in product((FULL, RADAR), range(2, _core.MAX_SIDE + 1)):
        rows = team_rows(size, size, sensing)  # those of the larger side, whichever that is
        if rows[-1].place + rows[-1].rows * rows[-1].features == features:
            return rows
    return ()


def sensing_of(rows: Iterable[Rows]) -> str:
    """Returns the `sensing` of the games in which a team's observation has these rows."""
    return RADAR if any(row.kind == HEARD for row in rows) else FULL


OWN_ALIVE = [row[0] for row in _core.feature_rows(_core.TEAM, 2, 2)].index("own_alive")


def to_fly(observations: np.ndarray) -> np.ndarray:
    """Returns True for fighters with these observations [n, features] that need controls, bool [n].

    The dead of teams need none.
    """
    if rows_of(observations.shape[1]):
        return observations[:, OWN_ALIVE] > 0
    return np.ones(len(observations), bool)


def enemies_of(rows: Iterable[Rows]) -> Rows:
    """Returns the rows of the enemies, in the order of the levels of fire."""
    return next(row for row in rows if row.kind == ENEMY)


FEATURES: tuple[Feature, ...] = features_of("default")
STG_FEATURES: tuple[Feature, ...] = features_of("stg")
RADAR_FEATURES: tuple[Feature, ...] = features_of("radar")


def shows(observation: str, features: int) -> bool:
    """True if an observation has the features of a policy; `features` is 0 for a function."""
    if not features:
        return True
    count, of_sensors = _core.OBSERVATIONS[observation], len(RADAR_FEATURES)
    if observation == RADAR:
        return features == of_sensors
    return features <= count and features != of_sensors


class Seeing(Protocol):
    """A player that observes."""

    @property
    def features(self) -> int:
        """The number of features that it needs; 0 if it takes all of any observation."""
        ...

    @property
    def any_size(self) -> bool:
        """True if it flies in teams of any size."""
        ...


def check_flies(name: str, player: Seeing, features: int) -> None:
    """Raises UsageError if a player cannot fly in a team with so many features."""
    if not player.features or player.features == features:
        return
    if not rows_of(player.features):
        raise UsageError(f"{name} is of one against one: it cannot fly in a team")
    own, other = (sensing_of(rows_of(count)) for count in (player.features, features))
    if own != other:
        raise UsageError(f"{name} is of sensing = {own}: it cannot fly where sensing = {other}")
    if not player.any_size:
        its, here = (enemies_of(rows_of(n)).rows for n in (player.features, features))
        raise UsageError(f"{name} is of sides of {its}: it cannot fly where they are of {here}")


def check_sees(name: str, features: int, observation: str, where: str) -> None:
    """Raises UsageError if an observation lacks features of a policy with so many."""
    if rows_of(features):
        raise UsageError(f"{name} is of a team: it cannot fly one against one")
    if shows(observation, features):
        return
    count = _core.OBSERVATIONS[observation]
    if len(RADAR_FEATURES) in (features, count):
        own, other = (FULL, RADAR) if observation == RADAR else (RADAR, FULL)
        raise UsageError(f"{name} is of sensing = {own}: it cannot fly where sensing = {other}")
    raise UsageError(f"{name}: sees {features} features, more than the {count} of {where}")


def observation_for(players: Iterable[Seeing], parameters: Mapping[str, float | str]) -> str:
    """Returns the smallest observation of a game that has the features of all players.

    Raises:
        UsageError: A player of a game with another `sensing`, or of other teams.
    """
    if is_team(parameters):
        observation = observed("default", parameters)
        count = len(features_of(observation, *sizes_of(parameters)))
        for player in players:
            check_flies("a policy", player, count)
        return observation
    *least, largest = (RADAR,) if parameters["sensing"] == RADAR else ("default", "stg")
    counts = [player.features for player in players]
    for name in least:
        if all(shows(name, count) for count in counts):
            return name
    for count in counts:
        check_sees("a policy", count, largest, "this game")
    return largest


@dataclass(frozen=True)
class Spaces:
    """An agent's spaces; a policy needs nothing else of its environment."""

    single_observation_space: gymnasium.spaces.Box
    single_action_space: gymnasium.spaces.MultiDiscrete | gymnasium.spaces.Box


@cache
def spaces_of(
    observation: str, action_mode: str = "discrete", red_size: int = 1, blue_size: int = 1
) -> Spaces:
    """Returns the spaces of an agent with this observation and action mode, for these sizes.

    Raises:
        KeyError: No such observation or action mode.
    """
    actions = {
        "discrete": gymnasium.spaces.MultiDiscrete(list(_core.action_levels(red_size, blue_size))),
        "continuous": gymnasium.spaces.Box(LOWEST, HIGHEST, dtype=np.float32),
    }
    features = len(features_of(observation, red_size, blue_size))
    return Spaces(
        gymnasium.spaces.Box(-1.0, 1.0, (features,), dtype=np.float32), actions[action_mode]
    )


SPACES = spaces_of("default")
