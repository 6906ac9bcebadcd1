"""Model files: a policy's weights and all that is needed to use them."""

import reprlib
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from types import MappingProxyType

import numpy as np
import torch

from midrange_puffer.errors import CheckpointError
from midrange_puffer.files import write_whole
from midrange_puffer.game.observation import OBSERVATION_VERSION, Spaces, spaces_of
from midrange_puffer.game.parameters import (
    FIRST_RULES,
    OBSERVED,
    OPTIONS,
    PARAMETERS,
    RULES_VERSION,
    check,
    neutral_values,
    observed,
    sizes_of,
)
from midrange_puffer.json_files import Count, checked
from midrange_puffer.policies.metadata import PanelScore, checked_metadata
from midrange_puffer.policies.model_paths import MODELS
from midrange_puffer.policies.networks import WEIGHT_LIMIT, Policy, are_usable, make_policy
from midrange_puffer.policies.own_code import PACKAGE, short_name
from midrange_puffer.policies.own_policy import named_policy
from midrange_puffer.policies.torch_file import read_torch, to_bytes

FORMAT = "midrange_puffer policy"
VERSION = 1
# Options of the environment that make a policy's shape. Files from before one was there have its
# default.
SHAPING = ("observation", "action_mode")
# What the keys of a section may be.
_Section = dict[str, bool | int | float | str | None]
ENV_KEYS = {*OPTIONS, *PARAMETERS}
# The entries of a model file of which only the kind is checked.
_KINDS = {
    "policy_name": str,
    "policy": _Section,
    "rnn_name": str | None,
    "rnn": _Section,
    "env": _Section,
    "rules_version": Count,
    "agent_steps": Count,
    "panel": PanelScore | None,
}
_ENTRIES = ("format", "version", *_KINDS, "metadata", "observation_version", "action_nvec")


def save_model(
    path: Path,
    config: Mapping[str, Mapping[str, object]],
    weights: dict[str, torch.Tensor],
    agent_steps: int,
    panel: PanelScore | None = None,
    metadata: Mapping[str, object] = MappingProxyType({}),
) -> None:
    """Write a model file.

    Args:
        config: whose sections [base], [env], [policy] and [rnn] tell of the policy.
        panel: how it fared against the panel of pilots; None: it was not rated.
        metadata: the user's own, JSON values by name.

    Raises:
        ValueError: JSON cannot say the metadata.
        WriteError: The disk is full or the folder not writable; what was there still stands.
    """
    model = {
        "format": FORMAT,
        "version": VERSION,
        "policy_name": short_name(config["base"].get("policy_name", PACKAGE)),
        "policy": dict(config["policy"]),
        "rnn_name": config["base"]["rnn_name"],
        "rnn": dict(config["rnn"]),
        # Without what a reward of the user's own knows, which is no part of the game.
        "env": {name: value for name, value in config["env"].items() if name in ENV_KEYS},
        "rules_version": RULES_VERSION,
        "observation_version": OBSERVATION_VERSION,
        "action_nvec": _action_nvec(config["env"]),
        "agent_steps": agent_steps,
        "panel": None if panel is None else asdict(panel),
        "metadata": checked_metadata(dict(metadata)),
    }
    write_model(path, weights, model)


def write_model(
    path: Path, weights: Mapping[str, torch.Tensor], entries: Mapping[str, object]
) -> None:
    """Write a model file of weights and the other entries, which are not checked.

    Raises:
        WriteError: As `save_model`.
    """
    tensors = {name: value.detach().cpu() for name, value in weights.items()}
    write_whole(path, to_bytes({**entries, "weights": tensors}))


def load_model(path: Path, device: str) -> tuple[torch.nn.Module, dict[str, object]]:
    """Load a model file; what is returned and raised is as of `loading.load_policy`."""
    entries = read_torch(path, MODELS)
    check_entries(path, entries)
    if not isinstance(entries.get("weights"), dict):
        raise CheckpointError(f"{path}: has no weights")
    spaces, weights = policy_spaces(entries["env"]), dict(entries["weights"])
    shape = [entries[name] for name in ("policy", "rnn_name", "rnn")] + [_class_of(path, entries)]
    try:
        # First on the device that takes no memory: a file may declare a policy of any size.
        with torch.device("meta"):
            make_policy(spaces, *shape).load_state_dict(weights, assign=True)
    # As many kinds as there are ways for a file of the right entries to hold the wrong things.
    except (RuntimeError, TypeError, KeyError, AttributeError, ValueError) as error:
        reason = " ".join(str(error).split())
        raise CheckpointError(f"{path}: its weights do not fit its policy: {reason}") from None
    _check_weights(path, weights)
    policy = make_policy(spaces, *shape)
    policy.load_state_dict(weights)
    return policy.to(device).eval(), {name: entries[name] for name in _ENTRIES}


