"""Options of the command line: fields of a frozen dataclass, read by argparse.

Each mode has a class `Options`. A field that `value`, or a function like it, declares is an option
of the same name. The field's annotation is the option's type, and the order of the fields is that
of `--help`. Nothing heavy, such as torch or rich, is imported here.
"""

import argparse
import os
import sys
import textwrap
from collections.abc import Callable, Iterable, Sequence
from dataclasses import MISSING, Field, dataclass, field, fields, replace
from typing import Any, ClassVar, Generic, NoReturn, Protocol, TypeVar, get_args, get_type_hints

from midrange_puffer._threads import MAX_THREADS
from midrange_puffer.config.aliases import OPTIONS
from midrange_puffer.config.hints import option_of, refusal
from midrange_puffer.config.key import AUTO, Key
from midrange_puffer.config.machine import MOST_THREADS
from midrange_puffer.config.reading import help_sections_of
from midrange_puffer.config.schema import schema
from midrange_puffer.errors import UsageError
from midrange_puffer.files import check_writable
from midrange_puffer.game.parameters import EXPORTED, PARAMETERS
from midrange_puffer.names import suggest
from midrange_puffer.policies.mix import BEST, LATEST
from midrange_puffer.policies.models import MODELS, shipped_models
from midrange_puffer.policies.own_code import check_form

MODEL_FILES = (
    f"{MODELS} of a run folder, *{EXPORTED} of puffer export, or one that comes with "
    f"the package: {', '.join(shipped_models())}"
)
ENV_NAME = "midrange"
GAME = "env."  # begins the options of the game's parameters
OF_TRAINING = "it is a key of training, and a model's file says what it was trained with"
_ADD = "add"  # in a field's metadata: the function that adds its option to a parser


class _Dataclass(Protocol):
    __dataclass_fields__: ClassVar[dict[str, Field[Any]]]


T = TypeVar("T", bound=_Dataclass)
_Adder = Callable[["Parser[Any]", str, tuple[type, ...]], None]  # of a field's name and types


def value(
    meaning: str,
    default: Any = MISSING,
    minimum: float | None = None,
    maximum: float | None = None,
    *,
    words: tuple[Any, ...] = (),
    choices: tuple[str, ...] = (),
    check: Callable[[Any], object] | None = None,
    unit: str = "",
    hides_default: bool = False,
    option: str | None = None,
    alone: Any = None,
) -> Any:
    """Declares a field that is the option `--name VALUE`; of a bool, the flag `--name`.

    Args:
        meaning: shown by `--help`.
        default: without one the option must be given.
        minimum: inclusive, of a number.
        maximum: inclusive, of a number.
        words: values allowed besides those of the type, such as "auto".
        choices: the only strings allowed; empty: any.
        check: raises ValueError for a value that is not allowed.
        unit: shown behind the meaning.
        hides_default: True if `--help` does not show the default.
        option: the option's name; None: the field's.
        alone: value of the option without a word behind it; None: it needs one.
    """
    shown = argparse.SUPPRESS if default is MISSING or hides_default else default
    key = Key("", str, meaning, shown, minimum, maximum, words, choices, check, unit)

    def add(parser: "Parser[Any]", name: str, types: tuple[type, ...]) -> None:
        kind = next(kind for kind in (bool, int, float, str) if kind in types)
        parser.add_key(replace(key, name=name, kind=kind), option, alone)

    return _field(add, default)


def flag(meaning: str) -> Any:
    """Declares a field that is True if the option `--name` is given."""
    return value(meaning, False)


def output(meaning: str, end: str, default: object = MISSING) -> Any:
    """Declares the option of a file to write; it must end in `end`, in an existing folder."""

    def check(path: str) -> None:
        if not path.endswith(end):
            raise ValueError(f"must end in {end}")
        check_writable(path)

    return value(meaning, default, check=check)


def files(meaning: str) -> Any:
    """Declares a field for any number of words that belong to no option."""

    def add(parser: "Parser[Any]", name: str, types: tuple[type, ...]) -> None:
        parser.add_argument(name, nargs="*", metavar="FILE", help=meaning)
        parser.usage = "%(prog)s [FILE …] [--option VALUE …]"

    return _field(add, ())


