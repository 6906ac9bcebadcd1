"""The trainer state: what a run needs besides its model to go on, as plain numbers and tensors.

Nothing in it is code, and what is read is checked by type and shape before it is used.
"""

import math
import random
from collections.abc import Callable, Iterator, Mapping
from fnmatch import fnmatch
from pathlib import Path

import numpy as np
import torch

from midrange_puffer.policies.model_file import MODELS
from midrange_puffer.policies.torch_file import CheckpointError, brief, read_torch

# What random generators raise of states that are none.
_NO_STATE = (TypeError, ValueError, LookupError, RuntimeError, OverflowError)
_NUMBERS = (bool, int, float, type(None))
_READY = 624  # numbers that a Mersenne twister draws from before it makes as many more


def generators() -> dict[str, object]:
    """The states of the generators that training draws from."""
    name, key, *rest = np.random.get_state()  # noqa: NPY002, the generator libraries share
    return {
        "torch_rng": torch.get_rng_state(),
        "cuda_rng": torch.cuda.get_rng_state_all() if torch.cuda.is_available() else [],
        "numpy_rng": (name, key.tolist(), *rest),
        "python_rng": random.getstate(),
    }


def set_generators(state: Mapping[str, object]) -> None:
    """Go on drawing as from a saved state; on CUDA only with as many devices as it was saved of."""
    torch.set_rng_state(state["torch_rng"])
    if len(state["cuda_rng"]) == torch.cuda.device_count():
        torch.cuda.set_rng_state_all(state["cuda_rng"])
    np.random.set_state(state["numpy_rng"])  # noqa: NPY002
    random.setstate(state["python_rng"])


def optimizer_state(optimizer: torch.optim.Optimizer) -> dict[str, object]:
    """An optimizer's state_dict() in plain dicts, without the class that heavyball has in it."""
    state = optimizer.state_dict()
    return {
        "state": {index: _plain(buffers) for index, buffers in state["state"].items()},
        "param_groups": [
            {name: value for name, value in group.items() if not isinstance(value, type)}
            for group in state["param_groups"]
        ],
    }


def set_optimizer(
    optimizer: torch.optim.Optimizer, saved: Mapping[str, object], path: Path
) -> None:
    """Go on from what `optimizer_state` gave, with the settings that the optimizer has now.

    Args:
        path: of the file, for errors.

    Raises:
        CheckpointError: It is not of an optimizer of these parameters.
    """
    groups = optimizer.state_dict()["param_groups"]
    parameters = [one for group in optimizer.param_groups for one in group["params"]]
    for index, buffers in saved["state"].items():
        if type(index) is not int or not 0 <= index < len(parameters):
            raise CheckpointError(
                f"{path}: its optimizer has buffers of the parameter {brief(index)}, but there are "
                f"{len(parameters)}"
            )
        shape = parameters[index].shape
        for name, value in _leaves(buffers):
            if isinstance(value, torch.Tensor) and value.shape not in (shape, ()):
                raise CheckpointError(
                    f"{path}: its optimizer's {brief(name)} of the parameter {index} has the shape "
                    f"{list(value.shape)}, expected {list(shape)}"
                )
    if len(saved["param_groups"]) != len(groups):
        raise CheckpointError(
            f"{path}: its optimizer has {len(saved['param_groups'])} groups of parameters, "
            f"expected {len(groups)}"
        )
    optimizer.load_state_dict({"state": saved["state"], "param_groups": groups})


def load(path: Path) -> dict[str, object]:
    """Load a trainer state, that of an older version, too.

    Raises:
        CheckpointError: It is missing or damaged, or an entry is not what it should be.
    """
    state = read_torch(path, path.name, _OLD)
    if not isinstance(state, dict):
        raise CheckpointError(f"{path}: not a trainer state")
    for name, (fits, expected) in _ENTRIES.items():
        if name not in state or not fits(state[name]):
            found = brief(state[name]) if name in state else "missing"
            raise CheckpointError(f"{path}: its {name} is {found}, expected {expected}")
    return state


def _plain(value: object) -> object:
    if isinstance(value, dict):
        return {name: _plain(one) for name, one in value.items()}
    return value


