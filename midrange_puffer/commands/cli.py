"""The command line: `puffer <mode> midrange …`; other environments go to PufferLib."""

import configparser
import contextlib
import errno
import gc
import importlib
import importlib.util
import os
import re
import signal
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

from midrange_puffer import __version__
from midrange_puffer.commands.option import ENV_NAME, is_rank
from midrange_puffer.errors import PUFFERLIB, UsageError, UserError, naming_extra, require
from midrange_puffer.names import shown, suggest
from midrange_puffer.streams import Output, QuietPipe, lasting

PACKAGE = __name__.partition(".")[0]
ROOM = __name__.rpartition(".")[0]


@dataclass(frozen=True)
class Mode:
    """A mode of `puffer`; the module of its name has `Options`, `read` and `main`.

    Attributes:
        meaning: in words.
        usage: its most important options.
        loads: a module that `main` imports, which brings PyTorch and takes seconds; None: `main`
            imports nothing that large.
        in_ranks: True if it may run in several processes that communicate: by --ranks or torchrun.
        has_folder: True if its results go to a folder, and its output only shows the progress.
    """

    meaning: str
    usage: str
    loads: str | None
    in_ranks: bool = False
    has_folder: bool = False


MODES = {
    "train": Mode(
        "train a policy with PuffeRL",
        "[--config FILE] [--section.key VALUE …] [--resume RUN] [--ranks N]",
        "train.run",
        in_ranks=True,
        has_folder=True,
    ),
    "sweep": Mode(
        "search for better hyperparameters and rewards by many trainings",
        "--config FILE | --resume SWEEP | --report SWEEP [--section.key VALUE …]",
        "sweep.runner",
        has_folder=True,
    ),
    "profile": Mode(
        "measure where the time of a training goes: environment, copies, inference, learning",
        "[--config FILE] [--section.key VALUE …] [--updates N] [--out DIR] [--ranks N]",
        "train.profiling",
        in_ranks=True,
    ),
    "autotune": Mode(
        "find the fastest way to step the environments on this machine",
        "[--config FILE] [--section.key VALUE …] [--updates N] [--rounds N] [--json FILE]",
        "train.profiling",
    ),
    "eval": Mode(
        "measure a trained policy against the scripted pilots",
        "--load-model-path latest|best|FILE [--opponent NAME|FILE|all] [--episodes N] "
        "[--json FILE] [--save-replays N] [--render]",
        "contest.evaluation",
    ),
    "league": Mode(
        "rate checkpoints and pilots by fights of all against all",
        "[--run RUN | FILE …] [--pilots all|none|NAMES] [--games N] [--json FILE] [--out PNG]",
        "contest.match",
    ),
    "panel": Mode(
        "test a policy by a fixed panel of opponents, so that its figures can be quoted",
        "FILE [--seed S] [--episodes N] [--json FILE] [--replay-dir DIR] [--exploit [--budget "
        "STEPS] [--out FILE]]",
        "contest.evaluation",
    ),
    "exploit": Mode(
        "train an opponent against one policy, to see how well that policy can be beaten",
        "--load-model-path latest|best|FILE [--budget STEPS] [--json FILE] [--section.key VALUE …]",
        "train.run",
    ),
    "plot": Mode(
        "draw one engagement of a policy, the space-time graph of one moment of it, or the "
        "learning curves of runs",
        "--load-model-path latest|best|FILE [--opponent NAME|FILE] [--seed S] "
        "[--spacetime SECONDS] [--run RUN …] [--out FILE]",
        "show.engagement_plot",
    ),
    "runs": Mode(
        "list the runs: the start, the progress and the origin of each",
        "[--last N] [--train.data-dir DIR] [--json FILE]",
        None,
    ),
    "average": Mode(
        "make one policy of several checkpoints of a run: the mean of their weights",
        "--run RUN [--last N] | FILE … --out FILE",
        "policies.loading",
    ),
    "export": Mode(
        "write a trained policy as an ONNX file, for any program that can fly it",
        "--load-model-path latest|best|FILE --onnx FILE",
        "policies.exported",
    ),
    "envelope": Mode(
        "find the ranges from which missiles hit, as a table and as polar plots",
        "[--env.<parameter> VALUE …] [--out DIR] [--json FILE]",
        None,
    ),
    "replay": Mode(
        "fly replays again, bit for bit, and show them in a browser, Tacview or a film",
        "FILE … [--verify] [--html FILE] [--acmi FILE] [--gif FILE] [--mp4 FILE] [--tacview]",
        None,
    ),
    "record": Mode(
        "write engagements as a Minari dataset, for imitation and offline learning",
        "--dataset NAME-v0 [--red NAME|FILE] [--blue NAME|FILE] [--episodes N]",
        "contest.match",
    ),
    "play": Mode(
        "fly by hand against a pilot, a policy or another human, or watch two of them fight",
        "[--red human|NAME|FILE] [--blue human|NAME|FILE] [--seed S] [--save DIR]",
        None,  # a fight without a policy begins without torch
    ),
    "serve": Mode(
        "offer seats over HTTP, so that people and programs elsewhere on the machine can fly",
        "[--red agent|NAME|FILE] [--blue agent|NAME|FILE] [--port N] [--clock stands|RATE] "
        "[--fights N] [--record DIR]",
        None,
    ),
}


