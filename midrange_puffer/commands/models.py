"""Models, opponents and games that a command line names: checked first, loaded later.

Only the functions that load need torch, and import it themselves.
"""

import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from midrange_puffer.commands.option import policy_names
from midrange_puffer.config.machine import MOST_THREADS
from midrange_puffer.config.schema import game_parameters
from midrange_puffer.errors import UsageError
from midrange_puffer.game.parameters import PILOTS, SELF, blindness, resolve
from midrange_puffer.names import suggest
from midrange_puffer.policies.champions import chosen_in_game, has_plain
from midrange_puffer.policies.mix import (
    FIGHTERS,
    FILE,
    FUNCTION,
    MODEL,
    contestants_of,
    file_of,
    kind_of,
    parse_mix,
)
from midrange_puffer.policies.models import (
    CHAMPION,
    check_is_model,
    is_shipped,
    path_of,
    shipped_models,
)
from midrange_puffer.train import run_folder
from midrange_puffer.train.run_folder import settled_mix

if TYPE_CHECKING:
    from midrange_puffer.contest.match import Contestant
    from midrange_puffer.policies.actors import PolicyModule

OPPONENT = (
    f"{', '.join(PILOTS)}, self, another model as in --load-model-path, a function of your own "
    "(module:name or file.py:name), or a mix such as shooter:1,fighter.onnx:3"
)


def threads_of(threads: int | str) -> int:
    """Returns the number of threads that --threads asks for.

    Raises:
        UsageError: There are fewer cores.
    """
    from midrange_puffer.train.machine import physical_cores, usable_cores

    if isinstance(threads, str):  # auto
        return min(usable_cores(), MOST_THREADS)
    if threads > (cores := physical_cores()):
        raise UsageError(
            f"command line: --threads: {threads}: there are {cores} physical cores; use "
            f"auto or at most {cores}"
        )
    return threads


def model_path(text: str, data_dir: str, game: Mapping[str, Any] = MappingProxyType({})) -> Path:
    """Returns the existing file that --load-model-path names.

    Args:
        text: the option's value.
        data_dir: folder of the runs.
        game: parameters of the command line, for whose game `champion` is meant.

    Raises:
        CheckpointError: No such file or run exists, the run has no model, or `best` is asked for
            and no checkpoint was rated.
        UsageError: No such model comes with the package.
    """
    text = chosen_in_game(text, game)
    if kind_of(text) == FUNCTION:
        raise UsageError(
            f"command line: --load-model-path: {text}: is a function, not a model; functions are "
            "taken as --opponent by eval and plot, as --red and --blue by play, as a FILE by "
            "league, and as env.opponent by train"
        )
    path = path_of(text) if is_shipped(text) else run_folder.find_model(text, data_dir)
    check_is_model(path)
    return path


def find_opponent(
    text: str, data_dir: str, allowed: Sequence[str] = FIGHTERS, argument: str = "opponent"
) -> str:
    """Returns a contestant or a mix in the form that `load_contestant` takes; its models exist.

    Args:
        text: in the form of policies/mix.py, or "self".
        data_dir: folder of the runs.
        allowed: kinds of contestants allowed in it.
        argument: the option that gives the text, for errors.

    Raises:
        UsageError: No such contestant, file or run exists.
    """
    if text == SELF:
        return text
    text = settled_mix(text, data_dir)
    try:
        names = parse_mix(text, allowed, argument)
    except UsageError:
        raise
    except ValueError as error:
        raise UsageError(str(error)) from None
    for name in names:
        if kind_of(name) == MODEL:
            check_is_model(file_of(name))
    return text.removeprefix(FILE) if kind_of(text) == MODEL else text


def find_champions(
    texts: Sequence[str], given: Mapping[str, Any], policy_name: str | None = None
) -> list[str]:
    """Returns contestants with the champion of their game in place of `champion`.

    Their game is that of the other models among them, with the given parameters.

    Args:
        texts: contestants or mixes, as `find_opponent` returns them.
        given: parameters of the command line.
        policy_name: value of --policy-name.

    Raises:
        UsageError: As for `load_models`; or the package has no champion of the game.
    """
    if not any(map(has_plain, texts)):
        return list(texts)
    game = game_of(texts, given, policy_name)
    return [chosen_in_game(text, game) for text in texts]


def game_of(
    texts: Sequence[str], given: Mapping[str, Any], policy_name: str | None = None
) -> dict[str, Any]:
    """Returns the parameters of the game of contestants, as far as they fix it.

    Arguments and errors are those of `find_champions`; `champion` fixes none.
    """
    names = {name for text in texts for name in contestants_of(text)} - {CHAMPION}
    paths = [file_of(name) for name in names if kind_of(name) == MODEL]
    if not paths:  # torch is not imported
        return dict(given)
    return {**_load(paths, given, policy_name)[1], **given}


