"""The files of a run folder that training writes and others load.

`model_XXXXXX.pt` holds a policy and all that is needed to use it; `trainer_state.pt` what else is
needed to go on training, and the name of the model it belongs to. The model is written first, each
file whole, so that at any moment the state on disk has its model beside it.
"""

import io
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import torch

from midrange_puffer.config import Config
from midrange_puffer.errors import UsageError
from midrange_puffer.files import write_whole
from midrange_puffer.observation import OBSERVATION_VERSION, Spaces, spaces_of
from midrange_puffer.parameters import (
    EXPORTED,
    FIRST_RULES,
    OPTIONS,
    RULES_VERSION,
    neutral_values,
)
from midrange_puffer.policy import make_policy

FORMAT = "midrange_puffer policy"
VERSION = 1
CONFIG = "config.ini"
METRICS = "metrics.jsonl"
STATE = "trainer_state.pt"
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


@dataclass
class Run:
    """A run folder, its configuration without any "auto", and its state where it is resumed."""

    folder: Path
    config: Config
    state: dict[str, object] | None = None


class CheckpointError(UsageError):
    """A file is not a checkpoint that this version can use."""


def model_name(epoch: int) -> str:
    """The file name of the model after so many updates."""
    return f"model_{epoch:06d}.pt"


def save(run: Run, weights: dict[str, torch.Tensor], state: dict[str, object]) -> Path:
    """Write the model and trainer state of update state["epoch"]; return the model's path.

    Raises:
        WriteError: The disk is full or the folder not writable; the last checkpoint still stands.
    """
    path = run.folder / model_name(state["epoch"])
    save_model(path, run.config, weights, state["global_step"])
    write_whole(run.folder / STATE, _to_bytes({**state, "model": path.name}))
    return path


def save_model(
    path: Path, config: Config, weights: dict[str, torch.Tensor], agent_steps: int
) -> None:
    """Write a model file.

    Raises:
        WriteError: The disk is full or the folder not writable; what was there still stands.
    """
    model = {
        "format": FORMAT,
        "version": VERSION,
        "weights": {name: value.detach().cpu() for name, value in weights.items()},
        "policy": config["policy"],
        "rnn_name": config["base"]["rnn_name"],
        "rnn": config["rnn"],
        "env": config["env"],
        "rules_version": RULES_VERSION,
        "observation_version": OBSERVATION_VERSION,
        "action_nvec": _action_nvec(config["env"]),
        "agent_steps": agent_steps,
    }
    write_whole(path, _to_bytes(model))


def load_policy(path: str | Path, device: str = "cpu") -> tuple[torch.nn.Module, dict[str, object]]:
    """Load a policy from a model file, or an exported one, which is always on the CPU.

    Returns:
        The policy on `device`, in evaluation mode, and the file's other entries: policy, rnn_name,
        rnn, env (complete, whichever version of the rules it is of), rules_version (the present
        one), observation_version, action_nvec (None: continuous actions), agent_steps.

    Raises:
        CheckpointError: The file is missing, damaged, not ours or of another version.
        UsageError: What an exported policy needs is not installed.
    """
    path = Path(path)
    if path.suffix == EXPORTED:
        # Here, so that nothing else needs onnxruntime.
        from midrange_puffer.exported import load_exported

        return load_exported(path)
    meta = _load(path, device, weights_only=True)
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


def load_state(run: Path) -> dict[str, object]:
    """Load the trainer state of the run folder `run`.

    The optimizer's part is a pickle: resume only runs that you trust.

    Raises:
        CheckpointError: There is none, or it is damaged.
    """
    path = run / STATE
    state = _load(path, "cpu", weights_only=False)
    if not isinstance(state, dict) or not (run / str(state.get("model"))).is_file():
        raise CheckpointError(f"{path}: not a trainer state with its model beside it")
    return state


def latest(data_dir: str | Path) -> Path:
    """Return the newest model file of all run folders in `data_dir`.

    Raises:
        CheckpointError: There is none.
    """
    return _newest(Path(data_dir), MODELS)


def find_run(name: str, data_dir: str | Path) -> Path:
    """Return the run folder called `name`: a path, a run in `data_dir`, or "latest".

    Raises:
        CheckpointError: There is none, or it holds no checkpoint.
    """
    data_dir = Path(data_dir)
    if name == "latest":
        return _newest(data_dir, STATE).parent
    for run in (Path(name), data_dir / name):
        if (run / STATE).is_file():
            return run
    if Path(name).is_dir() or (data_dir / name).is_dir():
        raise CheckpointError(f"{name}: the run has no {STATE}: it ended before it began")
    runs = sorted((path.parent.name for path in data_dir.glob(f"*/{STATE}")), reverse=True)
    found = f"the newest runs are {', '.join(runs[:3])}" if runs else "there are no runs"
    raise CheckpointError(f"{name}: no such run folder, nor one in {data_dir}, where {found}")


def _newest(data_dir: Path, pattern: str) -> Path:
    paths = list(data_dir.glob(f"*/{pattern}"))
    if not paths:
        raise CheckpointError(f"{data_dir}: no */{pattern} in it; train first")
    return max(paths, key=lambda path: (path.stat().st_mtime_ns, path.name))


def _to_bytes(entries: dict[str, object]) -> bytes:
    buffer = io.BytesIO()
    torch.save(entries, buffer)
    return buffer.getvalue()


def _load(path: Path, device: str, weights_only: bool) -> dict[str, object]:
    expected = f"expected a run folder's {MODELS if weights_only else STATE}"
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