def _class_of(path: Path, entries: Mapping[str, object]) -> type[torch.nn.Module]:
    """The class of a file's policy; of the user's own one that somebody has named."""
    name = entries["policy_name"]
    if name == PACKAGE:
        return Policy
    found = named_policy(name)
    if found is None:
        raise CheckpointError(
            f"{path}: its policy is {name}, which is no part of this package. Its code runs only "
            f"where it is named: --policy-name {name} or file.py:{name.rpartition(':')[2]}; in "
            f"Python checkpoint.own_policy(…). Its ONNX file needs no code"
        )
    return found


def check_entries(path: Path, entries: object) -> None:
    """Check all entries of a model file but its weights, and bring its [env] up to date.

    Raises:
        CheckpointError: They are not of one, or do not fit this version's environment.
    """
    if not isinstance(entries, dict) or not _is_same(entries.get("format"), FORMAT):
        raise CheckpointError(f"{path}: not a {FORMAT}, as a run folder's {MODELS} are")
    versions = {"version": VERSION, "observation_version": OBSERVATION_VERSION}
    _check_values(path, entries, versions)
    # What files from before these entries were there have in their place.
    for name, value in (("policy_name", PACKAGE), ("panel", None), ("metadata", {})):
        entries.setdefault(name, value)
    rules_version = entries.setdefault("rules_version", FIRST_RULES)
    _check_kinds(path, entries, _KINDS)
    try:
        checked_metadata(entries["metadata"])
    except ValueError as error:
        raise CheckpointError(f"{path}: its {error}") from None
    env = entries["env"] = neutral_values(rules_version) | entries["env"]
    entries["rules_version"] = RULES_VERSION
    for name in SHAPING:
        choices, value = OPTIONS[name].choices, env.setdefault(name, OPTIONS[name].default)
        if value not in choices:
            allowed = " or ".join(choices)
            raise CheckpointError(f"{path}: its env.{name} = {value!r}: must be {allowed}")
    try:
        game = {name: check(name, env.get(name, PARAMETERS[name].default)) for name in OBSERVED}
        observed(env["observation"], game)
    except ValueError as error:
        raise CheckpointError(f"{path}: its env.{error}") from None
    _check_values(path, entries, {"action_nvec": _action_nvec(env)})


def check_usable(path: Path, name: str, weight: torch.Tensor | np.ndarray) -> None:
    """Raise CheckpointError where a weight in a file is too large or not a number."""
    if not are_usable(weight):
        raise CheckpointError(
            f"{path}: its weight {name} is beyond {WEIGHT_LIMIT:g} or has what is no number"
        )


def policy_spaces(env: Mapping[str, object]) -> Spaces:
    """The spaces of a policy of this [env]."""
    game = {name: env.get(name, PARAMETERS[name].default) for name in OBSERVED}
    return spaces_of(observed(env["observation"], game), env["action_mode"], *sizes_of(game))


def _check_weights(path: Path, weights: Mapping[str, torch.Tensor]) -> None:
    for name, value in weights.items():
        # One that is spread over its shape takes more in memory than in the file.
        if value.dtype != torch.float32 or not value.is_contiguous():
            found = f"{'' if value.is_contiguous() else 'spread '}{value.dtype}"
            raise CheckpointError(f"{path}: its weight {name} is {found}, expected torch.float32")
        check_usable(path, name, value)


def _check_values(path: Path, entries: Mapping[str, object], expected: dict[str, object]) -> None:
    for name, value in expected.items():
        if not _is_same(found := entries.get(name), value):
            its = reprlib.repr(found)
            raise CheckpointError(f"{path}: its {name} is {its}, expected {value}")


def _is_same(found: object, value: object) -> bool:
    """Whether they are equal and of one type; an entry that is a tensor has no simple ==."""
    if type(found) is not type(value):
        return False
    if isinstance(value, list):
        return len(found) == len(value) and all(map(_is_same, found, value))
    return found == value


def _check_kinds(path: Path, entries: Mapping[str, object], kinds: Mapping[str, object]) -> None:
    for name, kind in kinds.items():
        if name not in entries:
            raise CheckpointError(f"{path}: its {name} is missing")
        try:
            checked(entries[name], kind, name)
        except ValueError as error:
            raise CheckpointError(f"{path}: its {error}") from None


def _action_nvec(env: Mapping[str, object]) -> list[int] | None:
    """The levels of each action; None for continuous ones."""
    nvec = getattr(policy_spaces(env).single_action_space, "nvec", None)
    return nvec if nvec is None else nvec.tolist()
