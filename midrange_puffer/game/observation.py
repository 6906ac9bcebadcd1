"""An agent's observation and spaces, from the tables of features in csrc/feature_table.h."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from itertools import product
from typing import TYPE_CHECKING, Protocol

import numpy as np

from midrange_puffer import _core
from midrange_puffer.errors import UsageError
from midrange_puffer.game.actions import (
    CONTINUOUS,
    DISCRETE,
    ORDERS,
    PLANE,
    Controls,
    controls_in,
)
from midrange_puffer.game.orders import TARGET, Heads, heads_in
from midrange_puffer.game.parameters import (
    ESCORT,
    FIGHT,
    FULL,
    LINE,
    OPTIONS,
    RADAR,
    has_height,
    is_team,
    observed,
    sizes_of,
)

if TYPE_CHECKING:
    from midrange_puffer.gymnasium_import import gymnasium


@dataclass(frozen=True)
class Feature:
    """One number of the observation: a value divided by `scale` and clipped to [-1, 1]."""

    name: str
    scale: float
    lateral: bool  # changes sign when the engagement is reflected
    meaning: str


# Kinds of rows in a team's observation: own state, enemies, and with sensors the radars heard.
OWN, ENEMY, HEARD = "own", "enemy", "radar"
SYSTEMS_ROW, MISSION = "systems", "mission"  # the last rows, with systems and in missions
OBSERVATION_VERSION: int = _core.OBSERVATION_VERSION


def features_of(observation: str, red_size: int = 1, blue_size: int = 1) -> tuple[Feature, ...]:
    """Returns the features of an observation for these team sizes.

    "stg" has all features of "default", followed by more. With emission control or chaff the name
    of the observation is followed by "+systems", in missions then by "+mission", and the features
    likewise by more.

    Raises:
        KeyError: There is no such observation.
    """
    return tuple(Feature(*row) for row in _core.feature_rows(observation, red_size, blue_size))


@dataclass(frozen=True)
class Rows:
    """The rows of one kind in a team's observation: consecutive, all with the same features."""

    # OWN, "ally", ENEMY, "radar", "inbound", "seeker", "own_missile", SYSTEMS_ROW or MISSION
    kind: str
    rows: int
    features: int  # number of features of a row
    place: int  # index of the first row's first feature in the observation


_MISSION_WORDS = {False: FIGHT, True: f"{LINE} or {ESCORT}"}
_MISSIONS = (FIGHT, LINE)  # all missions but a fight have the same observation
# Observations in teams by `sensing` and `dimensions`.
_OF_TEAMS = {
    (FULL, 2): _core.TEAM,
    (RADAR, 2): _core.TEAM_RADAR,
    (FULL, 3): _core.TEAM_HEIGHT,
    (RADAR, 3): _core.TEAM_RADAR_HEIGHT,
}


def team_rows(
    red_size: int,
    blue_size: int,
    sensing: str = FULL,
    dimensions: int = 2,
    mission: str = FIGHT,
    systems: bool = False,
) -> tuple[Rows, ...]:
    """Returns the kinds of rows of a team's observation, in their order.

    Args:
        red_size, blue_size: numbers of fighters.
        sensing: "full" or "radar". With "radar", rows "enemy" are contacts, "seeker" are missiles
            with a lock on the fighter, and "radar" are the enemy radars that its warning receiver
            hears.
        dimensions: 2, or 3 with height.
        mission: "fight"; with another one there is a row "mission".
        systems: True with emission control or chaff: there is a row "systems".

    Raises:
        ValueError: A size is out of range, or both are 1: that observation has no rows.
    """
    sizes = red_size, blue_size
    if not all(1 <= size <= _core.MAX_SIDE for size in sizes) or sizes == (1, 1):
        raise ValueError(
            f"red_size = {red_size}, blue_size = {blue_size}: must be from 1 to "
            f"{_core.MAX_SIDE}, and not both 1"
        )
    observation = _OF_TEAMS[sensing, dimensions]
    if systems:
        observation = _core.with_systems(observation)
    observation = _core.in_mission(observation, mission)
    kinds = _core.team_rows(observation, *sizes)
    return tuple(Rows(kind or OWN, *numbers) for kind, *numbers in kinds)


