"""`puffer league midrange`: ratings of checkpoints and pilots, which all fight each other."""

import hashlib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from midrange_puffer.commands import option
from midrange_puffer.commands.models import (
    find_champions,
    find_opponent,
    load_models,
    load_opponent,
    threads_of,
)
from midrange_puffer.commands.progress import progress_bar
from midrange_puffer.config.key import check_even
from midrange_puffer.contest.ratings import (
    ANCHORS,
    GAMES,
    MEAN,
    Pairing,
    is_standard,
    nash_weights,
)
from midrange_puffer.errors import UsageError, require
from midrange_puffer.files import make_folder, pieces, write_pieces, write_results
from midrange_puffer.game.parameters import ALL, CONTROLLERS, PILOTS, pilot_names, pilots_of
from midrange_puffer.names import shown
from midrange_puffer.policies.mix import (
    FILE,
    FUNCTION,
    MODEL,
    NASH,
    NashMember,
    file_of,
    kind_of,
    short_names,
    write_nash,
)
from midrange_puffer.policies.models import LARGEST_MODEL, MODELS, check_is_model, spread
from midrange_puffer.policies.own_code import absolute
from midrange_puffer.show.figures import check_picture
from midrange_puffer.train import run_folder

if TYPE_CHECKING:
    from midrange_puffer.contest.match import Contestant
    from midrange_puffer.contest.standings import Standings

NONE = "none"  # of the pilots
LEAST_SHARE = 0.005  # of a model in a Nash mixture; those below are left out


DESCRIPTION = (
    "Let checkpoints and pilots fight, all against all, and rate them. Without a run or files "
    "only the pilots fight. The game is the one that the models were trained for. The pilots "
    "are those of the parameter table."
)


@dataclass(frozen=True, kw_only=True)
class Options:
    """Options of this mode, and the players.

    Attributes:
        models: files, by name: as much of the path as tells them apart.
        functions: the user's own, as `own_code` takes them, by name.
        players: the names of all.
    """

    files: tuple[str, ...] = option.files(
        f"models: {option.MODEL_FILES}; or functions of your own: module:name, file.py:name"
    )
    run: str | None = option.value(
        "a run whose checkpoints take part: its folder, its name or latest", None
    )
    checkpoints: int = option.value(
        "greatest number of the run's checkpoints that take part, spread over the run from the "
        "first to the last", 8, 1, 1000
    )  # fmt: skip
    pilots: str = option.value(
        f"pilots that take part: {ALL}, {NONE} or names separated by commas", ALL
    )
    games: int = option.value("engagements of each pairing", GAMES, 2, 1_000_000, check=check_even)
    seed: int = option.seed()
    greedy: bool = option.greedy()
    threads: int | str = option.threads()
    json: str | None = option.json()
    nash: str | None = option.value(
        "write the models' Nash mixture to this file: shares that none of them beats. nash:FILE is "
        "a contestant then", None
    )  # fmt: skip
    out: str | None = option.value("write a picture to this file", None, check=check_picture)
    data_dir: str = option.data_dir()
    policy_name: str | None = option.policy_name()
    game: dict[str, int | float] = option.game()
    models: dict[str, Path] = option.settled()
    functions: dict[str, str] = option.settled()
    players: tuple[str, ...] = option.settled()


def read(argv: Sequence[str]) -> Options:
    """Reads and checks the words after `puffer league midrange`."""
    options = option.Parser("league", DESCRIPTION, Options).read(argv)
    if options.out:
        require("plots need", "matplotlib")
    threads_of(options.threads)
    models = _find_models(options)
    functions = _find_functions(options.files, models)
    players = (*_read_pilots(options.pilots), *models, *functions)
    if options.nash is not None and not models:
        raise UsageError("--nash: is a mixture of models, and none takes part")
    if len(players) < 2:
        raise UsageError("a league needs two players: a run, models' files or pilots")
    return replace(options, models=models, functions=functions, players=players)


def _find_models(options: Options) -> dict[str, Path]:
    """Returns the model files that take part, by name.

    Raises:
        CheckpointError: A run or file does not exist.
    """
    files = (file for file in options.files if kind_of(file) != FUNCTION)
    named = [find_opponent(file, options.data_dir, (MODEL,), "player") for file in files]
    if options.run:
        folder = run_folder.find_run(options.run, options.data_dir)
        checkpoints = spread(sorted(folder.glob(MODELS)), options.checkpoints)
        named += [f"{FILE}{path}" for path in checkpoints]
    named = find_champions(named, options.game, options.policy_name)
    paths = [file_of(name) for name in named]
    paths = list(dict.fromkeys(path.resolve() for path in paths))
    for path in paths:
        check_is_model(path)
    for length in range(1, max((len(path.parts) for path in paths), default=1)):
        names = ["/".join(path.with_suffix("").parts[-length:]) for path in paths]
        if len({*names, *PILOTS}) == len(names) + len(PILOTS):
            return dict(zip(names, paths, strict=True))
    return {str(path): path for path in paths}  # some differ only in their suffixes


