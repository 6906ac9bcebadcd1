"""`puffer eval midrange`: how well a trained policy fights, with figures that can be repeated."""

import json
import math
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import torch
from rich import box
from rich.console import Console
from rich.progress import Progress
from rich.table import Table
from torch import nn

from midrange_puffer.arguments import OPPONENT, Parser, load_model, load_opponent
from midrange_puffer.env import Midrange
from midrange_puffer.files import write_whole
from midrange_puffer.parameters import PILOTS, SEATS, SELF, checked_seed, resolve
from midrange_puffer.player import Player, player_seed
from midrange_puffer.schema import Key

ALL = "all"
Z95 = 1.959964  # standard normal quantile of 97.5 %
_RED_WINS, _DRAW = 1, 3  # MrOutcome; blue's win is 2


def main(argv: Sequence[str]) -> int:
    """Evaluate, with the words after `puffer eval midrange`; return the exit status."""
    options = _parser().read(argv)
    torch.set_num_threads(1)  # small batches are slower with more
    path, policy, parameters = load_model(options)
    names = PILOTS if options.opponent == ALL else (options.opponent,)
    opponents = {name: load_opponent(name, policy) for name in names}
    episodes, seed, greedy = options.episodes, options.seed, options.greedy
    results = {}
    with Progress(console=Console(stderr=True), transient=True) as progress:
        for name, opponent in opponents.items():
            task = progress.add_task(name, total=episodes)
            results[name] = evaluate(
                policy,
                opponent,
                episodes,
                seed,
                greedy,
                lambda count, task=task: progress.advance(task, count),
                **parameters,
            )
    report = {"model": str(path), "episodes": episodes, "seed": seed, "greedy": greedy}
    report |= {"parameters": parameters, "opponents": results}
    how = "likeliest actions" if greedy else "actions drawn from the policy"
    print(f"{path}: {episodes} engagements an opponent, half of them in each seat, {how}")
    Console().print(format_table(results))
    if options.json:
        write_whole(Path(options.json), (json.dumps(report, indent=2) + "\n").encode())
    return 0


def evaluate(
    policy: nn.Module,
    opponent: str | nn.Module,
    episodes: int = 1000,
    seed: int = 0,
    greedy: bool = False,
    progress: Callable[[int], None] = lambda count: None,
    **parameters: float,
) -> dict[str, object]:
    """Let a policy fight `episodes` engagements, half of them as red, half as blue.

    Both halves have the same starts. Every start is fought once, to its end, so that short
    engagements do not count for more. Actions are drawn with a seed for each seat, whoever sits
    there: a policy against itself scores exactly 0.5.

    Args:
        policy: on the CPU.
        opponent: a pilot or a mix of pilots, as `Midrange` takes them, or another policy.
        episodes: an even number.
        seed: of the starts and the actions; equal seeds give equal results.
        greedy: take the likeliest action instead of drawing one.
        progress: called now and then with the number of engagements ended since.
        **parameters: rows of csrc/params.h.

    Returns:
        win, draw, loss: shares, and win_ci95, draw_ci95, loss_ci95: their Wilson intervals [low,
        high]; score (win 1, draw 0.5); mutual_kill and truncated: shares; shots, hits,
        shots_against, hits_against: means an engagement; hit_rate (hits / shots) and launch_range
        [m], None without a shot; length [s].

    Raises:
        ValueError: An argument of the wrong name, type or range.
    """
    check_even(episodes)
    checked_seed(seed)
    parameters = resolve(parameters)
    half = episodes // 2
    records = np.concatenate(
        [_play(policy, opponent, seat, half, seed, greedy, progress, parameters) for seat in (0, 1)]
    )
    return _summary(records, np.repeat((0, 1), half), parameters)


def check_even(episodes: int) -> None:
    """Raise ValueError where they cannot be divided between the seats."""
    if episodes < 2 or episodes % 2:
        raise ValueError("must be an even number above 0: half of them in each seat")


def wilson(count: int, total: int) -> list[float]:
    """95 % interval [low, high] of a share seen `count` times in `total`.

    Wilson's score interval (Wilson 1927), good for shares near 0 and 1 as well.
    """
    z2 = Z95**2
    spread = Z95 * math.sqrt(count * (total - count) / total + z2 / 4)
    ends = (count + z2 / 2 - spread, count + z2 / 2 + spread)
    return [min(max(end / (total + z2), 0.0), 1.0) for end in ends]


