"""The keys as a whole: those of a section, a stage and the game, and those a sweep may vary."""

import functools
from collections.abc import Callable, Mapping
from typing import Any

from midrange_puffer.config.key import UNLIMITED, Key, Section, Value, keys_of
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
from midrange_puffer.config.sweep_sections import SweepConfig, Swept
from midrange_puffer.game.parameters import (
    AUTOMATIC,
    OPTIONS,
    PARAMETERS,
    Parameter,
    Parameters,
    text_check,
)
from midrange_puffer.game.types import BASED_ON, CATEGORIES, FIELDS, PACKAGE, checked_mix
from midrange_puffer.names import shown
from midrange_puffer.policies.mix import parse_mix
from midrange_puffer.policies.own_code import ATTENTION, MIDRANGE, PACKAGED, Own, Setting

SECTIONS: dict[str, type[Section[Value]]] = {
    "base": BaseConfig, "vec": VecConfig, "cluster": ClusterConfig, "env": EnvConfig,
    "policy": PolicyConfig, "rnn": RnnConfig, "train": TrainConfig,
    "experience_buffer": ExperienceBufferConfig, "pool": PoolConfig,
    "population": PopulationConfig, "league": LeagueConfig, "curriculum": CurriculumConfig,
    "sweep": SweepConfig,
}  # fmt: skip
STAGE = "curriculum."  # begins the name of a stage's section
SWEPT = "sweep."  # begins the name of the section of a key that a sweep varies
# Begin the names of sections of types of aircraft and missiles, which env.types stands for.
TYPE_SECTIONS = tuple(f"{kind}." for kind in CATEGORIES)
STAGE_KEYS, SWEPT_KEYS = keys_of(Stage), keys_of(Swept)

# A sweep may vary the keys of these sections that are numbers or have choices, except UNSWEPT,
# which it sets itself.
SWEPT_SECTIONS = ("train", "experience_buffer", "policy", "rnn", "env", "vec")
UNSWEPT = ("train.seed", "env.seed")

# Sections of earlier versions, and their names today.
RENAMED = {"experience_replay": "experience_buffer"}

# Keys of earlier versions, which old configurations and models still hold.
RETIRED = ("env.pilot_turn_loss",)

# Keys that hold for the whole run and cannot change with a stage, by section.
RUN_KEYS = {
    "env": frozenset({"observation", "action_mode", "agents", "sensing", "subordinates"}),
    "train": frozenset(
        {
            "device", "engine", "threads", "torch_threads", "seed", "total_timesteps", "data_dir",
            "run_name", "critic", "optimizer", "precision", "torch_deterministic", "cpu_offload",
            "pin_memory", "tf32", "compile", "compile_mode", "compile_fullgraph",
            "replay_interval",
        }
    ),
}  # fmt: skip

# Keys of [train] that a program may set while its trainer runs.
LIVE_KEYS = (
    "learning_rate", "anneal_lr", "max_grad_norm", "gamma", "gae_lambda", "clip_coef", "vf_coef",
    "vf_clip_coef", "ent_coef", "ent_coef_final", "kl_coef", "kl_interval", "vtrace_rho_clip",
    "vtrace_c_clip", "prio_alpha", "prio_beta0", "log_interval", "checkpoint_interval",
)  # fmt: skip

# Groups of parameters that training may vary without changing the game.
TRAINING_GROUPS = ("reward", "pilot")

OURS = Own()  # a configuration without the user's own code


def _env_keys(env_class: str) -> dict[str, Key]:
    """Returns the [env] keys: the core's parameters, the options, and those of a user's reward."""
    options = [
        Key(o.name, o.kind, o.meaning, o.default, o.minimum, o.maximum,
            choices=o.choices,
            check=parse_mix if o.name == "opponent" else None)
        for o in OPTIONS.values()
    ]  # fmt: skip
    parameters = [
        Key(
            p.name,
            str,
            p.meaning,
            p.default,
            choices=p.choices,
            check=_check_of(p),
            is_mixed=p.is_mixed,
        )
        if p.kind is str or p.choices
        else Key(
            p.name,
            p.kind,
            p.meaning,
            AUTOMATIC if p.is_automatic else p.default,
            p.minimum,
            p.maximum,
            words=(AUTOMATIC,) * p.is_automatic,
            unit=p.unit,
        )
        for p in PARAMETERS.values()
    ]
    keys = {key.name: key for key in (*options, *parameters)}
    if env_class == MIDRANGE:
        return keys
    from midrange_puffer.envs.own_env import env_class as find_class

    return keys | _own_keys(env_class, find_class(env_class).reward_settings())