def several(metavar: str, meaning: str) -> Any:
    """Declares the option `--name VALUE …`."""

    def add(parser: "Parser[Any]", name: str, types: tuple[type, ...]) -> None:
        parser.add_argument(f"--{name}", nargs="+", metavar=metavar, default=(), help=meaning)

    return _field(add, ())


def same_as(options: type[_Dataclass], name: str) -> Any:
    """Declares the option that another mode has under this name."""
    other = options.__dataclass_fields__[name]
    return field(default=other.default, metadata=other.metadata)


def load_model_path(names: str = MODEL_FILES) -> Any:
    """Declares --load-model-path, which takes one of `names`."""
    return value(
        f"{names}; a run's folder or name = its newest model, RUN/{BEST} = its best-rated one; "
        f"{LATEST} = the newest of all runs; {BEST} = the best-rated one of the newest run",
        LATEST,
    )


def policy_name() -> Any:
    """Declares --policy-name: the code of models whose policy is not the package's."""
    return value(
        "classes of your own policies, as in the models' training: module:Class or file.py:Class, "
        "separated by commas",
        None,
        check=lambda text: [check_form(name) for name in policy_names(text)],
    )


def policy_names(text: str | None) -> list[str]:
    """Returns the names in a value of --policy-name."""
    return [name.strip() for name in text.split(",")] if text is not None else []


def data_dir() -> Any:
    """Declares --train.data-dir, the folder of the runs."""
    key = schema()["train"]["data_dir"]
    return _field(lambda parser, *_: parser.add_key(key, "train.data_dir"), key.default)


def json() -> Any:
    """Declares --json, a file whose folder exists."""
    return value("also write the results to this file", None, check=check_writable)


def seed(meaning: str = "seed of the starts and the actions", default: int = 0) -> Any:
    """Declares --seed."""
    return value(meaning, default, 0, 2**63 - 1)


def greedy() -> Any:
    """Declares --greedy."""
    return flag("take the likeliest action instead of drawing one")


def threads() -> Any:
    """Declares --threads, for `models.threads_of`."""
    meaning = (
        "threads that fly the engagements and compute the policies; the result does not depend "
        f"on it. auto = the cores, at most {MOST_THREADS}"
    )
    return value(meaning, "auto", 1, MAX_THREADS, words=AUTO)


def game(names: Iterable[str] | None = None) -> Any:
    """Declares the field `game`: parameters given as --env.<parameter>, by name.

    Args:
        names: of the parameters; None: all but the rewards.
    """

    def add(parser: "Parser[Any]", name: str, types: tuple[type, ...]) -> None:
        keys = schema()["env"]
        flown = [key for key in keys if key in PARAMETERS and PARAMETERS[key].group != "reward"]
        if names is None:
            parser.add_game_help()
        for key in flown if names is None else names:
            parser.add_key(replace(keys[key], default=argparse.SUPPRESS), f"{GAME}{key}")

    return _field(add, MISSING, dict)


def config() -> Any:
    """Declares --config."""
    meaning = "an ini file whose values replace the defaults: configs/default.ini, or a run's "
    return value(f"{meaning}config.ini", None)


def ranks() -> Any:
    """Declares --ranks, for `check_ranks`."""
    return value("number of processes on this machine that train together", None, 1, 10**6)


def max_restarts() -> Any:
    """Declares --max-restarts, for `check_ranks`."""
    meaning = "number of restarts from the last checkpoint after a process has failed"
    return value(meaning, None, 0, 1000)


def overrides(is_listed: bool = True) -> Any:
    """Declares the field `overrides`: the words of the configuration, --section.key VALUE.

    Args:
        is_listed: True if `--help` lists the keys.
    """

    def add(parser: "Parser[Any]", name: str, types: tuple[type, ...]) -> None:
        parser.takes_config = is_listed
        if is_listed:
            parser.usage = "%(prog)s [--option VALUE …] [--section.key VALUE …]"

    return _field(add, ())


