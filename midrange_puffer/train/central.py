"""A run's central critic: its place in the configuration, in the experience and in checkpoints."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch

from midrange_puffer.config.configuration import Config
from midrange_puffer.config.sections import PolicyConfig
from midrange_puffer.errors import CheckpointError
from midrange_puffer.game.critic_views import CriticView, critic_view
from midrange_puffer.game.parameters import observed
from midrange_puffer.policies import model_file
from midrange_puffer.policies.actors import PolicyModule
from midrange_puffer.policies.critic import ActorCritic, Critic

if TYPE_CHECKING:
    from midrange_puffer.gymnasium_import import gymnasium


def view_of(config: Config) -> CriticView | None:
    """Returns the layout of the critic's rows in a run or one of its stages; None with "own"."""
    env = config.env
    return critic_view(config.train.critic, observed(env.observation, env), env)


def experience_space(config: Config) -> "gymnasium.spaces.Box":
    """Returns the space of the observations in the experience: a central critic's rows, if any."""
    view = view_of(config)
    if view is None:
        return model_file.policy_spaces(config.env).single_observation_space
    return view.space


def with_critic(policy: PolicyModule, config: Config) -> PolicyModule:
    """Returns the policy with a new central critic, if train.critic asks for one.

    Args:
        policy: one of the package; its device is the critic's.
        config: of the stage.
    """
    view = view_of(config)
    if view is None:
        return policy
    sizes = config.policy
    assert isinstance(sizes, PolicyConfig)  # `check_critic` has refused the user's own policies
    critic = Critic(view, sizes.hidden_size, sizes.hidden_layers, sizes.entity_size)
    return ActorCritic(policy, critic.to(next(policy.parameters()).device))


def critic_weights(policy: PolicyModule) -> dict[str, torch.Tensor] | None:
    """Returns copies of a central critic's weights by name, for the trainer state; None without."""
    if not isinstance(policy, ActorCritic):
        return None
    weights = policy.critic.state_dict()
    return {name: value.detach().cpu().clone() for name, value in weights.items()}


def set_critic(policy: PolicyModule, weights: Mapping[str, Any] | None, path: Path) -> None:
    """Sets a central critic to the weights of a trainer state.

    Args:
        policy: with or without a critic.
        weights: of the state.
        path: of the file, for errors.

    Raises:
        CheckpointError: They are of another critic, or there are none.
    """
    if not isinstance(policy, ActorCritic):
        return
    try:
        policy.critic.load_state_dict(weights or {})
    except RuntimeError as error:
        reason = " ".join(str(error).split())
        raise CheckpointError(f"{path}: its critic does not fit train.critic: {reason}") from None
