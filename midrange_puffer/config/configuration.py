"""A configuration: values by section and key, and where each of them is from."""

import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from midrange_puffer.config.key import Entry, Section, Typed, Value, keys_of
from midrange_puffer.config.schema import SECTIONS, STAGE, STAGE_KEYS, section_keys
from midrange_puffer.config.sections import (
    AttentionConfig,
    BaseConfig,
    ClusterConfig,
    CurriculumConfig,
    EnvConfig,
    ExperienceBufferConfig,
    LeagueConfig,
    PolicyConfig,
    PoolConfig,
    PopulationConfig,
    RnnConfig,
    Stage,
    TrainConfig,
    VecConfig,
)
from midrange_puffer.config.sweep_sections import SweepConfig
from midrange_puffer.errors import UsageError
from midrange_puffer.game.parameters import EFFECT_NEEDS, PARAMETERS
from midrange_puffer.names import shown
from midrange_puffer.policies.own_code import Own

DEFAULT = "default"  # the source of a value that nothing has set
# Categories of characters that end a line, steer a terminal or cannot be written in UTF-8.
_UNWRITABLE = ("Cc", "Cs", "Zl", "Zp")


class ConfigError(UsageError):
    """A configuration names an unknown key or holds a value that is not allowed."""


class Config(Mapping[str, Section[Value]]):
    """All sections of a configuration, complete. It cannot change: `replaced` makes another.

    Attributes are read where the section and key are known, as in `config.train.gamma`; items where
    their names are data, as in `config[section][name]`. A stage's section, [curriculum.<stage>],
    holds score, max_steps and those "env.<key>" and "train.<key>" that the stage sets.

    Args:
        values: section -> key -> value.
        sources: where a value is from, in words, by (section, key); `DEFAULT` of those left out.
    """

    base = Entry[BaseConfig]()
    vec = Entry[VecConfig]()
    cluster = Entry[ClusterConfig]()
    env = Entry[EnvConfig]()
    policy = Entry[Section[Value]]()  # typed, unless the policy is the user's own
    rnn = Entry[RnnConfig]()
    train = Entry[TrainConfig]()
    experience_buffer = Entry[ExperienceBufferConfig]()
    pool = Entry[PoolConfig]()
    population = Entry[PopulationConfig]()
    league = Entry[LeagueConfig]()
    curriculum = Entry[CurriculumConfig]()
    sweep = Entry[SweepConfig]()

    def __init__(
        self,
        values: Mapping[str, Mapping[str, Value]],
        sources: Mapping[tuple[str, str], str] | None = None,
    ) -> None:
        self._sections = {name: _section(name, items) for name, items in values.items()}
        self._sources = dict(sources or {})

    def __getitem__(self, section: str) -> Section[Value]:
        return self._sections[section]

    def __iter__(self) -> Iterator[str]:
        return iter(self._sections)

    def __len__(self) -> int:
        return len(self._sections)

    def __repr__(self) -> str:
        return repr(self._sections)

    def stage(self, name: str) -> Stage:
        """Returns the end of a stage of the curriculum."""
        end: dict[str, Any] = {key: self[STAGE + name][key] for key in STAGE_KEYS}
        return Stage(**end)

    def source(self, section: str, name: str) -> str:
        """Returns where a value is from: `DEFAULT`, a file, the command line, or a reason."""
        return self._sources.get((section, name), DEFAULT)

    def replaced(self, section: str, source: str, **values: Value) -> "Config":
        """Returns this configuration with other values in a section, which are from `source`."""
        sections = {**self._sections, section: {**self[section], **values}}
        changed = {
            (section, name): source
            for name, value in values.items()
            if self[section].get(name, ...) != value
        }
        return Config(sections, self._sources | changed)

    def only(self, sections: Iterable[str]) -> "Config":
        """Returns this configuration with no other sections than these."""
        return Config({name: self[name] for name in sections}, self._sources)

    def as_dict(self) -> dict[str, dict[str, Value]]:
        """Returns the values in plain dicts, as files and other libraries need them."""
        return {name: dict(items) for name, items in self._sections.items()}


def _section(name: str, values: Mapping[str, Any]) -> Section[Value]:
    """Returns a section of the class that the table has for it."""
    if isinstance(values, Section):
        return values
    kind = SECTIONS.get(name, Section)
    if kind is PolicyConfig:  # a `Section` for the user's own
        kinds = (PolicyConfig, AttentionConfig)
        kind = next((kind for kind in kinds if values.keys() == keys_of(kind).keys()), Section)
    return kind(**values) if issubclass(kind, Typed) else kind(values)


