"""The numeric parts of acting and learning, and who computes them."""

from collections.abc import Callable, Mapping
from typing import NamedTuple, Protocol

import numpy as np
import torch

from midrange_puffer.train.experience import Segments

# What there is to tell of a minibatch, means over its decisions, in this order.
LOSSES = (
    "policy_loss", "value_loss", "entropy", "old_approx_kl", "approx_kl", "clipfrac", "importance"
)  # fmt: skip
# Begins a part of an update, as PuffeRL names it.
Timer = Callable[[str], None]
# Log-probabilities and values of some segments, [n, horizon] each, as the latest policy has them.
Judged = tuple[torch.Tensor, torch.Tensor]


class Seen(NamedTuple):
    """What agents see before a decision.

    Attributes:
        observations: float32 [n, features].
        rewards: float32 [n], for the decision before.
        ends: bool [n], whether that ended the engagement.
        living: bool [n], whose fighter is not dead.
    """

    observations: np.ndarray
    rewards: np.ndarray
    ends: np.ndarray
    living: np.ndarray


class Engine(Protocol):
    """Computes what a policy gives, the gradient of its loss, and the optimizer's steps."""

    def load(self) -> None:
        """Take up the policy's weights and the optimizer's state, which others have changed."""

    def act(
        self,
        seen: Seen,
        state: dict[str, torch.Tensor],
        buffers: Mapping[str, torch.Tensor],
        rows: slice,
        step: int,
    ) -> np.ndarray:
        """Draw actions for what some agents see, and keep all of it.

        Args:
            seen: by them.
            state: "done", their `ends` on the learner's device, and a recurrent policy's memory of
                them, which it changes.
            buffers: by the names of `GATHERED`, which are written.
            rows: theirs in the buffers, n.
            step: of their segments.

        Returns:
            [n, 3], int32, or float32 within their limits.
        """

    def score(self, experience: Segments, rows: torch.Tensor) -> Judged:
        """What the policy gives for the segments in these rows."""

    @property
    def reference(self) -> torch.Tensor | None:
        """The parameters of the reference policy, one after another; None: there is none yet."""

    def refer(self, parameters: torch.Tensor | None = None) -> None:
        """Take the policy with these parameters for the reference; None: as it is now."""

    def score_reference(self, experience: Segments, rows: torch.Tensor) -> torch.Tensor:
        """Log-probabilities of the actions in these rows by the reference policy, [n, horizon]."""

    def learn(
        self,
        experience: Segments,
        rows: torch.Tensor,
        advantages: torch.Tensor,
        returns: torch.Tensor,
        ent_coef: float,
        share: float,
        time: Timer,
    ) -> tuple[Judged, torch.Tensor]:
        """Add the gradient of the loss of a minibatch, times `share`.

        Args:
            experience: of which it is drawn.
            rows: of its segments, [n].
            advantages: [n, horizon], normalised and weighted, of the policy's loss.
            returns: [n, horizon], what the values are to be.
            ent_coef: weight of the entropy bonus.
            share: of it in a step of the optimizer.
            time: is told which part begins.

        Returns:
            What the policy gives for these segments, and `LOSSES`, on the CPU or its device.
        """

    def step(self) -> None:
        """Take a step of the optimizer against the gradient that was added up, and forget that."""
