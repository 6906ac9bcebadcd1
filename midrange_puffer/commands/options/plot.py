"""What `puffer plot midrange` takes."""

import argparse
from collections.abc import Sequence
from pathlib import Path

from midrange_puffer._core import MAX_SIDE
from midrange_puffer.commands.arguments import Parser, find_opponent, model_path
from midrange_puffer.commands.options.replay import EXAMPLE
from midrange_puffer.config.key import Key
from midrange_puffer.errors import UsageError
from midrange_puffer.files import check_writable
from midrange_puffer.game.parameters import PILOTS, SCRIPTED, SEATS
from midrange_puffer.policies import models
from midrange_puffer.policies.mix import check_is_one
from midrange_puffer.show.figures import check_picture, require_matplotlib
from midrange_puffer.show.web_page import PAGE
from midrange_puffer.train import run_folder


def read(argv: Sequence[str]) -> argparse.Namespace:
    """Read and check the words after `puffer plot midrange`.

    Returns:
        The options, with the `model`'s path unless a pilot flies or a replay is drawn; or with
        `run` the `runs`, their folders; or with `population` the folder of its run.

    Raises:
        UserError: Something cannot be done.
    """
    options = parser().read(argv)
    require_matplotlib()
    if options.run:
        found = (run_folder.find_run(name, options.data_dir) for name in options.run)
        options.runs, options.out = list(dict.fromkeys(found)), options.out or "curves.png"
        return options
    if options.exploit:
        options.out = options.out or "exploit.png"
        return options
    if options.population:
        options.population = run_folder.find_run(options.population, options.data_dir)
        options.out = options.out or "population.png"
        return options
    options.out = options.out or "engagement.png"
    if Path(options.out).suffix == PAGE:
        raise UsageError(f"command line: --out: {options.out}: only curves of --run become a page")
    if options.replay:
        _check_plain(options)
        options.replay = models.EXAMPLE if options.replay == EXAMPLE else options.replay
        return options
    if options.pilot:
        options.pilot = find_opponent(options.pilot, options.data_dir, (SCRIPTED,), "pilot")
        check_is_one(options.pilot)
    else:
        options.model = model_path(options)
    options.opponent = find_opponent(options.opponent, options.data_dir)
    check_is_one(options.opponent)
    return options


def _check_plain(options: argparse.Namespace) -> None:
    """Raise UsageError where something else than the whole of a replay's fight is to be drawn."""
    for name in ("pilot", "spacetime", "pictures"):
        if getattr(options, name) not in (None, False):
            raise UsageError(f"command line: --{name}: is not drawn of a --replay")


def _check_out(path: str) -> None:
    """Raise ValueError where neither a picture nor a page can be written to `path`."""
    if Path(path).suffix == PAGE:
        check_writable(path)
    else:
        check_picture(path)


def parser() -> Parser:
    """The options of this mode."""
    parser = Parser(
        "plot",
        "Draw one engagement of a trained policy or a pilot, or of a replay, seen from above, or "
        "the space-time graph of one moment of it.",
    )
    parser.add_model()
    parser.add_key(
        Key(
            "opponent",
            str,
            f"one of {', '.join(PILOTS)}, self, another model, or a "
            "function of your own (module:name or file.py:name)",
            "evader",
        )
    )
    parser.add_key(Key("pilot", str, "a scripted pilot that flies instead of the policy", None))
    parser.add_key(
        Key(
            "replay",
            str,
            f"draw the fight of this replay instead; {EXAMPLE} = as of `replay`",
            None,
        )
    )
    parser.add_key(Key("seat", str, "seat of the policy", "red", choices=SEATS))
    parser.add_key(Key("seed", int, "seed of the start and the actions", 0, 0, 2**63 - 1))
    parser.add_key(Key("greedy", bool, "take the likeliest action instead of drawing one"))
    parser.add_key(
        Key("spacetime", float, "draw the seat's space-time graph at this time instead",
            None, 0, 3600, unit="s")
    )  # fmt: skip
    parser.add_key(
        Key("fighter", int, "in teams: which of the seat's fighters the graph is of", 0, 0,
            MAX_SIDE - 1)
    )  # fmt: skip
    parser.add_key(
        Key("pictures", bool, "with sensors: draw the truth, and beside it what each side knew")
    )
    parser.add_argument(
        "--run", nargs="+", metavar="RUN", default=(),
        help="draw the learning curves of these runs instead: folders, names, or latest",
    )  # fmt: skip
    parser.add_key(
        Key("population", str, "draw the exploiters of this run instead: how far each came, and "
            "which checkpoint beats which", None)
    )  # fmt: skip
    parser.add_argument(
        "--exploit", nargs="+", metavar="REPORT", default=(),
        help="draw the curves of these reports of `exploit` or `panel --exploit` instead",
    )  # fmt: skip
    meaning = "the file to write; None = engagement.png, or curves, population or exploit.png"
    page = f"where *{PAGE} of --run is a web page"
    parser.add_key(Key("out", str, f"{meaning}, {page}", None, check=_check_out))
    parser.add_game()
    return parser
