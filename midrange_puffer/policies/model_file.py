"""Model files: a policy's weights and all that is needed to use them."""

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import torch

from midrange_puffer.files import write_whole
from midrange_puffer.game.observation import OBSERVATION_VERSION, Spaces, spaces_of
from midrange_puffer.game.parameters import FIRST_RULES, OPTIONS, RULES_VERSION, neutral_values
from midrange_puffer.policies.networks import WEIGHT_LIMIT, are_usable, make_policy
from midrange_puffer.policies.torch_file import CheckpointError, brief, read_torch, to_bytes

FORMAT = "midrange_puffer policy"
VERSION = 1
MODELS = "model_*.pt"
# Options of the environment that make a policy's shape. Files from before one was there have its
# default.
SHAPING = ("observation", "action_mode")
# The entries of a model file of which only the type is checked.
_TYPES = {
    "policy": (dict,),
    "rnn_name": (str, type(None)),
    "rnn": (dict,),
    "env": (dict,),
    "rules_version": (int,),
    "agent_steps": (int,),
}
_ENTRIES = ("format", "version", *_TYPES, "observation_version", "action_nvec")
_VALUES = (bool, int, float, str, type(None))  # of the keys of a section


def save_model(
    path: Path,
    config: Mapping[str, Mapping[str, object]],
    weights: dict[str, torch.Tensor],
    agent_steps: int,
) -> None:
    """Write a model file.

    Args:
        config: whose sections [base], [env], [policy] and [rnn] tell of the policy.

    Raises:
        WriteError: The disk is full or the folder not writable; what was there still stands.
    """
    model = {
        "format": FORMAT,
        "version": VERSION,
        "weights": {name: value.detach().cpu() for name, value in weights.items()},
        "policy": dict(config["policy"]),
        "rnn_name": config["base"]["rnn_name"],
        "rnn": dict(config["rnn"]),
        "env": dict(config["env"]),
        "rules_version": RULES_VERSION,
        "observation_version": OBSERVATION_VERSION,
        "action_nvec": _action_nvec(config["env"]),
        "agent_steps": agent_steps,
    }
    write_whole(path, to_bytes(model))


def load_model(path: Path, device: str) -> tuple[torch.nn.Module, dict[str, object]]:
    """Load a model file; what is returned and raised is as of `loading.load_policy`."""
    entries = read_torch(path, MODELS)
    check_entries(path, entries)
    _check_types(path, entries, {"weights": (dict,)})
    spaces, weights = policy_spaces(entries["env"]), dict(entries["weights"])
    shape = [entries[name] for name in ("policy", "rnn_name", "rnn")]
    try:
        # First where it takes no memory: the policy is as large as the file says.
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


def check_entries(path: Path, entries: object) -> None:
    """Check all entries of a model file but its weights, and bring its [env] up to date.

    Raises:
        CheckpointError: They are not of one, or do not fit this version's environment.
    """
    if not isinstance(entries, dict) or not _is_same(entries.get("format"), FORMAT):
        raise CheckpointError(f"{path}: not a {FORMAT}, as a run folder's {MODELS} are")
    versions = {"version": VERSION, "observation_version": OBSERVATION_VERSION}
    _check_values(path, entries, versions)
    rules_version = entries.setdefault("rules_version", FIRST_RULES)
    _check_types(path, entries, _TYPES)
    for section in ("policy", "rnn", "env"):
        for name, value in entries[section].items():
            if type(name) is not str or not isinstance(value, _VALUES):
                found = f"{brief(name)} of type {type(value).__name__}"
                raise CheckpointError(f"{path}: its {section} has {found}, expected one value")
    env = entries["env"] = neutral_values(rules_version) | entries["env"]
    entries["rules_version"] = RULES_VERSION
    for name in SHAPING:
        choices, value = OPTIONS[name].choices, env.setdefault(name, OPTIONS[name].default)
        if value not in choices:
            allowed = " or ".join(choices)
            raise CheckpointError(f"{path}: its env.{name} is {brief(value)}, expected {allowed}")
    _check_values(path, entries, {"action_nvec": _action_nvec(env)})


def check_usable(path: Path, name: str, weight: torch.Tensor | np.ndarray) -> None:
    """Raise CheckpointError where a weight of a file is none that a policy can have."""
    if not are_usable(weight):
        raise CheckpointError(
            f"{path}: its weight {name} is beyond {WEIGHT_LIMIT:g} or has what is no number"
        )


def policy_spaces(env: Mapping[str, object]) -> Spaces:
    """The spaces of a policy of this [env]."""
    return spaces_of(**{name: env[name] for name in SHAPING})


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
            raise CheckpointError(f"{path}: its {name} is {brief(found)}, expected {brief(value)}")


def _is_same(found: object, value: object) -> bool:
    """Whether they are the same, as text: of what a file holds not all can be compared."""
    return type(found) is type(value) and brief(found) == brief(value)


def _check_types(
    path: Path, entries: Mapping[str, object], expected: dict[str, tuple[type, ...]]
) -> None:
    for name, types in expected.items():
        if name not in entries or not isinstance(entries[name], types):
            found = f"of type {type(entries[name]).__name__}" if name in entries else "missing"
            allowed = " or ".join(kind.__name__ for kind in types)
            raise CheckpointError(f"{path}: its {name} is {found}, expected {allowed}")


def _action_nvec(env: Mapping[str, object]) -> list[int] | None:
    """The levels of each action; None for continuous ones."""
    nvec = getattr(policy_spaces(env).single_action_space, "nvec", None)
    return nvec if nvec is None else nvec.tolist()
