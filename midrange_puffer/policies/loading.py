"""Policies from model files and exported files, and the average of several policies."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import torch

from midrange_puffer.errors import CheckpointError, UsageError
from midrange_puffer.game.actions import ORDERS
from midrange_puffer.game.observation import check_flies, check_sees, rows_of
from midrange_puffer.game.parameters import EXPORTED
from midrange_puffer.policies import exported, model_file
from midrange_puffer.policies.actors import PolicyModule
from midrange_puffer.policies.models import path_of
from midrange_puffer.policies.subordinate import Subordinate

# Entries of a model file that must be equal for an average of policies.
SHAPE = ("policy_name", "policy", "rnn_name", "rnn", "observation_version", "action_nvec")


def load_policy(path: str | Path, device: str = "cpu") -> tuple[PolicyModule, dict[str, Any]]:
    """Loads a policy from a model file or an exported policy.

    Args:
        path: the file; or the name of a model in the package, such as `trained`,
            `trained:selfplay`.
        device: device of a policy from a model file; an exported policy is always on the CPU.

    Returns:
        The policy in evaluation mode, and the file's other entries:

        * policy, rnn_name, rnn: the policy's settings;
        * env: all settings of the game, also in files from earlier versions of the rules;
        * rules_version: the present one;
        * observation_version, action_nvec (None: continuous actions), agent_steps;
        * panel: its rating against the panel of pilots (score, worst_score, worst_pilot, games with
          each pilot); None: not rated;
        * metadata: the user's own.

    Raises:
        CheckpointError: The file is missing or damaged, or of another program or version.
        UsageError: A package that an exported policy needs is not installed.
    """
    file = path_of(path)
    if file.suffix == EXPORTED:
        policy, entries = exported.load_exported(file)
    else:
        policy, entries = model_file.load_model(file, device)
    policy.label = str(path)
    return policy, entries


def load_subordinate(
    path: str | Path, action_mode: str, observation: str, features: int, threads: int = 1
) -> Subordinate:
    """Returns the subordinate of a model file, for agents of a game.

    Args:
        path: the file.
        action_mode: of the agents.
        observation, features: the observation of the game's fighters, and its number of features.
        threads: as of `Subordinate`.

    Raises:
        UsageError: The agents give no orders, or the policy is of another game.
        CheckpointError: The file cannot be used, or its policy is no subordinate.
    """
    where = f"subordinates = {path}"
    if action_mode != ORDERS:
        raise UsageError(
            f"{where}: they follow orders, and this is action_mode = {action_mode}; needs "
            f"action_mode = {ORDERS}"
        )
    try:
        policy = model_file.subordinate_policy(path, model_file.read_subordinate(path))
    except CheckpointError as error:  # it begins with the path
        raise CheckpointError(f"subordinates = {error}") from None
    subordinate = Subordinate(policy, threads)
    if rows_of(features):
        check_flies(where, subordinate, features)
        return subordinate
    own = subordinate.features
    check_sees(where, own, observation, "this game")
    if own != features:
        raise UsageError(f"{where}: observes {own} features, and a fighter of this game {features}")
    return subordinate


def average(
    paths: Sequence[Path], models: Sequence[tuple[PolicyModule, Mapping[str, Any]]]
) -> tuple[dict[str, torch.Tensor], dict[str, object]]:
    """Returns the mean of the weights of policies of the same kind.

    Checkpoints of one run with a small learning rate compute nearly the same function, each with
    its own errors. The mean of the weights averages these errors (Izmailov et al. 2018, stochastic
    weight averaging). In self-play, the last policy is fitted to its latest opponents; the average
    is a compromise between answers to all of them.

    Args:
        paths: names of the models, for messages.
        models: the results of `load_policy` for model files.

    Returns:
        The weights, float32, and the entries of a model file: those of the last model, without its
        rating.

    Raises:
        UsageError: The policies are of different kinds.
    """
    _, last = models[-1]
    for path, (_, entries) in zip(paths, models, strict=True):
        for name in SHAPE:
            if entries[name] != last[name]:
                raise UsageError(
                    f"{path}: its {name} is {entries[name]}, and that of {paths[-1]} is "
                    f"{last[name]}: only policies of one kind have an average"
                )
        copies = entries.get(model_file.SUBORDINATES), last.get(model_file.SUBORDINATES)
        if not model_file.is_same_subordinate(*copies):
            raise UsageError(
                f"{path}: its subordinate is another than that of {paths[-1]}: only policies of "
                "one kind have an average"
            )
    states = [policy.state_dict() for policy, _ in models]
    weights = {
        name: torch.stack([state[name] for state in states]).mean(dim=0) for name in states[0]
    }
    return weights, {**last, "panel": None}
