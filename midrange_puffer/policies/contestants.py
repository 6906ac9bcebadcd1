"""Who fights, found by name: models are loaded, and functions of the user's own imported."""

import reprlib
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from midrange_puffer import _core
from midrange_puffer.errors import UsageError
from midrange_puffer.game.observation import RADAR_FEATURES, check_flies, check_sees
from midrange_puffer.game.parameters import SCRIPTED
from midrange_puffer.policies.mix import (
    FIGHTERS,
    FILE,
    FUNCTION,
    MODEL,
    OUTSIDE,
    file_of,
    kind_of,
    parse_mix,
    short_names,
)
from midrange_puffer.policies.own_pilot import Function, FunctionPlayer, OwnPilot

if TYPE_CHECKING:
    from torch import nn

    from midrange_puffer.policies.player import Player

# What a `Player` asks of a policy.
_OF_A_POLICY = ("forward_eval", "features", "memory_size", "is_continuous")


@dataclass(frozen=True)
class Outsider:
    """A contestant who flies from outside the core.

    Attributes:
        name: by which it is scored.
        share: among the others outside the core; they sum to 1.
        flyer: a policy on the CPU, or a function.
    """

    name: str
    share: float
    flyer: "nn.Module | Function"

    @property
    def features(self) -> int:
        """That it needs, as of `observation.Seeing`."""
        return getattr(self.flyer, "features", 0)

    @property
    def any_size(self) -> bool:
        """As of `observation.Seeing`."""
        return getattr(self.flyer, "any_size", False)


@dataclass(frozen=True, eq=False)
class Mixed:
    """A mix in which somebody flies from outside the core; who it is is drawn where they start.

    Attributes:
        shares: of the pilots, and of all others together, as "agent"; they sum to 1.
        outsiders: those others.
    """

    shares: dict[str, float]
    outsiders: tuple[Outsider, ...]

    @property
    def title(self) -> str:
        """Who is in it, by their names."""
        pilots = [name for name in self.shares if name != "agent"]
        return ",".join([*pilots, *(one.name for one in self.outsiders)])

    def check_observation(self, argument: str, observation: str, features: int, where: str) -> None:
        """Raise UsageError where one of them does not find what it sees in the observation.

        Args:
            features: how many that has.
            where: it is given, for messages.
        """
        for one in self.outsiders:
            who = f"{argument} = {one.name}"
            if observation in (_core.TEAM, _core.TEAM_RADAR):
                check_flies(who, one, features)
            else:
                check_sees(who, one.features, observation, where)


if TYPE_CHECKING:
    # A pilot or a mix of pilots, a policy on the CPU, a function, or a mix of all these.
    Contestant = str | nn.Module | Function | Mixed


def load_mix(
    text: str,
    allowed: Sequence[str] = FIGHTERS,
    argument: str = "opponent",
    features: int | None = None,
) -> Mixed:
    """Load whoever of a mix flies from outside the core; SELF and POOL are left out.

    Args:
        text, allowed, argument: as of `parse_mix`.
        features: of the observations that functions are tried with; None: `try_out` does it, where
            it is known what is seen.

    Raises:
        ValueError: As `parse_mix`.
        CheckpointError: A model that cannot be used.
        OwnCodeError: A function that cannot be used.
    """
    shares = parse_mix(text, allowed, argument)
    kinds = {name: kind_of(name) for name in shares}
    outside = [name for name in shares if kinds[name] in OUTSIDE]
    total = sum(shares[name] for name in outside)
    names = short_names(outside)
    outsiders = tuple(
        Outsider(names[name], shares[name] / total, _load(name, kinds[name], features))
        for name in outside
    )
    pilots = {name: share for name, share in shares.items() if kinds[name] == SCRIPTED}
    return Mixed(pilots | ({"agent": total} if outside else {}), outsiders)


def load_contestant(
    text: str, allowed: Sequence[str] = FIGHTERS, argument: str = "opponent"
) -> "Contestant":
    """The contestant that a text names: text again where only pilots fly.

    Raises:
        ValueError, CheckpointError, OwnCodeError: As `load_mix`.
    """
    mixed = load_mix(text, allowed, argument)
    if not mixed.outsiders:
        return text
    return mixed.outsiders[0].flyer if _is_one(mixed) else mixed


def _is_one(mixed: Mixed) -> bool:
    return len(mixed.outsiders) == 1 and len(mixed.shares) == 1


def _load(name: str, kind: str, features: int | None = None) -> "nn.Module | OwnPilot":
    if kind == FUNCTION:
        function = OwnPilot(name)
        if features is not None:
            function.try_out(features)
        return function
    # Here, so that only who fights a policy imports torch.
    from midrange_puffer.policies.loading import load_policy

    return load_policy(file_of(name))[0]


def try_out(contestants: Iterable["Contestant"], features: int) -> None:
    """Let the functions by name among the contestants answer observations of so many features.

    Raises:
        OwnCodeError: One fails, or gives what are no actions.
    """
    for who in contestants:
        for flyer in [one.flyer for one in who.outsiders] if isinstance(who, Mixed) else [who]:
            if isinstance(flyer, OwnPilot):
                flyer.try_out(features)


def is_module(given: object) -> bool:
    """Whether it is a module of torch, which nobody can have who has not imported that."""
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(given, torch.nn.Module)


