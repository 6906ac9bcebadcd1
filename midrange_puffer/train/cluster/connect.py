"""A connection to a Ray cluster: to one that is there, or to one of this machine's own."""

import contextlib
import importlib.util
import os
import re
import secrets
import signal
import socket
import textwrap
from collections.abc import Callable, Iterator, Mapping
from functools import partial

from midrange_puffer.errors import UsageError, UserError
from midrange_puffer.train.own_folder import OwnFolder

LEAST_STORE = 100 * 2**20  # bytes; Ray refuses an object store below 75 MiB
REACH_TIMEOUT = 10  # s
STARTS = 3  # of a cluster of our own, on a busy machine

# Of a cluster of our own. Without the first Ray's processes step back behind everything else that
# runs on the machine. Nobody else is to use the cluster: Ray would keep a token in the user's home.
# Where /dev/shm is small, a folder on disk does.
_OWN = {
    "RAY_worker_niceness": "0",
    "RAY_AUTH_TOKEN": secrets.token_hex(32),
    "RAY_OBJECT_STORE_ALLOW_SLOW_STORAGE": "1",
}


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
        UsageError: Ray is not installed.
        ClusterError: There is no such cluster, or it cannot be started or used.
    """
    address = check_address(address)
    import ray

    with contextlib.ExitStack() as stack:
        stack.enter_context(_environment(_OWN if address is None else {}))
        if address is None:
            # Not where TMPDIR says: its sockets cannot have long paths.
            folder = stack.enter_context(contextlib.closing(OwnFolder("midrange-ray-", "/tmp")))
            options = {
                "address": "local",
                "num_cpus": cores,
                "object_store_memory": max(store, LEAST_STORE),
                "include_dashboard": False,
                "_temp_dir": str(folder.path),
            }
        else:
            options = {"address": address}
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
    """Check that Ray is installed and that somebody answers, which takes Ray a quarter of an hour.

    Returns:
        host:port, where it is "auto" that of RAY_ADDRESS; None as it is.

    Raises:
        UsageError: Ray is not installed, or `address` is none.
        ClusterError: Nobody answers.
    """
    if importlib.util.find_spec("ray") is None:
        raise UsageError(
            "clusters need Ray, which is not installed: pip install 'midrange_puffer[ray]'"
        )
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


@contextlib.contextmanager
def _environment(settings: Mapping[str, str]) -> Iterator[None]:
    """Variables of the environment, where they are not set already; all is undone at the end."""
    before = dict(os.environ)
    os.environ.update({**settings, **before})
    try:
        yield
    finally:  # what Ray has set or changed, too
        os.environ.clear()
        os.environ.update(before)
