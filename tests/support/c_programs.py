"""Programs in C that use the core, compiled by tests."""

import os
import subprocess
from pathlib import Path

from needs import KERNELS
from places import CSRC, SUPPORT


def build(folder: Path, name: str, compiler: str, *flags: str) -> Path:
    """Compile the core and tests/support/NAME.c into a folder; return the program."""
    options = ["-std=c11", "-ffp-contract=off", "-w", f"-I{CSRC}", *flags]
    # A sanitizer preloaded into this process is none of the compiler's business.
    environment = {name: value for name, value in os.environ.items() if name != "LD_PRELOAD"}
    units = {f"kernel_{isa}.o": [CSRC / "kernel.c", f"-DMR_ISA={isa}"] for isa in KERNELS}
    once = ("constants", "midrange", "state", "tables", "threads")
    units |= {f"{unit}.o": [CSRC / f"{unit}.c"] for unit in once}
    units[f"{name}.o"] = [SUPPORT / f"{name}.c"]
    commands = [["-c", *unit, "-o", target] for target, unit in units.items()]
    for command in [*commands, [*units, "-lm", "-pthread", "-o", name]]:
        subprocess.run(
            [compiler, *options, *map(str, command)], cwd=folder, env=environment, check=True
        )
    return folder / name