def main() -> int:
    """Runs sys.argv; returns the exit status."""
    if "_ARGCOMPLETE" in os.environ:  # set by a shell that completes a line
        from midrange_puffer.commands.completion import complete

        complete(MODES, ROOM)
    if os.environ.get("COLUMNS") == "0":  # an unknown width: rich would print empty tables
        del os.environ["COLUMNS"]
    words = sys.argv[1:]
    prints_results = _prints_results(words)
    with lasting(QuietPipe if prints_results else Output) as stdout:
        status = _main(words)
        sys.stdout.flush()
    if prints_results and stdout and stdout.error and stdout.error.errno != errno.EPIPE:
        return status or UserError.exit_code  # the results are lost
    return status


def _main(words: Sequence[str]) -> int:
    """Runs the words after `puffer`; returns the exit status."""
    if not words or words[0] in ("-h", "--help"):
        print(usage())
        return 0 if words else UsageError.exit_code
    if words[0] == "--version":
        print(f"midrange_puffer {__version__}")
        return 0
    try:
        if words[0] == ENV_NAME:
            raise UsageError(_mode_is_missing(words[1:]))
        if len(words) > 1 and not words[1].startswith("-") and words[1] != ENV_NAME:
            become_pufferlib(words)
        with naming_extra(f"puffer {words[0]} needs"):
            return run(words[0], words[2:] if words[1:2] == [ENV_NAME] else words[1:])
    except UserError as error:
        _print_error("\n".join(map(shown, error.args)))
        return error.exit_code
    except OSError as error:  # of a file or folder
        if error.filename is None:
            raise
        _print_error(f"{shown(error.filename)}: {error.strerror}")
        return UserError.exit_code
    except SystemExit as error:  # of argparse, after --help
        return error.code  # pyright: ignore[reportReturnType] - argparse gives an int
    except KeyboardInterrupt:
        print("puffer: interrupted", file=sys.stderr)
        return 128 + signal.SIGINT


def _mode_is_missing(words: Sequence[str]) -> str:
    """Returns the error for the environment's name in place of the mode, before these words."""
    mode = words[0] if words and words[0] in MODES else "<mode>"
    hint = f"write puffer {mode} {ENV_NAME} …; the modes are {', '.join(MODES)}"
    return f"{ENV_NAME}: is the environment and no mode; {hint}"


def _prints_results(words: Sequence[str]) -> bool:
    """True if the results are printed; otherwise all of them go to a folder."""
    mode = MODES.get(words[0]) if words else None
    return mode is None or not mode.has_folder or not {"-h", "--help"}.isdisjoint(words)


def _print_error(message: str) -> None:
    """Prints an error; of very long words, such as paths, only the ends."""
    words = re.sub(r"(\S{100})\S{100,}(\S{100})", r"\1…\2", message)
    print(f"puffer: error: {words}", file=sys.stderr)


def run(mode: str, argv: Sequence[str]) -> int:
    """Runs a mode with the words after the environment's name; returns the exit status.

    Raises:
        UserError: An error that the user can correct.
    """
    if mode not in MODES:
        raise UsageError(
            f"{mode}: no such mode{suggest(mode, MODES)}; the modes are {', '.join(MODES)}"
        )
    if is_rank() and not MODES[mode].in_ranks:
        allowed = " and ".join(name for name in MODES if MODES[name].in_ranks)
        raise UsageError(
            f"{mode}: each process of torchrun would do all of the work; use torchrun only for "
            f"{allowed}"
        )
    module = importlib.import_module(f"{ROOM}.{mode}")
    options = module.read(argv)
    if MODES[mode].loads:
        with _loading_message():
            _import_without_gc(f"{PACKAGE}.{MODES[mode].loads}")
    # From here on Ctrl-C raises KeyboardInterrupt, unless the signal is ignored.
    if signal.getsignal(signal.SIGINT) is signal.SIG_DFL:  # set by __main__
        signal.signal(signal.SIGINT, signal.default_int_handler)
    return module.main(options)


