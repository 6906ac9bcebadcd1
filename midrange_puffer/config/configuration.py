"""A configuration: values by section and key, and where each of them is from."""

import unicodedata
from collections.abc import Iterable, Iterator, Mapping

from midrange_puffer.config.schema import STAGE, section_keys
from midrange_puffer.errors import UsageError
from midrange_puffer.names import shown
from midrange_puffer.policies.own_code import Own

DEFAULT = "default"  # the source of what nobody has set
# Categories of characters that end a line, or steer a terminal, or have no place in UTF-8.
_UNWRITABLE = ("Cc", "Cs", "Zl", "Zp")


class ConfigError(UsageError):
    """A configuration names an unknown key or holds a value that is not allowed."""


class Section(Mapping[str, object]):
    """Key -> value of one section; nobody can change it."""

    def __init__(self, values: Mapping[str, object]) -> None:
        self._values = dict(values)

    def __getitem__(self, name: str) -> object:
        return self._values[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __repr__(self) -> str:
        return repr(self._values)


class Config(Mapping[str, Section]):
    """Section -> key -> value, complete. Nobody can change it: `replaced` makes another.

    A stage's section, [curriculum.<stage>], holds score, max_steps and those "env.<key>" and
    "train.<key>" that it sets.

    Args:
        values: section -> key -> value.
        sources: where a value is from, in words, by (section, key); `DEFAULT` of those left out.
    """

    def __init__(
        self,
        values: Mapping[str, Mapping[str, object]],
        sources: Mapping[tuple[str, str], str] | None = None,
    ) -> None:
        self._sections = {name: Section(items) for name, items in values.items()}
        self._sources = dict(sources or {})

    def __getitem__(self, section: str) -> Section:
        return self._sections[section]

    def __iter__(self) -> Iterator[str]:
        return iter(self._sections)

    def __len__(self) -> int:
        return len(self._sections)

    def __repr__(self) -> str:
        return repr(self._sections)

    def source(self, section: str, name: str) -> str:
        """Where the value of a key is from: `DEFAULT`, a file, the command line, or why it is."""
        return self._sources.get((section, name), DEFAULT)

    def replaced(self, section: str, source: str, **values: object) -> "Config":
        """This configuration with other values in a section, which are from `source`."""
        sections = {**self._sections, section: {**self._sections[section], **values}}
        changed = {
            (section, name): source
            for name, value in values.items()
            if self[section].get(name, ...) != value
        }
        return Config(sections, self._sources | changed)

    def only(self, sections: Iterable[str]) -> "Config":
        """This configuration with no other sections than these."""
        return Config({name: self[name] for name in sections}, self._sources)

    def as_dict(self) -> dict[str, dict[str, object]]:
        """The values in plain dicts, as files and other libraries want them."""
        return {name: dict(items) for name, items in self._sections.items()}


def stage_names(config: Config) -> list[str]:
    """The stages of the curriculum in their order; none without a curriculum."""
    text = config["curriculum"]["stages"]
    return [name.strip() for name in text.split(",")] if text else []


def stage_config(config: Config, stage: str) -> Config:
    """`config` with the [env] and [train] of one of its stages."""
    of_stage: dict[str, dict[str, object]] = {"env": {}, "train": {}}
    for name, value in config[STAGE + stage].items():
        section, _, key = name.partition(".")
        if key:
            of_stage[section][key] = value
    for section, values in of_stage.items():
        config = config.replaced(section, f"[{STAGE}{stage}]", **values)
    return config


def run_configs(config: Config) -> list[Config]:
    """The configurations that a run has in turn: those of its stages, or `config` alone."""
    return [stage_config(config, stage) for stage in stage_names(config)] or [config]


def format_config(config: Config) -> str:
    """Write `config` as an ini file that `load_config` reads back to an equal one.

    A comment above a value says where it is from, unless that is its default.

    Raises:
        ConfigError: A value would not be read back as it is.
    """
    lines, own = [], own_names(config)
    for section, items in config.items():
        lines.append(f"[{section}]")
        for name, value in items.items():
            source = config.source(section, name)
            if source != DEFAULT:
                lines.append(f"# {shown(source)}:")
            lines.append(f"{name} = {_text(section, name, value, own)}".rstrip())
        lines.append("")
    return "\n".join(lines)


def own_names(config: Mapping[str, Mapping[str, object]]) -> Own:
    """What of a configuration, or of some sections of one, is the user's own code."""
    base = config.get("base", {})
    return Own(**{name: base[name] for name in Own._fields if name in base})


def check_line(text: str) -> None:
    """Raise ValueError where an ini file cannot hold a text as a value: it has one line for it."""
    found = [one for one in text if one != "\t" and unicodedata.category(one) in _UNWRITABLE]
    if found:
        raise ValueError(f"must be one line of text, without {shown(found[0])}")


def _text(section: str, name: str, value: object, own: Own) -> str:
    """A value as it stands in an ini file."""
    text = str(value)
    try:
        check_line(text)
        if section_keys(section, own)[name].parse(text) != value:
            raise ValueError("must be neither another value's word nor have spaces at its ends")
    except ValueError as error:
        raise ConfigError(f"[{section}] {name} = {text}: {error}") from None
    return text


def changes(old: Config, new: Config) -> dict[str, tuple[object, object]]:
    """Values that differ: "section.key" -> (old, new); None where a stage did not set it."""
    return {
        f"{section}.{name}": (before, value)
        for section, items in new.items()
        for name, value in items.items()
        if (before := old.get(section, {}).get(name)) != value
    }
