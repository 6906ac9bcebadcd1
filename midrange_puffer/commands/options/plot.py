"""What `puffer plot midrange` takes."""

import argparse
from collections.abc import Sequence

from midrange_puffer.commands.arguments import Parser, model_path, opponent_path
from midrange_puffer.config.key import Key
from midrange_puffer.errors import UsageError
from midrange_puffer.game.parameters import PILOTS, SEATS, SELF
from midrange_puffer.show.figures import check_picture, require_matplotlib


def read(argv: Sequence[str]) -> argparse.Namespace:
    """Read and check the words after `puffer plot midrange`.

    Returns:
        The options, with the `model`'s path.

    Raises:
        UserError: Something cannot be done.
    """
    options = parser().read(argv)
    require_matplotlib()
    options.model = model_path(options)
    opponent = options.opponent
    if opponent_path(opponent) is None and opponent not in (*PILOTS, SELF):
        raise UsageError(f"opponent = {opponent!r}: is a mix; must be one of {', '.join(PILOTS)}")
    return options


def parser() -> Parser:
    """The options of this mode."""
    parser = Parser(
        "plot",
        "Draw one engagement of a trained policy, seen from above, or the space-time graph of one "
        "moment of it.",
    )
    parser.add_model()
    parser.add_key(
        Key("opponent", str, f"one of {', '.join(PILOTS)}, self, or another model's file", "evader")
    )
    parser.add_key(Key("seat", str, "seat of the policy", "red", choices=SEATS))
    parser.add_key(Key("seed", int, "seed of the start and the actions", 0, 0, 2**63 - 1))
    parser.add_key(Key("greedy", bool, "take the likeliest action instead of drawing one"))
    parser.add_key(
        Key("spacetime", float, "draw the seat's space-time graph at this time instead",
            None, 0, 3600, unit="s")
    )  # fmt: skip
    parser.add_key(Key("out", str, "the file to write", "engagement.png", check=check_picture))
    parser.add_game()
    return parser
