"""`puffer export midrange`: a policy as an ONNX file, for any program that can fly it."""

import argparse
import contextlib
import json
import logging
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path

import numpy as np
import torch
from torch import nn

from midrange_puffer import _core
from midrange_puffer.game.actions import HIGHEST, LOWEST, controls
from midrange_puffer.commands.arguments import Parser, load_models, model_path, progress_bar
from midrange_puffer.policies.model_file import MODELS
from midrange_puffer.errors import UsageError, UserError
from midrange_puffer.policies.exported import CONTROLS, MEMORY, ExportedPolicy, graph_widths, require_onnx
from midrange_puffer.files import check_writable, write_whole
from midrange_puffer.config.key import Key
from midrange_puffer.contest.match import Fight, play
from midrange_puffer.game.observation import features_of
from midrange_puffer.game.parameters import EXPORTED, PILOTS

OPSET = 20  # the first that has Gelu
# How far onnxruntime may be from torch: of 1 + an output's largest |value| seen. Not of each value,
# for one near 0 is the sum of terms that are as large as the largest, each rounded to float32.
TOLERANCE = 1e-5
STARTS = 32  # engagements in either seat, against all pilots, in which outputs are compared

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


class ExportError(UserError):
    """onnxruntime does not compute what torch does."""


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


class Comparison:
    """Has a policy and its exported form compute the same, decision by decision of fights.

    Both are given what is seen and what the policy remembers, and all that they give is compared,
    the next memory, too. Were each to remember for itself, rounding would add up from decision to
    decision.

    Attributes:
        observations: how many both have seen.
    """

    def __init__(self, policy: nn.Module, exported: nn.Module, num_envs: int) -> None:
        self._graphs = Graph(policy), Graph(exported)
        shape = _core.FIGHTERS, num_envs, policy.memory_size
        self._memory = [torch.zeros(shape) for _ in MEMORY] if policy.memory_size else []
        self._largest = self._differences = np.float32(0)  # of each output
        self.observations = 0

    @property
    def difference(self) -> float:
        """The largest so far, of 1 + an output's largest |value|."""
        return float(np.max(self._differences / (1 + self._largest)))  # max() may lose a NaN

    @torch.inference_mode()
    def watch(self, seat: int, pending: np.ndarray, seen: np.ndarray, commands: np.ndarray) -> None:
        """Look at what the policy sees in `seat`, its fight's index: a `match.Watch`."""
        envs = np.flatnonzero(pending)
        observations, rows = torch.from_numpy(seen[envs, seat]), torch.from_numpy(envs)
        before = [memory[seat, rows] for memory in self._memory]
        wanted, found = (graph(observations, *before) for graph in self._graphs)
        for memory, after in zip(self._memory, wanted[-len(MEMORY) :], strict=False):
            memory[seat, rows] = after
        wanted, found = (torch.cat(outputs, dim=1).numpy() for outputs in (wanted, found))
        self._largest = np.maximum(self._largest, np.abs(wanted).max(axis=0))
        self._differences = np.maximum(self._differences, np.abs(found - wanted).max(axis=0))
        self.observations += len(envs)


def main(argv: Sequence[str]) -> int:
    """Export, with the words after `puffer export midrange`; return the exit status."""
    options = _parser().read(argv)
    if "onnx" not in options:
        raise UsageError(f"command line: --onnx is missing: the file to write, *{EXPORTED}")
    require_onnx("onnx", "onnxruntime", "onnxscript")
    torch.set_num_threads(1)  # small batches are slower with more
    path, out = model_path(options), Path(options.onnx)
    if path.suffix == EXPORTED:
        raise UsageError(f"{path}: is exported already; expected a run folder's {MODELS}")
    [(policy, entries)], parameters = load_models([path], options)
    data = to_onnx(policy, entries)
    with progress_bar("comparing with torch", 2 * STARTS) as advance:
        exported = ExportedPolicy(data, out)
        observations, difference = compare(policy, exported, advance, parameters=parameters)
    write_whole(out, data)
    print(
        f"{path}: exported to {out}; in {observations} observations of {2 * STARTS} engagements "
        f"onnxruntime and torch differ by at most {difference:.1e} of 1 + an output's largest "
        "|value|"
    )
    return 0


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
    return model.SerializeToString()


def compare(
    policy: nn.Module,
    exported: nn.Module,
    progress: Callable[[int], None] = lambda count: None,
    *,
    parameters: Mapping[str, float],
) -> tuple[int, float]:
    """Let a policy fight all pilots, in either seat, and an exported one see what it sees.

    Args:
        progress: called now and then with the number of engagements ended since.
        parameters: a value for every row of csrc/params.h.

    Returns:
        How many observations both have seen, and the largest difference between what they make of
        them, of 1 + an output's largest |value|.

    Raises:
        ExportError: A difference is above TOLERANCE.
    """
    pilots = ",".join(PILOTS)
    comparison = Comparison(policy, exported, STARTS)
    fights = [Fight(policy, pilots), Fight(pilots, policy)]
    play(fights, STARTS, progress=progress, watch=comparison.watch, parameters=parameters)
    observations, difference = comparison.observations, comparison.difference
    if not difference <= TOLERANCE:  # a NaN is not
        raise ExportError(
            f"nothing is written: in {observations} observations onnxruntime and torch differ by "
            f"up to {difference:.1e} of 1 + an output's largest |value|; {TOLERANCE:g} is allowed"
        )
    return observations, difference


def explain(entries: Mapping[str, object]) -> dict[str, object]:
    """What the metadata tell the reader besides the entries of a model file."""
    observation, action_mode = (entries["env"][name] for name in ("observation", "action_mode"))
    if action_mode == "continuous":
        key, values = "range", np.stack((LOWEST, HIGHEST), axis=1)
    else:
        levels = np.arange(max(_core.ACTION_LEVELS))[:, None]
        columns = controls(np.tile(levels, len(CONTROLS))).T
        key, values = "levels", [c[:n] for c, n in zip(columns, _core.ACTION_LEVELS, strict=True)]
    return {
        "observation": observation,
        "features": [asdict(feature) for feature in features_of(observation)],
        "action_mode": action_mode,
        "actions": {
            name: {key: column.tolist(), "meaning": ACTIONS[name]}
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


def _check_out(path: str) -> None:
    if Path(path).suffix != EXPORTED:
        raise ValueError(f"must end in {EXPORTED}")
    check_writable(path)


def _parser() -> Parser:
    parser = Parser(
        "export",
        "Write a policy as an ONNX file, once onnxruntime computes from it what torch does in "
        f"fights against the pilots, to {TOLERANCE:g} of 1 + an output's largest |value|. It "
        f"stands in for a {MODELS} wherever nothing is trained, and any program with an ONNX "
        "runtime can fly it: what it sees and does is in its metadata.",
    )
    parser.add_model(MODELS)
    meaning = f"the file to write, *{EXPORTED}"
    parser.add_key(Key("onnx", str, meaning, argparse.SUPPRESS, check=_check_out))
    return parser
