"""An experience buffer in an actor of a Ray cluster, which outlives the learner.

The actor draws segments by their priorities and sends them to the learner, which needs memory for
one update's draws only. If the learner ends before its run does, the actor remains, and the resumed
run goes on with its segments.
"""

import socket
import sys
import time
from collections.abc import Mapping
from pathlib import Path
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
ATTEMPTS = 5  # to reach the actor, a second apart: Ray forgets a dead actor's name with a delay


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
        torch.set_num_threads(1)
        self._title: object = None
        self._segments: dict[str, np.ndarray] = {}

    def begin(self, title: object, settings: ExperienceBufferConfig, is_resumed: bool) -> int:
        """Begins a stage; returns the number of segments that it goes on with.

        Args:
            title: of the stage, with all that its segments depend on.
            settings: section [experience_buffer].
            is_resumed: False: the segments of an earlier run in the same folder are dropped.
        """
        if not is_resumed or title != self._title:
            self._title, self._segments = title, {}
            self._buffer = ExperienceBuffer(settings, torch.device("cpu"))
        return self._buffer.size

    def add(self, segments: Mapping[str, np.ndarray], priorities: np.ndarray) -> None:
        """Adds segments [n, horizon, ...] with priorities [n]; they replace the oldest."""
        rows = self._buffer.add(torch.tensor(priorities)).numpy()
        for name, values in segments.items():
            if name not in self._segments:
                shape = (self._buffer.rows, *values.shape[1:])
                self._segments[name] = np.zeros(shape, values.dtype)
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
        run: the run's folder, by which the actor is found again.
        title: of the stage, with all that its segments depend on.
        settings: section [experience_buffer].
        is_resumed: True if the run goes on from a checkpoint.
        first: the number of fresh segments, and the first row for drawn ones.
        rows: the most segments that an update draws.
    """

    def __init__(
        self,
        run: Path,
        title: object,
        settings: ExperienceBufferConfig,
        is_resumed: bool,
        first: int,
        rows: int,
    ) -> None:
        self._name = f"{socket.gethostname()}:{run.resolve()}"
        self._title, self._settings, self._first = (__version__, title, settings), settings, first
        self.rows = rows
        self._rows = np.zeros(0, np.int64)  # in the ring, of the segments drawn for this update
        self._begin(is_resumed)
        print(f"experience buffer on the cluster: {self.size} segments from before")

    def draw_rows(
        self, experience: Segments, minibatches: int, count: int, progress: float
    ) -> OlderDraws | None:
        """Draws segments and copies them into the experience; None: there are too few yet."""
        if not is_warm(self._settings, self.size):
            return None
        try:
            drawn: Drawn = ray.get(self._actor.draw.remote(minibatches, count, progress))
        except ray_losses() as error:
            print(
                f"lost the experience buffer, which begins again: {describe_loss(error)}",
                file=sys.stderr,
            )
            self._begin(is_resumed=False)
            return None
        self._rows = drawn.rows
        place = slice(self._first, self._first + len(drawn.rows))
        for name, values in drawn.segments.items():
            kept = getattr(experience, name)
            kept[place] = torch.tensor(values, device=kept.device)
        device = experience.values.device
        rows = torch.tensor(self._first + drawn.places, device=device)
        weights = torch.tensor(drawn.weights, device=device)
        return [*zip(rows, weights[..., None], strict=True)]

    def prioritise_rows(self, rows: torch.Tensor, priorities: torch.Tensor) -> None:
        """Sends the priorities of drawn segments."""
        self._actor.prioritise.remote(
            self._rows[rows.cpu().numpy() - self._first], priorities.cpu().numpy()
        )

    def keep(self, experience: Segments) -> None:
        """Sends the fresh segments."""
        segments = {
            name: tensor[: self._first].cpu().numpy()
            for name, tensor in experience.gathered().items()
        }
        priorities = experience.priorities[: self._first].cpu().numpy()
        self._actor.add.remote(segments, priorities)
        self.size = min(self.size + self._first, self._settings.capacity)

    def end(self) -> None:
        """Ends the actor, at the end of the run."""
        ray.kill(self._actor)

    def _begin(self, is_resumed: bool) -> None:
        """Finds or starts the actor, and begins the stage there.

        Raises:
            ClusterError: The actor cannot be reached.
        """
        for attempt in range(ATTEMPTS):
            options = {"name": self._name, "namespace": NAMESPACE, "lifetime": "detached"}
            remote: Any = ray.remote(num_cpus=0)(BufferActor)
            try:
                self._actor = remote.options(**options, get_if_exists=True).remote()
                begun = self._actor.begin.remote(self._title, self._settings, is_resumed)
                self.size = int(ray.get(begun))  # pyright: ignore[reportArgumentType] - no list
                return
            except ray_losses() as error:
                if attempt == ATTEMPTS - 1:
                    raise ClusterError(
                        f"the experience buffer on the cluster: {describe_loss(error)}"
                    ) from error
                time.sleep(1)
