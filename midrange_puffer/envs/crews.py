"""Crews, which fly fighters from outside the core: models and functions; and groups with crews.

The crew of a pool is in pool_crew.py, as it needs torch.
"""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import numpy as np

from midrange_puffer import _core
from midrange_puffer.envs.groups import Group
from midrange_puffer.game.actions import action_buffer, as_actions
from midrange_puffer.game.observation import to_fly
from midrange_puffer.policies.contestants import (
    Mixed,
    MixedPlayer,
    Outsider,
    find_contestant,
    is_module,
    load_mix,
)
from midrange_puffer.policies.mix import FIGHTERS
from midrange_puffer.policies.own_pilot import Function, name_of

if TYPE_CHECKING:
    from torch import nn

    # A text as of policies/mix.py, a model's file, a policy on the CPU as of
    # `checkpoint.load_policy`, or a function.
    Opponent = str | Path | nn.Module | Function


class Crew(Protocol):
    """Flies some fighters of a side, the same number in each engagement.

    One member flies all of them in an engagement, each by that fighter's own observation. Rows are
    numbered by engagement, and then by fighter.
    """

    def act(self, observations: np.ndarray) -> np.ndarray:
        """Returns the next controls, float32 [rows, 3], for observations float32 [rows, features].

        The observations change afterwards. The dead of teams get zeros.
        """
        ...

    def end(self, envs: np.ndarray) -> list[str]:
        """Draws new members for these engagements, int [n]; returns the names of the old ones."""
        ...

    def names(self) -> list[str]:
        """Returns the name of the member that flies each engagement now."""
        ...


def find_crew(
    opponent: "Opponent",
    observation: str,
    features: int,
    allowed: Sequence[str] = FIGHTERS,
    argument: str = "opponent",
) -> Mixed:
    """Finds the contestants that an `opponent`, or another `argument`, names.

    Args:
        opponent: as the user gave it.
        observation, features: of the environment, and its number of features.
        allowed: the kinds of contestants in a mix; self and pool are left to the caller.
        argument: for error messages.

    Raises:
        ValueError: No such contestant, or a policy that needs features which the environment's
            observation does not have.
        TypeError: None of these, or a module of torch that is no policy of this package.
        CheckpointError: A file that cannot be used.
        OwnCodeError: A function by name that cannot be used.
        UsageError: A policy of another game.
    """
    if isinstance(opponent, str):
        mixed = load_mix(opponent, allowed, argument, features)
    else:
        contestant = find_contestant(argument, opponent)
        if isinstance(opponent, Path):
            name = opponent.stem
        else:
            name = type(opponent).__name__ if is_module(opponent) else name_of(opponent)
        assert not isinstance(contestant, str | Mixed)  # which only a text can name
        mixed = Mixed({"agent": 1.0}, (Outsider(name, 1.0, contestant),))
    mixed.check_observation(argument, observation, features, f"observation = {observation!r}")
    return mixed


def for_one(opponent: "Opponent", action_mode: str) -> "Opponent":
    """Returns the same opponent; a function [features] -> [3] becomes one of many fighters."""
    if not callable(opponent) or is_module(opponent):
        return opponent
    name = name_of(opponent)

    def function(observations: np.ndarray) -> np.ndarray:
        actions = action_buffer((len(observations), 3), action_mode)
        for observation, action in zip(observations, actions, strict=True):
            action[:] = as_actions(opponent(observation.copy()), action, f"opponent {name}: action")
        return actions

    function.__name__ = name
    return function


def rows_in(envs: np.ndarray, size: int) -> np.ndarray:
    """Returns the rows, int, of a crew that flies `size` fighters in each of these engagements."""
    return (size * envs[:, None] + np.arange(size)).ravel()


