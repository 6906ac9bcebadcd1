"""Frozen policies of teams for the tests, of known behaviour, and their model files."""

from pathlib import Path

import torch
from frozen import CERTAIN, HIDDEN

from midrange_puffer import _core
from midrange_puffer.config.configuration import Config
from midrange_puffer.config.reading import load_config
from midrange_puffer.game.observation import spaces_of
from midrange_puffer.policies import model_file
from midrange_puffer.policies.networks import Policy

ENTITY = 8


def config(size: int = 2) -> Config:
    """Returns the configuration of a small policy of two sides of this size."""
    sizes = [f"--env.{side}-size={size}" for side in ("red", "blue")]
    widths = [f"--policy.hidden-size={HIDDEN}", f"--policy.entity-size={ENTITY}"]
    return load_config(None, [*sizes, *widths])


def constant(rudder: int, throttle: int = 2, size: int = 2) -> Policy:
    """Returns a policy with constant actions that never fires."""
    made = Policy(spaces_of(_core.TEAM, "discrete", size, size), HIDDEN, entity_size=ENTITY).eval()
    with torch.no_grad():
        made.actor.weight.zero_()
        made.actor.bias.zero_()
        for index in (rudder, 5 + throttle, 8):
            made.actor.bias[index] = CERTAIN
    return made


def save(path: Path, made: Policy, size: int = 2) -> Path:
    """Writes a policy of this module as a model file."""
    model_file.save_model(path, config(size), made.state_dict(), 0)
    return path