def format_table(results: dict[str, dict[str, object]]) -> Table:
    """The results of `evaluate` by opponent, as a table for rich to print."""
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, padding=0, leading=1)
    table.add_column("opponent", overflow="fold", min_width=8)
    for heading in ("win", "draw", "loss"):
        table.add_column(f"{heading} %\n95 % c.i.", justify="right", no_wrap=True)
    for heading in ("\nscore", "\nshots", "hits\n%", "launch\nkm", "length\ns", "mutual\nkills %"):
        table.add_column(heading, justify="right", no_wrap=True)
    for name, result in results.items():
        table.add_row(
            name,
            *(format_share(result, outcome) for outcome in ("win", "draw", "loss")),
            f"{result['score']:.3f}",
            f"{result['shots']:.2f}",
            _optional(result["hit_rate"], 100),
            _optional(result["launch_range"], 1e-3),
            f"{result['length']:.0f}",
            f"{100 * result['mutual_kill']:.1f}",
        )
    return table


def format_share(result: dict[str, object], outcome: str) -> str:
    """The share of an outcome in percent, and below it its 95 % interval."""
    low, high = result[f"{outcome}_ci95"]
    return f"{100 * result[outcome]:.1f}\n{100 * low:.1f}–{100 * high:.1f}"


def _parser() -> Parser:
    parser = Parser(
        "eval",
        "Measure a trained policy in the game it was trained for, against the pilots of the "
        "parameter table, whatever they were in training.",
    )
    parser.add_model()
    parser.add_key(Key("opponent", str, f"{OPPONENT}, or all: each pilot in turn", ALL))
    parser.add_key(
        Key("episodes", int, "engagements an opponent", 1000, 2, 2_000_000, check=check_even)
    )
    parser.add_key(Key("seed", int, "of the starts and the actions", 0, 0, 2**63 - 1))
    parser.add_key(Key("greedy", bool, "take the likeliest action instead of drawing one"))
    parser.add_key(Key("json", str, "write the results to this file, too", None))
    parser.add_game()
    return parser


def _play(
    policy: nn.Module,
    opponent: str | nn.Module,
    seat: int,
    num_envs: int,
    seed: int,
    greedy: bool,
    progress: Callable[[int], None],
    parameters: dict[str, float],
) -> np.ndarray:
    """Records of the first engagement of each lane, the policy in `seat`."""
    if isinstance(opponent, str):
        env = Midrange(num_envs, opponent, SEATS[seat], seed, **parameters)
        crew = {seat: policy}
    else:
        env = Midrange(num_envs, SELF, seed=seed, **parameters)
        crew = {seat: policy, 1 - seat: opponent}
    players = [
        Player(crew[place], num_envs, player_seed(seed, place), greedy) for place in sorted(crew)
    ]
    observations, _ = env.reset()
    seen = observations.reshape(num_envs, len(players), -1)
    actions = np.zeros((num_envs, len(players), env.single_action_space.shape[0]), np.int32)
    pending = np.arange(num_envs)
    records = []
    while len(pending):
        for index, player in enumerate(players):
            actions[pending, index] = player.act(seen[pending, index], pending)
        ended = env.step_records(actions.reshape(env.num_agents, -1))
        records.append(ended[np.isin(ended["env"], pending)])
        pending = np.setdiff1d(pending, ended["env"])
        progress(len(records[-1]))
    env.close()
    return np.concatenate(records)


def _summary(
    records: np.ndarray, seats: np.ndarray, parameters: dict[str, float]
) -> dict[str, object]:
    """What `evaluate` returns, of records [episodes] and the policy's seat in each."""
    total = len(records)
    outcomes = {
        "win": records["outcome"] == _RED_WINS + seats,
        "draw": records["outcome"] == _DRAW,
        "loss": records["outcome"] == _RED_WINS + 1 - seats,
    }
    counts = {name: int(seen.sum()) for name, seen in outcomes.items()}
    result: dict[str, object] = {name: count / total for name, count in counts.items()}
    result |= {f"{name}_ci95": wilson(count, total) for name, count in counts.items()}
    result["score"] = result["win"] + result["draw"] / 2
    for name in ("mutual_kill", "truncated"):
        result[name] = float(records[name].mean())
    rows = np.arange(total)
    for name in ("shots", "hits"):
        result[name] = float(records[name][rows, seats].mean())
        result[f"{name}_against"] = float(records[name][rows, 1 - seats].mean())
    launch_range = float(records["launch_range"][rows, seats].mean(dtype=float))
    shots = result["shots"]
    result["hit_rate"] = result["hits"] / shots if shots else None
    result["launch_range"] = launch_range / shots if shots else None
    decision = parameters["physics_dt"] * parameters["substeps"]
    result["length"] = float(records["decisions"].mean()) * decision
    return result


def _optional(value: float | None, factor: float) -> str:
    return "–" if value is None else f"{value * factor:.1f}"
