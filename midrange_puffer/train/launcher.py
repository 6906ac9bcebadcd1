"""Ranks of a job on this machine, started without anything that listens beyond it.

torchrun's own store listens on all interfaces, and torch executes what is sent to it. Here the
launcher and its ranks, which are torch's all the same, find each other by files in a folder that
nobody else can open, and talk over the loopback interface.
"""

import contextlib
import os
import signal
import socket
import sys
import tempfile
import threading
import time
import uuid
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import psutil
from torch import distributed

from midrange_puffer.errors import UserError
from midrange_puffer.train.own_folder import OwnFolder

LOOPBACK = "127.0.0.1"
# What the launcher tells its ranks: where they find each other, and the id of its process.
FOLDER, PROCESS = "MIDRANGE_RANKS_FOLDER", "MIDRANGE_RANKS_LAUNCHER"
POLL = 1.0  # s, from one look at the launcher to the next
# What a rank whose launcher is gone has for its update and a checkpoint, in s, as from torchrun.
GRACE = 30.0


class FailedRankError(UserError):
    """A rank was killed, and could not say so itself."""


def launch(words: Sequence[str], count: int, max_restarts: int = 0) -> int:
    """Run `puffer` with these words in so many ranks of this machine; return the exit status.

    Args:
        words: of the command line, from the mode on.
        count: of the ranks.
        max_restarts: how often all ranks are started anew after one has failed.

    Raises:
        FailedRankError: A rank was killed, and there is no restart left.
    """
    # They take a while, which only a launcher needs.
    from torch.distributed.elastic.multiprocessing import DefaultLogsSpecs, SignalException
    from torch.distributed.elastic.multiprocessing.errors import ChildFailedError
    from torch.distributed.launcher.api import LaunchConfig, launch_agent

    with closing(OwnFolder("midrange-ranks-", tempfile.gettempdir())) as folder:
        os.environ.update(_environment(folder.path))
        config = LaunchConfig(
            min_nodes=1,
            max_nodes=1,
            nproc_per_node=count,
            run_id=uuid.uuid4().hex,
            rdzv_backend="c10d",
            rdzv_configs={"store_type": "file"},
            rdzv_endpoint=str(folder.path / "rendezvous"),
            local_addr=LOOPBACK,
            max_restarts=max_restarts,
            logs_specs=DefaultLogsSpecs(str(folder.path / "logs")),
        )
        try:
            launch_agent(config, sys.executable, ["-u", "-m", "midrange_puffer", *words])
        except SignalException as error:
            return 128 + error.sigval
        except ChildFailedError as error:
            rank, failure = error.get_first_failure()
            if failure.exitcode > 0:  # it has said why
                return failure.exitcode
            name = signal.Signals(-failure.exitcode).name
            raise FailedRankError(f"rank {rank} was ended by {name}") from None
    return 0


def _environment(folder: Path) -> dict[str, str]:
    """What the launcher and its ranks go by, beside what is set already."""
    loopback = next(
        name
        for name, addresses in psutil.net_if_addrs().items()
        if any((one.family, one.address) == (socket.AF_INET, LOOPBACK) for one in addresses)
    )
    return {
        FOLDER: str(folder),
        PROCESS: str(os.getpid()),
        "TORCH_DISABLE_SHARE_RDZV_TCP_STORE": "1",  # which the launcher would serve on a port
        "GLOO_SOCKET_IFNAME": loopback,
        "NCCL_SOCKET_IFNAME": f"={loopback}",  # this very name
        "OMP_NUM_THREADS": os.environ.get("OMP_NUM_THREADS", "1"),  # as of torchrun
    }


def store(attempt: int, count: int) -> distributed.Store | None:
    """Where the ranks of `launch` find each other; None: torchrun has launched this one.

    Args:
        attempt: how often the ranks were started anew; each time they find each other anew.
        count: of the ranks.
    """
    if FOLDER not in os.environ:
        return None
    return distributed.FileStore(str(Path(os.environ[FOLDER], f"attempt-{attempt}")), count)


def end_with_launcher() -> None:
    """Stop this rank soon after its launcher, or torchrun, is gone without having ended it."""
    process = int(os.environ.get(PROCESS, os.getppid()))
    threading.Thread(target=_watch, args=(process,), daemon=True).start()


def _watch(launcher: int) -> None:
    while os.getppid() == launcher:
        time.sleep(POLL)
    if os.environ["LOCAL_RANK"] == "0":
        with contextlib.suppress(OSError):  # the terminal may be gone, too
            os.write(2, b"puffer: the launcher of the ranks is gone; stopping after this update\n")
    else:
        time.sleep(2 * POLL)  # the first has said so by then, and stops all, if it still lives
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(GRACE)
    os.kill(os.getpid(), signal.SIGKILL)
