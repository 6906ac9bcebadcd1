r"""A policy of your own: a small transformer that treats the missiles as a set.

    puffer train midrange --config configs/default.ini \
        --policy-name examples/missile_attention.py:MissileAttention

The observation has places for three inbound and two own missiles, the most urgent first. The MLP
has separate weights for each place. Here all missiles share the same weights, the fighter attends
to those that are present, and their order does not matter.
"""

import torch
from torch import nn

from midrange_puffer import FEATURES
from midrange_puffer.checkpoint import LevelActor
from midrange_puffer.game.observation import rows_of

NAMES = [feature.name for feature in FEATURES]
PLACES = [f"inbound_{number}_" for number in (1, 2, 3)] + ["own_missile_1_", "own_missile_2_"]
MISSILES = [
    [place for place, name in enumerate(NAMES) if name.startswith(begin)] for begin in PLACES
]
FIGHTERS = sorted(set(range(len(NAMES))) - {place for row in MISSILES for place in row})


class MissileAttention(nn.Module):
    """Attention from the fighters' features to the missiles, then logits and a value."""

    def __init__(self, env: object, hidden_size: int = 64, heads: int = 4) -> None:
        super().__init__()
        if rows_of(env.single_observation_space.shape[0]):
            raise ValueError("it looks for the features of one against one, not for those of teams")
        self.fighters = nn.Linear(len(FIGHTERS), hidden_size)
        self.missiles = nn.Linear(len(MISSILES[0]) + 1, hidden_size)  # and a flag for own missiles
        self.attention = nn.MultiheadAttention(hidden_size, heads, batch_first=True)
        self.hidden = nn.Sequential(nn.GELU(), nn.Linear(2 * hidden_size, hidden_size), nn.GELU())
        self.actor = LevelActor(hidden_size, env.single_action_space.nvec.tolist())
        self.actor.initialise(fire_bias=-4.0)  # few missiles: a new policy should fire rarely
        self.critic = nn.Linear(hidden_size, 1)
        own = torch.tensor([[float(begin.startswith("own"))] for begin in PLACES])
        self.register_buffer("own", own, persistent=False)
        self.register_buffer("fighter_places", torch.tensor(FIGHTERS), persistent=False)
        self.register_buffer("missile_places", torch.tensor(MISSILES), persistent=False)

    def forward(self, observations: torch.Tensor, state: dict | None = None) -> tuple:
        """Returns logits and values [agents, 1] for observations [agents, features]."""
        fighters = self.fighters(observations[:, self.fighter_places])
        places = observations[:, self.missile_places]  # [agents, places, features of a missile]
        own = self.own.expand(places.shape[0], -1, -1)
        tokens = self.missiles(torch.cat([places, own], dim=2))
        # A place without a missile has zeros for features. One token of zeros is always present,
        # because attention to an empty set would give not-a-number.
        absent = (places[:, :, 0] == 0).to(tokens.dtype)
        nothing = torch.zeros_like(tokens[:, :1])
        # A number instead of -inf, which exported files may not contain: exp(-1e4) is 0.
        mask = -1e4 * torch.cat([torch.zeros_like(absent[:, :1]), absent], dim=1)
        keys = torch.cat([nothing, tokens], dim=1)
        answers, _ = self.attention(fighters[:, None], keys, keys, mask, need_weights=False)
        hidden = self.hidden(torch.cat([fighters, answers[:, 0]], dim=1))
        return self.actor(hidden), self.critic(hidden)

    forward_eval = forward
