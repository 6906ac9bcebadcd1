"""Who flies the other seat of a Gymnasium environment: pilots, a frozen policy or a function."""

import functools
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from midrange_puffer import _core
from midrange_puffer.actions import as_actions, controls
from midrange_puffer.parameters import MODEL_SUFFIXES, is_model, parse_pilots

if TYPE_CHECKING:
    from torch import nn

    from midrange_puffer.groups import Crew

    # A pilot or a mix of pilots, a model's file, a policy on the CPU, or a function.
    Opponent = str | Path | nn.Module | "Function"

# Observations float32 [num_envs, features], which change afterwards -> actions [num_envs, 3].
Function = Callable[[np.ndarray], np.ndarray]


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
    make_crew: "Callable[[int], Crew] | None" = None


def find_opposition(
    opponent: "Opponent", num_envs: int, observation: str, action_mode: str
) -> Opposition:
    """Find out who is meant by an `opponent`; the other arguments are the environment's.

    Raises:
        ValueError: No such pilot, or a policy that sees more than the environment's observation.
        TypeError: None of these.
        CheckpointError: A file that cannot be used.
    """
    if isinstance(opponent, Path) or (isinstance(opponent, str) and is_model(opponent)):
        # Here, so that only who fights a policy imports torch.
        from midrange_puffer.checkpoint import load_policy

        policy, _ = load_policy(opponent)
        return _policy_opposition(policy, str(opponent), num_envs, observation)
    if isinstance(opponent, str):
        try:
            return Opposition(opponent, parse_pilots(opponent))
        except ValueError as error:
            files = " or ".join(f"*{suffix}" for suffix in MODEL_SUFFIXES)
            raise ValueError(f"{error}; or a model's file, {files}") from None
    if _is_policy(opponent):
        return _policy_opposition(opponent, type(opponent).__name__, num_envs, observation)
    if callable(opponent):
        name = _name(opponent)
        make_crew = functools.partial(FunctionCrew, opponent, name, num_envs, action_mode)
        return Opposition(name, {}, make_crew)
    raise TypeError(
        f"opponent = {opponent!r}: must be a pilot or a mix of pilots, a model's file, a policy, "
        "or a function of observations"
    )


def for_one(opponent: "Opponent") -> "Opponent":
    """The same opponent, but that a function is of one engagement: [features] -> [3]."""
    if not callable(opponent) or _is_policy(opponent):
        return opponent

    def function(observations: np.ndarray) -> np.ndarray:
        return np.asarray(opponent(observations[0].copy()))[None]

    function.__name__ = _name(opponent)
    return function


def _name(function: Function) -> str:
    return getattr(function, "__name__", type(function).__name__)


def _is_policy(opponent: object) -> bool:
    """Whether it is what a `Player` flies with; found out without torch."""
    return hasattr(opponent, "forward_eval") and hasattr(opponent, "features")


def _policy_opposition(
    policy: "nn.Module", name: str, num_envs: int, observation: str
) -> Opposition:
    features = _core.OBSERVATIONS[observation]
    if policy.features > features:
        raise ValueError(
            f"opponent = {name}: sees {policy.features} features, more than the {features} of "
            f"observation = {observation!r}"
        )
    return Opposition(name, {}, functools.partial(PolicyCrew, policy, name, num_envs))


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
        self._name = name
        self._continuous = action_mode == "continuous"
        self._actions = np.zeros((num_envs, 3), np.float32 if self._continuous else np.int32)

    def act(self, observations: np.ndarray) -> np.ndarray:
        """Controls float32 [num_envs, 3] for observations float32 [num_envs, features]."""
        try:
            actions = as_actions(self._function(observations), self._actions)
        except (TypeError, ValueError) as error:
            raise type(error)(f"opponent {self._name}: {error}") from error
        return actions if self._continuous else controls(actions)

    def end(self, envs: np.ndarray) -> list[str]:
        """As `Crew.end`."""
        return [self._name] * len(envs)


class PolicyCrew:
    """A frozen policy in the other seat.

    Args:
        policy: on the CPU.
        name: for the records.
        num_envs: engagements.
        seed: of the actions drawn.
    """

    def __init__(self, policy: "nn.Module", name: str, num_envs: int, seed: int) -> None:
        from midrange_puffer.player import Player

        self._player = Player(policy, num_envs, seed)
        self._name = name
        self._envs = np.arange(num_envs)

    def act(self, observations: np.ndarray) -> np.ndarray:
        """Controls float32 [num_envs, 3] for observations float32 [num_envs, features]."""
        return self._player.act(observations, self._envs)

    def end(self, envs: np.ndarray) -> list[str]:
        """As `Crew.end`; what the policy remembers of these engagements is forgotten."""
        self._player.reset(envs)
        return [self._name] * len(envs)
