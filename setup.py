"""Builds the C core and its Cython binding; everything else about the package is in pyproject.toml.

The step (`csrc/kernel.c`) is compiled once for each instruction set and the core picks one at run
time, so that one build serves every machine. MIDRANGE_SANITIZE=1 builds with address and
undefined-behaviour sanitizers, and with asserts of the core's invariants.
"""

import os
import platform
import shutil
import subprocess
from pathlib import Path

import numpy
from Cython.Build import cythonize
from setuptools import Command, Extension, find_packages, setup
from setuptools.command.build_ext import build_ext

KERNEL = "csrc/kernel.c"
CORE = sorted(str(path) for path in Path("csrc").glob("*.c") if str(path) != KERNEL)
PARTS = ["midrange_puffer/_midrange.pxd", "midrange_puffer/_tables.pxi"]
HEADERS = sorted(str(path) for path in Path("csrc").glob("*.h"))

# Results are the same bits on every instruction set: no contraction to FMA, no fast-math. The two
# last options change no result and let compare-and-select loops vectorise.
C_FLAGS = ["-std=c11", "-O3", "-ffp-contract=off", "-fno-math-errno", "-fno-trapping-math"]
# For the kernel with gcc: they switch off passes of gcc 12 that spoil loops over lanes for the
# vectoriser. Jump threading turns clips between constants back into branches. Unroll-and-jam and
# distribution rearrange loops around the lanes and in them. clang refuses these flags.
GCC_KERNEL_FLAGS = [
    "-fno-thread-jumps",
    "-fno-tree-pre",
    "-fno-loop-unroll-and-jam",
    "-fno-tree-loop-distribution",
    "-fno-tree-loop-distribute-patterns",
]
BUILD_FLAGS = ["-fvisibility=hidden"]
LINK_FLAGS = []
if os.environ.get("MIDRANGE_SANITIZE") == "1":
    sanitize = ["-fsanitize=address,undefined", "-fno-sanitize-recover=all"]
    # Asserts, too: Python's own flags have NDEBUG.
    BUILD_FLAGS += ["-O1", "-g", "-UNDEBUG", "-fno-omit-frame-pointer", *sanitize]
    LINK_FLAGS += sanitize
else:
    BUILD_FLAGS += ["-DNDEBUG"]

# Name (the MR_ISA macro) and compiler options of each instruction set.
if platform.machine() in ("x86_64", "AMD64"):
    avx512 = ["f", "bw", "dq", "vl"]
    ISAS = {
        "sse2": [],
        "avx2": ["-mavx2"],
        "avx512": [*(f"-mavx512{part}" for part in avx512), "-mprefer-vector-width=512"],
    }
else:
    ISAS = {"portable": []}


def kernel_flags(compiler: list[str]) -> list[str]:
    """What a compiler, given as a command, needs for the kernel besides C_FLAGS."""
    ask = [*compiler, "-dM", "-E", "-x", "c", os.devnull]
    macros = subprocess.run(ask, check=True, capture_output=True, text=True).stdout
    is_gcc = "__GNUC__" in macros and "__clang__" not in macros
    return GCC_KERNEL_FLAGS if is_gcc else []


class BuildCore(build_ext):
    """Adds one object file of the kernel for each instruction set to the extension."""

    def build_extension(self, ext: Extension) -> None:
        """Compile the kernels, then build `ext` with them linked in."""
        common = C_FLAGS + kernel_flags(self.compiler.compiler_so) + BUILD_FLAGS
        for isa, flags in ISAS.items():
            ext.extra_objects += self.compiler.compile(
                [KERNEL],
                output_dir=str(Path(self.build_temp, isa)),
                macros=[("MR_ISA", isa)],
                extra_postargs=common + flags,
            )
        super().build_extension(ext)


class LintCore(Command):
    """Compiles the C core with warnings as errors, once with each compiler that is present."""

    user_options = []  # noqa: RUF012, setuptools wants a plain list

    def initialize_options(self) -> None:
        """Set no options: there are none."""

    def finalize_options(self) -> None:
        """Check no options: there are none."""

    def run(self) -> None:
        """Compile every file of the core to nowhere."""
        compilers = [name for name in ("gcc", "clang") if shutil.which(name)]
        if not compilers:
            raise SystemExit("lint_core: neither gcc nor clang is on PATH")
        strict = [*C_FLAGS, "-Wall", "-Wextra", "-Werror", "-c", "-o", os.devnull]
        for compiler in compilers:
            units = [[source, *asserts] for source in CORE for asserts in (["-DNDEBUG"], [])]
            units += [
                [KERNEL, f"-DMR_ISA={isa}", *kernel_flags([compiler]), *flags, *asserts]
                for isa, flags in ISAS.items()
                for asserts in (["-DNDEBUG"], [])
            ]
            for unit in units:
                print(compiler, *unit, flush=True)
                if subprocess.run([compiler, *strict, *unit], check=False).returncode != 0:
                    raise SystemExit(f"lint_core: {compiler} rejects {unit[0]}")


core = Extension(
    "midrange_puffer._core",
    sources=["midrange_puffer/_core.pyx", *CORE],
    depends=[*HEADERS, KERNEL, *PARTS, "setup.py"],
    include_dirs=["csrc", numpy.get_include()],
    define_macros=[("NPY_NO_DEPRECATED_API", "NPY_1_7_API_VERSION")],
    extra_compile_args=C_FLAGS + BUILD_FLAGS,
    extra_link_args=LINK_FLAGS,
)

setup(
    # configs/ stands at the top of the repository and is installed as part of the package; the
    # assets of the page are no Python.
    packages=[
        *find_packages(include=["midrange_puffer*"]),
        "midrange_puffer.configs",
        "midrange_puffer.show.page.assets",
    ],
    package_dir={"midrange_puffer.configs": "configs"},
    package_data={"midrange_puffer.configs": ["*.ini"], "midrange_puffer.show.page.assets": ["*"]},
    ext_modules=cythonize([core], language_level=3),
    cmdclass={"build_ext": BuildCore, "lint_core": LintCore},
)
