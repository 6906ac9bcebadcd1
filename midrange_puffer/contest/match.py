"""Fights between any contestants: scripted pilots, mixes, policies and functions; round robins."""

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from torch import nn

from midrange_puffer import _core
from midrange_puffer.config.key import check_even
from midrange_puffer.contest.ratings import (
    ANCHOR_GAMES,
    ANCHORS,
    GAMES,
    Pairing,
    Payoffs,
    covariance_within,
)
from midrange_puffer.game.envelope import core_map
from midrange_puffer.game.flown_types import flown_types
from midrange_puffer.game.observation import features_of, observation_for
from midrange_puffer.game.orders import carry_out, orders_in
from midrange_puffer.game.parameters import (
    SCRIPTED,
    SEATS,
    checked_num_envs,
    checked_seed,
    checked_threads,
    game_controls,
    seat_weights,
    sizes_of,
)
from midrange_puffer.game.records import outcomes
from midrange_puffer.policies.contestants import Mixed, MixedPlayer, player_for, try_out
from midrange_puffer.policies.mix import parse_mix
from midrange_puffer.policies.own_pilot import Function, FunctionPlayer
from midrange_puffer.policies.player import Player, player_seed

# A pilot's name, a mix of pilots as for `Midrange`, a policy on the CPU, a function (observations
# float32 [n, features] -> actions [n, controls]), or a mix of all these.
Contestant = str | nn.Module | Function | Mixed
AnyPlayer = Player | FunctionPlayer | MixedPlayer
# A function that `play` calls with
# * the index of a fight,
# * its engagements that have not ended, bool [num_envs],
# * their observations, float32 [num_envs, fighters, features],
# * their controls as for `Simulation.step`, float32 [num_envs, fighters, controls],
# * the orders that these controls follow, as levels int32 [num_envs, fighters, heads]; -1: none.
# `play` overwrites these arrays after the call.
Watch = Callable[[int, np.ndarray, np.ndarray, np.ndarray, np.ndarray], None]
# A function that `play` calls before the first decision of a fight and after every one with
# * the index of the fight,
# * its core, whose ended engagements fly on,
# * the controls of the decision, as for a `Watch`; None before the first one,
# * its rewards, float32 [num_envs, fighters].
Follow = Callable[[int, _core.Core, np.ndarray | None, np.ndarray], None]


