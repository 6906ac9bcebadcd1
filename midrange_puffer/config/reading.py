"""Reads a configuration: defaults, then an ini file after its bases, then the command line."""

import functools
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

from midrange_puffer.config.aliases import ACCUMULATION
from midrange_puffer.config.checks import check_pairs, check_stages
from midrange_puffer.config.configuration import (
    DEFAULT,
    Config,
    ConfigError,
    check_line,
    stage_names,
    with_effects,
)
from midrange_puffer.config.hints import (
    accepted_key,
    entry_of,
    home_of_run_key,
    option_of,
    refusal,
    right_keys,
    swept_key,
)
from midrange_puffer.config.ini_files import IniFile, read_ini_files
from midrange_puffer.config.key import Key, Value, keys_of
from midrange_puffer.config.schema import (
    RENAMED,
    RETIRED,
    STAGE,
    STAGE_KEYS,
    SWEPT,
    SWEPT_KEYS,
    SWEPT_SECTIONS,
    TYPE_SECTIONS,
    help_sections,
    schema,
    section_keys,
    sweepable,
)
from midrange_puffer.config.sections import PolicyConfig, TrainConfig
from midrange_puffer.game.parameters import FIRST_RULES, neutral_values, with_automatic_spacing
from midrange_puffer.game.types import with_type
from midrange_puffer.names import shown, suggest
from midrange_puffer.policies.mix import is_there, settled
from midrange_puffer.policies.own_code import MIDRANGE, PACKAGED, Own, OwnCodeError, absolute

COMMAND_LINE = "command line"  # as the source of a value
# The keys of a varied key's range, which `values` replaces.
_RANGE = ("distribution", "min", "max", "mean", "scale")


def load_config(
    path: str | Path | None = None,
    overrides: Sequence[str] = (),
    complete: bool = False,
    runs_code: bool = True,
) -> Config:
    """Reads and checks a configuration.

    Keys that are retired are left out, with a line on stderr.

    Args:
        path: An ini file, as `ini_files.find_config` finds it, with sections of `schema()`,
            [curriculum.<stage>] for each stage, [sweep.<section>.<key>] for each key that a
            sweep varies, and [aircraft.<name>] and [missile.<name>], which env.types takes over.
        overrides: Command-line words such as ["--train.learning-rate", "1e-3", "--wandb"].
        complete: True if the file is as `format_config` writes it. Parameters that [env] lacks
            were added to csrc/params.h since then, and get their neutral value, not their default.
        runs_code: Import the user's own code that the configuration names. Without it the keys of
            that code are taken as they stand.

    Returns:
        The complete configuration; some values may still be "auto".

    Raises:
        ConfigError: A file, section, key or value is wrong. The message names it, what is
            allowed and the nearest right name.
    """
    files = [] if path is None else read_ini_files(path)
    names = [str(file.path) for file in reversed(files)]
    sources = " and ".join(names + [COMMAND_LINE] * bool(overrides))
    try:
        own = _own_names(files, overrides)
        draft = _Draft(own, runs_code, _data_dir(files, overrides))
    except OwnCodeError as error:
        raise OwnCodeError(f"{sources}: {error}") from error
    if complete:
        draft.values["env"].update(neutral_values(FIRST_RULES))
    for file in files:
        draft.add_file(file)
        draft.fold_types()  # so that later files and the command line may replace them
    if complete:
        draft.values["env"] = with_automatic_spacing(draft.values["env"])
    of_the_file = set(draft.values)
    draft.add_overrides(overrides)
    draft.divide_minibatch()
    draft.fold_types()
    config = Config(draft.values, draft.sources)
    stages = {name for name in of_the_file if name.startswith(STAGE)}
    stages |= {STAGE + name for name in stage_names(config)}
    for section in config.keys() - of_the_file - stages:
        if not section.startswith(SWEPT):
            hint = suggest(section, stages)
            raise ConfigError(f"command line: --{section}: no such stage{hint}")
    check_stages(config, sources)
    config = with_effects(config)
    check_pairs(config, sources)
    return config


