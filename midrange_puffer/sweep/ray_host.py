"""Where a worker on Ray runs its trials: an actor on some node, which imports little."""

import signal
import socket
from collections.abc import Mapping, Sequence
from pathlib import Path

from midrange_puffer import __version__
from midrange_puffer.errors import UserError
from midrange_puffer.sweep.process import Look, TrialProcess
from midrange_puffer.sweep.record import TRIAL_INI
from midrange_puffer.train.cluster.connect import LostError

PATIENCE = 1.0  # s, that one look waits for the end of a trial


class NodeError(UserError):
    """A node of the cluster cannot run trials."""


class Host:
    """Runs the process of one trial after another on its node.

    The process ends with the actor, however that ends: see `TrialProcess`.
    """

    def __init__(self) -> None:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the sweep's
        self._process: TrialProcess | None = None

    def begin(
        self,
        version: str,
        folder: Path,
        trial_ini: bytes,
        command: Sequence[str],
        variables: Mapping[str, str],
    ) -> Look:
        """Begin a trial.

        Args:
            version: the sweep's `__version__`.
            folder: the trial's.
            trial_ini: what its trial.ini is.
            command: what Python is to run, with `folder` as its last word.
            variables: of its environment, beside this process's.

        Raises:
            NodeError: This node has another version, or does not see the sweep's folder.
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
        self.end()  # the worker may not have got through with that
        self._process = TrialProcess(command, folder, variables=variables)
        return Look()

    def look(self) -> Look:
        """See how the trial gets on, once it has ended or after a while.

        Raises:
            LostError: It has never begun.
        """
        if self._process is None:
            raise LostError(f"lost on its way to {socket.gethostname()}")
        return self._process.look(PATIENCE)

    def end(self) -> str:
        """End the trial, if there is one; return the node's name."""
        if self._process:
            self._process.close()
        self._process = None
        return socket.gethostname()
