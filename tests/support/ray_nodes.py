"""Ray clusters of several nodes on this machine, for the tests."""

import contextlib
import os
import signal
import socket
import tempfile
from collections.abc import Iterator

import psutil
from ray._private.authentication_test_utils import reset_auth_token_state
from ray.cluster_utils import Cluster

from midrange_puffer.train.cluster.connect import start_patiently

STORE = 100 * 2**20  # bytes of a node's object store

# Of a node's agents. Where they choose their own, a node dies of it if they take above 15 s to say
# which, as they do on a busy machine (Ray's issue 65983).
PORTS = (
    "metrics_agent_port",
    "metrics_export_port",
    "dashboard_agent_listen_port",
    "runtime_env_agent_port",
)

# A busy machine starts a node slowly, and is to find out soon that one is gone. Ray would write a
# token to the user's home, and give way to whatever else runs.
SETTINGS = {
    "RAY_AUTH_MODE": "token",
    "RAY_AUTH_TOKEN": "of the tests, for nobody else to use",
    "RAY_raylet_start_wait_time_s": "60",
    "RAY_health_check_period_ms": "1000",
    "RAY_health_check_timeout_ms": "5000",
    "RAY_health_check_failure_threshold": "3",
    "RAY_worker_niceness": "0",
}


@contextlib.contextmanager
def cluster(*cores: int) -> Iterator[Cluster]:
    """Returns a cluster of a head without cores, and a node for each number of `cores`."""
    before = dict(os.environ)
    with contextlib.ExitStack() as stack:
        stack.callback(reset_auth_token_state)
        stack.callback(_restore, before)
        os.environ.update(SETTINGS)
        reset_auth_token_state()
        stack.callback(signal.signal, signal.SIGTERM, signal.getsignal(signal.SIGTERM))
        folder = stack.enter_context(  # its sockets cannot have long paths
            tempfile.TemporaryDirectory(prefix="ray-", dir="/tmp", ignore_cleanup_errors=True)
        )
        # The one setting that all of Ray goes by: `Cluster` also notes its address in the default
        # folder, whether that is there or not, and removes the note of a cluster of the user's.
        os.environ["RAY_TMPDIR"] = folder
        found = Cluster()
        stack.callback(found.shutdown)
        # Without what no test needs: a busy machine takes long to start each process.
        spared = {"include_dashboard": False, "include_log_monitor": False, "no_monitor": True}
        add_node(found, 0, **spared)
        for count in cores:
            add_node(found, count)
        yield found


def add_node(found: Cluster, cores: int = 1, **options: object) -> None:
    """Lets a node join a cluster."""
    nodes, children = found.list_all_nodes(), psutil.Process().children()

    def start() -> None:
        found.add_node(num_cpus=cores, object_store_memory=STORE, **_free_ports(), **options)

    def clear() -> None:
        """Ends the node, or the part of it that has started."""
        for node in set(found.list_all_nodes()) - set(nodes):
            found.remove_node(node, allow_graceful=False)
        left = set(psutil.Process().children()) - set(children)
        for child in left:
            child.kill()
        psutil.wait_procs(left)

    start_patiently(start, clear)


def _free_ports() -> dict[str, int]:
    with contextlib.ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in PORTS]
        for one in sockets:
            one.bind(("", 0))
        return {name: one.getsockname()[1] for name, one in zip(PORTS, sockets, strict=True)}


def _restore(environment: dict[str, str]) -> None:
    os.environ.clear()
    os.environ.update(environment)


def is_collector(process: psutil.Process) -> bool:
    """Returns True if a process, which may be gone, is a collector's."""
    with contextlib.suppress(psutil.NoSuchProcess):
        return any("RemoteCollector" in word for word in process.cmdline()[:1])
    return False


def collectors(found: Cluster) -> list[psutil.Process]:
    """Returns the processes of the collectors at work on a cluster, the oldest first."""
    children = []
    for node in found.list_all_nodes():
        for info in node.all_processes["raylet"]:
            with contextlib.suppress(psutil.NoSuchProcess):
                children += psutil.Process(info.process.pid).children()
    return sorted(filter(is_collector, children), key=lambda process: process.create_time())


def kill_node(found: Cluster, worker: int) -> None:
    """Kills the node that runs the Ray process of this id, as a loss of power would."""
    raylet = psutil.Process(worker).ppid()
    (node,) = (
        node
        for node in found.list_all_nodes()
        if raylet in [info.process.pid for info in node.all_processes["raylet"]]
    )
    found.remove_node(node, allow_graceful=False)
