"""What of a configuration makes the game."""

from collections.abc import Mapping

from midrange_puffer.config.schema import RETIRED, schema
from midrange_puffer.game.parameters import OPTIONS, PARAMETERS

# Groups of parameters that training may vary without changing the game.
TRAINING_GROUPS = ("reward", "pilot")


def game_parameters(env: Mapping[str, object]) -> dict[str, object]:
    """What of a model's [env] makes the game: neither who is fought, nor pilots and rewards."""
    training = {name for name, row in PARAMETERS.items() if row.group in TRAINING_GROUPS}
    return {
        name: value
        for name, value in env.items()
        if name not in {*OPTIONS, *training} and f"env.{name}" not in RETIRED
    }


def game_of(config: Mapping[str, Mapping[str, object]]) -> dict[str, object]:
    """What of a configuration makes the game. A reward of the user's own is no part of it."""
    ours = schema()["env"]
    return game_parameters({name: value for name, value in config["env"].items() if name in ours})
