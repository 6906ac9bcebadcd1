"""Programs in C that use the core, compiled by tests."""

import os
import subprocess
from pathlib import Path

from places import CSRC, SUPPORT

ISA = "portable"  # one kernel is enough: the flags say for what it is compiled
SIDES = (1, 2)  # the sizes of csrc/isas.h that the programs have: kernels take long to compile


def build(folder: Path, name: str, compiler: str, *flags: str) -> Path:
    """Compiles the core and tests/support/NAME.c into a folder; returns the program."""
    sizes = " ".join(f"X(with, {side})" for side in SIDES)
    options = ["-std=c11", "-ffp-contract=off", "-w", f"-I{CSRC}", *flags]
    options += [f"-DMR_SIDE_SIZES(X, with)={sizes}", f"-DMR_ISAS(X)=X({ISA})"]
    # A sanitizer preloaded into this process is none of the compiler's business.
    environment = {name: value for name, value in os.environ.items() if name != "LD_PRELOAD"}
    units = {f"state_{side}.o": [CSRC / "state.c", f"-DMR_SIDE={side}"] for side in SIDES}
    for side in SIDES:
        unit = [CSRC / "kernel.c", f"-DMR_ISA={ISA}", f"-DMR_SIDE={side}"]
        units[f"kernel_{side}.o"] = unit
    once = ("constants", "midrange", "tables", "threads")
    units |= {f"{unit}.o": [CSRC / f"{unit}.c"] for unit in once}
    units[f"{name}.o"] = [SUPPORT / f"{name}.c"]
    commands = [["-c", *unit, "-o", target] for target, unit in units.items()]
    for command in [*commands, [*units, "-lm", "-pthread", "-o", name]]:
        subprocess.run(
            [compiler, *options, *map(str, command)], cwd=folder, env=environment, check=True
        )
    return folder / name
