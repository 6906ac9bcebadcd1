"""The engagements of an environment in groups: against pilots, and against itself.

Those against a crew, models, functions or a pool, are in flown_groups.py.
"""

from collections.abc import Iterable
from functools import cached_property

import numpy as np

from midrange_puffer import _core
from midrange_puffer.envs.ledger import RAW, Ledger
from midrange_puffer.envs.moment import Sides
from midrange_puffer.game.actions import HIGHEST, controls
from midrange_puffer.game.parameters import (
    CONTROLLERS,
    PILOTS,
    SEATS,
    SENSOR_PILOTS,
    most_decisions,
)
from midrange_puffer.game.records import summary


class Group:
    """Engagements against scripted pilots: a core of their own, and its agents' results.

    Args:
        core: of which the agents fly one side, `seat`.
        seat: the agents', 0 (red) or 1 (blue).
        action_mode: one of `ACTION_MODES`.

    Attributes:
        agents: how many there are.
        parts: of a reward of the user's own, by name.
        states: room for how all fighters stand after a step, and at its end, before others began in
            the places of the engagements that ended: float32 [states, fighters, num_envs] each.
            Empty where nobody asks.
    """

    def __init__(self, core: _core.Core, seat: int, action_mode: str) -> None:
        self.core = core
        self.agents = core.agents
        self._ledger = Ledger(core.num_envs, most_decisions(core.parameters))
        self._seat = seat
        self._continuous = action_mode == "continuous"
        self._records: list[np.ndarray] = []  # collected, and not yet taken
        self._paid: list[np.ndarray] = []  # of those, [records, parts], what was paid besides
        self.parts: tuple[str, ...] = ()
        self.states: tuple[np.ndarray, np.ndarray] | tuple[()] = ()

    def bind(
        self,
        observations: np.ndarray,
        rewards: np.ndarray,
        terminals: np.ndarray,
        truncations: np.ndarray,
        final_observations: np.ndarray | None = None,
    ) -> None:
        """Take the buffers, [agents, ...], that all results are written into in place.

        Args:
            final_observations: its rows of agents whose engagement ends in a step get what they see
                then; the other rows have no meaning.
        """
        self._outputs = (
            observations,
            rewards,
            terminals.view(np.uint8),
            truncations.view(np.uint8),
            final_observations,
        )

    def reset(self, seed: int) -> None:
        """Start episode 0 of every engagement; writes observations only."""
        self._ledger.clear()
        self.core.reset(seed)
        self.observe()

    def observe(self) -> None:
        """Write the observations as the engagements stand now."""
        self.core.observe(self._outputs[0])

    def step(self, actions: np.ndarray) -> None:
        """One decision, of actions [agents, 3], int32 or, where they are continuous, float32."""
        if self._continuous:
            self.core.step_continuous(self._controls(actions), *self._outputs, *self.states)
        else:
            self.core.step(actions, *self._outputs, *self.states)

    def first_controls(self, actions: np.ndarray) -> np.ndarray:
        """Of the actions of a step, what they are for the first engagement, float32 [fighters, 3].

        Pilots' are 0.
        """
        both = np.zeros((self.core.fighters, 3), np.float32)
        first = self._seat * self.core.red_size
        count = self.agents // self.core.num_envs
        both[first : first + count] = self._controls(actions[:count])
        return both

    def first_names(self) -> tuple[str, str]:
        """Who flies red and blue in the first engagement: "agent" or pilots, each named once."""
        who = [tuple(CONTROLLERS)[index] for index in self.core.read("fighter")["pilot"][0]]
        sides = who[: self.core.red_size], who[self.core.red_size :]
        return tuple(", ".join(dict.fromkeys(side)) for side in sides)

    @property
    def _is_team(self) -> bool:
        return self.core.fighters > len(SEATS)

    def _controls(self, actions: np.ndarray) -> np.ndarray:
        """What actions are as controls of the core."""
        if not self._continuous:
            return controls(actions, self._is_team)
        # In teams the core takes fire above 1 for a target.
        return np.minimum(actions, HIGHEST) if self._is_team else actions

    @cached_property
    def flown_sides(self) -> Sides:
        """Whose fighters the agents are."""
        red, blue = self._fighters_of_sides()
        return Sides([(red, blue) if self._seat == 0 else (blue, red)])

    def _fighters_of_sides(self) -> tuple[slice, slice]:
        return slice(0, self.core.red_size), slice(self.core.red_size, self.core.fighters)

    def agents_of(self, records: np.ndarray) -> list[tuple[int, np.ndarray]]:
        """By seat the agents, int [records, fighters], that these engagements are of."""
        size = self.agents // self.core.num_envs
        return [(self._seat, size * records["env"][:, None] + np.arange(size))]

    def sides(self) -> np.ndarray:
        """The side that each agent is of, int64 [agents], numbered through the engagements."""
        return np.arange(self.agents) // (self.agents // self.core.num_envs)

    @property
    def full(self) -> bool:
        """Whether the infos must be taken before the next step, for want of room."""
        return self.core.record_count() > self.core.num_envs

    def collect(self) -> np.ndarray:
        """Records of the engagements that finished in the last step; they are kept here, too."""
        records = self.core.take_records()
        self._records.append(records)
        return records

    def note_paid(self, records: np.ndarray, seat: int, paid: np.ndarray) -> None:
        """What was paid to a seat besides for the engagements last collected, [parts, records].

        In teams it is the mean of its fighters, as of all that is paid.
        """
        records["episode_return"][:, seat] += paid.sum(axis=0)
        if seat == self._seat:
            self._paid.append(paid.T)

    def take_records(self) -> np.ndarray:
        """Records of the engagements finished since the last call."""
        self.collect()
        return self._take_collected()

    def _take_collected(self) -> np.ndarray:
        # As bytes: numpy copies a record at a time, not its fields.
        parts = [np.empty(0, RAW), *(records.view(RAW) for records in self._records)]
        self._records, self._paid = [], []
        return np.concatenate(parts).view(_core.RECORD)

    def take_infos(self, step: int) -> dict[str, np.ndarray]:
        """Values for each engagement that may be told of since the last call, by name.

        Args:
            step: decisions since the reset.
        """
        infos, records, _ = self._tell(step)
        for index, pilot in enumerate(CONTROLLERS):
            against = records["pilot"][:, 1 - self._seat] == index
            if pilot in PILOTS or (pilot in SENSOR_PILOTS and against.any()):
                infos[f"score_vs_{pilot}"] = infos["score"][against]
                infos[f"win_vs_{pilot}"] = infos["win"][against]
        return infos

    def opponents_of(self, records: np.ndarray) -> np.ndarray:
        """Who flew against the agent in engagements that ended in the last step: names, objects."""
        names = np.array(tuple(CONTROLLERS), object)
        return names[records["pilot"][:, 1 - self._seat]]

    def _tell(
        self, step: int, fought: list[str] | None = None
    ) -> tuple[dict[str, np.ndarray], np.ndarray, np.ndarray]:
        """Figures of the engagements that may be told of, their records, and who fought in them."""
        paid, columns = self._paid, []
        records = self.take_records()
        if self.parts:
            columns.append(np.concatenate([np.zeros((0, len(self.parts))), *paid]))
        if fought is not None:
            columns.append(np.array(fought, object))
        records, columns = self._ledger.tell(step, records, *columns)
        fought = columns.pop() if fought is not None else np.empty(0, object)
        infos = summary(records, self._seat)
        if self.parts:
            infos |= {f"reward_{name}": columns[0][:, n] for n, name in enumerate(self.parts)}
        return infos, records, fought


