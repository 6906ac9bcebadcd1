"""Experience: segments of decisions, their advantages, and the buffer of older segments.

The buffer is prioritised experience replay (Schaul et al. 2016, arXiv 1511.05952) of whole
segments. A segment's priority is PuffeRL's within an update: the sum of |advantage|. As in PuffeRL,
importance weights apply to the policy's loss only: values learn from segments as they are drawn.
Every rank has its own buffer. With collectors on a Ray cluster it may instead be on the cluster
(cluster/shared_buffer.py).
"""

import math
import mmap
import tempfile
import textwrap
from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Protocol

import torch

from midrange_puffer import _learner
from midrange_puffer.config.sections import ExperienceBufferConfig, TrainConfig
from midrange_puffer.errors import UserError
from midrange_puffer.puffer_import import contained
from midrange_puffer.system import reserve

with contained():
    from pufferlib import _C  # noqa: F401 # pyright: ignore[reportAttributeAccessIssue] - compiled, with the advantages' kernel

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

    def gathered(self) -> dict[str, torch.Tensor]:
        """Returns the parts that a rollout fills, by their names."""
        tensors = self._tensors()
        return {name: tensors[name] for name in (*GATHERED, MASKS) if name in tensors}

    def _tensors(self) -> dict[str, torch.Tensor]:
        tensors = {field.name: getattr(self, field.name) for field in fields(self)}
        return {name: tensor for name, tensor in tensors.items() if tensor is not None}


def settle_deaths(
    rewards: torch.Tensor,
    terminals: torch.Tensor,
    values: torch.Tensor,
    masks: torch.Tensor,
    gamma: float,
) -> None:
    """Credits what a side receives later to the decision in which a fighter died, in place.

    A dead fighter decides nothing, and nothing is learnt from its rows. But its side fights on, and
    the outcome is a consequence of the decision in which it died. So the rewards of its dead time
    go to that decision, discounted, and the engagement ends there for this fighter. After the end
    of the segment it is valued like its living mates (`rollout.mean_values_of_mates`; the
    posthumous credit of MA-POCA, Cohen et al. 2021, arXiv 2111.05992).

    PuffeRL's buffers are shifted: a decision's reward and terminal stand with the next decision.

    Args:
        rewards, terminals, values, masks: float32 [segments, horizon]. Masks are 0 where a fighter
            is dead. Rewards for decisions of the dead become 0, and so do their values. A decision
            in which a fighter died receives their sum, and a terminal of 1.
        gamma: discount of a decision.
    """
    dead = masks == 0
    last = rewards.shape[1] - 1
    later = torch.where(dead[:, last], values[:, last], 0)  # the dead's return after a step
    for step in range(last, -1, -1):
        is_dead = dead[:, step]
        if step < last:
            paid = rewards[:, step + 1]
            later = torch.where(is_dead, paid + gamma * later * (1 - terminals[:, step + 1]), 0)
            paid[is_dead] = 0
        if step:
            died = is_dead & ~dead[:, step - 1]
            rewards[:, step] += gamma * torch.where(died, later, 0)
            terminals[:, step][died] = 1
    values[dead] = 0


def find_advantages(experience: Segments, rows: torch.Tensor, settings: TrainConfig) -> None:
    """Writes the advantages and priorities of the segments in these rows.

    An advantage is V-trace's target less the value; at ratio 1 the generalised advantage. The last
    decision of a segment, whose reward stands in the next segment, has 0.

    Args:
        experience: its `advantages` and `priorities` are written.
        rows: int64 [n].
        settings: section [train].
    """
    device = experience.values.device
    parts = (experience.values, experience.rewards, experience.terminals, experience.ratio)
    coefficients = (
        settings.gamma, settings.gae_lambda, settings.vtrace_rho_clip, settings.vtrace_c_clip
    )  # fmt: skip
    if device.type == "cpu":
        arrays = [part.numpy() for part in parts]
        outputs = experience.advantages.numpy(), experience.priorities.numpy()
        _learner.find_advantages(arrays, rows.numpy(), coefficients, *outputs)
        return
    # PuffeRL's kernel. The CPU computes it if it was not built for the device.
    operator = "pufferlib::compute_puff_advantage"
    is_built = torch._C._dispatch_has_kernel_for_dispatch_key(operator, device.type.upper())
    parts = [part[rows].to(device if is_built else "cpu") for part in parts]
    parts.append(torch.zeros_like(parts[0]))
    torch.ops.pufferlib.compute_puff_advantage(*parts, *coefficients)
    experience.advantages[rows] = parts[-1].to(device)
    experience.priorities[rows] = experience.advantages[rows].abs().sum(dim=1)


