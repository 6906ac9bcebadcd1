"""Exported policies: an .onnx file of a policy, written by torch and computed by onnxruntime.

Inputs of the graph, all float32:

* `observation` [batch, features];
* `lstm_h`, `lstm_c` [batch, memory_size], if the policy has a memory.

Outputs, all float32:

* logits `rudder`, `throttle`, `fire` [batch, levels], with height also `climb`; or `mean` and
  `std` [batch, controls] of these; or logits of the heads of an order, `order`, `permission` …;
  of a commander those of each fighter's order, `order_0`, `permission_0` … `order_1` …;
* `value` [batch, 1];
* `next_lstm_h`, `next_lstm_c`, if the policy has a memory.

The file's metadata, each as JSON, are the entries of a model file (model_file.py) without the
weights, and explanations for readers. The last entry, `sha256`, is the digest of all bytes before
it. The entry before, `sealed`, announces the digest.
"""

import contextlib
import hashlib
import json
import logging
import warnings
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import nn
from torch.distributions import Normal

from midrange_puffer import _core
from midrange_puffer.errors import CheckpointError, UsageError, require
from midrange_puffer.files import read_whole
from midrange_puffer.game.actions import CONTINUOUS, ORDERS, SYSTEMS, controls
from midrange_puffer.game.observation import controls_of, features_of, levels_of
from midrange_puffer.game.orders import HEADS, heads_of
from midrange_puffer.game.parameters import (
    SUBORDINATE,
    game_controls,
    is_team,
    observed,
    sizes_of,
)
from midrange_puffer.json_files import parse
from midrange_puffer.policies import model_file
from midrange_puffer.policies.actors import Distribution, PolicyModule, label_of
from midrange_puffer.policies.models import EXPECTED, LARGEST_GRAPH, check_is_file
from midrange_puffer.policies.own_code import PACKAGE
from midrange_puffer.policies.own_policy import MEMORY

if TYPE_CHECKING:
    from onnxruntime.capi.onnxruntime_pybind11_state import NodeArg

NEXT = "next_"  # prefix of the outputs that are the memory for the next decision
OPSET = 20  # the first opset with Gelu
# The entry that announces the digest: otherwise one damaged byte in the digest's name would make a
# file look as if it had none. In protobuf the entry is field 14 of a model, 14 bytes: a key and a
# value, which is JSON. It can be appended to a file, because protobuf merges messages that follow
# each other.
_SEALED = b"\x72\x0e\x0a\x06sealed\x12\x04true"
# The bytes before and after the digest in the last entry, of 76 bytes.
_SEAL = b'\x72\x4c\x0a\x06sha256\x12\x42"'
_SEAL_END = b'"'

ACTIONS = {
    "rudder": "1 is hard left, -1 hard right",
    "climb": "1 is the steepest climb, 0 level, -1 the steepest dive",
    "throttle": "1 is full",
    SYSTEMS: "1 asks for a silent radar, 2 for a cartridge of chaff, 3 for both; the nearest whole "
    "number counts",
    "fire": "above 0.5 asks for a launch",
}
# Meanings of the graph's inputs and outputs, for the reader of a file. A commander's heads have the
# fighter's number after their name.
MEANINGS = {
    "observation": "what the fighter sees: for each of the metadata's `features` value / scale, "
    "clipped to [-1, 1]; of a commander what each of its fighters sees, one after another, zeros "
    "for a dead one",
    **dict.fromkeys(MEMORY, "memory: 0 at the start of a fight, then what the last decision gave"),
    **{
        name: f"logits of the levels of {name} in the metadata's `actions`"
        for name in (*ACTIONS, *HEADS)
    },
    "mean": "of the controls in the order of the metadata's `actions`; not clipped to their ranges",
    "std": "standard deviations of the controls about the mean, each on its own",
    "value": "the return that was expected in training; not needed to fly",
    **{f"{NEXT}{name}": f"{name} of the next decision" for name in MEMORY},
}
OF_TYPES = {
    "fire": "k asks for a launch of the k-th type of missile in the loadout; the nearest whole "
    "number counts, and up to 0.5 is none"
}
AT_TARGETS = {
    "fire": "k + 1 asks for a launch at the k-th enemy in the features, 1 for one at the enemy "
    "nearest the nose"
}


