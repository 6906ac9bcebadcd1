"""The engagements of an environment in groups: against itself, against pilots, against a pool."""

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from midrange_puffer import _core
from midrange_puffer.parameters import CONTROLLERS, PILOTS
from midrange_puffer.records import summary

if TYPE_CHECKING:
    from midrange_puffer.opponents import Opponents


class Group:
    """Engagements against scripted pilots: a core of their own, and its agents' results.

    Args:
        core: with one agent in each engagement, in `seat`.
        seat: the agents', 0 (red) or 1 (blue).
    """

    def __init__(self, core: _core.Core, seat: int) -> None:
        self.core = core
        self.agents = core.agents
        self._seat = seat

    def bind(
        self,
        observations: np.ndarray,
        rewards: np.ndarray,
        terminals: np.ndarray,
        truncations: np.ndarray,
    ) -> None:
        """Take the buffers, [agents, ...], that all results are written into in place."""
        self._outputs = (
            observations,
            rewards,
            terminals.view(np.uint8),
            truncations.view(np.uint8),
        )

    def reset(self, seed: int) -> None:
        """Start episode 0 of every engagement; writes observations only."""
        self.core.reset(seed)
        self.core.observe(self._outputs[0])

    def step(self, actions: np.ndarray) -> None:
        """One decision, of int32 actions [agents, 3]."""
        self.core.step(actions, *self._outputs)

    def first_actions(self, actions: np.ndarray) -> np.ndarray:
        """Of the actions of a step, those of the first engagement, int32 [fighters, 3]."""
        both = np.zeros((_core.FIGHTERS, len(_core.ACTION_LEVELS)), np.int32)
        both[self._seat] = actions[0]  # the other seat is a pilot's
        return both

    @property
    def full(self) -> bool:
        """Whether the infos must be taken before the next step, for want of room."""
        return self.core.record_count() > self.core.num_envs

    def take_records(self) -> np.ndarray:
        """Records of the engagements finished since the last call."""
        return self.core.take_records()

    def take_infos(self) -> dict[str, np.ndarray]:
        """Values for each engagement finished since the last call, by name."""
        records = self.take_records()
        infos = summary(records, self._seat)
        for index, pilot in enumerate(CONTROLLERS):
            if pilot in PILOTS:
                against = records["pilot"][:, 1 - self._seat] == index
                infos[f"score_vs_{pilot}"] = infos["score"][against]
                infos[f"win_vs_{pilot}"] = infos["win"][against]
        return infos


class SelfGroup(Group):
    """Engagements of which both seats are agents, 2 * engagement + seat.

    Args:
        core: with two agents in each engagement.
        alone: whether there are no others, so that these give the score; otherwise it would be
            drawn towards the one half that a policy has against itself.
    """

    def __init__(self, core: _core.Core, alone: bool) -> None:
        super().__init__(core, seat=0)
        self._alone = alone

    def first_actions(self, actions: np.ndarray) -> np.ndarray:
        """As `Group.first_actions`."""
        return actions[: _core.FIGHTERS]

    def take_infos(self) -> dict[str, np.ndarray]:
        """As `Group.take_infos`, from red's side."""
        infos = summary(self.take_records(), self._seat)
        return {**(infos if self._alone else {}), "draw_vs_self": infos["draw"]}


class PoolGroup(Group):
    """Engagements against frozen policies, which fly the other seat.

    Both seats are flown from outside the core; only the agents' results leave this object.

    Args:
        core: with two agents in each engagement.
        seat: the agents' seat.
        pool: the pool's file, read at the first reset or step.
        seed: as of the core.
    """

    def __init__(self, core: _core.Core, seat: int, pool: Path, seed: int) -> None:
        super().__init__(core, seat)
        self.agents = count = core.num_envs
        self._pool = pool
        self._seed = seed
        self._opponents: Opponents | None = None
        seats = (count, _core.FIGHTERS)
        self._actions = np.zeros((*seats, len(_core.ACTION_LEVELS)), np.int32)
        self._observations = np.zeros((*seats, core.features), np.float32)
        self._results = (
            self._observations,
            np.zeros(seats, np.float32),
            np.zeros(seats, np.uint8),
            np.zeros(seats, np.uint8),
        )
        # Views of the same with a row an agent of the core.
        self._flat = [
            array.reshape(core.agents, *array.shape[2:])
            for array in (self._actions, *self._results)
        ]
        self._records: list[np.ndarray] = []
        self._fought: list[str] = []  # who flew against the agent, for each record

    def reset(self, seed: int) -> None:
        """Start episode 0 of every engagement, with opponents drawn anew."""
        # Here, so that only who fights a pool imports torch.
        from midrange_puffer.opponents import Opponents

        self._seed = seed
        stream = np.random.SeedSequence((seed, _core.FIGHTERS))  # apart from a player's, per seat
        self._opponents = Opponents(
            self._pool, self.agents, int(stream.generate_state(1)[0]), self.core.features
        )
        self.core.reset(seed)
        self.core.observe(self._flat[1])
        self._outputs[0][:] = self._observations[:, self._seat]

    def step(self, actions: np.ndarray) -> None:
        """One decision, of int32 actions [agents, 3]."""
        if self._opponents is None:
            self.reset(self._seed)
        other = 1 - self._seat
        self._actions[:, self._seat] = actions
        self._actions[:, other] = self._opponents.act(self._observations[:, other])
        self.core.step(*self._flat)
        if self.core.record_count():
            records = self.core.take_records()
            self._records.append(records)
            self._fought += self._opponents.end(records["env"])
        for output, both in zip(self._outputs, self._results, strict=True):
            output[:] = both[:, self._seat]

    def first_actions(self, actions: np.ndarray) -> np.ndarray:
        """As `Group.first_actions`, with what the frozen policy did."""
        return self._actions[0]

    @property
    def full(self) -> bool:
        """Never: records are kept in a list."""
        return False

    def take_records(self) -> np.ndarray:
        """Records of the engagements finished since the last call."""
        records = np.concatenate([np.empty(0, _core.RECORD), *self._records])
        self._records, self._fought = [], []
        return records

    def take_infos(self) -> dict[str, np.ndarray]:
        """As `Group.take_infos`, with the scores against each member as "pool/<name>"."""
        fought = np.array(self._fought, dtype=object)
        infos = summary(self.take_records(), self._seat)
        infos["score_vs_pool"] = infos["score"]
        for name in dict.fromkeys(fought):
            infos[f"pool/{name}"] = infos["score"][fought == name]
        return infos