@cache
def _team_of(features: int) -> tuple[tuple[Rows, ...], int]:
    """Returns the rows of a team's observation and the dimensions, by its number of features.

    There are no rows for others. No two observations have the same number of features.
    """
    # Rows depend on the larger side only; large sides have the same.
    sizes = sorted({_core.enemy_rows(size, size) for size in range(2, _core.MAX_SIDE + 1)})
    every_game = product(_OF_TEAMS, sizes, _MISSIONS, (False, True))
    for (sensing, dimensions), size, mission, systems in every_game:
        if systems and sensing != RADAR:
            continue
        rows = team_rows(size, size, sensing, dimensions, mission, systems)
        if rows[-1].place + rows[-1].rows * rows[-1].features == features:
            return rows, dimensions
    return (), 0


def rows_of(features: int) -> tuple[Rows, ...]:
    """Returns the rows of a team's observation by its number of features; () for others."""
    return _team_of(features)[0]


def sensing_of(rows: Iterable[Rows]) -> str:
    """Returns the `sensing` of the games whose team observation has these rows."""
    return RADAR if any(row.kind == HEARD for row in rows) else FULL


_TEAM_FEATURES = [feature.name for feature in features_of(_core.TEAM, 2, 2)]
OWN_ALIVE = _TEAM_FEATURES.index("own_alive")
_NOSE = {2: "ahead", 3: "off_nose"}  # cosine of the angle off the nose, by dimensions


@cache
def _nose_column(features: int) -> int:
    """Returns the place, in a team's row of an enemy, of the cosine of its angle off the nose.

    With height it is the angle in space, as the core's orders have it.
    """
    rows, dimensions = _team_of(features)
    columns = features_of(_OF_TEAMS[sensing_of(rows), dimensions], 2, 2)
    names = [feature.name for feature in columns]
    return names.index(f"enemy_1_{_NOSE[dimensions]}") - names.index("enemy_1_present")


def to_fly(observations: np.ndarray) -> np.ndarray:
    """Returns True for fighters that need controls, bool [n], by their observations [n, features].

    In teams, dead fighters need none.
    """
    if rows_of(observations.shape[1]):
        return observations[:, OWN_ALIVE] > 0
    return np.ones(len(observations), bool)


def enemies_of(rows: Iterable[Rows]) -> Rows:
    """Returns the rows of the enemies; row k is the target of fire level k + 1."""
    return next(row for row in rows if row.kind == ENEMY)


FEATURES: tuple[Feature, ...] = features_of("default")
STG_FEATURES: tuple[Feature, ...] = features_of("stg")
RADAR_FEATURES: tuple[Feature, ...] = features_of("radar")
HEIGHT_FEATURES: tuple[Feature, ...] = features_of(_core.HEIGHTS[0])
RADAR_HEIGHT_FEATURES: tuple[Feature, ...] = features_of(_core.RADAR_HEIGHTS[0])


def _names(observation: str) -> dict[str, tuple[bool, bool]]:
    """Returns the names of an observation in one against one in all games that have it.

    Of each name it says whether the game has systems, and a mission that is not a fight.
    """
    systems = (False, True) if observation in _core.WITH_SENSORS else (False,)
    return {
        _core.in_mission(_core.with_systems(observation) if has else observation, mission): (
            has,
            mission != FIGHT,
        )
        for has in systems
        for mission in _MISSIONS
    }


