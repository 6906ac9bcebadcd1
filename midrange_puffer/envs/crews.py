"""Crews: policies and functions that fly fighters from outside the core; and groups with crews.

The crew of a pool is in pool_crew.py, because it needs torch.
"""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import numpy as np

from midrange_puffer import _core
from midrange_puffer.envs.groups import Acts, Buffers, Group, joined
from midrange_puffer.game.observation import controls_of, to_fly
from midrange_puffer.game.orders import carry_out
from midrange_puffer.game.parameters import Parameters
from midrange_puffer.policies.contestants import (
    Mixed,
    MixedPlayer,
    Outsider,
    find_contestant,
    is_module,
    load_mix,
    try_out,
)
from midrange_puffer.policies.mix import FIGHTERS
from midrange_puffer.policies.own_pilot import Function, name_of

if TYPE_CHECKING:
    from torch import nn

    # A text as described in policies/mix.py, a model's file, a policy on the CPU as
    # `checkpoint.load_policy` returns it, or a function.
    Opponent = str | Path | nn.Module | Function


class Crew(Protocol):
    """Members (policies, functions) that fly the same fighters of a side in every engagement.

    In an engagement one member flies all of these fighters, each by the fighter's own observation.
    Rows of observations and controls are ordered by engagement, then by fighter.
    """

    def act(self, observations: np.ndarray) -> np.ndarray:
        """Returns the next controls, float32 [rows, controls], for observations [rows, features].

        Members that give orders return `game.orders.as_commands`.

        The caller overwrites the observations later. In teams, dead fighters get zeros.
        """
        ...

    def end(self, envs: np.ndarray) -> list[str]:
        """Draws new members for these engagements, int [n]; returns the former members' names."""
        ...

    def names(self) -> list[str]:
        """Returns the name of the member that flies each engagement now."""
        ...


def find_crew(
    opponent: "Opponent",
    observation: str,
    features: int,
    game: Parameters,
    allowed: Sequence[str] = FIGHTERS,
    argument: str = "opponent",
) -> Mixed:
    """Returns the contestants that `opponent`, or another argument, stands for.

    Args:
        opponent: the value that the user gave.
        observation, features: the environment's observation, and its number of features.
        game: parameters of the game, whose champion `champion` means.
        allowed: the kinds of contestants that a mix may have; SELF and POOL are left to the caller.
        argument: name of the argument, for error messages.

    Raises:
        ValueError: There is no such contestant, or a policy needs features that the observation
            lacks.
        TypeError: The value has another type, or is a torch module that is no policy of this
            package.
        CheckpointError: A file cannot be used.
        OwnCodeError: A function cannot be used.
        UsageError: A policy was trained for another game, or the package has no champion of this
            one.
    """
    if isinstance(opponent, str):
        mixed = load_mix(opponent, allowed, argument, features, game)
    else:
        contestant = find_contestant(argument, opponent)
        if isinstance(opponent, Path):
            name = opponent.stem
        else:
            name = type(opponent).__name__ if is_module(opponent) else name_of(opponent)
        assert not isinstance(contestant, str | Mixed)  # only a text stands for these
        try_out([contestant], features)
        mixed = Mixed({"agent": 1.0}, (Outsider(name, 1.0, contestant),))
    mixed.check_observation(argument, observation, features, f"observation = {observation!r}")
    return mixed


def rows_in(envs: np.ndarray, size: int) -> np.ndarray:
    """Returns the rows, int, of a crew that flies `size` fighters in each engagement of `envs`."""
    return (size * envs[:, None] + np.arange(size)).ravel()


class OutsideCrew:
    """A crew of policies and functions. The member is drawn when an engagement starts.

    Args:
        outsiders: the members; policies are on the CPU.
        num_envs: number of engagements.
        seed: seed for drawing members and actions.
        size: number of fighters that they fly in each engagement.
        threads: number of threads of policies that C computes; the actions do not depend on it.
    """

    def __init__(
        self,
        outsiders: Sequence[Outsider],
        num_envs: int,
        seed: int,
        size: int,
        threads: int,
    ) -> None:
        self._envs, self._rows = np.arange(num_envs), np.arange(num_envs * size)
        self._player = MixedPlayer(
            outsiders, len(self._rows), seed, False, threads, self._rows // size
        )
        self._size = size

    def act(self, observations: np.ndarray) -> np.ndarray:
        """Returns the next controls, float32 [rows, controls]; see `Crew.act`."""
        count = controls_of(observations.shape[1]).count
        chosen = np.zeros((len(self._rows), count), np.float32)
        rows = self._rows[to_fly(observations)]
        chosen[rows] = self._player.act(observations[rows], rows)
        return chosen

    def end(self, envs: np.ndarray) -> list[str]:
        """Draws new members for these engagements, and clears the policies' memory of them."""
        names = self._player.names(envs)
        self._player.reset(rows_in(envs, self._size))
        return names

    def names(self) -> list[str]:
        """Returns the name of the member that flies each engagement now."""
        return self._player.names(self._envs)


