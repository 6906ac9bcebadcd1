"""Who flies the other seat: pilots in the core, or a crew outside it, a policy or a function."""

import functools
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import numpy as np

from midrange_puffer import _core
from midrange_puffer.game.actions import action_buffer, as_actions, controls
from midrange_puffer.game.parameters import MODEL_SUFFIXES, parse_pilots
from midrange_puffer.policies.shipped import TRAINED, is_model

if TYPE_CHECKING:
    from torch import nn

    # A pilot or a mix of pilots, a model's file, a policy on the CPU as of
    # `checkpoint.load_policy`, or a function.
    Opponent = str | Path | nn.Module | "Function"

# Observations float32 [num_envs, features], which change afterwards -> actions [num_envs, 3].
Function = Callable[[np.ndarray], np.ndarray]


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


# What a `Player` asks of a policy.
_OF_A_POLICY = ("forward_eval", "features", "memory_size", "is_continuous")


@dataclass(frozen=True)
class Opposition:
    """Who flies the other seat.

    Attributes:
        name: of who is no pilot.
        pilots: shares of the engagements; none where a crew flies.
        make_crew: called with a seed for each new crew; None where pilots fly.
    """

    name: str
    pilots: dict[str, float]
    make_crew: Callable[[int], Crew] | None = None


def find_opposition(
    opponent: "Opponent", num_envs: int, observation: str, action_mode: str, threads: int = 1
) -> Opposition:
    """Find out who is meant by an `opponent`; the other arguments are the environment's.

    Raises:
        ValueError: No such pilot, or a policy that sees more than the environment's observation.
        TypeError: None of these, or a module of torch that is no policy of this package.
        CheckpointError: A file that cannot be used.
    """
    if isinstance(opponent, Path) or (isinstance(opponent, str) and is_model(opponent)):
        # Here, so that only who fights a policy imports torch.
        from midrange_puffer.policies.loading import load_policy

        policy, _ = load_policy(opponent)
        return _policy_opposition(policy, str(opponent), num_envs, observation, threads)
    if isinstance(opponent, str):
        try:
            return Opposition(opponent, parse_pilots(opponent))
        except ValueError as error:
            files = " or ".join(f"*{suffix}" for suffix in MODEL_SUFFIXES)
            raise ValueError(f"{error}; or {TRAINED}, or a model's file, {files}") from None
    if _is_module(opponent):
        name = type(opponent).__name__
        return _policy_opposition(opponent, name, num_envs, observation, threads)
    if callable(opponent):
        name = _name(opponent)
        make_crew = functools.partial(FunctionCrew, opponent, name, num_envs, action_mode)
        return Opposition(name, {}, make_crew)
    raise TypeError(
        f"opponent = {opponent!r}: must be a pilot or a mix of pilots, a model's file, a policy "
        "as of checkpoint.load_policy, or a function of observations"
    )


def for_one(opponent: "Opponent", action_mode: str) -> "Opponent":
    """The same opponent, but that a function is of one engagement: [features] -> [3]."""
    if not callable(opponent) or _is_module(opponent):
        return opponent
    name, action = _name(opponent), action_buffer((3,), action_mode)

    def function(observations: np.ndarray) -> np.ndarray:
        answer = opponent(observations[0].copy())
        return as_actions(answer, action, f"opponent {name}: action")[None]

    function.__name__ = name
    return function


def _name(function: Function) -> str:
    return getattr(function, "__name__", type(function).__name__)


def _is_module(opponent: object) -> bool:
    """Whether it is a module of torch, which nobody can have who has not imported that."""
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(opponent, torch.nn.Module)


def check_policy(argument: str, module: "nn.Module") -> None:
    """Raise TypeError where a module of torch, given as `argument`, is no policy of ours."""
    missing = [attribute for attribute in _OF_A_POLICY if not hasattr(module, attribute)]
    if missing:
        raise TypeError(
            f"{argument} = {type(module).__name__}: must be a policy as of checkpoint.load_policy; "
            f"this module has no {', '.join(missing)}"
        )


def _policy_opposition(
    policy: "nn.Module", name: str, num_envs: int, observation: str, threads: int
) -> Opposition:
    check_policy("opponent", policy)
    features = _core.OBSERVATIONS[observation]
    if policy.features > features:
        raise ValueError(
            f"opponent = {name}: sees {policy.features} features, more than the {features} of "
            f"observation = {observation!r}"
        )
    return Opposition(name, {}, functools.partial(PolicyCrew, policy, name, num_envs, threads))


class FunctionCrew:
    """A function in the other seat.

    Args:
        function: its actions are of the environment's action mode.
        name: for the records.
        num_envs: engagements.
        action_mode: of the environment.
        seed: of no use here.
    """

    def __init__(
        self, function: Function, name: str, num_envs: int, action_mode: str, seed: int
    ) -> None:
        self._function = function
        self._name, self._num_envs = name, num_envs
        self._continuous = action_mode == "continuous"
        self._actions = action_buffer((num_envs, 3), action_mode)

    def act(self, observations: np.ndarray) -> np.ndarray:
        """Controls float32 [num_envs, 3] for observations float32 [num_envs, features]."""
        answer = self._function(observations)
        actions = as_actions(answer, self._actions, f"opponent {self._name}: actions")
        return actions if self._continuous else controls(actions)

    def end(self, envs: np.ndarray) -> list[str]:
        """As `Crew.end`."""
        return [self._name] * len(envs)

    def names(self) -> list[str]:
        """As `Crew.names`."""
        return [self._name] * self._num_envs


class PolicyCrew:
    """A frozen policy in the other seat.

    Args:
        policy: on the CPU.
        name: for the records.
        num_envs: engagements.
        threads: that compute it, where C does; its actions do not depend on it.
        seed: of the actions drawn.
    """

    def __init__(
        self, policy: "nn.Module", name: str, num_envs: int, threads: int, seed: int
    ) -> None:
        from midrange_puffer.policies.player import Player

        self._player = Player(policy, num_envs, seed, threads=threads)
        self._name = name
        self._envs = np.arange(num_envs)

    def act(self, observations: np.ndarray) -> np.ndarray:
        """Controls float32 [num_envs, 3] for observations float32 [num_envs, features]."""
        return self._player.act(observations, self._envs)

    def end(self, envs: np.ndarray) -> list[str]:
        """As `Crew.end`; what the policy remembers of these engagements is forgotten."""
        self._player.reset(envs)
        return [self._name] * len(envs)

    def names(self) -> list[str]:
        """As `Crew.names`."""
        return [self._name] * len(self._envs)