class OutsideCrew:
    """A crew of policies and functions; the member is drawn where an engagement starts.

    Args:
        outsiders: the members; policies are on the CPU.
        num_envs: engagements.
        seed: of the draws of members and actions.
        size: fighters in each engagement that they fly.
        threads: that compute a policy, where C does; its actions do not depend on it.
        action_mode: of the actions of functions that were given as objects.
    """

    def __init__(
        self,
        outsiders: Sequence[Outsider],
        num_envs: int,
        seed: int,
        size: int,
        threads: int,
        action_mode: str,
    ) -> None:
        self._envs, self._rows = np.arange(num_envs), np.arange(num_envs * size)
        self._player = MixedPlayer(
            outsiders, len(self._rows), seed, False, threads, action_mode, self._rows // size
        )
        self._size = size

    def act(self, observations: np.ndarray) -> np.ndarray:
        """Returns the next controls, float32 [rows, 3]; see `Crew.act`."""
        chosen = np.zeros((len(self._rows), 3), np.float32)
        rows = self._rows[to_fly(observations)]
        chosen[rows] = self._player.act(observations[rows], rows)
        return chosen

    def end(self, envs: np.ndarray) -> list[str]:
        """Ends these engagements: draws new members, and clears the memory of policies."""
        names = self._player.names(envs)
        self._player.reset(rows_in(envs, self._size))
        return names

    def names(self) -> list[str]:
        """Returns the name of the member that flies each engagement now."""
        return self._player.names(self._envs)


MakeCrew = Callable[[int, int], Crew]  # called with a seed, and the fighters in each engagement


class Flight:
    """The fighters of each engagement that one crew flies.

    Args:
        columns: their places among the core's agents in an engagement.
        make_crew: called at every reset.
    """

    def __init__(self, columns: slice, make_crew: MakeCrew) -> None:
        self._columns, self._make_crew = columns, make_crew
        self.crew: Crew | None = None  # until the first reset

    def reset(self, seed: int) -> None:
        """Starts with a new crew."""
        self.crew = self._make_crew(seed, self._columns.stop - self._columns.start)

    def act(self, observations: np.ndarray, controls: np.ndarray) -> None:
        """Writes the crew's part of the controls [num_envs, core's agents, 3]."""
        observations, controls = observations[:, self._columns], controls[:, self._columns]
        rows = observations.reshape(-1, observations.shape[-1])
        if self.crew is not None:
            controls[:] = self.crew.act(rows).reshape(controls.shape)


