"""Fixtures and hooks of all tests."""

import contextlib
import functools
import gc
import importlib.util
import os
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

# No test measures time: the machine may be busy. Hypothesis draws the same examples in each run, so
# that a change fails by its own fault only; the nightly tests draw new ones.
settings.register_profile("same_examples", deadline=None, derandomize=True)
settings.register_profile("new_examples", deadline=None)
settings.load_profile("same_examples")

# Collecting imports a million objects, which all stay; see `pytest_collection_finish`.
gc.disable()

MOST_WORKERS = 8  # of pytest, side by side
CLUSTER = pytest.StashKey[contextlib.ExitStack]()  # ends the `cluster`
# Modules with tests that use the `cluster`.
ON_CLUSTER = ("train/test_cluster.py", "train/test_cluster_chaos.py", "sweep/test_ray.py")
# Modules that import PyTorch's compiler, for exports and heavyball, which takes seconds.
WITH_COMPILER = (
    "commands/test_export.py",
    "commands/test_team_commands.py",
    "envs/test_emulation.py",
    "policies/test_attention.py",
    "policies/test_exported.py",
    "policies/test_native.py",
    "policies/test_own_policy.py",
    "train/test_height_training.py",
    "train/test_trainer_state.py",
    "train/test_update.py",
)


@pytest.fixture(scope="session", autouse=True)
def one_thread() -> Iterator[None]:
    """Runs torch in one thread: small tensors gain nothing from more, and tests run in parallel."""
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
def one_table_of_operators() -> Iterator[None]:
    """Lets exports to ONNX share torch's table of operators, as making each takes a second."""
    if importlib.util.find_spec("torch") is None:
        yield
        return
    import torch

    export = torch.onnx.export

    def export_with_shared_table(*args: object, **options: object) -> object:
        from torch.onnx._internal.exporter._registration import ONNXRegistry

        if not isinstance(vars(ONNXRegistry)["from_torchlib"], staticmethod):
            table = functools.cache(ONNXRegistry.from_torchlib)
            patch.setattr(ONNXRegistry, "from_torchlib", staticmethod(table))
        return export(*args, **options)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(torch.onnx, "export", export_with_shared_table)
        yield


@pytest.fixture(scope="session", autouse=True)
def own_home(tmp_path_factory) -> Iterator[None]:
    """Gives this run of the tests a home of its own, without files of the user or of earlier runs.

    Later tests find what earlier tests keep there, such as a missile envelope.
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
    """Gives every game the default game's missile envelope, as finding each takes seconds.

    test_envelope.py finds those of extreme parameters.
    """
    from midrange_puffer.game.envelope import game_envelope
    from midrange_puffer.game.parameters import resolve

    envelope = game_envelope(resolve({}))
    with pytest.MonkeyPatch.context() as patch:
        for module in ("envs.arena", "game.simulation"):
            patch.setattr(f"midrange_puffer.{module}.core_map", lambda parameters: envelope)
        yield


@pytest.fixture(scope="session")
def cluster(pytestconfig) -> Iterator[object]:
    """Starts a Ray cluster of a head and two one-core nodes. A test that kills a node adds one.

    See `ray_nodes`.
    """
    import ray_nodes

    with contextlib.ExitStack() as stack:
        pytestconfig.stash[CLUSTER] = stack
        yield stack.enter_context(ray_nodes.cluster(1, 1))


@pytest.hookimpl(trylast=True)  # after the fixtures that use it
def pytest_runtest_teardown(item: pytest.Item, nextitem: pytest.Item | None) -> None:
    """Ends the Ray cluster after the last test on it, so that it runs beside no other tests."""
    if on_cluster(item) and not (nextitem and on_cluster(nextitem)):
        item.config.stash.get(CLUSTER, contextlib.ExitStack()).close()


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Tests on the Ray cluster come first, then those of the page, then others that take long.

    Each of these two groups is a minute and more of one worker, mostly of waiting. Where tests run
    side by side no worker is left alone with them at the end.
    """
    items.sort(
        key=lambda item: (not on_cluster(item), not of_page(item), "slow" not in item.keywords)
    )


def pytest_collection_finish() -> None:
    """Keeps what is imported from the garbage collector, which takes a second to look at it."""
    gc.freeze()
    gc.enable()


def on_cluster(item: pytest.Item) -> bool:
    """Returns True if a test's module uses the Ray cluster."""
    return item.path.as_posix().endswith(ON_CLUSTER)


def of_page(item: pytest.Item) -> bool:
    """Returns True if a test is of the page to play on, whose compiled core its modules share."""
    return item.path.parent.name == "web"


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """Returns one worker more than cores, as some tests wait, but at most MOST_WORKERS."""
    return min(_cores() + 1, MOST_WORKERS)


def _cores() -> int:
    """Returns the number of cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: object) -> object:
    """Gives all tests of a module to one worker, as they share its fixtures.

    One worker also gets all modules that use the one Ray cluster, one those with PyTorch's
    compiler, and one those of the page, which share its compiled core. (xdist 3.8's own
    `--dist loadgroup` finds no groups with pytest 9.2, which has other node ids.)
    """
    from xdist.scheduler import LoadScopeScheduling

    class ByModule(LoadScopeScheduling):
        def _split_scope(self, nodeid: str) -> str:
            module = nodeid.partition("::")[0]
            if module.endswith(ON_CLUSTER):
                return "cluster"
            if module.endswith(WITH_COMPILER):
                return "compiler"
            return "web" if Path(module).parent.name == "web" else module

    return ByModule(config, log)


@pytest.hookimpl(wrapper=True, tryfirst=True)  # after the other summaries
def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> Iterator[None]:
    """Prints last how many tests were skipped, what each lacks, and how to get it."""
    result = yield
    reasons = Counter(report.longrepr[2] for report in terminalreporter.getreports("skipped"))
    for reason, count in reasons.items():
        missing = reason.removeprefix("Skipped: ")
        terminalreporter.write_line(f"{count} tests were skipped: {missing}", yellow=True)
    return result


@pytest.fixture
def display(monkeypatch) -> Iterator[None]:
    """Opens an invisible screen without events."""
    import pygame

    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")
    pygame.display.init()
    pygame.event.clear()
    yield
    pygame.display.quit()
