"""The collectors of a run: given work that does not become too old, and replaced when lost."""

import math
import sys
import time
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import torch

from midrange_puffer.config.configuration import Config
from midrange_puffer.config.machine import updates_ahead
from midrange_puffer.train.cluster.actors import VERSIONS, RayActors, RemoteCollector
from midrange_puffer.train.cluster.collector import Rollout
from midrange_puffer.train.cluster.connect import ClusterError, LostError
from midrange_puffer.train.cluster.pool_mirror import PoolSender
from midrange_puffer.train.stop_signals import StoppedError

POLL = 1.0  # s from one look at the clock to the next, while nothing comes
MOST_LOSSES = 5  # in one place, one after another, before a rollout came
CLOSE_TIMEOUT = 5.0  # s


@dataclass
class Job:
    """A rollout that is asked for.

    Attributes:
        reference: to the rollout, until it is taken.
        number: in the order of asking.
        version: of the weights that it is to be made with.
        rollout: once it is taken.
    """

    reference: object
    number: int
    version: int
    rollout: Rollout | None = None


@dataclass
class _Place:
    """A place for a collector, taken by one after another where they are lost.

    Attributes:
        actor: the present one.
        readiness: reference to its word that it has begun the stage; None: it has.
        jobs: that it has been given and that are not yet taken, in their order.
        deadline: when it is given up unless what is awaited has come [s]; infinity: no core has
            been found for it as yet.
        losses: since a rollout came.
    """

    actor: object
    readiness: object | None = None
    jobs: deque[Job] = field(default_factory=deque)
    deadline: float = math.inf
    losses: int = 0

    @property
    def is_at_work(self) -> bool:
        """Whether it has a core."""
        return self.deadline < math.inf

    @property
    def awaited(self) -> object | None:
        """Reference to what comes from it next, if anything."""
        if self.readiness is not None:
            return self.readiness
        return self.jobs[0].reference if self.jobs else None


