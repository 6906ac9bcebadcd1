"""Orders, which an agent may give in place of controls: their words, and their way to the core.

The table is csrc/orders_table.h, and csrc/RULES.md, "Orders", has the courses. An order is a level
of each of its heads: the order itself, the permission to fire, with height the level, with emission
control or chaff the systems, and the target, which has one level in one against one. So it has as
many heads as a fighter has controls.
The state of an engagement has no orders: they are turned into controls at each
decision. Until then an array of controls may have them in the place of controls: see `as_commands`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from types import MappingProxyType

import numpy as np

from midrange_puffer import _core
from midrange_puffer.game.actions import SYSTEMS
from midrange_puffer.game.parameters import (
    RADAR,
    Parameters,
    fighter_names,
    has_systems,
    sizes_of,
)
from midrange_puffer.game.readings import SOURCES, TRACKING, read_contacts, read_fighters
from midrange_puffer.names import suggest


@dataclass(frozen=True)
class Order:
    """A row of csrc/orders_table.h.

    Attributes:
        needs: "", "sensors" or "team": the games that have the order.
        meaning: the course that the fighter flies.
        otherwise: the course where what the meaning speaks of is not there.
    """

    name: str
    needs: str
    meaning: str
    otherwise: str


ORDERS: dict[str, Order] = {row[0]: Order(*row) for row in _core.order_rows()}
PERMISSIONS: dict[str, str] = dict(_core.permission_rows())
LEVELS: dict[str, str] = dict(_core.order_level_rows())
SYSTEMS_WORDS: dict[str, str] = dict(_core.order_systems_rows())
HEADS = {
    "order": "the course to fly",
    "permission": "what to fire at the target",
    "level": "the climb",
    SYSTEMS: "the radar and the chaff",
    "target": "the enemy: the one nearest the nose, or its place among the observed",
}
ORDER, PERMISSION, LEVEL, _, TARGET = HEADS
NEEDS = {"sensors": "sensing = radar", "team": "a red_size or blue_size above 1"}
# The words of the target head's levels: the enemy nearest the nose, then the observed enemies.
NOSE = "nose"
NONE = ""  # the words of a fighter without an order
DEFAULTS = {PERMISSION: "hold", LEVEL: "level", SYSTEMS: "emit", TARGET: NOSE}
# A row of commands has an order if its first number is at least this, beyond every control.
_MARK = 16
# If a subordinate flies the order, each number is its control plus this for each level from 1 on.
# Its controls are multiples of 1/4 below 32, so that float32 holds the sum.
_FLOWN = 64

Heads = Mapping[str, tuple[str, ...]]  # the words of each head's levels, by its name


@cache
def heads_in(
    senses: bool, red_size: int, blue_size: int, dimensions: int, systems: bool = False
) -> Heads:
    """Returns the heads of the orders in a game, with the words of their levels.

    Args:
        senses: True with sensing = radar.
        red_size, blue_size, dimensions: the parameters.
        systems: True with emission control or chaff.
    """
    side = _core.enemy_rows(red_size, blue_size)
    needs = {
        "",
        *(["sensors"] if senses else []),
        *(["team"] if side > 1 else []),
    }
    numbers = tuple(str(number + 1) for number in range(side if side > 1 else 0))
    words = {
        ORDER: tuple(order.name for order in ORDERS.values() if order.needs in needs),
        PERMISSION: tuple(PERMISSIONS),
        LEVEL: tuple(LEVELS),
        SYSTEMS: tuple(SYSTEMS_WORDS),
        TARGET: (NOSE, *numbers),
    }
    counts = _core.order_heads(senses, red_size, blue_size, dimensions, systems)
    assert all(len(words[head]) == count for head, count in counts)
    return MappingProxyType({head: words[head] for head, _ in counts})


def heads_of(parameters: Parameters) -> Heads:
    """Returns the heads of the orders in a game of these parameters."""
    sizes, senses = sizes_of(parameters), parameters["sensing"] == RADAR
    return heads_in(senses, *sizes, int(parameters["dimensions"]), has_systems(parameters))


def parse_order(text: str, heads: Heads) -> list[int]:
    """Returns the levels of an order in words, such as "crank free", "commit tight high 2".

    Args:
        text: the order, and in any sequence the permission (`DEFAULTS`: hold), with height the
            level, with emission control or chaff the systems, and in teams the target: "nose", or
            its number among the observed enemies.
        heads: of the game.

    Raises:
        ValueError: A word is unknown, a head has two words or the order is missing.
    """
    where, levels = f"order = {text!r}", dict.fromkeys(heads, -1)
    for word in text.split():
        head = next((head for head, words in heads.items() if word in words), None)
        if head is None:
            raise ValueError(f"{where}: {_why_unknown(word, heads)}")
        if levels[head] >= 0:
            raise ValueError(f"{where}: {heads[head][levels[head]]} and {word}: one {head} only")
        levels[head] = heads[head].index(word)
    if levels[ORDER] < 0:
        raise ValueError(f"{where}: must have one of {', '.join(heads[ORDER])}")
    return [
        level if level >= 0 else heads[head].index(DEFAULTS[head]) for head, level in levels.items()
    ]


def _check_order(
    text: str, levels: Mapping[str, int], heads: Heads, enemies: int, has_map: bool, is_absent: bool
) -> None:
    """Checks that what an order speaks of is there.

    Args:
        text: the order.
        levels: its levels by head.
        heads: of the game.
        enemies: the number of enemies that the fighter observes.
        has_map: True if the game has the map of the missile envelope, or needs none.
        is_absent: True if the core has found that something is missing.

    Raises:
        ValueError: It is not there.
    """
    if "tight" in text.split() and not has_map:
        raise ValueError("tight needs the missile envelope; Simulation(envelope=True) makes it")
    if levels.get(TARGET, 0) > enemies:
        raise ValueError(
            f"there is no target {levels[TARGET]}, the fighter observes {enemies} "
            f"enem{'y' if enemies == 1 else 'ies'}"
        )
    if is_absent:
        order = ORDERS[heads[ORDER][levels[ORDER]]]
        raise ValueError(
            f"there is nothing to fly it by: {order.name} is {order.meaning}. An agent's order "
            f"would be flown {order.otherwise}"
        )


def _why_unknown(word: str, heads: Heads) -> str:
    """Returns the reason why a word is none of an order's in this game."""
    if word in ORDERS:
        return f"{word} needs {NEEDS[ORDERS[word].needs]}"
    if word in LEVELS:
        return f"{word}: with height only, and this game has dimensions = 2"
    if word in SYSTEMS_WORDS:
        return f"{word}: with emission_control or chaff only"
    known = [name for words in heads.values() for name in words]
    return f"{word!r} is none of {', '.join(known)}{suggest(word, known)}"


