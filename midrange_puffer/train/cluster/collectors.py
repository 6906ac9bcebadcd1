"""The collectors of a run: jobs are dealt so that rollouts are fresh; lost ones are replaced."""

import math
import sys
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import torch

from midrange_puffer.config.configuration import Config
from midrange_puffer.config.machine import updates_ahead
from midrange_puffer.config.sections import ClusterConfig
from midrange_puffer.train.cluster.collector import (
    VERSIONS,
    PoolSender,
    RayActors,
    RemoteCollector,
    Rollout,
)
from midrange_puffer.train.cluster.connect import ClusterError, LostError
from midrange_puffer.train.stop_signals import StoppedError

POLL = 1.0  # s between two looks at the deadlines, while nothing comes
MOST_LOSSES = 5  # in one place, one after another, without a rollout
CLOSE_TIMEOUT = 5.0  # s


@dataclass
class Job:
    """A requested rollout.

    Attributes:
        reference: to the rollout.
        number: in the order of requests.
        version: of the weights for it.
        received: the rollout, or None until it is received.
    """

    reference: Any
    number: int
    version: int
    received: Rollout | None = None

    @property
    def rollout(self) -> Rollout:
        """The rollout, which must have been received."""
        assert self.received is not None
        return self.received


@dataclass
class _Place:
    """A place for a collector; a lost collector is replaced in its place.

    Attributes:
        actor: the present collector.
        readiness: reference to its answer that it has begun the stage; None: it has answered.
        jobs: given to it and not yet received, in their order.
        deadline: time at which it is given up unless the awaited result has come [s]; infinity: it
            has no core yet.
        losses: since the last rollout.
    """

    actor: object
    readiness: object | None = None
    jobs: deque[Job] = field(default_factory=deque)
    deadline: float = math.inf
    losses: int = 0

    @property
    def is_at_work(self) -> bool:
        """True if it has a core."""
        return self.deadline < math.inf

    @property
    def awaited(self) -> object | None:
        """The reference to its next result, if any."""
        if self.readiness is not None:
            return self.readiness
        return self.jobs[0].reference if self.jobs else None


class Collectors:
    """The collectors of a run: one for each free core, up to cluster.max_collectors.

    All are requested at once. Ray starts those that it has a core for, and the others when a node
    joins. A lost collector is replaced by one with other engagements.

    A job goes to the collector with the fewest jobs.

    * Blocking: jobs are the rollouts that the update still misses, all with the present weights. A
      run repeats exactly if the same number of collectors works throughout.
    * Non-blocking: jobs are also the rollouts of the next update, or more if these are too few for
      all collectors, so that they collect while the learner learns. Rollouts older than
      cluster.max_policy_lag are dropped; if collectors are about equally fast, there are none.

    Args:
        cluster: section [cluster].
        actors: the calls to Ray.
        is_stopping: returns True if the run is to stop.

    Attributes:
        version: of the last weights sent; None: none in this stage.
        lost: number of collectors lost.
        dropped: number of rollouts that were too old.
    """

    def __init__(
        self, cluster: ClusterConfig, actors: RayActors, is_stopping: Callable[[], bool]
    ) -> None:
        self._cluster, self._actors, self._is_stopping = cluster, actors, is_stopping
        self._blocking, self._timeout = cluster.sync == "blocking", cluster.timeout
        self._max_lag = 0 if self._blocking else cluster.max_policy_lag
        self.version: int | None = None
        self.lost = self.dropped = 0
        self._given = 0
        self._expected = min(actors.room(), cluster.max_collectors if self._blocking else 1)
        self._places = [_Place(actors.start()) for _ in range(cluster.max_collectors)]
        self._announced = 0

    @property
    def at_work(self) -> int:
        """The number of collectors with a core."""
        return sum(place.is_at_work for place in self._places)

    @property
    def _ready(self) -> list[_Place]:
        """The places that can be given jobs."""
        return [place for place in self._places if place.readiness is None]

    def begin(self, config: Config, count: int, seed: int, pool: Path | None) -> None:
        """Begins a stage in all collectors; their jobs of the previous stage are dropped.

        Args:
            config: of the stage.
            count: rollouts of an update.
            seed: of the collectors' own seeds.
            pool: the pool's file, if env.opponent has a pool.
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
            if place.is_at_work:  # its jobs must finish first
                place.deadline = time.monotonic() + (len(place.jobs) + 1) * self._timeout
            self._begin_place(place)

    def broadcast(self, weights: dict[str, torch.Tensor], version: int) -> None:
        """Sends weights, tensors on the CPU, and the present pool for the jobs from now on."""
        self._weights, self.version = self._actors.put(weights), version
        self._pool = self._send_pool()

    def take(self, version: int) -> list[Job]:
        """Waits for the rollouts of an update; `version` is of the learner's weights.

        Raises:
            StoppedError: The run is to stop, and no collector is ready to finish the update.
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
        """Ends all collectors."""
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
        """Waits for a ready collector, or at the start of a blocking run for all of them."""
        latest = time.monotonic() + self._timeout
        while len(self._ready) < self._expected and time.monotonic() < latest:
            if self._is_stopping():
                return
            self._finished(0)
        self._expected = 1
        if not self.at_work:
            print("no collector is at work yet; does the cluster have free cores?", file=sys.stderr)

    def _deal(self, missing: int) -> None:
        """Gives jobs for the present update's missing rollouts, and for those gathered ahead.

        A queued job gets old weights. In blocking runs that does not matter, since the weights do
        not change. In other runs a collector gets a second job only for the time when the learner
        learns and cannot give jobs, and only as many as the next update needs.
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
        assert self.version is not None  # as weights come before work
        reference = self._actors.call(
            place.actor, RemoteCollector.collect, self._weights, self._pool
        )
        if not place.jobs:
            place.deadline = time.monotonic() + self._timeout
        place.jobs.append(Job(reference, self._given, self.version))
        self._given += 1

    def _finished(self, most: int) -> list[Job]:
        """Handles ready, finished and lost collectors; returns at most `most` finished jobs."""
        # The oldest jobs first.
        places = sorted(self._places, key=lambda place: place.jobs[0].number if place.jobs else -1)
        awaited = {place.awaited: place for place in places if place.awaited is not None}
        here = set(self._actors.wait(list(awaited), POLL))
        jobs: list[Job] = []
        for reference, place in awaited.items():
            if reference in here:
                if place.readiness is not None or len(jobs) < most:
                    jobs += self._accept(place)
            elif time.monotonic() > place.deadline:
                reason = f"it has taken more than cluster.timeout = {self._timeout:g} s"
                self._replace(place, reason)
        if self.at_work != self._announced:
            self._announced = self.at_work
            print(f"collectors at work: {self.at_work} of {len(self._places)}", flush=True)
        return jobs

    def _accept(self, place: _Place) -> list[Job]:
        """Receives a collector's result; returns the finished job, or none if ready or lost."""
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
        job.received = result
        return [job]

    def _is_fresh(self, job: Job, version: int) -> bool:
        is_fresh = version - job.version <= self._max_lag
        self.dropped += not is_fresh
        return is_fresh

    def _replace(self, place: _Place, reason: str) -> None:
        """Gives up a collector with its unfinished jobs, and requests another one."""
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
