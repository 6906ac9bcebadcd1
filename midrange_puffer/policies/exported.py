"""Exported policies: what an .onnx file of a policy holds, and how onnxruntime flies it here.

The graph's inputs are `observation` [batch, features] and, of a policy that remembers, `lstm_h` and
`lstm_c` [batch, memory_size]. Its outputs are the logits `rudder`, `throttle` and `fire` [batch,
levels], or `mean` and `std` [batch, 3] of these controls; then `value` [batch, 1], and of a policy
that remembers `next_lstm_h` and `next_lstm_c`. All are float32. The file's metadata are the entries
of a model file (model_file.py) but for the weights, and more for the reader, each as JSON. The last
one, `sha256`, is of all bytes before it; the one before, `sealed`, says that it is there.
"""

import hashlib
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import nn
from torch.distributions import Normal

from midrange_puffer import _core
from midrange_puffer.errors import CheckpointError
from midrange_puffer.game.observation import enemies_of, rows_of
from midrange_puffer.policies import model_file
from midrange_puffer.policies.actors import Actions
from midrange_puffer.policies.model_paths import EXPECTED, check_is_file, require_onnx
from midrange_puffer.policies.own_code import PACKAGE
from midrange_puffer.policies.own_policy import MEMORY

if TYPE_CHECKING:
    from onnxruntime import NodeArg

CONTROLS = ("rudder", "throttle", "fire")
NEXT = "next_"  # begins the names of the outputs that are the next decision's memory
# An entry that says that the digest is there, so that no file loses it by one damaged name. In
# protobuf it is field 14 of a model, 14 bytes: a key and a value, which is JSON. It may be
# appended, as protobuf merges messages that follow each other.
_SEALED = b"\x72\x0e\x0a\x06sealed\x12\x04true"
# What stands before and behind the digest in the last entry, of 76 bytes.
_SEAL = b'\x72\x4c\x0a\x06sha256\x12\x42"'
_SEAL_END = b'"'


class ExportedPolicy(nn.Module):
    """A policy that onnxruntime computes, on one thread of the CPU; to a `Player` as any other.

    Args:
        data: an .onnx file's.
        path: what it is called in errors.

    Attributes:
        entries: the file's metadata.
        features, memory_size, is_continuous: as of `Policy` and `Recurrent`.

    Raises:
        CheckpointError: It is damaged, not ours or of another version.
    """

    def __init__(self, data: bytes, path: Path) -> None:
        super().__init__()
        require_onnx("onnx", "onnxruntime")
        import onnxruntime

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        options.log_severity_level = 4  # what is wrong is raised
        try:
            _check_seal(data)
            weights = _weights(data)
            session = onnxruntime.InferenceSession(
                data, options, ["CPUExecutionProvider"], enable_fallback=False
            )
            metadata = session.get_modelmeta().custom_metadata_map
            found = _widths(session.get_inputs()), _widths(session.get_outputs())
        # onnxruntime has many kinds for one cause, and texts that are none are found when read.
        except Exception as error:
            reason = str(error).partition("\n")[0]
            raise CheckpointError(f"{path}: damaged, or not an ONNX file ({reason})") from None
        for name, values in weights.items():
            model_file.check_usable(path, name, values)
        self._session = session
        self.entries = _entries(metadata, path)
        env = self.entries["env"]
        self.features = model_file.policy_spaces(env).single_observation_space.shape[0]
        self.is_continuous = env["action_mode"] == "continuous"
        remembers = found[0].get(MEMORY[0], 0)
        self.memory_size = _memory_size(self.entries, remembers, len(data), path)
        expected = graph_widths(self.features, self.is_continuous, self.memory_size)
        for what, its, wanted in zip(("inputs", "outputs"), found, expected, strict=True):
            if its != wanted:
                raise CheckpointError(
                    f"{path}: its metadata do not fit its graph, whose {what} are {its}, "
                    f"expected {wanted}"
                )
        self._outputs = list(expected[1])
        self._check_graph(*expected, path)

    def _check_graph(self, inputs: dict[str, int], outputs: dict[str, int], path: Path) -> None:
        """Compute two decisions: onnxruntime opens graphs that it cannot compute."""
        seen = {name: np.zeros((2, width), np.float32) for name, width in inputs.items()}
        try:
            shapes = [values.shape for values in self._session.run(self._outputs, seen)]
        except Exception as error:  # as above
            reason = str(error).partition("\n")[0]
            raise CheckpointError(f"{path}: its graph cannot be computed ({reason})") from None
        if shapes != (wanted := [(2, width) for width in outputs.values()]):
            raise CheckpointError(f"{path}: its outputs are of the shapes {shapes}, not {wanted}")

    def forward_eval(
        self, observations: torch.Tensor, state: dict[str, torch.Tensor]
    ) -> tuple[Actions, torch.Tensor]:
        """Actions and values; the memory in `state` is replaced by the next decision's."""
        memory = MEMORY if self.memory_size else ()
        inputs = {"observation": observations.float(), **{name: state[name] for name in memory}}
        results = self._session.run(
            self._outputs, {name: value.numpy() for name, value in inputs.items()}
        )
        outputs = dict(zip(self._outputs, map(torch.from_numpy, results), strict=True))
        state.update({name: outputs[NEXT + name] for name in memory})
        if self.is_continuous:
            actions = Normal(outputs["mean"], outputs["std"], validate_args=False)
        else:
            actions = tuple(outputs[name] for name in CONTROLS)
        return actions, outputs["value"]


