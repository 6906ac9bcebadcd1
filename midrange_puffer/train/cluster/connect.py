"""A connection to a Ray cluster: to one that is there, or to one of this machine's own."""

import contextlib
import importlib.metadata
import importlib.util
import os
import re
import secrets
import signal
import socket
import sys
import textwrap
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path

from midrange_puffer.errors import UsageError, UserError
from midrange_puffer.train.own_folder import OwnFolder

LEAST_STORE = 100 * 2**20  # bytes; Ray refuses an object store below 75 MiB
REACH_TIMEOUT = 10  # s
STARTS = 3  # of a cluster of our own, on a busy machine

# Of a cluster of our own, where the user has not set them. Without the first Ray's processes step
# back behind everything else that runs on the machine. Where /dev/shm is small, a folder on disk
# does.
_OWN = {
    "RAY_worker_niceness": "0",
    "RAY_OBJECT_STORE_ALLOW_SLOW_STORAGE": "1",
}
# Of the same, whatever the user has set: nobody else is to use it, for that is to run programs. Ray
# asks for the token, which it would keep in the user's home, and listens on the loopback interface,
# as it does by default where it has clusters of one machine only. It reads them at its import.
_CLOSED = {
    "RAY_AUTH_MODE": "token",
    "RAY_AUTH_TOKEN": secrets.token_hex(32),
    "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0",
}
_OTHER_KEYS = ("RAY_AUTH_TOKEN_PATH", "RAY_ENABLE_K8S_TOKEN_AUTH")  # other ways to be let in

# Where the folder of a cluster of our own may be, the first that can be used. Its sockets cannot
# have long paths: TMPDIR is often too long, and so is a home.
_PARENTS = ("/tmp", os.environ.get("XDG_RUNTIME_DIR", ""), "/var/tmp", "/dev/shm")
_SOCKET_PATH = 103 if sys.platform == "darwin" else 107  # bytes that a socket's path may have
_SOCKET = "/ray/session_2026-01-01_00-00-00_000000_1234567/sockets/plasma_store"  # as long as any
_ROOM = _SOCKET_PATH - len(f"/midrange-ray-12345678{_SOCKET}")  # for a parent


class ClusterError(UserError):
    """A cluster cannot be used, or no longer."""


class LostError(Exception):
    """A process or a node ended, or cannot be reached, and what was asked of it will not come."""


@contextlib.contextmanager
def connected(address: str | None, cores: int, store: int = LEAST_STORE) -> Iterator[None]:
    """Use a Ray cluster, from the main thread.

    Args:
        address: host:port of one that is there, or "auto" for that of RAY_ADDRESS; None: one on
            this machine, which is started here and ends with the connection, or within a minute of
            this process, however that ends.
        cores: of its own cluster, that tasks and actors may take.
        store: bytes of the object store of its own cluster.

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

        stack.callback(ray.shutdown)
        try:
            _init(options)
        except Exception as error:  # of many kinds, and Exception itself
            told = textwrap.shorten(str(error), 400)
            if address is None:
                raise ClusterError(f"cannot start a Ray cluster: {told}") from error
            raise ClusterError(
                f"cannot connect to Ray at {address}: {told}; has this shell the cluster's token "
                f"(RAY_AUTH_MODE, RAY_AUTH_TOKEN_PATH), and are the versions the same?"
            ) from error
        yield


def check_address(address: str | None) -> str | None:
    """Check Ray's version and that somebody answers, which takes Ray itself a quarter of an hour.

    Returns:
        host:port, where it is "auto" that of RAY_ADDRESS; None as it is.

    Raises:
        UsageError: Ray is not installed, or in a version that was not tried; or `address` is none.
        ClusterError: Nobody answers.
    """
    if importlib.util.find_spec("ray") is None:
        raise UsageError(
            "clusters need Ray, which is not installed: pip install 'midrange_puffer[ray]'"
        )
    _check_version()
    if address is None:
        return None
    name, allowed = "cluster.address", "host:port or auto"
    if address == "auto":
        # Ray's own "auto" would take any cluster that runs on this machine, a private one, too.
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
    """Start processes of Ray's, up to `STARTS` times where they take longer than Ray waits for.

    Args:
        start: starts them.
        clear: ends what was started in vain.
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
    """Start or join a cluster."""
    import ray

    terminate = signal.getsignal(signal.SIGTERM)
    try:
        start_patiently(
            partial(ray.init, **options, log_to_driver=False, logging_level="ERROR"), ray.shutdown
        )
    finally:
        signal.signal(signal.SIGTERM, terminate)  # Ray takes it over


def _own_folder() -> OwnFolder:
    """A folder for a cluster of our own, that nobody else can open; Ray opens its own to all.

    Raises:
        ClusterError: There is no place for one.
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
    """What Ray goes by, for a cluster of our own in this folder."""
    with _restored_environment():
        for name in _OTHER_KEYS:
            os.environ.pop(name, None)
        # The folder, too, where Ray notes which cluster of this machine is the latest.
        os.environ.update({**_OWN, **os.environ, **_CLOSED, "RAY_TMPDIR": str(folder)})
        yield


@contextlib.contextmanager
def _restored_environment() -> Iterator[None]:
    """At the end all variables are as they were, also those that Ray has set or changed."""
    before = dict(os.environ)
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)


def _check_closed() -> None:
    """Raise ClusterError where Ray has been imported before and goes by other settings."""
    from ray._private import ray_constants
    from ray._private.authentication.authentication_utils import is_token_auth_enabled

    if ray_constants.ENABLE_RAY_CLUSTER or not is_token_auth_enabled():
        raise ClusterError(
            "cannot start a Ray cluster that is closed to others: this program has imported Ray "
            "already, without RAY_AUTH_MODE=token; start it in a program that has not"
        )


def _check_version() -> None:
    """Raise UsageError where Ray is not of a version that the package's extra `ray` asks for."""
    from packaging.requirements import Requirement  # which Ray needs, too

    found = importlib.metadata.version("ray")
    for text in importlib.metadata.requires("midrange_puffer"):
        asked = Requirement(text)
        if asked.name == "ray" and found not in asked.specifier:
            raise UsageError(
                f"Ray has version {found}, which was not tried: must be {asked.specifier}; "
                f"pip install 'midrange_puffer[ray]'"
            )