def in_words(levels: Sequence[int], heads: Heads) -> str:
    """Returns the words of an order, as `parse_order` reads them, without "emit" and "nose"."""
    words = [names[level] for names, level in zip(heads.values(), levels, strict=True)]
    return " ".join(word for word in words if word not in (NOSE, DEFAULTS[SYSTEMS]))


def as_commands(orders: np.ndarray, controls: np.ndarray | None = None) -> np.ndarray:
    """Returns orders in the place of controls, until `carry_out` replaces them.

    A row of an order begins with its first level and a mark beyond all controls.

    Args:
        orders: int [n, heads].
        controls: the controls by which a subordinate follows them, float32 [n, controls]; None:
            the scripted courses are flown.

    Returns:
        float32 [n, controls].
    """
    commands = np.array(orders, np.float32)
    if controls is not None:
        return controls + _FLOWN * (1 + commands)
    commands[:, 0] += _MARK
    return commands


def are_orders(commands: np.ndarray) -> np.ndarray:
    """True for rows of commands [..., controls] that have an order, bool [...]."""
    return commands[..., 0] >= _MARK


def orders_in(commands: np.ndarray) -> np.ndarray:
    """Returns the orders among commands [..., controls] as levels, int32 [..., heads]; else -1."""
    given = are_orders(commands)
    levels = np.full(commands.shape, -1, np.int32)
    levels[given] = commands[given]
    levels[..., 0][given] -= _MARK
    flown = _are_flown(commands)
    levels[flown] = _levels_flown(commands[flown])
    return levels


