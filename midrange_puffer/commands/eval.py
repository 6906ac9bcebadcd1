"""`puffer eval midrange`: how well a trained policy fights, with figures that can be repeated."""

import argparse
import json
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from statistics import fmean

import numpy as np
import torch
from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text
from torch import nn

from midrange_puffer.commands.models import load_models, load_opponent
from midrange_puffer.commands.progress import progress_bar
from midrange_puffer.contest.evaluation import fight, summarize
from midrange_puffer.contest.match import Contestant
from midrange_puffer.errors import UserError, memory_advice
from midrange_puffer.files import write_json
from midrange_puffer.game.parameters import PILOTS, SELF
from midrange_puffer.names import shown
from midrange_puffer.policies.mix import title
from midrange_puffer.replays.recorder import KINDS, FightRecorder, save_instructive


def main(options: argparse.Namespace) -> int:
    """Evaluate, with what `options.eval` has read; return the exit status."""
    torch.set_num_threads(1)  # small batches are slower with more
    path = options.model
    [(policy, model)], parameters = load_models([path], options, teams=True)
    opponents = {name: load_opponent(name, policy) for name in options.opponents}
    if options.render:
        from midrange_puffer.show.view.watch import watch

        watch(policy, path.stem, opponents, options.seed, options.greedy, **parameters)
        return 0
    with memory_advice(
        f"try a smaller one of --episodes {options.episodes}, --threads {options.threads}, "
        f"--save-replays {options.save_replays}"
    ):
        results, replays, mishap = _measure(path, policy, opponents, options, parameters)
    _report(path, model, results, options, parameters)
    if mishap is not None:
        raise mishap
    if options.save_replays:
        where = f"{len(replays)} replays in {shown(options.replay_dir)}"
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
                threads=options.threads,
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
    model: Mapping[str, object],
    results: Mapping[str, dict[str, object]],
    options: argparse.Namespace,
    parameters: Mapping[str, float],
) -> None:
    """Print the results by opponent, and write them where `options` say."""
    episodes, seed, greedy = options.episodes, options.seed, options.greedy
    how = "likeliest actions" if greedy else "actions drawn from the policy"
    who = "each opponent" if len(results) > 1 else shown(*results)
    print(f"{shown(path)}: {episodes} engagements with {who}, half of them in each seat, {how}")
    for line in describe(model):
        print(line)
    Console().print(format_table(results))
    if options.json:
        report = {"model": str(path), "episodes": episodes, "seed": seed, "greedy": greedy}
        report |= {"parameters": parameters, "opponents": results}
        report |= {"mean": mean(results.values())}
        report |= {"panel": model["panel"], "metadata": model["metadata"]}
        write_json(options.json, report)


def describe(model: Mapping[str, object]) -> list[str]:
    """In words, what a model's file says of its rating in training, and the user's own metadata."""
    lines = []
    if (panel := model["panel"]) is not None:
        lines.append(
            f"rated in training: panel score {panel['score']:.3f}, the least "
            f"{panel['worst_score']:.3f} against {shown(panel['worst_pilot'])}, {panel['games']} "
            "engagements with each pilot"
        )
    if model["metadata"]:
        pairs = (
            f"{name}={value if isinstance(value, str) else json.dumps(value)}"
            for name, value in model["metadata"].items()
        )
        lines.append(f"metadata: {shown(', '.join(pairs))}")
    return lines


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
    own = shown(model.stem)
    enemy = None if isinstance(opponent, str) else own if name == SELF else shown(title(name))
    meta = {"model": shown(model), "opponent": shown(name), "greedy": options.greedy}
    return tuple(
        FightRecorder(names, options.episodes // 2, options.seed, parameters, meta)
        for names in ((own, enemy), (enemy, own))
    )


def format_table(results: Mapping[str, dict[str, object]]) -> Table:
    """The results of `evaluate` by opponent, as a table for rich to print."""
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, padding=0, leading=1)
    longest = max(map(len, PILOTS))  # of another the line above the table has the whole name
    table.add_column("opponent", no_wrap=True, min_width=longest, max_width=longest)
    for heading in ("win", "draw", "loss"):
        table.add_column(f"{heading} %\n95 % c.i.", justify="right", no_wrap=True)
    for heading in ("\nscore", "\nshots", "hits\n%", "range\nkm", "time\ns", "mutual\nkill %"):
        table.add_column(heading, justify="right", no_wrap=True)
    for name, result in results.items():
        _add_row(table, title(name), result)
    if len(results) > 1:
        table.add_section()
        _add_row(table, "mean", mean(results.values()))
    return table


def _add_row(table: Table, name: str, result: Mapping[str, object]) -> None:
    table.add_row(
        Text(shown(name)),
        *(format_share(result, outcome) for outcome in ("win", "draw", "loss")),
        f"{result['score']:.3f}",
        f"{result['shots']:.2f}",
        _optional(result["hit_rate"], 100),
        _optional(result["launch_range"], 1e-3),
        f"{result['length']:.0f}",
        f"{100 * result['mutual_kill']:.1f}",
    )


def mean(results: Collection[Mapping[str, object]]) -> dict[str, float | None]:
    """The means of what `evaluate` returns over opponents, each counting alike; no intervals.

    Where only some have a figure, as the range of shots, it is the mean of theirs.
    """
    names = ("win", "draw", "loss", "score", "shots", "hit_rate", "launch_range", "length")
    means = {}
    for name in (*names, "mutual_kill"):
        values = [result[name] for result in results if result[name] is not None]
        means[name] = fmean(values) if values else None
    return means


def format_share(result: Mapping[str, object], outcome: str) -> str:
    """The share of an outcome in percent, and below it its 95 % interval, in little room."""
    shares = f"{100 * result[outcome]:.1f}"
    if f"{outcome}_ci95" in result:
        low, high = result[f"{outcome}_ci95"]
        shares += f"\n{100 * low:.1f}–{100 * high:.1f}"
    return shares.replace("100.0", "100")


def _optional(value: float | None, factor: float) -> str:
    return "–" if value is None else f"{value * factor:.1f}"
