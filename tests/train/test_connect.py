"""The connection to a Ray cluster: its effects on the process, its errors, and lost actors."""

import importlib.metadata
import importlib.util
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import psutil
import pytest
import ray
import tomllib
from places import ROOT
from ray.exceptions import NodeDiedError, ObjectLostError, OutOfMemoryError, RayActorError

from midrange_puffer.errors import UsageError, UserError
from midrange_puffer.sweep.ray_worker import MOST_LOSSES, NodeError, RayWorker
from midrange_puffer.sweep.record import TRIAL_INI
from midrange_puffer.train.cluster import connect
from midrange_puffer.train.cluster.collector import RayActors
from midrange_puffer.train.cluster.connect import ClusterError, LostError, check_address, connected


@pytest.fixture
def inits(monkeypatch):
    """Ray's calls to start or join a cluster, and the error that it raises."""
    asked, raised = [], []

    def init(**options: object) -> None:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)  # as it does, in its way
        asked.append({**options, "environment": dict(os.environ)})
        os.environ.update(RAY_AUTH_MODE="token", RAY_HOOK="15")
        if raised:
            raise raised.pop(0)

    monkeypatch.setattr(ray, "init", init)
    monkeypatch.setattr(ray, "shutdown", lambda: asked.append("shutdown"))
    # This process has imported Ray before; see the test of that.
    monkeypatch.setattr(connect, "_check_closed", lambda: None)
    for name in list(os.environ):
        if name.startswith("RAY_"):
            monkeypatch.delenv(name)
    return asked, raised


@pytest.fixture
def there() -> Iterator[str]:
    """An address that accepts connections."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield f"127.0.0.1:{server.getsockname()[1]}"


def test_its_own_cluster_is_for_nobody_else_and_leaves_the_process_as_it_was(inits):
    asked, _ = inits
    environment, terminate = dict(os.environ), signal.getsignal(signal.SIGTERM)
    with connected(None, 3, store=2**30):
        assert signal.getsignal(signal.SIGTERM) == terminate
        (options,) = asked
        folder = Path(options["_temp_dir"]).parent
        assert folder.stat().st_mode & 0o777 == 0o700  # Ray opens what is in it to all
    assert asked[1:] == ["shutdown"]
    assert dict(os.environ) == environment
    assert not folder.exists()
    assert (options["address"], options["num_cpus"]) == ("local", 3)
    assert options["object_store_memory"] == 2**30
    assert options["environment"]["RAY_worker_niceness"] == "0"
    assert options["environment"]["RAY_TMPDIR"] == options["_temp_dir"]


def test_the_users_settings_for_ray_stand_unless_they_let_others_in(inits, monkeypatch):
    asked, _ = inits
    for name in ("RAY_AUTH_TOKEN", "RAY_AUTH_TOKEN_PATH", "RAY_ENABLE_K8S_TOKEN_AUTH"):
        monkeypatch.setenv(name, "known")
    monkeypatch.setenv("RAY_AUTH_MODE", "disabled")
    monkeypatch.setenv("RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER", "1")
    monkeypatch.setenv("RAY_worker_niceness", "5")
    with connected(None, 1):
        seen = asked[0]["environment"]
    assert seen["RAY_worker_niceness"] == "5"
    assert seen["RAY_AUTH_MODE"] == "token"
    assert seen["RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER"] == "0"
    assert len(seen["RAY_AUTH_TOKEN"]) == 64
    assert "known" not in seen.values()


def test_no_cluster_is_started_if_ray_was_imported_before():
    """Ray would keep its earlier settings, and the cluster would be open."""
    code = """if True:
        import ray
        from midrange_puffer.train.cluster.connect import connected
        with connected(None, 1):
            print("started")
        """
    environment = {name: value for name, value in os.environ.items() if name[:4] != "RAY_"}
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=False
    )
    assert "ClusterError: cannot start a Ray cluster that is closed to others" in done.stderr
    assert done.stdout == ""


@pytest.mark.parametrize("unusable", ["/proc", "/nowhere", "/dev/null"])
def test_its_folder_is_where_it_can_be(inits, monkeypatch, unusable):
    monkeypatch.setattr(connect, "_PARENTS", (unusable, "", "/dev/shm"))
    with connected(None, 1):
        assert inits[0][0]["_temp_dir"].startswith("/dev/shm/midrange-ray-")


def test_without_a_place_for_its_folder_it_is_said_what_to_do(inits, monkeypatch, tmp_path):
    """The path of a test's own folder is too long for Ray's sockets."""
    monkeypatch.setattr(connect, "_PARENTS", ("/proc", str(tmp_path)))
    said = f"no folder can be made in any of /proc, {tmp_path}; .* set XDG_RUNTIME_DIR"
    with pytest.raises(ClusterError, match=said), connected(None, 1):
        pass


def test_rays_sockets_fit_into_its_folder(monkeypatch):
    """Ray's own check passes in the longest accepted parent."""
    from ray._private.utils import validate_socket_filepath

    longest = f"/{'p' * (connect._ROOM - 1)}/midrange-ray-12345678{connect._SOCKET}"
    validate_socket_filepath(longest)
    with pytest.raises(OSError, match="AF_UNIX path length"):
        validate_socket_filepath(f"/p{longest}")


