"""What `puffer play midrange` takes."""

import argparse
from collections.abc import Sequence
from pathlib import Path

from midrange_puffer.commands.arguments import Parser, find_opponent
from midrange_puffer.config.key import Key
from midrange_puffer.envs.rendering import require_pygame
from midrange_puffer.errors import UsageError
from midrange_puffer.files import open_folder
from midrange_puffer.game.parameters import HUMAN, LADDER, PILOTS, WINGMEN, suggest
from midrange_puffer.policies.mix import (
    BEST,
    FIGHTERS,
    LATEST,
    MODEL,
    file_of,
    kind_of,
)
from midrange_puffer.policies.models import CHAMPION, shipped_models
from midrange_puffer.train.run_folder import settled_mix

AUTO_BLUE = "auto"  # the champion, which flies alone, or in teams the best of the pilots
WHO = (
    f"{HUMAN}; from easy to hard {', '.join(LADDER)}, {', '.join(shipped_models())} (models that "
    f"come with the package), {LATEST} (the newest model of all runs), {BEST} (the best-rated one "
    f"of the newest run), RUN/{BEST}, a run or a model's file; or a function of your own "
    "(module:name or file.py:name)"
)


def read(argv: Sequence[str]) -> argparse.Namespace:
    """Read and check the words after `puffer play midrange`.

    Returns:
        The options, with who flies `red` and `blue` as `load_contestant` takes it, and the
        `models` that fly: path by the word that names it.

    Raises:
        UserError: Something cannot be done.
    """
    options = parser().read(argv)
    require_pygame()
    if options.save:
        open_folder(Path(options.save))
    if options.blue == AUTO_BLUE:
        sizes = (vars(options).get(name, 1) for name in ("red_size", "blue_size"))
        options.blue = WINGMEN if max(sizes) > 1 else CHAMPION
    flown = [_who(text, options) for text in (options.red, options.blue, options.wingmen)]
    if flown[-1] == HUMAN:
        raise UsageError(
            f"command line: --wingmen: {HUMAN}: must be a pilot, a model or a function"
        )
    options.red, options.blue, options.wingmen = flown
    options.models = {text: file_of(text) for text in flown if kind_of(text) == MODEL}
    return options


def _who(text: str, options: argparse.Namespace) -> str:
    """Who flies a seat: "human", or a single contestant."""
    if text == HUMAN:
        return text
    text = settled_mix(text, options.data_dir)
    if kind_of(text) not in FIGHTERS:
        names = (HUMAN, LATEST, BEST, *shipped_models(), *PILOTS)
        raise UsageError(f"{text!r}: must be {WHO}{suggest(text, names)}")
    return find_opponent(text, options.data_dir)


def parser() -> Parser:
    """The options of this mode."""
    options = Parser(
        "play",
        "Fly by hand against a pilot, a trained policy or a human at the same keyboard, or watch "
        "two of them fight. It begins with the keys; O takes the easiest pilot, then harder ones. "
        "Teams fly with --env.red-size and --env.blue-size: you fly one fighter, and may change.",
    )
    options.add_key(Key("red", str, f"who flies red: {WHO}", HUMAN))
    meaning = f"who flies blue, as --red; auto: {CHAMPION}, in teams {WINGMEN}"
    options.add_key(Key("blue", str, meaning, AUTO_BLUE))
    meaning = "who flies the others of a human's side in teams, as --red; the human may take over"
    options.add_key(Key("wingmen", str, meaning, WINGMEN))
    options.add_data_dir()
    options.add_policy_names()
    options.add_key(
        Key("seed", int, "seed of the starts and the policies' actions", 0, 0, 2**63 - 1)
    )
    options.add_key(
        Key("greedy", bool, "policies take the likeliest action instead of drawing one")
    )
    meaning = "folder for a replay of every fight; without it F5 still saves one"
    options.add_key(Key("save", str, meaning, None))
    options.add_game()
    return options
