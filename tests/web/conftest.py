"""The core in WebAssembly and the page with it, made once for all tests of the page."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from browser import Browser
from pages import text
from play_page import until
from web_page import builder

LARGEST = 1_200_000  # bytes of the page


@pytest.fixture(scope="session")
def wasm(tmp_path_factory) -> Path:
    """Returns the core in WebAssembly."""
    return builder().compile_core(tmp_path_factory.mktemp("wasm"))


@pytest.fixture(scope="session")
def address(wasm, tmp_path_factory) -> str:
    """Returns the address of the page."""
    path = tmp_path_factory.mktemp("web") / "midrange.html"
    path.write_text(builder().render(wasm), "utf-8")
    assert path.stat().st_size < LARGEST
    return path.as_uri()


@pytest.fixture(scope="module")
def window(tmp_path_factory) -> Iterator[Browser]:
    """A window that has not been on the page yet."""
    browser = Browser(tmp_path_factory.mktemp("profile"))
    yield browser
    browser.close()


@pytest.fixture
def newcomer(window, address) -> Iterator[Browser]:
    """The page as at a first visit; a test must not leave an error."""
    window.open(address)
    window.evaluate("localStorage.clear()")
    window.open("about:blank")
    window.requests.clear()
    window.open(address)
    until(lambda: text(window, "time-words"))
    yield window
    assert window.errors == []
    assert set(window.requests) <= {address}  # nothing is loaded from anywhere


@pytest.fixture
def phone(window, address) -> Iterator[Browser]:
    """The page as at a first visit with a phone."""
    window.call("Emulation.setTouchEmulationEnabled", enabled=True, maxTouchPoints=2)
    window.call("Emulation.setEmulatedMedia", features=[{"name": "pointer", "value": "coarse"}])
    window.resize(390, 844)
    window.open(address)
    window.evaluate("localStorage.clear()")
    window.reload()
    until(lambda: text(window, "time-words"))
    yield window
    assert window.errors == []
    window.call("Emulation.setEmulatedMedia", features=[])
    window.call("Emulation.setTouchEmulationEnabled", enabled=False)
    window.resize(1280, 720)
