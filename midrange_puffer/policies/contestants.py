"""Contestants, loaded by name: scripted pilots, policies, functions, and mixes of them.

torch is imported only if a contestant is a policy.
"""

import reprlib
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np

from midrange_puffer import _core
from midrange_puffer.game.observation import (
    check_commands,
    check_flies,
    check_sees,
    controls_of,
)
from midrange_puffer.game.parameters import SCRIPTED, Parameters
from midrange_puffer.policies.champions import in_game
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
    from typing_extensions import TypeIs

    from midrange_puffer.policies.actors import PolicyModule
    from midrange_puffer.policies.player import Player

# The attributes of a policy that `Player` uses.
_POLICY_ATTRIBUTES = ("forward_eval", "features", "memory_size", "is_continuous")


@dataclass(frozen=True)
class Outsider:
    """A contestant that the core does not fly: a model or a function.

    Attributes:
        name: short name, for tables of scores.
        share: its share among the outsiders, which sum to 1.
        flyer: a policy on the CPU, or a function.
    """

    name: str
    share: float
    flyer: "PolicyModule | Function"

    @property
    def features(self) -> int:
        """Number of features of a fighter's observation that it needs; 0 for a function."""
        return getattr(self.flyer, "features", 0) // self.fighters

    @property
    def fighters(self) -> int:
        """Number of fighters that it commands; 1: it flies a fighter."""
        return getattr(self.flyer, "commanded", 1)

    @property
    def any_size(self) -> bool:
        """True if it flies in teams of any size."""
        return getattr(self.flyer, "any_size", False)


@dataclass(frozen=True, eq=False)
class Mixed:
    """A mix with outsiders. When an engagement starts, one contestant of the mix is drawn.

    Attributes:
        shares: probabilities of the pilots by name, and of all outsiders together as "agent"; they
            sum to 1.
        outsiders: the contestants that the core does not fly.
    """

    shares: dict[str, float]
    outsiders: tuple[Outsider, ...]

    @property
    def title(self) -> str:
        """The names of its contestants."""
        pilots = [name for name in self.shares if name != "agent"]
        return ",".join([*pilots, *(outsider.name for outsider in self.outsiders)])

    def check_observation(self, argument: str, observation: str, features: int, where: str) -> None:
        """Raises UsageError if an observation lacks the features that an outsider needs.

        Args:
            argument: name of the argument that the mix belongs to, for messages.
            observation: the observation's name.
            features: its number of features.
            where: the setting that chose it, for messages.
        """
        for outsider in self.outsiders:
            title = f"{argument} = {outsider.name}"
            if _core.parts_of(observation)[0] in _core.TEAMS:
                check_flies(title, outsider, features)
            else:
                check_sees(title, outsider.features, observation, where)


if TYPE_CHECKING:
    # A pilot or a mix of pilots, a policy on the CPU, a function, or a mix of all these.
    Contestant = str | PolicyModule | Function | Mixed


def load_mix(
    text: str,
    allowed: Sequence[str] = FIGHTERS,
    argument: str = "opponent",
    features: int | None = None,
    game: Parameters = MappingProxyType({}),
) -> Mixed:
    """Loads the outsiders of a mix; SELF and POOL are left to the caller.

    Args:
        text, allowed, argument: as for `parse_mix`.
        features: features of the observations that functions are tried with; None: the caller
            calls `try_out` later.
        game: parameters of the game, whose champion `champion` means.

    Raises:
        ValueError: As for `parse_mix`.
        UsageError: The package has no champion of this game.
        CheckpointError: A model cannot be used.
        OwnCodeError: A function cannot be used.
    """
    shares = parse_mix(in_game(text, game), allowed, argument)
    kinds = {name: kind for name in shares if (kind := kind_of(name)) is not None}
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
    text: str, argument: str = "opponent", game: Parameters = MappingProxyType({})
) -> "Contestant":
    """Loads the contestant that a text names; returns the text if it names pilots only.

    Arguments and errors are those of `load_mix`.
    """
    mixed = load_mix(text, argument=argument, game=game)
    if not mixed.outsiders:
        return text
    is_single = len(mixed.outsiders) == len(mixed.shares) == 1
    return mixed.outsiders[0].flyer if is_single else mixed


def _load(name: str, kind: str, features: int | None = None) -> "PolicyModule | OwnPilot":
    if kind == FUNCTION:
        function = OwnPilot(name)
        if features is not None:
            function.try_out(features)
        return function
    from midrange_puffer.policies.loading import load_policy
    from midrange_puffer.policies.subordinate import check_no_subordinate

    policy, _ = load_policy(file_of(name))
    policy.label = name.removeprefix(FILE)
    check_no_subordinate(name, policy)
    return policy


def try_out(contestants: Iterable["Contestant"], features: int) -> None:
    """Calls each function among the contestants once, with observations of this number of features.

    Raises:
        OwnCodeError: A function fails, or returns no valid actions.
    """
    for contestant in contestants:
        outsiders = contestant.outsiders if isinstance(contestant, Mixed) else ()
        for flyer in (contestant, *(outsider.flyer for outsider in outsiders)):
            if callable(flyer) and not is_module(flyer):
                OwnPilot.of(flyer).try_out(features)


def is_module(value: object) -> "TypeIs[PolicyModule]":
    """True if a value is a torch module; does not import torch."""
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(value, torch.nn.Module)