def settled() -> Any:
    """Declares a field that is no option: the mode's `read` sets it."""
    return field(default=None)


def _field(add: _Adder, default: object, factory: Any = MISSING) -> Any:
    return field(default=default, default_factory=factory, metadata={_ADD: add})


def _is_of_training(name: str) -> bool:
    """True if `name`, section.key, is a key of the configuration."""
    section, _, key = name.partition(".")
    return key in schema().get(section, {})


class Parser(argparse.ArgumentParser, Generic[T]):
    """The parser of a mode's `Options`. In names '-' and '_' are the same.

    Attributes:
        keys: by option.
        takes_config: True if every key of the configuration is an option, too.
    """

    def __init__(self, mode: str, description: str, options: type[T]) -> None:
        super().__init__(
            f"puffer {mode} {ENV_NAME}",
            usage="%(prog)s [--option VALUE …]",
            description=description,
            allow_abbrev=False,
        )
        self.keys: dict[str, Key] = {}
        self.takes_config = False
        self._game: argparse._ArgumentGroup | None = None  # options that --help leaves out
        self._options = options
        self._words: Sequence[str] = ()
        annotations = get_type_hints(options)
        for item in fields(options):
            if add := item.metadata.get(_ADD):
                annotation = annotations[item.name]
                add(self, item.name, get_args(annotation) or (annotation,))

    def add_game_help(self) -> None:
        """Adds --help-env, which lists the game's parameters; --help then leaves them out."""
        self.add_argument(
            "--help-env",
            action=_GameHelp,
            dest=argparse.SUPPRESS,
            default=argparse.SUPPRESS,
            nargs=0,
            help="show the parameters of the game, which are options, too: --env.NAME VALUE",
        )
        self._game = self.add_argument_group("parameters of the game")

    def format_game_help(self) -> str:
        """Returns the game's parameters with their meanings."""
        formatter = self._get_formatter()
        if self._game is not None:
            formatter.start_section(self._game.title)
            formatter.add_arguments(self._game._group_actions)
            formatter.end_section()
        return formatter.format_help()

    def add_key(self, key: Key, option: str | None = None, alone: Any = None) -> None:
        """Adds the option of a key: `--option VALUE`, or a flag if the key is a bool.

        Args:
            key: of the value; it becomes the attribute `key.name`, or, of a parameter of the game,
                `option`.
            option: its name; None: the key's.
            alone: as in `value`.
        """
        option = option or key.name
        name = f"--{option}".replace("_", "-")
        unit = f" ({key.unit})" if key.unit not in ("", "1") else ""
        text = f"{key.meaning}{unit}"
        self.keys[name] = key
        dest = option if option.startswith(GAME) else key.name
        if key.kind is bool:
            self.add_argument(name, dest=dest, action="store_true", help=text)
            return
        default = "" if key.default is argparse.SUPPRESS else f"; default {key.default}"
        place = self._game if self._game is not None and option.startswith(GAME) else self
        place.add_argument(
            name,
            dest=dest,
            nargs=None if alone is None else "?",
            const=alone,
            type=_reader(key),
            default=key.default,
            metavar=key.kind.__name__.upper(),
            help=f"{text} [{key.allowed}{default}]".replace("%", "%%"),
        )

    def read(self, argv: Sequence[str]) -> T:
        """Reads the words after the environment's name.

        Raises:
            UsageError: An option is unknown, wrong or missing.
        """
        self._words = argv  # `--help` also lists the keys of code that they name
        words = [self._current(_dashed(word)) for word in argv]
        namespace, rest = self.parse_known_intermixed_args(words)
        values = vars(namespace)
        declared = {item.name: item for item in fields(self._options)}
        if "overrides" in declared:
            values["overrides"] = tuple(rest)
        elif rest:
            name = rest[0].partition("=")[0]
            plain = name.removeprefix("--").replace("-", "_")
            words = refusal(plain) or (OF_TRAINING if _is_of_training(plain) else None)
            hint = f"; {words}" if words else suggest(name, self._option_string_actions)
            raise UsageError(f"command line: {name}: no such option{hint}")
        for name, item in declared.items():
            if item.default is item.default_factory is MISSING and name not in values:
                meaning = self.keys[f"--{name}"].meaning
                raise UsageError(f"command line: --{name} is missing: {meaning}")
        parameters = [name for name in values if name.startswith(GAME)]
        if "game" in declared:
            values["game"] = {name.removeprefix(GAME): values.pop(name) for name in parameters}
        return self._options(**values)

    def _current(self, word: str) -> str:
        """Returns a word with this parser's option for one that another library calls otherwise."""
        name, equals, text = word.partition("=")
        option = OPTIONS.get(name)
        if option not in self._option_string_actions or name in self._option_string_actions:
            return word
        print(f"command line: {name}: taken as {option}", file=sys.stderr)
        return f"{option}{equals}{text}"

    def format_help(self) -> str:
        """Returns the mode's own options, then, if it takes them, all keys of the configuration."""
        if not self.takes_config:
            groups = self._action_groups
            self._action_groups = [group for group in groups if group is not self._game]
            try:
                return super().format_help()
            finally:
                self._action_groups = groups
        lines = [
            super().format_help(),
            "Every key below may stand in an ini file, in its section, and is an option here:",
            "--section.key VALUE, or --key VALUE for a key of [base]. '-' and '_' are the same.",
            "The default is on the right. In [base] of an ini file, based_on = FILE lets it begin",
            "from another ini file, named relative to it, whose keys it overrides.",
        ]
        for section, keys in help_sections_of(self._words).items():
            lines += ["", f"[{section}]"]
            for key in keys.values():
                unit = f" ({key.unit})" if key.unit not in ("", "1") else ""
                text = f"{key.meaning}{unit} [{key.allowed}]"
                lines.append(f"  {option_of(section, key.name):<44} {key.default}")
                lines += textwrap.wrap(text, 96, initial_indent=" " * 6, subsequent_indent=" " * 6)
        return "\n".join([*lines, ""])

    def error(self, message: str) -> NoReturn:
        """Raises UsageError; argparse calls it for an option that cannot be read."""
        raise UsageError(f"command line: {message}")