def check_policy(argument: str, module: "nn.Module") -> None:
    """Raise TypeError where a module of torch, given as `argument`, is no policy of ours."""
    missing = [attribute for attribute in _OF_A_POLICY if not hasattr(module, attribute)]
    if missing:
        raise TypeError(
            f"{argument} = {type(module).__name__}: must be a policy as of checkpoint.load_policy; "
            f"this module has no {', '.join(missing)}"
        )


def find_contestant(argument: str, given: "Contestant | Path") -> "Contestant":
    """Who is meant: policies and functions are taken as they are, all others found by name.

    Args:
        argument: what `given` was given as, for messages.
        given: a contestant; or a model's file, or whatever `mix.py` names but self and pool.

    Raises:
        ValueError: no such contestant.
        TypeError: none of these.
        CheckpointError: a file that cannot be used.
        OwnCodeError: a function by name that cannot be used.
    """
    if isinstance(given, Path):
        return _load(f"{FILE}{given}", MODEL)
    if isinstance(given, str):
        return load_contestant(given, argument=argument)
    if is_module(given):
        check_policy(argument, given)
        return given
    if callable(given) or isinstance(given, Mixed):
        return given
    is_pair = isinstance(given, tuple) and given and is_module(given[0])
    hint = "; load_policy returns a pair: policy, about = load_policy(…)" if is_pair else ""
    raise TypeError(
        f"{argument} = {reprlib.repr(given)}: must be a pilot, a model's file, a function's name "
        f"or a mix of them, a policy as of checkpoint.load_policy, or a function of "
        f"observations{hint}"
    )


def player_for(
    who: "Contestant",
    num_envs: int,
    seed: int,
    greedy: bool = False,
    threads: int = 1,
    action_mode: str | None = None,
    teams: np.ndarray | None = None,
) -> "Player | FunctionPlayer | MixedPlayer":
    """A contestant who flies from outside the core, at the controls.

    Args:
        num_envs, seed, greedy, threads: as of `Player`.
        action_mode: of a function's actions; None: whole numbers are levels, others controls.
        teams: as of `MixedPlayer`.
    """
    if isinstance(who, Mixed):
        return MixedPlayer(who.outsiders, num_envs, seed, greedy, threads, action_mode, teams)
    if is_module(who):
        # Here, so that only who fights a policy imports torch.
        from midrange_puffer.policies.player import Player

        return Player(who, num_envs, seed, greedy, threads)
    if isinstance(who, OwnPilot):
        return FunctionPlayer(who)
    if action_mode is None:
        return FunctionPlayer(OwnPilot(who))
    return FunctionPlayer(who, action_mode)


class MixedPlayer:
    """Several contestants at the controls, each of some engagements from their start to their end.

    Args:
        outsiders: who they are; of each start it is drawn by their shares who flies it.
        num_envs, seed, greedy, threads, action_mode: as of `player_for`. A single one acts as its
            player of this seed does alone.
        teams: int [num_envs], the team that each of these fighters is of, counted from 0 in their
            order: one of them flies the whole of it. None: each fighter is alone.
    """

    def __init__(
        self,
        outsiders: Sequence[Outsider],
        num_envs: int,
        seed: int,
        greedy: bool = False,
        threads: int = 1,
        action_mode: str | None = None,
        teams: np.ndarray | None = None,
    ) -> None:
        streams = np.random.SeedSequence(seed).spawn(len(outsiders) + 1)
        seeds = [seed]
        if len(outsiders) > 1:
            seeds = [int(stream.generate_state(1, np.uint64)[0]) for stream in streams[1:]]
        self._names = [one.name for one in outsiders]
        self._shares = [one.share for one in outsiders]
        self._random = np.random.default_rng(streams[0])
        self._players = [
            player_for(one.flyer, num_envs, own_seed, greedy, threads, action_mode)
            for one, own_seed in zip(outsiders, seeds, strict=True)
        ]
        self.features = _seen_by_all([player.features for player in self._players])
        self.any_size = all(player.any_size for player in self._players)
        self._teams = np.arange(num_envs) if teams is None else teams
        self._flying = self._drawn(self._teams[-1] + 1)  # [teams], who of them flies it

    def reset(self, envs: np.ndarray) -> None:
        """As `Player.reset`; who flies these engagements next is drawn anew."""
        teams = self._teams[envs]
        anew = list(dict.fromkeys(teams.tolist()))
        self._flying[anew] = self._drawn(len(anew))
        for index, player in enumerate(self._players):
            player.reset(envs[self._flying[teams] == index])

    def act(self, observations: np.ndarray, envs: np.ndarray) -> np.ndarray:
        """As `Player.act`."""
        chosen = np.empty((len(envs), 3), np.float32)
        flying = self._flying[self._teams[envs]]
        for index, player in enumerate(self._players):
            rows = np.flatnonzero(flying == index)
            if len(rows):
                chosen[rows] = player.act(observations[rows], envs[rows])
        return chosen

    def names(self, teams: np.ndarray) -> list[str]:
        """Who flies these teams."""
        return [self._names[index] for index in self._flying[teams]]

    def _drawn(self, count: int) -> np.ndarray:
        return self._random.choice(len(self._shares), count, p=self._shares)


def _seen_by_all(features: Sequence[int]) -> int:
    """The features of the observation in which policies of so many each find theirs."""
    of_sensors = len(RADAR_FEATURES)
    if of_sensors in features and not {*features} <= {0, of_sensors}:
        raise UsageError("a mix has policies of sensing = radar and of sensing = full")
    return max(features)
