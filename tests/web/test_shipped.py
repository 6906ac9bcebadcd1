"""The page that comes with the package: it opens by a command, and is of the present game."""

import base64
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import urllib.error
import urllib.request
import zlib
from pathlib import Path

import pytest
from places import ROOT
from web_page import NODE, Core, builder

from midrange_puffer import Simulation
from midrange_puffer.commands import play
from midrange_puffer.errors import UsageError
from midrange_puffer.game.parameters import RULES_VERSION
from midrange_puffer.show.play import browser

LARGEST = 1_200_000, 720_000  # bytes of the page, and of its file


def data_of(page: str, element: str) -> str:
    """Returns the text of a script of the page that is data."""
    return re.search(rf'<script type="[^"]+" id="{element}">(.*?)</script>', page, re.DOTALL)[1]


def test_the_page_is_shipped_for_the_present_rules():
    page = browser.read_page()
    assert len(page) < LARGEST[0]
    assert browser.SHIPPED.stat().st_size < LARGEST[1]
    assert json.loads(data_of(page.decode(), "tables"))["rules"] == RULES_VERSION


def heed_ctrl_c() -> None:
    """A shell lets the commands that it runs in the background ignore Ctrl-C, and so this test."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


@pytest.fixture(scope="module")
def installed(tmp_path_factory) -> Path:
    """Returns a folder with the files that a wheel has."""
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "setup.py", "-q", "build_py", "--build-lib", str(folder)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    for module in (ROOT / "midrange_puffer").glob("*.so"):
        shutil.copy(module, folder / "midrange_puffer")
    return folder


def test_the_command_serves_the_page_to_this_machine_alone(installed):
    """Without a compiler. A program that does nothing takes a browser's place; Ctrl-C ends it."""
    true = shutil.which("true") or "true"
    environment = os.environ | {"BROWSER": true, "PYTHONPATH": str(installed), "PATH": ""}
    command = [sys.executable, "-m", "midrange_puffer", "play", "midrange", "--browser"]
    with subprocess.Popen(
        command,
        cwd=installed,
        env=environment,
        stdout=subprocess.PIPE,
        text=True,
        preexec_fn=heed_ctrl_c,
    ) as process:
        try:
            address = re.search(r"http://127\.0\.0\.1:\d+/", process.stdout.readline())[0]
            with urllib.request.urlopen(address, timeout=30) as answer:
                assert answer.read() == browser.read_page()
            with pytest.raises(urllib.error.HTTPError, match="404") as refused:
                urllib.request.urlopen(f"{address}etc/passwd", timeout=30)
            refused.value.close()
        finally:
            process.send_signal(signal.SIGINT)
        assert process.wait(30) == 0


def test_a_second_server_takes_another_port():
    with browser.serve(b"", 0) as first, browser.serve(b"", first.server_port) as second:
        assert first.server_port != second.server_port


def test_it_takes_no_other_option():
    assert play.read(["--browser"]).browser
    with pytest.raises(UsageError, match="takes no other option"):
        play.read(["--browser", "--blue", "ace"])


def test_a_missing_or_damaged_page_is_named(tmp_path, monkeypatch):
    monkeypatch.setattr(browser, "SHIPPED", tmp_path / "midrange.html.gz")
    with pytest.raises(UsageError, match="make ship-web"):
        browser.read_page()
    browser.SHIPPED.write_bytes(b"nothing of the kind")
    with pytest.raises(UsageError, match="damaged"):
        browser.read_page()


@pytest.mark.nightly
@NODE
def test_the_shipped_page_is_current(tmp_path):
    """All but the compiled core is compared with the sources; the core flies as the native one."""
    page = browser.read_page().decode()
    wasm = tmp_path / "core.wasm"
    wasm.write_bytes(zlib.decompress(base64.b64decode(data_of(page, "core"))))
    assert builder().render(wasm) == page, "run `make ship-web`"
    flown = Core(wasm, tmp_path).run(
        """
        answer(told.map((engagement) => {
          const size = 1 + engagement % 2;
          const pilots = ["ace", "evader"].flatMap((pilot) => Array(size).fill(pilot));
          const sizes = { red_size: size, blue_size: size };
          const sim = new Simulation(core, 3, pilots, { substeps: 1, ...sizes });
          sim.start(engagement, 0);
          while (!sim.read("engagement").outcome[0]) sim.step(pilots.map(() => [0, 0, 0]));
          return String(sim.stateHash);
        }));
        """,
        list(range(5)),
    )
    for engagement, expected in enumerate(flown):
        size = 1 + engagement % 2
        sim = Simulation(1, 3, "ace", "evader", substeps=1, red_size=size, blue_size=size)
        sim.start(0, engagement, 0)
        while not sim.outcome[0]:
            sim.step()
        assert str(sim.state_hash()) == expected