def test_a_version_that_was_not_tried_is_refused(monkeypatch):
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    asked = [f"{text}; extra == 'ray'" for text in project["optional-dependencies"]["ray"]]
    monkeypatch.setattr(
        importlib.metadata, "requires", lambda name: ["ray; extra == 'dev'", *asked]
    )
    assert check_address(None) is None  # the pinned one
    monkeypatch.setattr(importlib.metadata, "version", lambda name: "2.51.0")
    with pytest.raises(
        UsageError, match=r"Ray has version 2\.51\.0, which is not tested: must be .*2"
    ):
        check_address(None)


def test_changes_by_ray_are_undone_afterwards(inits, monkeypatch):
    monkeypatch.setenv("RAY_HOOK", "7")
    with connected(None, 1):
        assert os.environ["RAY_HOOK"] == "15"
    assert os.environ["RAY_HOOK"] == "7"


def test_a_small_store_is_as_large_as_ray_will_have_it(inits):
    with connected(None, 1, store=1):
        assert inits[0][0]["object_store_memory"] >= 75 * 2**20


@pytest.mark.parametrize("address", ["auto", "host:port"])
def test_a_cluster_that_is_there_is_joined_as_it_is(inits, monkeypatch, there, address):
    asked, _ = inits
    if address == "auto":
        monkeypatch.setenv("RAY_ADDRESS", there)
    with connected(address.replace("host:port", there), 5, store=7):
        assert asked[0]["address"] == there
        assert not {"num_cpus", "object_store_memory", "_temp_dir"} & asked[0].keys()


@pytest.mark.parametrize(
    "error",
    [
        Exception("The current node timed out during startup. This could"),
        TimeoutError("Timed out after 30 seconds while waiting for node to startup. Did not"),
    ],
)
def test_a_slow_start_is_tried_again(inits, error):
    asked, raised = inits
    raised += [error] * 2
    with connected(None, 1):
        assert len([one for one in asked if one != "shutdown"]) == 3


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (ValueError("no memory"), "cannot start a Ray cluster: no memory$"),
        (Exception("timed out during startup"), "cannot start .* timed out during startup$"),
    ],
)
def test_a_message_of_ray_is_the_error(inits, error, said):
    inits[1].extend([error] * connect.STARTS)
    environment = dict(os.environ)
    with pytest.raises(ClusterError, match=said), connected(None, 1):
        pass
    assert dict(os.environ) == environment


def test_a_failed_join_names_likely_causes(inits, there):
    inits[1].append(RuntimeError("Version mismatch: 1 and 2"))
    said = f"cannot connect to Ray at {there}: Version mismatch: 1 and 2; .* cluster's token .RAY_"
    with pytest.raises(ClusterError, match=said), connected(there, 1):
        pass


@pytest.mark.parametrize(
    ("address", "environment", "said"),
    [
        ("head", None, "cluster.address = head: must be host:port or auto"),
        ("head:port", None, "cluster.address = head:port: must be host:port or auto"),
        ("ray://head:1", None, "cluster.address = ray://head:1: must be host:port or auto"),
        ("127.0.0.1:1", "head:2", "cluster.address = 127.0.0.1:1: cannot connect to .*refused"),
        ("127.0.0.1:99999999", None, "cluster.address = 127.0.0.1:99999999: cannot connect"),
        ("[::1]:1", None, r"address = \[::1\]:1: cannot connect to Ray: .*(refused|assign)"),
        ("auto", None, "cluster.address = auto: RAY_ADDRESS is not set"),
        ("auto", "ray://head:1", "^RAY_ADDRESS = ray://head:1: must be host:port$"),
        ("auto", "127.0.0.1:1", "^RAY_ADDRESS = 127.0.0.1:1: cannot connect to Ray: .*refused"),
    ],
)
def test_an_address_where_no_cluster_is(monkeypatch, address, environment, said):
    monkeypatch.delenv("RAY_ADDRESS", raising=False)
    if environment:
        monkeypatch.setenv("RAY_ADDRESS", environment)
    with pytest.raises(UserError, match=said):
        check_address(address)


