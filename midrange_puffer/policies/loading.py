"""Policies from files of either kind, and the average of several."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import torch

from midrange_puffer.errors import UsageError
from midrange_puffer.game.parameters import EXPORTED
from midrange_puffer.policies import exported, model_file
from midrange_puffer.policies.actors import PolicyModule
from midrange_puffer.policies.models import path_of

# Entries of a model file that policies must share to have an average.
SHAPE = ("policy_name", "policy", "rnn_name", "rnn", "observation_version", "action_nvec")


def load_policy(path: str | Path, device: str = "cpu") -> tuple[PolicyModule, dict[str, Any]]:
    """Loads a policy from a model file or an exported policy.

    Args:
        path: the file; or `trained`, `trained:selfplay` …, a model that comes with the package.
        device: of a model file's policy; an exported policy is always on the CPU.

    Returns:
        The policy in evaluation mode, and the file's other entries: policy, rnn_name, rnn, env
        (complete, from any version of the rules), rules_version (the present one),
        observation_version, action_nvec (None: continuous actions), agent_steps; panel (its rating
        against the panel of pilots: score, worst_score, worst_pilot, games with each; None: not
        rated) and metadata (the user's own).

    Raises:
        CheckpointError: The file is missing, damaged, not ours or of another version.
        UsageError: A package that an exported policy needs is not installed.
    """
    path = path_of(path)
    if path.suffix == EXPORTED:
        return exported.load_exported(path)
    return model_file.load_model(path, device)


def average(
    paths: Sequence[Path], models: Sequence[tuple[PolicyModule, Mapping[str, Any]]]
) -> tuple[dict[str, torch.Tensor], dict[str, object]]:
    """Returns the mean of the weights of policies of one kind.

    Checkpoints of one run with a small learning rate compute nearly the same function, each with
    its own errors. The mean of the weights averages these errors (Izmailov et al. 2018, stochastic
    weight averaging). The last policy of self-play is fitted to its latest opponents; the average
    is nearer to an answer to all of them.

    Args:
        paths: names of the models, for messages.
        models: the results of `load_policy` for model files.

    Returns:
        The weights, float32, and the entries of a model file: those of the last model, without its
        rating.

    Raises:
        UsageError: The policies are not of one kind.
    """
    _, last = models[-1]
    for path, (_, entries) in zip(paths, models, strict=True):
        for name in SHAPE:
            if entries[name] != last[name]:
                raise UsageError(
                    f"{path}: its {name} is {entries[name]}, and that of {paths[-1]} is "
                    f"{last[name]}: only policies of one kind have an average"
                )
    states = [policy.state_dict() for policy, _ in models]
    weights = {
        name: torch.stack([state[name] for state in states]).mean(dim=0) for name in states[0]
    }
    return weights, {**last, "panel": None}
