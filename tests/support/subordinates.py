"""Subordinates for tests: games, model files, and a policy that flies by its orders alone."""

from pathlib import Path

import numpy as np
import torch

from midrange_puffer.game.orders import heads_of
from midrange_puffer.game.parameters import resolve
from midrange_puffer.policies.model_file import policy_spaces, save_model
from midrange_puffer.policies.networks import Policy, make_policy

TEAM = {"red_size": 2, "blue_size": 2}
GAMES = {
    "pair": {},
    "team": TEAM,
    "sensors": TEAM | {"sensing": "radar"},
    "height": {"dimensions": 3},
}
RUDDER = np.array([0, 4, 1, 3, 0, 4, 1, 3])  # the level that `obedient` flies by an order
THROTTLE = np.array([2, 0, 1])  # and by a permission
SIZES = {"hidden_size": 32, "hidden_layers": 1, "entity_size": 32, "parameter_sharing": True}


def settings(**game: object) -> dict[str, object]:
    """Returns the [env] of a game."""
    return {**resolve(game, teams=True), "observation": "default", "opponent": "ace"}


def write(path: Path, policy: torch.nn.Module, env: dict[str, object], agents: str) -> Path:
    """Writes a model file."""
    mode = "discrete" if agents == "subordinate" else "orders"
    entries = {"action_mode": mode, "order_decisions": 4, "agents": agents}
    config = {"base": {"rnn_name": None}, "rnn": {}, "policy": SIZES, "env": env | entries}
    save_model(path, config, policy.state_dict(), 0)
    return path


def spaces_in(**game: object):
    """Returns the spaces of a subordinate."""
    return policy_spaces(settings(**game) | {"action_mode": "discrete", "agents": "subordinate"})


def obedient(**game: object) -> Policy:
    """Returns a subordinate whose rudder and throttle follow from the order's words alone."""
    policy = make_policy(spaces_in(**game), SIZES).eval()
    order, permission, *_ = map(len, heads_of(resolve(game, teams=True)).values())
    with torch.no_grad():
        for value in policy.parameters():
            value.zero_()
        place = policy.features - policy.order_features
        if policy.rows:
            rows = torch.arange(order + permission)
            policy.pooling.layers["order"].weight[rows, rows] = 1
            place = policy.pooling.width - SIZES["entity_size"]
        for unit in range(order + permission):
            policy.encoder[0].weight[unit, place + unit] = 30
        for level in range(order):
            policy.actor.weight[RUDDER[level], level] = 1
        throttle = 5 if game.get("dimensions", 2) == 2 else 10
        for level in range(permission):
            policy.actor.weight[throttle + THROTTLE[level], order + level] = 1
        policy.actor.bias[-1 if not policy.rows else sum(policy.actor.levels[:-2]) + 1] = -50
    return policy
