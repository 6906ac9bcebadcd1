"""What the options of several modes share. What is heavy, as torch, is not imported for them."""

import argparse
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from midrange_puffer._threads import MAX_THREADS
from midrange_puffer.config.key import AUTO, Key
from midrange_puffer.config.machine import MOST_THREADS
from midrange_puffer.config.schema import schema
from midrange_puffer.errors import UsageError
from midrange_puffer.files import check_writable
from midrange_puffer.game.parameters import (
    EXPORTED,
    PARAMETERS,
    PILOTS,
    SELF,
    blindness,
    resolve,
    suggest,
)
from midrange_puffer.policies.mix import (
    BEST,
    FIGHTERS,
    FILE,
    FUNCTION,
    LATEST,
    MODEL,
    file_of,
    kind_of,
    parse_mix,
)
from midrange_puffer.policies.models import (
    MODELS,
    check_is_model,
    is_shipped,
    path_of,
    shipped_models,
)
from midrange_puffer.policies.own_code import check_form
from midrange_puffer.train import run_folder
from midrange_puffer.train.machine import physical_cores, usable_cores
from midrange_puffer.train.run_folder import settled_mix

OPPONENT = (
    f"{', '.join(PILOTS)}, self, another model as in --load-model-path, a function of your own "
    "(module:name or file.py:name), or a mix such as shooter:1,fighter.onnx:3"
)
MODEL_FILES = (
    f"{MODELS} of a run folder, *{EXPORTED} of puffer export, or one that comes with "
    f"the package: {', '.join(shipped_models())}"
)


class Parser(argparse.ArgumentParser):
    """Options described by `Key`s; '-' and '_' are one. What is wrong is raised as UsageError.

    Attributes:
        keys: by option.
    """

    def __init__(self, mode: str, description: str) -> None:
        super().__init__(
            f"puffer {mode} midrange",
            usage="%(prog)s [--option VALUE …]",
            description=description,
            allow_abbrev=False,
        )
        self.keys: dict[str, Key] = {}

    def add_key(self, key: Key, option: str | None = None) -> None:
        """Take `--option VALUE`, by default named as the key; a bool is a flag, False without."""
        name = f"--{option or key.name}".replace("_", "-")
        unit = f" ({key.unit})" if key.unit not in ("", "1") else ""
        text = f"{key.meaning}{unit}"
        self.keys[name] = key
        if key.kind is bool:
            self.add_argument(name, dest=key.name, action="store_true", help=text)
            return
        default = "" if key.default is argparse.SUPPRESS else f"; default {key.default}"
        self.add_argument(
            name,
            dest=key.name,
            type=_reader(key),
            default=key.default,
            metavar=key.kind.__name__.upper(),
            help=f"{text} [{key.allowed}{default}]".replace("%", "%%"),
        )

    def add_model(self, files: str = MODEL_FILES) -> None:
        """Take --load-model-path, one of `files`, and where runs are looked for."""
        meaning = (
            f"{files}; a run's folder or name = its newest model, RUN/{BEST} = its best-rated one; "
            f"{LATEST} = the newest of all runs; {BEST} = the best-rated one of the newest run"
        )
        self.add_key(Key("load_model_path", str, meaning, LATEST))
        self.add_data_dir()
        self.add_policy_names()

    def add_policy_names(self) -> None:
        """Take --policy-name: the code of models whose policy is not the package's."""
        meaning = (
            "policies of your own that the models are of, as in their training: module:Class or "
            "file.py:Class, separated by commas"
        )
        self.add_key(Key("policy_name", str, meaning, None, check=_check_names))

    def add_data_dir(self) -> None:
        """Take --train.data-dir, where runs are looked for."""
        self.add_key(schema()["train"]["data_dir"], "train.data_dir")

    def add_json(self) -> None:
        """Take --json, a file whose folder is there."""
        meaning = "also write the results to this file"
        self.add_key(Key("json", str, meaning, None, check=check_writable))

    def add_threads(self) -> None:
        """Take --threads, for `threads_of`."""
        meaning = (
            "threads that fly the engagements and compute the policies; the result does not depend "
            f"on it. auto = the cores, at most {MOST_THREADS}"
        )
        self.add_key(Key("threads", int, meaning, "auto", 1, MAX_THREADS, AUTO))

    def add_files(self, name: str, meaning: str) -> None:
        """Take any number of words that belong to no option."""
        self.add_argument(name, nargs="*", metavar="FILE", help=meaning)
        self.usage = "%(prog)s [FILE …] [--option VALUE …]"

    def add_game(self) -> None:
        """Take --env.<parameter>; only what is given is in the result."""
        for name, key in schema()["env"].items():
            if name in PARAMETERS and PARAMETERS[name].group != "reward":
                self.add_key(replace(key, default=argparse.SUPPRESS), f"env.{name}")

    def read(self, argv: Sequence[str]) -> argparse.Namespace:
        """Parse the words after the environment's name."""
        options, unknown = self.read_known(argv)
        if unknown:
            name = unknown[0].partition("=")[0]
            raise UsageError(
                f"command line: {name}: no such option{suggest(name, self._option_string_actions)}"
            )
        return options

    def read_known(self, argv: Sequence[str]) -> tuple[argparse.Namespace, list[str]]:
        """Parse what is known here; return it and the other words."""
        return self.parse_known_intermixed_args([_dashed(word) for word in argv])

    def error(self, message: str) -> None:
        """Called by argparse where an option cannot be read."""
        raise UsageError(f"command line: {message}")


