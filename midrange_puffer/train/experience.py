"""Experience: segments of decisions, and the experience buffer of older segments.

The buffer is prioritised experience replay (Schaul et al. 2016, arXiv 1511.05952) of whole
segments. A segment's priority is PuffeRL's within an update: the sum of |advantage|. As in PuffeRL,
importance weights apply to the policy's loss only: values learn from segments as they are drawn.
Every rank has its own buffer.
"""

import textwrap
from collections.abc import Mapping
from dataclasses import dataclass, fields

import torch

from midrange_puffer.config.sections import ExperienceBufferConfig
from midrange_puffer.errors import UserError

# The parts of experience that a rollout fills, by PuffeRL's names of its buffers.
GATHERED = ("observations", "actions", "logprobs", "values", "rewards", "terminals")
MASKS = "masks"  # one more, in team games


@dataclass
class Segments:
    """Experience on the learner's device, [segments, horizon, ...] except for priorities.

    Attributes:
        observations: may be in the CPU's memory (train.cpu_offload).
        actions: as drawn, before they are clipped to their range.
        logprobs: their log-probabilities under the policy that acted.
        values: the latest estimates.
        rewards: for the previous decision.
        terminals: 1 if the previous decision ended the engagement, else 0.
        proximal: log-probabilities of the actions under the policy at the start of the update.
        ratio: probabilities of the actions under the latest policy over those under the policy
            that acted.
        advantages: by the latest known values and ratios.
        priorities: [segments], the sum of the segment's |advantage|.
        masks: 1 for decisions of living fighters, 0 for those of dead ones; None: all live.
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
        """The indices of living fighters' decisions among all, flattened."""
        return slice(None) if self.masks is None else self.masks.flatten().nonzero().squeeze(1)

    def take(self, rows: torch.Tensor) -> "Segments":
        """Returns copies of the segments in these rows, all on the learner's device."""
        device = self.rewards.device
        return Segments(
            **{
                name: tensor[rows.to(tensor.device)].to(device)
                for name, tensor in self._tensors().items()
            }
        )

    def keep(self, rows: torch.Tensor) -> None:
        """Copies the first segments into these rows."""
        for tensor in self._tensors().values():
            # A clone, since torch refuses to copy between parts of one tensor.
            tensor[rows.to(tensor.device)] = tensor[: len(rows)].clone()

    def _tensors(self) -> dict[str, torch.Tensor]:
        tensors = {field.name: getattr(self, field.name) for field in fields(self)}
        return {name: tensor for name, tensor in tensors.items() if tensor is not None}


def lengthened(buffers: Mapping[str, torch.Tensor], rows: int) -> dict[str, torch.Tensor]:
    """Returns zeros shaped like the buffers, with additional rows.

    Raises:
        UserError: There is not enough memory.
    """
    try:
        return {
            name: torch.zeros(
                len(buffer) + rows,
                *buffer.shape[1:],
                dtype=buffer.dtype,
                device=buffer.device,
                pin_memory=buffer.is_pinned(),
            )
            for name, buffer in buffers.items()
        }
    except RuntimeError as error:  # every device has its own subclass
        size = rows * sum(buffer[0].nbytes for buffer in buffers.values()) / 2**30
        raise UserError(
            f"experience_buffer.capacity = {rows}: its {size:.1f} GiB cannot be allocated: "
            f"{textwrap.shorten(str(error), 200)}"
        ) from error


def sampling_chances(priorities: torch.Tensor, alpha: float) -> torch.Tensor:
    """Returns chances [segments] in proportion to priorities^alpha, by PuffeRL's formula."""
    weights = torch.nan_to_num(priorities**alpha, 0, 0, 0)
    return (weights + 1e-6) / (weights.sum() + 1e-6)


def draw_without_replacement(chances: torch.Tensor, count: int) -> torch.Tensor:
    """Draws `count` different rows by their chances [segments], all above 0.

    This is torch.multinomial's distribution in a third of the time. Each row gets an exponentially
    distributed waiting time, on average the shorter the greater its chance. The rows with the
    shortest times are drawn, in this order.
    """
    waits = -torch.rand_like(chances).log() / chances
    return waits.topk(count, largest=False).indices


class ExperienceBuffer:
    """Rows of a ring of segments, in which new ones replace the oldest, and draws from them.

    Args:
        settings: section [experience_buffer].
        device: of row numbers, priorities and weights.

    Attributes:
        size: the number of segments in the buffer.
    """

    def __init__(self, settings: ExperienceBufferConfig, device: torch.device) -> None:
        self._settings = settings
        self._priorities = torch.zeros(settings.capacity, device=device)
        self._next = self.size = 0

    @property
    def is_warm(self) -> bool:
        """True if the buffer holds enough segments to draw from."""
        return self.size >= max(self._settings.warm_up, 1)

    def add(self, priorities: torch.Tensor) -> torch.Tensor:
        """Adds segments with these priorities [n]; returns the rows to store them in [n]."""
        capacity, count = len(self._priorities), len(priorities)
        rows = (self._next + torch.arange(count, device=priorities.device)) % capacity
        self._priorities[rows] = priorities
        self._next = (self._next + count) % capacity
        self.size = min(self.size + count, capacity)
        return rows

    def draw(
        self, minibatches: int, count: int, progress: float
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Draws `count` segments for each minibatch, with replacement.

        Args:
            minibatches: of an update.
            count: segments for each.
            progress: completed part of the run, 0 to 1.

        Returns:
            Rows and importance weights (size x chance)^-beta, [minibatches, count] each. Unlike
            Schaul et al. the weights are not divided by the largest: that would weight replayed
            segments down against fresh ones. train.max_grad_norm bounds the effect of large ones.
        """
        chances = sampling_chances(self._priorities[: self.size], self._settings.alpha)
        # In double precision, since torch draws from the running sum.
        rows = torch.multinomial(chances.double(), minibatches * count, replacement=True)
        rows = rows.view(minibatches, count)
        beta0 = self._settings.beta0
        beta = beta0 + (1 - beta0) * progress
        return rows, (self.size * chances[rows]) ** -beta

    def prioritise(self, rows: torch.Tensor, priorities: torch.Tensor) -> None:
        """Sets the priorities of segments that were replayed."""
        self._priorities[rows] = priorities
