"""Who flies beside the agents: pilots in the core, or a crew outside it, policies and functions."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import numpy as np

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

    # Whatever policies/mix.py names, a model's file, a policy on the CPU as of
    # `checkpoint.load_policy`, or a function.
    Opponent = str | Path | nn.Module | Function


class Crew(Protocol):
    """Flies some fighters of a side, as many in each engagement, from outside the core.

    One member flies all of them in an engagement, each from what that one observes. Rows are
    numbered by engagement, and then by fighter.
    """

    def act(self, observations: np.ndarray) -> np.ndarray:
        """The next controls, float32 [rows, 3], for observations float32 [rows, features].

        The observations change afterwards. Nobody is asked for the dead of teams.
        """

    def end(self, envs: np.ndarray) -> list[str]:
        """Others start in the places of these engagements, int [n]; who has flown them, by name."""

    def names(self) -> list[str]:
        """Who flies each engagement now."""


def find_crew(
    opponent: "Opponent",
    observation: str,
    features: int,
    allowed: Sequence[str] = FIGHTERS,
    argument: str = "opponent",
) -> Mixed:
    """Find out who is meant by an `opponent`, or by whatever `argument` it was given as.

    Args:
        observation, features: of the environment, and how many features it has.
        allowed: the kinds of contestants in a mix; self and pool are left to the caller.

    Raises:
        ValueError: No such contestant, or a policy that sees more than the environment's
            observation.
        TypeError: None of these, or a module of torch that is no policy of this package.
        CheckpointError: A file that cannot be used.
        OwnCodeError: A function by name that cannot be used.
        UsageError: A policy of another game.
    """
    if isinstance(opponent, str):
        mixed = load_mix(opponent, allowed, argument, features)
    else:
        found = find_contestant(argument, opponent)
        mixed = Mixed({"agent": 1.0}, (Outsider(_name(opponent), 1.0, found),))
    where = f"observation = {observation!r}"
    mixed.check_observation(argument, observation, features, where)
    return mixed


def _name(opponent: "Opponent") -> str:
    if isinstance(opponent, Path):
        return opponent.stem
    return type(opponent).__name__ if is_module(opponent) else name_of(opponent)


def for_one(opponent: "Opponent", action_mode: str) -> "Opponent":
    """The same opponent, but that a function is of one fighter: [features] -> [3]."""
    if not callable(opponent) or is_module(opponent):
        return opponent
    name = name_of(opponent)

    def function(observations: np.ndarray) -> np.ndarray:
        actions = action_buffer((len(observations), 3), action_mode)
        for seen, action in zip(observations, actions, strict=True):
            action[:] = as_actions(opponent(seen.copy()), action, f"opponent {name}: action")
        return actions

    function.__name__ = name
    return function


class OutsideCrew:
    """Policies and functions; who flies is drawn where an engagement starts.

    Args:
        outsiders: who they are; policies are on the CPU.
        num_envs: engagements.
        seed: of who flies and of the actions drawn.
        size: fighters in each engagement that they fly.
        threads: that compute a policy, where C does; its actions do not depend on it.
        action_mode: of the actions of functions that were given by no name.
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
        """As `Crew.act`."""
        chosen = np.zeros((len(self._rows), 3), np.float32)
        rows = self._rows[to_fly(observations)]
        chosen[rows] = self._player.act(observations[rows], rows)
        return chosen

    def end(self, envs: np.ndarray) -> list[str]:
        """As `Crew.end`; what policies remember of these engagements is forgotten."""
        names = self._player.names(envs)
        self._player.reset(rows_in(envs, self._size))
        return names

    def names(self) -> list[str]:
        """As `Crew.names`."""
        return self._player.names(self._envs)


def rows_in(envs: np.ndarray, size: int) -> np.ndarray:
    """The rows of a crew that flies `size` fighters in each engagement, of some of these, int."""
    return (size * envs[:, None] + np.arange(size)).ravel()
