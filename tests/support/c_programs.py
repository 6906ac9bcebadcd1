"""Programs in C that use the core or the learner, compiled by tests."""

import os
import subprocess
from collections.abc import Sequence
from pathlib import Path

from places import CSRC, SUPPORT

ISA = "portable"  # one kernel is enough: the flags say for what it is compiled
# The games of csrc/isas.h that the programs have, (side, dimensions): kernels take long to compile.
GAMES = ((1, 2), (2, 2), (1, 3), (2, 3))
OPTIONS = ["-std=c11", "-w", "-Wno-psabi", f"-I{CSRC}", f"-DMR_ISAS(X)=X({ISA})"]

Units = dict[str, list[object]]  # object file -> its source, with macros


def build(
    folder: Path, name: str, compiler: str, *flags: str, games: Sequence[tuple[int, int]] = GAMES
) -> Path:
    """Compiles the core and tests/support/NAME.c into a folder; returns the program."""
    every = " ".join(f"X(with, {side}, {dimensions})" for side, dimensions in games)
    units: Units = {}
    for side, dimensions in games:
        macros = [f"-DMR_SIDE={side}", f"-DMR_DIMENSIONS={dimensions}"]
        units[f"state_{side}_{dimensions}.o"] = [CSRC / "state.c", *macros]
        units[f"kernel_{side}_{dimensions}.o"] = [CSRC / "kernel.c", f"-DMR_ISA={ISA}", *macros]
    once = ("constants", "midrange", "tables", "threads", "types")
    units |= {f"{unit}.o": [CSRC / f"{unit}.c"] for unit in once}
    units[f"{name}.o"] = [SUPPORT / f"{name}.c"]
    options = ["-ffp-contract=off", f"-DMR_GAMES(X, with)={every}", *flags]
    return _link(folder, name, [compiler, *OPTIONS, *options], units)


def build_learner(folder: Path, name: str, compiler: str, *flags: str) -> Path:
    """Compiles the learner and tests/support/NAME.c into a folder; returns the program."""
    sources = [*(CSRC / "learner").glob("*.c"), CSRC / "threads.c", SUPPORT / f"{name}.c"]
    units: Units = {f"{path.stem}.o": [path, f"-DMR_ISA={ISA}"] for path in sources}
    return _link(folder, name, [compiler, *OPTIONS, "-ffp-contract=fast", *flags], units)


def build_library(folder: Path, name: str, compiler: str, *flags: str) -> Path:
    """Compiles tests/support/NAME.c, which needs headers of the core alone; returns the library."""
    path = folder / f"{name}.so"
    options = ["-O2", "-ffp-contract=off", "-fno-math-errno", "-fPIC", "-shared", *flags]
    _run(folder, [compiler, *OPTIONS, *options, SUPPORT / f"{name}.c", "-o", path, "-lm"])
    return path


def _link(folder: Path, name: str, compiler: list[str], units: Units) -> Path:
    """Compiles `units`, and links them into the program `name`."""
    commands = [["-c", *unit, "-o", target] for target, unit in units.items()]
    for command in [*commands, [*units, "-lm", "-pthread", "-o", name]]:
        _run(folder, [*compiler, *command])
    return folder / name


def _run(folder: Path, command: Sequence[object]) -> None:
    # A sanitizer preloaded into this process is none of the compiler's business.
    environment = {name: value for name, value in os.environ.items() if name != "LD_PRELOAD"}
    subprocess.run([*map(str, command)], cwd=folder, env=environment, check=True)
