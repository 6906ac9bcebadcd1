"""Builds the C core, the C learner and their bindings; all else is in pyproject.toml.

The kernel of each (`kernel.c`) is compiled once for each instruction set and one is picked at run
time, so that one build serves every machine. MIDRANGE_SANITIZE=1 builds with address and
undefined-behaviour sanitizers, and with asserts of invariants, for one instruction set;
MIDRANGE_SANITIZE=all for every one.
"""

import os
import platform
import re
import shutil
import subprocess
import sys
import sysconfig
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

import numpy
from Cython.Build import cythonize
from setuptools import Command, Extension, find_packages, setup
from setuptools.command.build_ext import build_ext

C_FLAGS = ["-std=c11", "-O3", "-fno-math-errno", "-fno-trapping-math"]
BUILD_FLAGS = ["-fvisibility=hidden"]
LINK_FLAGS = ["-pthread"]
# The games, as in csrc/isas.h: size of the sides (the MR_SIDE macro), MR_DIMENSIONS.
GAMES = ((1, 2), (2, 2), (4, 2), (8, 2), (16, 2), (1, 3), (8, 3), (16, 3))
SANITIZE = os.environ.get("MIDRANGE_SANITIZE")
if SANITIZE in ("1", "all"):
    # A sanitized kernel takes long to compile, and those of the sizes between are the same C.
    GAMES = ((1, 2), (8, 2), (16, 2), (1, 3), (8, 3), (16, 3))
    games = " ".join(f"X(with, {side}, {dimensions})" for side, dimensions in GAMES)
    sanitize = ["-fsanitize=address,undefined", "-fno-sanitize-recover=all"]
    # Asserts, too: Python's own flags have NDEBUG.
    BUILD_FLAGS += ["-O1", "-g1", "-UNDEBUG", "-fno-omit-frame-pointer", *sanitize]
    BUILD_FLAGS += [f"-DMR_GAMES(X, with)={games}"]
    LINK_FLAGS += sanitize
else:
    # Python's own flags have -g: the same code, compiled for a fifth longer.
    BUILD_FLAGS += ["-DNDEBUG", "-g0"]

AVX512 = [*(f"-mavx512{part}" for part in ("f", "bw", "dq", "vl")), "-mprefer-vector-width=512"]


def target_machine() -> str:
    """Returns the machine that is compiled for, such as "x86_64", "amd64" or "aarch64".

    Python for macOS may be of two machines ("universal2"), and would compile every file for both,
    with the same options. The package is built for one of them: ARCHFLAGS names it, or it is this
    machine.

    Raises:
        SystemExit: ARCHFLAGS names several machines.
    """
    machine = sysconfig.get_platform().rpartition("-")[2]
    if sys.platform != "darwin":
        return machine
    machines = re.findall(r"-arch\s+(\w+)", os.environ.get("ARCHFLAGS", ""))
    if len(machines) > 1:
        raise SystemExit(
            f"ARCHFLAGS={os.environ['ARCHFLAGS']}: build for one machine at a time, for example "
            f"ARCHFLAGS='-arch {machines[0]}'; their instruction sets differ"
        )
    if machine == "universal2":
        machine = machines[0] if machines else platform.machine()
        os.environ["ARCHFLAGS"] = f"-arch {machine}"
        os.environ["_PYTHON_HOST_PLATFORM"] = f"macosx-11.0-{machine}"  # in the wheel's name
    return machines[0] if machines else machine


IS_X86 = target_machine() in ("x86_64", "amd64")
IS_WINDOWS = sys.platform == "win32"
if IS_WINDOWS:
    LINK_FLAGS.append("-static")  # with the compiler's libraries, which Windows lacks

CORES = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()

# Nothing is vectorised in a sanitized build, so its kernels differ little.
IS_FOR_SSE2_ALONE = IS_X86 and SANITIZE == "1"
if IS_FOR_SSE2_ALONE:
    BUILD_FLAGS += ["-DMR_ISAS(X)=X(sse2)"]


def instruction_sets(avx2: list[str], avx512: list[str]) -> dict[str, list[str]]:
    """Returns the instruction sets to build for, with their compiler options."""
    if not IS_X86:
        return {"portable": []}
    if IS_FOR_SSE2_ALONE:
        return {"sse2": []}
    return {"sse2": [], "avx2": avx2, "avx512": avx512}


THREADS = "csrc/threads.c"  # in each of the extensions
Unit = tuple[str, dict[str, str], list[str]]  # a file, macros and compiler options


