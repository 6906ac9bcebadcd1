"""A headless Chromium that tests can drive, through its DevTools protocol over two pipes."""

import fcntl
import json
import os
import select
import shutil
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from needs import need

VARIABLE = "MIDRANGE_BROWSER"  # of the environment: which program it is
# All speak the same protocol. On macOS programs are not on PATH.
NAMES = (
    *("chromium", "chromium-browser", "chromium-headless-shell"),
    *("google-chrome", "google-chrome-stable", "google-chrome-beta", "google-chrome-unstable"),
    *("chrome", "chrome-headless-shell", "headless_shell"),
    *("microsoft-edge", "microsoft-edge-stable", "msedge"),
    *(
        f"/Applications/{name}.app/Contents/MacOS/{name}"
        for name in ("Chromium", "Google Chrome", "Microsoft Edge")
    ),
)
PATIENCE = 60.0  # s for an answer
# It reads commands from descriptor 3 and answers to 4.
START = """import os, sys
for number, pipe in enumerate(sys.argv[1:3], 3):
    os.dup2(int(pipe), number)
os.execv(sys.argv[3], sys.argv[3:])"""
FREE = 10  # descriptors from here on are not those two
OPTIONS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--no-first-run",
    "--remote-debugging-pipe",
    "--enable-unsafe-swiftshader",  # WebGL without a graphics card
)


def find_program() -> str | None:
    """Returns the browser's program: that of `VARIABLE`, else one of `NAMES`, else None.

    Raises:
        RuntimeError: `VARIABLE` names none.
    """
    named = os.environ.get(VARIABLE)
    if not named:
        return next(filter(None, map(shutil.which, NAMES)), None)
    if program := shutil.which(named):
        return program
    raise RuntimeError(f"{VARIABLE} = {named}: must be the name or path of a browser's program")


PROGRAM = find_program()
NEEDED = need(
    PROGRAM,
    "Chromium, Chrome or Edge",
    "install one (apt-get install chromium, dnf install chromium, brew install --cask chromium), "
    f"or name its program in {VARIABLE}",
)


class Browser:
    """A window with one page, whose errors are collected.

    Args:
        folder: for its profile.
        size: of the window [px].
    """

    def __init__(self, folder: Path, size: tuple[int, int] = (1280, 720)) -> None:
        (commands, self._commands), (self._answers, answers) = os.pipe(), os.pipe()
        pipes = [fcntl.fcntl(pipe, fcntl.F_DUPFD, FREE) for pipe in (commands, answers)]
        chromium = [PROGRAM, *OPTIONS, f"--user-data-dir={folder}"]
        self._process = subprocess.Popen(
            [sys.executable, "-c", START, *map(str, pipes), *chromium],
            pass_fds=pipes,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        for pipe in (commands, answers, *pipes):
            os.close(pipe)
        self._received = b""
        self._count = 0
        self._session = None
        self._loaded = False
        self.errors: list[str] = []
        self.requests: list[str] = []
        try:
            self._attach()
            self.resize(*size)
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Ends the browser."""
        self._process.kill()
        self._process.wait()
        os.close(self._commands)
        os.close(self._answers)

    def open(self, address: str) -> None:
        self._load("Page.navigate", url=address)

    def reload(self) -> None:
        """Opens the present page again."""
        self._load("Page.reload")

    def _load(self, method: str, **parameters: str) -> None:
        self._loaded = False
        self.call(method, **parameters)
        while not self._loaded:
            self._notice(self._receive())
        self.frame()

    def resize(self, width: int, height: int) -> None:
        """Sets the size of the window [px]."""
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
        self.call("Emulation.setDeviceMetricsOverride", **size)
        self.frame()

    def prefer(self, scheme: str) -> None:
        """Sets the preferred scheme, "light" or "dark"."""
        feature = {"name": "prefers-color-scheme", "value": scheme}
        self.call("Emulation.setEmulatedMedia", features=[feature])
        self.frame()

    def evaluate(self, expression: str):
        """Returns the value of JavaScript; a promise is awaited."""
        answer = self.call(
            "Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True
        )
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
        return answer["result"].get("value")

    def frame(self) -> None:
        """Waits until changes are drawn."""
        twice = "requestAnimationFrame(() => requestAnimationFrame(done))"
        self.evaluate(f"new Promise((done) => {twice})")

    def press(self, key: str) -> None:
        for kind in ("keyDown", "keyUp"):
            self.call("Input.dispatchKeyEvent", type=kind, key=key)
        self.frame()

    def drag(self, start: Sequence[float], end: Sequence[float]) -> None:
        """Drags with the left button between two places in the window [px]."""
        places = (("mousePressed", start), ("mouseMoved", end), ("mouseReleased", end))
        for kind, (x, y) in places:
            self.call(
                "Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", buttons=1,
                clickCount=1,
            )  # fmt: skip
        self.frame()

    def wheel(self, at: Sequence[float], turn: float) -> None:
        """Turns the wheel over a place by a number of pixels, downward if above 0."""
        x, y = at
        self.call("Input.dispatchMouseEvent", type="mouseWheel", x=x, y=y, deltaX=0, deltaY=turn)
        self.frame()

    def call(self, method: str, **parameters) -> dict:
        """Sends a command and returns its answer."""
        self._count += 1
        message = {"id": self._count, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._commands, json.dumps(message).encode() + b"\0")
        while (answer := self._receive()).get("id") != self._count:
            self._notice(answer)
        assert "error" not in answer, (method, answer["error"])
        return answer["result"]

    def _attach(self) -> None:
        page = self.call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.call("Target.attachToTarget", targetId=page, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")

    def _notice(self, event: dict) -> None:
        method, parameters = event.get("method"), event.get("params", {})
        if method == "Page.loadEventFired":
            self._loaded = True
        elif method == "Network.requestWillBeSent":
            self.requests.append(parameters["request"]["url"])
        elif method == "Runtime.exceptionThrown":
            self.errors.append(json.dumps(parameters["exceptionDetails"]))
        elif parameters.get("entry", {}).get("source") == "rendering":
            pass  # a warning of slow WebGL, without a graphics card
        elif method == "Runtime.consoleAPICalled" or method == "Log.entryAdded":
            self.errors.append(json.dumps(parameters))

    def _receive(self) -> dict:
        """Returns the next message."""
        end = time.monotonic() + PATIENCE
        while b"\0" not in self._received:
            ready, _, _ = select.select([self._answers], [], [], end - time.monotonic())
            data = os.read(self._answers, 1 << 20) if ready else b""
            assert data, "the browser does not answer"
            self._received += data
        message, _, self._received = self._received.partition(b"\0")
        return json.loads(message)
