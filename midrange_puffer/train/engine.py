"""The interface of an engine, which computes the actions of a rollout and the steps of an update.

`torch_engine.py` computes any policy on any device, `native_engine.py` the package's MLP in C.
"""

from collections.abc import Callable, Mapping
from typing import NamedTuple, Protocol

import numpy as np
import torch

from midrange_puffer.config.sections import TrainConfig
from midrange_puffer.train.experience import Segments

# The figures of a minibatch, means over its decisions, in this order.
LOSSES = (
    "policy_loss", "value_loss", "entropy", "old_approx_kl", "approx_kl", "clipfrac", "importance"
)  # fmt: skip
# Begins a part of an update in the profile, by PuffeRL's name of it.
BeginPart = Callable[[str], None]
# Log-probabilities and values of some segments by the latest policy, [n, horizon] each.
Outputs = tuple[torch.Tensor, torch.Tensor]


class TimeStep(NamedTuple):
    """The environments' results for n agents before a decision.

    Attributes:
        observations: float32 [n, features].
        rewards: float32 [n], for the previous decision.
        ends: bool [n], True if the previous decision ended the engagement.
        living: bool [n], True if the agent's fighter is alive.
    """

    observations: np.ndarray
    rewards: np.ndarray
    ends: np.ndarray
    living: np.ndarray


class Engine(Protocol):
    """Computes a policy's outputs, the gradient of its loss, and the optimizer's steps.

    Attributes:
        settings: section [train], of which `schema.LIVE_KEYS` may change between updates.
    """

    settings: TrainConfig

    def load(self) -> None:
        """Takes over weights and optimizer state that were changed from outside."""

    def act(
        self,
        inputs: TimeStep,
        state: dict[str, torch.Tensor],
        buffers: Mapping[str, torch.Tensor],
        rows: slice,
        step: int,
    ) -> np.ndarray:
        """Draws the actions of some agents, and writes inputs and outputs to the buffers.

        Args:
            inputs: of these agents.
            state: "done", their `ends` on the learner's device, and the memory of a recurrent
                policy, which is updated.
            buffers: by the names of `GATHERED`.
            rows: the agents' n rows of the buffers.
            step: the column of the buffers, which is the decision within its segment.

        Returns:
            [n, heads], int32, or float32 clipped to their limits.
        """
        ...

    def score(self, experience: Segments, rows: torch.Tensor) -> Outputs:
        """Returns the policy's outputs for the segments in these rows."""
        ...

    @property
    def reference(self) -> torch.Tensor | None:
        """The flat parameters of the reference policy; None if there is none yet."""
        ...

    def set_reference(self, parameters: torch.Tensor | None = None) -> None:
        """Sets the reference policy to these flat parameters; None: to the present policy."""

    def score_reference(self, experience: Segments, rows: torch.Tensor) -> torch.Tensor:
        """Returns the reference policy's log-probabilities of the actions, [n, horizon]."""
        ...

    def learn(
        self,
        experience: Segments,
        rows: torch.Tensor,
        advantages: torch.Tensor,
        returns: torch.Tensor,
        ent_coef: float,
        share: float,
        begin: BeginPart,
    ) -> tuple[Outputs, torch.Tensor]:
        """Adds the gradient of a minibatch's loss, multiplied by `share`.

        Args:
            experience: the segments that the minibatch is taken from.
            rows: its segments, [n].
            advantages: [n, horizon], normalised and weighted, for the policy's loss.
            returns: [n, horizon], the targets of the values.
            ent_coef: weight of the entropy bonus.
            share: the minibatch's part of an optimizer step.
            begin: called when a part of the update begins.

        Returns:
            The policy's outputs for these segments, and `LOSSES`, on the CPU or its device.
        """
        ...

    def step(self) -> None:
        """Takes an optimizer step against the added gradient, and clears it."""
