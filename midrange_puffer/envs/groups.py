"""The engagements of an environment in groups: against itself, against pilots, against a pool."""

from collections.abc import Callable, Iterable
from pathlib import Path

import numpy as np

from midrange_puffer import _core
from midrange_puffer.envs.crew import Crew
from midrange_puffer.envs.ledger import RAW, Ledger
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

    def _controls(self, actions: np.ndarray) -> np.ndarray:
        in_team = self.core.fighters > len(SEATS)
        if not self._continuous:
            return controls(actions, in_team)
        # In teams the core would take fire above 1 for a target.
        return np.minimum(actions, HIGHEST) if in_team else actions

    def of_agents(self, states: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Of states [n, fighters, num_envs] the agents' own and their enemies', [n, agents]."""
        return states[:, self._seat], states[:, 1 - self._seat]

    def agents_of(self, records: np.ndarray) -> list[tuple[int, np.ndarray]]:
        """By seat the agents, int [records], that these engagements are of."""
        return [(self._seat, records["env"])]

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
        """What was paid to a seat besides for the engagements last collected, [parts, records]."""
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

    def of_agents(self, states: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """As `Group.of_agents`."""
        rows = len(states)
        own, enemy = states.transpose(0, 2, 1), states[:, ::-1].transpose(0, 2, 1)
        return own.reshape(rows, -1), enemy.reshape(rows, -1)

    def sides(self) -> np.ndarray:
        """As `Group.sides`, two in each engagement."""
        env, fighter = np.divmod(np.arange(self.agents), self.core.fighters)
        return len(SEATS) * env + (fighter >= self.core.red_size)

    def agents_of(self, records: np.ndarray) -> list[tuple[int, np.ndarray]]:
        """As `Group.agents_of`."""
        first = _core.FIGHTERS * records["env"]
        return [(seat, first + seat) for seat in range(_core.FIGHTERS)]

    def take_infos(self, step: int) -> dict[str, np.ndarray]:
        """As `Group.take_infos`, from red's side."""
        infos, _, _ = self._tell(step)
        return {**(infos if self._alone else {}), "draw_vs_self": infos["draw"]}


class FlownGroup(Group):
    """Engagements of which a crew flies the other seat without being agents.

    Both seats are flown from outside the core; only the agents' results leave this object.

    Args:
        core: with two agents in each engagement.
        seat: the agents' seat.
        action_mode: as of `Group`.
        make_crew: called with a seed at every reset.
        seed: as of the core.
    """

    def __init__(
        self,
        core: _core.Core,
        seat: int,
        action_mode: str,
        make_crew: Callable[[int], Crew],
        seed: int,
    ) -> None:
        super().__init__(core, seat, action_mode)
        self.agents = core.num_envs
        self._make_crew = make_crew
        self._seed = seed
        self._crew: Crew | None = None
        self._fought: list[str] = []  # who flew against the agent, for each record

    def bind(self, *outputs: np.ndarray | None) -> None:
        """As `Group.bind`; the core gets buffers of its own, for both seats."""
        super().bind(*outputs)
        seats = (self.agents, _core.FIGHTERS)
        self._both = np.zeros((*seats, 3), np.float32)
        self._results = [
            None if output is None else np.zeros((*seats, *output.shape[1:]), output.dtype)
            for output in self._outputs
        ]
        # Views of the same with a row an agent of the core.
        self._flat = [
            None if array is None else array.reshape(self.core.agents, *array.shape[2:])
            for array in (self._both, *self._results)
        ]

    def reset(self, seed: int) -> None:
        """Start episode 0 of every engagement, with a new crew."""
        self._seed = seed
        self._ledger.clear()
        stream = np.random.SeedSequence((seed, _core.FIGHTERS))  # apart from a player's, per seat
        self._crew = self._make_crew(int(stream.generate_state(1)[0]))
        self.core.reset(seed)
        self.observe()

    def observe(self) -> None:
        """As `Group.observe`, for the crew, too."""
        self.core.observe(self._flat[1])
        self._outputs[0][:] = self._results[0][:, self._seat]

    def step(self, actions: np.ndarray) -> None:
        """As `Group.step`."""
        if self._crew is None:
            self.reset(self._seed)
        other = 1 - self._seat
        self._both[:, self._seat] = self._controls(actions)
        self._both[:, other] = self._crew.act(self._results[0][:, other])
        self.core.step_continuous(*self._flat, *self.states)
        self._fresh = super().collect()
        self._ended = self._crew.end(self._fresh["env"]) if len(self._fresh) else []
        self._fought += self._ended
        for output, both in zip(self._outputs, self._results, strict=True):
            if output is not None:
                output[:] = both[:, self._seat]

    def first_controls(self, actions: np.ndarray) -> np.ndarray:
        """As `Group.first_controls`, with what the crew did."""
        return self._both[0]

    def first_names(self) -> tuple[str, str]:
        """As `Group.first_names`: of the crew as its records have it, a file without its folder."""
        names, other = list(super().first_names()), 1 - self._seat
        if self._crew and not self.core.get_fighter(0, other)["pilot"]:
            names[other] = Path(self._crew.names()[0]).stem
        return tuple(names)

    def opponents_of(self, records: np.ndarray) -> np.ndarray:
        """As `Group.opponents_of`."""
        names = super().opponents_of(records)
        from_outside = records["pilot"][:, 1 - self._seat] == 0
        names[from_outside] = np.array(self._ended, object)[from_outside]
        return names

    def take_infos(self, step: int) -> dict[str, np.ndarray]:
        """As `Group.take_infos`, with the scores by the names of the crew."""
        infos, _, fought = self._tell(step, self._fought)
        for name in dict.fromkeys(fought):
            infos[f"score_vs_{name}"] = infos["score"][fought == name]
            infos[f"win_vs_{name}"] = infos["win"][fought == name]
        return infos

    @property
    def full(self) -> bool:
        """Never: records are kept in a list."""
        return False

    def collect(self) -> np.ndarray:
        """As `Group.collect`. They are taken in each step, since the crew must be told."""
        return self._fresh

    def take_records(self) -> np.ndarray:
        """As `Group.take_records`."""
        self._fought = []
        return self._take_collected()


class PoolGroup(FlownGroup):
    """Engagements against frozen policies of a pool.

    Args:
        core, seat, action_mode, seed: as of `FlownGroup`.
        pool: the pool's file, read at the first reset or step.
    """

    def __init__(
        self, core: _core.Core, seat: int, action_mode: str, pool: Path, seed: int
    ) -> None:
        def make_crew(seed: int) -> Crew:
            # Here, so that only who fights a pool imports torch.
            from midrange_puffer.envs.pool_crew import PoolCrew

            return PoolCrew(pool, core.num_envs, seed, core.features, core.threads)

        super().__init__(core, seat, action_mode, make_crew, seed)

    def take_infos(self, step: int) -> dict[str, np.ndarray]:
        """As `Group.take_infos`, with the scores against each member as "pool/<name>"."""
        infos, _, fought = self._tell(step, self._fought)
        infos["score_vs_pool"], infos["win_vs_pool"] = infos["score"], infos["win"]
        for name in dict.fromkeys(fought):
            infos[f"pool/{name}"] = infos["score"][fought == name]
        return infos