@dataclass(frozen=True)
class Fight:
    """The contestants of a fight, red and blue.

    Attributes:
        parameters: values for this fight, in place of the common ones.
        first: number of its first engagement of the seed. The others are the numbers that follow.
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
    follow: Follow | None = None,
    *,
    threads: int = 1,
    parameters: Mapping[str, float],
) -> list[np.ndarray]:
    """Flies every fight in `num_envs` engagements, each once, to its end.

    Fights with the same `first` have the same starts. All fights are stepped together. A policy
    that flies in several seats or fights acts for all of them in one call; its drawn actions depend
    on the seed and on its first place in `fights`.

    Args:
        fights: the contestants of each fight.
        num_envs: number of engagements of each fight.
        seed: seed of the starts and the actions; equal seeds give equal results.
        greedy: True if policies take the likeliest action instead of drawing one.
        progress: called after each decision with the number of engagements that ended in it.
        watch: called before every decision of a fight.
        follow: called before the first and after every decision of a fight.
        threads: number of threads that step the engagements and compute the policies; the result
            does not depend on it.
        parameters: a value for every row of csrc/params.h.

    Returns:
        For each fight an array [num_envs] of `_core.RECORD`, in the order of the engagements.

    Raises:
        ValueError: An argument has a wrong name, type or range.
        UsageError: A policy was trained for another game.
        OwnCodeError: A function given by name fails, or does not return actions.
    """
    checked_num_envs(num_envs)
    checked_seed(seed)
    sizes = sizes_of(parameters)
    players = _seat_players(fights, num_envs, seed, greedy, checked_threads(threads), sizes)
    observation = observation_for(_single(player for player, _ in players), parameters)
    features = len(features_of(observation, *sizes))
    try_out((contestant for fight in fights for contestant in (fight.red, fight.blue)), features)
    cores = [
        _make_core(fight, num_envs, seed, parameters, observation, threads) for fight in fights
    ]
    shape = (len(fights), num_envs, sum(sizes))
    seen = np.empty((*shape, features), np.float32)
    controls = game_controls(parameters).count
    commands = np.zeros((*shape, controls), np.float32)
    rewards = np.empty(shape, np.float32)
    records = np.empty(shape[:2], _core.RECORD)
    pending = np.ones(shape[:2], bool)
    for index, core in enumerate(cores):
        if follow:
            follow(index, core, None, rewards[index])
    while pending.any():
        open_fights = np.flatnonzero(pending.any(axis=1))
        if players or watch:
            for index in open_fights:
                cores[index].observe_all(seen[index].reshape(-1, features))
        for player, seats in players:
            _act(player, seats, pending, seen, commands)
        before = pending.sum()
        for index in open_fights:
            orders = orders_in(commands[index]) if watch else None
            carry_out(cores[index], commands[index])
            if watch and orders is not None:
                watch(index, pending[index], seen[index], commands[index], orders)
            cores[index].step_controls(commands[index], rewards[index])
            ended = cores[index].take_records()
            records[index, ended["env"]] = ended
            pending[index, ended["env"]] = False
            if follow:
                follow(index, cores[index], commands[index], rewards[index])
        progress(int(before - pending.sum()))
    return list(records)


def half_of(name: str, count: int) -> int:
    """Returns half of `count`: the number of engagements in one seat.

    Args:
        name: name of the argument, for the error message.
        count: number of engagements in both seats.

    Raises:
        ValueError: `count` is not an even number above 0.
    """
    try:
        check_even(count)
    except ValueError as error:
        raise ValueError(f"{name} = {count!r}: {error}") from None
    return count // 2


def tally(
    as_red: np.ndarray, as_blue: np.ndarray, parts: int | None = None
) -> tuple[int, int, int, float]:
    """Counts the results of a contestant that fought every start twice, as red and as blue.

    Args:
        as_red, as_blue: records of the same starts.
        parts: number of equal parts of the starts. The results within a part may be correlated.
            None: each start is a part.

    Returns:
        Wins, draws, losses, and `covariance_within` the parts, of the points (win 1, draw 0.5).
    """
    seats = [outcomes(as_red, 0), outcomes(as_blue, 1)]
    wins, draws, losses = (
        int(sum(seat[name].sum() for seat in seats)) for name in ("win", "draw", "loss")
    )
    points = np.stack([seat["win"] + seat["draw"] / 2 for seat in seats], axis=1)
    return wins, draws, losses, covariance_within(points.reshape(parts or len(points), -1))


def meet(
    pairs: Sequence[tuple[str, str]],
    players: Mapping[str, Contestant],
    games: int,
    seed: int = 0,
    greedy: bool = False,
    progress: Callable[[int], None] = lambda count: None,
    *,
    threads: int = 1,
    parameters: Mapping[str, float],
) -> list[Pairing]:
    """Flies `games` engagements, an even number, between the players of each pair.

    Every start is fought twice, the second time with the seats exchanged. All pairs have the same
    starts. The other arguments are those of `play`.

    Raises:
        ValueError: An argument has a wrong name, type or range.
    """
    half = half_of("games", games)
    there = [Fight(players[first], players[second]) for first, second in pairs]
    back = [Fight(fight.blue, fight.red) for fight in there]
    records = play(
        there + back, half, seed, greedy, progress, threads=threads, parameters=parameters
    )
    halves = zip(pairs, records[: len(pairs)], records[len(pairs) :], strict=True)
    return [Pairing(*pair, *tally(as_red, as_blue)) for pair, as_red, as_blue in halves]


def round_robin(
    players: Mapping[str, Contestant],
    games: int = GAMES,
    seed: int = 0,
    greedy: bool = False,
    progress: Callable[[int], None] = lambda count: None,
    *,
    threads: int = 1,
    parameters: Mapping[str, float],
) -> list[Pairing]:
    """Flies `games` engagements between every two of the players; arguments as in `meet`."""
    names = list(players)
    pairings = []
    for place, name in enumerate(names):
        pairs = [(name, other) for other in names[:place]]
        pairings += meet(
            pairs, players, games, seed, greedy, progress, threads=threads, parameters=parameters
        )
    return pairings


def rate_pilots(parameters: Mapping[str, float], threads: int = 1) -> dict[str, float]:
    """Returns the ratings of the pilots in ANCHORS, from a round robin among them.

    The ratings are in whole points, and their mean is 1000.

    Prints a line first, because the round robin may take a while.
    """
    print(f"rating the pilots in this game, {ANCHOR_GAMES} engagements a pairing", file=sys.stderr)
    pilots = {pilot: pilot for pilot in ANCHORS}
    pairings = round_robin(pilots, ANCHOR_GAMES, threads=threads, parameters=parameters)
    ratings, _ = Payoffs([*ANCHORS], pairings).rate({})
    return dict(zip(ANCHORS, ratings.round().tolist(), strict=True))


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
    envelope = core_map(parameters)
    core = _core.Core(
        parameters, num_envs, seed, weights, False, "auto", envelope, observation, threads,
        flown_types(parameters),
    )  # fmt: skip
    for env in range(num_envs if fight.first else 0):
        core.start(env, fight.first + env, 0)
    return core


def _weights(contestant: Contestant) -> list[float]:
    """Returns the core's weights of the controllers for a seat of this contestant."""
    if isinstance(contestant, str):
        return seat_weights(parse_mix(contestant, (SCRIPTED,)))
    return seat_weights(contestant.shares if isinstance(contestant, Mixed) else {"agent": 1.0})


