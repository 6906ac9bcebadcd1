"""What holds for every test."""

import importlib.util
import os
from collections.abc import Iterator

import pytest
from hypothesis import settings

# No test is of how long something takes: the machine may be busy.
settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")


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
    from midrange_puffer.envelope import game_envelope
    from midrange_puffer.parameters import resolve

    envelope = game_envelope(resolve({}))
    with pytest.MonkeyPatch.context() as patch:
        for module in ("arena", "env", "sim"):
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


@pytest.hookimpl(tryfirst=True)  # before xdist reads the groups
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Say which tests run one after another where others run beside them, and which come first.

    Those of a module do, since they share its fixtures, and all that share the Ray cluster. Where
    tests run side by side what takes longest comes first, so that none is left alone at the end;
    else the Ray cluster comes last, so that it runs beside no others.
    """
    if not config.pluginmanager.hasplugin("dsession") and "PYTEST_XDIST_WORKER" not in os.environ:
        items.sort(key=on_cluster)
        return
    for item in items:
        group = "cluster" if on_cluster(item) else item.nodeid.partition("::")[0]
        item.add_marker(pytest.mark.xdist_group(group))
    items.sort(key=lambda item: (not on_cluster(item), "slow" not in item.keywords))


def on_cluster(item: pytest.Item) -> bool:
    """Whether a test runs on the Ray cluster."""
    return "cluster" in getattr(item, "fixturenames", ())


@pytest.fixture
def display(monkeypatch) -> Iterator[None]:
    """A screen that nobody sees, and no events on it yet."""
    import pygame

    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")
    pygame.display.init()
    pygame.event.clear()
    yield
    pygame.display.quit()
