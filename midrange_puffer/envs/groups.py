"""Groups of engagements, each with its own core: against pilots, and agents against agents.

Groups against models, functions or a pool are in crews.py.
"""

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from midrange_puffer import _core
from midrange_puffer.game.actions import controls, controls_by_count
from midrange_puffer.game.parameters import (
    CONTROLLERS,
    PILOTS,
    SEATS,
    SENSOR_PILOTS,
    most_decisions,
)
from midrange_puffer.game.records import summary

RAW = np.dtype((np.void, _core.RECORD.itemsize))  # opaque, so that numpy copies records, not fields


class Ledger:
    """A buffer of finished engagements, which keeps their means free of a bias to short ones.

    An engagement is released `longest` decisions after its start, even if it ended earlier. At that
    time all engagements that started no later have ended. So the engagements released by decision t
    are exactly those that started by decision t - longest, each once. If an engagement were
    released when it ends, short ones would come first: just after the start of a run, of a resumed
    run or of a stage of the curriculum, means would cover short engagements only.

    Args:
        num_envs: number of places, in which engagements run side by side. When one ends, the next
            starts in the same place at once.
        longest: length of the longest possible engagement [decisions].
    """

    def __init__(self, num_envs: int, longest: int) -> None:
        self._num_envs, self._longest = num_envs, longest
        self.clear()

    def clear(self) -> None:
        """Forgets all engagements: in every place a new one starts now, at step 0."""
        self._begins = np.zeros(self._num_envs, np.int64)  # start of the engagement in a place
        self._kept: list[np.ndarray] = []  # starts, records, other columns, not yet released

    def take_due(
        self, step: int, records: np.ndarray, *columns: np.ndarray
    ) -> tuple[np.ndarray, list[np.ndarray]]:
        """Adds newly finished engagements, and releases those that have become due.

        Args:
            step: decisions since `clear`.
            records: array of `_core.RECORD`; records of the same place in the order of their ends.
            columns: further values of these engagements, each [records, ...]; the same number of
                columns at every call.

        Returns:
            The released records, and their columns.
        """
        values = [self._take_begins(records), records.view(RAW), *columns]
        if self._kept:
            values = [np.concatenate(both) for both in zip(self._kept, values, strict=True)]
        is_due = values[0] + self._longest <= step
        self._kept = [column[~is_due] for column in values]
        _, due, *others = (column[is_due] for column in values)
        return due.view(_core.RECORD), others

    def _take_begins(self, records: np.ndarray) -> np.ndarray:
        """Returns the steps at which these engagements started, [records]."""
        order = np.argsort(records["env"], kind="stable")
        places, lengths = records["env"][order], records["decisions"][order]
        before = np.cumsum(lengths) - lengths
        _, firsts, counts = np.unique(places, return_index=True, return_counts=True)
        begins = np.empty(len(records), np.int64)
        begins[order] = self._begins[places] + before - np.repeat(before[firsts], counts)
        np.add.at(self._begins, places, lengths)
        return begins


class Buffers(NamedTuple):
    """The agents' buffers, which every step overwrites in place.

    Attributes:
        observations: float32 [agents, features].
        rewards: float32 [agents].
        terminals, truncations: bool [agents].
        final_observations: float32 [agents, features] or None: the last observations of agents
            whose engagement ended in the last step; the other rows have no meaning.
    """

    observations: np.ndarray
    rewards: np.ndarray
    terminals: np.ndarray
    truncations: np.ndarray
    final_observations: np.ndarray | None = None

    def rows(self, rows: slice) -> "Buffers":
        """Returns views of some agents' rows."""
        observations, rewards, terminals, truncations = (buffer[rows] for buffer in self[:4])
        final = None if self.final_observations is None else self.final_observations[rows]
        return Buffers(observations, rewards, terminals, truncations, final)


