"""What `puffer play midrange` takes."""

import argparse
from collections.abc import Sequence
from pathlib import Path

from midrange_puffer.commands.arguments import Parser
from midrange_puffer.config.key import Key
from midrange_puffer.envs.rendering import require_pygame
from midrange_puffer.errors import UsageError
from midrange_puffer.files import open_folder
from midrange_puffer.game.parameters import HUMAN, LADDER, PILOTS, SEATS, suggest
from midrange_puffer.policies.model_paths import check_is_model
from midrange_puffer.policies.shipped import is_model, path_of, shipped_models
from midrange_puffer.train import run_folder

LATEST = "latest"
WHO = (
    f"{HUMAN}; from easy to hard {', '.join(LADDER)}, {', '.join(shipped_models())} (models that "
    f"come with the package), {LATEST} (the newest model of all runs); or a model's file"
)


def read(argv: Sequence[str]) -> argparse.Namespace:
    """Read and check the words after `puffer play midrange`.

    Returns:
        The options, with the `models` that fly: path by the word that names it.

    Raises:
        UserError: Something cannot be done.
    """
    options = parser().read(argv)
    require_pygame()
    if options.save:
        open_folder(Path(options.save))
    paths = {text: _model_path(text, options) for text in (options.red, options.blue)}
    options.models = {text: path for text, path in paths.items() if path is not None}
    for path in options.models.values():
        check_is_model(path)
    return options


def _model_path(text: str, options: argparse.Namespace) -> Path | None:
    """The model's file, or None for a human or a pilot."""
    if text == HUMAN or text in PILOTS:
        return None
    if text == LATEST:
        return run_folder.latest(options.data_dir)
    if is_model(text):
        return path_of(text)
    names = (HUMAN, LATEST, *shipped_models(), *PILOTS)
    raise UsageError(f"{text!r}: must be {WHO}{suggest(text, names)}")


def parser() -> Parser:
    """The options of this mode."""
    options = Parser(
        "play",
        "Fly by hand against a pilot, a trained policy or a human at the same keyboard, or watch "
        "two of them fight. It begins with the keys; O takes the next harder pilot.",
    )
    for seat, default in zip(SEATS, (HUMAN, LADDER[0]), strict=True):
        options.add_key(Key(seat, str, f"who flies {seat}: {WHO}", default))
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
