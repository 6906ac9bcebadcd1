"""The trainer state: what a resumed run needs besides its model, as plain numbers and tensors.

It contains no code. Its entries are checked by type and shape before they are used.
"""

import random
import reprlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from fnmatch import fnmatch
from functools import partial
from pathlib import Path
from typing import Any, TypeGuard

import numpy as np
import torch

from midrange_puffer.errors import CheckpointError
from midrange_puffer.json_files import Count, checked
from midrange_puffer.policies.models import METADATA, MODELS, checked_metadata
from midrange_puffer.policies.networks import are_usable
from midrange_puffer.policies.torch_files import read_torch
from midrange_puffer.train.engine import Engine
from midrange_puffer.train.optimizer import HEAVYBALLS, MOMENTUM, Muon

# The state of each optimizer for a parameter: the number of steps, and averages of its shape.
STEP = "step"
KEPT = {Muon: (MOMENTUM,), torch.optim.Adam: (STEP, "exp_avg", "exp_avg_sq")}

# Errors of random generators that are given a wrong state.
_NO_STATE = (TypeError, ValueError, LookupError, RuntimeError, OverflowError)
_NUMBERS = (bool, int, float, type(None))
_READY = 624  # numbers that a Mersenne twister makes at a time


def seed_everything(seed: int) -> None:
    """Seeds every random number generator of this process."""
    torch.manual_seed(seed)
    np.random.seed(seed)  # noqa: NPY002, the generator that libraries share
    random.seed(seed)


def generators() -> dict[str, Any]:
    """Returns the states of the random number generators that training draws from."""
    name, key, *rest = np.random.get_state(legacy=True)  # noqa: NPY002, which libraries share
    key = np.asarray(key)
    return {
        "torch_rng": torch.get_rng_state(),
        "cuda_rng": torch.cuda.get_rng_state_all() if torch.cuda.is_available() else [],
        "numpy_rng": (name, key.tolist(), *rest),
        "python_rng": random.getstate(),
    }


def set_generators(state: Mapping[str, Any]) -> None:
    """Sets the generators to a saved state; CUDA's only if there are as many devices as then."""
    torch.set_rng_state(state["torch_rng"])
    if len(state["cuda_rng"]) == torch.cuda.device_count():
        torch.cuda.set_rng_state_all(state["cuda_rng"])
    np.random.set_state(state["numpy_rng"])  # noqa: NPY002
    random.setstate(state["python_rng"])


def optimizer_state(optimizer: torch.optim.Optimizer) -> dict[str, Any]:
    """Returns an optimizer's state of each parameter, by the parameter's number.

    Its settings are not saved: a resumed run takes them from its configuration.
    """
    return {
        "state": {
            index: {name: value.clone() for name, value in optimizer.state[parameter].items()}
            for index, parameter in enumerate(_parameters(optimizer))
        }
    }


def set_optimizer(optimizer: torch.optim.Optimizer, saved: Mapping[str, Any], path: Path) -> None:
    """Sets an optimizer to a saved `optimizer_state`, except its settings.

    Args:
        optimizer: Muon or torch's Adam.
        saved: the state.
        path: of the file, for errors.

    Raises:
        CheckpointError: It is of other parameters or of another optimizer.
    """
    parameters = _parameters(optimizer)
    for index in saved["state"]:
        if type(index) is not int or not 0 <= index < len(parameters):
            raise CheckpointError(
                f"{path}: its optimizer has buffers of the parameter {reprlib.repr(index)}, but "
                f"there are {len(parameters)}"
            )
    for index, parameter in enumerate(parameters):
        buffers = _renamed(saved["state"].get(index, {}))
        if not buffers:  # saved before the first step
            continue
        for name in KEPT[type(optimizer)]:
            value, shape = buffers.get(name), () if name == STEP else parameter.shape
            if not isinstance(value, torch.Tensor) or value.shape != shape:
                shown_shape = list(value.shape) if isinstance(value, torch.Tensor) else "missing"
                raise CheckpointError(
                    f"{path}: its optimizer's {name} of the parameter {index} has the shape "
                    f"{shown_shape}, expected {list(shape)}"
                )
            kept = torch.empty(shape, device=None if name == STEP else parameter.device)
            optimizer.state[parameter][name] = kept.copy_(value)


def set_reference(engine: Engine, parameters: torch.Tensor | None, path: Path) -> None:
    """Sets an engine's reference policy to saved parameters, if there were any.

    Raises:
        CheckpointError: They are of another policy.
    """
    if parameters is None:
        return
    engine.set_reference()  # so that the number of parameters is known
    reference = engine.reference
    assert reference is not None
    if parameters.shape != reference.shape:
        raise CheckpointError(
            f"{path}: its reference policy has {parameters.numel()} parameters, expected "
            f"{reference.numel()}"
        )
    engine.set_reference(parameters)


def load(path: Path) -> dict[str, Any]:
    """Loads a trainer state, also of older versions.

    Raises:
        CheckpointError: It is missing or damaged, or an entry is wrong.
    """
    state = read_torch(path, path.name, _OLD)
    if not isinstance(state, dict):
        raise CheckpointError(f"{path}: not a trainer state")
    # Older states lack these.
    state.setdefault("metadata", {})
    state.setdefault("reference", None)
    state.setdefault("critic", None)
    for name, (fits, expected) in _ENTRIES.items():
        if name not in state or not fits(state[name]):
            value = reprlib.repr(state[name]) if name in state else "missing"
            raise CheckpointError(f"{path}: its {name} is {value}, expected {expected}")
    return state


