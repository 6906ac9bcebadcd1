"""Policies from files, of whichever kind."""

from pathlib import Path

from torch import nn

from midrange_puffer.game.parameters import EXPORTED
from midrange_puffer.policies import model_file
from midrange_puffer.policies.shipped import path_of


def load_policy(path: str | Path, device: str = "cpu") -> tuple[nn.Module, dict[str, object]]:
    """Load a policy: of a model file, or an exported one, which is always on the CPU.

    Args:
        path: of the file; or `trained`, `trained:selfplay` …, a model that comes with the package.

    Returns:
        The policy on `device`, in evaluation mode, and the file's other entries: policy, rnn_name,
        rnn, env (complete, whichever version of the rules it is of), rules_version (the present
        one), observation_version, action_nvec (None: continuous actions), agent_steps; panel (how
        it fared against the panel of pilots: score, worst_score, worst_pilot, games with each;
        None: it was not rated) and metadata (the user's own).

    Raises:
        CheckpointError: The file is missing, damaged, not ours or of another version.
        UsageError: What an exported policy needs is not installed.
    """
    path = path_of(path)
    if path.suffix == EXPORTED:
        # Here, so that nothing else needs onnxruntime.
        from midrange_puffer.policies.exported import load_exported

        return load_exported(path)
    return model_file.load_model(path, device)
