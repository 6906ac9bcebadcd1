"""Fights and a browser that several tests share."""

import pytest
from browser import Browser
from keyboard import NEAR
from scenes import followed

from midrange_puffer import Simulation
from midrange_puffer.game.paths import Paths
from midrange_puffer.replays.session import Session
from midrange_puffer.show.page import write_page
from midrange_puffer.show.view.canvas import Canvas


@pytest.fixture(scope="session")
def fight() -> tuple[Simulation, Paths]:
    """A fight from nose to nose that ends with a hit."""
    return followed("shooter", "evader", seed=2, **NEAR)


@pytest.fixture(scope="session")
def notch_fight() -> Session:
    """A fight with sensors at its end, with contacts and guidance of all kinds."""
    session = Session(("shooter", "notcher"), seed=1, sensing="radar")
    while not session.over:
        session.step()
    return session


@pytest.fixture
def drawn_words(monkeypatch) -> list[str]:
    """The texts that a window draws, in their order."""
    words, write = [], Canvas.text

    def text(self, drawn, *arguments, **options):
        words.append(drawn)
        return write(self, drawn, *arguments, **options)

    monkeypatch.setattr(Canvas, "text", text)
    return words


@pytest.fixture(scope="module")
def window(tmp_path_factory):
    browser = Browser(tmp_path_factory.mktemp("profile"))
    yield browser
    browser.close()


@pytest.fixture(scope="module")
def address(replay, tmp_path_factory) -> str:
    """The address of the page of a module's fight, `replay`."""
    path = tmp_path_factory.mktemp("page") / "fight.html"
    write_page(replay, path)
    return path.as_uri()


@pytest.fixture
def page(window, address):
    """The page at its start; a test must not leave an error."""
    window.open("about:blank")
    window.open(address)
    yield window
    assert window.errors == []
