"""Exported policies for the tests: small ones of every kind, and their graph by the textbook."""

import importlib.util
import json
import math
import os
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import numpy as np
import onnx
import pytest
import quick_fights
import torch
from torch import nn

from midrange_puffer.config.reading import load_config
from midrange_puffer.policies import model_file
from midrange_puffer.policies.exported import to_onnx
from midrange_puffer.policies.loading import load_policy
from midrange_puffer.policies.networks import make_policy

# Every kind of actions, memory and observation, if not each with each.
KINDS = {
    "levels": (),
    "levels, memory": ("--base.rnn-name", "Recurrent", "--env.observation", "stg"),
    "continuous": ("--env.action-mode", "continuous", "--env.observation", "stg"),
    "continuous, memory": ("--env.action-mode", "continuous", "--base.rnn-name", "Recurrent"),
}
HIDDEN = 16
AGENT_STEPS = 1234


class Made(NamedTuple):
    """A policy with random weights, in a model file and in an exported one."""

    policy: nn.Module
    model: Path
    exported: Path


def make(folder: Path, kind: str = "levels", hidden: int = HIDDEN, gain: float = 100) -> Made:
    """Writes a policy into `folder`; with more `gain` its actions depend more on observations."""
    words = ["--policy.hidden-size", str(hidden), *KINDS[kind]]
    for name in ("input-size", "hidden-size"):
        words += [f"--rnn.{name}", str(hidden)]
    for name, value in quick_fights.SHORT.items():
        words += [f"--env.{name}", str(value)]
    config = load_config(None, words)
    rnn = config["base"]["rnn_name"], config["rnn"]
    torch.manual_seed(5)
    policy = make_policy(model_file.policy_spaces(config["env"]), config["policy"], *rnn).eval()
    with torch.no_grad():
        getattr(policy, "policy", policy).actor.weight.mul_(gain)
    model = folder / f"{kind.replace(', ', '_')}.pt"
    model_file.save_model(model, config, policy.state_dict(), AGENT_STEPS)
    exported = model.with_suffix(".onnx")
    # An export takes seconds, so all processes share it in the home of this run of the tests.
    shared = Path.home() / "exports" / f"{model.stem}-{hidden}-{gain}.onnx"
    if shared.exists():
        shutil.copy(shared, exported)
    else:
        exported.write_bytes(to_onnx(*load_policy(model)))
        shared.parent.mkdir(exist_ok=True)
        part = shared.with_suffix(f".{os.getpid()}")
        shutil.copy(exported, part)
        part.replace(shared)  # at once, as another process may look for it
    return Made(policy, model, exported)


def with_metadata(data: bytes, **entries: object) -> bytes:
    """Returns an .onnx file with other metadata: None removes an entry, text is kept as it is.

    The digest is removed, as it would not fit.
    """
    model = onnx.load_from_string(data)
    metadata = {entry.key: entry.value for entry in model.metadata_props}
    metadata |= {"sha256": None, "sealed": None, **entries}
    texts = {name: entry for name, entry in metadata.items() if entry is not None}
    onnx.helper.set_model_props(
        model, {n: t if isinstance(t, str) else json.dumps(t) for n, t in texts.items()}
    )
    return model.SerializeToString()


def hide(package: str, patch: pytest.MonkeyPatch) -> None:
    """Makes a package look as if it were not installed."""
    find = importlib.util.find_spec
    patch.setattr(importlib.util, "find_spec", lambda n: None if n == package else find(n))


def forward(
    weights: Mapping[str, np.ndarray], inputs: Mapping[str, np.ndarray]
) -> dict[str, np.ndarray]:
    """Computes a graph in float64: perceptron, GELU and LSTM as their authors define them."""
    recurrent = "lstm_h" in inputs
    part = "policy." * recurrent

    def linear(name: str, x: np.ndarray) -> np.ndarray:
        return x @ weights[f"{part}{name}.weight"].T + weights[f"{part}{name}.bias"]

    hidden = _gelu(linear("encoder.2", _gelu(linear("encoder.0", inputs["observation"]))))
    after = {}
    if recurrent:
        gates = hidden @ weights["lstm.weight_ih_l0"].T + weights["lstm.bias_ih_l0"]
        gates += inputs["lstm_h"] @ weights["lstm.weight_hh_l0"].T + weights["lstm.bias_hh_l0"]
        enter, forget, cell, leave = np.split(gates, 4, axis=1)
        c = _sigmoid(forget) * inputs["lstm_c"] + _sigmoid(enter) * np.tanh(cell)
        hidden = _sigmoid(leave) * np.tanh(c)
        after = {"next_lstm_h": hidden, "next_lstm_c": c}
    actor = linear("actor", hidden)
    if (name := f"{part}actor.spread") in weights:
        # In half the range of a control, from its middle: -1 to 1, 0 to 1, 0 to 1.
        middle, reach = np.array((0, 0.5, 0.5)), np.array((1, 0.5, 0.5))
        std = np.broadcast_to(reach * (0.05 + 0.95 * _sigmoid(weights[name])), actor.shape)
        actions = {"mean": middle + reach * actor, "std": std}
    else:
        actions = dict(zip(("rudder", "throttle", "fire"), np.split(actor, (5, 8), 1), strict=True))
    return {**actions, "value": linear("critic", hidden), **after}


_gelu = np.vectorize(lambda x: 0.5 * x * (1 + math.erf(x / math.sqrt(2))))


def _sigmoid(x: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-x))
