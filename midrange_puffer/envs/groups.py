"""Groups of engagements, each with its own core: against pilots, and agents against agents.

Groups against models, functions or a pool are in crews.py.
"""

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from midrange_puffer import _core
from midrange_puffer.game.actions import DISCRETE, ORDERS
from midrange_puffer.game.actions import controls as controls_of_levels
from midrange_puffer.game.parameters import (
    CONTROLLERS,
    PILOTS,
    SEATS,
    SENSOR_PILOTS,
    game_controls,
    has_height,
    most_decisions,
)
from midrange_puffer.game.records import summary

if TYPE_CHECKING:
    from midrange_puffer.policies.subordinate import Subordinate

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


class Acts(NamedTuple):
    """The way in which agents act.

    Attributes:
        mode: one of `ACTION_MODES`.
        order_decisions: number of decisions for which an order is flown; 0: actions are no orders.
        stops: True if a step ends with the engagement, where the next one does not start by itself.
        subordinate: flies the fighters by the agents' orders; None: the scripted courses are flown.
    """

    mode: str
    order_decisions: int = 0
    stops: bool = False
    subordinate: "Subordinate | None" = None


class Frame:
    """The results of the decisions of one order, summed up as those of one step.

    The first engagement that ends in a place counts. What follows there belongs to the next
    engagement, in which the agents have not acted yet: its rewards are left out, and its records
    alone tell of an end.

    Args:
        outputs: the agents' buffers, which each decision overwrites.
        states: the buffers of the fighters' states, or ().
        num_envs: number of engagements.
    """

    def __init__(
        self, outputs: Buffers, states: tuple[np.ndarray, np.ndarray] | tuple[()], num_envs: int
    ) -> None:
        self._outputs, self._states, self._num_envs = outputs, states, num_envs
        self._rewards = np.zeros_like(outputs.rewards)
        self._ends = np.zeros_like(outputs.terminals), np.zeros_like(outputs.truncations)
        self._ended = np.zeros(len(self._rewards), bool)
        self._finals: list[tuple[np.ndarray, np.ndarray, np.ndarray]] = []

    def add(self) -> None:
        """Adds the results of a decision."""
        outputs = self._outputs
        self._rewards += np.where(self._ended, 0, outputs.rewards)
        ends_now = (outputs.terminals | outputs.truncations).astype(bool) & ~self._ended
        for kept, now in zip(self._ends, (outputs.terminals, outputs.truncations), strict=True):
            kept |= np.where(ends_now, now, 0).astype(kept.dtype)
        for final, places in self._final_buffers(ends_now):
            self._finals.append((final, places, final[places].copy()))
        self._ended |= ends_now

    @property
    def all_ended(self) -> bool:
        """True if an engagement has ended in every place."""
        return bool(self._ended.all())

    def write(self) -> None:
        """Writes the sums, and what was last of each engagement that has ended, to the buffers."""
        self._outputs.rewards[:] = self._rewards
        self._outputs.terminals[:], self._outputs.truncations[:] = self._ends
        for final, places, values in self._finals:
            final[places] = values

    def _final_buffers(self, ends_now: np.ndarray) -> list[tuple[np.ndarray, np.ndarray]]:
        """Returns views of the buffers of final observations and states, by place, and the places.

        The places are those in which an engagement ends now; observations have one for each agent.
        """
        if not ends_now.any():
            return []
        observations = self._outputs.final_observations
        views = [] if observations is None else [(observations, ends_now)]
        if self._states:
            envs = ends_now.reshape(self._num_envs, -1)[:, 0]
            views.append((self._states[1].transpose(2, 0, 1), envs))
        return views


