"""`puffer play midrange`: fly against a pilot, a policy or each other, or look on."""

import argparse
from collections.abc import Sequence
from pathlib import Path

import torch

from midrange_puffer.commands.arguments import Parser, load_models
from midrange_puffer.config.key import Key
from midrange_puffer.contest.match import Contestant
from midrange_puffer.envs.rendering import require_pygame
from midrange_puffer.errors import UsageError
from midrange_puffer.files import open_folder
from midrange_puffer.game.parameters import PILOTS, SEATS, suggest
from midrange_puffer.names import shown
from midrange_puffer.policies.shipped import is_model, path_of, shipped_models
from midrange_puffer.replays.session import HUMAN, Session
from midrange_puffer.train import run_folder

LATEST = "latest"
WHO = (
    f"{HUMAN}, {', '.join(PILOTS)}, {', '.join(shipped_models())} (models that come with the "
    f"package), {LATEST} (the newest model of all runs) or a model's file"
)


def main(argv: Sequence[str]) -> int:
    """Play, with the words after `puffer play midrange`; return the exit status."""
    options = parser().read(argv)
    require_pygame()
    folder = Path(options.save) if options.save else None
    if folder is not None:
        open_folder(folder)
    torch.set_num_threads(1)  # small batches are slower with more
    contestants, names, parameters = load_contestants(options)
    _play(Session(contestants, names, options.seed, options.greedy, **parameters), folder)
    return 0


def _play(session: Session, folder: Path | None) -> None:
    """Open a window for a session until it is closed; at the end print what was saved."""
    import pygame

    from midrange_puffer.show.play.loop import Game
    from midrange_puffer.show.view.renderer import Renderer
    from midrange_puffer.show.view.window import Window

    with Window(title="midrange: {} against {}".format(*session.names)) as window:
        pygame.joystick.init()  # from now on there are events of gamepads
        game = Game(session, Renderer(window.size), window.show, folder)
        try:
            game.run()
        finally:
            for path in game.saved:
                print(shown(path))


def load_contestants(
    options: argparse.Namespace,
) -> tuple[list[Contestant], list[str], dict[str, int | float]]:
    """Who flies red and blue, as `options` say.

    Returns:
        The contestants, as `Session` takes them; what they are called; and the parameters of the
        game that the policies among them were trained for, under those given.

    Raises:
        UsageError: No such pilot or model, or models of different games.
    """
    texts = [options.red, options.blue]
    paths = {text: path for text in texts if (path := _model_path(text, options)) is not None}
    models, parameters = load_models(list(paths.values()), options)
    policies = {text: policy for text, (policy, _) in zip(paths, models, strict=True)}
    contestants = [policies.get(text, text) for text in texts]
    names = [shown(paths[text].stem) if text in paths else text for text in texts]
    return contestants, names, parameters


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
        "two of them fight. H shows the keys.",
    )
    for seat, default in zip(SEATS, (HUMAN, "evader"), strict=True):
        options.add_key(Key(seat, str, f"who flies {seat}: {WHO}", default))
    options.add_data_dir()
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