def _leaves(buffers: object) -> Iterator[tuple[object, object]]:
    """Name and value of what an optimizer keeps of a parameter; heavyball has a level more."""
    for name, value in buffers.items() if isinstance(buffers, dict) else ():
        yield from value.items() if isinstance(value, dict) else [(name, value)]


def _is_optimizer(value: object) -> bool:
    if not isinstance(value, dict) or not isinstance(value.get("param_groups"), list):
        return False
    if not all(isinstance(group, dict) for group in value["param_groups"]):
        return False
    of_parameters = value.get("state")
    return isinstance(of_parameters, dict) and all(
        isinstance(buffers, dict)
        and all(isinstance(one, (*_NUMBERS, torch.Tensor, set)) for _, one in _leaves(buffers))
        for buffers in of_parameters.values()
    )


def _is_curriculum(value: object) -> bool:
    return value is None or (
        isinstance(value, dict)
        and isinstance(value.get("stage"), str)
        and _is_count(value.get("start"))
        and isinstance(value.get("scores"), list)
        and all(map(_is_finite, value["scores"]))
    )


def _is_count(value: object) -> bool:
    return type(value) is int and 0 <= value < 2**63


def _is_finite(value: object) -> bool:
    return type(value) in (int, float) and math.isfinite(value)


def _is_model(value: object) -> bool:
    return isinstance(value, str) and fnmatch(value, MODELS) and Path(value).name == value


def _is_cuda_rng(value: object) -> bool:
    return isinstance(value, list) and all(
        isinstance(one, torch.Tensor) and one.dtype == torch.uint8 and one.ndim == 1
        for one in value
    )


def _is_state(set_state: Callable[[object], None], value: object) -> bool:
    try:
        set_state(value)
    except _NO_STATE:
        return False
    return True


def _is_numpy_rng(value: object) -> bool:
    # numpy does not look at how many numbers were drawn, and would read beyond them.
    return _is_state(np.random.RandomState().set_state, value) and (
        isinstance(value, tuple) and 0 <= value[2] <= _READY
    )


def _is_python_rng(value: object) -> bool:
    return _is_state(random.Random().setstate, value) and isinstance(value[2], (float, type(None)))


# Entry -> whether a value can be one, and what it must be.
_ENTRIES: dict[str, tuple[Callable[[object], bool], str]] = {
    "model": (_is_model, f"the name of a model, {MODELS}"),
    "epoch": (_is_count, "a whole number from 0"),
    "global_step": (_is_count, "a whole number from 0"),
    "uptime": (_is_finite, "a number of seconds"),
    "optimizer": (_is_optimizer, "an optimizer's state_dict()"),
    "curriculum": (_is_curriculum, "a stage with its start and scores"),
    "torch_rng": (lambda one: _is_state(torch.Generator().set_state, one), "torch's state"),
    "cuda_rng": (_is_cuda_rng, "CUDA's states, bytes of each device"),
    "numpy_rng": (_is_numpy_rng, "a state of numpy's RandomState"),
    "python_rng": (_is_python_rng, "a state of Python's Random"),
}


# States of before had arrays and what heavyball works with in their pickle. These take their place,
# as numpy's own would have to be trusted with whatever a file says.


class _OldArray(list):
    """An array, as a list."""

    def __init__(self, *_: object) -> None:
        super().__init__()

    def __setstate__(self, state: tuple) -> None:
        _, _, dtype, _, data = state
        self.extend(np.frombuffer(data, dtype.name).tolist())


class _OldType:
    """An array's dtype, of the two that there were."""

    def __init__(self, name: str, *_: object) -> None:
        if name not in ("u4", "f4"):
            raise ValueError(f"an array of {brief(name)}")
        self.name = name

    def __setstate__(self, _: tuple) -> None:
        """Nothing more is needed of it."""


def _no_bytes() -> bytes:
    return b""


def _old_dict(*_: object) -> dict:
    """In the place of a defaultdict, empty at first."""
    return {}


def _encode(text: str, codec: str) -> bytes:
    """As a pickle has bytes."""
    if codec != "latin1":
        raise ValueError(f"bytes as {brief(codec)}")
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