@dataclass(frozen=True)
class Library:
    """C code behind a binding: the files of a folder, with kernel.c for each instruction set.

    Attributes:
        folder: of the C files.
        isas: name (the MR_ISA macro) and compiler options of each instruction set.
        flags: compiler options of all files.
        games: those that the kernel and state.c are compiled for, if any.
        gcc_kernel_flags: those of the kernel that only gcc knows.
        others: C files of other folders.
    """

    folder: str
    isas: dict[str, list[str]]
    flags: list[str]
    games: tuple[tuple[int, int], ...] = ()
    gcc_kernel_flags: list[str] = field(default_factory=list)
    others: list[str] = field(default_factory=list)

    @property
    def kernel(self) -> str:
        """The file that is compiled for each instruction set."""
        return f"{self.folder}/kernel.c"

    @property
    def sources(self) -> list[str]:
        """The files that are compiled once."""
        files = sorted(str(path) for path in Path(self.folder).glob("*.c"))
        several = {source for source, _, _ in self.repeated}
        return [path for path in files if path not in several] + self.others

    @property
    def repeated(self) -> list[Unit]:
        """The files that are compiled more than once, as often as they are compiled."""
        games = [
            {"MR_SIDE": str(side), "MR_DIMENSIONS": str(dimensions)}
            for side, dimensions in self.games
        ]
        return [
            (self.kernel, {"MR_ISA": isa, **game}, flags)
            for isa, flags in self.isas.items()
            for game in games or [{}]
        ] + [(f"{self.folder}/state.c", game, []) for game in games]

    def kernel_flags(self, compiler: list[str]) -> list[str]:
        """Returns the options of a compiler, given as a command, for the kernel besides `flags`."""
        ask = [*compiler, "-dM", "-E", "-x", "c", os.devnull]
        macros = subprocess.run(ask, check=True, capture_output=True, text=True).stdout
        is_gcc = "__GNUC__" in macros and "__clang__" not in macros
        if not is_gcc:
            return []
        # On Windows gcc may put vectors on the stack where they are not aligned.
        return self.gcc_kernel_flags + ["-Wa,-muse-unaligned-vector-move"] * IS_WINDOWS


# Results are the same bits on every instruction set: no contraction to FMA, no fast-math. The two
# last options of C_FLAGS change no result and let compare-and-select loops vectorise.
CORE = Library(
    folder="csrc",
    isas=instruction_sets(["-mavx2"], AVX512),
    flags=[*C_FLAGS, "-ffp-contract=off"],
    games=GAMES,
    # They switch off passes of gcc 12 that spoil loops over lanes for the vectoriser. Jump
    # threading turns clips between constants back into branches. Unroll-and-jam and distribution
    # rearrange loops around the lanes and in them.
    gcc_kernel_flags=[
        "-fno-thread-jumps",
        "-fno-tree-pre",
        "-fno-loop-unroll-and-jam",
        "-fno-tree-loop-distribution",
        "-fno-tree-loop-distribute-patterns",
    ],
)
# The learner multiplies and adds in one instruction where there is one: twice as fast, and other
# last bits on each instruction set.
FMA = ["-mavx2", "-mfma"]
LEARNER = Library(
    folder="csrc/learner",
    isas=instruction_sets(FMA, [*FMA, *AVX512]),
    flags=[*C_FLAGS, "-ffp-contract=fast"],
    others=[THREADS],
)


class BuildLibraries(build_ext):
    """Compiles the files of all extensions side by side, some of them more than once."""

    def initialize_options(self) -> None:
        """Chooses gcc, or the compiler CC, on Windows: the C code is not Microsoft's dialect."""
        super().initialize_options()
        if IS_WINDOWS:
            self.compiler = "mingw32"

    def build_extensions(self) -> None:
        """Compiles all files, those first that take longest, then links each extension."""
        units = [(ext, unit) for ext in self.extensions for unit in self._units(ext)]
        units.sort(key=lambda each: not each[1][0].startswith("midrange_puffer"))
        with ThreadPoolExecutor(CORES) as pool:
            objects = [*pool.map(self._compiled, *zip(*units, strict=True))]
        for (ext, _), files in zip(units, objects, strict=True):
            ext.extra_objects += files
        for ext in self.extensions:
            ext.sources = []
        super().build_extensions()

    def _units(self, ext: Extension) -> list[Unit]:
        """Returns everything that is compiled of an extension."""
        library = LIBRARIES.get(ext.name)
        # The kernels do the work; a binding, which calls them, takes half as long to compile so.
        units = [
            (source, {}, ["-O1"] if source.startswith("midrange_puffer") else [])
            for source in ext.sources
        ]
        if library is None:
            return units
        kernel_flags = library.kernel_flags(self.compiler.compiler_so)
        return units + [
            (source, macros, [*kernel_flags, *flags]) for source, macros, flags in library.repeated
        ]

    def _compiled(self, ext: Extension, unit: Unit) -> list[str]:
        """Compiles a file; returns the object file."""
        source, macros, flags = unit
        return self.compiler.compile(
            [source],
            output_dir=str(Path(self.build_temp, ext.name, *macros.values())),
            macros=[*ext.define_macros, *macros.items()],
            include_dirs=ext.include_dirs,
            extra_postargs=[*ext.extra_compile_args, *flags],
        )


