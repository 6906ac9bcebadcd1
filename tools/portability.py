"""Runs the core and the learner on other machines: python tools/portability.py.

Each compiler builds both for each machine, and an emulator runs them. Random fights of all sizes,
with and without sensors, must give the hashes of tests/core/test_determinism.py. An update of the
learner must give the numbers of this machine's, within rounding.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "tests" / "support"), str(ROOT / "tests" / "core")]

import test_determinism as fights  # noqa: E402
from c_programs import build, build_learner  # noqa: E402

from midrange_puffer.system import own_cores  # noqa: E402

SIDES = (1, 2, 4, 8)  # as in csrc/isas.h
FLAGS = ("-O3", "-fno-math-errno", "-fno-trapping-math")  # as in setup.py
# Of the learner, which may fuse multiplications and additions; as in tests/policies/test_native.py.
RELATIVE_TOLERANCE, TOLERANCE_OF_LARGEST, ABSOLUTE_TOLERANCE = 1e-4, 2e-6, 1e-6


@dataclass(frozen=True)
class Machine:
    """A machine that programs are compiled for.

    Attributes:
        name: as in the table.
        target: the prefix of its gcc, and clang's --target; "" for this machine.
        emulator: the program that runs its programs, if any.
        packages: Debian's packages of compiler, C library and emulator.
        flags: options of the compilers.
    """

    name: str
    target: str
    emulator: str
    packages: tuple[str, ...]
    flags: tuple[str, ...] = ("-static",)

    def compiler(self, name: str) -> str:
        """Returns the program that compiles for this machine."""
        return f"{self.target}-gcc" if name == "gcc" and self.target else name

    def command(self, compiler: str) -> list[str]:
        """Returns the compiler with its options."""
        if compiler == "gcc" or not self.target:
            return [self.compiler(compiler), *self.flags]
        # Clang does not find Debian's libgcc for Windows by itself.
        ask = [self.compiler("gcc"), "-print-libgcc-file-name"]
        library = subprocess.run(ask, check=True, capture_output=True, text=True).stdout
        return [compiler, f"--target={self.target}", f"-L{Path(library).parent}", *self.flags]

    def lacks(self, compiler: str) -> list[str]:
        """Returns the packages that must be installed to use this compiler."""
        programs = [self.compiler(compiler), self.compiler("gcc"), self.emulator]
        if all(shutil.which(program) or not program for program in programs):
            return []
        return [*self.packages, *(["clang"] if compiler == "clang" else [])]


def _emulated(name: str, target: str, emulator: str, libc: str, *flags: str) -> Machine:
    """Returns a machine that qemu emulates."""
    packages = ("qemu-user", f"gcc-{target.replace('_', '-')}", f"libc6-dev-{libc}-cross")
    return Machine(name, target, emulator, packages, ("-static", *flags))


S390X = "-fexcess-precision=fast"  # csrc/simulation.h
WINDOWS = ("gcc-mingw-w64-x86-64-posix", "wine", "wine64")
MACHINES = (
    Machine("here", "", "", ("gcc", "clang"), ()),
    _emulated("aarch64", "aarch64-linux-gnu", "qemu-aarch64", "arm64"),
    _emulated("armhf, NEON", "arm-linux-gnueabihf", "qemu-arm", "armhf", "-mfpu=neon"),
    _emulated("riscv64", "riscv64-linux-gnu", "qemu-riscv64", "riscv64"),
    _emulated("s390x, big endian", "s390x-linux-gnu", "qemu-s390x", "s390x", S390X),
    _emulated("i686, SSE2", "i686-linux-gnu", "qemu-i386", "i386", "-msse2", "-mfpmath=sse"),
    Machine("windows", "x86_64-w64-mingw32", "wine", WINDOWS),
    Machine("windows, AVX2", "x86_64-w64-mingw32", "wine", WINDOWS, ("-static", "-mavx2")),
)
COMPILERS = ("gcc", "clang")


@dataclass(frozen=True)
class Outcome:
    """Results of one compiler on one machine.

    Attributes:
        machine: its name.
        compiler: its name.
        wrong: the fights with other hashes.
        numbers: count of the learner's numbers.
        error: the largest error of the learner, as a share of its tolerance.
        seconds: time of compilation and runs.
    """

    machine: str
    compiler: str
    wrong: tuple[str, ...]
    numbers: int
    error: float
    seconds: float

    @property
    def is_right(self) -> bool:
        """True if all fights and the learner agree."""
        return not self.wrong and self.error <= 1

    def __str__(self) -> str:
        """Returns a row of the table."""
        right = f"{len(fights.HASHES) - len(self.wrong)} of {len(fights.HASHES)} equal"
        return (
            f"{self.machine:19} {self.compiler:9} {right:16} {self.numbers:9} {self.error:12.3f} "
            f"{self.seconds:9.0f}"
        )


HEAD = (
    f"{'machine':19} {'compiler':9} {'fights':16} {'numbers of':>9}  error, share\n"
    f"{'':46} {'the learner':>9} of tolerance   seconds"
)


def check(machine: Machine, compiler: str, expected: dict[str, np.ndarray]) -> Outcome:
    """Compiles the core and the learner, and runs them.

    Args:
        machine: where they run.
        compiler: "gcc" or "clang".
        expected: the learner's numbers on this machine.

    Raises:
        subprocess.CalledProcessError: A compiler or a program failed.
    """
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        command = [*machine.command(compiler), *FLAGS]
        hasher = build(folder, "state_hash", *command, sides=SIDES)
        wrong = [
            fight
            for fight, hashes in fights.HASHES.items()
            if run(machine, hasher, *fights.program_arguments(fight)).split()[1:]
            != fights.line(hashes).split()
        ]
        numbers = learnt(machine, compiler, folder)
    count, error = sum(map(len, numbers.values())), largest_error(numbers, expected)
    return Outcome(machine.name, compiler, tuple(wrong), count, error, time.monotonic() - began)


def learnt(machine: Machine, compiler: str, folder: Path) -> dict[str, np.ndarray]:
    """Returns the numbers of an update of the learner, by their names."""
    command = [*machine.command(compiler), *FLAGS]
    program = build_learner(folder, "learner_update", *command)
    rows = (line.split() for line in run(machine, program).splitlines())
    return {name: np.array(values, float) for name, *values in rows}


def run(machine: Machine, program: Path, *arguments: str) -> str:
    """Runs a program on a machine; returns its output."""
    if not program.exists():
        program = program.with_suffix(".exe")
    command = [*filter(None, [machine.emulator]), str(program), *arguments]
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


def largest_error(numbers: dict[str, np.ndarray], expected: dict[str, np.ndarray]) -> float:
    """Returns the largest error, as a share of the tolerance; infinite if an array is missing."""
    if numbers.keys() != expected.keys():
        return float("inf")
    errors = [0.0]
    for name, array in expected.items():
        tolerance = RELATIVE_TOLERANCE * np.abs(array) + ABSOLUTE_TOLERANCE
        tolerance += TOLERANCE_OF_LARGEST * np.abs(array).max()
        errors.append(float((np.abs(numbers[name] - array) / tolerance).max()))
    return float("inf") if np.isnan(errors).any() else max(errors)


def cases(options: argparse.Namespace) -> list[tuple[Machine, str]]:
    """Returns the wanted machines with their compilers.

    Raises:
        SystemExit: A program is missing; the message names Debian's packages.
    """
    wanted = [
        (machine, compiler)
        for machine in MACHINES
        if not options.machines or machine.name.partition(",")[0] in options.machines
        for compiler in options.compilers
    ]
    missing = {package for case in wanted for package in case[0].lacks(case[1])}
    if missing:
        sys.exit(
            "portability: compilers or emulators are missing: apt-get install "
            f"--no-install-recommends {' '.join(sorted(missing))}"
        )
    return wanted


def main() -> None:
    """Checks all machines, and prints a table."""
    names = list(dict.fromkeys(machine.name.partition(",")[0] for machine in MACHINES))
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--machines", nargs="+", choices=names, metavar="NAME", help=", ".join(names)
    )
    parser.add_argument("--compilers", nargs="+", choices=COMPILERS, default=COMPILERS)
    options = parser.parse_args()
    work = cases(options)
    print(f"fights of {fights.ENGAGEMENTS} engagements and {fights.DECISIONS} decisions, ", end="")
    print("hashes of the state and of all observations and rewards:")
    for fight, hashes in fights.HASHES.items():
        print(f"  {fight:18} {fights.line(hashes)}")
    print(f"\n{HEAD}", flush=True)
    is_right = True
    with (
        tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder,
        ThreadPoolExecutor(len(own_cores()) or 1) as pool,
    ):
        os.environ.update(WINEPREFIX=folder, WINEDEBUG="-all")  # of the emulator of Windows
        expected = learnt(MACHINES[0], options.compilers[0], Path(folder))
        if any(machine.emulator == "wine" for machine, _ in work):
            command = ["wine", "wineboot", "--init"]
            subprocess.run(command, check=True, capture_output=True)
        for outcome in pool.map(lambda case: check(*case, expected), work):
            print(outcome, *outcome.wrong, flush=True)
            is_right &= outcome.is_right
    sys.exit(None if is_right else "portability: some results differ")


if __name__ == "__main__":
    main()
