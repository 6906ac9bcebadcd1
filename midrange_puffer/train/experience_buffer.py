"""Which of the latest segments are kept, and which of these are learnt from again.

Prioritised experience replay (Schaul et al. 2016, arXiv 1511.05952) of whole segments, whose
priority is what PuffeRL's is within an update: the sum of |advantage|. As there, importance
weights are for the policy's loss alone: values learn from what is drawn as it comes. Every rank has
a buffer of its own.
"""

from collections.abc import Mapping

import torch


def sampling_chances(priorities: torch.Tensor, alpha: float) -> torch.Tensor:
    """Chances [segments] in proportion to priorities^alpha, as PuffeRL draws from an update."""
    weights = torch.nan_to_num(priorities**alpha, 0, 0, 0)
    return (weights + 1e-6) / (weights.sum() + 1e-6)


def drawn_apart(chances: torch.Tensor, count: int) -> torch.Tensor:
    """Draw so many of those with these chances [segments], all above 0, each once; their rows.

    As torch.multinomial does it, in a third of the time. Each waits for an exponentially
    distributed time, shorter on average the greater its chance. Those whose wait is over first are
    drawn, in this order.
    """
    waits = -torch.rand_like(chances).log() / chances
    return waits.topk(count, largest=False).indices


class ExperienceBuffer:
    """A ring of rows for segments, the latest in place of the oldest, and what is drawn from it.

    Attributes:
        size: how many segments it holds.

    Args:
        settings: section [experience_buffer].
        device: of the numbers of rows, and of priorities and weights.
    """

    def __init__(self, settings: Mapping[str, float], device: torch.device) -> None:
        self._settings = settings
        self._priorities = torch.zeros(settings["capacity"], device=device)
        self._next = self.size = 0

    @property
    def is_warm(self) -> bool:
        """Whether it holds enough to be drawn from."""
        return self.size >= max(self._settings["warm_up"], 1)

    def add(self, priorities: torch.Tensor) -> torch.Tensor:
        """Make room for new segments [n] of these priorities; return their rows [n]."""
        capacity, count = len(self._priorities), len(priorities)
        rows = (self._next + torch.arange(count, device=priorities.device)) % capacity
        self._priorities[rows] = priorities
        self._next = (self._next + count) % capacity
        self.size = min(self.size + count, capacity)
        return rows

    def draw(
        self, minibatches: int, count: int, progress: float
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Draw so many segments for each minibatch, each for itself: some may come twice.

        Args:
            progress: part of the run that is done.

        Returns:
            Their rows and importance weights (size x chance)^-beta, [minibatches, count] each. They
            are not divided by the largest, as Schaul et al. have them: that would weight what is
            replayed down against what is fresh. A large one meets train.max_grad_norm.
        """
        chances = sampling_chances(self._priorities[: self.size], self._settings["alpha"])
        # In double precision, for torch draws from their running sum.
        rows = torch.multinomial(chances.double(), minibatches * count, replacement=True)
        rows = rows.view(minibatches, count)
        beta0 = self._settings["beta0"]
        beta = beta0 + (1 - beta0) * progress
        return rows, (self.size * chances[rows]) ** -beta

    def prioritise(self, rows: torch.Tensor, priorities: torch.Tensor) -> None:
        """Note the present priorities of segments that were learnt from again."""
        self._priorities[rows] = priorities
