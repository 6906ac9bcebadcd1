"""The average of checkpoints: a policy whose weights are the means of theirs.

Checkpoints of one run with a small learning rate compute much the same, each with other errors. The
mean of their weights computes what they have in common (Izmailov et al. 2018, stochastic weight
averaging). The last policy of self-play answers its latest opponents. The average is nearer to what
answers all of them.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path

import torch
from torch import nn

from midrange_puffer.errors import UsageError

SHAPE = ("policy_name", "policy", "rnn_name", "rnn", "observation_version", "action_nvec")


def average(
    paths: Sequence[Path], models: Sequence[tuple[nn.Module, Mapping[str, object]]]
) -> tuple[dict[str, torch.Tensor], dict[str, object]]:
    """The mean of the weights of policies of one kind.

    Args:
        paths: what the models are called in errors.
        models: what `loading.load_policy` gives for each, of model files.

    Returns:
        The weights, float32, and the entries of a model file: those of the last, but for what
        was measured of it alone.

    Raises:
        UsageError: They are not of one kind.
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
