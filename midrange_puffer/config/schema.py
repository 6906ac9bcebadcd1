"""The configuration keys as a whole: by section, of a stage, and what a sweep may vary."""

import configparser
import functools
import importlib.util
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from midrange_puffer.config.key import PUFFERLIB, UNLIMITED, Key
from midrange_puffer.config.tables import (
    BASE,
    CLUSTER,
    CURRICULUM,
    EXPERIENCE_BUFFER,
    LEAGUE,
    POLICY,
    POOL,
    POPULATION,
    RNN,
    STAGE_KEYS,
    SWEEP,
    SWEPT_KEYS,
    TRAIN,
    VEC,
)
from midrange_puffer.names import shown
from midrange_puffer.policies.own_code import MIDRANGE, PACKAGE, Own

SECTIONS = (
    "base", "vec", "cluster", "env", "policy", "rnn", "train", "experience_buffer", "pool",
    "population", "league", "curriculum", "sweep",
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
    "env": frozenset({"observation", "action_mode", "sensing"}),
    "train": frozenset(
        {
            "device", "engine", "threads", "torch_threads", "seed", "total_timesteps", "data_dir",
            "run_name", "optimizer", "precision", "torch_deterministic", "cpu_offload",
            "pin_memory", "compile", "compile_mode", "compile_fullgraph", "replay_interval",
        }
    ),
}  # fmt: skip


OURS = Own()  # a configuration without the user's own code


def _env_keys(env_class: str) -> tuple[Key, ...]:
    """The [env] keys: from the parameter table of the core, and from the user's own reward."""
    from midrange_puffer.game.parameters import OPTIONS, PARAMETERS
    from midrange_puffer.policies.mix import parse_mix

    options = [
        Key(o.name, o.kind, o.meaning, o.default, o.minimum, o.maximum,
            choices=tuple(o.choices or ()),
            check=parse_mix if o.name == "opponent" else None)
        for o in OPTIONS.values()
    ]  # fmt: skip
    parameters = [
        Key(p.name, str, p.meaning, p.default, choices=p.choices)
        if p.choices
        else Key(p.name, p.kind, p.meaning, p.default, p.minimum, p.maximum, unit=p.unit)
        for p in PARAMETERS.values()
    ]
    if env_class == MIDRANGE:
        return (*options, *parameters)
    from midrange_puffer.envs.own_env import arguments

    return (*options, *parameters, *_own_keys(env_class, arguments(env_class)))


def _policy_keys(policy_name: str) -> tuple[Key, ...]:
    """The [policy] keys of the package's policy, or from the arguments of one of the user's own."""
    if policy_name == PACKAGE:
        return POLICY
    from midrange_puffer.policies.own_policy import arguments

    return _own_keys(policy_name, arguments(policy_name))


def _own_keys(name: str, arguments: Mapping[str, object]) -> tuple[Key, ...]:
    """Keys for the arguments of the user's own code and their defaults."""
    limits = dict.fromkeys((int, float), (-UNLIMITED, UNLIMITED))
    return tuple(
        Key(argument, type(default), f"argument of {shown(name)}", default,
            *limits.get(type(default), ()))
        for argument, default in arguments.items()
    )  # fmt: skip


@functools.cache
def schema(own: Own = OURS) -> dict[str, dict[str, Key]]:
    """Section -> name -> key, every default filled in.

    Args:
        own: the policy, whose arguments the keys of [policy] are, and the environment, whose
            arguments are keys of [env] besides its own.

    Raises:
        OwnCodeError: One of them cannot be used.
    """
    pufferlib = configparser.ConfigParser(interpolation=None)
    folder = Path(importlib.util.find_spec("pufferlib").submodule_search_locations[0])
    pufferlib.read(folder / "config" / "default.ini", encoding="utf-8")
    keys_of_all = (
        BASE, VEC, CLUSTER, _env_keys(own.env_class), _policy_keys(own.policy_name), RNN, TRAIN,
        EXPERIENCE_BUFFER, POOL, POPULATION, LEAGUE, CURRICULUM, SWEEP,
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
def stage_keys(own: Own = OURS) -> dict[str, Key]:
    """Name -> key of all that may stand in a section [curriculum.<stage>]."""
    sections = schema(own)
    keys = {key.name: key for key in STAGE_KEYS}
    for section, of_the_run in RUN_KEYS.items():
        for name, key in sections[section].items():
            if name not in of_the_run:
                keys[f"{section}.{name}"] = key
    return keys


@functools.cache
def sweepable(own: Own = OURS) -> dict[str, Key]:
    """All that a sweep may vary: "section.key" -> key."""
    return {
        name: key
        for section in SWEPT_SECTIONS
        for key in schema(own)[section].values()
        if (key.kind is not str or key.choices) and (name := f"{section}.{key.name}") not in UNSWEPT
    }


def section_keys(section: str, own: Own = OURS) -> dict[str, Key]:
    """Name -> key of a section, which may be a stage's or that of a key that a sweep varies."""
    if section.startswith(SWEPT):
        return {key.name: key for key in SWEPT_KEYS}
    return stage_keys(own) if section.startswith(STAGE) else schema(own)[section]


def help_sections(own: Own = OURS) -> dict[str, dict[str, Key]]:
    """Section -> name -> key as a user is told of them, with one section for all stages."""
    placeholders = (
        Key(f"{name}.<key>", str, f"any key of [{name}] except {', '.join(sorted(of_the_run))}; "
            "its value in this stage", f"as in [{name}]")
        for name, of_the_run in RUN_KEYS.items()
    )  # fmt: skip
    stage = {key.name: key for key in (*placeholders, *STAGE_KEYS)}
    swept = {key.name: key for key in SWEPT_KEYS}
    return {**schema(own), f"{STAGE}<stage>": stage, f"{SWEPT}<section>.<key>": swept}
