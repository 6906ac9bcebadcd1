"""Pictures of pages in a browser, for docs/browser.md, height.md and teams.md.

    make web && python tools/page_pictures.py [FOLDER] [--only NAME]

A headless Chromium, which the tests drive, too, shows the page of a replay and the page to play on.
"""

import argparse
import base64
import math
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from midrange_puffer.replays.session import Session
from midrange_puffer.show.page import write_page

ROOT = Path(__file__).parents[1]
PLAY_PAGE = ROOT / "web" / "midrange.html"
sys.path.append(str(ROOT / "tests" / "support"))
from browser import Browser  # noqa: E402, of the tests
from pages import click, is_shown, text  # noqa: E402
from play_page import choose, press, seconds, until  # noqa: E402

DESKTOP, PHONE = (1280, 800), (390, 844)
NEAR = {"start_range_min": 30_000, "start_range_max": 35_000}
# The starts of the page to play on are drawn by chance, but not in its pictures.
SAME_START = "Math.random = () => 0.25;"


def main() -> None:
    """Draws every picture into a folder."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("folder", nargs="?", type=Path, default=ROOT / "docs")
    parser.add_argument("--only", default="", help="draw the pictures whose names contain this")
    options = parser.parse_args()
    folder = options.folder
    for name, draw in PICTURES.items():
        if options.only not in name:
            continue
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
            browser = Browser(Path(profile), DESKTOP)
            try:
                draw(browser, Path(profile))
                browser.frame()
                data = browser.call("Page.captureScreenshot", format="png")["data"]
            finally:
                browser.close()
        (folder / name).write_bytes(base64.b64decode(data))
        print(folder / name)


def of_replay(
    players: tuple[str, str], place: str, **game: object
) -> Callable[[Browser, Path], None]:
    """Returns the drawing of the page of a fight, at a place of its address."""

    def draw(browser: Browser, folder: Path) -> None:
        session = Session(players, seed=3, **game)
        while not session.over:
            session.step()
        write_page(session.replay(), folder / "fight.html")
        browser.open(f"{(folder / 'fight.html').as_uri()}#{place}")

    return draw


def visit(browser: Browser, size: tuple[int, int]) -> None:
    """Opens the page to play on as a newcomer."""
    browser.resize(*size)
    if size == PHONE:
        browser.call("Emulation.setTouchEmulationEnabled", enabled=True, maxTouchPoints=2)
        coarse = {"name": "pointer", "value": "coarse"}
        browser.call("Emulation.setEmulatedMedia", features=[coarse])
    browser.call("Page.addScriptToEvaluateOnNewDocument", source=SAME_START)
    browser.open(PLAY_PAGE.as_uri())


def of_lesson(browser: Browser, _: Path) -> None:
    """Shows the lesson in which a missile comes, on a phone."""
    visit(browser, PHONE)
    click(browser, "lesson-start")
    for _ in range(3):
        click(browser, "lesson-next")
    until(lambda: text(browser, "lesson-words").startswith("6"))


def of_fight(
    size: tuple[int, int], end: float, view: str = "plane"
) -> Callable[[Browser, Path], None]:
    """Returns the drawing of a fight against `shooter`, at a time [s] or at its end."""

    def draw(browser: Browser, _: Path) -> None:
        visit(browser, size)
        click(browser, "lesson-end")
        choose(browser, "start-range", 30)
        press(browser, "Space")
        for _ in range(4 if end == math.inf else 2):
            click(browser, "faster")
        if end == math.inf:
            until(lambda: is_shown(browser, "outcome"))
            return
        until(lambda: seconds(browser) > end)
        press(browser, "KeyP")
        if view == "spacetime":
            press(browser, "KeyV")

    return draw


def of_play(
    end: float,
    size: tuple[int, int],
    keys: tuple[str, ...] = (),
    *,
    fighters: int = 1,
    height: bool = True,
) -> Callable[[Browser, Path], None]:
    """Returns the drawing of a fight against `crank`, by default with height, at a time [s]."""

    def draw(browser: Browser, folder: Path) -> None:
        visit(browser, size)
        click(browser, "lesson-end")
        choose(browser, "blue-player", "crank")
        choose(browser, "size", str(fighters))
        choose(browser, "height", height)
        until(lambda: seconds(browser) > 6)
        press(browser, "Space")
        until(lambda: seconds(browser) > end)
        for code in ("KeyP", *keys):
            press(browser, code)
        time.sleep(3)  # launch zones are found in some pictures

    return draw


PICTURES = {
    "height_camera.png": of_replay(
        ("crank", "ace"), "view=camera&t=40&trails=whole", dimensions=3, **NEAR
    ),
    "height_teams.png": of_replay(
        ("ace", "crank"),
        "t=30&picture=red",
        dimensions=3,
        sensing="radar",
        red_size=4,
        blue_size=4,
        **NEAR,
    ),
    "team_camera.png": of_replay(
        ("ace", "crank"), "view=camera&t=60&pitch=35", red_size=4, blue_size=4
    ),
    "browser.png": of_fight(DESKTOP, 12),
    "browser_phone.png": of_fight(PHONE, 12),
    "browser_graph.png": of_fight(DESKTOP, 12, "spacetime"),
    "browser_end.png": of_fight(DESKTOP, math.inf),
    "browser_lesson.png": of_lesson,
    "browser_height.png": of_play(24, DESKTOP),
    "browser_teams.png": of_play(24, DESKTOP, fighters=2, height=False),
    "browser_teams_phone.png": of_play(14, PHONE, fighters=4),
    "browser_camera.png": of_play(24, PHONE, ("KeyL",)),
}

if __name__ == "__main__":
    main()