def _find_functions(files: Sequence[str], models: Collection[str]) -> dict[str, str]:
    """Returns the user's own functions among the files, by name; no name is that of a model."""
    given = [absolute(file) for file in files if kind_of(file) == FUNCTION]
    return {name if short in models else short: name for name, short in short_names(given).items()}


def _read_pilots(text: str) -> tuple[str, ...]:
    """Returns the pilots of --pilots: "all", "none", or names separated by commas.

    Raises:
        UsageError: A pilot does not exist or is named twice.
    """
    try:
        return () if text == NONE else pilot_names(text)
    except ValueError as error:
        raise UsageError(f"command line: --pilots: {error}") from None


def main(options: Options) -> int:
    """Holds the league; returns the exit status."""
    import torch

    from midrange_puffer.contest.standings import format_report, rank
    from midrange_puffer.policies.subordinate import check_no_subordinate

    torch.set_num_threads(1)  # small batches are slower with more
    paths = options.models
    models, parameters = load_models(list(paths.values()), options.game, options.policy_name)
    for path, (policy, _) in zip(paths.values(), models, strict=True):
        check_no_subordinate(str(path), policy)
    policies = {name: policy for name, (policy, _) in zip(paths, models, strict=True)}
    functions = {name: load_opponent(text) for name, text in options.functions.items()}
    pilots = pilots_of(parameters) if options.pilots == ALL else ()
    players = {name: name for name in (*options.players, *pilots)} | policies | functions
    results = _play(players, options, parameters)
    fixed, scale = choose_anchors(players, parameters, threads_of(options.threads))
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
        write_results(options.json, report)
    if options.out:
        from midrange_puffer.show.league_plot import plot_standings

        plot_standings(standings, _group_runs(paths, steps), options.out)
    return 0


def choose_anchors(
    players: Collection[str], parameters: Mapping[str, Any], threads: int = 1
) -> tuple[dict[str, float], str]:
    """Returns the fixed ratings in a league of these players, and what they mean in words."""
    from midrange_puffer.contest.match import rate_pilots

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


def _group_runs(
    paths: Mapping[str, Path], steps: Mapping[str, int]
) -> dict[Path, list[tuple[int, str]]]:
    """Returns (agent steps, player's name) by run folder, the earliest first."""
    runs: dict[Path, list[tuple[int, str]]] = {}
    for name, path in paths.items():
        runs.setdefault(path.parent, []).append((steps[name], name))
    return {folder: sorted(points) for folder, points in runs.items()}


def _write_nash(path: Path, models: Mapping[str, Path], standings: "Standings") -> None:
    """Writes the models' Nash mixture, and prints it."""
    places = [standings.names.index(name) for name in models]
    scores = standings.payoffs.scores[np.ix_(places, places)].copy()
    np.fill_diagonal(scores, 0.5)
    shares = dict(zip(models, nash_weights(scores), strict=True))
    played = {name: share for name, share in shares.items() if share >= LEAST_SHARE}
    total = sum(played.values())
    write_nash(
        path,
        [NashMember(_beside(path, models[name]), share / total) for name, share in played.items()],
    )
    parts = (f"{shown(name)} {100 * share / total:.1f} %" for name, share in played.items())
    print(f"Nash mixture of the models: {', '.join(parts)}; {NASH}{shown(path)}")


def _beside(path: Path, model: Path) -> str:
    """Returns a model's path relative to the folder of the mixture `path`.

    A model that is not below that folder is copied into a folder beside the mixture.

    Raises:
        WriteError: The model could not be copied.
    """
    folder = path.absolute().parent.resolve()
    if model.is_relative_to(folder):
        return model.relative_to(folder).as_posix()
    digest = hashlib.blake2b(str(model).encode(), digest_size=4).hexdigest()
    copy = folder / f"{path.stem}-models" / f"{model.stem}-{digest}{model.suffix}"
    make_folder(copy.parent, is_new=False)
    write_pieces(copy, pieces(model, LARGEST_MODEL))
    return copy.relative_to(folder).as_posix()


def _play(
    players: Mapping[str, "Contestant"], options: Options, parameters: Mapping[str, Any]
) -> list[Pairing]:
    from midrange_puffer.contest.match import round_robin

    pairings = len(players) * (len(players) - 1) // 2
    with progress_bar(f"{pairings} pairings", pairings * options.games) as advance:
        return round_robin(
            players,
            options.games,
            options.seed,
            options.greedy,
            advance,
            threads=threads_of(options.threads),
            parameters=parameters,
        )


def _print(standings: "Standings", options: Options, scale: str) -> None:
    from rich.console import Console

    from midrange_puffer.contest.standings import format_cycles, format_matrices, format_ratings

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
