"""`puffer eval midrange`: how well a trained policy fights, with figures that can be repeated."""

import argparse
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import numpy as np
import torch
from rich import box
from rich.console import Console
from rich.table import Table
from torch import nn

from midrange_puffer.commands.arguments import OPPONENT, Parser, load_model, load_opponent, progress_bar
from midrange_puffer.errors import UsageError, UserError
from midrange_puffer.replays.recorder import KINDS, FightRecorder, save_instructive
from midrange_puffer.files import open_folder, write_json
from midrange_puffer.config.key import Key, check_even
from midrange_puffer.contest.match import Contestant, Fight, Watch, half_of, play, tally
from midrange_puffer.game.parameters import ALL, PILOTS, SELF, resolve
from midrange_puffer.contest.ratings import score_interval, start_covariance
from midrange_puffer.game.records import outcomes
from midrange_puffer.show.view import require_pygame


def main(argv: Sequence[str]) -> int:
    """Evaluate, with the words after `puffer eval midrange`; return the exit status."""
    options = _parser().read(argv)
    if options.render and (options.save_replays or options.json):
        raise UsageError(
            "command line: --render measures nothing: neither --save-replays nor --json go with it"
        )
    torch.set_num_threads(1)  # small batches are slower with more
    path, policy, parameters = load_model(options)
    names = PILOTS if options.opponent == ALL else (options.opponent,)
    opponents = {name: load_opponent(name, policy) for name in names}
    if options.render:
        require_pygame()
        from midrange_puffer.show.view.watch import watch

        watch(policy, path.stem, opponents, options.seed, options.greedy, **parameters)
        return 0
    if options.save_replays:
        open_folder(Path(options.replay_dir))
    results, replays, mishap = _measure(path, policy, opponents, options, parameters)
    _report(path, results, options, parameters)
    if mishap is not None:
        raise mishap
    if options.save_replays:
        where = f"{len(replays)} replays in {options.replay_dir}"
        print(f"{where}, each flown again from its file: all bit-exact")
    return 0


def _measure(
    path: Path,
    policy: nn.Module,
    opponents: Mapping[str, Contestant],
    options: argparse.Namespace,
    parameters: Mapping[str, float],
) -> tuple[dict[str, dict[str, object]], list[Path], Exception | None]:
    """Fight the opponents, one after another.

    Returns:
        What `summarize` returns for each; the replays that were kept; and why not all of them were,
        which is to be raised when nothing else can be lost by it.
    """
    results, replays, mishap = {}, [], None
    for name, opponent in opponents.items():
        recorders = _recorders(path, name, opponent, options, parameters)
        with progress_bar(name, options.episodes) as advance:
            records = fight(
                policy,
                opponent,
                options.episodes,
                options.seed,
                options.greedy,
                advance,
                recorders,
                parameters=parameters,
            )
        results[name] = summarize(records, parameters)
        if options.save_replays:
            try:
                replays += _save_replays(path, name, recorders, records, options)
            except (UserError, RuntimeError) as error:
                mishap = error
    return results, replays, mishap


def _save_replays(
    path: Path,
    name: str,
    recorders: Sequence[FightRecorder],
    records: Sequence[np.ndarray],
    options: argparse.Namespace,
) -> list[Path]:
    """Save those of the fights with an opponent that are worth a look."""
    count, folder = options.save_replays, Path(options.replay_dir)
    who = f"{path.resolve().parent.name}_{path.stem}"
    total = min(len(KINDS) * count, options.episodes)
    with progress_bar(f"{name}: replays", total) as advance:
        return save_instructive(recorders, records, count, folder, who, advance)


def _report(
    path: Path,
    results: Mapping[str, dict[str, object]],
    options: argparse.Namespace,
    parameters: Mapping[str, float],
) -> None:
    """Print the results by opponent, and write them where `options` say."""
    episodes, seed, greedy = options.episodes, options.seed, options.greedy
    how = "likeliest actions" if greedy else "actions drawn from the policy"
    print(f"{path}: {episodes} engagements an opponent, half of them in each seat, {how}")
    Console().print(format_table(results))
    if options.json:
        report = {"model": str(path), "episodes": episodes, "seed": seed, "greedy": greedy}
        report |= {"parameters": parameters, "opponents": results}
        write_json(options.json, report)


