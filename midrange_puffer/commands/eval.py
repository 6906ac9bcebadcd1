"""`puffer eval midrange`: results of a trained policy against opponents, repeatable by the seed."""

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, Any

import numpy as np

from midrange_puffer.commands import option, telemetry
from midrange_puffer.commands.models import (
    OPPONENT,
    find_opponent,
    load_models,
    load_opponent,
    model_path,
    threads_of,
)
from midrange_puffer.commands.progress import progress_bar
from midrange_puffer.commands.tables import format_optional
from midrange_puffer.config.key import check_even
from midrange_puffer.errors import UsageError, UserError, memory_advice, require
from midrange_puffer.files import open_folder, write_results
from midrange_puffer.game.parameters import ALL, PILOTS, SELF
from midrange_puffer.names import shown
from midrange_puffer.policies.champions import chosen_in_game
from midrange_puffer.policies.mix import title

if TYPE_CHECKING:
    from rich.table import Table
    from torch import nn

    from midrange_puffer.contest.match import Contestant
    from midrange_puffer.replays.recorder import FightRecorder


DESCRIPTION = (
    "Measure a trained policy. The game is the one that the policy was trained for. The pilots "
    "are those of the parameter table, even if training changed them."
)


@dataclass(frozen=True, kw_only=True)
class Options:
    """Options of this mode, the `model`'s path and the names of the `opponents`."""

    load_model_path: str = option.load_model_path()
    data_dir: str = option.data_dir()
    policy_name: str | None = option.policy_name()
    opponent: str = option.value(f"{OPPONENT}, or all: each pilot in turn", ALL)
    episodes: int = option.value(
        "engagements with each opponent", 1000, 2, 2_000_000, check=check_even
    )
    seed: int = option.seed()
    greedy: bool = option.greedy()
    save_replays: int = option.value(
        "number of replays to keep of each kind, for each opponent. The kinds: lost; closest (won "
        "or drawn, and a missile passed nearest); longest; first", 0, 0, 1000
    )  # fmt: skip
    replay_dir: str = option.value("folder for the replays", "replays")
    render: bool = option.flag(
        "show the fights in a window, one after another, and measure nothing"
    )
    tacview: int | None = telemetry.tacview()
    tacview_host: str = telemetry.tacview_host()
    tacview_password: str | None = telemetry.tacview_password()
    threads: int | str = option.threads()
    json: str | None = option.json()
    game: dict[str, int | float] = option.game()
    model: Path = option.settled()
    opponents: tuple[str, ...] = option.settled()


def read(argv: Sequence[str]) -> Options:
    """Reads and checks the words after `puffer eval midrange`."""
    options = option.Parser("eval", DESCRIPTION, Options).read(argv)
    if options.render and (options.save_replays or options.json):
        raise UsageError(
            "command line: --render measures nothing: leave out --save-replays and --json"
        )
    if options.tacview is not None and not options.render:
        raise UsageError("command line: --tacview: has no effect without --render")
    telemetry.check(options.tacview, options.tacview_host, options.tacview_password)
    threads_of(options.threads)
    model = model_path(options.load_model_path, options.data_dir, options.game)
    opponents = PILOTS
    if options.opponent != ALL:
        opponents = (find_opponent(options.opponent, options.data_dir),)
    if options.render:
        require("the viewer needs", "pygame")
    elif options.save_replays:
        open_folder(Path(options.replay_dir))
    return replace(options, model=model, opponents=opponents)


def main(options: Options) -> int:
    """Evaluates the policy; returns the exit status."""
    import torch

    torch.set_num_threads(1)  # small batches are slower with more
    path = options.model
    [(policy, entries)], parameters = load_models([path], options.game, options.policy_name)
    names = [chosen_in_game(name, parameters) for name in options.opponents]
    opponents = {name: load_opponent(name, policy) for name in names}
    if options.render:
        from midrange_puffer.show.view.watch import watch

        seed, greedy = options.seed, options.greedy
        with telemetry.serve(
            options.tacview, options.tacview_host, options.tacview_password
        ) as server:
            watch(policy, path.stem, opponents, seed, greedy, server, **parameters)
        return 0
    with memory_advice(
        f"try a smaller one of --episodes {options.episodes}, --threads "
        f"{threads_of(options.threads)}, --save-replays {options.save_replays}"
    ):
        results, replays, mishap = _measure(policy, opponents, options, parameters)
    _report(entries, results, options, parameters)
    if mishap is not None:
        raise mishap
    if options.save_replays:
        where = f"{len(replays)} replays in {shown(options.replay_dir)}"
        print(f"{where}, each flown again from its file: all bit-exact")
    return 0


def _measure(
    policy: "nn.Module",
    opponents: Mapping[str, "Contestant"],
    options: Options,
    parameters: Mapping[str, Any],
) -> tuple[dict[str, dict[str, Any]], list[Path], Exception | None]:
    """Lets the policy fight the opponents, one after another.

    Returns:
        The results of `summarize` by opponent; the replays kept; and the error that kept a replay
        from being saved, which is raised after the results are reported.
    """
    from midrange_puffer.contest.evaluation import fight, summarize

    results, replays, mishap = {}, [], None
    for name, opponent in opponents.items():
        recorders = _recorders(name, opponent, options, parameters)
        with progress_bar(name, options.episodes) as advance:
            records = fight(
                policy,
                opponent,
                options.episodes,
                options.seed,
                options.greedy,
                advance,
                recorders,
                threads=threads_of(options.threads),
                parameters=parameters,
            )
        results[name] = summarize(records, parameters)
        if options.save_replays:
            try:
                replays += _save_replays(name, recorders, records, options)
            except (UserError, RuntimeError) as error:
                mishap = error
    return results, replays, mishap