def _check_policy(argument: str, module: "PolicyModule") -> None:
    """Raises TypeError if a torch module lacks the attributes of a policy."""
    missing = [attribute for attribute in _POLICY_ATTRIBUTES if not hasattr(module, attribute)]
    if missing:
        raise TypeError(
            f"{argument} = {type(module).__name__}: must be a policy as of checkpoint.load_policy; "
            f"this module has no {', '.join(missing)}"
        )


def find_contestant(
    argument: str, value: "Contestant | Path", game: Parameters = MappingProxyType({})
) -> "Contestant":
    """Returns a contestant: policies unchanged, functions checked, all others loaded by name.

    Args:
        argument: name of the argument that `value` belongs to, for messages.
        value: a contestant, a model's file, or a text as described in `mix.py`, without self and
            pool.
        game: as for `load_mix`.

    Raises:
        ValueError: There is no such contestant.
        TypeError: `value` has another type.
        CheckpointError: A file cannot be used.
        OwnCodeError: A function given by name cannot be used.
    """
    if isinstance(value, Path):
        return _load(f"{FILE}{value}", MODEL)
    if isinstance(value, str):
        return load_contestant(value, argument, game)
    if is_module(value):
        _check_policy(argument, value)
        return value
    if isinstance(value, Mixed):
        return value
    if callable(value):
        return OwnPilot.of(value)
    is_pair = isinstance(value, tuple) and value and is_module(value[0])
    hint = "; load_policy returns a pair: policy, about = load_policy(…)" if is_pair else ""
    raise TypeError(
        f"{argument} = {reprlib.repr(value)}: must be a pilot, a model's file, a function's name "
        f"or a mix of them, a policy as of checkpoint.load_policy, or a function of "
        f"observations{hint}"
    )


def player_for(
    contestant: "Contestant",
    num_envs: int,
    seed: int,
    greedy: bool = False,
    threads: int = 1,
    teams: np.ndarray | None = None,
) -> "Player | FunctionPlayer | MixedPlayer":
    """Returns the player of a contestant that the core does not fly.

    Args:
        contestant: a policy, a function or a mix with outsiders.
        num_envs, seed, greedy, threads: as for `Player`.
        teams: as for `MixedPlayer`.
    """
    if isinstance(contestant, Mixed):
        outsiders = contestant.outsiders
        return MixedPlayer(outsiders, num_envs, seed, greedy, threads, teams)
    if is_module(contestant):
        from midrange_puffer.policies.actors import label_of
        from midrange_puffer.policies.player import Player

        if (fighters := getattr(contestant, "commanded", 1)) > 1:
            sizes = np.bincount(np.arange(num_envs) if teams is None else teams)
            for size in np.unique(sizes).tolist():
                check_commands(label_of(contestant), fighters, size)
        return Player(contestant, num_envs, seed, greedy, threads)
    if isinstance(contestant, str):
        raise TypeError(f"{contestant}: is flown by the core")
    return FunctionPlayer(OwnPilot.of(contestant))


class MixedPlayer:
    """Several outsiders, each of which flies some engagements from start to end.

    Args:
        outsiders: the contestants. At each start one is drawn by the shares.
        num_envs, seed, greedy, threads: as for `player_for`. A single outsider acts exactly as its
            own player with this seed would.
        teams: int [num_envs], the team of each fighter, numbered from 0 in ascending order. One
            outsider flies all fighters of a team. None: each fighter is a team.
    """

    def __init__(
        self,
        outsiders: Sequence[Outsider],
        num_envs: int,
        seed: int,
        greedy: bool = False,
        threads: int = 1,
        teams: np.ndarray | None = None,
    ) -> None:
        streams = np.random.SeedSequence(seed).spawn(len(outsiders) + 1)
        seeds = [seed]
        if len(outsiders) > 1:
            seeds = [int(stream.generate_state(1, np.uint64)[0]) for stream in streams[1:]]
        self._names = [outsider.name for outsider in outsiders]
        self._shares = [outsider.share for outsider in outsiders]
        self._random = np.random.default_rng(streams[0])
        self.players = [
            player_for(outsider.flyer, num_envs, own_seed, greedy, threads, teams)
            for outsider, own_seed in zip(outsiders, seeds, strict=True)
        ]
        self._teams = np.arange(num_envs) if teams is None else teams
        self._flying = self._drawn(self._teams[-1] + 1)  # [teams], index of the outsider

    def reset(self, envs: np.ndarray) -> None:
        """Draws the outsiders for these engagements, which start anew, and clears their memory."""
        teams = self._teams[envs]
        starting = list(dict.fromkeys(teams.tolist()))
        self._flying[starting] = self._drawn(len(starting))
        for index, player in enumerate(self.players):
            player.reset(envs[self._flying[teams] == index])

    def act(self, observations: np.ndarray, envs: np.ndarray) -> np.ndarray:
        """Returns the next controls, as `Player.act`."""
        count = controls_of(observations.shape[1]).count
        controls = np.empty((len(envs), count), np.float32)
        flying = self._flying[self._teams[envs]]
        for index, player in enumerate(self.players):
            rows = np.flatnonzero(flying == index)
            if len(rows):
                controls[rows] = player.act(observations[rows], envs[rows])
        return controls

    def names(self, teams: np.ndarray) -> list[str]:
        """Returns the names of the outsiders that fly these teams."""
        return [self._names[index] for index in self._flying[teams]]

    def _drawn(self, count: int) -> np.ndarray:
        return self._random.choice(len(self._shares), count, p=self._shares)
