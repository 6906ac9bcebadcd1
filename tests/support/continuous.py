"""Policies of continuous actions, fresh and saved."""

from pathlib import Path

from torch import nn

from midrange_puffer.config.reading import load_config
from midrange_puffer.game.observation import spaces_of
from midrange_puffer.policies import model_file
from midrange_puffer.policies.networks import make_policy

CONTINUOUS = "--env.action-mode=continuous"


def fresh_policy(**settings: float) -> nn.Module:
    """Returns a policy as training begins with it."""
    return make_policy(spaces_of("default", "continuous"), {"hidden_size": 16, **settings})


def save(path: Path, policy: nn.Module) -> Path:
    """Writes a continuous policy of this module as a model file."""
    config = load_config(None, ["--policy.hidden-size=16", CONTINUOUS])
    model_file.save_model(path, config, policy.state_dict(), 0)
    return path
