"""The page to play on in a browser: waits, and fingers on its screen."""

import base64
import time
from collections.abc import Callable

from pages import click, is_shown, text

PATIENCE = 60.0  # s


def until(is_so: Callable[[], bool], patience: float = PATIENCE) -> None:
    """Waits until a condition holds."""
    end = time.monotonic() + patience
    while not is_so():
        assert time.monotonic() < end
        time.sleep(0.05)


def key(page, code: str, kind: str) -> None:
    """Sends an event of a key, "keyDown" or "keyUp"."""
    names = {"Space": " ", "Backspace": "Backspace"}
    page.call("Input.dispatchKeyEvent", type=kind, code=code, key=names.get(code, code[-1].lower()))


def press(page, code: str) -> None:
    """Presses a key and lets it go."""
    for kind in ("keyDown", "keyUp"):
        key(page, code, kind)


def fire_to_the_end(page) -> None:
    """Fires whenever that is possible, until the fight is over."""

    def fires() -> bool:
        press(page, "Space")
        return is_shown(page, "outcome")

    until(fires)


def choose(page, element: str, value: object) -> None:
    """Sets a field beside the view."""
    page.evaluate(
        f"{{ const e = document.getElementById('{element}'); "
        f"e[e.type === 'checkbox' ? 'checked' : 'value'] = {value!r}; "
        f"e.dispatchEvent(new Event('change')); }}".replace("True", "true").replace(
            "False", "false"
        )
    )


def seconds(page) -> float:
    """Returns the time of the fight [s]."""
    minutes, rest = text(page, "time-words").split(":")
    return 60 * int(minutes) + float(rest)


def fast(page) -> None:
    """Lets time pass as fast as it can."""
    for _ in range(4):
        click(page, "faster")


def give(page, path) -> None:
    """Chooses a file."""
    root = page.call("DOM.getDocument")["root"]["nodeId"]
    node = page.call("DOM.querySelector", nodeId=root, selector="#file")["nodeId"]
    page.call("DOM.setFileInputFiles", nodeId=node, files=[str(path)])


def saved(page) -> bytes:
    """Presses the button that saves a replay; returns the file."""
    page.evaluate(
        "void (window.saved = new Promise((done) => { "
        "const make = URL.createObjectURL; "
        "URL.createObjectURL = (blob) => { blob.arrayBuffer().then(done); return make(blob); }; "
        "HTMLAnchorElement.prototype.click = () => {}; }))"
    )
    click(page, "save")
    data = page.evaluate(
        "saved.then((bytes) => btoa(String.fromCharCode(...new Uint8Array(bytes))))"
    )
    return base64.b64decode(data)


class Fingers:
    """A finger that drags the stick, or taps."""

    REACH = 60  # px of a drag

    def __init__(self, page) -> None:
        self._page = page
        self._stick: tuple[float, float] | None = None

    def middle(self, element: str) -> tuple[float, float]:
        """Returns the middle of an element, which must be within the window and uncovered."""
        x, y, is_free = self._page.evaluate(
            f"((e) => {{ const r = e.getBoundingClientRect(); "
            f"const [x, y] = [r.x + r.width / 2, r.y + r.height / 2]; "
            f"return [x, y, e.contains(document.elementFromPoint(x, y))]; }})"
            f"(document.getElementById('{element}'))"
        )
        assert is_free, element
        return x, y

    def drag(self, way: float) -> None:
        """Holds the stick to the right (1), to the left (-1), or in its middle."""
        x, y = self.middle("stick")
        if self._stick is None:
            self._send("touchStart", (x, y))
        at = (x + self.REACH * way, y)
        if at != self._stick:
            self._stick = at
            self._send("touchMove", at)

    def let_go(self) -> None:
        """Takes the finger from the stick."""
        if self._stick is not None:
            self._stick = None
            self._send("touchEnd")

    def tap(self, element: str) -> None:
        """Leaves the stick, and taps an element."""
        self.let_go()
        self._send("touchStart", self.middle(element))
        self._send("touchEnd")
        self._page.frame()

    def _send(self, kind: str, *points: tuple[float, float]) -> None:
        places = [{"x": x, "y": y, "id": number} for number, (x, y) in enumerate(points)]
        self._page.call("Input.dispatchTouchEvent", type=kind, touchPoints=places)
