"""Model files: a policy's weights and all entries that are needed to use them."""

import reprlib
from collections.abc import Mapping
from dataclasses import asdict
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
import torch

from midrange_puffer.errors import CheckpointError
from midrange_puffer.files import write_whole
from midrange_puffer.game.observation import OBSERVATION_VERSION, Spaces, spaces_of
from midrange_puffer.game.parameters import (
    EXPORTED,
    FIGHTER,
    FIRST_RULES,
    OBSERVED,
    OPTIONS,
    PARAMETERS,
    RULES_VERSION,
    SIDE,
    SUBORDINATE,
    Parameters,
    check,
    checked_agents,
    checked_order_decisions,
    neutral_values,
    observed,
    sizes_of,
    with_automatic_spacing,
)
from midrange_puffer.json_files import Count, checked
from midrange_puffer.policies.actors import PolicyModule
from midrange_puffer.policies.models import MODELS, PanelScore, checked_metadata
from midrange_puffer.policies.native import reason_against
from midrange_puffer.policies.networks import (
    WEIGHT_LIMIT,
    Policy,
    are_usable,
    make_policy,
    policy_class,
)
from midrange_puffer.policies.own_code import PACKAGE, PACKAGED, short_name
from midrange_puffer.policies.own_policy import named_policy
from midrange_puffer.policies.subordinate import HOW, Subordinate
from midrange_puffer.policies.torch_files import read_torch, to_bytes

FORMAT = "midrange_puffer policy"
VERSION = 1
# Options of the environment that determine a policy's shape. For files that are older than an
# option its default is used.
SHAPING = ("observation", "action_mode", "order_decisions", "agents")
SUBORDINATES = "subordinates"  # an option, and the entry with the content of its file
SHARING = "parameter_sharing"  # a setting of [policy]
# Types of the values in a section.
_Section = dict[str, bool | int | float | str | None]
ENV_KEYS = {*OPTIONS, *PARAMETERS}
# Entries of a model file that need no check beyond their type.
_TYPES = {
    "policy_name": str,
    "policy": _Section,
    "rnn_name": str | None,
    "rnn": _Section,
    "env": _Section,
    "rules_version": Count,
    "agent_steps": Count,
    "panel": PanelScore | None,
}
_ENTRIES = ("format", "version", *_TYPES, "metadata", "observation_version", "action_nvec")


def new_policy(config: Mapping[str, Mapping[str, Any]]) -> PolicyModule:
    """Returns a policy with random weights, on the CPU.

    Args:
        config: the configuration; its sections [base], [env], [policy] and [rnn] are used.

    Raises:
        OwnCodeError: The user's own policy cannot be used.
    """
    base, kind = config["base"], policy_class(config["base"]["policy_name"])
    spaces = policy_spaces(config["env"])
    policy = make_policy(spaces, config["policy"], base["rnn_name"], config["rnn"], kind)
    policy.subordinate = subordinate_in(config["env"])
    return policy


def subordinate_in(env: Mapping[str, Any]) -> Subordinate | None:
    """Returns the subordinate that env.subordinates names; None without one.

    Raises:
        CheckpointError: The file cannot be used, or its policy is no subordinate.
    """
    path = env.get(SUBORDINATES)
    return Subordinate(subordinate_policy(path, read_subordinate(path))) if path else None


def is_same_subordinate(entries: Mapping[str, Any] | None, other: Mapping[str, Any] | None) -> bool:
    """True if the entries of two subordinates' model files have the same weights; None: no file."""
    if entries is None or other is None:
        return entries is other
    weights, others = entries["weights"], other["weights"]
    return weights.keys() == others.keys() and all(
        torch.equal(weight, others[name]) for name, weight in weights.items()
    )


def save_policy(
    path: str | Path,
    config: Mapping[str, Mapping[str, Any]],
    policy: PolicyModule,
    metadata: Mapping[str, object] = MappingProxyType({}),
) -> None:
    """Writes a policy of `new_policy` as a model file, for training that is not the trainer's.

    The arguments and errors are those of `save_model`.
    """
    save_model(Path(path), config, policy.state_dict(), 0, metadata=metadata)


