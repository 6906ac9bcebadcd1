"""The champion of each game. The name `champion` alone means the champion of the game flown."""

import sys

from midrange_puffer.errors import UsageError
from midrange_puffer.game.games import GAMES, describe_game, describe_named, game_name
from midrange_puffer.game.parameters import Parameters
from midrange_puffer.policies.mix import contestants_of, replaced
from midrange_puffer.policies.models import CHAMPION, champion_name, shipped_models


def champion_of(parameters: Parameters) -> str:
    """Returns the name of the champion of a game.

    Args:
        parameters: of the game; those that it lacks have their default.

    Raises:
        UsageError: The package has no champion of this game.
    """
    game = game_name(parameters)
    models = shipped_models()
    if game is not None and champion_name(game) in models:
        return champion_name(game)
    present = [describe_named(name) for name in GAMES if champion_name(name) in models]
    raise UsageError(
        f"{CHAMPION}: this package has none of the game {describe_game(parameters)}; the games "
        f"that have one: {', '.join(present)}"
    )


def has_champion(parameters: Parameters) -> bool:
    """True if the package has a champion of a game."""
    game = game_name(parameters)
    return game is not None and champion_name(game) in shipped_models()


def has_plain(text: str) -> bool:
    """True if `champion`, without a game, is in a mix."""
    return CHAMPION in contestants_of(text)


def in_game(text: str, parameters: Parameters) -> str:
    """Returns a mix with the champion of a game in place of `champion`.

    Raises:
        UsageError: The package has no champion of this game, or it is in the mix twice.
    """
    if not has_plain(text):
        return text
    champion = champion_of(parameters)
    if champion != CHAMPION and champion in contestants_of(text):
        raise UsageError(f"{text}: in this game {CHAMPION} is {champion}, which is given twice")
    return replaced(text, CHAMPION, champion)


def chosen_in_game(text: str, parameters: Parameters) -> str:
    """Returns the same, and prints the champion on stderr if it is another than `champion`."""
    chosen = in_game(text, parameters)
    if chosen != text:
        title = GAMES[str(game_name(parameters))].title
        print(f"{CHAMPION}: {champion_of(parameters)}, of the game {title}", file=sys.stderr)
    return chosen
