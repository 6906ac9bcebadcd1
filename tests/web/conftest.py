"""The core in WebAssembly and the page with it, made once for all tests of the page."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from browser import Browser
from pages import text
from play_page import until
from web_page import Core, builder

LARGEST = 1_200_000  # bytes of the page
# The same starts in each run: another start may end a hands-off fight in another way.
SAME_NUMBERS = "let n = 987654321; Math.random = () => (n = (n * 16807) % 2147483647) / 2147483647;"


@pytest.fixture(scope="session")
def wasm(tmp_path_factory) -> Path:
    """Returns the core in WebAssembly."""
    return builder().compile_core(tmp_path_factory.mktemp("wasm"))


@pytest.fixture(scope="module")
def core(wasm, tmp_path_factory) -> Core:
    """Returns the core with the page's scripts, to be run by node."""
    return Core(wasm, tmp_path_factory.mktemp("core"))


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
    browser.call("Page.addScriptToEvaluateOnNewDocument", source=SAME_NUMBERS)
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
