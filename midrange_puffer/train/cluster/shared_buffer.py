"""An experience buffer in an actor of a Ray cluster, which outlives the learner.

The actor draws segments by their priorities and sends them to the learner, which needs memory for
one update's draws only. If the learner ends before its run does, the actor remains, and the resumed
run goes on with its segments.
"""

import sys
import time
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import ray
import ray.exceptions
import torch

from midrange_puffer import __version__
from midrange_puffer.config.sections import ExperienceBufferConfig
from midrange_puffer.train.cluster.connect import ClusterError, describe_loss, ray_losses
from midrange_puffer.train.experience import ExperienceBuffer, OlderDraws, Segments, is_warm

NAMESPACE = "midrange_puffer"


class Drawn(NamedTuple):
    """Segments that the actor has drawn for an update.

    Attributes:
        rows: of the segments in the ring, each once, int64 [n].
        places: of each draw among these, int64 [minibatches, count].
        weights: importance of each draw, float32 [minibatches, count].
        segments: float32 and int32 [n, horizon, ...] by the names of `experience.GATHERED`.
    """

    rows: np.ndarray
    places: np.ndarray
    weights: np.ndarray
    segments: dict[str, np.ndarray]


class BufferActor:
    """The actor: a ring of segments, of one stage of a run at a time."""

    def __init__(self) -> None:
        self._title: object = None
        self._segments: dict[str, np.ndarray] = {}

    def begin(self, title: object, settings: ExperienceBufferConfig, seed: int) -> int:
        """Begins a stage, or goes on with it; returns the number of segments.

        Args:
            title: all that the segments depend on; those of another title are dropped.
            settings: section [experience_buffer].
            seed: of the draws.
        """
        torch.set_num_threads(1)
        torch.manual_seed(seed)
        if title != self._title:
            self._title, self._segments, self._settings = title, {}, settings
            self._buffer = ExperienceBuffer(settings, torch.device("cpu"))
        return self._buffer.size

    def add(self, segments: Mapping[str, np.ndarray], priorities: np.ndarray) -> None:
        """Adds segments [n, horizon, ...] with priorities [n]; they replace the oldest."""
        if not self._segments:
            self._segments = {
                name: np.zeros((self._settings.capacity, *values.shape[1:]), values.dtype)
                for name, values in segments.items()
            }
        rows = self._buffer.add(torch.tensor(priorities)).numpy()
        for name, values in segments.items():
            self._segments[name][rows] = values

    def draw(self, minibatches: int, count: int, progress: float) -> Drawn:
        """Draws segments, as `ExperienceBuffer.draw`."""
        rows, weights = self._buffer.draw(minibatches, count, progress)
        once, places = rows.unique(return_inverse=True)
        segments = {name: kept[once.numpy()] for name, kept in self._segments.items()}
        return Drawn(once.numpy(), places.numpy(), weights.numpy(), segments)

    def prioritise(self, rows: np.ndarray, priorities: np.ndarray) -> None:
        """Sets the priorities [n] of segments in these rows [n]."""
        self._buffer.prioritise(torch.tensor(rows), torch.tensor(priorities))


class SharedBuffer:
    """The learner's side of a buffer on the cluster; see `experience.Buffer`.

    If the actor is lost, a new and empty one takes its place.

    Args:
        name: of the actor.
        title: all that the segments of this stage depend on.
        settings: section [experience_buffer].
        first: the number of fresh segments. Drawn ones are written into the rows after them.
        seed: of the draws.
        patience: how long an actor is tried again that cannot be reached [s].

    Attributes:
        size: the number of segments in the buffer.

    Raises:
        ClusterError: The actor cannot be reached, or has failed.
    """

    def __init__(
        self,
        name: str,
        title: object,
        settings: ExperienceBufferConfig,
        first: int,
        seed: int,
        patience: float,
    ) -> None:
        self._name, self._title = name, (__version__, title, settings)
        self._settings, self._first, self._seed = settings, first, seed
        self._patience = patience
        self._rows = np.zeros(0, np.int64)  # in the ring, of the segments drawn for this update
        self._sent: list[Any] = []  # references to calls whose ends were not awaited
        self._begin()

    def draw_rows(
        self, experience: Segments, minibatches: int, count: int, progress: float
    ) -> OlderDraws | None:
        """Draws segments and copies them into the experience; None: there are too few yet."""
        if not is_warm(self._settings, self.size):
            return None
        try:
            calls = [*self._sent, self._actor.draw.remote(minibatches, count, progress)]
            *_, drawn = ray.get(calls)
        except ray_losses() as error:
            print(f"cannot reach the experience buffer: {describe_loss(error)}", file=sys.stderr)
            self._begin()
            return None
        except ray.exceptions.RayTaskError as error:
            raise ClusterError(f"the experience buffer on the cluster: {error.cause}") from error
        self._sent, self._rows = [], drawn.rows
        place = slice(self._first, self._first + len(drawn.rows))
        for name, values in drawn.segments.items():
            kept = getattr(experience, name)
            kept[place] = torch.tensor(values, device=kept.device)
        device = experience.values.device
        rows = torch.tensor(self._first + drawn.places, device=device)
        weights = torch.tensor(drawn.weights, device=device)
        return [*zip(rows, weights[..., None], strict=True)]

    def prioritise_rows(self, rows: torch.Tensor, priorities: torch.Tensor) -> None:
        """Does nothing: `keep` sends the priorities, which are in the experience."""

    def keep(self, experience: Segments) -> None:
        """Sends the priorities of drawn segments, and the fresh segments."""
        count = self._first + len(self._rows)
        priorities = experience.priorities[:count].cpu().numpy()
        if len(self._rows):
            drawn = self._actor.prioritise.remote(self._rows, priorities[self._first :])
            self._sent.append(drawn)
            self._rows = self._rows[:0]
        segments = {
            name: tensor[: self._first].cpu().numpy()
            for name, tensor in experience.gathered().items()
        }
        self._sent.append(self._actor.add.remote(segments, priorities[: self._first]))
        self.size = min(self.size + self._first, self._settings.capacity)

    def end(self) -> None:
        """Ends the actor, at the end of the run."""
        ray.kill(self._actor)

    def _begin(self) -> None:
        """Finds or starts the actor, and begins the stage there.

        Ray may take long to notice that a machine is silent, and forgets a dead actor's name with a
        delay.

        Raises:
            ClusterError: The actor cannot be reached in time.
        """
        latest = None
        self._sent, self._rows = [], self._rows[:0]
        options = {"name": self._name, "namespace": NAMESPACE, "lifetime": "detached"}
        remote: Any = ray.remote(num_cpus=0)(BufferActor)
        while True:
            try:
                self._actor = remote.options(**options, get_if_exists=True).remote()
                begun = self._actor.begin.remote(self._title, self._settings, self._seed)
                self.size = int(ray.get(begun))  # pyright: ignore[reportArgumentType] - no list
            except ray_losses() as error:
                latest = latest or time.monotonic() + self._patience
                if time.monotonic() > latest:
                    raise ClusterError(
                        f"the experience buffer on the cluster: {describe_loss(error)}"
                    ) from error
                time.sleep(1)
            else:
                print(f"experience buffer on the cluster: {self.size} segments from before")
                return
