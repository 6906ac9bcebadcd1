"""Workers of a sweep on a Ray cluster."""

import time
from collections.abc import Sequence
from pathlib import Path

import ray

from midrange_puffer import __version__
from midrange_puffer.sweep.process import Look
from midrange_puffer.sweep.ray_host import Host, NodeError
from midrange_puffer.sweep.record import TRIAL_INI
from midrange_puffer.train.cluster.connect import LostError, describe_loss, ray_losses
from midrange_puffer.train.machine import CORES

GRACE = 3.0  # s, that an actor has to end its trial before it is killed
MOST_LOSSES = 5  # of actors that have not begun, one after another


class RayWorker:
    """Runs trials on any node that has room: it asks for an actor, and for another if that is lost.

    Needs a connection. It does not wait for the cluster but for `GRACE` in `close`: one question at
    a time is under way, and is asked whether it is answered.

    Args:
        cores: that a trial takes.
        command: what Python is to run, with a trial's folder as its last word.
    """

    def __init__(self, cores: int, command: Sequence[str]) -> None:
        self._cores, self._command = cores, command
        self._host: ray.actor.ActorHandle | None = None
        self._question: ray.ObjectRef | None = None
        self._node = ""
        self._losses = 0

    @property
    def seconds(self) -> float:
        """For how long the trial has run [s]."""
        return time.monotonic() - self._began

    def is_free(self) -> bool:
        """Whether it can be given a trial now; it asks for an actor.

        Raises:
            NodeError: No node can have one, or one after another is lost before it has begun.
        """
        if self._host is None:
            actor = ray.remote(num_cpus=self._cores, scheduling_strategy="SPREAD")(Host)
            self._host, self._node = actor.remote(), ""
            self._question = self._host.end.remote()
        try:
            if node := self._answer():
                self._node, self._losses = node, 0
        except LostError as error:
            self._losses += not self._node
            if self._losses == MOST_LOSSES:
                raise NodeError(
                    f"the cluster cannot run trials: {MOST_LOSSES} actors in a row were lost as "
                    f"they began; the last {error}"
                ) from error
        return self._host is not None and self._question is None

    def begin(self, folder: Path) -> None:
        """Run the trial of this folder."""
        self._question = self._host.begin.remote(
            __version__,
            folder,
            (folder / TRIAL_INI).read_bytes(),
            self._command,
            {CORES: str(self._cores)},
        )
        self._began, self._seen = time.monotonic(), Look()

    def look(self) -> Look:
        """See how the trial got on when the actor looked last.

        Raises:
            LostError: The actor is gone, and the trial with it.
            NodeError: The node cannot run trials.
            OSError: The process cannot be started.
        """
        self._seen = self._answer() or self._seen
        if self._question is None and self._seen.code is None:
            self._question = self._host.look.remote()
        return self._seen

    def end(self) -> None:
        """End the trial, if it runs; the worker is free when that is done."""
        if self._host is not None:
            self._question = self._host.end.remote()

    def close(self) -> None:
        """End the actor, if there is one, once it has ended what it was to end."""
        if self._question is not None and self._node:
            ray.wait([self._question], timeout=GRACE)
        if self._host is not None:
            ray.kill(self._host)
        self._host = self._question = None

    def _answer(self) -> object:
        """The answer to the question that is under way, once; None if there is none as yet."""
        if self._question is None or not ray.wait([self._question], timeout=0)[0]:
            return None
        question, self._question = self._question, None
        try:
            return ray.get(question)
        except ray.exceptions.ActorUnavailableError:
            return None  # whether for long, Ray will find out
        except ray_losses() as error:
            self.close()
            if getattr(error, "actor_init_failed", False):
                told = str(error).splitlines()[-1]
                raise NodeError(f"a node of the cluster cannot run trials: {told}") from error
            where = self._node or "its way to a node"
            raise LostError(f"lost on {where}: {describe_loss(error)}") from error
        except ray.exceptions.RayTaskError as error:
            raise error.cause from None


def describe_room(cores: int) -> str:
    """How many trials of so many cores the cluster has room for."""
    nodes = [node["Resources"] for node in ray.nodes() if node["Alive"]]
    room = sum(int(resources.get("CPU", 0) // cores) for resources in nodes)
    waiting = "" if room else "; waiting for a node"
    return f"Ray: nodes {len(nodes)}; cores a trial {cores}; trials at a time {room}{waiting}"
