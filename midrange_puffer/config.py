"""Configuration: PufferLib's defaults, ours, an ini file and the command line, in that order."""

import configparser
import functools
import importlib.util
import io
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

from midrange_puffer.errors import UsageError
from midrange_puffer.schema import (
    RETIRED,
    RUN_KEYS,
    STAGE,
    STAGE_KEYS,
    SWEPT,
    SWEPT_KEYS,
    SWEPT_SECTIONS,
    schema,
    section_keys,
    sweepable,
)

Config = dict[str, dict[str, object]]


class ConfigError(UsageError):
    """A configuration names an unknown key or holds a value that is not allowed."""


def load_config(
    path: str | Path | None = None, overrides: Sequence[str] = (), complete: bool = False
) -> Config:
    """Read and check a configuration.

    Keys that are retired are left out, with a word on stderr.

    Args:
        path: An ini file, as `find_config` finds it, with sections of `schema()`,
            [curriculum.<stage>] for each stage, and [sweep.<section>.<key>] for each key that a
            sweep varies.
        overrides: Command-line words such as ["--train.learning-rate", "1e-3", "--wandb"].
        complete: The file is as `format_config` writes it. What [env] lacks was added to
            csrc/params.h since then, and has its neutral value instead of its default.

    Returns:
        Section -> key -> value, complete; some values may still be "auto". A stage's section holds
        score, max_steps and those "env.<key>" and "train.<key>" that it sets.

    Raises:
        ConfigError: A file, section, key or value is wrong. The message names it, what is
            allowed and the nearest right name.
    """
    config = {
        section: {name: key.default for name, key in keys.items()}
        for section, keys in schema().items()
    }
    if complete:
        from midrange_puffer.parameters import FIRST_RULES, neutral_values

        config["env"].update(neutral_values(FIRST_RULES))
    if path is not None:
        path = find_config(path)
        sections = _read_ini(path)
        for section, items in sections.items():
            where = f"{path}: [{section}]"
            _open_section(config, section, where)
            for name, text in items.items():
                _set(config, section, name, text, f"{where} {name}")
            if section.startswith(STAGE) and "stages" not in sections.get("curriculum", {}):
                raise ConfigError(f"{where}: [curriculum] stages must say which stages there are")
    of_the_file = set(config)
    for option, text in _read_overrides(overrides):
        section, name = _split(option.replace("-", "_"))
        where = f"command line: --{option}"
        _open_section(config, section, where)
        _set(config, section, name, text, where)
    stages = {name for name in of_the_file if name.startswith(STAGE)}
    stages |= {STAGE + name for name in stage_names(config)}
    for section in config.keys() - of_the_file - stages:
        if section.startswith(SWEPT):
            continue
        raise ConfigError(f"command line: --{section}: no such stage{_suggest(section, stages)}")
    sources = [str(path)] * (path is not None) + ["command line"] * bool(overrides)
    _check_stages(config, " and ".join(sources))
    check_pairs(config, " and ".join(sources))
    return config


def find_config(path: str | Path) -> Path:
    """The file at `path` or, where there is none, the installed one called NAME or configs/NAME.

    Raises:
        ConfigError: There is neither.
    """
    path = Path(path)
    try:
        path.stat()
    except FileNotFoundError:
        return _installed(path)
    except OSError:
        pass  # reading it tells why
    return path


def _installed(path: Path) -> Path:
    package = Path(importlib.util.find_spec("midrange_puffer").origin).parent
    # In the package or, of an editable installation, beside it.
    files = [*package.glob("configs/*.ini")] or [*package.parent.glob("configs/*.ini")]
    if path.parent in (Path(), Path("configs")):
        for file in files:
            if file.name == path.name:
                return file
    names = sorted(f"configs/{file.name}" for file in files)
    raise ConfigError(
        f"{path}: No such file or directory; installed are {', '.join(names)}"
        f"{_suggest(f'configs/{path.name}', names)}"
    )


def data_dir(overrides: Sequence[str]) -> str:
    """The train.data_dir that command-line words give, or the default."""
    texts = {option.replace("-", "_"): text for option, text in _read_overrides(overrides)}
    return texts.get("train.data_dir") or schema()["train"]["data_dir"].default


def stage_names(config: Config) -> list[str]:
    """The stages of the curriculum in their order; none without a curriculum."""
    text = config["curriculum"]["stages"]
    return [name.strip() for name in text.split(",")] if text else []


def stage_config(config: Config, stage: str) -> Config:
    """`config` with the [env] and [train] of one of its stages."""
    changed = {**config, "env": {**config["env"]}, "train": {**config["train"]}}
    for name, value in config[STAGE + stage].items():
        section, _, key = name.partition(".")
        if key:
            changed[section][key] = value
    return changed


def run_configs(config: Config) -> list[Config]:
    """The configurations that a run has in turn: those of its stages, or `config` alone."""
    return [stage_config(config, stage) for stage in stage_names(config)] or [config]


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
    """Values that differ: "section.key" -> (old, new); None where a stage did not set it."""
    return {
        f"{section}.{name}": (before, value)
        for section, items in new.items()
        for name, value in items.items()
        if (before := old.get(section, {}).get(name)) != value
    }


