"""What holds for every test."""

import contextlib
import importlib.util
import os
from collections import Counter
from collections.abc import Iterator

import pytest
from hypothesis import settings

# No test is of how long something takes: the machine may be busy.
settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")

MOST_WORKERS = 8  # of pytest, side by side
CLUSTER = pytest.StashKey[contextlib.ExitStack]()  # ends the `cluster`
# Modules with tests that use the `cluster`.
ON_CLUSTER = ("train/test_cluster.py", "train/test_cluster_chaos.py", "sweep/test_ray.py")


@pytest.fixture(scope="session", autouse=True)
def one_thread() -> Iterator[None]:
    """Small tensors gain nothing from more, and tests may share the machine."""
    if importlib.util.find_spec("torch") is None:  # as in `make newest`
        yield
        return
    import torch

    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("OMP_NUM_THREADS", "1")  # of other processes
        yield
    torch.set_num_threads(threads)


@pytest.fixture(scope="session", autouse=True)
def own_home(tmp_path_factory) -> Iterator[None]:
    """Nothing that is kept in a home comes from the user or from an earlier run of the tests.

    What one test leaves there, such as a missile envelope, the next ones find.
    """
    folder = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:  # one for all that run side by side
        folder = folder.parent
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HOME", str(folder / "home"))
        for name in ("MIDRANGE_CACHE", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME"):
            patch.delenv(name, raising=False)
        (folder / "home").mkdir(exist_ok=True)
        yield


@pytest.fixture(scope="module")
def one_map() -> Iterator[None]:
    """The default game's missile envelope for every game: to find each takes seconds.

    That those of extreme parameters can be found is seen in test_envelope.py.
    """
    from midrange_puffer.game.envelope import game_envelope
    from midrange_puffer.game.parameters import resolve

    envelope = game_envelope(resolve({}))
    with pytest.MonkeyPatch.context() as patch:
        for module in ("envs.arena", "game.simulation"):
            patch.setattr(f"midrange_puffer.{module}.game_envelope", lambda parameters: envelope)
        yield


@pytest.fixture(scope="session")
def cluster(pytestconfig) -> Iterator[object]:
    """A Ray cluster of a head and two nodes with a core each; who kills one adds another.

    See `ray_nodes`.
    """
    import ray_nodes

    with contextlib.ExitStack() as stack:
        pytestconfig.stash[CLUSTER] = stack
        yield stack.enter_context(ray_nodes.cluster(1, 1))


@pytest.hookimpl(trylast=True)  # after the fixtures that use it
def pytest_runtest_teardown(item: pytest.Item, nextitem: pytest.Item | None) -> None:
    """End the Ray cluster with the last test on it, so that it runs beside no others."""
    if on_cluster(item) and not (nextitem and on_cluster(nextitem)):
        item.config.stash.get(CLUSTER, contextlib.ExitStack()).close()


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Tests on the Ray cluster come first, one after another, then others that take long.

    Where tests run side by side no worker is left alone with them at the end.
    """
    items.sort(key=lambda item: (not on_cluster(item), "slow" not in item.keywords))


def on_cluster(item: pytest.Item) -> bool:
    """Whether a test is of a module that uses the Ray cluster."""
    return item.path.as_posix().endswith(ON_CLUSTER)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """One more than there are cores, as some tests wait for processes; many find little to do."""
    return min(_cores() + 1, MOST_WORKERS)


def _cores() -> int:
    """Those that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: object) -> object:
    """Give all tests of a module to one worker, as they share its fixtures.

    So are those of all modules that use the Ray cluster, of which there is one. (xdist 3.8's own
    `--dist loadgroup` finds no groups with pytest 9.2, which has other node ids.)
    """
    from xdist.scheduler import LoadScopeScheduling

    class ByModule(LoadScopeScheduling):
        def _split_scope(self, nodeid: str) -> str:
            module = nodeid.partition("::")[0]
            return "cluster" if module.endswith(ON_CLUSTER) else module

    return ByModule(config, log)


@pytest.hookimpl(wrapper=True, tryfirst=True)  # after everybody else's words
def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> Iterator[None]:
    """Say at the very end how many tests were skipped for want of what, and how to get it."""
    result = yield
    reasons = Counter(report.longrepr[2] for report in terminalreporter.getreports("skipped"))
    for reason, count in reasons.items():
        told = reason.removeprefix("Skipped: ")
        terminalreporter.write_line(f"{count} tests were skipped: {told}", yellow=True)
    return result


@pytest.fixture
def display(monkeypatch) -> Iterator[None]:
    """A screen that nobody sees, and no events on it yet."""
    import pygame

    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")
    pygame.display.init()
    pygame.event.clear()
    yield
    pygame.display.quit()