class Collectors:
    """As many collectors as there are cores for, up to cluster.max_collectors.

    All are asked for at once; Ray starts those that it has a core for, and the others when a node
    joins. One that is lost is replaced by one with other engagements. Work is dealt to who has
    least of it: blocking, what the update still needs, all of it from the present weights; else
    also what the next update needs, or more where that is too little for all, so that they collect
    while the learner learns. If all are about as fast, what is learnt from is then no older than
    cluster.max_policy_lag; what is, is dropped.

    Blocking runs repeat themselves where as many collectors work, from the first to the last
    update.

    Args:
        cluster: section [cluster].
        actors: who runs them.
        is_stopping: whether the run is to stop.

    Attributes:
        version: of the weights that they are given; None: of none in this stage.
        lost: how many collectors have been.
        dropped: rollouts that were too old to learn from.
    """

    def __init__(
        self, cluster: Mapping[str, object], actors: RayActors, is_stopping: Callable[[], bool]
    ) -> None:
        self._cluster, self._actors, self._is_stopping = cluster, actors, is_stopping
        self._blocking, self._timeout = cluster["sync"] == "blocking", cluster["timeout"]
        self._max_lag = 0 if self._blocking else cluster["max_policy_lag"]
        self.version: int | None = None
        self.lost = self.dropped = 0
        self._given = 0
        self._expected = min(actors.room(), cluster["max_collectors"] if self._blocking else 1)
        self._places = [_Place(actors.start()) for _ in range(cluster["max_collectors"])]
        self._announced = 0

    @property
    def at_work(self) -> int:
        """How many have a core."""
        return sum(place.is_at_work for place in self._places)

    @property
    def _ready(self) -> list[_Place]:
        """Those that can be given work."""
        return [place for place in self._places if place.readiness is None]

    def begin(self, config: Config, count: int, seed: int, pool: Path | None) -> None:
        """Let all begin a stage; what they still do for the one before is forgotten.

        Args:
            config: of the run as it is in the stage.
            count: rollouts of an update.
            seed: from which each draws its own.
            pool: the file of the pool, where env.opponent has one.
        """
        self.version = None
        self._count, self._seeds = count, np.random.SeedSequence(seed)
        self._config = self._actors.put(config)
        self._sender = PoolSender(pool, self._actors.put) if pool else None
        self._pool = self._send_pool()
        self._ahead = updates_ahead(self._cluster, count)
        if self._blocking:
            self._expected = max(self._expected, self.at_work)
        for place in self._places:
            if place.is_at_work:  # it has still to do what it has been given
                place.deadline = time.monotonic() + (len(place.jobs) + 1) * self._timeout
            self._begin_place(place)

    def broadcast(self, weights: dict[str, torch.Tensor], version: int) -> None:
        """Ask for rollouts with these weights, tensors on the CPU, and this pool from now on."""
        self._weights, self.version = self._actors.put(weights), version
        self._pool = self._send_pool()

    def take(self, version: int) -> list[Job]:
        """Wait for the rollouts of an update, the learner's weights being of this version.

        Raises:
            StoppedError: The run is to stop, and nobody is ready to finish the update.
        """
        self._assemble()
        taken: list[Job] = []
        while (missing := self._count - len(taken)) > 0:
            if self._is_stopping() and not self._ready:
                raise StoppedError("stopped while no collector was at work")
            self._deal(missing)
            taken += [job for job in self._finished(missing) if self._is_fresh(job, version)]
        self._deal(0)
        return sorted(taken, key=lambda job: job.number)

    def close(self) -> None:
        """End all of them."""
        closing = {
            self._actors.call(place.actor, RemoteCollector.close)
            for place in self._places
            if place.is_at_work
        }
        latest = time.monotonic() + CLOSE_TIMEOUT
        while closing and (left := latest - time.monotonic()) > 0:
            closing -= set(self._actors.wait(list(closing), left))
        for place in self._places:
            self._actors.kill(place.actor)

    def _assemble(self) -> None:
        """Wait for somebody; at first, if blocking, for all, so that chance has no part in it."""
        latest = time.monotonic() + self._timeout
        while len(self._ready) < self._expected and time.monotonic() < latest:
            if self._is_stopping():
                return
            self._finished(0)
        self._expected = 1
        if not self.at_work:
            print("no collector is at work yet; has the cluster free cores?", file=sys.stderr)

    def _deal(self, missing: int) -> None:
        """Ask for what the present update still misses, and for what is wanted ahead.

        Work that lies with a collector while it does other work becomes old. If blocking there is
        no harm in that, and else only so much of it as the next update needs is left to them while
        the learner learns, when nobody could give them any.
        """
        ready = self._ready
        wanted = missing + self._ahead * self._count
        spare = 0 if missing else self._count
        queued = missing if self._blocking else spare
        given = sum(len(place.jobs) for place in ready)
        while ready and given < wanted:
            place = min(ready, key=lambda place: len(place.jobs))
            if place.jobs and given >= queued:
                break
            self._give(place)
            given += 1

    def _give(self, place: _Place) -> None:
        reference = self._actors.call(
            place.actor, RemoteCollector.collect, self._weights, self._pool
        )
        if not place.jobs:
            place.deadline = time.monotonic() + self._timeout
        place.jobs.append(Job(reference, self._given, self.version))
        self._given += 1

    def _finished(self, most: int) -> list[Job]:
        """See who has become ready, finished a job or been lost; return at most so many jobs."""
        # The oldest work first.
        places = sorted(self._places, key=lambda place: place.jobs[0].number if place.jobs else -1)
        awaited = {place.awaited: place for place in places if place.awaited is not None}
        here = set(self._actors.wait(list(awaited), POLL))
        jobs: list[Job] = []
        for reference, place in awaited.items():
            if reference in here:
                if place.readiness is not None or len(jobs) < most:
                    jobs += self._accept(place)
            elif time.monotonic() > place.deadline:
                said = f"it has taken more than cluster.timeout = {self._timeout:g} s"
                self._replace(place, said)
        if self.at_work != self._announced:
            self._announced = self.at_work
            print(f"collectors at work: {self.at_work} of {len(self._places)}", flush=True)
        return jobs

    def _accept(self, place: _Place) -> list[Job]:
        """What has come from a collector: a job, or word that it is ready or lost."""
        try:
            result = self._actors.get(place.awaited)
        except LostError as error:
            self._replace(place, str(error))
            return []
        place.deadline = time.monotonic() + self._timeout
        if place.readiness is not None:
            place.readiness = None
            return []
        place.losses = 0
        job = place.jobs.popleft()
        job.rollout = result
        return [job]

    def _is_fresh(self, job: Job, version: int) -> bool:
        is_fresh = version - job.version <= self._max_lag
        self.dropped += not is_fresh
        return is_fresh

    def _replace(self, place: _Place, reason: str) -> None:
        """Give up a collector, with all that it has not delivered, and ask for another one."""
        self.lost += 1
        place.losses += 1
        print(f"lost a collector: {reason}", file=sys.stderr)
        self._actors.kill(place.actor)
        if place.losses == MOST_LOSSES:
            raise ClusterError(
                f"{MOST_LOSSES} collectors one after another were lost before a rollout came; "
                f"the last: {reason}"
            )
        place.actor, place.deadline = self._actors.start(), math.inf
        self._begin_place(place)

    def _begin_place(self, place: _Place) -> None:
        seed = int(self._seeds.spawn(1)[0].generate_state(1)[0] >> 1)
        place.jobs.clear()
        place.readiness = self._actors.call(
            place.actor, RemoteCollector.begin, VERSIONS, self._config, seed, self._pool
        )

    def _send_pool(self) -> object | None:
        return self._actors.put(self._sender.files()) if self._sender else None