class Group:
    """Engagements against scripted pilots: a core, and the results of its agents.

    Args:
        core: a core in which the agents fly one side.
        seat: the agents' side, 0 (red) or 1 (blue).
        action_mode: one of `ACTION_MODES`.

    Attributes:
        agents: number of agents.
        parts: names of the parts of a user's own reward.
        states: two buffers for the fighters' states, float32 [states, fighters, num_envs]: after a
            step, and at the end of engagements that ended in the step. Empty if no user's own
            reward needs them.
    """

    def __init__(self, core: _core.Core, seat: int, action_mode: str) -> None:
        self.core = core
        self.agents = core.agents
        self.parts: tuple[str, ...] = ()
        self.states: tuple[np.ndarray, np.ndarray] | tuple[()] = ()
        self._seat = seat
        self._continuous = action_mode == "continuous"
        self._is_team = core.fighters > len(SEATS)
        self._ledger = Ledger(core.num_envs, most_decisions(core.parameters))
        self._records: list[np.ndarray] = []  # collected from the core, not yet taken
        self._paid: list[np.ndarray] = []  # their sums of the user's own reward, [records, parts]

    def bind(self, buffers: Buffers) -> None:
        """Stores the buffers that all results are written into; the core takes bools as uint8."""
        ends = buffers.terminals.view(np.uint8), buffers.truncations.view(np.uint8)
        self._outputs = buffers._replace(terminals=ends[0], truncations=ends[1])

    def reset(self, seed: int) -> None:
        """Starts episode 0 of every engagement; writes observations only."""
        self._ledger.clear()
        self.core.reset(seed)
        self.observe()

    def observe(self) -> None:
        """Writes the present observations."""
        self.core.observe(self._outputs.observations)

    def step(self, actions: np.ndarray) -> None:
        """Makes one decision with actions [agents, controls], int32 or, if continuous, float32."""
        if self._continuous:
            self.core.step_continuous(self._controls(actions), *self._outputs, *self.states)
        else:
            self.core.step(actions, *self._outputs, *self.states)

    def _controls(self, actions: np.ndarray) -> np.ndarray:
        """Returns the core's controls for actions."""
        if not self._continuous:
            return controls(actions, self._is_team)
        # In teams fire above 1 would choose a target, which continuous actions cannot.
        highest = controls_by_count(self.core.controls).highest
        return np.minimum(actions, highest) if self._is_team else actions

    def first_controls(self, actions: np.ndarray) -> np.ndarray:
        """Returns the first engagement's controls, float32 [fighters, controls]; pilots' are 0."""
        both = np.zeros((self.core.fighters, self.core.controls), np.float32)
        first = self._seat * self.core.red_size
        count = self.agents // self.core.num_envs
        both[first : first + count] = self._controls(actions[:count])
        return both

    def first_names(self) -> tuple[str, str]:
        """Returns the names of red's and blue's controllers in the first engagement, each once."""
        names = [tuple(CONTROLLERS)[index] for index in self.core.read("fighter")["pilot"][0]]
        sides = names[: self.core.red_size], names[self.core.red_size :]
        red, blue = (", ".join(dict.fromkeys(side)) for side in sides)
        return red, blue

    def flown_sides(self) -> list[tuple[slice, slice]]:
        """Returns for each side that agents fly its fighters, and those of its enemy."""
        red, blue = self._fighters_of_sides()
        return [(red, blue) if self._seat == 0 else (blue, red)]

    def _fighters_of_sides(self) -> tuple[slice, slice]:
        return slice(0, self.core.red_size), slice(self.core.red_size, self.core.fighters)

    def agents_of(self, records: np.ndarray) -> list[tuple[int, np.ndarray]]:
        """Returns (seat, the agents of that seat in these engagements, int [records, fighters])."""
        size = self.agents // self.core.num_envs
        return [(self._seat, size * records["env"][:, None] + np.arange(size))]

    def sides(self) -> np.ndarray:
        """Returns the number of each agent's side, int64 [agents], counted over all engagements."""
        return np.arange(self.agents) // (self.agents // self.core.num_envs)

    @property
    def full(self) -> bool:
        """True if the infos must be taken before the next step, or there is no room for records."""
        return self.core.record_count() > self.core.num_envs

    def collect(self) -> np.ndarray:
        """Returns the records of engagements that ended in the last step, and stores them."""
        records = self.core.take_records()
        self._records.append(records)
        return records

    def note_paid(self, records: np.ndarray, seat: int, paid: np.ndarray) -> None:
        """Adds a user's own reward, sums [parts, records], to the records last collected.

        In teams it is the mean over the fighters of a side, like all returns.
        """
        records["episode_return"][:, seat] += paid.sum(axis=0)
        if seat == self._seat:
            self._paid.append(paid.T)

    def take_records(self) -> np.ndarray:
        """Returns the records of the engagements finished since the last call."""
        self.collect()
        return self._take_collected()

    def _take_collected(self) -> np.ndarray:
        parts = [np.empty(0, RAW), *(records.view(RAW) for records in self._records)]
        self._records, self._paid = [], []
        return np.concatenate(parts).view(_core.RECORD)

    def take_infos(self, step: int) -> dict[str, np.ndarray]:
        """Returns values by name for each engagement that the `Ledger` has released by `step`.

        Args:
            step: decisions since the reset.
        """
        infos, records, _ = self._take_due(step)
        for index, pilot in enumerate(CONTROLLERS):
            against = records["pilot"][:, 1 - self._seat] == index
            if pilot in PILOTS or (pilot in SENSOR_PILOTS and against.any()):
                infos[f"score_vs_{pilot}"] = infos["score"][against]
                infos[f"win_vs_{pilot}"] = infos["win"][against]
        return infos

    def _take_due(
        self, step: int, opponents: list[str] | None = None
    ) -> tuple[dict[str, np.ndarray], np.ndarray, np.ndarray]:
        """Returns figures of the engagements that are due, their records and opponents' names."""
        paid, columns = self._paid, []
        records = self.take_records()
        if self.parts:
            columns.append(np.concatenate([np.zeros((0, len(self.parts))), *paid]))
        if opponents is not None:
            columns.append(np.array(opponents, object))
        records, columns = self._ledger.take_due(step, records, *columns)
        names = columns.pop() if opponents is not None else np.empty(0, object)
        infos = summary(records, self._seat)
        if self.parts:
            infos |= {f"reward_{name}": columns[0][:, n] for n, name in enumerate(self.parts)}
        return infos, records, names

    def opponents_of(self, records: np.ndarray) -> np.ndarray:
        """Returns the opponents' names, objects [records], for records of the last step."""
        names = np.array(tuple(CONTROLLERS), object)
        return names[records["pilot"][:, 1 - self._seat]]


