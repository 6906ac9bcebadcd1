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
def envelope_cache(pytestconfig, tmp_path_factory) -> Iterator[None]:
    """Missile envelopes are kept from one run of the tests to the next, apart from the user's."""
    before = os.environ.get("MIDRANGE_CACHE")
    kept = getattr(pytestconfig, "cache", None)  # none where pytest is told so
    folder = kept.mkdir("envelopes") if kept else tmp_path_factory.mktemp("envelopes")
    os.environ["MIDRANGE_CACHE"] = str(folder)
    yield
    if before is None:
        del os.environ["MIDRANGE_CACHE"]
    else:
        os.environ["MIDRANGE_CACHE"] = before


@pytest.fixture(scope="module")
def one_map() -> Iterator[None]:
    """The default game's missile envelope for every game: to find each takes seconds.

    That those of extreme parameters can be found is seen in test_envelope.py.
    """
    from midrange_puffer.game.envelope import game_envelope
    from midrange_puffer.game.parameters import resolve

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


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Tests on the Ray cluster come last, so that it runs beside no others."""
    items.sort(key=lambda item: "cluster" in getattr(item, "fixturenames", ()))


@pytest.fixture
def display(monkeypatch) -> Iterator[None]:
    """A screen that nobody sees, and no events on it yet."""
    import pygame

    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")
    pygame.display.init()
    pygame.event.clear()
    yield
    pygame.display.quit()