def _recorders(
    model: Path,
    name: str,
    opponent: Contestant,
    options: argparse.Namespace,
    parameters: Mapping[str, float],
) -> tuple[FightRecorder | None, ...]:
    """Of the engagements with an opponent as red and as blue; None if no replays are wanted."""
    if not options.save_replays:
        return None, None
    own = model.stem
    enemy = None if isinstance(opponent, str) else own if name == SELF else Path(name).stem
    meta = {"model": str(model), "opponent": name, "greedy": options.greedy}
    return tuple(
        FightRecorder(names, options.episodes // 2, options.seed, parameters, meta)
        for names in ((own, enemy), (enemy, own))
    )


def evaluate(
    policy: nn.Module,
    opponent: Contestant,
    episodes: int = 1000,
    seed: int = 0,
    greedy: bool = False,
    progress: Callable[[int], None] = lambda count: None,
    **parameters: float,
) -> dict[str, object]:
    """Let a policy fight `episodes` engagements, half of them as red, half as blue.

    Both halves have the same starts. Every start is fought once, to its end, so that short
    engagements do not count for more. Actions are drawn with a seed for each seat, whoever sits
    there; a policy against itself draws those of both seats with one. It then scores exactly 0.5.

    Args:
        policy: on the CPU.
        opponent: a pilot or a mix of pilots, as `Midrange` takes them, or another policy.
        episodes: an even number.
        seed: of the starts and the actions; equal seeds give equal results.
        greedy: take the likeliest action instead of drawing one.
        progress: called now and then with the number of engagements ended since.
        **parameters: rows of csrc/params.h.

    Returns:
        win, draw, loss: shares; score (win 1, draw 0.5); win_ci95, draw_ci95, loss_ci95,
        score_ci95: their 95 % intervals [low, high], in which the two engagements from a start are
        not taken for independent; mutual_kill and truncated: shares; shots,
        hits, shots_against, hits_against: means an engagement; hit_rate (hits / shots) and
        launch_range [m], and the shares of the shots from R_min to R_NEZ, from there to R_aero, and
        beyond that or nearer than R_min (in_nez_share, between_share, wasted_share), None without a
        shot; length [s].

    Raises:
        ValueError: An argument of the wrong name, type or range.
    """
    parameters = resolve(parameters)
    records = fight(policy, opponent, episodes, seed, greedy, progress, parameters=parameters)
    return summarize(records, parameters)


def fight(
    policy: nn.Module,
    opponent: Contestant,
    episodes: int,
    seed: int,
    greedy: bool,
    progress: Callable[[int], None],
    watches: Sequence[Watch | None] = (None, None),
    *,
    parameters: Mapping[str, float],
) -> list[np.ndarray]:
    """The engagements of `evaluate`: arrays of `_core.RECORD`, as red and as blue.

    Args:
        watches: of the engagements as red and as blue.
    """
    half = half_of("episodes", episodes)
    return [
        play([fight], half, seed, greedy, progress, watch, parameters=parameters)[0]
        for fight, watch in zip(
            (Fight(policy, opponent), Fight(opponent, policy)), watches, strict=True
        )
    ]


def format_table(results: Mapping[str, dict[str, object]]) -> Table:
    """The results of `evaluate` by opponent, as a table for rich to print."""
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, padding=0, leading=1)
    table.add_column("opponent", overflow="fold", min_width=max(map(len, PILOTS)))
    for heading in ("win", "draw", "loss"):
        table.add_column(f"{heading} %\n95 % c.i.", justify="right", no_wrap=True)
    for heading in ("\nscore", "\nshots", "hits\n%", "range\nkm", "time\ns", "mutual\nkill %"):
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
    """The share of an outcome in percent, and below it its 95 % interval, in little room."""
    low, high = result[f"{outcome}_ci95"]
    return f"{100 * result[outcome]:.1f}\n{100 * low:.1f}–{100 * high:.1f}".replace("100.0", "100")


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
    parser.add_key(
        Key("save_replays", int, "replays kept of each kind and opponent: lost, closest (won or "
            "drawn, where a missile passed nearest), longest and first engagements", 0, 0, 1000)
    )  # fmt: skip
    parser.add_key(Key("replay_dir", str, "the folder that they are written to", "replays"))
    parser.add_key(
        Key("render", bool, "instead of measuring show the fights in a window, one after another")
    )
    parser.add_json()
    parser.add_game()
    return parser


def summarize(records: Sequence[np.ndarray], parameters: Mapping[str, float]) -> dict[str, object]:
    """What `evaluate` returns, of the records as red and as blue."""
    as_red, as_blue = (outcomes(half, seat) for seat, half in enumerate(records))
    result: dict[str, object] = {}
    for name, red in as_red.items():
        result[name], result[f"{name}_ci95"] = _share(red, as_blue[name])
    result["score"] = result["win"] + result["draw"] / 2
    result["score_ci95"] = [float(end) for end in score_interval(*tally(*records))]
    seats = np.repeat((0, 1), [len(half) for half in records])
    records = np.concatenate(records)
    for name in ("mutual_kill", "truncated"):
        result[name] = float(records[name].mean())
    rows = np.arange(len(records))
    for name in ("shots", "hits"):
        result[name] = float(records[name][rows, seats].mean())
        result[f"{name}_against"] = float(records[name][rows, 1 - seats].mean())
    launch_range = float(records["launch_range"][rows, seats].mean(dtype=float))
    shots = result["shots"]
    result["hit_rate"] = result["hits"] / shots if shots else None
    result["launch_range"] = launch_range / shots if shots else None
    result |= _shot_shares(records, seats)
    decision = parameters["physics_dt"] * parameters["substeps"]
    result["length"] = float(records["decisions"].mean()) * decision
    return result


def _shot_shares(records: np.ndarray, seats: np.ndarray) -> dict[str, float | None]:
    """The shares of all shots of these seats by the missile envelope."""
    rows = np.arange(len(records))
    shots, in_nez, wasted = (
        int(records[name][rows, seats].sum()) for name in ("shots", "shots_in_nez", "shots_wasted")
    )
    counts = {"in_nez": in_nez, "between": shots - in_nez - wasted, "wasted": wasted}
    return {f"{name}_share": n / shots if shots else None for name, n in counts.items()}


def _share(red: np.ndarray, blue: np.ndarray) -> tuple[float, list[float]]:
    """The share of what is true, of bools [starts] of either seat, and its 95 % interval."""
    total, count = len(red) + len(blue), int(red.sum() + blue.sum())
    ends = score_interval(count, 0, total - count, start_covariance(red, blue))
    return count / total, [float(end) for end in ends]


def _optional(value: float | None, factor: float) -> str:
    return "–" if value is None else f"{value * factor:.1f}"
