"""Agents that are sides: each gives orders to all fighters of its side."""

import numpy as np

from midrange_puffer.envs.arena import Arena
from midrange_puffer.envs.groups import Buffers
from midrange_puffer.game.observation import Spaces, spaces_of
from midrange_puffer.game.parameters import sizes_of


class Sides:
    """The agents of an arena as the fighters of commanders.

    A commander's observation is those of its fighters after one another, and its action their
    orders. Its reward is the mean of theirs, as the return of a side in all records. The fighters
    of a side follow one another in the arena, so both are views of the same memory.

    Args:
        arena: whose agents are fighters, with all sides of one size.

    Attributes:
        agents: number of commanders.
        spaces: spaces of a commander.
        levels: how many levels each head of a commander's action has, by its name.
    """

    def __init__(self, arena: Arena) -> None:
        self._arena = arena
        self._size, _ = sizes = sizes_of(arena.parameters)
        self.agents = arena.agents // self._size
        self.spaces: Spaces = spaces_of(
            arena.observation, arena.action_mode, *sizes, arena.order_decisions, self._size
        )
        assert arena.levels is not None  # they give orders
        self.levels = {
            f"{head} of fighter {number}": count
            for number in range(self._size)
            for head, count in arena.levels.items()
        }

    def bind(self, buffers: Buffers) -> None:
        """Stores the commanders' buffers, which `fly` writes into in place."""
        fighters = self._arena.agents
        self._buffers = buffers
        seen = buffers.observations.view()
        seen.shape = fighters, -1  # an error unless it is the same memory
        ends = np.zeros((2, fighters), buffers.terminals.dtype)
        self._arena.bind(Buffers(seen, np.zeros(fighters, np.float32), *ends))

    def restart(self, seed: int) -> None:
        """Starts episode 0 of every engagement."""
        self._arena.restart(seed)
        self._write()

    def fly(self, actions: np.ndarray) -> None:
        """Makes one step with the commanders' actions [agents, heads]."""
        self._arena.fly(actions.reshape(self._arena.agents, -1))
        self._write()

    def _write(self) -> None:
        """Writes the rewards and ends of the sides."""
        own, fighters = self._buffers, self._arena.buffers
        np.mean(fighters.rewards.reshape(self.agents, -1), axis=1, out=own.rewards)
        own.terminals[:] = fighters.terminals[:: self._size]
        own.truncations[:] = fighters.truncations[:: self._size]
