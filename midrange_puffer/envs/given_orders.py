"""Agents that are subordinates: fighters that are given orders, drawn at random."""

import numpy as np

from midrange_puffer.envs.arena import Arena
from midrange_puffer.envs.groups import Buffers
from midrange_puffer.game.actions import SYSTEMS
from midrange_puffer.game.observation import (
    Spaces,
    order_features,
    order_heads_of,
    spaces_of,
    to_fly,
)
from midrange_puffer.game.parameters import game_controls, sizes_of

SHORTEST, LONGEST = 4, 40  # decisions for which an order stands
_STREAM = 0x0DE5  # of random numbers, beside those of the engagements
_CHOICES = (SYSTEMS, "fire")  # controls that select an option


class GivenOrders:
    """The agents of an arena as subordinates.

    A subordinate's observation is that of its fighter and the order that it is given. An order
    stands for SHORTEST to LONGEST decisions, or until the engagement ends. Each head's level is
    drawn uniformly. The cost of departing from the order is subtracted from the fighter's reward.

    Args:
        arena: whose agents are fighters that fly by levels.
        cost: of a decision whose controls are the opposite of those of the scripted course.

    Attributes:
        agents: number of subordinates.
        spaces: spaces of a subordinate.
        levels: how many levels each head of an action has, by its name.
        orders: the orders that stand, int32 [agents, heads].
    """

    def __init__(self, arena: Arena, cost: float) -> None:
        self._arena, self._cost = arena, cost
        self.agents, self.levels = arena.agents, arena.levels
        sizes = sizes_of(arena.parameters)
        self.spaces: Spaces = spaces_of(
            arena.observation, arena.action_mode, *sizes, is_subordinate=True
        )
        self._features = arena.spaces.single_observation_space.shape[0]
        self._heads = order_heads_of(self._features)
        own = game_controls(arena.parameters)
        self._is_choice = np.isin(own.names, _CHOICES)
        self._spans = own.highest - own.lowest
        self._sum, self._count = 0.0, 0  # of distances
        self.orders = np.zeros((self.agents, len(self._heads)), np.int32)
        self._decisions_left = np.zeros(self.agents, np.int64)  # of each order

    def bind(self, buffers: Buffers) -> None:
        """Stores the subordinates' buffers, which `fly` writes into in place."""
        self._buffers = buffers
        self._seen = np.zeros((self.agents, self._features), np.float32)
        self._arena.bind(buffers._replace(observations=self._seen))

    def restart(self, seed: int) -> None:
        """Starts episode 0 of every engagement."""
        self._random = np.random.default_rng((seed, _STREAM))
        self._decisions_left[:] = 0
        self._arena.restart(seed)
        self._write()

    def fly(self, actions: np.ndarray) -> None:
        """Makes one step with the subordinates' actions [agents, heads]."""
        alive = to_fly(self._seen)
        distances = self.distances(actions) * alive
        self._sum += distances.sum()
        self._count += int(alive.sum())
        self._arena.fly(actions)
        self._buffers.rewards[:] -= self._cost * distances
        self._decisions_left -= 1
        self._decisions_left[self._buffers.terminals | self._buffers.truncations] = 0
        self._write()

    def take_figures(self) -> dict[str, list[float]]:
        """Returns the mean distance of the decisions since the last call, for the infos."""
        mean, count = self._sum / max(self._count, 1), self._count
        self._sum, self._count = 0.0, 0
        return {"order_distance": [mean]} if count else {}

    def distances(self, actions: np.ndarray) -> np.ndarray:
        """Returns how far actions [agents, heads] are from the scripted courses, [agents].

        It is the mean over the controls: of rudder, climb and throttle the difference by the range,
        of the others 0 or 1.
        """
        flown, course = (np.empty((self.agents, len(self._spans)), np.float32) for _ in range(2))
        for group, rows in zip(self._arena.groups, self._arena.rows, strict=True):
            flown[rows] = group.controls(actions[rows])
            course[rows] = group.carried_out(self.orders[rows])
        differences = np.abs(flown - course)
        differences[:, ~self._is_choice] /= self._spans[~self._is_choice]
        differences[:, self._is_choice] = differences[:, self._is_choice] > 0.5
        return differences.mean(axis=1)

    def _write(self) -> None:
        """Draws the orders that are due, and writes the observations."""
        due = np.flatnonzero(self._decisions_left == 0)
        counts = [len(words) for words in self._heads.values()]
        self.orders[due] = self._random.integers(0, counts, (len(due), len(counts)))
        self._decisions_left[due] = self._random.integers(SHORTEST, LONGEST + 1, len(due))
        self._buffers.observations[:, : self._features] = self._seen
        self._buffers.observations[:, self._features :] = order_features(self.orders, self._seen)
