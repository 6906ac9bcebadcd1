"""Suggests the right key for one that does not exist.

An error names the key here that a name of another library stands for (aliases.py), unless the name
is itself a key of the section where it is given.
"""

import difflib
from collections.abc import Iterable

from midrange_puffer.config.aliases import ACCEPTED, ALIASES, REFUSED
from midrange_puffer.config.schema import (
    RUN_KEYS,
    STAGE,
    SWEPT,
    TYPE_SECTIONS,
    schema,
    section_keys,
)
from midrange_puffer.policies.own_code import Own

MOST = 3  # names in one message


def option_of(section: str, name: str) -> str:
    """Returns a key as it is written on a command line."""
    return f"--{name if section == 'base' else f'{section}.{name}'}".replace("_", "-")


def entry_of(section: str, name: str) -> str:
    """Returns a key as it stands in an ini file."""
    return f"[{section}] {name}"


def right_keys(section: str, name: str, own: Own) -> list[tuple[str, str]]:
    """Returns the keys (section, name) that a key that does not exist may stand for.

    If other libraries use the name, these are the keys that they mean by it. Otherwise the keys of
    the section that have nearly this name, or have it as a part, come first. Then come the keys of
    exactly this name in other sections. If there is none of these, it is whatever is near.
    """
    if keys := _keys_by_alias(section, name, own):
        return keys
    if section.startswith((STAGE, SWEPT, *TYPE_SECTIONS)):
        return [(section, key) for key in _near(name, section_keys(section, own))]
    sections = schema(own)
    keys = [(section, key) for key in _near(name, sections.get(section, ()))]
    keys += [(home, name) for home in sections if name in sections[home]]
    if not keys:
        options = {
            option_of(home, key).removeprefix("--"): (home, key)
            for home in sections
            for key in sections[home]
        }
        near = _near(option_of(section, name).removeprefix("--"), options)
        keys = [options[option] for option in near]
    return keys[:MOST]


def home_of_run_key(section: str, name: str) -> str | None:
    """Returns the section of a key that holds for the whole run, where a stage would set it."""
    if section.startswith(STAGE):
        for home, names in RUN_KEYS.items():
            if name.removeprefix(f"{home}.") in names:
                return home
    return None


def swept_key(name: str, varied: Iterable[str]) -> str | None:
    """Returns the key of `varied` that another library calls by the name in `name`, section.key."""
    keys = [".".join(key) for key in also_called(name.rpartition(".")[2])]
    return next((key for key in keys if key in varied), None)


def also_called(name: str) -> list[tuple[str, str]]:
    """Returns the keys (section, name) that other libraries call so, as nEnvs or as n_envs."""
    keys = [key for key, names in ALIASES.items() if _plain(name) in map(_plain, names.split())]
    return [(section, key) for section, _, key in (full.partition(".") for full in keys)]


def accepted_key(section: str, name: str) -> tuple[str, str] | None:
    """Returns the key (section, name) that a name of another library sets, with a word; or None.

    Args:
        section: where the name is given: of its key, [base], or a stage.
        name: the name; in a stage with its section.
    """
    home, _, bare = name.rpartition(".")
    if _plain(bare) not in map(_plain, ACCEPTED):
        return None
    (key,) = also_called(bare)
    if section.startswith(STAGE):
        return (section, ".".join(key)) if home == key[0] else None
    return key if section in (key[0], "base") and not home else None


def refusal(name: str) -> str | None:
    """Returns the advice for a name of another library that no key stands for; or None."""
    bare = _plain(name.rpartition(".")[2])
    return next(
        (text for names, text in REFUSED.items() if bare in map(_plain, names.split())), None
    )


def _keys_by_alias(section: str, name: str, own: Own) -> list[tuple[str, str]]:
    """Returns the keys that other libraries call so and that can be set in this section."""
    keys = also_called(name.rpartition(".")[2])
    if section.startswith(SWEPT):
        return []
    if section.startswith(STAGE):
        allowed = section_keys(section, own)
        return [(section, full) for key in keys if (full := ".".join(key)) in allowed]
    return [(home, key) for home, key in keys if key in schema(own)[home]]


def _near(name: str, keys: Iterable[str]) -> list[str]:
    """Returns the key that is nearest to a name, or else those that have it among their words."""
    keys = list(keys)
    nearest = difflib.get_close_matches(name, keys, n=1)
    return nearest or [key for key in keys if f"_{name}_" in f"_{key}_"]


def _plain(name: str) -> str:
    return name.replace("_", "").replace("-", "").lower()