def graph_widths(
    features: int, is_continuous: bool, memory_size: int
) -> tuple[dict[str, int], dict[str, int]]:
    """The graph's inputs and its outputs, in their order: name -> width of [batch, width]."""
    memory = dict.fromkeys(MEMORY, memory_size) if memory_size else {}
    sides = (enemies_of(rows).rows,) * 2 if (rows := rows_of(features)) else (1, 1)
    levels = dict(zip(CONTROLS, _core.action_levels(*sides), strict=True))
    actions = dict.fromkeys(("mean", "std"), len(CONTROLS)) if is_continuous else levels
    after = {NEXT + name: width for name, width in memory.items()}
    return {"observation": features, **memory}, {**actions, "value": 1, **after}


def load_exported(path: Path) -> tuple[ExportedPolicy, dict[str, object]]:
    """Load an exported policy; what is returned and raised is as of `checkpoint.load_policy`.

    Raises:
        UsageError: onnx or onnxruntime is not installed.
    """
    check_is_file(path, EXPECTED)
    try:
        policy = ExportedPolicy(path.read_bytes(), path)
    except OSError as error:
        raise CheckpointError(f"{path}: {error.strerror}") from None
    return policy.eval(), policy.entries


def seal(data: bytes) -> bytes:
    """An .onnx file's data with their digest as one more entry of the metadata."""
    data += _SEALED
    return data + _digest(data)


def _check_seal(data: bytes) -> None:
    """Raise ValueError where a file's digest is wrong; one of another program has none."""
    before, found, _ = data.rpartition(_SEAL)
    if found and data != before + _digest(before):
        raise ValueError("its sha256 is not that of its content")
    if not found and _SEALED in data:
        raise ValueError("its sha256 is missing")


def _digest(data: bytes) -> bytes:
    return _SEAL + hashlib.sha256(data).hexdigest().encode() + _SEAL_END


def _weights(data: bytes) -> dict[str, np.ndarray]:
    """The arrays of floating-point numbers in a file, by name.

    Raises:
        ValueError: They are in another file.
    """
    import onnx

    tensors = onnx.load_model_from_string(data).graph.initializer
    for tensor in tensors:
        if onnx.external_data_helper.uses_external_data(tensor):
            raise ValueError(f"its {tensor.name} is in another file")
    arrays = {tensor.name: onnx.numpy_helper.to_array(tensor) for tensor in tensors}
    return {name: values for name, values in arrays.items() if values.dtype.kind == "f"}


def _entries(metadata: Mapping[str, str], path: Path) -> dict[str, object]:
    """The checked entries in a file's metadata."""
    try:
        entries = {name: json.loads(text) for name, text in metadata.items()}
    except (ValueError, RecursionError):  # as those of other programs may be
        entries = {}
    model_file.check_entries(path, entries)
    return entries


def _memory_size(entries: Mapping[str, object], width: object, room: int, path: Path) -> int:
    """What the policy remembers; an LSTM has four float32 matrices of that height and width.

    What the package's own MLP remembers is nothing, and of the user's own the `width` of its graph.
    """
    if entries["rnn_name"] is None:
        is_own = entries["policy_name"] != PACKAGE
        return width if is_own and type(width) is int and width < room else 0
    size = entries["rnn"].get("hidden_size")
    if type(size) is not int or size < 1 or 4 * 4 * size**2 > room:
        raise CheckpointError(
            f"{path}: its rnn.hidden_size is {size}, expected the height of matrices in its "
            f"{room} bytes"
        )
    return size


def _widths(values: Iterable["NodeArg"]) -> dict[str, object]:
    """Name -> width of each that is float32 [any batch, width]; of others type and shape."""
    widths = {}
    for value in values:
        match value.type, value.shape:
            case "tensor(float)", [str(), width]:
                widths[value.name] = width
            case kind, shape:
                widths[value.name] = f"{kind} {shape}"
    return widths