def _own_names(files: Sequence[IniFile], overrides: Sequence[str]) -> Own:
    """Returns the names of the user's own code, on which some keys depend."""
    given: dict[str, tuple[str | None, str | Path | None]] = {
        name: (text, file.path)
        for file in files
        for name, text in file.sections.get("base", {}).items()
    }
    for option, text in _read_overrides(overrides):
        given[option.replace("-", "_").removeprefix("base.")] = text, COMMAND_LINE
    names: dict[str, str] = {}
    for name in Own._fields:
        text, where = given.get(name, (None, None))
        if not text:
            continue
        names[name] = text.strip()
        try:
            schema()["base"][name].parse(names[name])
        except ValueError as error:
            raise ConfigError(f"{where}: base.{name} = {text}: {error}") from None
    return Own(**names)


def own_words(overrides: Sequence[str]) -> list[str]:
    """Returns the words of a command line that name the user's own code."""
    return [
        f"--{option}={text}"
        for option, text in _read_overrides(overrides)
        if option.replace("-", "_").removeprefix("base.") in Own._fields
    ]


def help_sections_of(words: Sequence[str]) -> dict[str, dict[str, Key]]:
    """Returns `schema.help_sections` for the configuration of a command line."""
    overrides = [word for word in words if word not in ("-h", "--help")]
    path = next((text for option, text in _read_overrides(overrides) if option == "config"), None)
    return help_sections(_own_names(read_ini_files(path) if path else [], overrides))


def data_dir(overrides: Sequence[str]) -> str:
    """Returns the train.data_dir of a command line, or the default."""
    return _given_data_dir(overrides) or TrainConfig().data_dir


def _given_data_dir(overrides: Sequence[str]) -> str | None:
    texts = {option.replace("-", "_"): text for option, text in _read_overrides(overrides)}
    return texts.get("train.data_dir")


def _data_dir(files: Sequence[IniFile], overrides: Sequence[str]) -> Path:
    """Returns the train.data_dir, where runs are looked up, that is given or the default."""
    given = [file.sections.get("train", {}).get("data_dir") for file in reversed(files)]
    return Path(next(filter(None, [_given_data_dir(overrides), *given]), TrainConfig().data_dir))


def _read_overrides(words: Sequence[str]) -> Iterable[tuple[str, str | None]]:
    """Yields (option without its dashes, text or None for a flag alone) of each override."""
    rest = list(words)
    while rest:
        word = rest.pop(0)
        if not word.startswith("--"):
            raise ConfigError(f"command line: {word}: not an option; write --section.key value")
        option, has_value, text = word[2:].partition("=")
        if not has_value:
            text = rest.pop(0) if rest and not rest[0].startswith("--") else None
        yield option, text


def _split(option: str) -> tuple[str, str]:
    """Returns the section and key of an option: train.gamma or curriculum.first.env.opponent."""
    if option.startswith(STAGE) and option.count(".") > 1:
        stage, _, name = option.removeprefix(STAGE).partition(".")
        return STAGE + stage, name
    section, _, name = option.rpartition(".")
    return section or "base", name


def _current(section: str) -> str:
    """Returns today's name of a section, also of one of a key that a sweep varies."""
    prefix = SWEPT if section.startswith(SWEPT) else ""
    home, dot, name = section.removeprefix(prefix).partition(".")
    return f"{prefix}{RENAMED.get(home, home)}{dot}{name}"


