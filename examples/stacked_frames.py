"""A policy of your own: an MLP that observes some earlier decisions and the present one.

    puffer train midrange --config configs/radar.ini --train.critic own
        --policy-name stacked_frames:StackedFrames

Run this in the folder of this file. Its arguments are keys of [policy]: --policy.frames 8
--policy.spacing 2. `puffer eval`, `play`, `league` and `export` load its models if they get the
same --policy-name.
"""

import torch
from torch import nn

from midrange_puffer.checkpoint import LevelActor


class StackedFrames(nn.Module):
    """Two layers over `frames` observations, each `spacing` decisions after the one before it.

    Observations before the start of the engagement are zeros.
    """

    def __init__(
        self, env: object, hidden_size: int = 64, frames: int = 4, spacing: int = 4
    ) -> None:
        super().__init__()
        if frames < 2 or spacing < 1:
            raise ValueError(
                f"frames, spacing: are {frames} and {spacing}, expected at least 2 and 1"
            )
        self.features = features = env.single_observation_space.shape[0]
        self.lags = [frame * spacing for frame in range(1, frames)]  # decisions ago
        self.memory_size = features * self.lags[-1]  # of state["lstm_h"]: the newest first
        self.encoder = nn.Sequential(
            nn.Linear(features * frames, hidden_size),
            nn.GELU(),
            nn.Linear(hidden_size, hidden_size),
            nn.GELU(),
        )
        self.actor = LevelActor(hidden_size, env.single_action_space.nvec.tolist())
        self.actor.initialise(fire_bias=-4.0)  # few missiles: a new policy should fire rarely
        self.critic = nn.Linear(hidden_size, 1)

    def forward_eval(self, observations: torch.Tensor, state: dict) -> tuple:
        """Makes one decision; `done` marks agents whose engagement has just begun."""
        past = state["lstm_h"]
        if "done" in state:
            past = past.masked_fill(state["done"][:, None], 0)
        earlier = [past[:, (lag - 1) * self.features : lag * self.features] for lag in self.lags]
        state["lstm_h"] = torch.cat([observations, past[:, : -self.features]], dim=1)
        hidden = self.encoder(torch.cat([observations, *earlier], dim=1))
        return self.actor(hidden), self.critic(hidden)

    def forward(self, observations: torch.Tensor, state: dict) -> tuple:
        """Computes all decisions of segments [segments, horizon, features] for the update."""
        engagement = state["done"].cumsum(dim=1)  # number of each decision's engagement
        seen = [observations]
        for lag in self.lags:
            earlier = torch.zeros_like(observations)
            is_same = engagement[:, lag:] == engagement[:, :-lag]
            earlier[:, lag:] = observations[:, :-lag] * is_same[..., None]
            seen.append(earlier)
        hidden = self.encoder(torch.cat(seen, dim=2))
        return self.actor(hidden.flatten(0, 1)), self.critic(hidden).squeeze(2)
