"""How the fighters of an environment stand at one moment, from each agent's side."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from midrange_puffer.game.parameters import SEATS


class Fighters(NamedTuple):
    """Fighters, float32 [agents] or [agents, fighters] each; the rows of MR_STATES in midrange.h.

    Attributes:
        x, y: position [m].
        direction_x, direction_y: direction of flight, a unit vector.
        speed: [m/s].
        alive: 1 until it is hit, then 0.
        ammunition: missiles left.
        inbound: missiles in the air that fly at it.
        time_to_go: least time to go of those [s], at most 100, which it is without any.
    """

    x: np.ndarray
    y: np.ndarray
    direction_x: np.ndarray
    direction_y: np.ndarray
    speed: np.ndarray
    alive: np.ndarray
    ammunition: np.ndarray
    inbound: np.ndarray
    time_to_go: np.ndarray


@dataclass(frozen=True)
class Sides:
    """Whose fighters the agents of a group of engagements are.

    Attributes:
        flown: for each side of which all fighters are agents, its fighters and the enemy's.
    """

    flown: Sequence[tuple[slice, slice]]

    def own(self, states: np.ndarray) -> np.ndarray:
        """Of states [n, fighters, num_envs] the agents' own, [n, agents]."""
        [(own, _), *others] = self.flown
        found = states if others else states[:, own]  # with both sides all, in their order
        return found.transpose(0, 2, 1).reshape(len(states), -1)

    def enemies(self, states: np.ndarray) -> np.ndarray:
        """Those of the enemies, [n, agents, enemies]; zeros where a side has fewer."""
        sides = []
        for own, enemy in self.flown:
            found = states[:, enemy].transpose(0, 2, 1)[:, :, None]
            size = len(states[0, own])
            sides.append(found if size == 1 else found.repeat(size, axis=2))
        return _joined(sides, axis=2, width=3).reshape(len(states), -1, _widest(sides))

    def allies(self, states: np.ndarray) -> np.ndarray:
        """Those of the others of the agents' sides, [n, agents, allies]; zeros as of `enemies`."""
        sides = []
        for own, _ in self.flown:
            found = states[:, own].transpose(0, 2, 1)
            size = found.shape[2]
            others = [[one for one in range(size) if one != agent] for agent in range(size)]
            sides.append(found[:, :, np.array(others, int).reshape(size, size - 1)])
        return _joined(sides, axis=2, width=3).reshape(len(states), -1, _widest(sides))


def _widest(sides: Sequence[np.ndarray]) -> int:
    return max(side.shape[-1] for side in sides)


def _joined(parts: Sequence[np.ndarray], axis: int, width: int | None = None) -> np.ndarray:
    """Arrays one after another; made as long along the axis `width` by zeros, if it is given."""
    if len(parts) == 1:
        return parts[0]
    if width is not None:
        most = max(part.shape[width] for part in parts)
        parts = [_padded(part, width, most) for part in parts]
    return np.concatenate(parts, axis)


def _padded(part: np.ndarray, axis: int, length: int) -> np.ndarray:
    missing = [(0, 0)] * part.ndim
    missing[axis] = (0, length - part.shape[axis])
    return np.pad(part, missing)


@dataclass(frozen=True)
class Moment:
    """How all agents stand at one moment.

    Attributes:
        features: float32 [agents] by name, those of `Midrange.reward_features`.
        groups: of each group of engagements whose its agents are, and how its fighters stand,
            float32 [states, fighters, num_envs].
    """

    features: Mapping[str, np.ndarray]
    groups: Sequence[tuple[Sides, np.ndarray]]

    @cached_property
    def own(self) -> Fighters:
        """The agents' fighters, [agents] each."""
        return self._found(Sides.own)

    @cached_property
    def enemies(self) -> Fighters:
        """For each agent the fighters of the other side, in their order, [agents, enemies] each.

        Where the agents' sides have unequally many enemies, some have zeros at the end.
        """
        return self._found(Sides.enemies)

    @cached_property
    def allies(self) -> Fighters:
        """For each agent the others of its side, in their order, [agents, allies] each.

        There are zeros as of `enemies`.
        """
        return self._found(Sides.allies)

    @cached_property
    def enemy(self) -> Fighters:
        """For each agent the nearest living enemy, or where none lives the first; [agents] each."""
        if not self._is_team:
            return self._found(lambda sides, states: sides.own(states[:, ::-1]))
        enemies = self.enemies
        ranges = np.hypot(enemies.x - self.own.x[:, None], enemies.y - self.own.y[:, None])
        nearest = np.where(enemies.alive > 0, ranges, np.inf).argmin(axis=1)
        agents = np.arange(len(nearest))
        return Fighters(*(values[agents, nearest] for values in enemies))

    @cached_property
    def range(self) -> np.ndarray:
        """Distance between an agent and that enemy [m], float32 [agents]."""
        return np.hypot(self.enemy.x - self.own.x, self.enemy.y - self.own.y)

    @property
    def _is_team(self) -> bool:
        return self.groups[0][1].shape[1] > len(SEATS)

    def _found(self, of: Callable[[Sides, np.ndarray], np.ndarray]) -> Fighters:
        parts = [of(sides, states) for sides, states in self.groups]
        return Fighters(*_joined(parts, axis=1, width=2 if parts[0].ndim == 3 else None))
