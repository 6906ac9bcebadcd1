"""Exploiters, or best responses: policies trained against frozen ones and nobody else."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from midrange_puffer.config.schema import game_parameters
from midrange_puffer.errors import UsageError
from midrange_puffer.game.parameters import POOL
from midrange_puffer.policies import model_file
from midrange_puffer.policies.loading import load_policy
from midrange_puffer.policies.own_policy import full_name


def response_settings(
    enemies: Sequence[Path], parameters: Mapping[str, float], start_own: bool = False
) -> dict[str, object]:
    """The keys of a configuration that make it the training of an exploiter.

    Args:
        enemies: the models that are fought, by PFSP where they are several.
        parameters: of the game.
        start_own: begin with the weights of the first of them, not with random ones.

    Raises:
        UsageError: There is a comma in a path.
    """
    paths = [path.resolve() for path in enemies]  # the run may be resumed from another folder
    for path in paths:
        if "," in str(path):
            raise UsageError(f"{path}: has a comma, which separates paths in pool.include")
    _, model = load_policy(paths[0])
    settings = {
        **{f"env.{name}": model["env"][name] for name in model_file.SHAPING},
        **{f"env.{name}": value for name, value in game_parameters(parameters).items()},
        "load_model_path": None,
        "env.opponent": POOL,
        "pool.include": ",".join(map(str, paths)),
        "pool.size": len(paths),
        "pool.own": False,
        "curriculum.stages": None,
        "population.interval": 0,
    }
    if start_own:
        settings |= {f"policy.{name}": value for name, value in model["policy"].items()}
        settings |= {f"rnn.{name}": value for name, value in model["rnn"].items()}
        settings |= {
            "policy_name": full_name(model["policy_name"]),
            "rnn_name": model["rnn_name"],
            "load_model_path": paths[0],
        }
    return settings


def as_words(settings: Mapping[str, object]) -> list[str]:
    """Settings as words of a command line."""
    return [f"--{name}={value}" for name, value in settings.items()]