def _save_replays(
    name: str,
    recorders: Sequence["FightRecorder | None"],
    records: Sequence[np.ndarray],
    options: Options,
) -> list[Path]:
    """Saves the most instructive fights with an opponent; returns their files."""
    from midrange_puffer.replays.recorder import KINDS, save_instructive

    count, folder = options.save_replays, Path(options.replay_dir)
    model = f"{options.model.resolve().parent.name}_{options.model.stem}"
    total = min(len(KINDS) * count, options.episodes)
    with progress_bar(f"{name}: replays", total) as advance:
        both = [recorder for recorder in recorders if recorder is not None]
        return save_instructive(both, records, count, folder, model, advance)


def _recorders(
    name: str, opponent: "Contestant", options: Options, parameters: Mapping[str, Any]
) -> tuple["FightRecorder | None", ...]:
    """Returns the recorders of the fights as red and as blue; None if no replays are wanted."""
    from midrange_puffer.replays.recorder import FightRecorder

    if not options.save_replays:
        return None, None
    own = shown(options.model.stem)
    enemy = None if isinstance(opponent, str) else own if name == SELF else shown(title(name))
    meta = {"model": shown(options.model), "opponent": shown(name), "greedy": options.greedy}
    return tuple(
        FightRecorder(names, options.episodes // 2, options.seed, parameters, meta)
        for names in ((own, enemy), (enemy, own))
    )


def _report(
    entries: Mapping[str, Any],
    results: Mapping[str, dict[str, Any]],
    options: Options,
    parameters: Mapping[str, Any],
) -> None:
    """Prints the results by opponent, and writes them to --json.

    Args:
        entries: of the model's file.
        results: by opponent.
        options: of the command line.
        parameters: of the game.
    """
    from rich.console import Console

    episodes, seed, greedy = options.episodes, options.seed, options.greedy
    how = "likeliest actions" if greedy else "actions drawn from the policy"
    opponents = "each opponent" if len(results) > 1 else shown(*results)
    print(
        f"{shown(options.model)}: {episodes} engagements with {opponents}, half of them in each "
        f"seat, {how}"
    )
    for line in describe(entries):
        print(line)
    Console().print(format_table(results))
    if options.json:
        report = {"model": str(options.model), "episodes": episodes, "seed": seed, "greedy": greedy}
        report |= {"parameters": parameters, "opponents": results}
        report |= {"mean": mean(results.values())}
        report |= {"panel": entries["panel"], "metadata": entries["metadata"]}
        write_results(options.json, report)


def describe(entries: Mapping[str, Any]) -> list[str]:
    """Returns a model's rating in training and the user's own metadata, in words."""
    lines = []
    if (panel := entries["panel"]) is not None:
        lines.append(
            f"rated in training: panel score {panel['score']:.3f}, the least "
            f"{panel['worst_score']:.3f} against {shown(panel['worst_pilot'])}, {panel['games']} "
            "engagements with each pilot"
        )
    if entries["metadata"]:
        pairs = (
            f"{name}={value if isinstance(value, str) else json.dumps(value)}"
            for name, value in entries["metadata"].items()
        )
        lines.append(f"metadata: {shown(', '.join(pairs))}")
    return lines


def format_table(results: Mapping[str, dict[str, Any]]) -> "Table":
    """Returns the results of `evaluate` by opponent, as a table for rich."""
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, show_edge=False, padding=0, leading=1)
    longest = max(map(len, PILOTS))  # the line above the table names others
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


def _add_row(table: "Table", name: str, result: Mapping[str, Any]) -> None:
    from rich.text import Text

    table.add_row(
        Text(shown(name)),
        *(format_share(result, outcome) for outcome in ("win", "draw", "loss")),
        f"{result['score']:.3f}",
        f"{result['shots']:.2f}",
        format_optional(result["hit_rate"], ".1f", 100),
        format_optional(result["launch_range"], ".1f", 1e-3),
        f"{result['length']:.0f}",
        f"{100 * result['mutual_kill']:.1f}",
    )


def mean(results: Collection[Mapping[str, Any]]) -> dict[str, float | None]:
    """Returns the means over opponents of the results of `evaluate`, without intervals.

    Each opponent has the same weight. Opponents without a figure, as the range of shots, are left
    out of its mean.
    """
    names = ("win", "draw", "loss", "score", "shots", "hit_rate", "launch_range", "length")
    means = {}
    for name in (*names, "mutual_kill"):
        values = [result[name] for result in results if result[name] is not None]
        means[name] = fmean(values) if values else None
    return means


def format_share(result: Mapping[str, Any], outcome: str) -> str:
    """Returns an outcome's share in percent, and its 95 % interval on the next line."""
    shares = f"{100 * result[outcome]:.1f}"
    if f"{outcome}_ci95" in result:
        low, high = result[f"{outcome}_ci95"]
        shares += f"\n{100 * low:.1f}–{100 * high:.1f}"
    return shares.replace("100.0", "100")