MakeCrew = Callable[[int, int], Crew]  # arguments: seed, fighters in each engagement


class Flight:
    """The fighters that one crew flies in each engagement.

    Args:
        columns: their places among the core's agents in an engagement.
        make_crew: makes the crew; called at every reset.
    """

    def __init__(self, columns: slice, make_crew: MakeCrew) -> None:
        self.columns, self._make_crew = columns, make_crew
        self.crew: Crew | None = None  # None until the first reset

    def reset(self, seed: int) -> None:
        """Replaces the crew by a new one."""
        self.crew = self._make_crew(seed, self.columns.stop - self.columns.start)

    def act(self, observations: np.ndarray, controls: np.ndarray) -> None:
        """Writes the crew's columns of `controls`, [num_envs, core's agents, controls].

        They may have orders in the place of controls (game/orders.py).
        """
        observations, controls = observations[:, self.columns], controls[:, self.columns]
        rows = observations.reshape(-1, observations.shape[-1])
        if self.crew is not None:
            controls[:] = self.crew.act(rows).reshape(controls.shape)


class FlownGroup(Group):
    """Engagements in which crews fly the other side, or the agents' wingmen, or both.

    To the core, every fighter that a crew flies is an agent. This object passes on the results of
    the environment's agents only.

    Args:
        core: the core. In each engagement its agents are: all fighters of the other side, if
            `make_crew` is given; and all fighters of the agents' side, or only the first one if
            pilots are the wingmen.
        seat: the agents' side.
        acts: how the agents act.
        make_crew: makes the crew of the other side; None: pilots fly it.
        seed: the core's seed.
        make_wingmen: makes the crew of all fighters of the agents' side but the first; None: agents
            or pilots fly these.
    """

    def __init__(
        self,
        core: _core.Core,
        seat: int,
        acts: Acts,
        make_crew: MakeCrew | None,
        seed: int,
        make_wingmen: MakeCrew | None = None,
    ) -> None:
        super().__init__(core, seat, acts)
        sides = [[*range(core.red_size)], [*range(core.red_size, core.fighters)]]
        own, enemies = sides if seat == 0 else reversed(sides)
        enemies = enemies if make_crew else []
        own = own[: core.agents // core.num_envs - len(enemies)]
        agents = own[:1] if make_wingmen else own
        self.agents = core.num_envs * len(agents)
        self._flown = sorted((*own, *enemies))  # the numbers of the core's agents as fighters
        self._own = self._columns(agents)
        self._enemies = Flight(self._columns(enemies), make_crew) if make_crew else None
        self._flights = [self._enemies] if self._enemies else []
        if make_wingmen:
            self._flights.append(Flight(self._columns(own[1:]), make_wingmen))
        self._seed = seed
        self._opponents: list[str] = []  # names of the agents' opponents, one for each record
        self._fresh: list[np.ndarray] = []  # records of the last step, by decision
        self._ended: list[str] = []  # names of the opponents in them

    def _columns(self, fighters: Sequence[int]) -> slice:
        """Returns the places of consecutive fighters among the core's agents, as a slice."""
        first = self._flown.index(fighters[0])
        return slice(first, first + len(fighters))

    def bind(self, buffers: Buffers) -> None:
        """Stores the agents' buffers; the core writes to larger ones, for all of its agents."""
        super().bind(buffers)
        envs = self.core.num_envs
        flown = (envs, self.core.agents // envs)
        self._controls_of_all = np.zeros((*flown, self.core.controls), np.float32)
        outputs = [output for output in self._outputs if output is not None]
        self._results = [np.zeros((*flown, *output.shape[1:]), output.dtype) for output in outputs]
        # Views of the core's buffers with a row for each of its agents.
        self._flat: list[np.ndarray] = [
            array.reshape(self.core.agents, *array.shape[2:])
            for array in (self._controls_of_all, *self._results)
        ]
        # (destination, source) views, through which the agents' results are copied after each step.
        self._copies = [
            (output.reshape(envs, -1, *output.shape[1:]), results[:, self._own])
            for output, results in zip(outputs, self._results, strict=True)
        ]

    def reset(self, seed: int) -> None:
        """Starts episode 0 of every engagement, with new crews."""
        self._seed = seed
        self._ledger.clear()
        stream = np.random.SeedSequence((seed, _core.FIGHTERS))  # no player's stream
        words = stream.generate_state(len(self._flights))
        for flight, word in zip(self._flights, words, strict=True):
            flight.reset(int(word))
        self.core.reset(seed)
        self.observe()

    def observe(self) -> None:
        """Writes the present observations, also those of the crews."""
        self.core.observe(self._flat[1])
        output, observations = self._copies[0]
        output[:] = observations

    def observe_truth(self, out: np.ndarray) -> None:
        """Writes the truth of the environment's agents; the core has that of the crews, too."""
        truth = np.empty((self.core.agents, out.shape[1]), np.float32)
        self.core.observe_truth(truth)
        envs = self.core.num_envs
        out.reshape(envs, -1, out.shape[1])[:] = truth.reshape(envs, -1, out.shape[1])[:, self._own]

    def step(self, actions: np.ndarray) -> None:
        """Makes one step with the agents' actions and the crews' controls."""
        if self._flights[0].crew is None:
            self.reset(self._seed)
        self._fresh, self._ended = [], []
        super().step(actions)
        self._records += self._fresh
        self._opponents += self._ended

    def _decide(self, actions: np.ndarray) -> None:
        """Makes one decision with the agents' actions and the crews' controls."""
        own = self._controls_of_all[:, self._own]
        own[:] = self.controls(actions).reshape(own.shape)
        for flight in self._flights:
            flight.act(self._results[0], self._controls_of_all)
            commands = self._controls_of_all[:, flight.columns]
            carry_out(self.core, commands, self._flown[flight.columns])
        controls, observations, rewards, terminals, truncations, *final = self._flat
        self.core.step_continuous(
            controls, observations, rewards, terminals, truncations, final[0] if final else None,
            *self.states,
        )  # fmt: skip
        self._end(self.core.take_records())
        for output, results in self._copies:
            output[:] = results
        if self.watch:
            of_all = np.zeros((self.core.fighters, self.core.controls), np.float32)
            of_all[self._flown] = self._controls_of_all[0]
            self.watch(of_all)

    def _end(self, records: np.ndarray) -> None:
        """Ends the finished engagements in the crews; stores records, and the opponents' names."""
        self._fresh.append(records)
        if not len(records):
            return
        for flight in self._flights:
            names = flight.crew.end(records["env"]) if flight.crew else []
            if flight is self._enemies:
                self._ended += names

    def first_names(self) -> tuple[str, str]:
        """Returns the names of the sides in the first engagement; a model's is its file's stem."""
        names, other = list(super().first_names()), 1 - self._seat
        crew = self._enemies and self._enemies.crew
        if crew and not self.core.get_fighter(0, other * self.core.red_size)["pilot"]:
            names[other] = Path(crew.names()[0]).stem
        return names[0], names[1]

    def opponents_of(self, records: np.ndarray) -> np.ndarray:
        """Returns the names of the opponents: pilots, or members of the crew."""
        names = super().opponents_of(records)
        if self._enemies:
            from_outside = records["pilot"][:, 1 - self._seat] == 0
            names[from_outside] = np.array(self._ended, object)[from_outside]
        return names

    def take_infos(self, step: int) -> dict[str, np.ndarray]:
        """Returns values of the engagements that became due, with scores against each member."""
        infos, _, opponents = self._take_due(step, self._opponents)
        for name in dict.fromkeys(opponents):
            infos[f"score_vs_{name}"] = infos["score"][opponents == name]
            infos[f"win_vs_{name}"] = infos["win"][opponents == name]
        return infos

    @property
    def full(self) -> bool:
        """False: records are stored in a list, which has no limit."""
        return False

    def collect(self) -> np.ndarray:
        """Returns the records of the last step, which `step` has taken from the core."""
        return joined(self._fresh)

    def take_records(self) -> np.ndarray:
        """Returns the records of the engagements finished since the last call."""
        self._opponents = []
        return self._take_collected()