def joined_records(groups: Iterable[tuple[Group, np.ndarray]]) -> np.ndarray:
    """Returns the records of several groups as one array; `env` is counted over all groups."""
    parts, first = [], 0
    for group, records in groups:
        parts.append(records.copy())
        parts[-1]["env"] += first
        first += group.core.num_envs
    return np.concatenate(parts)


class SelfGroup(Group):
    """Engagements in which agents fly all fighters, numbered by engagement, then by fighter.

    Args:
        core: a core in which all fighters are agents.
        action_mode: one of `ACTION_MODES`.
        alone: True if there are no other groups, so that this group gives the score. Beside other
            groups it does not, because a policy's score against itself is 0.5 on average.
    """

    def __init__(self, core: _core.Core, action_mode: str, alone: bool) -> None:
        super().__init__(core, 0, action_mode)
        self._alone = alone

    def first_controls(self, actions: np.ndarray) -> np.ndarray:
        """Returns the controls of the first engagement, float32 [fighters, controls]."""
        return self._controls(actions[: self.core.fighters])

    def first_names(self) -> tuple[str, str]:
        """Returns the names of the seats: no other names tell the agents apart."""
        return SEATS

    def flown_sides(self) -> list[tuple[slice, slice]]:
        """Returns the fighters of both sides, each with those of its enemy."""
        red, blue = self._fighters_of_sides()
        return [(red, blue), (blue, red)]

    def sides(self) -> np.ndarray:
        """Returns the number of each agent's side, int64 [agents], two for each engagement."""
        env, fighter = np.divmod(np.arange(self.agents), self.core.fighters)
        return len(SEATS) * env + (fighter >= self.core.red_size)

    def agents_of(self, records: np.ndarray) -> list[tuple[int, np.ndarray]]:
        """Returns for both seats (seat, its agents in these engagements, [records, fighters])."""
        agents = self.core.fighters * records["env"][:, None] + np.arange(self.core.fighters)
        return [(seat, agents[:, side]) for seat, side in enumerate(self._fighters_of_sides())]

    def take_infos(self, step: int) -> dict[str, np.ndarray]:
        """Returns the values of the engagements that became due, seen from red's side."""
        infos, _, _ = self._take_due(step)
        return {**(infos if self._alone else {}), "draw_vs_self": infos["draw"]}