_PAIRS = (*_core.OBSERVATIONS, *_core.HEIGHTS, *_core.RADAR_HEIGHTS)  # in one against one
# Of the games in one against one that are not of full information in the plane, by the number of
# features: the controls.
_PAIR_CONTROLS = {
    len(features_of(name)): controls_in(dimensions, kinds, systems)
    for dimensions, observations in (
        (2, (RADAR,)),
        (3, _core.HEIGHTS),
        (3, _core.RADAR_HEIGHTS),
    )
    for kinds, observation in enumerate(observations, 1)
    for name, (systems, _) in _names(observation).items()
}
# Numbers of features with sensors, in one against one.
OF_SENSORS = {
    len(features_of(name))
    for observation in (RADAR, *_core.RADAR_HEIGHTS)
    for name in _names(observation)
}
# Numbers of features in missions, in one against one.
_OF_MISSIONS = {
    len(features_of(name))
    for observation in _PAIRS
    for name, (_, has_mission) in _names(observation).items()
    if has_mission
}


def is_of_mission(features: int) -> bool:
    """True if observations of so many features are those of missions that are not a fight."""
    return features in _OF_MISSIONS or any(row.kind == MISSION for row in rows_of(features))


def controls_of(features: int) -> Controls:
    """Returns a fighter's controls in the games whose observation has so many features."""
    rows, dimensions = _team_of(features)
    if rows:
        return controls_in(dimensions, systems=any(row.kind == SYSTEMS_ROW for row in rows))
    return _PAIR_CONTROLS.get(features, PLANE)


def order_heads_of(features: int) -> Heads:
    """Returns the heads of the orders in the games whose observation has so many features."""
    rows = rows_of(features)
    side = enemies_of(rows).rows if rows else 1
    senses = features in OF_SENSORS or sensing_of(rows) == RADAR
    controls = controls_of(features)
    return heads_in(senses, side, side, controls.dimensions, controls.systems)


_MISSILES = ("inbound", "seeker")  # rows of missiles that fly at the fighter, the first is urgent


def _rows_of_orders(features: int) -> tuple[Rows, ...]:
    """Returns the rows of a team's observation of which an order may speak: () in others."""
    rows = rows_of(features)
    return tuple(row for row in rows if row.kind == ENEMY or row.kind in _MISSILES)


def order_width(features: int) -> int:
    """Returns the number of features of `order_features` in a game, by that of its observation."""
    heads = order_heads_of(features)
    levels = sum(len(words) for head, words in heads.items() if head != TARGET)
    return levels + sum(row.features for row in _rows_of_orders(features))


def order_features(orders: np.ndarray, observations: np.ndarray) -> np.ndarray:
    """Returns orders as features of subordinates, float32 [n, order_width].

    They are a 1 for the level of each head but the target, and 0 for the others; in teams then the
    observation's row of the target, and that of the first missile that flies at the fighter. They
    do not depend on the sizes of the sides.

    The target is the enemy that the order names, without one the enemy nearest the nose. For
    `guard` too: the observation does not say which enemy menaces an ally.

    Args:
        orders: int [n, heads].
        observations: float32 [n, features].
    """
    count, features = observations.shape
    parts = [
        orders[:, head, None] == np.arange(len(words))
        for head, (name, words) in enumerate(order_heads_of(features).items())
        if name != TARGET
    ]
    for rows in _rows_of_orders(features):
        end = rows.place + rows.rows * rows.features
        block = observations[:, rows.place : end].reshape(count, rows.rows, rows.features)
        chosen = np.zeros(count, int)
        if rows.kind == ENEMY:
            is_there = block[:, :, 0] > 0
            cosines = block[:, :, _nose_column(features)]
            nose = np.where(is_there, cosines, -np.inf).argmax(axis=1)
            named = np.clip(orders[:, -1] - 1, 0, rows.rows - 1)
            is_named = (orders[:, -1] > 0) & is_there[np.arange(count), named]
            chosen = np.where(is_named, named, nose)
        parts.append(block[np.arange(count), chosen])
    return np.concatenate(parts, axis=1).astype(np.float32)


