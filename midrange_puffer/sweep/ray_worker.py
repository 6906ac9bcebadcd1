"""Workers of a sweep on a Ray cluster: an actor on any node runs the process of a trial."""

import signal
import socket
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import ray
import ray.exceptions

from midrange_puffer import __version__
from midrange_puffer.errors import UserError
from midrange_puffer.sweep.record import TRIAL_INI
from midrange_puffer.sweep.workers import ProcessState, TrialProcess
from midrange_puffer.train.cluster.connect import LostError, describe_loss, ray_losses
from midrange_puffer.train.machine import CORES

PATIENCE = 1.0  # longest wait of a `look` for the end of a trial [s]
GRACE = 3.0  # time for an actor to end its trial, before it is killed [s]
MOST_LOSSES = 5  # actors lost in a row, before their trial began, that end the sweep


class NodeError(UserError):
    """A node of the cluster on which trials cannot run."""


class Host:
    """An actor that runs the processes of trials on its node, one after another.

    The process ends with the actor, also if the actor is killed: see `TrialProcess`.
    """

    def __init__(self) -> None:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the sweep's process only
        self._process: TrialProcess | None = None

    def begin(
        self,
        version: str,
        folder: Path,
        trial_ini: bytes,
        command: Sequence[str],
        variables: Mapping[str, str],
    ) -> ProcessState:
        """Starts a trial.

        Args:
            version: `__version__` of the sweep's process.
            folder: the trial's folder.
            trial_ini: content of its trial.ini.
            command: arguments of Python, before `folder`.
            variables: environment variables, in addition to those of this process.

        Raises:
            NodeError: This node has another version of the package, or cannot see the sweep's
                folder.
            OSError: The process cannot be started.
        """
        node, path = f"{socket.gethostname()}, a node of the cluster,", folder / TRIAL_INI
        if version != __version__:
            raise NodeError(
                f"{node} has version {__version__} of midrange_puffer, the sweep's {version}: "
                f"install the same on all"
            )
        if not path.is_file() or path.read_bytes() != trial_ini:
            raise NodeError(
                f"{node} does not see {path}; with sweep.engine = ray all nodes must share the "
                f"folder train.data_dir"
            )
        self.end()  # the worker's request to end the last trial may have been lost
        self._process = TrialProcess(command, folder, variables=variables)
        return ProcessState()

    def look(self) -> ProcessState:
        """Returns the state of the trial, when it ends or after `PATIENCE` at the latest.

        Raises:
            LostError: No trial has begun.
        """
        if self._process is None:
            raise LostError(f"lost on its way to {socket.gethostname()}")
        return self._process.look(PATIENCE)

    def end(self) -> str:
        """Ends the trial if there is one; returns the node's name."""
        if self._process:
            self._process.close()
        self._process = None
        return socket.gethostname()


class RayWorker:
    """A worker on any node with room. It requests an actor, and another one if that is lost.

    It needs a connection to Ray. Only `close` waits for the cluster, for at most `GRACE`. All other
    methods have one request pending at a time and poll its answer.

    Args:
        cores: number of cores that a trial uses.
        command: arguments of Python, before a trial's folder.
    """

    def __init__(self, cores: int, command: Sequence[str]) -> None:
        self._cores, self._command = cores, command
        self._host: Any = None  # handle of a Host actor
        self._request: ray.ObjectRef | None = None
        self._node = ""
        self._losses = 0

    @property
    def seconds(self) -> float:
        """Time for which the trial has run [s]."""
        return time.monotonic() - self._began

    def is_free(self) -> bool:
        """True if the worker can take a trial now; requests an actor if there is none.

        Raises:
            NodeError: No node has room for an actor, or several actors in a row were lost before
                their trial began.
        """
        if self._host is None:
            actor = ray.remote(num_cpus=self._cores, scheduling_strategy="SPREAD")(Host)
            self._host, self._node = actor.remote(), ""
            self._request = self._host.end.remote()
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
        return self._host is not None and self._request is None

    def begin(self, folder: Path) -> None:
        """Starts the trial of this folder."""
        self._request = self._host.begin.remote(
            __version__,
            folder,
            (folder / TRIAL_INI).read_bytes(),
            self._command,
            {CORES: str(self._cores)},
        )
        self._began, self._seen = time.monotonic(), ProcessState()

    def look(self) -> ProcessState:
        """Returns the state of the trial at the actor's last look.

        Raises:
            LostError: The actor is lost, and the trial with it.
            NodeError: Trials cannot run on the node.
            OSError: The process cannot be started.
        """
        self._seen = self._answer() or self._seen
        if self._request is None and self._seen.code is None:
            self._request = self._host.look.remote()
        return self._seen

    def end(self) -> None:
        """Ends the trial if it runs; the worker is then free."""
        if self._host is not None:
            self._request = self._host.end.remote()

    def close(self) -> None:
        """Ends the actor if there is one, after the answer to its pending request."""
        if self._request is not None and self._node:
            ray.wait([self._request], timeout=GRACE)
        if self._host is not None:
            ray.kill(self._host)
        self._host = self._request = None

    def _answer(self) -> Any:
        """Returns the answer to the pending request once it has come; None before."""
        if self._request is None or not ray.wait([self._request], timeout=0)[0]:
            return None
        request, self._request = self._request, None
        try:
            return ray.get(request)
        except ray.exceptions.ActorUnavailableError:
            return None  # not lost for certain: Ray will raise an error if it is
        except ray_losses() as error:
            self.close()
            if getattr(error, "actor_init_failed", False):
                reason = str(error).splitlines()[-1]
                raise NodeError(f"a node of the cluster cannot run trials: {reason}") from error
            where = self._node or "its way to a node"
            raise LostError(f"lost on {where}: {describe_loss(error)}") from error
        except ray.exceptions.RayTaskError as error:
            raise error.cause from None


def describe_room(cores: int) -> str:
    """Returns in words for how many trials, with so many cores each, the cluster has room."""
    nodes = [node["Resources"] for node in ray.nodes() if node["Alive"]]
    room = sum(int(resources.get("CPU", 0) // cores) for resources in nodes)
    waiting = "" if room else "; waiting for a node"
    return f"Ray: nodes {len(nodes)}; cores a trial {cores}; trials at a time {room}{waiting}"
