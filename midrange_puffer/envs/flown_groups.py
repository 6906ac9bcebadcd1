"""Groups of engagements in which a crew from outside the core flies beside the agents."""

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from midrange_puffer import _core
from midrange_puffer.envs.crew import Crew
from midrange_puffer.envs.groups import Group

MakeCrew = Callable[[int, int], Crew]  # called with a seed, and the fighters in each engagement


class Flight:
    """The fighters of each engagement that one crew flies.

    Args:
        columns: which they are, of the core's agents in an engagement.
        make_crew: called at every reset.
    """

    def __init__(self, columns: slice, make_crew: MakeCrew) -> None:
        self._columns, self._make_crew = columns, make_crew
        self.crew: Crew | None = None

    def reset(self, seed: int) -> None:
        """Start with a new crew."""
        self.crew = self._make_crew(seed, self._columns.stop - self._columns.start)

    def act(self, seen: np.ndarray, controls: np.ndarray) -> None:
        """Put their controls into [num_envs, core's agents, 3], for what all of these see."""
        seen, controls = seen[:, self._columns], controls[:, self._columns]
        controls[:] = self.crew.act(seen.reshape(-1, seen.shape[-1])).reshape(controls.shape)


class FlownGroup(Group):
    """Engagements of which crews fly the other side, or wingmen of the agents, or both.

    To the core all whom they fly are agents; only the agents' own results leave this object.

    Args:
        core: in each engagement its agents are all fighters of the other side, if `make_crew` is
            given, and all of the agents' side, or its first where pilots are the wingmen.
        seat: the agents' side.
        action_mode: as of `Group`.
        make_crew: makes those of the other side; None: pilots fly it.
        seed: as of the core.
        make_wingmen: makes those who fly all but the first of the agents' side; None: these are
            agents, too, or pilots.
    """

    def __init__(
        self,
        core: _core.Core,
        seat: int,
        action_mode: str,
        make_crew: MakeCrew | None,
        seed: int,
        make_wingmen: MakeCrew | None = None,
    ) -> None:
        super().__init__(core, seat, action_mode)
        sides = [[*range(core.red_size)], [*range(core.red_size, core.fighters)]]
        own, enemies = sides if seat == 0 else reversed(sides)
        enemies = enemies if make_crew else []
        own = own[: core.agents // core.num_envs - len(enemies)]
        agents = own[:1] if make_wingmen else own
        self.agents = core.num_envs * len(agents)
        self._flown = sorted((*own, *enemies))  # the fighters that the core takes for agents
        self._own = self._columns(agents)
        self._enemies = Flight(self._columns(enemies), make_crew) if make_crew else None
        self._flights = [self._enemies] if make_crew else []
        if make_wingmen:
            self._flights.append(Flight(self._columns(own[1:]), make_wingmen))
        self._seed = seed
        self._fought: list[str] = []  # who flew against the agents, for each record

    def _columns(self, fighters: Sequence[int]) -> slice:
        """Where fighters that follow each other are among those that the core takes for agents."""
        first = self._flown.index(fighters[0])
        return slice(first, first + len(fighters))

    def bind(self, *outputs: np.ndarray | None) -> None:
        """As `Group.bind`; the core gets buffers of its own, for all whom it takes for agents."""
        super().bind(*outputs)
        envs = self.core.num_envs
        flown = (envs, self.core.agents // envs)
        self._controls_of_all = np.zeros((*flown, 3), np.float32)
        self._results = [
            None if output is None else np.zeros((*flown, *output.shape[1:]), output.dtype)
            for output in self._outputs
        ]
        # Views of the same with a row an agent of the core.
        self._flat = [
            None if array is None else array.reshape(self.core.agents, *array.shape[2:])
            for array in (self._controls_of_all, *self._results)
        ]
        # Views of the agents' results, by engagement, and of where they go.
        self._told = [
            (output.reshape(envs, -1, *output.shape[1:]), results[:, self._own])
            for output, results in zip(self._outputs, self._results, strict=True)
            if output is not None
        ]

    def reset(self, seed: int) -> None:
        """Start episode 0 of every engagement, with new crews."""
        self._seed = seed
        self._ledger.clear()
        stream = np.random.SeedSequence((seed, _core.FIGHTERS))  # apart from a player's, per seat
        words = stream.generate_state(len(self._flights))
        for flight, word in zip(self._flights, words, strict=True):
            flight.reset(int(word))
        self.core.reset(seed)
        self.observe()

    def observe(self) -> None:
        """As `Group.observe`, for the crews, too."""
        self.core.observe(self._flat[1])
        output, seen = self._told[0]
        output[:] = seen

    def step(self, actions: np.ndarray) -> None:
        """As `Group.step`."""
        if self._flights[0].crew is None:
            self.reset(self._seed)
        own = self._controls_of_all[:, self._own]
        own[:] = self._controls(actions).reshape(own.shape)
        for flight in self._flights:
            flight.act(self._results[0], self._controls_of_all)
        self.core.step_continuous(*self._flat, *self.states)
        self._fresh = super().collect()
        self._end()
        for output, results in self._told:
            output[:] = results

    def _end(self) -> None:
        """Tell the crews which engagements have ended, and note who has flown them."""
        self._ended = []
        if not len(self._fresh):
            return
        for flight in self._flights:
            names = flight.crew.end(self._fresh["env"])
            if flight is self._enemies:
                self._ended = names
        self._fought += self._ended

    def first_controls(self, actions: np.ndarray) -> np.ndarray:
        """As `Group.first_controls`, with what the crews did."""
        of_all = np.zeros((self.core.fighters, 3), np.float32)
        of_all[self._flown] = self._controls_of_all[0]
        return of_all

    def first_names(self) -> tuple[str, str]:
        """As `Group.first_names`: of the crew as its records have it, a file without its folder."""
        names, other = list(super().first_names()), 1 - self._seat
        crew = self._enemies and self._enemies.crew
        if crew and not self.core.get_fighter(0, other * self.core.red_size)["pilot"]:
            names[other] = Path(crew.names()[0]).stem
        return tuple(names)

    def opponents_of(self, records: np.ndarray) -> np.ndarray:
        """As `Group.opponents_of`."""
        names = super().opponents_of(records)
        if self._enemies:
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
        def make_crew(seed: int, size: int) -> Crew:
            # Here, so that only who fights a pool imports torch.
            from midrange_puffer.envs.pool_crew import PoolCrew

            return PoolCrew(pool, core.num_envs, seed, core.features, core.threads, size)

        super().__init__(core, seat, action_mode, make_crew, seed)

    def take_infos(self, step: int) -> dict[str, np.ndarray]:
        """As `Group.take_infos`, with the scores against each member as "pool/<name>"."""
        infos, _, fought = self._tell(step, self._fought)
        infos["score_vs_pool"], infos["win_vs_pool"] = infos["score"], infos["win"]
        for name in dict.fromkeys(fought):
            infos[f"pool/{name}"] = infos["score"][fought == name]
        return infos
