"""What holds for every test."""

import importlib.util
import os
from collections import Counter
from collections.abc import Iterator

import pytest
from hypothesis import settings

# No test is of how long something takes: the machine may be busy.
settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")

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
    yield
    torch.set_num_threads(threads)


@pytest.fixture(scope="session", autouse=True)
def envelope_cache(tmp_path_factory) -> Iterator[None]:
    """Missile envelopes are kept from one test to the next, but for no other run of the tests."""
    folder = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:  # what one has found is there for all
        folder = folder.parent
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MIDRANGE_CACHE", str(folder / "envelopes"))
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
        for module in ("envs.arena", "envs.midrange", "game.simulation"):
            patch.setattr(f"midrange_puffer.{module}.game_envelope", lambda parameters: envelope)
        yield


@pytest.fixture(scope="session")
def cluster() -> Iterator[object]:
    """A Ray cluster of a head and two nodes with a core each; who kills one adds another.

    See `ray_nodes`.
    """
    import ray_nodes

    with ray_nodes.cluster(1, 1) as found:
        yield found


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Tests on the Ray cluster come last, so that it runs beside no others.

    Where tests run side by side they come first, and then others that take long, so that no worker
    is left alone with them at the end.
    """
    if "PYTEST_XDIST_WORKER" in os.environ:
        items.sort(key=lambda item: (not on_cluster(item), "slow" not in item.keywords))
    else:
        items.sort(key=on_cluster)


def on_cluster(item: pytest.Item) -> bool:
    """Whether a test is of a module that uses the Ray cluster."""
    return item.path.as_posix().endswith(ON_CLUSTER)


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