def threads_of(options: argparse.Namespace) -> int:
    """The number of threads that --threads asks for.

    Raises:
        UsageError: There are fewer cores.
    """
    if options.threads == "auto":
        return min(usable_cores(), MOST_THREADS)
    if options.threads > (cores := physical_cores()):
        raise UsageError(
            f"command line: --threads: {options.threads}: there are {cores} physical cores; use "
            f"auto or at most {cores}"
        )
    return options.threads


def given_parameters(options: argparse.Namespace) -> dict[str, int | float]:
    """What was given as --env.<parameter>."""
    return {name: value for name, value in vars(options).items() if name in PARAMETERS}


def resolve_game(
    parameters: Mapping[str, int | float], paths: Sequence[Path] = (), teams: bool = False
) -> dict[str, int | float]:
    """A value for every parameter of a game, of models in these files and the command line.

    `teams` says whether more than one may fly on a side.

    It says so where sensors can have no track.

    Raises:
        UsageError: They are at odds.
    """
    try:
        resolved = resolve(parameters, teams=teams)
    except ValueError as error:
        where = [*map(str, paths[:1]), "the command line"]
        raise UsageError(f"the parameters of {' and '.join(where)}: {error}") from None
    if reason := blindness(resolved):
        print(f"no radar will have a track: {reason}", file=sys.stderr)
    return resolved


def model_path(options: argparse.Namespace) -> Path:
    """The file that --load-model-path names; it is there.

    Raises:
        CheckpointError: It is not, or there is no such run, or none at all for the latest, or no
            checkpoint of it was rated.
        UsageError: No such model comes with the package.
    """
    text = options.load_model_path
    if kind_of(text) == FUNCTION:
        raise UsageError(
            f"command line: --load-model-path: {text}: is a function, not a model; functions are "
            "taken as --opponent by eval and plot, as --red and --blue by play, as a FILE by "
            "league, and as env.opponent by train"
        )
    path = path_of(text) if is_shipped(text) else run_folder.find_model(text, options.data_dir)
    check_is_model(path)
    return path


def find_opponent(
    text: str, data_dir: str, allowed: Sequence[str] = FIGHTERS, argument: str = "opponent"
) -> str:
    """A contestant or a mix as `contestants.load_contestant` takes it; its models are there.

    Args:
        text: as policies/mix.py has it, or "self".
        data_dir: where runs are looked for.
        allowed: the kinds that may be in it.
        argument: what the text was given as.

    Raises:
        UsageError: No such contestant, or a file or run that is not there.
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


def policy_names(options: argparse.Namespace) -> list[str]:
    """What --policy-name names."""
    given = vars(options).get("policy_name")
    return [name.strip() for name in given.split(",")] if given else []


def _check_names(text: str) -> None:
    for name in text.split(","):
        check_form(name.strip())


def _reader(key: Key) -> Callable[[str], object]:
    def read(text: str) -> object:
        try:
            return key.parse(text)
        except ValueError as error:
            raise argparse.ArgumentTypeError(f"{text}: {error}") from None

    return read


def _dashed(word: str) -> str:
    """An option's name with '-' for '_'; any other word as it is."""
    if not word.startswith("--"):
        return word
    name, equals, value = word.partition("=")
    return name.replace("_", "-") + equals + value
