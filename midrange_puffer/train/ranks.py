"""The ranks of a job, learners side by side with equal weights, and their launcher.

Every rank has its own environments and learns from its own experience. The ranks share the
gradient, averaged at each optimizer step, and common decisions and counts. Only rank 0 writes and
prints. Without a launcher there is one rank, and the functions here do nothing.

`--ranks` starts them with `launch`, on this machine. torchrun's own store listens on all
interfaces, and torch executes what is sent there. So the launcher and its ranks find each other by
files in a private folder, and talk over the loopback interface. Otherwise they are torch's.

With torchrun the number of machines is fixed: a change under --nnodes MIN:MAX counts as a failure,
since torchrun does not inform its workers of the restart that it makes then.
"""

import contextlib
import gc
import os
import signal
import socket
import sys
import tempfile
import threading
import time
import traceback
import uuid
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from datetime import timedelta
from pathlib import Path
from typing import Any, TypeVar

import psutil
import torch

# Imported before there is a process group: it keeps a group that exists at its import from ending.
import torch.distributed.nn
from torch import distributed
from torch.nn.parallel import DistributedDataParallel

from midrange_puffer.errors import UserError
from midrange_puffer.system import LOOPBACK
from midrange_puffer.train.own_folder import OwnFolder

Value = TypeVar("Value")

# s that a rank waits for the launcher to end it after another rank has failed: only that rank has
# an error to report. A rank that still runs then has only lost the connection.
END_WAIT = 10.0

# How long a rank waits for the others, one of which may be rating. The launcher ends all ranks when
# one is gone, so this is for failures that it does not see.
PATIENCE = timedelta(hours=6)

UNNAMED = "none"  # torchrun's --rdzv-id by default
# Environment variables of ranks: the folder where they find each other, the launcher's process.
FOLDER, PROCESS = "MIDRANGE_RANKS_FOLDER", "MIDRANGE_RANKS_LAUNCHER"
POLL = 1.0  # s between two looks at the launcher
# s that a rank whose launcher is gone has for its update and a checkpoint, as with torchrun.
GRACE = 30.0


class FailedRankError(UserError):
    """A rank was killed, and could not report it itself."""


class LostRanksError(UserError):
    """The other ranks can no longer be reached."""


class SharedPolicy(DistributedDataParallel):
    """A policy that starts with rank 0's weights and averages its gradients over the ranks.

    `forward_eval` is not part of learning, and remains the policy's own.
    """

    def __init__(self, policy: torch.nn.Module) -> None:
        super().__init__(policy)
        self.forward_eval = policy.forward_eval


@contextlib.contextmanager
def joined() -> Iterator[None]:
    """Joins the ranks of the job that --ranks or torchrun has launched, if there is one.

    Tensors on the CPU are exchanged by gloo, those on CUDA by nccl. An error ends this process
    without a message to the others: waiting for them may never end, and the launcher ends them.

    Raises:
        LostRanksError: The connection to others was lost, and the launcher goes on.
    """
    if not is_launched():
        yield
        return
    _end_with_launcher()
    distributed.init_process_group(
        "cpu:gloo,cuda:nccl" if torch.cuda.is_available() else "gloo",
        store=_store(),
        rank=int(os.environ["RANK"]),
        world_size=int(os.environ["WORLD_SIZE"]),
        timeout=PATIENCE,
    )
    try:
        with _silent_unless_first():
            yield
        distributed.barrier()
    except BaseException as error:
        _leave_for(error)
        if is_loss(error):
            number, reason = os.environ["RANK"], str(error).partition(". ")[0]
            raise LostRanksError(f"rank {number} lost the connection to others: {reason}") from None
        raise
    _leave()


def is_launched() -> bool:
    """True if a launcher has started this process or its parent."""
    return distributed.is_torchelastic_launched()


def rank() -> int:
    """Returns the number of this rank."""
    return distributed.get_rank() if distributed.is_initialized() else 0


def size() -> int:
    """Returns the number of ranks."""
    return distributed.get_world_size() if distributed.is_initialized() else 1


def is_first() -> bool:
    """True if this is rank 0, which writes and prints."""
    return rank() == 0


def on_this_machine() -> int:
    """Returns the number of ranks on this machine."""
    return int(os.environ["LOCAL_WORLD_SIZE"]) if distributed.is_initialized() else 1


def is_loss(error: BaseException | None) -> bool:
    """True if the error means that other ranks cannot be reached; gloo has no class for it."""
    return isinstance(error, distributed.DistError) or (
        type(error) is RuntimeError and "gloo" in str(error)
    )


def from_first(make: Callable[[], Value]) -> Value:
    """Calls `make` on rank 0 only, and returns its result on every rank.

    A UserError is raised on rank 0, and is SystemExit on the others.
    """
    if size() == 1:
        return make()
    answer: list[Any] = [None, None]
    error = None
    if is_first():
        try:
            answer[0] = make()
        except UserError as caught:
            error, answer[1] = caught, caught.exit_code
    distributed.broadcast_object_list(answer)
    if error is not None:
        raise error
    if answer[1] is not None:
        raise SystemExit(answer[1])
    return answer[0]


def gather(value: Value) -> list[Value]:
    """Returns the `value` of each rank, in their order."""
    if size() == 1:
        return [value]
    values: list[Value] = [value] * size()
    distributed.all_gather_object(values, value)
    return values


def joined_lists(parts: Sequence[Mapping[str, list[float]]]) -> defaultdict[str, list[float]]:
    """Concatenates the lists of the same name."""
    whole: defaultdict[str, list[float]] = defaultdict(list)
    for part in parts:
        for name, values in part.items():
            whole[name] += values
    return whole


