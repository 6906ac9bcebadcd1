"""The games that have a name. Each of them has a panel, and may have a champion."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from midrange_puffer.game.parameters import OBSERVED, PARAMETERS, RADAR, Parameters

DEFAULT_GAME = "default"


@dataclass(frozen=True)
class Game:
    """A game that has a name.

    Attributes:
        title: the game in words.
        settings: its parameters among `OBSERVED` that differ from the defaults.
    """

    title: str
    settings: Mapping[str, Any]


_SENSORS, _TEAMS = {"sensing": RADAR}, {"red_size": 2, "blue_size": 2}
GAMES: dict[str, Game] = {
    DEFAULT_GAME: Game("one against one", {}),
    "radar": Game("one against one with sensors", _SENSORS),
    "team2": Game("two against two", _TEAMS),
    "team2_radar": Game("two against two with sensors", {**_TEAMS, **_SENSORS}),
}


def changed_settings(parameters: Parameters) -> dict[str, Any]:
    """Returns the parameters of `OBSERVED` that differ from the defaults.

    Args:
        parameters: of a game; those that it lacks have their default.
    """
    return {
        name: parameters[name]
        for name in OBSERVED
        if name in parameters and parameters[name] != PARAMETERS[name].default
    }


def game_name(parameters: Parameters) -> str | None:
    """Returns the name of a game; None if it has none. Other parameters do not matter."""
    settings = changed_settings(parameters)
    return next((name for name, game in GAMES.items() if game.settings == settings), None)


def describe_game(parameters: Parameters) -> str:
    """Returns a game for messages: its name and title, or the settings that it has instead."""
    name = game_name(parameters)
    if name is not None:
        return describe_named(name)
    return ", ".join(f"{key} = {value}" for key, value in changed_settings(parameters).items())


def describe_named(name: str) -> str:
    """Returns the name and title of one of `GAMES`, such as "team2 (two against two)"."""
    return f"{name} ({GAMES[name].title})"