class FlownGroup(Group):
    """Engagements in which crews fly the other side, or wingmen of the agents, or both.

    To the core all fighters with a crew are agents; this object's results are those of the
    environment's agents only.

    Args:
        core: its agents are, in each engagement, all fighters of the other side, if `make_crew` is
            given, and all of the agents' side, or its first fighter if pilots are the wingmen.
        seat: the agents' side.
        action_mode: one of `ACTION_MODES`.
        make_crew: makes the crew of the other side; None: pilots fly it.
        seed: as of the core.
        make_wingmen: makes the crew of all but the first fighter of the agents' side; None: these
            are agents, too, or pilots.
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
        self._flown = sorted((*own, *enemies))  # the core's agents, by their numbers as fighters
        self._own = self._columns(agents)
        self._enemies = Flight(self._columns(enemies), make_crew) if make_crew else None
        self._flights = [self._enemies] if self._enemies else []
        if make_wingmen:
            self._flights.append(Flight(self._columns(own[1:]), make_wingmen))
        self._seed = seed
        self._opponents: list[str] = []  # flew against the agents, for each record

    def _columns(self, fighters: Sequence[int]) -> slice:
        """Returns the places of consecutive fighters among the core's agents."""
        first = self._flown.index(fighters[0])
        return slice(first, first + len(fighters))

    def bind(
        self,
        observations: np.ndarray,
        rewards: np.ndarray,
        terminals: np.ndarray,
        truncations: np.ndarray,
        final_observations: np.ndarray | None = None,
    ) -> None:
        """Takes the buffers of the agents; the core gets other ones, for all its agents."""
        super().bind(observations, rewards, terminals, truncations, final_observations)
        envs = self.core.num_envs
        flown = (envs, self.core.agents // envs)
        self._controls_of_all = np.zeros((*flown, 3), np.float32)
        outputs = [output for output in self._outputs if output is not None]
        self._results = [np.zeros((*flown, *output.shape[1:]), output.dtype) for output in outputs]
        # Views of the same with a row for each agent of the core.
        self._flat: list[np.ndarray] = [
            array.reshape(self.core.agents, *array.shape[2:])
            for array in (self._controls_of_all, *self._results)
        ]
        # (destination, source) views of the agents' results, by engagement.
        self._copies = [
            (output.reshape(envs, -1, *output.shape[1:]), results[:, self._own])
            for output, results in zip(outputs, self._results, strict=True)
        ]

    def reset(self, seed: int) -> None:
        """Starts episode 0 of every engagement, with new crews."""
        self._seed = seed
        self._ledger.clear()
        stream = np.random.SeedSequence((seed, _core.FIGHTERS))  # apart from a player's, per seat
        words = stream.generate_state(len(self._flights))
        for flight, word in zip(self._flights, words, strict=True):
            flight.reset(int(word))
        self.core.reset(seed)
        self.observe()

    def observe(self) -> None:
        """Writes the observations of the present moment, for the crews, too."""
        self.core.observe(self._flat[1])
        output, observations = self._copies[0]
        output[:] = observations

    def step(self, actions: np.ndarray) -> None:
        """Makes one decision, of the agents' actions and the crews' controls."""
        if self._flights[0].crew is None:
            self.reset(self._seed)
        own = self._controls_of_all[:, self._own]
        own[:] = self._controls(actions).reshape(own.shape)
        for flight in self._flights:
            flight.act(self._results[0], self._controls_of_all)
        controls, observations, rewards, terminals, truncations, *final = self._flat
        self.core.step_continuous(
            controls, observations, rewards, terminals, truncations, final[0] if final else None,
            *self.states,
        )  # fmt: skip
        self._fresh = super().collect()
        self._end()
        for output, results in self._copies:
            output[:] = results

    def _end(self) -> None:
        """Tells the crews which engagements have ended, and notes the opponents in these."""
        self._ended = []
        if not len(self._fresh):
            return
        for flight in self._flights:
            names = flight.crew.end(self._fresh["env"]) if flight.crew else []
            if flight is self._enemies:
                self._ended = names
        self._opponents += self._ended

    def first_controls(self, actions: np.ndarray) -> np.ndarray:
        """Returns the controls of the first engagement, the crews' included."""
        of_all = np.zeros((self.core.fighters, 3), np.float32)
        of_all[self._flown] = self._controls_of_all[0]
        return of_all

    def first_names(self) -> tuple[str, str]:
        """Returns the names of the sides; a model's file is named without its folder."""
        names, other = list(super().first_names()), 1 - self._seat
        crew = self._enemies and self._enemies.crew
        if crew and not self.core.get_fighter(0, other * self.core.red_size)["pilot"]:
            names[other] = Path(crew.names()[0]).stem
        return names[0], names[1]

    def opponents_of(self, records: np.ndarray) -> np.ndarray:
        """Returns the opponents' names, of pilots and of the crew's members."""
        names = super().opponents_of(records)
        if self._enemies:
            from_outside = records["pilot"][:, 1 - self._seat] == 0
            names[from_outside] = np.array(self._ended, object)[from_outside]
        return names

    def take_infos(self, step: int) -> dict[str, np.ndarray]:
        """Returns the values of the engagements that became due, with scores by member."""
        infos, _, opponents = self._take_due(step, self._opponents)
        for name in dict.fromkeys(opponents):
            infos[f"score_vs_{name}"] = infos["score"][opponents == name]
            infos[f"win_vs_{name}"] = infos["win"][opponents == name]
        return infos

    @property
    def full(self) -> bool:
        """False: records are kept in a list."""
        return False

    def collect(self) -> np.ndarray:
        """Returns the records of the last step, which `step` took for the crews."""
        return self._fresh

    def take_records(self) -> np.ndarray:
        """Returns the records of the engagements finished since the last call."""
        self._opponents = []
        return self._take_collected()
