"""Model files: a policy's weights and all that is needed to use them."""

import io
from collections.abc import Mapping
from pathlib import Path

import torch

from midrange_puffer.errors import UsageError
from midrange_puffer.files import write_whole
from midrange_puffer.game.observation import OBSERVATION_VERSION, Spaces, spaces_of
from midrange_puffer.game.parameters import FIRST_RULES, OPTIONS, RULES_VERSION, neutral_values
from midrange_puffer.policies.networks import make_policy

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


class CheckpointError(UsageError):
    """A file is not a checkpoint that this version can use."""


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
    meta = read_torch(path, device, MODELS, weights_only=True)
    check_entries(path, meta)
    _check_types(path, meta, {"weights": (dict,)})
    try:
        spaces = policy_spaces(meta["env"])
        policy = make_policy(spaces, meta["policy"], meta["rnn_name"], meta["rnn"])
        policy.load_state_dict(meta.pop("weights"))
    # As many kinds as there are ways for a file of the right entries to hold the wrong things.
    except (RuntimeError, TypeError, KeyError, AttributeError, ValueError) as error:
        raise CheckpointError(f"{path}: its weights do not fit its policy: {error}") from None
    return policy.to(device).eval(), meta


def check_is_file(path: Path, expected: str) -> None:
    """Raise CheckpointError, with what was `expected`, where there is no file at `path`."""
    if not path.is_file():
        what = "not a file" if path.exists() else "no such file"
        raise CheckpointError(f"{path}: {what}; {expected}")


def check_entries(path: Path, entries: object) -> None:
    """Check all entries of a model file but its weights, and bring its [env] up to date.

    Raises:
        CheckpointError: They are not of one, or do not fit this version's environment.
    """
    if not isinstance(entries, dict) or entries.get("format") != FORMAT:
        raise CheckpointError(f"{path}: not a {FORMAT}, as a run folder's {MODELS} are")
    versions = {"version": VERSION, "observation_version": OBSERVATION_VERSION}
    _check_values(path, entries, versions)
    rules_version = entries.setdefault("rules_version", FIRST_RULES)
    _check_types(path, entries, _TYPES)
    env = entries["env"] = neutral_values(rules_version) | entries["env"]
    entries["rules_version"] = RULES_VERSION
    for name in SHAPING:
        choices, value = OPTIONS[name].choices, env.setdefault(name, OPTIONS[name].default)
        if value not in choices:
            allowed = " or ".join(choices)
            raise CheckpointError(f"{path}: its env.{name} is {value}, expected {allowed}")
    _check_values(path, entries, {"action_nvec": _action_nvec(env)})


def policy_spaces(env: Mapping[str, object]) -> Spaces:
    """The spaces of a policy of this [env]."""
    return spaces_of(**{name: env[name] for name in SHAPING})


def to_bytes(entries: Mapping[str, object]) -> bytes:
    """What torch.save writes of these entries."""
    buffer = io.BytesIO()
    torch.save(entries, buffer)
    return buffer.getvalue()


def read_torch(path: Path, device: str, what: str, weights_only: bool) -> dict[str, object]:
    """Read a file that torch.save has written.

    Args:
        what: the name of the files in a run folder of which this should be one.
        weights_only: refuse anything that would run code; without it the file is a pickle.

    Raises:
        CheckpointError: It is missing or damaged.
    """
    expected = f"expected a run folder's {what}"
    check_is_file(path, expected)
    try:
        return torch.load(path, map_location=device, weights_only=weights_only)
    # torch.load raises many kinds for one cause, and advises to load such files without care.
    except Exception as error:
        raise CheckpointError(
            f"{path}: damaged, or not a checkpoint ({type(error).__name__}); {expected}"
        ) from None


def _check_values(path: Path, entries: Mapping[str, object], expected: dict[str, object]) -> None:
    for name, value in expected.items():
        if entries.get(name) != value:
            raise CheckpointError(f"{path}: its {name} is {entries.get(name)}, expected {value}")


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