def _seat_players(
    fights: Sequence[Fight],
    num_envs: int,
    seed: int,
    greedy: bool,
    threads: int,
    sizes: tuple[int, int],
) -> list[tuple[AnyPlayer, np.ndarray]]:
    """Returns a player for each contestant that is not a pilot, with its seats in all fights.

    The seats are flat indices into arrays [fights, num_envs, fighters].
    """
    places: dict[Contestant, list[tuple[int, int]]] = {}
    for index, fight in enumerate(fights):
        for side, contestant in enumerate((fight.red, fight.blue)):
            if not isinstance(contestant, str):
                places.setdefault(contestant, []).append((index, side))
    shape = (len(fights), num_envs, sum(sizes))
    side_seats = np.split(np.arange(np.prod(shape)).reshape(shape), [sizes[0]], axis=2)
    players = []
    for contestant, taken in places.items():
        seats = np.concatenate([side_seats[side][index].ravel() for index, side in taken])
        fighters = np.repeat([sizes[side] for _, side in taken], num_envs)
        teams = np.repeat(np.arange(len(fighters)), fighters)
        index, side = taken[0]
        own_seed = player_seed(seed, len(SEATS) * index + side)
        player = player_for(contestant, len(seats), own_seed, greedy, threads, teams=teams)
        players.append((player, seats))
    return players


def _single(players: Iterable[AnyPlayer]) -> Iterator[Player | FunctionPlayer]:
    """Yields the players, those of a mix one by one."""
    for player in players:
        if isinstance(player, MixedPlayer):
            yield from _single(player.players)
        else:
            yield player


def _act(
    player: AnyPlayer,
    seats: np.ndarray,
    pending: np.ndarray,
    seen: np.ndarray,
    commands: np.ndarray,
) -> None:
    """Writes a player's commands for those of its seats whose engagement has not ended."""
    acting = np.flatnonzero(pending.reshape(-1)[seats // seen.shape[2]])
    if len(acting):
        rows = seats[acting]
        controls = player.act(seen.reshape(-1, seen.shape[-1])[rows], acting)
        commands.reshape(-1, commands.shape[-1])[rows] = controls
