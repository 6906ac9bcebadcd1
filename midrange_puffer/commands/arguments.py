"""The command line of the modes that use a trained model."""

import argparse
import contextlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from rich.console import Console
from rich.progress import Progress, TextColumn
from torch import nn

from midrange_puffer._threads import MAX_THREADS
from midrange_puffer.config.game import game_parameters
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
    parse_pilots,
    resolve,
    suggest,
)
from midrange_puffer.names import shown
from midrange_puffer.policies import model_file
from midrange_puffer.policies.loading import load_policy
from midrange_puffer.policies.shipped import is_model, is_shipped, path_of, shipped_models
from midrange_puffer.train import run_folder
from midrange_puffer.train.machine import this_machine

MODEL_FILES = (
    f"{model_file.MODELS} of a run folder, *{EXPORTED} of puffer export, or one that comes with "
    f"the package: {', '.join(shipped_models())}"
)


class Parser(argparse.ArgumentParser):
    """Options described by `Key`s; '-' and '_' are one. What is wrong is raised as UsageError."""

    def __init__(self, mode: str, description: str) -> None:
        super().__init__(
            f"puffer {mode} midrange",
            usage="%(prog)s [--option VALUE …]",
            description=description,
            allow_abbrev=False,
        )

    def add_key(self, key: Key, option: str | None = None) -> None:
        """Take `--option VALUE`, by default named as the key; a bool is a flag, False without."""
        name = f"--{option or key.name}".replace("_", "-")
        unit = f" ({key.unit})" if key.unit not in ("", "1") else ""
        text = f"{key.meaning}{unit}"
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
        """Take --load-model-path, one of `files`, and where its `latest` is looked for."""
        meaning = (
            f"{files}; a run's folder or name = its newest model; latest = the newest of all runs"
        )
        self.add_key(Key("load_model_path", str, meaning, "latest"))
        self.add_data_dir()

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
    machine = this_machine()
    if options.threads == "auto":
        return min(machine.cores, MOST_THREADS)
    if options.threads > machine.physical_cores:
        raise UsageError(
            f"command line: --threads: {options.threads}: there are {machine.physical_cores} "
            f"physical cores; use auto or at most {machine.physical_cores}"
        )
    return options.threads


def load_model(options: argparse.Namespace) -> tuple[Path, nn.Module, dict[str, int | float]]:
    """Load the model that `options` name.

    Returns:
        Its path, the policy, and the parameters of its game, as of `load_models`.

    Raises:
        UsageError: No such file, not a model of this version, or parameters at odds.
    """
    path = model_path(options)
    [(policy, _)], parameters = load_models([path], options)
    return path, policy, parameters


def model_path(options: argparse.Namespace) -> Path:
    """The file that --load-model-path names.

    Raises:
        CheckpointError: There is no such run, or the latest is wanted and there is none.
        UsageError: No such model comes with the package.
    """
    path = options.load_model_path
    return path_of(path) if is_shipped(path) else run_folder.find_model(path, options.data_dir)


def load_models(
    paths: Sequence[Path], options: argparse.Namespace
) -> tuple[list[tuple[nn.Module, dict[str, object]]], dict[str, int | float]]:
    """Load models that were trained for the same game.

    Returns:
        What `checkpoint.load_policy` gives for each, and a value for every parameter of the game
        they were trained for, with the pilots and rewards of the table, so that training never
        moves the yardstick; over both whatever was given as --env.<parameter>.

    Raises:
        UsageError: No such file, not a model of this version, or parameters at odds.
    """
    models = [load_policy(path) for path in paths]
    given = {name: value for name, value in vars(options).items() if name in PARAMETERS}
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
    where = [*map(str, paths[:1]), "the command line"]
    try:
        return models, resolve({**game, **given})
    except ValueError as error:
        raise UsageError(f"the parameters of {' and '.join(where)}: {error}") from None


def load_opponent(text: str, policy: nn.Module) -> str | nn.Module:
    """An opponent's name or mix, checked, or the policy of a file; `policy` itself for "self".

    Raises:
        UsageError: Neither a known name nor a model of this version.
    """
    if text == SELF:
        return policy
    if is_model(text):
        return load_policy(text)[0]
    try:
        parse_pilots(text)
    except ValueError as error:
        raise UsageError(f"{error}; or a model's file, {MODEL_FILES}") from None
    return text


@contextlib.contextmanager
def progress_bar(what: str, total: int) -> Iterator[Callable[[int], None]]:
    """Show on stderr how much of `total` is done, by what is told to the function given."""
    # In place of rich's own first column, which takes a text for markup.
    columns = (TextColumn("{task.description}", markup=False), *Progress.get_default_columns()[1:])
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task(shown(what), total=total)
        yield lambda count: progress.advance(task, count)


OPPONENT = f"{', '.join(PILOTS)}, a mix such as shooter:1,evader:3, self or another model's file"


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