def stage_names(config: Config) -> list[str]:
    """Returns the stages of the curriculum in their order; none without a curriculum."""
    text = config.curriculum.stages
    return [name.strip() for name in text.split(",")] if text else []


def stage_config(config: Config, stage: str) -> Config:
    """Returns `config` with the [env] and [train] of one of its stages."""
    changed: dict[str, dict[str, Value]] = {"env": {}, "train": {}}
    for name, value in config[STAGE + stage].items():
        section, _, key = name.partition(".")
        if key:
            changed[section][key] = value
    for section, values in changed.items():
        config = config.replaced(section, f"[{STAGE}{stage}]", **values)
    return config


def run_configs(config: Config) -> list[Config]:
    """Returns the configurations that a run has in turn: of its stages, or `config` alone."""
    return [stage_config(config, stage) for stage in stage_names(config)] or [config]


def with_effects(config: Config) -> Config:
    """Returns `config` with values of [env] that need an effect only in stages that have it.

    So a curriculum may begin without the noise or the chaff whose parameters are in [env]. A value
    stays, and is refused later, if no stage has its effect or if the section of a stage sets it.
    """
    for name, needed in EFFECT_NEEDS.items():
        value, default = config.env[name], PARAMETERS[name].default
        parts = {stage: stage_config(config, stage).env for stage in stage_names(config)}
        having = {stage for stage, env in parts.items() if any(env[other] for other in needed)}
        if value == default or not having:
            continue
        source = config.source("env", name)
        has_own = any(config.env[other] for other in needed)
        for stage in parts.keys() - having if has_own else having:
            if f"env.{name}" not in config[STAGE + stage]:
                kept = {f"env.{name}": default if has_own else value}
                config = config.replaced(STAGE + stage, source, **kept)
        if not has_own:
            config = config.replaced("env", source, **{name: default})
    return config


def format_config(config: Config) -> str:
    """Returns `config` as an ini file that `load_config` reads back to an equal one.

    A comment above a value says where it is from, unless that is its default.

    Raises:
        ConfigError: A value would not be read back as it is.
    """
    return format_sections(config, config.source)


def format_sections(
    sections: Mapping[str, Mapping[str, Value]],
    source: Callable[[str, str], str] = lambda section, name: DEFAULT,
) -> str:
    """Returns some sections as an ini file, each with all of its keys or only some.

    Args:
        sections: Section -> key -> value.
        source: Returns where a value is from, as `Config.source` does.

    Raises:
        ConfigError: As of `format_config`.
    """
    lines: list[str] = []
    own = own_names(sections)
    for section, items in sections.items():
        lines.append(f"[{section}]")
        for name, value in items.items():
            origin = source(section, name)
            if origin != DEFAULT:
                lines.append(f"# {shown(origin)}:")
            lines.append(f"{name} = {_text(section, name, value, own)}".rstrip())
        lines.append("")
    return "\n".join(lines)


def own_names(config: Mapping[str, Mapping[str, Value]]) -> Own:
    """Returns the user's own code in a configuration, or in some sections of one."""
    base = config.get("base", {})
    return Own(**{name: str(base[name]) for name in Own._fields if name in base})


def check_line(text: str) -> None:
    """Raises ValueError if `text` is more than one line, which a value in an ini file cannot be."""
    unwritable = [
        character
        for character in text
        if character != "\t" and unicodedata.category(character) in _UNWRITABLE
    ]
    if unwritable:
        raise ValueError(f"must be one line of text, without {shown(unwritable[0])}")


def _text(section: str, name: str, value: Value, own: Own) -> str:
    """Returns a value as it stands in an ini file."""
    text = str(value)
    try:
        check_line(text)
        if section_keys(section, own)[name].parse(text) != value:
            raise ValueError("must be neither another value's word nor have spaces at its ends")
    except ValueError as error:
        raise ConfigError(f"[{section}] {name} = {text}: {error}") from None
    return text


def changes(old: Config, new: Config) -> dict[str, tuple[Value, Value]]:
    """Returns the values that differ: "section.key" -> (old, new); None if a stage had none."""
    return {
        f"{section}.{name}": (before, value)
        for section, items in new.items()
        for name, value in items.items()
        if (before := old[section].get(name) if section in old else None) != value
    }
