"""A connection to a Ray cluster: an existing one, or one that is started on this machine.

Ray must not be imported before `connected` has set its environment, so functions import it.
"""

import contextlib
import importlib.metadata
import importlib.util
import os
import re
import secrets
import signal
import socket
import subprocess
import sys
import textwrap
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from pathlib import Path

from midrange_puffer.errors import UsageError, UserError, require
from midrange_puffer.train.own_folder import OwnFolder

LEAST_STORE = 100 * 2**20  # bytes; Ray refuses an object store below 75 MiB
REACH_TIMEOUT = 10  # s
STARTS = 3  # attempts to start a cluster, on a busy machine

# Environment of a started cluster, unless the user has set them. Without the first, Ray's processes
# have the lowest priority. The second lets Ray use a folder on disk if /dev/shm is small.
_OWN = {
    "RAY_worker_niceness": "0",
    "RAY_OBJECT_STORE_ALLOW_SLOW_STORAGE": "1",
}
# Environment of a started cluster, whatever the user has set. A user of a cluster can run programs,
# so Ray demands a token, which it would otherwise keep in the user's home, and listens only on the
# loopback interface, its default on systems without clusters of several machines. Ray reads these
# variables at its import.
_CLOSED = {
    "RAY_AUTH_MODE": "token",
    "RAY_AUTH_TOKEN": secrets.token_hex(32),
    "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0",
}
_OTHER_KEYS = ("RAY_AUTH_TOKEN_PATH", "RAY_ENABLE_K8S_TOKEN_AUTH")  # other ways to log in

# Parents for the folder of a started cluster; the first usable one is taken. The paths of its
# sockets are limited, and TMPDIR or a home are often too long.
_PARENTS = ("/tmp", os.environ.get("XDG_RUNTIME_DIR", ""), "/var/tmp", "/dev/shm")
_SOCKET_PATH = 103 if sys.platform == "darwin" else 107  # bytes that a socket's path may have
_SOCKET = "/ray/session_2026-01-01_00-00-00_000000_1234567/sockets/plasma_store"  # the longest
_ROOM = _SOCKET_PATH - len(f"/midrange-ray-12345678{_SOCKET}")  # bytes for a parent's path


# Waits until its stdin ends, which happens when its parent ends; then kills the given processes.
_WATCHER = """
import contextlib, os, signal, sys
handles = []
for pid in sys.argv[1:]:
    with contextlib.suppress(OSError):
        handles.append(os.pidfd_open(int(pid)))
os.read(0, 1)
for handle in handles:
    with contextlib.suppress(OSError):
        signal.pidfd_send_signal(handle, signal.SIGKILL)
"""


class ClusterError(UserError):
    """A cluster cannot be used, or no longer."""


class LostError(Exception):
    """A process or a node ended or cannot be reached, so its result will not come."""


@contextlib.contextmanager
def connected(address: str | None, cores: int, store: int = LEAST_STORE) -> Iterator[None]:
    """Connects to a Ray cluster, from the main thread.

    Args:
        address: host:port of an existing cluster, or "auto" for that of RAY_ADDRESS; None: starts
            one on this machine. It ends with the connection, or with this process: at once on
            Linux, within a minute elsewhere.
        cores: of a started cluster, for tasks and actors.
        store: bytes of the object store of a started cluster.

    Raises:
        UsageError: Ray is not installed, or in a version that was not tried.
        ClusterError: There is no such cluster, or it cannot be started or used.
    """
    address = check_address(address)
    with contextlib.ExitStack() as stack:
        if address is None:
            folder = stack.enter_context(contextlib.closing(_own_folder())).path / "ray"
            stack.enter_context(_own_environment(folder))
            _check_closed()
            options = {
                "address": "local",
                "num_cpus": cores,
                "object_store_memory": max(store, LEAST_STORE),
                "include_dashboard": False,
                "_temp_dir": str(folder),
            }
        else:
            stack.enter_context(_restored_environment())
            options = {"address": address}
        import ray

        others = _descendants()
        stack.callback(ray.shutdown)
        try:
            _init(options)
        except Exception as error:  # Ray raises many classes, and Exception itself
            reason = textwrap.shorten(str(error), 400)
            if address is None:
                raise ClusterError(f"cannot start a Ray cluster: {reason}") from error
            raise ClusterError(
                f"cannot connect to Ray at {address}: {reason}; does this shell have the cluster's "
                f"token (RAY_AUTH_MODE, RAY_AUTH_TOKEN_PATH), and are the versions the same?"
            ) from error
        if address is None:
            stack.enter_context(_watch(_descendants() - others))
        yield


def check_address(address: str | None) -> str | None:
    """Checks Ray's version and that the cluster answers; Ray itself would try for 15 minutes.

    Returns:
        host:port, for "auto" that of RAY_ADDRESS; None for None.

    Raises:
        UsageError: Ray is not installed, or in an untested version; or `address` is malformed.
        ClusterError: The cluster does not answer.
    """
    require("clusters need", "ray")
    _check_version()
    if address is None:
        return None
    name, allowed = "cluster.address", "host:port or auto"
    if address == "auto":
        # Ray's own "auto" would take any cluster on this machine, also a private one.
        name, allowed = "RAY_ADDRESS", "host:port"
        address = os.environ.get(name)
        if not address:
            raise UsageError("cluster.address = auto: RAY_ADDRESS is not set; use host:port")
    host, _, port = address.rpartition(":")
    if not (host and port.isdecimal()) or "/" in host:
        raise UsageError(f"{name} = {address}: must be {allowed}")
    try:
        socket.create_connection((host.strip("[]"), int(port)), timeout=REACH_TIMEOUT).close()
    except (OSError, OverflowError) as error:
        raise ClusterError(f"{name} = {address}: cannot connect to Ray: {error}") from error
    return address