def levels_of(features: int, action_mode: str = DISCRETE) -> dict[str, int]:
    """Returns the number of levels of each head of an action, by the head's name.

    Args:
        features: number of features of the game's observation.
        action_mode: "discrete", whose heads are the controls; or "orders".
    """
    if action_mode == ORDERS:
        return {head: len(words) for head, words in order_heads_of(features).items()}
    rows = rows_of(features)
    side = enemies_of(rows).rows if rows else 1
    controls = controls_of(features)
    levels = _core.action_levels(side, side, controls.dimensions, controls.kinds, controls.systems)
    return dict(zip(controls.names, levels, strict=True))


_PLAIN = ("default", "stg")  # observations that begin alike


def shows(observation: str, features: int) -> bool:
    """True if an observation has the `features` that a policy needs; 0 means a function."""
    if not features:
        return True
    count = len(features_of(observation))
    is_plain = features not in (_PAIR_CONTROLS.keys() | _OF_MISSIONS)
    if not is_plain or observation not in _PLAIN:
        return features == count
    return features <= count


class Seeing(Protocol):
    """A player that acts by observations."""

    @property
    def features(self) -> int:
        """Number of features of a fighter's observation that it needs; 0: it takes any."""
        ...

    @property
    def any_size(self) -> bool:
        """True if it can fly in teams of any size."""
        ...


class NamedSeeing(Seeing, Protocol):
    """A player that error messages name."""

    @property
    def label(self) -> str:
        """Its name in error messages."""
        ...


def _check_controls(name: str, features: int, here: Controls) -> None:
    """Raises UsageError if a policy of so many features has other controls than this game."""
    own = controls_of(features)
    if own.dimensions != here.dimensions:
        raise UsageError(
            f"{name} is of dimensions = {own.dimensions}: it cannot fly where dimensions = "
            f"{here.dimensions}"
        )
    if own.kinds != here.kinds:
        raise UsageError(
            f"{name} was trained with loadouts of {own.kinds} types of missiles: it cannot fly "
            f"with loadouts of {here.kinds}"
        )


def _check_systems(name: str, features: int, here: int) -> None:
    """Raises UsageError if of a policy's game and this one only one has systems."""
    own, other = controls_of(features).systems, controls_of(here).systems
    if own and not other:
        raise UsageError(
            f"{name} was trained with emission_control or chaff: it cannot fly where there is "
            "neither; set emission_control = on, or chaff above 0"
        )
    if other and not own:
        raise UsageError(
            f"{name} was trained without emission_control and chaff: it cannot fly where there is "
            "one of them; set emission_control = off and chaff = 0"
        )


def _check_mission(name: str, features: int, here: int) -> None:
    """Raises UsageError if of a policy's game and this one only one is a mission."""
    own, other = is_of_mission(features), is_of_mission(here)
    if own != other:
        raise UsageError(
            f"{name} is of mission = {_MISSION_WORDS[own]}: it cannot fly where mission = "
            f"{_MISSION_WORDS[other]}"
        )


def check_flies(name: str, player: Seeing, features: int) -> None:
    """Raises UsageError if a player cannot fly where a team observes `features`, or with height."""
    if not player.features or player.features == features:
        return
    _check_controls(name, player.features, controls_of(features))
    if not rows_of(player.features):
        raise UsageError(f"{name} is of one against one: it cannot fly in a team")
    own, other = (sensing_of(rows_of(count)) for count in (player.features, features))
    if own != other:
        raise UsageError(f"{name} is of sensing = {own}: it cannot fly where sensing = {other}")
    _check_systems(name, player.features, features)
    _check_mission(name, player.features, features)
    if not player.any_size:
        its, here = (enemies_of(rows_of(n)).rows for n in (player.features, features))
        raise UsageError(f"{name} is of sides of {its}: it cannot fly where they are of {here}")