def resolve_game(
    parameters: Mapping[str, int | float], paths: Sequence[Path] = ()
) -> dict[str, int | float]:
    """Returns a value for every parameter of a game, which may be of teams.

    Prints a warning if no sensor can have a track.

    Args:
        parameters: from models and the command line.
        paths: of the models, for errors.

    Raises:
        UsageError: The parameters contradict each other.
    """
    try:
        resolved = resolve(parameters, teams=True)
    except ValueError as error:
        where = [*map(str, paths[:1]), "the command line"]
        raise UsageError(f"the parameters of {' and '.join(where)}: {error}") from None
    if reason := blindness(resolved):
        print(f"no radar will have a track: {reason}", file=sys.stderr)
    return resolved


def load_models(
    paths: Sequence[Path], given: Mapping[str, Any], policy_name: str | None = None
) -> tuple[list[tuple["PolicyModule", dict[str, Any]]], dict[str, Any]]:
    """Loads models that were trained for the same game.

    Args:
        paths: of the models.
        given: parameters that override those of the models.
        policy_name: value of --policy-name.

    Returns:
        The policy and the entries of each file, as `load_policy` returns them; and a value for
        every parameter of the game. Pilots and rewards are those of the table, so that results
        compare even if training changed them.

    Raises:
        UsageError: A file does not exist or holds no model of this version, the models were trained
            for different games, or code of --policy-name cannot be used.
    """
    models, game = _load(paths, given, policy_name)
    return models, resolve_game({**game, **given}, paths)


def _load(
    paths: Sequence[Path], given: Mapping[str, Any], policy_name: str | None
) -> tuple[list[tuple["PolicyModule", dict[str, Any]]], dict[str, Any]]:
    """Returns the models as `load_models` does, and the parameters of their game."""
    from midrange_puffer.policies.loading import load_policy
    from midrange_puffer.policies.own_policy import own_policy

    for name in policy_names(policy_name):
        own_policy(name)
    models = [load_policy(path) for path in paths]
    game: dict[str, Any] = {}
    source: dict[str, Path] = {}
    for path, (_, entries) in zip(paths, models, strict=True):
        for name, value in game_parameters(entries["env"]).items():
            if game.setdefault(name, value) != value and name not in given:
                raise UsageError(
                    f"{name} is {game[name]} in {source[name]} and {value} in {path}: choose one "
                    f"with --env.{name.replace('_', '-')}"
                )
            source.setdefault(name, path)
    return models, game


def find_player(text: str, data_dir: str, outside: str, players: str) -> str:
    """Returns who flies a seat: a single contestant as `find_opponent` does, or `outside`.

    Args:
        text: as given.
        data_dir: folder of the runs.
        outside: the name of a player that is no contestant, such as "human".
        players: all that is allowed, for errors.

    Raises:
        UsageError: No such player exists.
    """
    if text == outside:
        return text
    text = settled_mix(text, data_dir)
    if kind_of(text) not in FIGHTERS:
        names = (outside, run_folder.LATEST, run_folder.BEST, *shipped_models(), *PILOTS)
        raise UsageError(f"{text!r}: must be {players}{suggest(text, names)}")
    return find_opponent(text, data_dir)


def load_players(
    texts: Iterable[str],
    paths: Mapping[str, Path],
    given: Mapping[str, Any],
    policy_name: str | None = None,
) -> tuple[dict[str, "Contestant"], dict[str, Any]]:
    """Loads results of `find_player`.

    Args:
        texts: the players.
        paths: the files of those that are models.
        given: parameters of the command line.
        policy_name: value of --policy-name.

    Returns:
        The contestant of each text, and the parameters of the game.

    Raises:
        UsageError: As for `load_models` and `load_opponent`.
    """
    players: dict[str, Contestant] = {
        text: load_opponent(text) if kind_of(text) == FUNCTION else text for text in texts
    }
    if not paths:  # torch is not imported, so that the fight begins at once
        return players, resolve_game(given)
    import torch

    torch.set_num_threads(1)  # small batches are slower with more
    models, parameters = load_models(list(paths.values()), given, policy_name)
    policies = {text: policy for text, (policy, _) in zip(paths, models, strict=True)}
    return players | policies, parameters


def load_opponent(text: str, policy: "Contestant | None" = None) -> "Contestant":
    """Returns the contestant that `find_opponent` has named; of "self" the `policy`.

    Raises:
        UsageError: The file holds no model of this version, or a function cannot be used.
    """
    from midrange_puffer.policies.contestants import load_contestant

    if text == SELF and policy is not None:
        return policy
    return load_contestant(text)