def _parameters(optimizer: torch.optim.Optimizer) -> list[torch.Tensor]:
    return [parameter for group in optimizer.param_groups for parameter in group["params"]]


def _renamed(buffers: Mapping[Any, Any]) -> dict[Any, Any]:
    """Returns a parameter's state by present names; heavyball's Muon nested its own names."""
    inner = buffers.get(0)
    if not isinstance(inner, dict):
        return dict(buffers)
    return {MOMENTUM: inner.get(HEAVYBALLS)}


def _is_whole(value: object) -> "TypeGuard[torch.Tensor]":
    """True for a contiguous dense tensor, each of whose numbers is in memory."""
    if not isinstance(value, torch.Tensor) or value.layout is not torch.strided:
        return False
    return value.is_contiguous()


def _leaves(buffers: Mapping[Any, Any]) -> Iterator[Any]:
    for value in buffers.values():
        yield from value.values() if isinstance(value, dict) else [value]


def _is_optimizer(value: object) -> bool:
    states = value.get("state") if isinstance(value, dict) else None
    return isinstance(states, dict) and all(
        isinstance(buffers, dict)
        and all(isinstance(leaf, (*_NUMBERS, set)) or _is_whole(leaf) for leaf in _leaves(buffers))
        for buffers in states.values()
    )


@dataclass
class _CurriculumState:
    """The content of `Curriculum.state`."""

    stage: str
    start: Count
    scores: list[float]


def _is(kind: object, value: object) -> bool:
    """True if a value has the annotated type."""
    try:
        checked(value, kind)
    except ValueError:
        return False
    return True


def _is_model(value: object) -> bool:
    return isinstance(value, str) and fnmatch(value, MODELS) and Path(value).name == value


def _is_metadata(value: object) -> bool:
    try:
        checked_metadata(value)
    except ValueError:
        return False
    return True


def _is_reference(value: object) -> bool:
    return value is None or (
        _is_whole(value)
        and value.ndim == 1
        and value.dtype == torch.float32
        and bool(value.isfinite().all())
    )


def _is_critic(value: object) -> bool:
    return value is None or (
        isinstance(value, dict)
        and all(
            isinstance(name, str) and _is_whole(weight) and are_usable(weight)
            for name, weight in value.items()
        )
    )


def _is_cuda_rng(value: object) -> bool:
    return isinstance(value, list) and all(
        isinstance(state, torch.Tensor) and state.dtype == torch.uint8 and state.ndim == 1
        for state in value
    )


def _is_state(set_state: Callable[[Any], object], value: object) -> bool:
    try:
        set_state(value)
    except _NO_STATE:
        return False
    return True


def _is_numpy_rng(value: object) -> bool:
    # numpy does not check the number of draws, and would read beyond the state.
    return _is_state(np.random.RandomState().set_state, value) and (
        isinstance(value, tuple) and 0 <= value[2] <= _READY
    )


def _is_python_rng(value: object) -> bool:
    return _is_state(random.Random().setstate, value) and (
        isinstance(value, tuple) and isinstance(value[2], (float, type(None)))
    )


# Entry -> its check, and its description in errors.
_ENTRIES: dict[str, tuple[Callable[[object], bool], str]] = {
    "model": (_is_model, f"the name of a model, {MODELS}"),
    "epoch": (partial(_is, Count), "a whole number from 0"),
    "global_step": (partial(_is, Count), "a whole number from 0"),
    "uptime": (partial(_is, float), "a number of seconds"),
    "optimizer": (_is_optimizer, "what an optimizer has of each parameter"),
    "curriculum": (partial(_is, _CurriculumState | None), "a stage with its start and scores"),
    "metadata": (_is_metadata, METADATA),
    "reference": (_is_reference, "the parameters of a policy, finite float32"),
    "critic": (_is_critic, "the weights of a critic by name"),
    "torch_rng": (partial(_is_state, torch.Generator().set_state), "torch's state"),
    "cuda_rng": (_is_cuda_rng, "CUDA's states, bytes of each device"),
    "numpy_rng": (_is_numpy_rng, "a state of numpy's RandomState"),
    "python_rng": (_is_python_rng, "a state of Python's Random"),
}


# The pickles of older states refer to numpy's arrays and heavyball's classes. The following
# replaces them: numpy's own classes would trust the content of the file.


class _OldArray(list):
    """A list in place of an array."""

    def __init__(self, *_: object) -> None:
        super().__init__()

    def __setstate__(self, state: tuple) -> None:
        _, _, dtype, _, data = state
        self.extend(np.frombuffer(data, dtype.name).tolist())


class _OldType:
    """An array's dtype, one of the two used."""

    def __init__(self, name: str, *_: object) -> None:
        if name not in ("u4", "f4"):
            raise ValueError(f"an array of {reprlib.repr(name)}")
        self.name = name

    def __setstate__(self, _: tuple) -> None:
        """Ignores the rest of the state."""


def _no_bytes() -> bytes:
    return b""


def _old_dict(*_: object) -> dict:
    """Returns an empty dict in place of a defaultdict."""
    return {}


def _encode(text: str, codec: str) -> bytes:
    """Returns bytes from their text in a pickle."""
    if codec != "latin1":
        raise ValueError(f"bytes as {reprlib.repr(codec)}")
    return text.encode(codec)


_OLD = {
    "numpy.core.multiarray._reconstruct": _OldArray,
    "numpy.ndarray": _OldArray,
    "numpy.dtype": _OldType,
    "_codecs.encode": _encode,
    "builtins.bytes": _no_bytes,
    "builtins.dict": _old_dict,
    "collections.defaultdict": _old_dict,
    "heavyball.ForeachMuon": object,
}
