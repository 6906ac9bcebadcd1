"""Frozen policies for the tests: model files of known behaviour, pools of them, and a spy."""

import json
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import torch
from torch import nn

from midrange_puffer import _core
from midrange_puffer.config.configuration import Config
from midrange_puffer.config.reading import load_config
from midrange_puffer.game.observation import spaces_of
from midrange_puffer.policies import model_file
from midrange_puffer.policies.networks import make_policy

HIDDEN = 8
CERTAIN = 50.0  # a logit by which nothing else is ever drawn


class Spy:
    """A core that keeps the observations and controls of both seats in each decision."""

    def __init__(self, core: _core.Core) -> None:
        self._core = core
        self.seen, self.done = [], []

    def __getattr__(self, name: str) -> object:
        return getattr(self._core, name)

    def step_continuous(
        self, actions: np.ndarray, observations: np.ndarray, *results: np.ndarray
    ) -> None:
        before = np.zeros_like(observations)
        self._core.observe(before)
        self.seen.append(before.reshape(len(before) // 2, 2, -1))
        self.done.append(actions.copy().reshape(len(before) // 2, 2, -1))
        self._core.step_continuous(actions, observations, *results)


def config(recurrent: bool = False) -> Config:
    """Returns the configuration of a small policy."""
    words = ["--policy.hidden-size", str(HIDDEN)]
    for name in ("input-size", "hidden-size"):
        words += [f"--rnn.{name}", str(HIDDEN)]
    return load_config(None, words + ["--base.rnn-name", "Recurrent"] * recurrent)


def policy(seed: int = 0, recurrent: bool = False) -> nn.Module:
    """Returns a policy with certain actions that depend on the observation and its memory."""
    torch.manual_seed(seed)
    settings = config(recurrent)
    made = make_policy(
        spaces_of("default"), settings["policy"], settings["base"]["rnn_name"], settings["rnn"]
    ).eval()
    with torch.no_grad():
        actor = (made.policy if recurrent else made).actor
        actor.weight.mul_(1e8)
        actor.bias.zero_()
    return made


def constant(rudder: int, throttle: int = 2, fire: int = 0) -> nn.Module:
    """Returns a policy with constant actions."""
    made = policy()
    with torch.no_grad():
        made.actor.weight.zero_()
        for index in (rudder, 5 + throttle, 8 + fire):
            made.actor.bias[index] = CERTAIN
    return made


def save(path: Path, made: nn.Module, agent_steps: int = 0) -> Path:
    """Writes a policy of this module as a model file."""
    recurrent = hasattr(made, "lstm")
    model_file.save_model(path, config(recurrent), made.state_dict(), agent_steps)
    return path


def write_pool(folder: Path, weights: Mapping[str, float], **policies: nn.Module) -> Path:
    """Writes the pool's file with these members, and the model files of `policies` beside it."""
    for name, made in policies.items():
        save(folder / f"{name}.pt", made)
    members = [
        {"name": name, "path": f"{name}.pt", "agent_steps": 0, "own": True, "weight": weight}
        for name, weight in weights.items()
    ]
    path = folder / "pool.json"
    path.write_text(json.dumps({"format": "midrange_puffer pool", "members": members}))
    return path