@contextlib.contextmanager
def _loading_message() -> Iterator[None]:
    """Says on stderr that PyTorch is being imported; on a terminal the message then disappears.

    The launcher of ranks has said so for all of them.
    """
    if "torch" in sys.modules or is_rank():
        yield
        return
    disappears = sys.stderr.isatty()
    message = "puffer: loading PyTorch …"
    print(message, end="" if disappears else "\n", file=sys.stderr, flush=True)
    yield
    if disappears:
        print(f"\r{' ' * len(message)}\r", end="", file=sys.stderr, flush=True)


def _import_without_gc(name: str) -> None:
    """Imports a module without looking for garbage, then or later, among its objects.

    Among torch's many objects the search takes as long as the import.
    """
    if name in sys.modules or not gc.isenabled():
        importlib.import_module(name)
        return
    gc.disable()
    try:
        importlib.import_module(name)
    finally:
        gc.freeze()
        gc.enable()


def pufferlibs() -> dict[str, str]:
    """Returns the environments that PufferLib's own command has, and the package of each."""
    spec = importlib.util.find_spec("pufferlib")
    assert spec is not None
    assert spec.submodule_search_locations is not None
    folder = Path(spec.submodule_search_locations[0], "config")
    packages = {"default": ""}
    for path in folder.glob("**/*.ini"):
        ini = configparser.ConfigParser(interpolation=None)
        ini.read(path, encoding="utf-8")
        package = ini.get("base", "package", fallback="")
        packages |= dict.fromkeys(ini.get("base", "env_name", fallback="").split(), package)
    return packages


def become_pufferlib(words: Sequence[str]) -> NoReturn:
    """Replaces this process by PufferLib's own command, with the same words.

    Raises:
        UsageError: PufferLib has no such environment.
    """
    mode, name, *_ = words
    require(f"{name}, an environment of PufferLib, needs", PUFFERLIB)
    names = pufferlibs()
    if name not in names:
        near = suggest(name, [ENV_NAME, *sorted(names)])
        ours = f"; ours is {ENV_NAME}: puffer {mode} {ENV_NAME} …"
        raise UsageError(f"{name}: no such environment, here or in PufferLib{near or ours}")
    if names[name] and {"-h", "--help"}.isdisjoint(words):
        _check_others(name, names[name])
    command = [sys.executable, "-m", "pufferlib.pufferl", *words]
    # PufferLib imports pynvml, and torch warns of that.
    ignored = "ignore:The pynvml package is deprecated:FutureWarning"
    warnings = ",".join(filter(None, (os.environ.get("PYTHONWARNINGS"), ignored)))
    os.execve(sys.executable, command, os.environ | {"PYTHONWARNINGS": warnings})


def _check_others(name: str, package: str) -> None:
    """Imports one of PufferLib's environments, as its own command will.

    Raises:
        UsageError: PufferLib is built without it, or lacks a module that it needs.
    """
    home = "pufferlib.ocean" if package == "ocean" else f"pufferlib.environments.{package}"
    try:
        importlib.import_module(home).env_creator(name)
    except ImportError as error:
        hint = f"its environment needs {error.name}, which is not installed here"
        if package == "ocean":
            hint = (
                "PufferLib is installed without its compiled games; build it from its source: git "
                "clone https://github.com/PufferAI/PufferLib, then pip install -e PufferLib"
            )
        raise UsageError(f"{name}: {hint}") from None


def usage() -> str:
    """Returns the text of `puffer --help`."""
    lines = [f"usage: puffer <mode> {ENV_NAME} …", ""]
    for name, mode in MODES.items():
        lines += [f"  puffer {name} {ENV_NAME} {mode.usage}", f"      {mode.meaning}"]
    lines += [
        "",
        f"`puffer <mode> {ENV_NAME} --help` lists the options of a mode. `midrange` and",
        "`python -m midrange_puffer` are the same command. With the name of any other environment",
        "the command is PufferLib's own: puffer train|eval|sweep|… <environment> …",
        "`puffer --version` prints the version. In bash and zsh TAB completes all this after",
        'eval "$(register-python-argcomplete puffer)"',
    ]
    return "\n".join(lines)
