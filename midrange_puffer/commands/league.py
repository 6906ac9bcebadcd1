"""`puffer league midrange`: checkpoints and pilots, everybody against everybody."""

import argparse
import os
from collections.abc import Collection, Mapping
from pathlib import Path

import numpy as np
import torch
from rich.console import Console

from midrange_puffer.commands.models import load_models
from midrange_puffer.commands.progress import progress_bar
from midrange_puffer.contest.match import Contestant, rate_pilots, round_robin
from midrange_puffer.contest.ratings import ANCHORS, MEAN, Pairing, is_standard, nash_weights
from midrange_puffer.contest.standings import (
    Standings,
    format_cycles,
    format_matrices,
    format_ratings,
    format_report,
    rank,
)
from midrange_puffer.files import write_json
from midrange_puffer.game.parameters import ALL, CONTROLLERS, pilots_of
from midrange_puffer.names import shown
from midrange_puffer.policies.contestants import load_contestant
from midrange_puffer.policies.mix import NASH, NashMember, write_nash

LEAST_SHARE = 0.005  # of a model in a Nash mixture; those below are left out


def main(options: argparse.Namespace) -> int:
    """Hold a league, with what `options.league` has read; return the exit status."""
    torch.set_num_threads(1)  # small batches are slower with more
    paths = options.models
    models, parameters = load_models(list(paths.values()), options, teams=True)
    policies = {name: policy for name, (policy, _) in zip(paths, models, strict=True)}
    functions = {name: load_contestant(text) for name, text in options.functions.items()}
    pilots = pilots_of(parameters) if options.pilots == ALL else ()
    players = {name: name for name in (*options.players, *pilots)} | policies | functions
    results = _play(players, options, parameters)
    fixed, scale = choose_anchors(players, parameters, options.threads)
    standings = rank(list(players), results, fixed)
    _print(standings, options, scale)
    steps = {name: meta["agent_steps"] for name, (_, meta) in zip(paths, models, strict=True)}
    if options.nash:
        _write_nash(Path(options.nash), paths, standings)
    if options.json:
        report = {name: getattr(options, name) for name in ("games", "seed", "greedy")}
        report |= {"parameters": parameters, "scale": scale, **format_report(standings)}
        for player in report["players"]:
            if player["name"] in paths:
                player["model"] = str(paths[player["name"]])
                player["agent_steps"] = steps[player["name"]]
            elif player["name"] in options.functions:
                player["function"] = options.functions[player["name"]]
        write_json(options.json, report)
    if options.out:
        from midrange_puffer.show.league_plot import plot_standings

        plot_standings(standings, group_runs(paths, steps), options.out)
    return 0


def choose_anchors(
    players: Collection[str], parameters: Mapping[str, float], threads: int = 1
) -> tuple[dict[str, float], str]:
    """The ratings that are fixed in a league of these players, and in words what that means."""
    pilots = [name for name in players if name in CONTROLLERS]
    if not pilots:
        return {}, f"no pilots: ratings compare only within this league, their mean is {MEAN:.0f}"
    if len(pilots) == len(players):
        return {}, f"only pilots: none has a fixed rating, their mean is {MEAN:.0f}"
    if is_standard(parameters):
        return ANCHORS, "the pilots' ratings are fixed, so that those of other leagues compare"
    return rate_pilots(parameters, threads), (
        "not the game of the parameter table: the pilots were rated anew in it and then fixed, so "
        "that only ratings of the same game compare"
    )


def group_runs(
    paths: Mapping[str, Path], steps: Mapping[str, int]
) -> dict[Path, list[tuple[int, str]]]:
    """Run folder -> its (agent steps, player's name), the earliest first."""
    runs: dict[Path, list[tuple[int, str]]] = {}
    for name, path in paths.items():
        runs.setdefault(path.parent, []).append((steps[name], name))
    return {folder: sorted(points) for folder, points in runs.items()}


def _write_nash(path: Path, models: Mapping[str, Path], standings: Standings) -> None:
    """Write the models' Nash mixture, and print it."""
    places = [standings.names.index(name) for name in models]
    scores = standings.payoffs.scores[np.ix_(places, places)].copy()
    np.fill_diagonal(scores, 0.5)
    shares = dict(zip(models, nash_weights(scores), strict=True))
    played = {name: share for name, share in shares.items() if share >= LEAST_SHARE}
    total, folder = sum(played.values()), path.absolute().parent
    write_nash(
        path,
        [
            NashMember(os.path.relpath(models[name], folder), share / total)
            for name, share in played.items()
        ],
    )
    parts = (f"{shown(name)} {100 * share / total:.1f} %" for name, share in played.items())
    print(f"Nash mixture of the models: {', '.join(parts)}; {NASH}{shown(path)}")


def _play(
    players: Mapping[str, Contestant],
    options: argparse.Namespace,
    parameters: Mapping[str, float],
) -> list[Pairing]:
    pairings = len(players) * (len(players) - 1) // 2
    with progress_bar(f"{pairings} pairings", pairings * options.games) as advance:
        return round_robin(
            players,
            options.games,
            options.seed,
            options.greedy,
            advance,
            threads=options.threads,
            parameters=parameters,
        )


def _print(standings: Standings, options: argparse.Namespace, scale: str) -> None:
    console = Console(highlight=False)
    how = "likeliest actions" if options.greedy else "actions drawn from the policies"
    print(f"{options.games} engagements a pairing, each start fought in both seats; {how}")
    print("ratings by Bradley-Terry: 400 points are odds of 10; the intervals are of that model,")
    print("without the error of the fixed ratings, and without what the model does not describe")
    print(scale)
    console.print(format_ratings(standings))
    print("\nscores in %, row against column (win 1, draw 0.5)")
    for table in format_matrices(standings, console.width):
        console.print(table)
        print()
    print("\n".join(format_cycles(standings)))