class Graph(nn.Module):
    """A policy as a module with tensors as inputs and outputs for ONNX; see `graph_widths`."""

    def __init__(self, policy: PolicyModule) -> None:
        super().__init__()
        self.policy = policy

    def forward(
        self,
        observation: torch.Tensor,
        lstm_h: torch.Tensor | None = None,
        lstm_c: torch.Tensor | None = None,
    ) -> tuple[torch.Tensor, ...]:
        """Returns the graph's outputs."""
        state: dict[str, Any] = {"lstm_h": lstm_h, "lstm_c": lstm_c}
        actions, value = self.policy.forward_eval(observation, state)
        if isinstance(actions, Normal):
            actions = actions.loc, actions.scale
        memory = (state[name] for name in MEMORY) if self.policy.memory_size else ()
        return *actions, value, *memory


def graph_widths(
    features: int, action_mode: str, memory_size: int, fighters: int = 1
) -> tuple[dict[str, int], dict[str, int]]:
    """Returns by name the widths of a graph's inputs and of its outputs, each [batch, width].

    Args:
        features: number of features of an observation.
        action_mode: the policy's.
        memory_size: size of its memory.
        fighters: number of fighters that it commands.
    """
    memory = dict.fromkeys(MEMORY, memory_size) if memory_size else {}
    actions: dict[str, int] = dict.fromkeys(("mean", "std"), controls_of(features).count)
    if action_mode != CONTINUOUS:
        levels = levels_of(features // fighters, action_mode)
        actions = {
            head if fighters == 1 else f"{head}_{fighter}": count
            for fighter in range(fighters)
            for head, count in levels.items()
        }
    after = {NEXT + name: width for name, width in memory.items()}
    return {"observation": features, **memory}, {**actions, "value": 1, **after}


def to_onnx(policy: PolicyModule, entries: Mapping[str, Any]) -> bytes:
    """Returns the content of a policy's .onnx file.

    Args:
        policy: in evaluation mode, on the CPU.
        entries: the entries of its model file, from `checkpoint.load_policy`.

    Raises:
        UsageError: It is a subordinate or has one: a file is one network, without orders as input.
    """
    import onnx

    if getattr(policy, "order_features", 0):
        raise UsageError(
            f"{label_of(policy)} is of env.agents = {SUBORDINATE}: it has no exported form"
        )
    if getattr(policy, "subordinate", None):
        raise UsageError(f"{label_of(policy)} has a subordinate: it has no exported form")

    action_mode = entries["env"]["action_mode"]
    inputs, outputs = graph_widths(
        policy.features, action_mode, policy.memory_size, policy.commanded
    )
    batch = {0: torch.export.Dim("batch")}
    with _quiet():
        program = torch.onnx.export(
            Graph(policy).eval(),
            tuple(torch.zeros(2, width) for width in inputs.values()),
            input_names=list(inputs),
            output_names=list(outputs),
            opset_version=OPSET,
            dynamo=True,
            dynamic_shapes=dict.fromkeys(inputs, batch),
            verbose=False,
        )
    assert program is not None  # because `dynamo` is set
    model = program.model_proto
    graph = model.graph
    for part in (graph, *graph.node, *graph.value_info, *graph.input, *graph.output):
        part.ClearField("metadata_props")  # torch's, with stack traces and paths of this machine
    for value in (*graph.input, *graph.output):
        name, _, number = value.name.rpartition("_")
        value.doc_string = MEANINGS[name if number.isdecimal() else value.name]
    model.doc_string = describe(policy, entries)
    metadata = {**entries, **explain(entries)}
    onnx.helper.set_model_props(model, {key: json.dumps(entry) for key, entry in metadata.items()})
    data = model.SerializeToString() + _SEALED
    return data + _digest(data)


def explain(entries: Mapping[str, Any]) -> dict[str, object]:
    """Returns the metadata that explain a file to readers: its features and actions.

    Of a commander they are those of each of its `fighters`.
    """
    env = entries["env"]
    observation = observed(env["observation"], env)
    return {
        "observation": observation,
        "features": [asdict(feature) for feature in features_of(observation, *sizes_of(env))],
        "action_mode": env["action_mode"],
        "actions": _explain_actions(env),
        "fighters": model_file.policy_spaces(env).fighters,
    }


def _explain_actions(env: Mapping[str, Any]) -> dict[str, dict[str, object]]:
    """Returns the levels or ranges of each head of an action, and its meaning."""
    if env["action_mode"] == ORDERS:
        return {
            head: {"levels": list(words), "meaning": HEADS[head]}
            for head, words in heads_of(env).items()
        }
    in_team, own = is_team(env), game_controls(env)
    if env["action_mode"] == CONTINUOUS:
        key, values = "range", np.stack((own.lowest, own.highest), axis=1)
    else:
        counts = _core.action_levels(*sizes_of(env), own.dimensions, own.kinds, own.systems)
        levels = np.arange(max(counts))[:, None]
        columns = controls(np.tile(levels, own.count), own, in_team).T
        key, values = "levels", [c[:n] for c, n in zip(columns, counts, strict=True)]
    meanings = {**ACTIONS, **(AT_TARGETS if in_team else OF_TYPES if own.kinds > 1 else {})}
    return {
        name: {key: column.tolist(), "meaning": meanings[name]}
        for name, column in zip(own.names, values, strict=True)
    }


def describe(policy: PolicyModule, entries: Mapping[str, Any]) -> str:
    """Returns instructions in words for flying with the file."""
    decision = entries["env"]["physics_dt"] * entries["env"]["substeps"]
    decision *= policy.order_decisions or 1
    how = (
        "draw each control from the normal distribution of its mean and std, or take the mean, and "
        "clip it to its range"
        if policy.is_continuous
        else "draw a level of each part of an order from the softmax of its logits, or take the "
        "likeliest; Simulation.controls_of has the controls that follow the order until the next"
        if policy.order_decisions
        else "draw a level of each control from the softmax of its logits, or take the likeliest"
    )
    memory = (
        " lstm_h and lstm_c are 0 at the start of a fight, then next_lstm_h and next_lstm_c of the "
        "last decision."
        if policy.memory_size
        else ""
    )
    fighters = policy.commanded
    flies, row = (
        ("flies a fighter", "fighter")
        if fighters == 1
        else (f"commands the {fighters} fighters of a side", "side")
    )
    return (
        f"A policy of midrange_puffer. It {flies} in mid-range air combat by a decision every "
        f"{decision:g} s. A row of the batch is a {row}: {how}.{memory} The metadata, each "
        f"JSON, have the table of features, the actions and the game it was trained for."
    )


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Silences torch's exporter: `puffer export` compares the exported policy with the original."""
    logging.disable(logging.WARNING)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        logging.disable(logging.NOTSET)


class ExportedPolicy(PolicyModule):
    """A policy that onnxruntime computes on one thread of the CPU; `Player` flies it as usual.

    Args:
        data: content of an .onnx file.
        path: name of the file, for messages.

    Attributes:
        entries: the file's metadata.
        features, memory_size, is_continuous, action_size, commanded: as for `Policy` and
            `Recurrent`.

    Raises:
        CheckpointError: The file is damaged, not ours or of another version.
    """

    def __init__(self, data: bytes, path: Path) -> None:
        super().__init__()
        require("exported policies need", "onnx", "onnxruntime")
        import onnxruntime

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        options.log_severity_level = 4  # no log: errors are raised
        try:
            _check_seal(data)
            weights = _weights(data)
            session = onnxruntime.InferenceSession(
                data, options, ["CPUExecutionProvider"], enable_fallback=False
            )
            metadata = session.get_modelmeta().custom_metadata_map
            widths = _widths(session.get_inputs()), _widths(session.get_outputs())
        # onnxruntime raises many types for the same cause, also for text that is not UTF-8.
        except Exception as error:
            reason = str(error).partition("\n")[0]
            raise CheckpointError(f"{path}: damaged, or not an ONNX file ({reason})") from None
        for name, values in weights.items():
            model_file.check_usable(path, name, values)
        self._session = session
        try:
            entries: dict[str, Any] = {
                name: parse(text.encode()) for name, text in metadata.items()
            }
        except ValueError:  # the metadata are another program's
            entries = {}
        self.entries = model_file.check_entries(path, entries)
        env = self.entries["env"]
        spaces = model_file.policy_spaces(env)
        self.is_continuous = env["action_mode"] == CONTINUOUS
        self.action_size = spaces.single_action_space.shape[0]
        self.order_decisions, self.commanded = spaces.order_decisions, spaces.fighters
        self.features = spaces.single_observation_space.shape[0]
        self.memory_size = _memory_size(self.entries, widths[0].get(MEMORY[0], 0), len(data), path)
        expected = graph_widths(self.features, env["action_mode"], self.memory_size, self.commanded)
        for what, its, wanted in zip(("inputs", "outputs"), widths, expected, strict=True):
            if its != wanted:
                raise CheckpointError(
                    f"{path}: its metadata do not fit its graph, whose {what} are {its}, "
                    f"expected {wanted}"
                )
        self._outputs = list(expected[1])
        self._heads = self._outputs[: self.action_size]  # of levels
        self._check_graph(*expected, path)

    def _check_graph(self, inputs: dict[str, int], outputs: dict[str, int], path: Path) -> None:
        """Computes two decisions, because onnxruntime loads graphs that it cannot compute."""
        zeros = {name: np.zeros((2, width), np.float32) for name, width in inputs.items()}
        try:
            results = self._session.run(self._outputs, zeros)
            # Raises an error if a result is no array.
            shapes = [values.shape for values in results]  # pyright: ignore[reportAttributeAccessIssue]
        except Exception as error:  # any of many types, as above
            reason = str(error).partition("\n")[0]
            raise CheckpointError(f"{path}: its graph cannot be computed ({reason})") from None
        if shapes != (wanted := [(2, width) for width in outputs.values()]):
            raise CheckpointError(f"{path}: its outputs are of the shapes {shapes}, not {wanted}")

    def forward_eval(
        self, observations: torch.Tensor, state: dict[str, torch.Tensor]
    ) -> tuple[Distribution, torch.Tensor]:
        """Returns actor outputs and values; updates the memory in `state`."""
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
            actions = tuple(outputs[name] for name in self._heads)
        return actions, outputs["value"]


def load_exported(path: Path) -> tuple[ExportedPolicy, dict[str, Any]]:
    """Loads an exported policy; results and errors are those of `loading.load_policy`."""
    check_is_file(path, EXPECTED)
    try:
        policy = ExportedPolicy(read_whole(path, LARGEST_GRAPH), path)
    except OSError as error:
        raise CheckpointError(f"{path}: {error.strerror}") from None
    return policy.eval(), policy.entries


def _check_seal(data: bytes) -> None:
    """Raises ValueError if a file's digest is wrong; files of other programs have no digest."""
    before, separator, _ = data.rpartition(_SEAL)
    if separator and data != before + _digest(before):
        raise ValueError("its sha256 is not that of its content")
    if not separator and _SEALED in data:
        raise ValueError("its sha256 is missing")


def _digest(data: bytes) -> bytes:
    return _SEAL + hashlib.sha256(data).hexdigest().encode() + _SEAL_END


def _weights(data: bytes) -> dict[str, np.ndarray]:
    """Returns the floating-point arrays in a file, by name.

    Raises:
        ValueError: The file keeps them in another file.
    """
    import onnx.external_data_helper

    tensors = onnx.load_model_from_string(data).graph.initializer
    for tensor in tensors:
        if onnx.external_data_helper.uses_external_data(tensor):
            raise ValueError(f"its {tensor.name} is in another file")
    arrays = {tensor.name: onnx.numpy_helper.to_array(tensor) for tensor in tensors}
    return {name: values for name, values in arrays.items() if values.dtype.kind == "f"}


def _memory_size(entries: Mapping[str, Any], width: object, size: int, path: Path) -> int:
    """Returns the size of a policy's memory.

    * The package's MLP: 0.
    * The package's LSTM: its hidden size, after a check. Four float32 matrices of at least that
      height and width must fit into `size`, the file's bytes.
    * A user's own policy: `width`, the width of the graph's memory input.
    """
    if entries["rnn_name"] is None:
        is_own = entries["policy_name"] != PACKAGE
        return width if is_own and type(width) is int and width < size else 0
    hidden_size = entries["rnn"].get("hidden_size")
    if type(hidden_size) is not int or hidden_size < 1 or 4 * 4 * hidden_size**2 > size:
        raise CheckpointError(
            f"{path}: its rnn.hidden_size is {hidden_size}, expected the height of matrices in its "
            f"{size} bytes"
        )
    return hidden_size


def _widths(values: Iterable["NodeArg"]) -> dict[str, object]:
    """Returns the width of each float32 [batch, width] by name; of others type and shape."""
    widths = {}
    for value in values:
        match value.type, value.shape:
            case "tensor(float)", [str(), width]:
                widths[value.name] = width
            case kind, shape:
                widths[value.name] = f"{kind} {shape}"
    return widths