def check_commands(name: str, fighters: int, size: int) -> None:
    """Raises UsageError if a commander of so many fighters cannot fly `size` of a side."""
    if fighters not in (1, size):
        here = "one fighter" if size == 1 else f"{size} fighters"
        raise UsageError(
            f"{name} is a commander of {fighters} fighters: it cannot fly {here} of a side"
        )


def check_sees(name: str, features: int, observation: str, where: str) -> None:
    """Raises UsageError if an observation lacks some of the `features` that a policy needs."""
    if rows_of(features):
        raise UsageError(f"{name} is of a team: it cannot fly one against one")
    if shows(observation, features):
        return
    count = len(features_of(observation))
    _check_controls(name, features, controls_of(count))
    own, other = (RADAR if n in OF_SENSORS else FULL for n in (features, count))
    if own != other:
        raise UsageError(f"{name} is of sensing = {own}: it cannot fly where sensing = {other}")
    _check_systems(name, features, count)
    _check_mission(name, features, count)
    raise UsageError(f"{name}: sees {features} features, more than the {count} of {where}")


def observation_for(players: Iterable[NamedSeeing], parameters: Mapping[str, float | str]) -> str:
    """Returns the shortest observation of a game that has the features of all players.

    Raises:
        UsageError: A player was trained with another `sensing`, or for other team sizes.
    """
    if is_team(parameters):
        observation = observed("default", parameters)
        count = len(features_of(observation, *sizes_of(parameters)))
        for player in players:
            check_flies(player.label, player, count)
        return observation
    if has_height(parameters) or parameters["sensing"] == RADAR:
        least, largest = [], observed("default", parameters)
    else:
        *least, largest = (observed(name, parameters) for name in _PLAIN)
    players = list(players)
    for name in least:
        if all(shows(name, player.features) for player in players):
            return name
    for player in players:
        check_sees(player.label, player.features, largest, "this game")
    return largest


@dataclass(frozen=True)
class Spaces:
    """An agent's spaces, and all else that a policy needs of its environment.

    Attributes:
        order_decisions: decisions for which an order is flown; 0 if actions are no orders.
        fighters: number of fighters that the agent commands; 1: it is a fighter.
        order_features: number of features, the last ones, of the order that a subordinate is given.
    """

    single_observation_space: "gymnasium.spaces.Box"
    single_action_space: "gymnasium.spaces.MultiDiscrete | gymnasium.spaces.Box"
    order_decisions: int = 0
    fighters: int = 1
    order_features: int = 0


@cache
def spaces_of(
    observation: str,
    action_mode: str = DISCRETE,
    red_size: int = 1,
    blue_size: int = 1,
    order_decisions: int = OPTIONS["order_decisions"].default,
    fighters: int = 1,
    is_subordinate: bool = False,
) -> Spaces:
    """Returns the spaces of an agent with this observation and action mode, for these team sizes.

    `order_decisions` counts with the action mode "orders" only. An agent that commands `fighters`
    observes what each of them does, and gives each an order, one after another. A subordinate
    observes the order that it is given after what a fighter does.

    Raises:
        KeyError: There is no such observation or action mode.
    """
    from midrange_puffer.gymnasium_import import gymnasium

    features = len(features_of(observation, red_size, blue_size))
    controls, multi = controls_of(features), gymnasium.spaces.MultiDiscrete
    actions = {
        DISCRETE: lambda: multi([*levels_of(features).values()]),
        CONTINUOUS: lambda: gymnasium.spaces.Box(
            controls.lowest, controls.highest, dtype=np.float32
        ),
        ORDERS: lambda: multi([*levels_of(features, ORDERS).values()] * fighters),
    }
    order_features = order_width(features) if is_subordinate else 0
    width = features * fighters + order_features
    return Spaces(
        gymnasium.spaces.Box(-1.0, 1.0, (width,), dtype=np.float32),
        actions[action_mode](),
        order_decisions if action_mode == ORDERS else 0,
        fighters,
        order_features,
    )
