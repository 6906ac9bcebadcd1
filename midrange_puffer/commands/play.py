"""`puffer play midrange`: fly against a pilot, a policy or each other, or look on."""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from midrange_puffer.commands.arguments import given_parameters, resolve_game
from midrange_puffer.errors import UsageError
from midrange_puffer.game.parameters import HUMAN, WINGMEN, is_team, sizes_of
from midrange_puffer.names import shown
from midrange_puffer.policies.contestants import load_contestant
from midrange_puffer.policies.mix import FUNCTION, kind_of, title
from midrange_puffer.replays.session import Session

if TYPE_CHECKING:
    from midrange_puffer.contest.match import Contestant


def main(options: argparse.Namespace) -> int:
    """Play, with what `options.play` has read; return the exit status."""
    folder = Path(options.save) if options.save else None
    contestants, names, parameters = load_contestants(options)
    _play(Session(contestants, names, options.seed, options.greedy, **parameters), folder)
    return 0


def _play(session: Session, folder: Path | None) -> None:
    """Open a window for a session until it is closed; at the end print what was saved."""
    import pygame

    from midrange_puffer.show.play.loop import Game
    from midrange_puffer.show.view.renderer import Renderer
    from midrange_puffer.show.view.viewer import Window

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
) -> tuple[list["Contestant | list[Contestant]"], list[str], dict[str, int | float]]:
    """Who flies red and blue, as `options` say.

    Returns:
        The contestants, as `Session` takes them; what they are called; and the parameters of the
        game that the policies among them were trained for, under those given.

    Raises:
        UsageError: Models that cannot be used, or of different games.
    """
    texts = [options.red, options.blue]
    flyers, parameters = _load([*texts, options.wingmen], options)
    contestants, names = [flyers[text] for text in texts], [shown(title(text)) for text in texts]
    if not is_team(parameters):
        if options.wingmen != WINGMEN:
            raise UsageError(
                f"command line: --wingmen: {options.wingmen}: one flies against one, there are none"
            )
        return contestants, names, parameters
    for side, size in enumerate(sizes_of(parameters)):
        if texts[side] == HUMAN and size > 1:
            contestants[side] = [HUMAN, *[flyers[options.wingmen]] * (size - 1)]
            names[side] = f"{HUMAN}, {shown(title(options.wingmen))}"
    return contestants, names, parameters


def _load(
    texts: list[str], options: argparse.Namespace
) -> tuple[dict[str, "Contestant"], dict[str, int | float]]:
    """Who is meant by each text, and the parameters of the game, as of `load_contestants`."""
    flyers: dict[str, Contestant] = {
        text: load_contestant(text) if kind_of(text) == FUNCTION else text for text in texts
    }
    paths = options.models
    if not paths:
        return flyers, resolve_game(given_parameters(options), teams=True)
    # Here, so that a fight without a policy begins without torch, at once.
    import torch

    from midrange_puffer.commands.models import load_models

    torch.set_num_threads(1)  # small batches are slower with more
    models, parameters = load_models(list(paths.values()), options, teams=True)
    policies = {text: policy for text, (policy, _) in zip(paths, models, strict=True)}
    return flyers | policies, parameters
