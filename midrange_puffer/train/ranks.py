"""The ranks of a job: learners side by side, by --ranks or torchrun, with equal weights throughout.

Every rank has its own environments and learns from its own experience; what they share is the
gradient, averaged at each step of the optimizer, and what is decided or counted by all. Rank 0
alone writes and prints. Without a launcher there is one rank, and nothing here does anything.

The number of machines is fixed: with torchrun --nnodes MIN:MAX a change of it is a failure, too,
for torchrun does not tell its workers of the restart that it makes then.
"""

import contextlib
import gc
import os
import sys
import time
import traceback
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import timedelta
from pathlib import Path
from typing import TypeVar

import torch

# Before there is a group: it keeps the one that is there at its import, which then never ends.
import torch.distributed.nn
from torch import distributed
from torch.nn.parallel import DistributedDataParallel

from midrange_puffer.errors import UserError
from midrange_puffer.train import launcher

Value = TypeVar("Value")

# How long a rank waits for torchrun to end it, in s, where another has failed, which alone has
# something to say. Whoever still runs after that has lost the connection and nothing else.
END_WAIT = 10.0

# How long a rank waits for the others, one of which may be rating. torchrun ends them all where one
# is gone, so that this is for what nobody sees.
PATIENCE = timedelta(hours=6)

UNNAMED = "none"  # torchrun's --rdzv-id where it is not given


class LostRanksError(UserError):
    """The other ranks cannot be reached any more."""


class SharedPolicy(DistributedDataParallel):
    """A policy whose gradients are averaged over the ranks, from rank 0's weights on.

    What is left out of learning, `forward_eval`, is the policy's own.
    """

    def __init__(self, policy: torch.nn.Module) -> None:
        super().__init__(policy)
        self.forward_eval = policy.forward_eval


@contextlib.contextmanager
def joined() -> Iterator[None]:
    """Be one of the ranks of the job that --ranks or torchrun has launched, if one has.

    Tensors on the CPU are exchanged by gloo, those on CUDA by nccl. An error ends this process
    without a word to the others: the launcher ends them, and to wait for them would last for ever.

    Raises:
        LostRanksError: The connection to others was lost, and the launcher goes on.
    """
    if not is_launched():
        yield
        return
    launcher.end_with_launcher()
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
    """Whether a launcher has started this process, or the one that it is a worker of."""
    return distributed.is_torchelastic_launched()


def rank() -> int:
    """The number of this rank."""
    return distributed.get_rank() if distributed.is_initialized() else 0


def size() -> int:
    """How many ranks there are."""
    return distributed.get_world_size() if distributed.is_initialized() else 1


def is_first() -> bool:
    """Whether this is rank 0, which writes and prints."""
    return rank() == 0


def on_this_machine() -> int:
    """How many ranks share this machine."""
    return int(os.environ["LOCAL_WORLD_SIZE"]) if distributed.is_initialized() else 1


def is_loss(error: BaseException | None) -> bool:
    """Whether it says that others cannot be reached; gloo's errors have no class of their own."""
    return isinstance(error, distributed.DistError) or (
        type(error) is RuntimeError and "gloo" in str(error)
    )


def from_first(make: Callable[[], Value]) -> Value:
    """Return on every rank what `make` returns on rank 0, the only one to call it.

    An error that the user can mend is raised on rank 0 and is SystemExit on the others.
    """
    if size() == 1:
        return make()
    answer: list[object] = [None, None]
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
    """Return the `value` of each rank, in their order."""
    if size() == 1:
        return [value]
    values: list[Value] = [value] * size()
    distributed.all_gather_object(values, value)
    return values


def joined_lists(parts: Sequence[Mapping[str, list[float]]]) -> defaultdict[str, list[float]]:
    """Lists of the same name one after another."""
    whole: defaultdict[str, list[float]] = defaultdict(list)
    for part in parts:
        for name, values in part.items():
            whole[name] += values
    return whole


def means(parts: Sequence[Mapping[str, float]]) -> dict[str, float]:
    """The mean of each number of all parts, which have the same names."""
    return {name: sum(part[name] for part in parts) / len(parts) for name in parts[0]}


def share(policy: torch.nn.Module) -> torch.nn.Module:
    """`policy` as it learns with those of the other ranks; it alone, if there are none."""
    return SharedPolicy(policy) if size() > 1 else policy


def equalise(tensor: torch.Tensor) -> None:
    """Make it what it is on rank 0."""
    if size() > 1:
        distributed.broadcast(tensor, 0)


def average(tensor: torch.Tensor) -> None:
    """Make it the mean of those of all ranks."""
    if size() > 1:
        distributed.all_reduce(tensor)
        tensor /= size()


def take_device(device: str) -> None:
    """Make "cuda" this rank's own device, by its number on this machine."""
    if size() > 1 and device == "cuda":
        torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))


def job() -> str:
    """The name of the job: one that no other has, or torchrun's --rdzv-id, or `UNNAMED`."""
    return os.environ["TORCHELASTIC_RUN_ID"]


def may_restart() -> bool:
    """Whether the job is started anew where a rank fails (--max-restarts)."""
    return is_launched() and int(os.environ["TORCHELASTIC_MAX_RESTARTS"]) > 0


def is_restarted() -> bool:
    """Whether it has been; all ranks must ask, as each machine counts its own restarts."""
    return is_launched() and max(gather(_restarts())) > 0


def _restarts() -> int:
    return int(os.environ["TORCHELASTIC_RESTART_COUNT"])


@contextlib.contextmanager
def _silent_unless_first() -> Iterator[None]:
    """Let rank 0 alone print to stdout."""
    if is_first():
        yield
        return
    with Path(os.devnull).open("w") as nowhere, contextlib.redirect_stdout(nowhere):
        yield


def _leave() -> None:
    """End the group with its threads.

    They free what was exchanged, tensors of Python's among it. One that does so while the
    interpreter ends brings the process down ("terminate called without an active exception").
    """
    gc.collect()  # as long as a policy is shared, the group does not end
    distributed.destroy_process_group()


def _leave_for(error: BaseException) -> None:
    """End the group because of an error; where it was another rank's, wait to be ended, too."""
    if not torch.cuda.is_available():  # nccl would wait for the others
        traceback.clear_frames(error.__traceback__)  # they hold the group
        _leave()
    if is_loss(error) or isinstance(error, SystemExit):
        time.sleep(END_WAIT)


def _store() -> distributed.Store:
    """Where ranks find each other.

    torchrun's own store outlives its restarts with all that is in it, and the address of a rank
    that is no more would be taken for that of its successor (PyTorch's issue 135712). On one
    machine every attempt therefore has keys of its own; several would not agree on its number.
    """
    ours = launcher.store(_restarts(), int(os.environ["WORLD_SIZE"]))
    if ours is not None:
        return ours
    store, _, size = next(distributed.rendezvous("env://"))
    if int(os.environ["LOCAL_WORLD_SIZE"]) < size:
        return store
    if os.environ["RANK"] == "0":
        print(
            "puffer: torchrun listens on all interfaces, and executes what anyone sends there; on "
            f"one machine leave it out and use --ranks {size}",
            file=sys.stderr,
        )
    return distributed.PrefixStore(f"attempt {_restarts()}", store)
