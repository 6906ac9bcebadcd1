"""Fights between any two contestants: scripted pilots, mixes of them, and policies."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from torch import nn

from midrange_puffer import _core
from midrange_puffer.config.key import check_even
from midrange_puffer.contest.ratings import covariance_within
from midrange_puffer.game.envelope import game_envelope
from midrange_puffer.game.observation import features_of, observation_for
from midrange_puffer.game.parameters import (
    SCRIPTED,
    SEATS,
    checked_num_envs,
    checked_seed,
    checked_threads,
    seat_weights,
    sizes_of,
)
from midrange_puffer.game.records import outcomes
from midrange_puffer.policies.contestants import Mixed, MixedPlayer, player_for, try_out
from midrange_puffer.policies.mix import parse_mix
from midrange_puffer.policies.own_pilot import Function, FunctionPlayer
from midrange_puffer.policies.player import Player, player_seed

# A pilot's name, a mix of pilots as `Midrange` takes it, a policy on the CPU, a function, which is
# given observations float32 [n, features] and returns actions [n, 3], or a mix of all these.
Contestant = str | nn.Module | Function | Mixed
AnyPlayer = Player | FunctionPlayer | MixedPlayer
# Called with the index of a fight, which of its engagements are open, bool [num_envs], what every
# seat sees, float32 [num_envs, fighters, features], and the controls, float32 [num_envs, fighters,
# 3], as `Simulation.step` takes them. All of them change afterwards.
Watch = Callable[[int, np.ndarray, np.ndarray, np.ndarray], None]


@dataclass(frozen=True)
class Fight:
    """Who flies which seat.

    Attributes:
        parameters: of this fight alone, over those of all.
        first: its first engagement of the seed; the others follow.
    """

    red: Contestant
    blue: Contestant
    parameters: Mapping[str, float] = field(default_factory=dict)
    first: int = 0


def play(
    fights: Sequence[Fight],
    num_envs: int,
    seed: int = 0,
    greedy: bool = False,
    progress: Callable[[int], None] = lambda count: None,
    watch: Watch | None = None,
    *,
    threads: int = 1,
    parameters: Mapping[str, float],
) -> list[np.ndarray]:
    """Fight every fight in `num_envs` engagements, each once, to its end.

    All fights of the same `first` have the same starts. They are stepped together, and a policy
    acts for all its seats at once, in however many fights they are; its draws depend on the seed
    and on where in `fights` it first appears.

    Args:
        seed: of the starts and the actions; equal seeds give equal results.
        greedy: policies take the likeliest action instead of drawing one.
        progress: called now and then with the number of engagements ended since.
        watch: called before every decision of a fight.
        threads: that step the engagements and compute the policies; the result does not depend on
            it.
        parameters: a value for every row of csrc/params.h.

    Returns:
        For each fight an array [num_envs] of `_core.RECORD`, engagement by engagement.

    Raises:
        ValueError: An argument of the wrong name, type or range.
        UsageError: A policy of another game.
        OwnCodeError: A function by name fails, or gives what are no actions.
    """
    checked_num_envs(num_envs)
    checked_seed(seed)
    sizes = sizes_of(parameters)
    players = _seat_players(fights, num_envs, seed, greedy, checked_threads(threads), sizes)
    observation = observation_for((player for player, _ in players), parameters)
    features = len(features_of(observation, *sizes))
    try_out((who for fight in fights for who in (fight.red, fight.blue)), features)
    cores = [
        _make_core(fight, num_envs, seed, parameters, observation, threads) for fight in fights
    ]
    shape = (len(fights), num_envs, sum(sizes))
    seen = np.empty((*shape, features), np.float32)
    commands = np.zeros((*shape, 3), np.float32)
    rewards = np.empty(shape, np.float32)
    records = np.empty(shape[:2], _core.RECORD)
    pending = np.ones(shape[:2], bool)
    while pending.any():
        open_fights = np.flatnonzero(pending.any(axis=1))
        if players or watch:
            for index in open_fights:
                cores[index].observe_all(seen[index].reshape(-1, features))
        for player, seats in players:
            _act(player, seats, pending, seen, commands)
        before = pending.sum()
        for index in open_fights:
            if watch:
                watch(index, pending[index], seen[index], commands[index])
            cores[index].step_controls(commands[index], rewards[index])
            ended = cores[index].take_records()
            records[index, ended["env"]] = ended
            pending[index, ended["env"]] = False
        progress(int(before - pending.sum()))
    return list(records)


def half_of(name: str, count: int) -> int:
    """Half of `count` engagements: those in one seat.

    Raises:
        ValueError: It is no even number above 0; the message calls it `name`.
    """
    try:
        check_even(count)
    except ValueError as error:
        raise ValueError(f"{name} = {count!r}: {error}") from None
    return count // 2


def tally(
    as_red: np.ndarray, as_blue: np.ndarray, parts: int | None = None
) -> tuple[int, int, int, float]:
    """What two fights from every start came to, for who sat in red first and in blue then.

    Args:
        as_red, as_blue: records of the same starts.
        parts: equal parts of the starts whose engagements may go alike; None: each start is one.

    Returns:
        Wins, draws, losses, and the `covariance_within` the parts of the points.
    """
    seats = [outcomes(as_red, 0), outcomes(as_blue, 1)]
    counts = (int(sum(seat[name].sum() for seat in seats)) for name in ("win", "draw", "loss"))
    points = np.stack([seat["win"] + seat["draw"] / 2 for seat in seats], axis=1)
    return *counts, covariance_within(points.reshape(parts or len(points), -1))


def _make_core(
    fight: Fight,
    num_envs: int,
    seed: int,
    parameters: Mapping[str, float],
    observation: str,
    threads: int,
) -> _core.Core:
    parameters = {**parameters, **fight.parameters}
    sides = zip((_weights(fight.red), _weights(fight.blue)), sizes_of(parameters), strict=True)
    weights = [side for side, size in sides for _ in range(size)]
    envelope = game_envelope(parameters)
    core = _core.Core(
        parameters, num_envs, seed, weights, False, "auto", envelope, observation, threads
    )
    for env in range(num_envs if fight.first else 0):
        core.start(env, fight.first + env, 0)
    return core


def _weights(who: Contestant) -> list[float]:
    """The core's weights of who flies a seat."""
    if isinstance(who, str):
        return seat_weights(parse_mix(who, (SCRIPTED,)))
    return seat_weights(who.shares if isinstance(who, Mixed) else {"agent": 1.0})