def lengthened(
    buffers: Mapping[str, torch.Tensor], rows: int, folder: Path | None = None
) -> dict[str, torch.Tensor]:
    """Returns zeros shaped like the buffers, with additional rows.

    Args:
        buffers: by the names of `GATHERED`.
        rows: to be added.
        folder: where a file is to hold the observations; None: the memory holds them.

    Raises:
        UserError: There is not enough memory, or not enough room in the folder.
    """
    longer = {}
    try:
        for name, buffer in buffers.items():
            shape = (len(buffer) + rows, *buffer.shape[1:])
            if folder is not None and name == "observations":
                longer[name] = _zeros_on_disk(shape, buffer.dtype, folder)
                continue
            options = {"dtype": buffer.dtype, "device": buffer.device}
            longer[name] = torch.zeros(shape, **options, pin_memory=buffer.is_pinned())
        return longer
    except RuntimeError as error:  # every device has its own subclass
        size = rows * sum(buffer[0].nbytes for buffer in buffers.values()) / 2**30
        raise UserError(
            f"experience_buffer.capacity = {rows}: its {size:.1f} GiB cannot be allocated: "
            f"{textwrap.shorten(str(error), 200)}"
        ) from error


def _zeros_on_disk(shape: tuple[int, ...], dtype: torch.dtype, folder: Path) -> torch.Tensor:
    """Returns zeros in a nameless file that is mapped into memory."""
    size = math.prod(shape) * dtype.itemsize
    try:
        with tempfile.TemporaryFile(dir=folder) as file:
            # Without room of its own on a full disk a write to the mapping would kill the process.
            reserve(file.fileno(), size)
            mapped = mmap.mmap(file.fileno(), size)  # outlives the open file
    except OSError as error:
        raise UserError(
            f"experience_buffer.on_disk = True: the folder {folder} has no room for "
            f"{size / 2**30:.1f} GiB: {error.strerror}"
        ) from None
    return torch.frombuffer(mapped, dtype=dtype).view(shape)


def is_warm(settings: ExperienceBufferConfig, size: int) -> bool:
    """True if a buffer of so many segments has enough to draw from."""
    return size >= max(settings.warm_up, 1)


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


OlderDraws = list[tuple[torch.Tensor, torch.Tensor]]  # rows and weights for each minibatch


class Buffer(Protocol):
    """A buffer of older segments, as an update uses it. All rows are those of the experience.

    Attributes:
        size: the number of segments in the buffer.
    """

    size: int

    def draw_rows(
        self, experience: Segments, minibatches: int, count: int, progress: float
    ) -> OlderDraws | None:
        """Draws `count` segments for each minibatch; None: there are too few yet.

        Args:
            experience: in which the segments are, when this returns.
            minibatches: of an update.
            count: segments for each.
            progress: completed part of the run, 0 to 1.
        """
        ...

    def prioritise_rows(self, rows: torch.Tensor, priorities: torch.Tensor) -> None:
        """Sets the priorities of drawn segments."""
        ...

    def keep(self, experience: Segments) -> None:
        """Adds the fresh segments."""
        ...


class ExperienceBuffer:
    """Rows of a ring of segments, in which new ones replace the oldest, and draws from them.

    Args:
        settings: section [experience_buffer].
        device: of row numbers, priorities and weights.
        first: its first row in the experience, after the fresh ones.

    Attributes:
        size: the number of segments in the buffer.
    """

    def __init__(
        self, settings: ExperienceBufferConfig, device: torch.device, first: int = 0
    ) -> None:
        self._settings, self._first = settings, first
        self._priorities = torch.zeros(settings.capacity, device=device)
        self._next = self.size = 0

    def draw_rows(
        self, experience: Segments, minibatches: int, count: int, progress: float
    ) -> OlderDraws | None:
        """As `Buffer.draw_rows`; the segments are in the experience already."""
        if not is_warm(self._settings, self.size):
            return None
        rows, weights = self.draw(minibatches, count, progress)
        return [*zip(self._first + rows, weights[..., None], strict=True)]

    def prioritise_rows(self, rows: torch.Tensor, priorities: torch.Tensor) -> None:
        """Sets the priorities of drawn segments."""
        self.prioritise(rows - self._first, priorities)

    def keep(self, experience: Segments) -> None:
        """Adds the fresh segments."""
        priorities = experience.priorities[: self._first]
        experience.keep(self._first + self.add(priorities))

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
