"""What was gathered and is learnt from: segments of decisions, one after another."""

import textwrap
from collections.abc import Mapping
from dataclasses import dataclass, fields

import torch

from midrange_puffer.errors import UserError

# The parts of experience that are there before an update, by PuffeRL's names of its buffers.
GATHERED = ("observations", "actions", "logprobs", "values", "rewards", "terminals")
MASKS = "masks"  # one more, in teams


@dataclass
class Segments:
    """Experience on the learner's device, [segments, horizon, ...] but for priorities.

    Attributes:
        observations: may be in the CPU's memory (train.cpu_offload).
        actions: that were drawn, before they are clipped to their range.
        logprobs: their log-probabilities under the policy that took them.
        values: the latest estimates.
        rewards: for the decision before.
        terminals: whether the decision before ended the engagement, 0 or 1.
        proximal: log-probabilities of the actions under the policy at the start of the update.
        ratio: probabilities of the actions under the latest policy over those under the one that
            took them.
        advantages: as far as is known of the latest policy.
        priorities: how much each segment has to tell, [segments]: the sum of its |advantage|.
        masks: 1 for decisions of the living, 0 for those of the dead; None: all live.
    """

    observations: torch.Tensor
    actions: torch.Tensor
    logprobs: torch.Tensor
    values: torch.Tensor
    rewards: torch.Tensor
    terminals: torch.Tensor
    proximal: torch.Tensor
    ratio: torch.Tensor
    advantages: torch.Tensor
    priorities: torch.Tensor
    masks: torch.Tensor | None = None

    @property
    def living(self) -> torch.Tensor | slice:
        """Which of all decisions, one after another, are of the living."""
        return slice(None) if self.masks is None else self.masks.flatten().nonzero().squeeze(1)

    def take(self, rows: torch.Tensor) -> "Segments":
        """Copies of the segments in these rows, all on the learner's device."""
        device = self.rewards.device
        parts = {name: one[rows.to(one.device)] for name, one in self._tensors().items()}
        return Segments(**{name: part.to(device) for name, part in parts.items()})

    def keep(self, rows: torch.Tensor) -> None:
        """Copy the first segments into these rows."""
        for one in self._tensors().values():
            one[rows.to(one.device)] = one[: len(rows)].clone()  # torch sees them overlap

    def _tensors(self) -> dict[str, torch.Tensor]:
        tensors = {field.name: getattr(self, field.name) for field in fields(self)}
        return {name: one for name, one in tensors.items() if one is not None}


def lengthened(buffers: Mapping[str, torch.Tensor], rows: int) -> dict[str, torch.Tensor]:
    """Zeros like some buffers, with so many rows more.

    Raises:
        UserError: There is not the memory for them.
    """
    try:
        return {
            name: torch.zeros(
                len(one) + rows,
                *one.shape[1:],
                dtype=one.dtype,
                device=one.device,
                pin_memory=one.is_pinned(),
            )
            for name, one in buffers.items()
        }
    except RuntimeError as error:  # of each device's own kind
        size = rows * sum(one[0].nbytes for one in buffers.values()) / 2**30
        raise UserError(
            f"experience_buffer.capacity = {rows}: there is not the memory for its {size:.1f} GiB: "
            f"{textwrap.shorten(str(error), 200)}"
        ) from error
