"""Who flies the other seat: pilots in the core, or a crew outside it, policies and functions."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import numpy as np

from midrange_puffer import _core
from midrange_puffer.game.actions import action_buffer, as_actions
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
    """Flies one seat of engagements from outside the core."""

    def act(self, observations: np.ndarray) -> np.ndarray:
        """The next controls, float32 [num_envs, 3], for observations float32 [num_envs, features].

        The observations change afterwards.
        """

    def end(self, envs: np.ndarray) -> list[str]:
        """Others start in the places of these engagements, int [n]; who has flown them, by name."""

    def names(self) -> list[str]:
        """Who flies each engagement now."""


@dataclass(frozen=True)
class Opposition:
    """Who flies the other seat.

    Attributes:
        shares: of the pilots, and of all others together, as "agent"; they sum to 1.
        make_crew: called with a seed for each new crew; None where only pilots fly.
    """

    shares: dict[str, float]
    make_crew: Callable[[int], Crew] | None = None


def find_opposition(
    opponent: "Opponent",
    num_envs: int,
    observation: str,
    action_mode: str,
    threads: int = 1,
    allowed: Sequence[str] = FIGHTERS,
) -> Opposition:
    """Find out who is meant by an `opponent`; the other arguments are the environment's.

    Args:
        allowed: the kinds of contestants in a mix; self and pool are left to the caller.

    Raises:
        ValueError: No such contestant, or a policy that sees more than the environment's
            observation.
        TypeError: None of these, or a module of torch that is no policy of this package.
        CheckpointError: A file that cannot be used.
        OwnCodeError: A function by name that cannot be used.
        UsageError: Others than pilots against teams.
    """
    features = _core.OBSERVATIONS.get(observation, 0)  # teams meet pilots alone, who see no row
    if isinstance(opponent, str):
        mixed = load_mix(opponent, allowed, features=features)
        if not mixed.outsiders:
            return Opposition(mixed.shares)
    else:
        found = find_contestant("opponent", opponent)
        mixed = Mixed({"agent": 1.0}, (Outsider(_name(opponent), 1.0, found),))
    mixed.check_observation("opponent", observation, f"observation = {observation!r}")

    def make_crew(seed: int) -> Crew:
        return OutsideCrew(mixed.outsiders, num_envs, seed, threads, action_mode)

    return Opposition(mixed.shares, make_crew)


def _name(opponent: "Opponent") -> str:
    if isinstance(opponent, Path):
        return opponent.stem
    return type(opponent).__name__ if is_module(opponent) else name_of(opponent)


def for_one(opponent: "Opponent", action_mode: str) -> "Opponent":
    """The same opponent, but that a function is of one engagement: [features] -> [3]."""
    if not callable(opponent) or is_module(opponent):
        return opponent
    name, action = name_of(opponent), action_buffer((3,), action_mode)

    def function(observations: np.ndarray) -> np.ndarray:
        answer = opponent(observations[0].copy())
        return as_actions(answer, action, f"opponent {name}: action")[None]

    function.__name__ = name
    return function


class OutsideCrew:
    """Policies and functions in the other seat; who flies is drawn where an engagement starts.

    Args:
        outsiders: who they are; policies are on the CPU.
        num_envs: engagements.
        seed: of who flies and of the actions drawn.
        threads: that compute a policy, where C does; its actions do not depend on it.
        action_mode: of the actions of functions that were given by no name.
    """

    def __init__(
        self,
        outsiders: Sequence[Outsider],
        num_envs: int,
        seed: int,
        threads: int,
        action_mode: str,
    ) -> None:
        self._player = MixedPlayer(
            outsiders, num_envs, seed, threads=threads, action_mode=action_mode
        )
        self._envs = np.arange(num_envs)

    def act(self, observations: np.ndarray) -> np.ndarray:
        """Controls float32 [num_envs, 3] for observations float32 [num_envs, features]."""
        return self._player.act(observations, self._envs)

    def end(self, envs: np.ndarray) -> list[str]:
        """As `Crew.end`; what policies remember of these engagements is forgotten."""
        names = self._player.names(envs)
        self._player.reset(envs)
        return names

    def names(self) -> list[str]:
        """As `Crew.names`."""
        return self._player.names(self._envs)
