"""A policy as the graph of an ONNX file, and what the file tells of itself."""

import contextlib
import json
import logging
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import asdict

import numpy as np
import torch
from torch import nn

from midrange_puffer import _core
from midrange_puffer.game.actions import HIGHEST, LOWEST, controls
from midrange_puffer.game.observation import features_of
from midrange_puffer.game.parameters import is_team, observed, sizes_of
from midrange_puffer.policies.exported import CONTROLS, graph_widths, seal
from midrange_puffer.policies.own_policy import MEMORY

OPSET = 20  # the first that has Gelu

# What a program needs to know of the graph's inputs and outputs.
MEANINGS = {
    "observation": "what the fighter sees: for each of the metadata's `features` value / scale, "
    "clipped to [-1, 1]",
    **dict.fromkeys(MEMORY, "memory: 0 at the start of a fight, then what the last decision gave"),
    **{name: f"logits of the levels of {name} in the metadata's `actions`" for name in CONTROLS},
    "mean": f"of {', '.join(CONTROLS)}; not clipped to the ranges in the metadata's `actions`",
    "std": f"standard deviations of {', '.join(CONTROLS)} about the mean, each on its own",
    "value": "the return that was expected in training; not needed to fly",
    **{f"next_{name}": f"{name} of the next decision" for name in MEMORY},
}

ACTIONS = {
    "rudder": "1 is hard left, -1 hard right",
    "throttle": "1 is full",
    "fire": "above 0.5 asks for a launch",
}
AT_TARGETS = {
    "fire": "k + 1 asks for a launch at the k-th enemy in the features, 1 for one at the enemy "
    "nearest the nose"
}


class Graph(nn.Module):
    """A policy as the function of tensors that a file holds; see `graph_widths`."""

    def __init__(self, policy: nn.Module) -> None:
        super().__init__()
        self.policy = policy

    def forward(
        self,
        observation: torch.Tensor,
        lstm_h: torch.Tensor | None = None,
        lstm_c: torch.Tensor | None = None,
    ) -> tuple[torch.Tensor, ...]:
        """The graph's outputs, from its inputs."""
        state = {"lstm_h": lstm_h, "lstm_c": lstm_c}
        actions, value = self.policy.forward_eval(observation, state)
        if self.policy.is_continuous:
            actions = actions.loc, actions.scale
        memory = (state[name] for name in MEMORY) if self.policy.memory_size else ()
        return *actions, value, *memory


def to_onnx(policy: nn.Module, entries: Mapping[str, object]) -> bytes:
    """The .onnx file of a policy.

    Args:
        policy: in evaluation mode, on the CPU.
        entries: those of its model file, as of `checkpoint.load_policy`.
    """
    import onnx

    inputs, outputs = graph_widths(policy.features, policy.is_continuous, policy.memory_size)
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
    model = program.model_proto
    graph = model.graph
    for part in (graph, *graph.node, *graph.value_info, *graph.input, *graph.output):
        part.ClearField("metadata_props")  # torch's own, with the stack and paths of this machine
    for value in (*graph.input, *graph.output):
        value.doc_string = MEANINGS[value.name]
    model.doc_string = describe(policy, entries)
    metadata = {**entries, **explain(entries)}
    onnx.helper.set_model_props(model, {key: json.dumps(entry) for key, entry in metadata.items()})
    return seal(model.SerializeToString())


def explain(entries: Mapping[str, object]) -> dict[str, object]:
    """What the metadata tell the reader besides the entries of a model file."""
    env = entries["env"]
    sizes, in_team = sizes_of(env), is_team(env)
    observation = observed(env["observation"], env)
    if env["action_mode"] == "continuous":
        key, values = "range", np.stack((LOWEST, HIGHEST), axis=1)
    else:
        counts = _core.action_levels(*sizes)
        levels = np.arange(max(counts))[:, None]
        columns = controls(np.tile(levels, len(CONTROLS)), in_team).T
        key, values = "levels", [c[:n] for c, n in zip(columns, counts, strict=True)]
    meanings = {**ACTIONS, **(AT_TARGETS if in_team else {})}
    return {
        "observation": observation,
        "features": [asdict(feature) for feature in features_of(observation, *sizes)],
        "action_mode": env["action_mode"],
        "actions": {
            name: {key: column.tolist(), "meaning": meanings[name]}
            for name, column in zip(CONTROLS, values, strict=True)
        },
    }


def describe(policy: nn.Module, entries: Mapping[str, object]) -> str:
    """How to fly with the file, in words."""
    decision = entries["env"]["physics_dt"] * entries["env"]["substeps"]
    how = (
        "draw each control from the normal distribution of its mean and std, or take the mean, and "
        "clip it to its range"
        if policy.is_continuous
        else "draw a level of each control from the softmax of its logits, or take the likeliest"
    )
    memory = (
        " lstm_h and lstm_c are 0 at the start of a fight, then next_lstm_h and next_lstm_c of the "
        "last decision."
        if policy.memory_size
        else ""
    )
    return (
        f"A policy of midrange_puffer. It flies a fighter in mid-range air combat by a decision "
        f"every {decision:g} s. A row of the batch is a fighter: {how}.{memory} The metadata, each "
        f"JSON, have the table of features, the actions and the game it was trained for."
    )


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Without what torch's exporter tells of its own affairs; what comes of it is compared."""
    logging.disable(logging.WARNING)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        logging.disable(logging.NOTSET)