def _seat_players(
    fights: Sequence[Fight],
    num_envs: int,
    seed: int,
    greedy: bool,
    threads: int,
    sizes: tuple[int, int],
) -> list[tuple[AnyPlayer, np.ndarray]]:
    """A player for all but pilots, and its seats: flat in [fights, num_envs, fighters]."""
    places: dict[Contestant, list[tuple[int, int]]] = {}
    for index, fight in enumerate(fights):
        for side, who in enumerate((fight.red, fight.blue)):
            if not isinstance(who, str):
                places.setdefault(who, []).append((index, side))
    shape = (len(fights), num_envs, sum(sizes))
    of_sides = np.split(np.arange(np.prod(shape)).reshape(shape), [sizes[0]], axis=2)
    players = []
    for who, taken in places.items():
        seats = np.concatenate([of_sides[side][index].ravel() for index, side in taken])
        fighters = np.repeat([sizes[side] for _, side in taken], num_envs)
        teams = np.repeat(np.arange(len(fighters)), fighters)
        index, side = taken[0]
        own_seed = player_seed(seed, len(SEATS) * index + side)
        player = player_for(who, len(seats), own_seed, greedy, threads, teams=teams)
        players.append((player, seats))
    return players


def _act(
    player: AnyPlayer,
    seats: np.ndarray,
    pending: np.ndarray,
    seen: np.ndarray,
    commands: np.ndarray,
) -> None:
    """Let a player command those of its seats whose engagement is not over."""
    acting = np.flatnonzero(pending.reshape(-1)[seats // seen.shape[2]])
    if len(acting):
        rows = seats[acting]
        commands.reshape(-1, 3)[rows] = player.act(seen.reshape(-1, seen.shape[-1])[rows], acting)