class _Draft:
    """A configuration while it is read: the defaults, and the values set so far.

    Attributes:
        own: The names of the user's own code, on which the keys depend.
        values: Section -> key -> value.
        sources: Where the values that were set are from, by (section, key).
    """

    def __init__(self, own: Own, runs_code: bool, data_dir: Path) -> None:
        self._data_dir = data_dir
        self.own = own if runs_code else own.packaged()
        # Sections with keys that only the user's own code knows.
        self._unknown: set[str] = set() if runs_code else _sections_of(own)
        self.values: dict[str, dict[str, Value]] = {
            section: _defaults(keys) for section, keys in schema(self.own).items()
        }
        self.sources: dict[tuple[str, str], str] = {}
        # Sections of types that are not yet part of env.types, and the places where they begin.
        self._type_sections: dict[str, str] = {}
        # The text of a name of `ACCUMULATION`, the place where it is given, and the source.
        self._accumulation: tuple[str | None, str, str] | None = None

    def add_file(self, file: IniFile) -> None:
        """Sets the values of a file's sections."""
        has_stages = "stages" in file.sections.get("curriculum", {})
        has_stages = has_stages or self.values["curriculum"]["stages"] is not None
        for section, items in file.sections.items():
            section = _current(section)
            where = f"{file.path}: [{section}]"
            self.open_section(section, where)
            for name, text in items.items():
                self.set(section, name, text, f"{where} {name}", file.source)
            if section.startswith(STAGE) and not has_stages:
                raise ConfigError(f"{where}: [curriculum] stages must say which stages there are")

    def add_overrides(self, words: Sequence[str]) -> None:
        """Sets the values of the command line's words."""
        for option, text in _read_overrides(words):
            section, name = _split(option.replace("-", "_"))
            section = _current(section)
            where = f"command line: --{option}"
            is_added = section.startswith((STAGE, SWEPT, *TYPE_SECTIONS))
            if section not in self.values and not is_added:
                raise ConfigError(f"{where}: no such key{self.hint(section, name, option_of)}")
            self.open_section(section, where)
            self.set(section, name, text, where, COMMAND_LINE)

    def open_section(self, section: str, where: str) -> None:
        """Adds a section of a stage, a type, or a key that a sweep varies, at its first mention.

        Raises:
            ConfigError: There is no such section; `where` begins the message.
        """
        if section.startswith(STAGE):
            self.values.setdefault(section, _defaults(STAGE_KEYS))
        elif section.startswith(TYPE_SECTIONS):
            self.values.setdefault(section, {})
            self._type_sections.setdefault(section, where)
        elif section.startswith(SWEPT):
            name = section.removeprefix(SWEPT)
            varied = sweepable(self.own)
            if name not in varied:
                meant = swept_key(name, varied)
                hint = f"; did you mean {meant!r}?" if meant else suggest(name, varied)
                raise ConfigError(
                    f"{where}: a sweep cannot vary {name}{hint}; it varies "
                    f"numbers and choices of [{'], ['.join(SWEPT_SECTIONS)}]"
                )
            self.values.setdefault(section, _defaults(SWEPT_KEYS))
        elif section not in self.values:
            raise ConfigError(f"{where}: no such section{suggest(section, self.values)}")

    def set(self, section: str, name: str, text: str | None, where: str, source: str) -> None:
        """Checks and sets one value; `where` begins an error message."""
        keys = section_keys(section, self.own)
        if section in ("train", "base") and name in ACCUMULATION:
            self._accumulation = text, where, source
            return
        if name not in keys and (key := accepted_key(section, name)):
            section, name = key
            keys = section_keys(section, self.own)
            _say(where, f"taken as {key[-1] if '.' in key[-1] else '.'.join(key)}")
        if (name if section.startswith(STAGE) else f"{section}.{name}") in RETIRED:
            _say(where, "no longer a key, left out")
            return
        if section in self._unknown and (section == "policy" or name not in keys):
            self.values[section][name] = text
            self.sources[section, name] = source
            return
        is_packages = section == "policy" and name in keys_of(PolicyConfig)
        if is_packages and name not in keys and source != COMMAND_LINE:
            _say(where, f"no argument of {self.own.policy_name}, left out")
            return
        if name not in keys:
            spell = option_of if source == COMMAND_LINE else entry_of
            raise ConfigError(f"{where}: no such key{self.hint(section, name, spell)}")
        if text is None and keys[name].kind is not bool:
            raise ConfigError(f"{where}: needs a value: {keys[name].allowed}")
        try:
            if text is not None and name in ("opponent", "env.opponent"):
                text = settled(text, self._run_folder)
            value = True if text is None else keys[name].parse(text)
            if section == "base" and name in Own._fields:
                value = absolute(str(value))
            check_line(str(value))
        except ValueError as error:
            raise ConfigError(f"{where} = {text}: {error}") from None
        self.values[section][name] = value
        self.sources[section, name] = DEFAULT if value == keys[name].default else source
        if section.startswith(SWEPT):
            self._drop_other_form(section, name, source)

    def _drop_other_form(self, section: str, name: str, source: str) -> None:
        """Removes the range of a varied key if a later source gives its `values`, and vice versa.

        Values from the same source stay.
        """
        other = {"values": _RANGE, "distribution": ("values",)}.get(name, ())
        for part in other:
            if self.sources.get((section, part)) not in (source, DEFAULT):
                self.values[section][part] = SWEPT_KEYS[part].default
                self.sources.pop((section, part), None)

    def divide_minibatch(self) -> None:
        """Sets train.max_minibatch_size by a name of `ACCUMULATION`, if one is given."""
        if self._accumulation is None:
            return
        text, where, source = self._accumulation
        size = self.values["train"]["minibatch_size"]
        parts = int(text) if text and text.strip().isdecimal() else 0
        if not isinstance(size, int) or not parts or size % parts:
            raise ConfigError(f"{where} = {text}: must divide train.minibatch_size {size}")
        self.set("train", "max_minibatch_size", str(size // parts), where, source)
        _say(where, f"taken as train.max_minibatch_size = {size // parts}, of {size} in a step")

    def fold_types(self) -> None:
        """Adds the sections of types of aircraft and missiles to env.types, and removes them."""
        for section in [section for section in self.values if section.startswith(TYPE_SECTIONS)]:
            fields = {name: str(value) for name, value in self.values.pop(section).items()}
            sources = dict.fromkeys(self.sources.pop((section, name), DEFAULT) for name in fields)
            kind, _, type_name = section.partition(".")
            env, where = self.values["env"], self._type_sections.pop(section)
            try:
                text = with_type(str(env["types"]), kind, type_name, fields)
            except ValueError as error:
                raise ConfigError(f"{where}: {error}") from None
            if text != env["types"]:
                env["types"], self.sources["env", "types"] = text, " and ".join(sources)

    def _run_folder(self, name: str) -> Path | None:
        """Returns the folder of the run that an opponent names; None if it names no run."""
        places = [(name,), (self._data_dir, name)]
        return next((Path(*parts) for parts in places if is_there(Path.is_dir, *parts)), None)

    def hint(self, section: str, name: str, spell: Callable[[str, str], str]) -> str:
        """Returns the end of an error message: suggestions for a key that does not exist."""
        home = home_of_run_key(section, name)
        if home is not None:
            return f"; it holds for the whole run, in [{home}]"
        if words := refusal(name):
            return f"; {words}"
        keys = [spell(*key) for key in right_keys(section, name, self.own)]
        return f"; did you mean {' or '.join(keys)}?" if keys else ""


def _sections_of(own: Own) -> set[str]:
    """Returns the sections whose keys depend on the user's own code."""
    is_own = {"policy": own.policy_name not in PACKAGED, "env": own.env_class != MIDRANGE}
    return {section for section in is_own if is_own[section]}


@functools.cache  # printed once, though a run or sweep reads its configuration several times
def _say(where: str, word: str) -> None:
    print(f"{shown(where)}: {word}", file=sys.stderr)


def _defaults(keys: Mapping[str, Key]) -> dict[str, Value]:
    return {name: key.default for name, key in keys.items()}