def joined_records(found: Iterable[tuple[Group, np.ndarray]]) -> np.ndarray:
    """Records of each group as one array, whose `env` counts through all groups."""
    parts, first = [], 0
    for group, records in found:
        parts.append(records.copy())
        parts[-1]["env"] += first
        first += group.core.num_envs
    return np.concatenate(parts)


class SelfGroup(Group):
    """Engagements of which all fighters are agents, by engagement, then by fighter.

    Args:
        core: of which all fighters are agents.
        action_mode: as of `Group`.
        alone: whether there are no others, so that these give the score; otherwise it would be
            drawn towards the one half that a policy has against itself.
    """

    def __init__(self, core: _core.Core, action_mode: str, alone: bool) -> None:
        super().__init__(core, 0, action_mode)
        self._alone = alone

    def first_controls(self, actions: np.ndarray) -> np.ndarray:
        """As `Group.first_controls`."""
        return self._controls(actions[: self.core.fighters])

    def first_names(self) -> tuple[str, str]:
        """As `Group.first_names`: those of the seats, as both are agents."""
        return SEATS

    @cached_property
    def flown_sides(self) -> Sides:
        """As `Group.flown_sides`: those of both sides."""
        red, blue = self._fighters_of_sides()
        return Sides([(red, blue), (blue, red)])

    def sides(self) -> np.ndarray:
        """As `Group.sides`, two in each engagement."""
        env, fighter = np.divmod(np.arange(self.agents), self.core.fighters)
        return len(SEATS) * env + (fighter >= self.core.red_size)

    def agents_of(self, records: np.ndarray) -> list[tuple[int, np.ndarray]]:
        """As `Group.agents_of`."""
        agents = self.core.fighters * records["env"][:, None] + np.arange(self.core.fighters)
        return [(seat, agents[:, side]) for seat, side in enumerate(self._fighters_of_sides())]

    def take_infos(self, step: int) -> dict[str, np.ndarray]:
        """As `Group.take_infos`, from red's side."""
        infos, _, _ = self._tell(step)
        return {**(infos if self._alone else {}), "draw_vs_self": infos["draw"]}