def save_model(
    path: Path,
    config: Mapping[str, Mapping[str, Any]],
    weights: dict[str, torch.Tensor],
    agent_steps: int,
    panel: PanelScore | None = None,
    metadata: Mapping[str, object] = MappingProxyType({}),
) -> None:
    """Writes a model file.

    Args:
        path: the file.
        config: the configuration; its sections [base], [env], [policy] and [rnn] are used.
        weights: the policy's state_dict.
        agent_steps: experience of the policy.
        panel: its rating; None: it was not rated.
        metadata: the user's own, JSON values by name.

    Raises:
        ValueError: JSON cannot store the metadata.
        WriteError: The disk is full or the folder not writable; an older file stays whole.
    """
    model = {
        "format": FORMAT,
        "version": VERSION,
        "policy_name": short_name(config["base"].get("policy_name", PACKAGE)),
        "policy": dict(config["policy"]),
        "rnn_name": config["base"]["rnn_name"],
        "rnn": dict(config["rnn"]),
        # Settings of a user's own reward are left out: they are no part of the game.
        "env": {name: value for name, value in config["env"].items() if name in ENV_KEYS},
        "rules_version": RULES_VERSION,
        "observation_version": OBSERVATION_VERSION,
        "action_nvec": _action_nvec(config["env"]),
        "agent_steps": agent_steps,
        "panel": None if panel is None else asdict(panel),
        "metadata": checked_metadata(dict(metadata)),
    }
    if subordinates := config["env"].get(SUBORDINATES):
        model[SUBORDINATES] = read_subordinate(subordinates)
    write_model(path, weights, model)


def write_model(
    path: Path, weights: Mapping[str, torch.Tensor], entries: Mapping[str, object]
) -> None:
    """Writes a model file of weights and the other entries, which are not checked.

    Raises:
        WriteError: As for `save_model`.
    """
    tensors = {name: value.detach().cpu() for name, value in weights.items()}
    write_whole(path, to_bytes({**entries, "weights": tensors}))


def load_model(path: Path, device: str) -> tuple[PolicyModule, dict[str, Any]]:
    """Loads a model file; results and errors are those of `loading.load_policy`."""
    entries = check_entries(path, read_torch(path, MODELS))
    policy, names = policy_of(path, entries, device), _ENTRIES
    if entries["env"].get(SUBORDINATES):
        names = (*names, SUBORDINATES)
        if SUBORDINATES not in entries:
            raise CheckpointError(f"{path}: the copy of its subordinate is missing")
        own = check_entries(path, entries[SUBORDINATES])
        policy.subordinate = Subordinate(subordinate_policy(path, own))
    return policy, {name: entries[name] for name in names}


def policy_of(path: Path, entries: Mapping[str, Any], device: str) -> PolicyModule:
    """Returns the policy of a model file's checked entries, in evaluation mode.

    Raises:
        CheckpointError: There are no weights, or they cannot be used.
    """
    if not isinstance(entries.get("weights"), dict):
        raise CheckpointError(f"{path}: has no weights")
    spaces, weights = policy_spaces(entries["env"]), dict(entries["weights"])
    shape = [entries[name] for name in ("policy", "rnn_name", "rnn")] + [_class_of(path, entries)]
    try:
        # Made on the device that allocates nothing: a file may declare a policy of any size.
        with torch.device("meta"):
            make_policy(spaces, *shape).load_state_dict(weights, assign=True)
    # Wrong content under the right names raises any of these exceptions.
    except (RuntimeError, TypeError, KeyError, AttributeError, ValueError) as error:
        reason = " ".join(str(error).split())
        raise CheckpointError(f"{path}: its weights do not fit its policy: {reason}") from None
    for name, value in weights.items():
        # A tensor with stride 0 takes more memory than its part of the file.
        if value.dtype != torch.float32 or not value.is_contiguous():
            actual = f"{'' if value.is_contiguous() else 'spread '}{value.dtype}"
            raise CheckpointError(f"{path}: its weight {name} is {actual}, expected torch.float32")
        check_usable(path, name, value)
    policy = make_policy(spaces, *shape)
    policy.load_state_dict(weights)
    return policy.to(device).eval()


@cache
def read_subordinate(path: str | Path) -> dict[str, Any]:
    """Returns the entries of a subordinate's model file.

    A process reads a file once, so that a run which has begun does not depend on it.

    Raises:
        CheckpointError: The file cannot be used, or its policy is no subordinate.
    """
    if Path(path).suffix == EXPORTED:
        raise CheckpointError(f"{path}: an exported policy; {HOW}")
    return check_entries(Path(path), read_torch(Path(path), MODELS))


def subordinate_policy(path: str | Path, entries: dict[str, Any]) -> Policy:
    """Returns the policy of a subordinate's entries, on the CPU.

    Args:
        path: the file that they are from, for messages.
        entries: as of `read_subordinate`.

    Raises:
        CheckpointError: The file cannot be used, or its policy is no subordinate.
    """
    if (agents := entries["env"]["agents"]) != SUBORDINATE:
        raise CheckpointError(f"{path}: its env.agents = {agents}: it observes no orders; {HOW}")
    policy = policy_of(Path(path), entries, "cpu")
    if type(policy) is not Policy or reason_against(policy) is not None:
        raise CheckpointError(f"{path}: is not the package's MLP; {HOW}")
    return policy


