"""Configuration: PufferLib's defaults, ours, an ini file and the command line, in that order."""

import configparser
import io
from collections.abc import Iterable, Sequence
from pathlib import Path

from midrange_puffer.errors import UsageError
from midrange_puffer.schema import schema

Config = dict[str, dict[str, object]]


class ConfigError(UsageError):
    """A configuration names an unknown key or holds a value that is not allowed."""


def load_config(path: str | Path | None = None, overrides: Sequence[str] = ()) -> Config:
    """Read and check a configuration.

    Args:
        path: An ini file with the sections [base], [vec], [env], [policy], [rnn], [train].
        overrides: Command-line words such as ["--train.learning-rate", "1e-3", "--wandb"].

    Returns:
        Section -> key -> value, complete; some values may still be "auto".

    Raises:
        ConfigError: A file, section, key or value is wrong. The message names it, what is
            allowed and the nearest right name.
    """
    config = {
        section: {name: key.default for name, key in keys.items()}
        for section, keys in schema().items()
    }
    if path is not None:
        for section, items in _read_ini(Path(path)).items():
            where = f"{path}: [{section}]"
            _check_section(config, section, where)
            for name, text in items.items():
                _set(config, section, name, text, f"{where} {name}")
    for option, text in _read_overrides(overrides):
        section, _, name = option.replace("-", "_").rpartition(".")
        section = section or "base"
        where = f"command line: --{option}"
        _check_section(config, section, where)
        _set(config, section, name, text, where)
    sources = [str(path)] * (path is not None) + ["command line"] * bool(overrides)
    _check_pairs(config, " and ".join(sources))
    return config


def format_config(config: Config) -> str:
    """Write `config` as an ini file that `load_config` reads back to an equal one."""
    parser = _parser()
    parser.read_dict(
        {
            section: {name: str(value) for name, value in items.items()}
            for section, items in config.items()
        }
    )
    file = io.StringIO()
    parser.write(file)
    return file.getvalue()


def changes(old: Config, new: Config) -> dict[str, tuple[object, object]]:
    """Values that differ: "section.key" -> (old, new)."""
    return {
        f"{section}.{name}": (old[section][name], value)
        for section, items in new.items()
        for name, value in items.items()
        if old[section][name] != value
    }


def check_training(config: Config, agents: int) -> None:
    """Check what the trainer needs of a configuration without any "auto", for `agents` agents.

    Raises:
        ConfigError: With the numbers that do not fit.
    """
    train = config["train"]
    horizon, batch, minibatch = (
        train[name] for name in ("bptt_horizon", "batch_size", "minibatch_size")
    )
    rollout = agents * horizon
    # PuffeRL fills whole segments of one horizon, all agents in turn.
    if batch % rollout:
        raise ConfigError(
            f"train.batch_size {batch} must be a multiple of {rollout} = {agents} agents x "
            f"bptt_horizon {horizon}"
        )
    part = min(minibatch, train["max_minibatch_size"])
    if minibatch % part:
        raise ConfigError(
            f"train.minibatch_size {minibatch} is above train.max_minibatch_size {part} and must "
            f"then be a multiple of it"
        )
    if part % horizon:
        raise ConfigError(
            f"train.minibatch_size or train.max_minibatch_size {part} must be a multiple of "
            f"train.bptt_horizon {horizon}"
        )
    if batch % minibatch:
        raise ConfigError(
            f"train.batch_size {batch} = {batch // horizon} segments x bptt_horizon {horizon} must "
            f"be a multiple of train.minibatch_size {minibatch}"
        )
    if train["total_timesteps"] < batch:
        raise ConfigError(
            f"train.total_timesteps {train['total_timesteps']} must be at least one "
            f"train.batch_size, {batch}"
        )


def _parser() -> configparser.ConfigParser:
    # No section is special and '%' is a plain character.
    return configparser.ConfigParser(interpolation=None, default_section="")


def _read_ini(path: Path) -> dict[str, dict[str, str]]:
    """Section -> key -> text of an ini file."""
    parser = _parser()
    try:
        with path.open(encoding="utf-8-sig") as file:
            parser.read_file(file)
    except OSError as error:
        raise ConfigError(f"{path}: {error.strerror}") from None
    except UnicodeDecodeError:
        raise ConfigError(f"{path}: not an ini file: it is not text") from None
    except configparser.DuplicateSectionError as error:
        raise ConfigError(
            f"{path}: line {error.lineno}: section [{error.section}] stands there twice"
        ) from None
    except configparser.DuplicateOptionError as error:
        raise ConfigError(
            f"{path}: line {error.lineno}: [{error.section}] {error.option} stands there twice"
        ) from None
    except configparser.Error as error:
        raise ConfigError(f"{path}: not an ini file: {' '.join(error.message.split())}") from None
    return {section: dict(parser[section]) for section in parser.sections()}


def _read_overrides(words: Sequence[str]) -> Iterable[tuple[str, str | None]]:
    """(option without its dashes, text or None for a flag alone) of each override."""
    words = list(words)
    while words:
        word = words.pop(0)
        if not word.startswith("--"):
            raise ConfigError(f"command line: {word}: not an option; write --section.key value")
        option, has_value, text = word[2:].partition("=")
        if not has_value:
            text = words.pop(0) if words and not words[0].startswith("--") else None
        yield option, text


def _check_section(config: Config, section: str, where: str) -> None:
    if section not in config:
        raise ConfigError(f"{where}: no such section{_suggest(section, config)}")


def _set(config: Config, section: str, name: str, text: str | None, where: str) -> None:
    """Check one value and put it in its place; `where` begins an error message."""
    keys = schema()[section]
    if name not in keys:
        homes = [other for other, names in schema().items() if name in names]
        hint = f"; it belongs in [{homes[0]}]" if homes else _suggest(name, keys)
        raise ConfigError(f"{where}: no such key{hint}")
    if text is None and keys[name].kind is not bool:
        raise ConfigError(f"{where}: needs a value: {keys[name].allowed}")
    try:
        config[section][name] = True if text is None else keys[name].parse(text)
    except ValueError as error:
        raise ConfigError(f"{where} = {text}: {error}") from None


def _suggest(name: str, allowed: Iterable[str]) -> str:
    from midrange_puffer.parameters import suggest

    return suggest(name, allowed)


def _check_pairs(config: Config, where: str) -> None:
    """Check [env] values that bound each other; `where` begins an error message."""
    from midrange_puffer.parameters import PARAMETERS, resolve

    try:
        resolve({name: value for name, value in config["env"].items() if name in PARAMETERS})
    except ValueError as error:
        raise ConfigError(f"{where}: [env] {error}") from None
