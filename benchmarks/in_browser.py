"""The page of web/: its size, how soon it can be flown, frames a second, and its core's speed.

    make web && python benchmarks/in_browser.py

The core in WebAssembly (node) and the native one of the same 16-byte vectors (sse2; elsewhere
portable) fly the same: both fighters fire, and 1,000 physics steps follow in one call; by turns,
7 rounds. Frames are counted in a headless Chromium, where there is one, at 60 a second at most: of
the view from above, and of the free camera in a fight with height, by WebGL without a GPU.
"""

import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from common import ROOT, machine, print_table

from midrange_puffer import Simulation, _core

sys.path += [str(ROOT / "tools"), str(ROOT / "tests" / "support")]
import web  # of tools

ROUNDS, SECONDS = 7, 1.0
SIZES = {"1280 x 800": (1280, 800), "390 x 844": (390, 844)}  # of the window
STEPS = 1000
ISA = next(isa for isa in ("sse2", "portable") if isa in _core.isas())
FLY = """
import { readFileSync } from "fs";
const [wasm, tables] = process.argv.slice(2);
const core = await Core.load(readFileSync(wasm), JSON.parse(readFileSync(tables)));
const sim = new Simulation(core, 1);
let engagement = 0;
const begin = performance.now();
while (performance.now() - begin < 1000 * SECONDS) {
  sim.start((engagement += 1));
  sim.step([[0, 1, 1], [0, 1, 1]]);
  core.wasm.mr_advance(sim.sim, STEPS);
}
console.log((1000 * engagement * STEPS) / (performance.now() - begin));
"""
COUNT_FRAMES = """new Promise((done) => {
  let frames = 0;
  const begin = performance.now();
  const next = () => {
    frames += 1;
    if (performance.now() - begin < 5000) requestAnimationFrame(next);
    else done([frames, (performance.now() - begin) / 1000]);
  };
  next();
})"""


def main() -> None:
    """Measures and prints everything."""
    with tempfile.TemporaryDirectory() as folder:
        speeds = core_speeds(Path(folder))
    wasm, native = (statistics.median(speeds[name]) for name in ("wasm", "native"))
    ratio = statistics.median(a / b for a, b in zip(speeds["wasm"], speeds["native"], strict=True))
    rows = [
        ("page", f"{web.PAGE.stat().st_size:,} bytes"),
        ("core in WebAssembly", f"{wasm:,.0f} steps/s"),
        (f"native core, {ISA}", f"{native:,.0f} steps/s"),
        ("ratio in the same round, median", f"{ratio:.2f}"),
    ]
    rows += page_figures()
    print_table(f"The page, {machine()['cpu']}", ("what", "figure"), rows)


def core_speeds(folder: Path) -> dict[str, list[float]]:
    """Physics steps a second of both, by turns."""
    wasm, script, tables = (folder / name for name in ("core.wasm", "fly.mjs", "tables.json"))
    shutil.copyfile(web.compile_core(folder / "build"), wasm)
    code = FLY.replace("STEPS", str(STEPS)).replace("SECONDS", str(SECONDS))
    script.write_text(web.scripts("data.js", "types.js", "core.js") + code)
    tables.write_text(json.dumps(web.tables()))
    speeds: dict[str, list[float]] = {"wasm": [], "native": []}
    for _ in range(ROUNDS):
        done = subprocess.run(
            ["node", script, wasm, tables], capture_output=True, text=True, check=True
        )
        speeds["wasm"].append(float(done.stdout))
        speeds["native"].append(fly_natively())
    return speeds


def fly_natively() -> float:
    """Physics steps a second of the native core."""
    sim = Simulation(1, 1, isa=ISA)
    engagement = 0
    begin = time.perf_counter()
    while time.perf_counter() - begin < SECONDS:
        engagement += 1
        sim.start(0, engagement)
        sim.step(np.array([[[0, 1, 1], [0, 1, 1]]]))
        sim.advance(STEPS)
    return engagement * STEPS / (time.perf_counter() - begin)


def page_figures() -> list[tuple[str, str]]:
    """Returns the time until the page is drawn, and its frames a second; [] without a browser."""
    from browser import PROGRAM, Browser

    if PROGRAM is None or not web.PAGE.exists():
        return []
    loads = []
    with tempfile.TemporaryDirectory() as folder:
        browser = Browser(Path(folder), (1280, 720))
        browser.call("Performance.enable", timeDomain="threadTicks")
        for _ in range(ROUNDS):
            browser.open("about:blank")
            browser.open(web.PAGE.as_uri())
            ready = "performance.getEntriesByName('ready')[0]?.startTime"
            while (at := browser.evaluate(ready)) is None:
                time.sleep(0.02)
            loads.append(at)
        rows = [("from opening to the first frame", f"{statistics.median(loads):.0f} ms")]
        rows.append(("frames a second, from above", count_frames(browser)))
        for element in ("lesson-end", "height", "view-camera"):
            browser.evaluate(f"document.getElementById('{element}').click()")
        for name, size in SIZES.items():
            browser.resize(*size)
            rows.append((f"the camera with height, {name}", count_frames(browser)))
        browser.close()
    return [*rows, ("cores", str(len(os.sched_getaffinity(0))))]


def count_frames(browser) -> str:
    """Returns frames a second, and how long the scripts of one compute; medians of three."""
    frames, scripts = [], []
    for _ in range(3):
        before = script_time(browser)
        count, seconds = browser.evaluate(COUNT_FRAMES)
        frames.append(count / seconds)
        scripts.append(1000 * (script_time(browser) - before) / count)
    return f"{statistics.median(frames):.0f}, {statistics.median(scripts):.1f} ms of scripts each"


def script_time(browser) -> float:
    """Returns how long scripts have computed [s]; other programs do not count."""
    metrics = browser.call("Performance.getMetrics")["metrics"]
    return next(row["value"] for row in metrics if row["name"] == "ScriptDuration")


if __name__ == "__main__":
    main()
