"""Errors that a user can correct: printed in one line, without a traceback."""

import contextlib
import importlib.util
from collections.abc import Generator

# PufferLib is in no extra, since pip cannot build it; pyro comes with it.
PUFFERLIB, PUFFERLIB_NAME = "pufferlib", "PufferLib"
TRAIN = "train"  # the extra without which nothing is trained
OF_PUFFERLIB = (PUFFERLIB, "pyro")
# Parts of torch's messages when main memory runs out: it raises a plain RuntimeError.
NO_MEMORY = ("can't allocate memory", "not enough memory")


class UserError(Exception):
    """An error outside the program. The message names the cause and the allowed values.

    An error with several messages, for example about several files, has one argument for each; each
    is printed on its own line.
    """

    exit_code = 1


class UsageError(UserError, ValueError):
    """A command line, a configuration, or a file named in one of them that cannot be used."""

    exit_code = 2


class CheckpointError(UsageError):
    """A file that is no checkpoint, or none that this version can use."""


class MissingPackageError(UsageError, ModuleNotFoundError):
    """An optional package that is not installed."""


# Modules of the optional packages: the package's name, and the extra that installs it.
EXTRAS = {
    "argcomplete": ("argcomplete", "train"),
    "gymnasium": ("gymnasium", "gym"),
    "h5py": ("h5py", "record"),
    "imageio_ffmpeg": ("imageio-ffmpeg", "view"),
    "matplotlib": ("matplotlib", "plots"),
    "minari": ("minari", "record"),
    "onnx": ("onnx", "onnx"),
    "onnxruntime": ("onnxruntime", "onnx"),
    "onnxscript": ("onnxscript", "onnx"),
    "pettingzoo": ("pettingzoo", "pettingzoo"),
    "PIL": ("pillow", "view"),
    "psutil": ("psutil", "train"),
    "pygame": ("pygame-ce", "view"),
    "ray": ("Ray", "ray"),
    "rich": ("rich", "train"),
    "stable_baselines3": ("stable-baselines3", "sb3"),
    "torch": ("torch", "train"),
}


def require(user: str, *modules: str) -> None:
    """Checks that optional packages are installed, without importing them.

    Args:
        user: the part of this package that needs them, with its verb: "plots need".
        modules: as they are imported.

    Raises:
        MissingPackageError: One is not installed.
    """
    for module in modules:
        if importlib.util.find_spec(module) is None:
            raise _missing(user, module)


@contextlib.contextmanager
def naming_extra(user: str) -> Generator[None, None, None]:
    """Raises MissingPackageError, as `require` does, if an import in the body lacks a package."""
    try:
        yield
    except ModuleNotFoundError as error:
        module = (error.name or "").partition(".")[0]
        if module not in (*EXTRAS, *OF_PUFFERLIB) or isinstance(error, MissingPackageError):
            raise
        raise _missing(user, module) from None


def _missing(user: str, module: str) -> MissingPackageError:
    package, extra = (PUFFERLIB_NAME, TRAIN) if module in OF_PUFFERLIB else EXTRAS[module]
    if extra == TRAIN:  # which does not train without PufferLib
        return MissingPackageError(f"{user} {package}: python -m midrange_puffer.install")
    return MissingPackageError(f"{user} {package}: pip install 'midrange_puffer[{extra}]'")


@contextlib.contextmanager
def memory_advice(advice: str) -> Generator[None, None, None]:
    """Raises a UserError with `advice` if the body runs out of memory, also of a GPU's memory."""
    try:
        yield
    except (MemoryError, RuntimeError) as error:
        if not _is_out_of_memory(error):
            raise
        reason = " ".join(str(error).split("\n")[0].split()) or "no more can be had"
        raise UserError(f"out of memory: {advice} ({reason})") from error


def _is_out_of_memory(error: Exception) -> bool:
    if isinstance(error, MemoryError) or type(error).__name__ == "OutOfMemoryError":  # torch's
        return True
    return any(words in str(error) for words in NO_MEMORY)
