"""Orders, which an agent may give in place of controls: their words, and their way to the core.

The table is csrc/orders_table.h, and csrc/RULES.md, "Orders", has the courses. An order is a level
of each of its heads: the order itself, the permission to fire, with height the level, and the
target, which has one level in one against one. So it has as many heads as a fighter has controls.
The state of an engagement has no orders: they are turned into controls at each
decision. Until then an array of controls may have them in the place of controls: see `as_commands`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from types import MappingProxyType

import numpy as np

from midrange_puffer import _core
from midrange_puffer.game.parameters import RADAR, Parameters, sizes_of
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
HEADS = {
    "order": "the course to fly",
    "permission": "what to fire at the target",
    "level": "the climb",
    "target": "the enemy: the one nearest the nose, or its place among the observed",
}
ORDER, PERMISSION, LEVEL, TARGET = HEADS
NEEDS = {"sensors": "sensing = radar", "team": "a red_size or blue_size above 1"}
# The words of the target head's levels: the enemy nearest the nose, then the observed enemies.
NOSE = "nose"
NONE = ""  # the words of a fighter without an order
DEFAULTS = {PERMISSION: "hold", LEVEL: "level", TARGET: NOSE}
# A row of commands has an order if its first number is at least this, beyond every control.
_MARK = 16

Heads = Mapping[str, tuple[str, ...]]  # the words of each head's levels, by its name


@cache
def heads_in(senses: bool, red_size: int, blue_size: int, dimensions: int) -> Heads:
    """Returns the heads of the orders in a game, with the words of their levels.

    Args:
        senses: True with sensing = radar.
        red_size, blue_size, dimensions: the parameters.
    """
    side = max(red_size, blue_size)
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
        TARGET: (NOSE, *numbers),
    }
    counts = _core.order_heads(senses, red_size, blue_size, dimensions)
    assert all(len(words[head]) == count for head, count in counts)
    return MappingProxyType({head: words[head] for head, _ in counts})


def heads_of(parameters: Parameters) -> Heads:
    """Returns the heads of the orders in a game of these parameters."""
    sizes, senses = sizes_of(parameters), parameters["sensing"] == RADAR
    return heads_in(senses, *sizes, int(parameters["dimensions"]))


def parse_order(text: str, heads: Heads) -> list[int]:
    """Returns the levels of an order in words, such as "crank free", "commit tight high 2".

    Args:
        text: the order, and in any sequence the permission (`DEFAULTS`: hold), with height the
            level, and in teams the target: "nose", or its number among the observed enemies.
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


def _why_unknown(word: str, heads: Heads) -> str:
    """Returns the reason why a word is none of an order's in this game."""
    if word in ORDERS:
        return f"{word} needs {NEEDS[ORDERS[word].needs]}"
    if word in LEVELS:
        return f"{word}: with height only, and this game has dimensions = 2"
    known = [name for words in heads.values() for name in words]
    return f"{word!r} is none of {', '.join(known)}{suggest(word, known)}"


def in_words(levels: Sequence[int], heads: Heads) -> str:
    """Returns the words of an order, as `parse_order` reads them, without the target "nose"."""
    words = [names[level] for names, level in zip(heads.values(), levels, strict=True)]
    return " ".join(word for word in words if word != NOSE)


def as_commands(orders: np.ndarray) -> np.ndarray:
    """Returns orders in the place of controls, until `carry_out` replaces them.

    A row of an order begins with its first level and a mark beyond all controls.

    Args:
        orders: int [n, heads].

    Returns:
        float32 [n, controls].
    """
    commands = np.array(orders, np.float32)
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
    return levels


def carry_out(
    core: _core.Core, commands: np.ndarray, fighters: Sequence[int] | None = None
) -> None:
    """Replaces the orders among commands by the controls that follow them in the next decision.

    Args:
        core: the engagements.
        commands: float32 [num_envs, n, controls], changed in place.
        fighters: the numbers of the n fighters; None: all.
    """
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