def _are_flown(commands: np.ndarray) -> np.ndarray:
    """True for rows of commands that have an order with the controls of a subordinate."""
    return commands[..., 0] >= _FLOWN / 2


def _levels_flown(commands: np.ndarray) -> np.ndarray:
    """Returns the levels of orders with the controls of a subordinate."""
    return np.rint(commands / _FLOWN) - 1


def carry_out(
    core: _core.Core, commands: np.ndarray, fighters: Sequence[int] | None = None
) -> None:
    """Replaces the orders among commands by the controls that follow them in the next decision.

    Args:
        core: the engagements.
        commands: float32 [num_envs, n, controls], changed in place.
        fighters: the numbers of the n fighters; None: all.
    """
    flown = _are_flown(commands)
    commands[flown] -= _FLOWN * (1 + _levels_flown(commands[flown]))
    given = are_orders(commands)
    if not given.any():
        return
    places = np.arange(core.fighters) if fighters is None else np.asarray(fighters)
    shape = core.num_envs, core.fighters, core.controls
    orders = np.full(shape, -1, np.int32)
    orders[:, places] = orders_in(commands)
    controls = np.zeros(shape, np.float32)
    core.controls_of_orders(orders, controls)
    commands[given] = controls[:, places][given]


def controls_in_words(
    core: _core.Core,
    orders: Mapping[int, str],
    env: int,
    controls: np.ndarray | None,
    has_map: bool,
) -> np.ndarray:
    """Returns controls by which fighters follow orders in words, as `Simulation.controls_of`.

    Args:
        core: the engagements.
        orders, env, controls: as of `Simulation.controls_of`.
        has_map: True if the game has the map of the missile envelope, or needs none.
    """
    heads, shape = heads_of(core.parameters), (core.num_envs, core.fighters)
    levels = np.full((*shape, core.controls), -1, np.int32)
    for fighter, text in orders.items():
        core.get_fighter(env, fighter)  # checks the numbers
        levels[env, fighter] = parse_order(text, heads)
    out = np.zeros((*shape, core.controls), np.float32)
    if controls is not None:
        out[:] = controls
    absent = np.zeros(shape, np.uint8)
    core.controls_of_orders(levels, out, absent)
    for fighter, text in orders.items():
        named = dict(zip(heads, levels[env, fighter].tolist(), strict=True))
        enemies, is_absent = _observed_enemies(core, env, fighter), bool(absent[env, fighter])
        try:
            _check_order(text, named, heads, enemies, has_map, is_absent)
        except ValueError as error:
            name = fighter_names(sizes_of(core.parameters))[fighter]
            raise ValueError(f"{name}: order = {text!r}: {error}") from None
    return out


def _observed_enemies(core: _core.Core, env: int, fighter: int) -> int:
    """Returns the number of enemies that a fighter observes: the living, or its tracks."""
    alive = read_fighters(core)["alive"][env] != 0
    red = sizes_of(core.parameters)[0]
    is_enemy = (np.arange(len(alive)) >= red) != (fighter >= red)
    if core.parameters["sensing"] != RADAR:
        return int((alive & is_enemy).sum())
    source = np.atleast_1d(read_contacts(core)["source"][env, fighter])
    return int(np.isin(source, [SOURCES.index(name) for name in TRACKING]).sum())