def _class_of(path: Path, entries: Mapping[str, Any]) -> type[torch.nn.Module]:
    """Returns the class of a file's policy; a user's own class must have been imported before."""
    name = entries["policy_name"]
    kind = policy_class(name) if name in PACKAGED else named_policy(name)
    if kind is None:
        raise CheckpointError(
            f"{path}: its policy is {name}, which is no part of this package. Its code runs only "
            f"where it is named: --policy-name {name} or file.py:{name.rpartition(':')[2]}; in "
            f"Python checkpoint.own_policy(…). Its ONNX file needs no code"
        )
    return kind


def check_entries(path: Path, entries: object) -> dict[str, Any]:
    """Checks all entries of a model file but its weights; returns them in this version's form.

    Raises:
        CheckpointError: They are no entries of a model file, or do not fit this version's
            environment.
    """
    if not isinstance(entries, dict) or not _is_same(entries.get("format"), FORMAT):
        raise CheckpointError(f"{path}: not a {FORMAT}, as a run folder's {MODELS} are")
    versions = {"version": VERSION, "observation_version": OBSERVATION_VERSION}
    _check_values(path, entries, versions)
    # Defaults for files older than these entries.
    for name, value in (("policy_name", PACKAGE), ("panel", None), ("metadata", {})):
        entries.setdefault(name, value)
    rules_version = entries.setdefault("rules_version", FIRST_RULES)
    for name, kind in _TYPES.items():
        if name not in entries:
            raise CheckpointError(f"{path}: its {name} is missing")
        try:
            checked(entries[name], kind, name)
        except ValueError as error:
            raise CheckpointError(f"{path}: its {error}") from None
    try:
        checked_metadata(entries["metadata"])
    except ValueError as error:
        raise CheckpointError(f"{path}: its {error}") from None
    env = entries["env"] = with_automatic_spacing(neutral_values(rules_version) | entries["env"])
    entries["rules_version"] = RULES_VERSION
    for name in SHAPING:
        choices, value = OPTIONS[name].choices, env.setdefault(name, OPTIONS[name].default)
        if choices and value not in choices:
            allowed = " or ".join(choices)
            raise CheckpointError(f"{path}: its env.{name} = {value!r}: must be {allowed}")
    try:
        game = {name: check(name, env.get(name, PARAMETERS[name].default)) for name in OBSERVED}
        observed(env["observation"], game)
        checked_order_decisions(env["order_decisions"], env["action_mode"])
        checked_agents(env["agents"], env["action_mode"], game)
    except ValueError as error:
        raise CheckpointError(f"{path}: its env.{error}") from None
    if env["agents"] == SIDE and entries["policy_name"] in PACKAGED:
        # Commanders that are older than this setting have weights for each fighter.
        entries["policy"] = {SHARING: False} | entries["policy"]
    _check_values(path, entries, {"action_nvec": _action_nvec(env)})
    return entries


def check_usable(path: Path, name: str, weight: torch.Tensor | np.ndarray) -> None:
    """Raises CheckpointError if a weight in a file is too large or not a number."""
    if not are_usable(weight):
        raise CheckpointError(
            f"{path}: its weight {name} is beyond {WEIGHT_LIMIT:g} or has what is no number"
        )


def policy_spaces(env: Parameters) -> Spaces:
    """Returns the spaces of a policy of this [env]."""
    game = {name: env.get(name, PARAMETERS[name].default) for name in OBSERVED}
    decisions = env.get("order_decisions", OPTIONS["order_decisions"].default)
    observation = observed(env["observation"], game)
    fighters = checked_agents(env.get("agents", FIGHTER), env["action_mode"], game)
    is_subordinate = env.get("agents", FIGHTER) == SUBORDINATE
    return spaces_of(
        observation, env["action_mode"], *sizes_of(game), decisions, fighters, is_subordinate
    )


def _check_values(
    path: Path, entries: Mapping[str, object], expected: Mapping[str, object]
) -> None:
    for name, value in expected.items():
        if not _is_same(entry := entries.get(name), value):
            its = reprlib.repr(entry)
            raise CheckpointError(f"{path}: its {name} is {its}, expected {value}")


def _is_same(entry: object, value: object) -> bool:
    """True if both are equal and of the same type; a tensor's == would return a tensor."""
    if type(entry) is not type(value):
        return False
    if isinstance(value, list) and isinstance(entry, list):
        return len(entry) == len(value) and all(map(_is_same, entry, value))
    return entry == value


def _action_nvec(env: Parameters) -> list[int] | None:
    """Returns the levels of each action; None for continuous actions."""
    nvec = getattr(policy_spaces(env).single_action_space, "nvec", None)
    return nvec if nvec is None else nvec.tolist()
