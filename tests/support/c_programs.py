"""Programs in C that use the core or the learner, compiled by tests."""

import os
import subprocess
from collections.abc import Sequence
from pathlib import Path

from places import CSRC, SUPPORT

ISA = "portable"  # one kernel is enough: the flags say for what it is compiled
SIDES = (1, 2)  # the sizes of csrc/isas.h that the programs have: kernels take long to compile
OPTIONS = ["-std=c11", "-w", "-Wno-psabi", f"-I{CSRC}", f"-DMR_ISAS(X)=X({ISA})"]

Units = dict[str, list[object]]  # object file -> its source, with macros


def build(
    folder: Path, name: str, compiler: str, *flags: str, sides: Sequence[int] = SIDES
) -> Path:
    """Compiles the core and tests/support/NAME.c into a folder; returns the program."""
    sizes = " ".join(f"X(with, {side})" for side in sides)
    units: Units = {f"state_{side}.o": [CSRC / "state.c", f"-DMR_SIDE={side}"] for side in sides}
    for side in sides:
        unit = [CSRC / "kernel.c", f"-DMR_ISA={ISA}", f"-DMR_SIDE={side}"]
        units[f"kernel_{side}.o"] = unit
    once = ("constants", "midrange", "tables", "threads")
    units |= {f"{unit}.o": [CSRC / f"{unit}.c"] for unit in once}
    units[f"{name}.o"] = [SUPPORT / f"{name}.c"]
    options = ["-ffp-contract=off", f"-DMR_SIDE_SIZES(X, with)={sizes}", *flags]
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