def start_patiently(start: Callable[[], object], clear: Callable[[], object]) -> None:
    """Starts processes of Ray, up to `STARTS` times if Ray's wait for them times out.

    Args:
        start: starts the processes.
        clear: ends the processes of a failed start.
    """
    for attempt in range(1, STARTS + 1):
        try:
            start()
            return
        except Exception as error:
            clear()
            if attempt == STARTS or not re.search("(?i)timed out .*startup", str(error)):
                raise


def _init(options: Mapping[str, object]) -> None:
    """Starts or joins a cluster."""
    import ray

    terminate = signal.getsignal(signal.SIGTERM)
    try:
        start_patiently(
            partial(ray.init, **options, log_to_driver=False, logging_level="ERROR"), ray.shutdown
        )
    finally:
        signal.signal(signal.SIGTERM, terminate)  # Ray replaces the handler


def _descendants() -> set[int]:
    """Returns the ids of the processes that this one and its children have started."""
    import psutil

    return {child.pid for child in psutil.Process().children(recursive=True)}


@contextlib.contextmanager
def _watch(processes: Iterable[int]) -> Iterator[None]:
    """Starts a process that ends those of a started cluster if this one is killed.

    Otherwise Ray's agents would end a minute later: they try to report the loss to the cluster.
    """
    if not hasattr(os, "pidfd_open"):  # not on Linux
        yield
        return
    command = [sys.executable, "-c", _WATCHER, *map(str, processes)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, start_new_session=True) as watcher:
        try:
            yield
        finally:
            watcher.kill()


def _own_folder() -> OwnFolder:
    """Returns a private folder for a started cluster; Ray's own folders are open to all users.

    Raises:
        ClusterError: No folder can be made.
    """
    for parent in _PARENTS:
        if parent and len(os.fsencode(parent)) <= _ROOM:
            with contextlib.suppress(OSError):
                return OwnFolder("midrange-ray-", parent)
    tried = ", ".join(filter(None, _PARENTS))
    raise ClusterError(
        f"cannot start a Ray cluster: no folder can be made in any of {tried}; make one of them "
        f"writable, or set XDG_RUNTIME_DIR to a folder whose path has at most {_ROOM} bytes"
    )


@contextlib.contextmanager
def _own_environment(folder: Path) -> Iterator[None]:
    """Sets the environment for a started cluster in this folder."""
    with _restored_environment():
        for name in _OTHER_KEYS:
            os.environ.pop(name, None)
        # Ray also notes the machine's latest cluster in RAY_TMPDIR.
        os.environ.update({**_OWN, **os.environ, **_CLOSED, "RAY_TMPDIR": str(folder)})
        yield


@contextlib.contextmanager
def _restored_environment() -> Iterator[None]:
    """Restores all environment variables at the end, also those that Ray has changed."""
    before = dict(os.environ)
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)


def _check_closed() -> None:
    """Raises ClusterError if Ray was imported earlier, with other settings."""
    from ray._private import ray_constants
    from ray._private.authentication.authentication_utils import is_token_auth_enabled

    if ray_constants.ENABLE_RAY_CLUSTER or not is_token_auth_enabled():
        raise ClusterError(
            "cannot start a Ray cluster that is closed to others: this program has already "
            "imported Ray without RAY_AUTH_MODE=token; start it in a program that has not"
        )


def _check_version() -> None:
    """Raises UsageError if Ray's version does not fit the package's extra `ray`."""
    from packaging.requirements import Requirement  # a dependency of Ray

    version = importlib.metadata.version("ray")
    for text in importlib.metadata.requires("midrange_puffer") or ():
        requirement = Requirement(text)
        if requirement.name == "ray" and version not in requirement.specifier:
            raise UsageError(
                f"Ray has version {version}, which is not tested: must be {requirement.specifier}; "
                f"pip install 'midrange_puffer[ray]'"
            )


def ray_losses() -> tuple[type[Exception], ...]:
    """Returns the errors by which Ray reports that a process or a node is gone."""
    import ray.exceptions

    # A process that ended for lack of memory has its own error, which is no RayActorError.
    return (
        ray.exceptions.RayActorError,
        ray.exceptions.ObjectLostError,
        ray.exceptions.OutOfMemoryError,
        ray.exceptions.NodeDiedError,
    )


def describe_loss(error: Exception) -> str:
    """Returns the reason for a loss: the first sentence about it in Ray's message.

    The first line has the reason, or only says that a process is gone; details are indented.
    """
    import ray.exceptions

    lines = [line for line in str(error).splitlines() if line and not line[0].isspace()]
    has_reason = isinstance(error, ray.exceptions.OutOfMemoryError)
    about = lines[:1] if has_reason else lines[:2]
    return textwrap.shorten(about[-1].partition(". ")[0], 160)