class LintCore(Command):
    """Compiles the C code with warnings as errors, once with each compiler that is present."""

    user_options = []  # noqa: RUF012, setuptools wants a plain list

    def initialize_options(self) -> None:
        """Sets no options: there are none."""

    def finalize_options(self) -> None:
        """Checks no options: there are none."""

    def run(self) -> None:
        """Compiles every C file to nowhere."""
        compilers = [name for name in ("gcc", "clang") if shutil.which(name)]
        if not compilers:
            raise SystemExit("lint_core: neither gcc nor clang is on PATH")
        work = [
            (compiler, [*unit, *asserts])
            for compiler in compilers
            for library in LIBRARIES.values()
            for unit in _units(library, compiler)
            for asserts in (["-DNDEBUG"], [])
            # The asserts are the same for every instruction set.
            if asserts or not any(word.startswith("-m") for word in unit)
        ]
        with ThreadPoolExecutor(CORES) as pool:
            list(pool.map(_lint, *zip(*work, strict=True)))


def _units(library: Library, compiler: str) -> list[list[str]]:
    """Returns the file and the options of everything that is compiled of a library.

    Only the least and the greatest size of a side are compiled, because others compile alike.
    """
    kernel_flags = library.flags + library.kernel_flags([compiler])
    return [[source, *library.flags] for source in library.sources] + [
        [source, *(f"-D{name}={value}" for name, value in macros.items()), *kernel_flags, *flags]
        for source, macros, flags in library.repeated
        if int(macros.get("MR_SIDE", 1)) in (1, max((side for side, _ in library.games), default=1))
    ]


def _lint(compiler: str, unit: list[str]) -> None:
    print(compiler, *unit, flush=True)
    strict = ["-Wall", "-Wextra", "-Werror", "-c", "-o", os.devnull]
    # Clang warns before it optimises, gcc of some things only while it does.
    level = ["-O0"] if compiler == "clang" else []
    if subprocess.run([compiler, *strict, *unit, *level], check=False).returncode != 0:
        raise SystemExit(f"lint_core: {compiler} rejects {unit[0]}")


LIBRARIES = {"midrange_puffer._core": CORE, "midrange_puffer._learner": LEARNER}
BINDINGS = [str(path) for path in Path("midrange_puffer").glob("*.px[di]")]
HEADERS = sorted(str(path) for path in Path("csrc").glob("**/*.h"))


def _extension(name: str, sources: list[str], flags: list[str], depends: list[str]) -> Extension:
    """Returns a binding with the C files behind it."""
    return Extension(
        name,
        sources=[f"{name.replace('.', '/')}.pyx", *sources],
        depends=[*HEADERS, *depends, *BINDINGS, "setup.py"],
        include_dirs=["csrc", numpy.get_include()],
        define_macros=[
            ("NPY_NO_DEPRECATED_API", "NPY_1_7_API_VERSION"),
            *([("MS_WIN64", "")] if IS_WINDOWS else []),  # Python's header sets it for Microsoft's
        ],
        extra_compile_args=flags + BUILD_FLAGS,
        extra_link_args=LINK_FLAGS,
    )


EXTENSIONS = [
    _extension("midrange_puffer._threads", [THREADS], C_FLAGS, []),
    *(
        _extension(name, library.sources, library.flags, [library.kernel])
        for name, library in LIBRARIES.items()
    ),
]

# Folders of trained models, as setuptools names what it installs.
MODELS = [
    "midrange_puffer.models",
    *(
        ".".join(path.parts)
        for path in sorted(Path("midrange_puffer/models").rglob("*"))
        if path.is_dir()
    ),
]

setup(
    # configs/ and examples/ stand at the top of the repository and are installed in the package.
    # The assets of the page and the models are no Python.
    packages=[
        *find_packages(include=["midrange_puffer*"]),
        "midrange_puffer.configs",
        "midrange_puffer.examples",
        *MODELS,
        "midrange_puffer.show.page.assets",
    ],
    package_dir={"midrange_puffer.configs": "configs", "midrange_puffer.examples": "examples"},
    package_data={
        "midrange_puffer": ["*.pyi", "constraints.txt", "py.typed"],
        "midrange_puffer.configs": ["*.ini"],
        "midrange_puffer.examples": ["*.py", "*.ipynb"],
        **{name: ["*.ini", "*.json", "*.onnx", "*.pt", "*.replay"] for name in MODELS},
        "midrange_puffer.show.page.assets": ["*"],
        "midrange_puffer.show.play": ["*.gz"],
    },
    ext_modules=cythonize(EXTENSIONS, language_level=3),
    cmdclass={"build_ext": BuildLibraries, "lint_core": LintCore},
)
