"""`puffer league midrange`: checkpoints and pilots, everybody against everybody."""

import argparse
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

import numpy as np
import torch
from rich.console import Console

from midrange_puffer.commands.arguments import (
    MODEL_FILES,
    Parser,
    load_models,
    progress_bar,
    threads_of,
)
from midrange_puffer.config.key import Key, check_even
from midrange_puffer.contest.match import Contestant
from midrange_puffer.contest.ratings import MEAN
from midrange_puffer.contest.round_robin import (
    ANCHORS,
    GAMES,
    Result,
    is_standard,
    rate_pilots,
    round_robin,
)
from midrange_puffer.contest.standings import (
    Standings,
    format_cycles,
    format_matrices,
    format_ratings,
    format_report,
    rank,
)
from midrange_puffer.errors import UsageError
from midrange_puffer.files import write_json
from midrange_puffer.game.parameters import ALL, PILOTS, pilot_names
from midrange_puffer.policies import model_file
from midrange_puffer.policies.shipped import path_of
from midrange_puffer.show.figures import check_picture, require_matplotlib
from midrange_puffer.train import run_folder

NONE = "none"  # of the pilots


def main(argv: Sequence[str]) -> int:
    """Hold a league, with the words after `puffer league midrange`; return the exit status."""
    options = _parser().read(argv)
    if options.out:
        require_matplotlib()
    threads = threads_of(options)
    torch.set_num_threads(1)  # small batches are slower with more
    paths = find_models(options)
    models, parameters = load_models(list(paths.values()), options)
    players = {pilot: pilot for pilot in read_pilots(options.pilots)}
    players |= {name: policy for name, (policy, _) in zip(paths, models, strict=True)}
    if len(players) < 2:
        raise UsageError("a league needs two players: a run, models' files or pilots")
    results = _play(players, options, threads, parameters)
    fixed, scale = choose_anchors(players, parameters, threads)
    standings = rank(list(players), results, fixed)
    _print(standings, options, scale)
    steps = {name: meta["agent_steps"] for name, (_, meta) in zip(paths, models, strict=True)}
    if options.json:
        report = {name: getattr(options, name) for name in ("games", "seed", "greedy")}
        report |= {"parameters": parameters, "scale": scale, **format_report(standings)}
        for player in report["players"]:
            if player["name"] in paths:
                player["model"] = str(paths[player["name"]])
                player["agent_steps"] = steps[player["name"]]
        write_json(options.json, report)
    if options.out:
        from midrange_puffer.show.league_plot import plot_standings

        plot_standings(standings, group_runs(paths, steps), options.out)
    return 0


def find_models(options: argparse.Namespace) -> dict[str, Path]:
    """The model files that take part, by a name for each: as much of its path as tells it apart.

    Raises:
        CheckpointError: There is no such run.
    """
    paths = [path_of(file) for file in options.files]
    if options.run:
        folder = run_folder.find_run(options.run, options.data_dir)
        paths += spread(sorted(folder.glob(model_file.MODELS)), options.checkpoints)
    paths = list(dict.fromkeys(path.resolve() for path in paths))
    for length in range(1, max((len(path.parts) for path in paths), default=1)):
        names = ["/".join(path.with_suffix("").parts[-length:]) for path in paths]
        if len({*names, *PILOTS}) == len(names) + len(PILOTS):
            return dict(zip(names, paths, strict=True))
    return {str(path): path for path in paths}  # but for their suffixes some are alike


def spread(items: Sequence[Path], count: int) -> list[Path]:
    """At most `count` of the items, at even distances, the first and the last among them."""
    places = np.linspace(0, len(items) - 1, min(count, len(items))).round().astype(int)
    return [items[place] for place in places]


def read_pilots(text: str) -> tuple[str, ...]:
    """The pilots named in a text: "all", "none", or names separated by commas.

    Raises:
        UsageError: There is no such pilot, or one is named twice.
    """
    try:
        return () if text == NONE else pilot_names(text)
    except ValueError as error:
        raise UsageError(f"command line: --pilots: {error}") from None


def choose_anchors(
    players: Collection[str], parameters: Mapping[str, float], threads: int = 1
) -> tuple[dict[str, float], str]:
    """The ratings that are fixed in a league of these players, and in words what that means."""
    pilots = [name for name in players if name in PILOTS]
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


def _play(
    players: Mapping[str, Contestant],
    options: argparse.Namespace,
    threads: int,
    parameters: Mapping[str, float],
) -> list[Result]:
    pairings = len(players) * (len(players) - 1) // 2
    with progress_bar(f"{pairings} pairings", pairings * options.games) as advance:
        games, seed, greedy = options.games, options.seed, options.greedy
        return round_robin(
            players, games, seed, greedy, advance, threads=threads, parameters=parameters
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


def _parser() -> Parser:
    parser = Parser(
        "league",
        "Let checkpoints and pilots fight, all against all, and rate them. Without a run or files "
        "only the pilots fight. The game is the one that the models were trained for. The pilots "
        "are those of the parameter table.",
    )
    parser.add_files("files", f"models: {MODEL_FILES}")
    parser.add_key(
        Key("run", str, "a run whose checkpoints take part: its folder, its name or latest", None)
    )
    parser.add_key(
        Key("checkpoints", int, "most checkpoints of the run that take part; they are spread over "
            "the run, and the first and the last are among them",
            8, 1, 1000)
    )  # fmt: skip
    parser.add_key(
        Key(
            "pilots", str, f"pilots that take part: {ALL}, {NONE} or names separated by commas", ALL
        )
    )
    parser.add_key(
        Key("games", int, "engagements of each pairing", GAMES, 2, 1_000_000, check=check_even)
    )
    parser.add_key(Key("seed", int, "seed of the starts and the actions", 0, 0, 2**63 - 1))
    parser.add_key(Key("greedy", bool, "take the likeliest action instead of drawing one"))
    parser.add_threads()
    parser.add_json()
    parser.add_key(Key("out", str, "write a picture to this file", None, check=check_picture))
    parser.add_data_dir()
    parser.add_game()
    return parser
