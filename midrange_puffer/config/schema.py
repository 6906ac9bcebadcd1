"""The configuration keys as a whole: by section, of a stage, and what a sweep may vary."""

import configparser
import functools
import importlib.util
from dataclasses import replace
from pathlib import Path

from midrange_puffer.config.key import PUFFERLIB, Key
from midrange_puffer.config.tables import (
    BASE,
    CLUSTER,
    CURRICULUM,
    EXPERIENCE_BUFFER,
    LEAGUE,
    POLICY,
    POOL,
    RNN,
    STAGE_KEYS,
    SWEEP,
    SWEPT_KEYS,
    TRAIN,
    VEC,
)
from midrange_puffer.policies.own_code import PACKAGE

SECTIONS = (
    "base", "vec", "cluster", "env", "policy", "rnn", "train", "experience_buffer", "pool",
    "league", "curriculum", "sweep",
)  # fmt: skip
STAGE = "curriculum."  # begins the name of a stage's section
SWEPT = "sweep."  # begins the name of the section of a key that a sweep varies

# What a sweep may vary: keys of these sections that are numbers, or of which all values are known,
# but those that it settles itself.
SWEPT_SECTIONS = ("train", "experience_buffer", "policy", "rnn", "env", "vec")
UNSWEPT = ("train.seed", "env.seed")

# Sections of earlier versions, and what they are called now.
RENAMED = {"experience_replay": "experience_buffer"}

# Keys of earlier versions: configurations and models that were made then still tell of them.
RETIRED = ("env.pilot_turn_loss",)

# What makes the whole run and cannot change with a stage, by section.
RUN_KEYS = {
    "env": frozenset({"observation", "action_mode"}),
    "train": frozenset(
        {
            "device", "engine", "threads", "torch_threads", "seed", "total_timesteps", "data_dir",
            "run_name", "optimizer", "precision", "torch_deterministic", "cpu_offload",
            "pin_memory", "compile", "compile_mode", "compile_fullgraph", "replay_interval",
        }
    ),
}  # fmt: skip


def _env_keys() -> tuple[Key, ...]:
    """The [env] keys, from the parameter table of the core."""
    from midrange_puffer.game.parameters import OPTIONS, PARAMETERS, parse_opponent

    options = [
        Key(o.name, o.kind, o.meaning, o.default, o.minimum, o.maximum,
            choices=tuple(o.choices or ()),
            check=parse_opponent if o.name == "opponent" else None)
        for o in OPTIONS.values()
    ]  # fmt: skip
    parameters = [
        Key(p.name, p.kind, p.meaning, p.default, p.minimum, p.maximum, unit=p.unit)
        for p in PARAMETERS.values()
    ]
    return (*options, *parameters)


def _policy_keys(policy_name: str) -> tuple[Key, ...]:
    """The [policy] keys of the package's policy, or from the arguments of one of the user's own."""
    if policy_name == PACKAGE:
        return POLICY
    from midrange_puffer.policies.own_policy import arguments

    limits = {int: (-(2**53), 2**53), float: (-1e15, 1e15)}
    return tuple(
        Key(one.name, kind, f"argument of {policy_name}", one.default, *limits.get(kind, ()))
        for one in arguments(policy_name).values()
        for kind in (type(one.default),)
    )


@functools.cache
def schema(policy_name: str = PACKAGE) -> dict[str, dict[str, Key]]:
    """Section -> name -> key, every default filled in.

    Args:
        policy_name: base.policy_name, whose arguments the keys of [policy] are.

    Raises:
        OwnCodeError: That policy cannot be used.
    """
    pufferlib = configparser.ConfigParser(interpolation=None)
    folder = Path(importlib.util.find_spec("pufferlib").submodule_search_locations[0])
    pufferlib.read(folder / "config" / "default.ini", encoding="utf-8")
    keys_of_all = (
        BASE, VEC, CLUSTER, _env_keys(), _policy_keys(policy_name), RNN, TRAIN, EXPERIENCE_BUFFER,
        POOL, LEAGUE, CURRICULUM, SWEEP,
    )  # fmt: skip
    tables = dict(zip(SECTIONS, keys_of_all, strict=True))
    return {
        section: {
            key.name: replace(key, default=key.parse(pufferlib[section][key.name]))
            if key.default is PUFFERLIB
            else key
            for key in keys
        }
        for section, keys in tables.items()
    }


@functools.cache
def stage_keys() -> dict[str, Key]:
    """Name -> key of all that may stand in a section [curriculum.<stage>]."""
    sections = schema()
    keys = {key.name: key for key in STAGE_KEYS}
    for section, of_the_run in RUN_KEYS.items():
        for name, key in sections[section].items():
            if name not in of_the_run:
                keys[f"{section}.{name}"] = key
    return keys


@functools.cache
def sweepable(policy_name: str = PACKAGE) -> dict[str, Key]:
    """All that a sweep may vary: "section.key" -> key."""
    return {
        name: key
        for section in SWEPT_SECTIONS
        for key in schema(policy_name)[section].values()
        if (key.kind is not str or key.choices) and (name := f"{section}.{key.name}") not in UNSWEPT
    }


def section_keys(section: str, policy_name: str = PACKAGE) -> dict[str, Key]:
    """Name -> key of a section, which may be a stage's or that of a key that a sweep varies."""
    if section.startswith(SWEPT):
        return {key.name: key for key in SWEPT_KEYS}
    return stage_keys() if section.startswith(STAGE) else schema(policy_name)[section]


def help_sections(policy_name: str = PACKAGE) -> dict[str, dict[str, Key]]:
    """Section -> name -> key as a user is told of them, with one section for all stages."""
    placeholders = (
        Key(f"{name}.<key>", str, f"any key of [{name}] except {', '.join(sorted(of_the_run))}; "
            "its value in this stage", f"as in [{name}]")
        for name, of_the_run in RUN_KEYS.items()
    )  # fmt: skip
    stage = {key.name: key for key in (*placeholders, *STAGE_KEYS)}
    swept = {key.name: key for key in SWEPT_KEYS}
    return {**schema(policy_name), f"{STAGE}<stage>": stage, f"{SWEPT}<section>.<key>": swept}
