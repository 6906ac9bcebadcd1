"""A policy with a memory that is attention: a transformer over an engagement's last decisions."""

from typing import Any

import torch
from torch import nn
from torch.nn.functional import scaled_dot_product_attention

from midrange_puffer.policies.actors import Distribution, PolicyModule
from midrange_puffer.policies.own_policy import MEMORY

ABSENT = -1e4  # added to the score of a decision that must not be attended to


class Attention(PolicyModule):
    """A policy with one transformer block between its encoder and its heads.

    Each decision attends to itself and to the `decisions` - 1 before it, within the engagement. A
    learned bias for each head and lag replaces position embeddings. The memory holds the keys and
    values of the earlier decisions, so that a new decision computes only its own.

    The block's output layers start at zero: a new policy computes what the encoder and heads
    alone compute, and learns to look back.

    Args:
        policy: the package's `Policy`. Its hidden_size, a multiple of `heads`, is that of the
            block.
        heads: number of attention heads.
        decisions: number of decisions that each attends to, itself included; at least 2.

    Attributes:
        memory_size: `decisions` - 1 rows of a key and the number 1 in lstm_h, and of a value and 0
            in lstm_c. The number is 0 for decisions before the engagement's start.
    """

    policy: Any  # torch's type of a submodule has no methods

    def __init__(self, policy: PolicyModule, heads: int = 4, decisions: int = 32) -> None:
        super().__init__()
        self.policy = policy
        hidden_size = self.policy.hidden_size
        if hidden_size % heads:
            raise ValueError(f"hidden_size = {hidden_size}: must be a multiple of heads = {heads}")
        self.features, self.is_continuous = policy.features, policy.is_continuous
        self.action_size, self.order_decisions = policy.action_size, policy.order_decisions
        self.commanded = policy.commanded
        self.heads, self.decisions = heads, decisions
        self._row = hidden_size + 1
        self.memory_size = (decisions - 1) * self._row
        self.lag_bias = nn.Parameter(torch.zeros(heads, decisions))
        self.before_attention = nn.LayerNorm(hidden_size)
        self.query_key_value = nn.Linear(hidden_size, 3 * hidden_size)
        self.after_attention = nn.Linear(hidden_size, hidden_size)
        last = nn.Linear(2 * hidden_size, hidden_size)
        self.feed_forward = nn.Sequential(
            nn.LayerNorm(hidden_size),
            nn.Linear(hidden_size, 2 * hidden_size),
            nn.GELU(),
            last,
        )
        for layer in (self.after_attention, last):
            nn.init.zeros_(layer.weight)
            nn.init.zeros_(layer.bias)

    @property
    def any_size(self) -> bool:
        """True if it flies in teams of any size."""
        return self.policy.any_size

    def forward_eval(
        self, observations: torch.Tensor, state: dict[str, torch.Tensor]
    ) -> tuple[Distribution, torch.Tensor]:
        """Returns actor outputs and values [agents, 1] of one decision; updates the memory.

        Args:
            observations: float32 [agents, features].
            state: lstm_h and lstm_c [agents, memory_size]; optionally done, bool [agents].
        """
        embedded, context = self.policy.encode(observations, state)
        query, key, value = self._project(embedded)
        rows = []
        for name, new, mark in zip(MEMORY, (key, value), (1.0, 0.0), strict=True):
            mark_column = torch.full_like(new[:, :1], mark)
            memory = torch.cat([state[name], new, mark_column], dim=1)
            rows.append(memory.unflatten(1, (self.decisions, self._row)))
            state[name] = memory[:, self._row :]
        is_present = rows[0][:, :, -1]
        if "done" in state:
            is_present[:, :-1].masked_fill_(state["done"][:, None], 0)
        is_present = is_present[:, None, None]
        scores = self.lag_bias.flip(1)[:, None] + (1 - is_present) * ABSENT
        keys, values = (row[:, :, :-1] for row in rows)
        if keys.is_cuda:  # which attends only to aligned rows
            keys, values = keys.contiguous(), values.contiguous()
        hidden = self._block(embedded[:, None], query[:, None], keys, values, scores)
        return self.policy.decode(hidden.squeeze(1), context)

    def forward(
        self, observations: torch.Tensor, state: dict[str, torch.Tensor]
    ) -> tuple[Distribution, torch.Tensor]:
        """Returns actor outputs and values for whole segments of experience.

        A segment begins with an empty memory.

        Args:
            observations: float32 [segments, horizon, features].
            state: with done [segments, horizon], 1 at the first decision of an engagement.

        Returns:
            Actor outputs for segments x horizon agents, as `Policy` returns them; values [segments,
            horizon].
        """
        shape, flat = observations.shape[:2], observations.flatten(0, 1)
        encoded, context = self.policy.encode(flat, state)
        embedded = encoded.unflatten(0, shape)
        query, key, value = self._project(embedded)
        steps = torch.arange(shape[1], device=flat.device)
        lags = steps[:, None] - steps
        is_near = (lags >= 0) & (lags < self.decisions)
        engagement = state["done"].cumsum(dim=1)
        is_same = engagement[:, :, None] == engagement[:, None]
        bias = self.lag_bias[:, lags.clamp(0, self.decisions - 1)]
        scores = torch.where((is_near & is_same)[:, None], bias, ABSENT)
        hidden = self._block(embedded, query, key, value, scores)
        actions, values = self.policy.decode(hidden.flatten(0, 1), context)
        return actions, values.view(shape)

    def _project(self, embedded: torch.Tensor) -> tuple[torch.Tensor, ...]:
        """Returns queries, keys and values of embedded decisions, each of their shape."""
        return self.query_key_value(self.before_attention(embedded)).chunk(3, dim=-1)

    def _block(
        self,
        embedded: torch.Tensor,
        query: torch.Tensor,
        keys: torch.Tensor,
        values: torch.Tensor,
        scores: torch.Tensor,
    ) -> torch.Tensor:
        """Returns the output [n, queries, hidden_size] of the transformer block.

        Args:
            embedded, query: [n, queries, hidden_size].
            keys, values: [n, decisions, hidden_size].
            scores: added to the attention scores, broadcast to [n, heads, queries, decisions].
        """
        parts = (
            part.unflatten(2, (self.heads, -1)).transpose(1, 2) for part in (query, keys, values)
        )
        attended = scaled_dot_product_attention(*parts, attn_mask=scores)
        hidden = embedded + self.after_attention(attended.transpose(1, 2).flatten(2))
        return hidden + self.feed_forward(hidden)
