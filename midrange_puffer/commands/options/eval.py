"""What `puffer eval midrange` takes."""

import argparse
from collections.abc import Sequence
from pathlib import Path

from midrange_puffer.commands.arguments import (
    OPPONENT,
    Parser,
    find_opponent,
    model_path,
    threads_of,
)
from midrange_puffer.config.key import Key, check_even
from midrange_puffer.envs.rendering import require_pygame
from midrange_puffer.errors import UsageError
from midrange_puffer.files import open_folder
from midrange_puffer.game.parameters import ALL, PILOTS


def read(argv: Sequence[str]) -> argparse.Namespace:
    """Read and check the words after `puffer eval midrange`.

    Returns:
        The options, with the `model`'s path and the names of the `opponents`.

    Raises:
        UserError: Something cannot be done.
    """
    options = parser().read(argv)
    if options.render and (options.save_replays or options.json):
        raise UsageError(
            "command line: --render measures nothing: leave out --save-replays and --json"
        )
    options.threads = threads_of(options)
    options.model = model_path(options)
    options.opponents = PILOTS
    if options.opponent != ALL:
        options.opponents = (find_opponent(options.opponent, options.data_dir),)
    if options.render:
        require_pygame()
    elif options.save_replays:
        open_folder(Path(options.replay_dir))
    return options


def parser() -> Parser:
    """The options of this mode."""
    parser = Parser(
        "eval",
        "Measure a trained policy. The game is the one that the policy was trained for. The pilots "
        "are those of the parameter table, even if training changed them.",
    )
    parser.add_model()
    parser.add_key(Key("opponent", str, f"{OPPONENT}, or all: each pilot in turn", ALL))
    parser.add_key(
        Key("episodes", int, "engagements with each opponent", 1000, 2, 2_000_000, check=check_even)
    )
    parser.add_key(Key("seed", int, "seed of the starts and the actions", 0, 0, 2**63 - 1))
    parser.add_key(Key("greedy", bool, "take the likeliest action instead of drawing one"))
    parser.add_key(
        Key("save_replays", int, "how many replays to keep of each kind, for each opponent. The "
            "kinds: lost; closest (won or drawn, and a missile passed nearest); longest; first",
            0, 0, 1000)
    )  # fmt: skip
    parser.add_key(Key("replay_dir", str, "folder for the replays", "replays"))
    parser.add_key(
        Key("render", bool, "show the fights in a window, one after another, and measure nothing")
    )
    parser.add_threads()
    parser.add_json()
    parser.add_game()
    return parser
