"""A policy of your own with a memory: a GRU that follows PufferLib's conventions.

    puffer train midrange --config configs/default.ini --policy-name examples/gru.py:GRU

Its arguments are keys of [policy]: --policy.hidden-size 128. `puffer eval`, `play`, `league` and
`export` load its models if they get the same --policy-name.
"""

import torch
from torch import nn

from midrange_puffer.checkpoint import LevelActor


class GRU(nn.Module):
    """A layer, a GRU cell, then logits of the actions and a value."""

    def __init__(self, env: object, hidden_size: int = 64) -> None:
        super().__init__()
        features = env.single_observation_space.shape[0]
        self.memory_size = hidden_size  # the memory is state["lstm_h"]
        self.encoder = nn.Sequential(nn.Linear(features, hidden_size), nn.GELU())
        self.cell = nn.GRUCell(hidden_size, hidden_size)
        self.actor = LevelActor(hidden_size, env.single_action_space.nvec.tolist())
        self.actor.initialise(fire_bias=-4.0)  # few missiles: a new policy should fire rarely
        self.critic = nn.Linear(hidden_size, 1)

    def forward_eval(self, observations: torch.Tensor, state: dict) -> tuple:
        """Makes one decision; `done` marks agents whose engagement has just begun."""
        memory = state["lstm_h"]
        if "done" in state:
            memory = memory.masked_fill(state["done"][:, None], 0)
        memory = state["lstm_h"] = self.cell(self.encoder(observations), memory)
        return self.actor(memory), self.critic(memory)

    def forward(self, observations: torch.Tensor, state: dict) -> tuple:
        """Computes all decisions of segments [segments, horizon, features] for the update."""
        encoded, done = self.encoder(observations), state["done"]
        memory, remembered = encoded.new_zeros(encoded[:, 0].shape), []
        for step in range(encoded.shape[1]):
            memory = self.cell(encoded[:, step], memory * (1 - done[:, step, None]))
            remembered.append(memory)
        hidden = torch.stack(remembered, dim=1)
        return self.actor(hidden.flatten(0, 1)), self.critic(hidden).squeeze(2)