class Group:
    """Engagements against scripted pilots: a core, and the results of its agents.

    Args:
        core: a core in which the agents fly one side.
        seat: the agents' side, 0 (red) or 1 (blue).
        acts: how the agents act.

    Attributes:
        agents: number of agents.
        watch: called after each decision with the controls of the first engagement's fighters,
            float32 [fighters, controls]; pilots' are 0. None: nothing is called.
        parts: names of the parts of a user's own reward.
        states: two buffers for the fighters' states, float32 [states, fighters, num_envs]: after a
            step, and at the end of engagements that ended in the step. Empty if no user's own
            reward needs them.
    """

    def __init__(self, core: _core.Core, seat: int, acts: Acts) -> None:
        self.core = core
        self.agents = core.agents
        self.watch: Callable[[np.ndarray], None] | None = None
        self.parts: tuple[str, ...] = ()
        self.states: tuple[np.ndarray, np.ndarray] | tuple[()] = ()
        self._seat = seat
        self._acts = acts
        self._is_team = core.fighters > len(SEATS)
        self._game_controls = game_controls(core.parameters)
        self._ledger = Ledger(core.num_envs, most_decisions(core.parameters))
        self._records: list[np.ndarray] = []  # collected from the core, not yet taken
        self._early: list[np.ndarray] = []  # taken from the core in the middle of a step
        self._levels: np.ndarray | None = None  # orders for the core, made by the first ones
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

    def observe_truth(self, out: np.ndarray) -> None:
        """Writes what the agents would observe with full information, [agents, features]."""
        self.core.observe_truth(out)

    def step(self, actions: np.ndarray) -> None:
        """Makes one step with actions [agents, heads], int32 or, if continuous, float32.

        With orders a step is `order_decisions` decisions, otherwise one.
        """
        if not self._acts.order_decisions:
            self._decide(actions)
            return
        frame = Frame(self._outputs, self.states, self.core.num_envs)
        for _ in range(self._acts.order_decisions):
            if self.core.record_count() > self.core.num_envs:
                self._early.append(self.core.take_records())
            self._decide(actions)
            frame.add()
            if self._acts.stops and frame.all_ended:
                break
        frame.write()

    def _decide(self, actions: np.ndarray) -> None:
        """Makes one decision."""
        if self._acts.mode == DISCRETE:
            chosen = self.controls(actions[: self._per_env]) if self.watch else None
            self.core.step(actions, *self._outputs, *self.states)
        else:
            chosen = self.controls(actions)
            self.core.step_continuous(chosen, *self._outputs, *self.states)
        self._show(chosen)

    def controls(self, actions: np.ndarray) -> np.ndarray:
        """Returns the core's controls for actions."""
        if self._acts.mode == ORDERS:
            if self._acts.subordinate:
                return self._acts.subordinate.act(self._outputs.observations, actions)
            return self.carried_out(actions)
        if self._acts.mode == DISCRETE:
            return controls_of_levels(actions, self._game_controls, self._is_team)
        # In teams fire above 1 would choose a target, which continuous actions cannot.
        return np.minimum(actions, self._game_controls.highest) if self._is_team else actions

    def carried_out(self, orders: np.ndarray) -> np.ndarray:
        """Returns the agents' controls by the scripted courses of orders [agents, heads]."""
        core = self.core
        if self._levels is None:
            shape = core.num_envs, core.fighters, core.controls
            self._levels, self._followed = np.full(shape, -1, np.int32), np.zeros(shape, np.float32)
        own = self._agents_fighters()
        self._levels[:, own] = orders.reshape(core.num_envs, -1, orders.shape[1])
        core.controls_of_orders(self._levels, self._followed)
        return np.ascontiguousarray(self._followed[:, own]).reshape(len(orders), core.controls)

    def _agents_fighters(self) -> slice:
        """Returns the numbers of the fighters in an engagement that agents fly."""
        first = self._seat * self.core.red_size
        return slice(first, first + self._per_env)

    @property
    def _per_env(self) -> int:
        """The number of agents in an engagement."""
        return self.agents // self.core.num_envs

    def _show(self, chosen: np.ndarray | None) -> None:
        """Calls `watch` after a decision with these controls of the agents."""
        if self.watch and chosen is not None:
            of_all = np.zeros((self.core.fighters, self.core.controls), np.float32)
            of_all[self._agents_fighters()] = chosen[: self._per_env]
            self.watch(of_all)

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
        size = self._per_env
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
        records = joined([*self._early, self.core.take_records()])
        self._early = []
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
        records = joined(self._records)
        self._records, self._paid = [], []
        return records

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
        infos = summary(records, self._seat, not has_height(self.core.parameters))
        if self.parts:
            infos |= {f"reward_{name}": columns[0][:, n] for n, name in enumerate(self.parts)}
        return infos, records, names

    def opponents_of(self, records: np.ndarray) -> np.ndarray:
        """Returns the opponents' names, objects [records], for records of the last step."""
        names = np.array(tuple(CONTROLLERS), object)
        return names[records["pilot"][:, 1 - self._seat]]


def joined(records: Iterable[np.ndarray]) -> np.ndarray:
    """Returns arrays of `_core.RECORD` as one."""
    parts = [np.empty(0, RAW), *(part.view(RAW) for part in records)]
    return np.concatenate(parts).view(_core.RECORD)


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
        acts: how the agents act.
        alone: True if there are no other groups, so that this group gives the score. Beside other
            groups it does not, because a policy's score against itself is 0.5 on average.
    """

    def __init__(self, core: _core.Core, acts: Acts, alone: bool) -> None:
        super().__init__(core, 0, acts)
        self._alone = alone

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
