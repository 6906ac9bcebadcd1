"""`puffer panel midrange`: a fixed test of a policy, which anyone can repeat and quote."""

import argparse
from collections.abc import Mapping, Sequence
from pathlib import Path

import torch
from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from midrange_puffer import __version__
from midrange_puffer.commands.exploit import StoppedEarlyError, exploit, tell
from midrange_puffer.commands.models import load_models
from midrange_puffer.commands.progress import progress_bar
from midrange_puffer.contest.match import Contestant
from midrange_puffer.contest.panel import (
    EPISODES,
    GROUPS,
    SEED,
    VERSION,
    Row,
    digest,
    format_report,
    meet_row,
    rows_of,
)
from midrange_puffer.contest.ratings import Pairing, is_standard
from midrange_puffer.errors import UsageError, memory_advice
from midrange_puffer.files import write_json
from midrange_puffer.game.parameters import is_team, sizes_of
from midrange_puffer.names import shown
from midrange_puffer.policies.contestants import load_contestant
from midrange_puffer.policies.mix import title
from midrange_puffer.replays.recorder import FightRecorder, save_instructive


def main(options: argparse.Namespace) -> int:
    """Hold the panel, with what `options.panel` has read; return the exit status."""
    torch.set_num_threads(1)  # small batches are slower with more
    candidate, parameters = _load(options)
    rows = rows_of(options.seed)
    with memory_advice(
        f"try a smaller one of --episodes {options.episodes}, --threads {options.threads}"
    ):
        met = [_meet(candidate, row, options, parameters) for row in rows]
    differences = _differences(options, parameters)
    report = {
        "candidate": options.candidate,
        "sha256": options.model and digest(options.model),
        "package": __version__,
        **{name: getattr(options, name) for name in ("episodes", "seed", "greedy")},
        "is_public": not differences,
        "parameters": parameters,
        "exploit": None,
        **format_report(rows, [result for result, _ in met], parameters),
    }
    for row, (_, replay) in zip(report["rows"], met, strict=True):
        row["replay"] = replay and str(replay)
    _print(report, differences)
    if options.json:
        write_json(options.json, report)
    return 0 if options.exploit is None else _exploit(report, options)


def _exploit(report: Mapping[str, object], options: argparse.Namespace) -> int:
    """Train exploiters of the candidate, and add them to its report; return the exit status."""
    try:
        found = exploit(options.exploit)
    except StoppedEarlyError as stopped:
        return stopped.status
    tell(found, options.out)
    if options.json:
        write_json(options.json, {**report, "exploit": found})
    return 0


def _load(options: argparse.Namespace) -> tuple[Contestant, dict[str, float]]:
    """The candidate, and the parameters of the game.

    Raises:
        UsageError: It is of teams.
    """
    paths = [options.model] if options.model else []
    models, parameters = load_models(paths, options, teams=True)
    if is_team(parameters):
        red, blue = sizes_of(parameters)
        raise UsageError(
            f"panel: a fixed test of one against one; {title(options.candidate)} flies with "
            f"red_size = {red}, blue_size = {blue}: use eval and league"
        )
    return models[0][0] if models else load_contestant(options.candidate), parameters


def _meet(
    candidate: Contestant, row: Row, options: argparse.Namespace, parameters: Mapping[str, float]
) -> tuple[Pairing, Path | None]:
    """Fight a row, and keep its replay if that is wanted."""
    recorders = _recorders(row, options, parameters) if options.replay_dir else (None, None)
    with progress_bar(row.name, options.episodes) as advance:
        result, records = meet_row(
            candidate,
            row,
            options.episodes,
            options.seed,
            options.greedy,
            advance,
            recorders,
            threads=options.threads,
            parameters=parameters,
        )
    replay = None
    if options.replay_dir:
        who, folder = title(options.candidate), Path(options.replay_dir)
        [replay] = save_instructive(recorders, records, 1, folder, who, most=1)
    return result, replay


def _recorders(
    row: Row, options: argparse.Namespace, parameters: Mapping[str, float]
) -> tuple[FightRecorder, FightRecorder]:
    """Of the engagements with a row as red and as blue."""
    own, enemy = shown(title(options.candidate)), row.name
    meta = {"model": shown(options.candidate), "opponent": enemy, "greedy": options.greedy}
    half = options.episodes // 2
    return tuple(
        FightRecorder(names, half, options.seed, parameters, meta, row.parts)
        for names in ((own, enemy), (enemy, own))
    )


def _differences(options: argparse.Namespace, parameters: Mapping[str, float]) -> list[str]:
    """In what this differs from the public panel."""
    differences = []
    if options.seed != SEED:
        differences.append(f"seed {options.seed}")
    if options.episodes != EPISODES:
        differences.append(f"{options.episodes} engagements a row")
    if options.greedy:
        differences.append("likeliest actions")
    if not is_standard(parameters):
        differences.append("not the game of the parameter table")
    return differences


def _print(report: Mapping[str, object], differences: Sequence[str]) -> None:
    """Print what the candidate came to."""
    digits = f", sha256 {report['sha256']}" if report["sha256"] else ""
    print(f"{shown(report['candidate'])}{digits}")
    print(
        f"panel {VERSION}, {report['episodes']} engagements a row, half of them in each seat; "
        f"package {report['package']}"
    )
    if differences:
        print(f"not the public panel: {', '.join(differences)}")
    Console().print(format_table(report))
    print(f"worst row: {report['worst']['row']}, {report['worst']['score']:.3f}")
    if report["rating"] is None:
        print("no rating: the pilots' fixed ratings are of the game of the parameter table")
    else:
        half_width = report["rating_ci95"][1] - report["rating"]
        print(f"rating by the pilots: {report['rating']:.0f} ± {half_width:.0f}")


def format_table(report: Mapping[str, object]) -> Table:
    """The rows and the means of a report, for rich to print."""
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, padding=(0, 2, 0, 0))
    table.add_column("row", no_wrap=True)
    for heading in ("win %", "draw %", "loss %", "score", "95 % c.i."):
        table.add_column(heading, justify="right", no_wrap=True)
    for group in GROUPS:
        for row in report["rows"]:
            if row["group"] == group:
                table.add_row(*_cells(row, report["episodes"]))
        mean = f"{report['means'][group]:.3f}"
        table.add_row(Text(f"mean of {group}", "bold"), "", "", "", Text(mean, "bold"), "")
        table.add_section()
    mean = f"{report['means']['all']:.3f}"
    table.add_row(Text("mean of all rows", "bold"), "", "", "", Text(mean, "bold"), "")
    return table


def _cells(row: Mapping[str, object], episodes: int) -> list[str]:
    shares = [f"{100 * row[name] / episodes:.1f}" for name in ("wins", "draws", "losses")]
    low, high = row["score_ci95"]
    return [row["row"], *shares, f"{row['score']:.3f}", f"{low:.3f}–{high:.3f}"]
