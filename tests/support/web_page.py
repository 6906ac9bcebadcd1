"""The page to play on: its core in WebAssembly, run by node, and the page itself."""

import importlib.util
import json
import math
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from needs import need
from places import ROOT

from midrange_puffer.game.spacetime import SpaceTime

SYSROOT = Path("/usr/include/wasm32-wasi")
COMPILER = need(
    shutil.which("clang") and shutil.which("wasm-ld") and SYSROOT.is_dir(),
    "compiler to WebAssembly",
    "apt-get install clang lld wasi-libc libclang-rt-dev-wasm32",
)
NODE = need(shutil.which("node"), "node", "install Node.js 20 or newer")
# Of the page's scripts those that need no page.
WITHOUT_PAGE = (
    *(
        "data.js",
        "knowledge.js",
        "sensors.js",
        "side.js",
        "camera_bodies.js",
        "scenes.js",
        "types.js",
        "core.js",
        "teams.js",
        "shots.js",
        "zones.js",
    ),
    *("graph.js", "contact_log.js", "live.js", "kept.js", "aim.js", "warnings.js"),
    *("manoeuvres.js", "debrief.js", "ladder.js"),
    *("session.js", "replay_file.js", "coder.js", "link.js", "daily.js", "onnx.js"),
)
HEAD = """
import {{ readFileSync, writeFileSync }} from "fs";
const tables = JSON.parse(readFileSync({tables!r}));
const core = await Core.load(readFileSync({wasm!r}), tables);
const policies = mapValues(tables.policies, (told) => new Network(core, shippedNetwork(told)));
const told = JSON.parse(readFileSync(0, "utf8"));
const answer = (value) => console.log(JSON.stringify(value));
"""


def builder() -> object:
    """Returns the module tools/web.py."""
    if "web_builder" not in sys.modules:
        spec = importlib.util.spec_from_file_location("web_builder", ROOT / "tools" / "web.py")
        sys.modules["web_builder"] = module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
    return sys.modules["web_builder"]


class Core:
    """The core in WebAssembly; `run` runs scripts with it in node, in a folder of their own."""

    def __init__(self, wasm: Path, folder: Path) -> None:
        self._folder = folder
        self.wasm = wasm
        self.tables = builder().tables()
        (folder / "tables.json").write_text(json.dumps(self.tables))

    def run(self, script: str, told: object = None) -> object:
        """Runs a script with `core`, `policies` and `told`; returns the value given to `answer`."""
        names = {"tables": str(self._folder / "tables.json"), "wasm": str(self.wasm)}
        file = self._folder / "script.mjs"
        file.write_text(builder().scripts(*WITHOUT_PAGE) + HEAD.format(**names) + script)
        done = subprocess.run(
            ["node", file], input=json.dumps(told), capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr[-2000:]
        return json.loads(done.stdout)


def check_paths(scene: dict, graph: SpaceTime) -> None:
    """Asserts that the page's scene of a space-time graph has the package's paths, to 1 m."""
    for name in ("own", "escapes", "shots", "fronts"):
        expected = getattr(graph, name)
        if expected is None:
            continue
        paths = [scene[name]] if name == "own" else scene[name]
        rows = expected[None] if name == "own" else expected
        for path, row in zip(paths, rows, strict=True):
            places = [[math.nan if v is None else v for v in at.values()] for at in path]
            wanted = row[: len(places)]  # a path ends where it is hit
            assert places == pytest.approx(wanted, abs=1.0, nan_ok=True), name