def check_pairs(config: Config, where: str) -> None:
    """Check [env] values that bound each other; `where` begins an error message.

    Raises:
        ConfigError: Two do not fit.
    """
    _resolve(config["env"], f"{where}: [env]")
    for stage in stage_names(config):
        _resolve(stage_config(config, stage)["env"], f"{where}: [{STAGE}{stage}] with [env]")


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
    _check_replay(config["experience_replay"], batch // horizon, part // horizon)


def _check_replay(replay: dict[str, float], segments: int, drawn: int) -> None:
    """Check a replay beside updates of so many segments, of which so many are drawn at a time."""
    capacity, warm_up, share = (replay[name] for name in ("capacity", "warm_up", "share"))
    if not capacity:
        return
    if capacity < segments:
        raise ConfigError(
            f"experience_replay.capacity {capacity} must be 0 or at least the {segments} segments "
            f"of an update"
        )
    if warm_up > capacity:
        raise ConfigError(
            f"experience_replay.warm_up {warm_up} must be at most experience_replay.capacity "
            f"{capacity}"
        )
    if share * drawn < 1:
        raise ConfigError(
            f"experience_replay.share {share:g} must be at least 1/{drawn} = {1 / drawn:g}, one of "
            f"the segments of train.minibatch_size or train.max_minibatch_size"
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


def _split(option: str) -> tuple[str, str]:
    """Section and key of an option such as train.gamma or curriculum.first.env.opponent."""
    if option.startswith(STAGE) and option.count(".") > 1:
        stage, _, name = option.removeprefix(STAGE).partition(".")
        return STAGE + stage, name
    section, _, name = option.rpartition(".")
    return section or "base", name


def _open_section(config: Config, section: str, where: str) -> None:
    """Make sure that there is such a section.

    A stage's, and that of a key that a sweep varies, comes to be when it is first named.
    """
    if section.startswith(STAGE):
        config.setdefault(section, {key.name: key.default for key in STAGE_KEYS})
    elif section.startswith(SWEPT):
        name = section.removeprefix(SWEPT)
        if name not in sweepable():
            raise ConfigError(
                f"{where}: a sweep cannot vary {name}{_suggest(name, sweepable())}; it varies "
                f"numbers of [{'], ['.join(SWEPT_SECTIONS)}]"
            )
        config.setdefault(section, {key.name: key.default for key in SWEPT_KEYS})
    elif section not in config:
        raise ConfigError(f"{where}: no such section{_suggest(section, config)}")


def _set(config: Config, section: str, name: str, text: str | None, where: str) -> None:
    """Check one value and put it in its place; `where` begins an error message."""
    keys = section_keys(section)
    if (name if section.startswith(STAGE) else f"{section}.{name}") in RETIRED:
        _say_retired(where)
        return
    if name not in keys:
        raise ConfigError(f"{where}: no such key{_hint(section, name)}")
    if text is None and keys[name].kind is not bool:
        raise ConfigError(f"{where}: needs a value: {keys[name].allowed}")
    try:
        config[section][name] = True if text is None else keys[name].parse(text)
    except ValueError as error:
        raise ConfigError(f"{where} = {text}: {error}") from None


@functools.cache  # once: the configuration of a run or sweep is read more than once
def _say_retired(where: str) -> None:
    print(f"{where}: no longer a key, left out", file=sys.stderr)


def _hint(section: str, name: str) -> str:
    """Where the key `name` belongs that is none of `section`, or which one is nearest."""
    if section.startswith(STAGE):
        for home, names in RUN_KEYS.items():
            if name.removeprefix(f"{home}.") in names:
                return f"; it holds for the whole run, in [{home}]"
    else:
        for home, keys in schema().items():
            if name in keys:
                return f"; it belongs in [{home}]"
    return _suggest(name, section_keys(section))


def _suggest(name: str, allowed: Iterable[str]) -> str:
    from midrange_puffer.parameters import suggest

    return suggest(name, allowed)


def _check_stages(config: Config, where: str) -> None:
    """Check that every stage has its section, and that each can be left for the next."""
    stages = stage_names(config)
    for stage in stages:
        if STAGE + stage not in config:
            sections = [name for name in config if name.startswith(STAGE)]
            raise ConfigError(
                f"{where}: [curriculum] stages = {config['curriculum']['stages']}: {stage} has no "
                f"section [{STAGE}{stage}]{_suggest(STAGE + stage, sections)}"
            )
    for stage in stages[:-1]:
        _check_end(config, stage, stages[-1], f"{where}: [{STAGE}{stage}]")


def _check_end(config: Config, stage: str, last: str, where: str) -> None:
    """Check that a stage can be left, so that the last one is reached."""
    from midrange_puffer.parameters import SELF, parse_opponent

    limits = config[STAGE + stage]
    if limits["max_steps"] is not None:
        return
    if limits["score"] is None:
        raise ConfigError(f"{where} has neither score nor max_steps: {last} would never be reached")
    opponent = stage_config(config, stage)["env"]["opponent"]
    if set(parse_opponent(opponent)) == {SELF}:
        raise ConfigError(
            f"{where} has score = {limits['score']}, no max_steps, and env.opponent = {opponent}: "
            f"against itself alone the score stays near 0.5, so that {last} would hardly be reached"
        )


def _resolve(env: dict[str, object], where: str) -> None:
    from midrange_puffer.parameters import PARAMETERS, resolve

    try:
        resolve({name: value for name, value in env.items() if name in PARAMETERS})
    except ValueError as error:
        raise ConfigError(f"{where} {error}") from None