def _check_of(parameter: Parameter) -> Callable[[str], object] | None:
    """Returns the check of a text; a mix may name types that only `env.types` knows."""
    if parameter.is_mixed:
        return lambda text: checked_mix(text, parameter.choices, None)
    return text_check(parameter) if parameter.kind is str else None


def _policy_keys(policy_name: str) -> dict[str, Key]:
    """Returns the [policy] keys: of a policy of the package, or the arguments of the user's own."""
    if policy_name in PACKAGED:
        return keys_of(AttentionConfig if policy_name == ATTENTION else PolicyConfig)
    from midrange_puffer.policies.own_policy import arguments

    return _own_keys(policy_name, arguments(policy_name))


def _own_keys(name: str, arguments: Mapping[str, Setting]) -> dict[str, Key]:
    """Returns keys for the arguments of the user's own code and their defaults."""
    keys: dict[str, Key] = {}
    for argument, default in arguments.items():
        limits = (-UNLIMITED, UNLIMITED) if type(default) in (int, float) else (None, None)
        meaning = f"argument of {shown(name)}"
        keys[argument] = Key(argument, type(default), meaning, default, *limits)
    return keys


@functools.cache
def schema(own: Own = OURS) -> dict[str, dict[str, Key]]:
    """Returns section -> name -> key.

    Args:
        own: The policy, whose arguments the keys of [policy] are, and the environment, whose
            arguments are keys of [env] besides the package's own.

    Raises:
        OwnCodeError: One of them cannot be used.
    """
    special = {"env": _env_keys(own.env_class), "policy": _policy_keys(own.policy_name)}
    return {
        name: special[name] if name in special else keys_of(section)
        for name, section in SECTIONS.items()
    }


@functools.cache
def stage_keys(own: Own = OURS) -> dict[str, Key]:
    """Returns name -> key of all that may stand in a section [curriculum.<stage>]."""
    sections = schema(own)
    keys = dict(STAGE_KEYS)
    for section, run_keys in RUN_KEYS.items():
        for name, key in sections[section].items():
            if name not in run_keys:
                keys[f"{section}.{name}"] = key
    return keys


@functools.cache
def sweepable(own: Own = OURS) -> dict[str, Key]:
    """Returns all that a sweep may vary: "section.key" -> key."""
    return {
        name: key
        for section in SWEPT_SECTIONS
        for key in schema(own)[section].values()
        if (key.kind is not str or key.choices) and (name := f"{section}.{key.name}") not in UNSWEPT
    }


@functools.cache
def type_keys(kind: str) -> dict[str, Key]:
    """Returns name -> key of all that may stand in a section of a type of a kind."""
    base = Key(
        BASED_ON,
        str,
        "base of a new type: one of the package's types",
        "its own name",
        choices=tuple(PACKAGE[kind]),
    )
    return {BASED_ON: base} | {
        field.name: Key(
            field.name,
            float,
            field.meaning,
            f"as in {BASED_ON}",
            field.minimum,
            field.maximum,
            unit=field.unit,
        )
        for field in FIELDS[kind].values()
    }


def section_keys(section: str, own: Own = OURS) -> dict[str, Key]:
    """Returns name -> key of a section, also of a stage, a key that a sweep varies, or a type."""
    if section.startswith(SWEPT):
        return SWEPT_KEYS
    if section.startswith(TYPE_SECTIONS):
        return type_keys(section.partition(".")[0])
    return stage_keys(own) if section.startswith(STAGE) else schema(own)[section]


def help_sections(own: Own = OURS) -> dict[str, dict[str, Key]]:
    """Returns section -> name -> key as a help text lists them, with one section for all stages."""
    placeholders = {
        f"{name}.<key>": Key(f"{name}.<key>", str, f"any key of [{name}] except "
            f"{', '.join(sorted(run_keys))}; its value in this stage", f"as in [{name}]")
        for name, run_keys in RUN_KEYS.items()
    }  # fmt: skip
    sections = {f"{STAGE}<stage>": placeholders | STAGE_KEYS, f"{SWEPT}<section>.<key>": SWEPT_KEYS}
    types = {f"{kind}.<name>": type_keys(kind) for kind in CATEGORIES}
    return schema(own) | types | sections


def game_parameters(env: Parameters) -> dict[str, Any]:
    """Returns the part of a model's [env] that makes the game: no opponents, pilots or rewards."""
    training = {name for name, row in PARAMETERS.items() if row.group in TRAINING_GROUPS}
    return {
        name: value
        for name, value in env.items()
        if name not in {*OPTIONS, *training} and f"env.{name}" not in RETIRED
    }


def game_of(config: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """Returns the part of a configuration that makes the game, without a user's own reward."""
    ours = schema()["env"]
    return game_parameters({name: value for name, value in config["env"].items() if name in ours})