def test_without_ray_its_user_hears_how_to_get_it(monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(UsageError, match=r"pip install 'midrange_puffer\[ray\]'"):
        check_address(None)


# As Ray 2.60 words them.
DIED = RayActorError(
    error_msg="The actor died unexpectedly before finishing this task.\n\tclass_name: Host\n"
    "\tactor_id: 0f\nThe actor is dead because its node has died. Node Id: 9a\n"
    "\tthe actor's node was terminated: health check failed"
)
LOSSES = [
    (DIED, "The actor is dead because its node has died"),
    (
        OutOfMemoryError(
            "1 worker(s) were killed due to the node running low on memory. Memory on the node "
            "was 15.1GB / 16.0GB\nRefer to the documentation on how to address it."
        ),
        "1 worker(s) were killed due to the node running low on memory",
    ),
    (ObjectLostError("ab", None, ""), "All copies of ab have been lost due to node failure"),
    (NodeDiedError("The node 9a is dead."), "The node 9a is dead."),
]


@pytest.fixture
def answers(monkeypatch) -> list[object]:
    """Ray's answers in order: a value, or an error to raise."""
    left: list[object] = []

    def get(question: str) -> object:
        answer = left.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer

    method = SimpleNamespace(remote=lambda *_: "a question")
    host = SimpleNamespace(begin=method, look=method, end=method)
    monkeypatch.setattr(ray, "get", get)
    monkeypatch.setattr(ray, "wait", lambda questions, **_: (questions, []))
    monkeypatch.setattr(ray, "kill", lambda actor: None)
    monkeypatch.setattr(
        ray, "remote", lambda **_: lambda kind: SimpleNamespace(remote=lambda: host)
    )
    return left


@pytest.mark.parametrize(("error", "said"), LOSSES)
def test_a_collector_and_a_trial_are_lost_by_any_of_them(tmp_path, answers, error, said):
    answers += [error, "a node", error, "another node"]
    with pytest.raises(LostError) as lost:
        RayActors().get("a question")
    assert str(lost.value) == said
    (tmp_path / TRIAL_INI).touch()
    worker = RayWorker(1, ())
    assert worker.is_free()
    worker.begin(tmp_path)
    with pytest.raises(LostError) as lost:
        worker.look()
    assert str(lost.value) == f"lost on a node: {said}"
    assert worker.is_free()  # with another actor


def test_actors_that_are_lost_as_they_begin_are_not_asked_for_for_ever(answers):
    answers += [DIED] * (MOST_LOSSES - 1) + ["a node"] + [DIED] * MOST_LOSSES
    worker = RayWorker(1, ())
    assert [worker.is_free() for _ in range(MOST_LOSSES)] == [False] * (MOST_LOSSES - 1) + [True]
    worker.close()
    for _ in range(MOST_LOSSES - 1):
        assert not worker.is_free()
    said = "5 actors in a row were lost as they began; the last lost .*: .* its node has died"
    with pytest.raises(NodeError, match=said):
        worker.is_free()


ALONE = """
import subprocess, time
from midrange_puffer.train.cluster.connect import connected
other = subprocess.Popen(["sleep", "600"])
with connected(None, 1):
    print(other.pid, flush=True)
    time.sleep(600)
"""


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "pidfd_open"), reason="needs Linux")
def test_a_cluster_ends_soon_after_a_killed_run():
    """Other processes of the run are left alone."""
    with subprocess.Popen([sys.executable, "-c", ALONE], stdout=subprocess.PIPE) as run:
        other = psutil.Process(int(run.stdout.readline()))
        processes = set(psutil.Process(run.pid).children(recursive=True)) - {other}
        run.kill()
    try:
        assert psutil.wait_procs(processes, timeout=20)[1] == []
        assert other.is_running()
    finally:
        other.kill()
