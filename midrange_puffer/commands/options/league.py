"""What `puffer league midrange` takes."""

import argparse
from collections.abc import Sequence
from pathlib import Path

from midrange_puffer.commands.arguments import MODEL_FILES, Parser, find_opponent, threads_of
from midrange_puffer.config.key import Key, check_even
from midrange_puffer.contest.ratings import GAMES
from midrange_puffer.errors import UsageError
from midrange_puffer.game.parameters import ALL, PILOTS, pilot_names
from midrange_puffer.policies.mix import FUNCTION, MODEL, file_of, kind_of, short_names
from midrange_puffer.policies.models import MODELS, check_is_model, spread
from midrange_puffer.policies.own_code import absolute
from midrange_puffer.show.figures import check_picture, require_matplotlib
from midrange_puffer.train import run_folder

NONE = "none"  # of the pilots


def read(argv: Sequence[str]) -> argparse.Namespace:
    """Read and check the words after `puffer league midrange`.

    Returns:
        The options, with the `models`, as of `find_models`, the `functions`, as of
        `find_functions`, and the `players`' names: the pilots' and theirs.

    Raises:
        UserError: Something cannot be done.
    """
    options = parser().read(argv)
    if options.out:
        require_matplotlib()
    options.threads = threads_of(options)
    options.models = find_models(options)
    options.functions = find_functions(options)
    options.players = [*read_pilots(options.pilots), *options.models, *options.functions]
    if options.nash is not None and not options.models:
        raise UsageError("--nash: is a mixture of models, and none takes part")
    if len(options.players) < 2:
        raise UsageError("a league needs two players: a run, models' files or pilots")
    return options


def find_models(options: argparse.Namespace) -> dict[str, Path]:
    """The model files that take part, by a name for each: as much of its path as tells it apart.

    Raises:
        CheckpointError: There is no such run or file.
    """
    files = (file for file in options.files if kind_of(file) != FUNCTION)
    named = (find_opponent(file, options.data_dir, (MODEL,), "player") for file in files)
    paths = [file_of(name) for name in named]
    if options.run:
        folder = run_folder.find_run(options.run, options.data_dir)
        paths += spread(sorted(folder.glob(MODELS)), options.checkpoints)
    paths = list(dict.fromkeys(path.resolve() for path in paths))
    for path in paths:
        check_is_model(path)
    for length in range(1, max((len(path.parts) for path in paths), default=1)):
        names = ["/".join(path.with_suffix("").parts[-length:]) for path in paths]
        if len({*names, *PILOTS}) == len(names) + len(PILOTS):
            return dict(zip(names, paths, strict=True))
    return {str(path): path for path in paths}  # but for their suffixes some are alike


def find_functions(options: argparse.Namespace) -> dict[str, str]:
    """The functions of the user's own that take part, as `own_code` takes them, by a name each."""
    given = [absolute(file) for file in options.files if kind_of(file) == FUNCTION]
    names = {short: name for name, short in short_names(given).items()}
    taken = names.keys() & options.models.keys()
    return {name if short in taken else short: name for short, name in names.items()}


def read_pilots(text: str) -> tuple[str, ...]:
    """The pilots named in a text: "all", "none", or names separated by commas.

    Raises:
        UsageError: There is no such pilot, or one is named twice.
    """
    try:
        return () if text == NONE else pilot_names(text)
    except ValueError as error:
        raise UsageError(f"command line: --pilots: {error}") from None


def parser() -> Parser:
    """The options of this mode."""
    parser = Parser(
        "league",
        "Let checkpoints and pilots fight, all against all, and rate them. Without a run or files "
        "only the pilots fight. The game is the one that the models were trained for. The pilots "
        "are those of the parameter table.",
    )
    parser.add_files(
        "files", f"models: {MODEL_FILES}; or functions of your own: module:name, file.py:name"
    )
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
    parser.add_key(
        Key("nash", str, "write the models' Nash mixture to this file: shares that none of them "
            "beats. nash:FILE is a contestant then", None)
    )  # fmt: skip
    parser.add_key(Key("out", str, "write a picture to this file", None, check=check_picture))
    parser.add_data_dir()
    parser.add_policy_names()
    parser.add_game()
    return parser