class _GameHelp(argparse.Action):
    """Prints the parameters of the game, and ends."""

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> NoReturn:
        assert isinstance(parser, Parser)
        print(parser.format_game_help(), end="")
        parser.exit()


def is_rank() -> bool:
    """True if torchrun or --ranks has started this process; the first rank reports for all."""
    # torchrun sets it, and torch.distributed.is_torchelastic_launched() looks at it.
    return "TORCHELASTIC_RUN_ID" in os.environ


def check_ranks(count: int | None, restarts: int | None) -> None:
    """Checks --ranks and --max-restarts.

    Raises:
        UsageError: They do not fit each other or the machine, or this is a rank already.
    """
    if count is None:
        if restarts is not None:
            raise UsageError(f"--max-restarts = {restarts}: is for --ranks; give both")
        return
    if is_rank():
        raise UsageError(f"--ranks = {count}: torchrun has launched this rank; use one of the two")
    if count > (cores := os.cpu_count() or 1):
        raise UsageError(f"--ranks = {count}: must be at most {cores}, the cores of this machine")


def words_of_a_rank(mode: str, argv: Sequence[str]) -> list[str]:
    """Returns the words after `puffer` for each rank of the job that `argv` asks for."""

    @dataclass(frozen=True)
    class Ranks:
        ranks: int | None = ranks()
        max_restarts: int | None = max_restarts()
        overrides: tuple[str, ...] = overrides()

    return [mode, ENV_NAME, *Parser(mode, "", Ranks).read(argv).overrides]


def _reader(key: Key) -> Callable[[str], object]:
    def read(text: str) -> object:
        try:
            return key.parse(text)
        except ValueError as error:
            raise argparse.ArgumentTypeError(f"{text}: {error}") from None

    return read


def _dashed(word: str) -> str:
    """Returns an option's name with '-' for '_'; any other word as it is."""
    if not word.startswith("--"):
        return word
    name, equals, value = word.partition("=")
    return name.replace("_", "-") + equals + value
