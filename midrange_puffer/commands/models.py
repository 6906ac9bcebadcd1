"""The models that a command line names, loaded."""

import argparse
from collections.abc import Sequence
from pathlib import Path

from torch import nn

from midrange_puffer.commands.arguments import (
    given_parameters,
    policy_names,
    resolve_game,
)
from midrange_puffer.config.schema import game_parameters
from midrange_puffer.contest.match import Contestant
from midrange_puffer.errors import UsageError
from midrange_puffer.game.parameters import SELF
from midrange_puffer.policies.contestants import load_contestant
from midrange_puffer.policies.loading import load_policy
from midrange_puffer.policies.own_policy import own_policy


def load_model(options: argparse.Namespace) -> tuple[nn.Module, dict[str, int | float]]:
    """Load `options.model`.

    Returns:
        The policy, and the parameters of its game, as of `load_models`.

    Raises:
        UsageError: Not a model of this version, or parameters at odds.
    """
    [(policy, _)], parameters = load_models([options.model], options)
    return policy, parameters


def load_models(
    paths: Sequence[Path], options: argparse.Namespace, teams: bool = False
) -> tuple[list[tuple[nn.Module, dict[str, object]]], dict[str, int | float]]:
    """Load models that were trained for the same game; `teams` as of `resolve_game`.

    Returns:
        What `checkpoint.load_policy` gives for each, and a value for every parameter of the game
        they were trained for, with the pilots and rewards of the table, so that training never
        moves the yardstick; over both whatever was given as --env.<parameter>.

    Raises:
        UsageError: No such file, not a model of this version, parameters at odds, or code of
            --policy-name that cannot be used.
    """
    for name in policy_names(options):
        own_policy(name)
    models = [load_policy(path) for path in paths]
    given = given_parameters(options)
    game: dict[str, object] = {}
    source: dict[str, Path] = {}
    for path, (_, meta) in zip(paths, models, strict=True):
        for name, value in game_parameters(meta["env"]).items():
            if game.setdefault(name, value) != value and name not in given:
                raise UsageError(
                    f"{name} is {game[name]} in {source[name]} and {value} in {path}: choose one "
                    f"with --env.{name.replace('_', '-')}"
                )
            source.setdefault(name, path)
    return models, resolve_game({**game, **given}, paths, teams)


def load_opponent(text: str, policy: nn.Module) -> Contestant:
    """Who is meant by what `arguments.find_opponent` gives; `policy` itself for "self".

    Raises:
        UsageError: Not a model of this version, or a function that cannot be used.
    """
    return policy if text == SELF else load_contestant(text)