def means(parts: Sequence[Mapping[str, float]]) -> dict[str, float]:
    """Returns the mean over all parts of each number; all have the same names."""
    return {name: sum(part[name] for part in parts) / len(parts) for name in parts[0]}


def share(policy: torch.nn.Module) -> torch.nn.Module:
    """Returns the policy, as a `SharedPolicy` if there are several ranks."""
    return SharedPolicy(policy) if size() > 1 else policy


def equalise(tensor: torch.Tensor) -> None:
    """Copies rank 0's tensor to every rank, in place."""
    if size() > 1:
        distributed.broadcast(tensor, 0)


def average(tensor: torch.Tensor) -> None:
    """Replaces the tensor by its mean over all ranks, in place."""
    if size() > 1:
        distributed.all_reduce(tensor)
        tensor /= size()


def take_device(device: str) -> None:
    """Sets the device of "cuda" by the rank's number on this machine."""
    if size() > 1 and device == "cuda":
        torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))


def job() -> str:
    """Returns the name of the job: a unique one, torchrun's --rdzv-id, or `UNNAMED`."""
    return os.environ["TORCHELASTIC_RUN_ID"]


def may_restart() -> bool:
    """True if the job is restarted when a rank fails (--max-restarts)."""
    return is_launched() and int(os.environ["TORCHELASTIC_MAX_RESTARTS"]) > 0


def is_restarted() -> bool:
    """True if the job was restarted. All ranks must call it: each machine counts its own."""
    return is_launched() and max(gather(_restarts())) > 0


def _restarts() -> int:
    return int(os.environ["TORCHELASTIC_RESTART_COUNT"])


@contextlib.contextmanager
def _silent_unless_first() -> Iterator[None]:
    """Lets only rank 0 print to stdout."""
    if is_first():
        yield
        return
    with Path(os.devnull).open("w") as nowhere, contextlib.redirect_stdout(nowhere):
        yield


def _leave() -> None:
    """Ends the process group with its threads.

    They free exchanged tensors, some of them Python's. A thread that does so while the interpreter
    ends aborts the process ("terminate called without an active exception").
    """
    gc.collect()  # the group does not end while a `SharedPolicy` exists
    distributed.destroy_process_group()


def _leave_for(error: BaseException) -> None:
    """Ends the group after an error; after another rank's, waits to be ended by the launcher."""
    if not torch.cuda.is_available():  # nccl would wait for the others
        traceback.clear_frames(error.__traceback__)  # the frames hold the group
        _leave()
    if is_loss(error) or isinstance(error, SystemExit):
        time.sleep(END_WAIT)


def _store() -> distributed.Store:
    """Returns the store by which ranks find each other.

    Ranks of `launch` use files, one for each attempt. torchrun's store survives restarts, and the
    address of an ended rank would be taken for its successor's (PyTorch's issue 135712). On one
    machine every attempt therefore has its own keys; several machines may differ in its number.
    """
    if FOLDER in os.environ:
        path = Path(os.environ[FOLDER], f"attempt-{_restarts()}")
        return distributed.FileStore(str(path), int(os.environ["WORLD_SIZE"]))
    store, _, size = next(distributed.rendezvous("env://"))
    if int(os.environ["LOCAL_WORLD_SIZE"]) < size:
        return store
    if os.environ["RANK"] == "0":
        print(
            "puffer: torchrun listens on all interfaces, and executes what anyone sends there; on "
            f"one machine use --ranks {size} instead",
            file=sys.stderr,
        )
    return distributed.PrefixStore(f"attempt {_restarts()}", store)


def launch(words: Sequence[str], count: int, max_restarts: int = 0) -> int:
    """Runs `puffer` with these words in `count` ranks of this machine; returns the exit status.

    Args:
        words: of the command line, from the mode on.
        count: of the ranks.
        max_restarts: how often all ranks are restarted after one has failed.

    Raises:
        FailedRankError: A rank was killed, and no restart is left.
    """
    # Slow imports that only the launcher needs.
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
            if failure.exitcode > 0:  # it has reported the error itself
                return failure.exitcode
            name = signal.Signals(-failure.exitcode).name
            raise FailedRankError(f"rank {rank} was ended by {name}") from None
    return 0


def _environment(folder: Path) -> dict[str, str]:
    """Returns the environment variables of the launcher and its ranks."""
    loopback = next(
        name
        for name, addresses in psutil.net_if_addrs().items()
        if any((entry.family, entry.address) == (socket.AF_INET, LOOPBACK) for entry in addresses)
    )
    return {
        FOLDER: str(folder),
        PROCESS: str(os.getpid()),
        "TORCH_DISABLE_SHARE_RDZV_TCP_STORE": "1",  # the launcher would serve it on a port
        "GLOO_SOCKET_IFNAME": loopback,
        "NCCL_SOCKET_IFNAME": f"={loopback}",  # = demands the exact name
        "OMP_NUM_THREADS": os.environ.get("OMP_NUM_THREADS", "1"),  # torchrun's default
    }


def _end_with_launcher() -> None:
    """Stops this rank soon after its launcher, or torchrun, is gone without ending it."""
    process = int(os.environ.get(PROCESS, os.getppid()))
    threading.Thread(target=_watch, args=(process,), daemon=True).start()


def _watch(launcher: int) -> None:
    while os.getppid() == launcher:
        time.sleep(POLL)
    if os.environ["LOCAL_RANK"] == "0":
        with contextlib.suppress(OSError):  # the terminal may be gone, too
            os.write(2, b"puffer: the launcher of the ranks is gone; stopping after this update\n")
    else:
        time.sleep(2 * POLL)  # local rank 0 reports it first, and stops all if it still runs
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(GRACE)
    os.kill(os.getpid(), signal.SIGKILL)
