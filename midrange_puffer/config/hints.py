"""What was meant by a key that there is not."""

import difflib
from collections.abc import Iterable

from midrange_puffer.config.aliases import also_called
from midrange_puffer.config.schema import RUN_KEYS, STAGE, SWEPT, schema, section_keys
from midrange_puffer.policies.own_code import Own

MOST = 3  # names in one message


def option_of(section: str, name: str) -> str:
    """A key of the configuration as it is written on a command line."""
    return f"--{name if section == 'base' else f'{section}.{name}'}".replace("_", "-")


def entry_of(section: str, name: str) -> str:
    """A key of the configuration as it is found in an ini file."""
    return f"[{section}] {name}"


def right_keys(section: str, name: str, own: Own) -> list[tuple[str, str]]:
    """The keys (section, name) that may have been meant by one that there is not.

    What another library calls so is meant by its name. Otherwise keys of that section with nearly
    this name, or with it as a part, come first, then this very key of other sections, and where
    there is none of these, whatever is near.
    """
    if found := _by_alias(section, name, own):
        return found
    if section.startswith((STAGE, SWEPT)):
        return [(section, key) for key in _near(name, section_keys(section, own))]
    sections = schema(own)
    found = [(section, key) for key in _near(name, sections.get(section, ()))]
    found += [(home, name) for home, keys in sections.items() if name in keys]
    if not found:
        keys = [(home, key) for home in sections for key in sections[home]]
        words = {option_of(*key).removeprefix("--"): key for key in keys}
        near = _near(option_of(section, name).removeprefix("--"), words)
        found = [words[word] for word in near]
    return found[:MOST]


def home_of_run_key(section: str, name: str) -> str | None:
    """The section of a key that a stage would set, though it holds for the whole run."""
    if section.startswith(STAGE):
        for home, names in RUN_KEYS.items():
            if name.removeprefix(f"{home}.") in names:
                return home
    return None


def swept_key(name: str, varied: Iterable[str]) -> str | None:
    """What a sweep can vary (of `varied`) and another library calls by the name in section.key."""
    keys = [".".join(key) for key in also_called(name.rpartition(".")[2])]
    return next((key for key in keys if key in varied), None)


def _by_alias(section: str, name: str, own: Own) -> list[tuple[str, str]]:
    """The keys that other libraries call so and that may be set there."""
    keys = also_called(name.rpartition(".")[2])
    if section.startswith(SWEPT):
        return []
    if section.startswith(STAGE):
        there = section_keys(section, own)
        return [(section, full) for key in keys if (full := ".".join(key)) in there]
    return [(home, key) for home, key in keys if key in schema(own)[home]]


def _near(name: str, keys: Iterable[str]) -> list[str]:
    """The key that is nearest to a name, or else those of whose words it is one."""
    keys = list(keys)
    nearest = difflib.get_close_matches(name, keys, n=1)
    return nearest or [key for key in keys if f"_{name}_" in f"_{key}_"]
