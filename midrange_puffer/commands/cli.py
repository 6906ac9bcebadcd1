"""The command line: `puffer <mode> midrange …`; other environments go to PufferLib."""

import contextlib
import errno
import gc
import importlib
import os
import re
import signal
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from types import ModuleType

from midrange_puffer import __version__
from midrange_puffer.commands.environments import ENV_NAME, become_pufferlib
from midrange_puffer.commands.options.configured import is_rank
from midrange_puffer.errors import UsageError, UserError
from midrange_puffer.game.parameters import suggest
from midrange_puffer.names import shown
from midrange_puffer.streams import Output, QuietPipe, lasting

ROOM = __name__.rpartition(".")[0]


@dataclass(frozen=True)
class Mode:
    """One thing that can be done with midrange.

    The module of its name in `options` reads its words, and the one beside this file does it.

    `in_ranks`: it may run in several processes that know of each other, by --ranks or torchrun.
    `has_folder`: its results are in a folder; what it prints only tells of its progress.
    `needs_torch`: which takes seconds to be imported.
    """

    meaning: str
    usage: str
    in_ranks: bool = False
    has_folder: bool = False
    needs_torch: bool = True


MODES = {
    "train": Mode(
        "train a policy with PuffeRL",
        "[--config FILE] [--section.key VALUE …] [--resume RUN] [--ranks N]",
        in_ranks=True,
        has_folder=True,
    ),
    "sweep": Mode(
        "search for better hyperparameters and rewards by many trainings",
        "--config FILE | --resume SWEEP | --report SWEEP [--section.key VALUE …]",
        has_folder=True,
    ),
    "profile": Mode(
        "measure where the time of a training goes: environment, copies, inference, learning",
        "[--config FILE] [--section.key VALUE …] [--updates N] [--out DIR] [--ranks N]",
        in_ranks=True,
    ),
    "eval": Mode(
        "measure a trained policy against the scripted pilots",
        "--load-model-path latest|best|FILE [--opponent NAME|FILE|all] [--episodes N] "
        "[--json FILE] [--save-replays N] [--render]",
    ),
    "league": Mode(
        "rate checkpoints and pilots by fights of all against all",
        "[--run RUN | FILE …] [--pilots all|none|NAMES] [--games N] [--json FILE] [--out PNG]",
    ),
    "panel": Mode(
        "test a policy by a fixed panel of opponents, so that its figures can be quoted",
        "FILE [--seed S] [--episodes N] [--json FILE] [--replay-dir DIR] [--exploit [--budget "
        "STEPS] [--out FILE]]",
    ),
    "exploit": Mode(
        "train an opponent against one policy, to see how well that policy can be beaten",
        "--load-model-path latest|best|FILE [--budget STEPS] [--json FILE] [--section.key VALUE …]",
    ),
    "plot": Mode(
        "draw one engagement of a policy, the space-time graph of one moment of it, or the "
        "learning curves of runs",
        "--load-model-path latest|best|FILE [--opponent NAME|FILE] [--seed S] "
        "[--spacetime SECONDS] [--run RUN …] [--out FILE]",
    ),
    "runs": Mode(
        "list the runs: how far each is, and what it was made from",
        "[--last N] [--train.data-dir DIR] [--json FILE]",
        needs_torch=False,
    ),
    "average": Mode(
        "make one policy of several checkpoints of a run: the mean of their weights",
        "--run RUN [--last N] | FILE … --out FILE",
    ),
    "export": Mode(
        "write a trained policy as an ONNX file, for any program that can fly it",
        "--load-model-path latest|best|FILE --onnx FILE",
    ),
    "envelope": Mode(
        "find from where missiles hit, as a table and as polar plots",
        "[--env.<parameter> VALUE …] [--out DIR] [--json FILE]",
        needs_torch=False,
    ),
    "replay": Mode(
        "fly replays again, bit for bit, and show them in a browser, Tacview or a film",
        "FILE … [--verify] [--html FILE] [--acmi FILE] [--gif FILE] [--mp4 FILE]",
        needs_torch=False,
    ),
    "play": Mode(
        "fly by hand against a pilot, a policy or another human, or watch two of them fight",
        "[--red human|NAME|FILE] [--blue human|NAME|FILE] [--seed S] [--save DIR]",
        needs_torch=False,  # a fight without a policy does not
    ),
}


def main() -> int:
    """Run sys.argv; return the exit status."""
    if "_ARGCOMPLETE" in os.environ:  # a shell asks what may follow
        from midrange_puffer.commands.completion import complete

        complete(MODES, f"{ROOM}.options")
    if os.environ.get("COLUMNS") == "0":  # as where nobody knows: rich would print empty tables
        del os.environ["COLUMNS"]
    words = sys.argv[1:]
    prints_results = _prints_results(words)
    with lasting(QuietPipe if prints_results else Output) as stdout:
        status = _main(words)
        sys.stdout.flush()
    if prints_results and stdout and stdout.error and stdout.error.errno != errno.EPIPE:
        return status or UserError.exit_code  # what was asked for is lost
    return status


def _main(words: Sequence[str]) -> int:
    """Run the words after `puffer`; return the exit status."""
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
        return run(words[0], words[2:] if words[1:2] == [ENV_NAME] else words[1:])
    except UserError as error:
        _print_error("\n".join(map(shown, error.args)))
        return error.exit_code
    except OSError as error:  # of a file or folder that something is wrong with
        if error.filename is None:
            raise
        _print_error(f"{shown(error.filename)}: {error.strerror}")
        return UserError.exit_code
    except SystemExit as error:  # of argparse, after --help
        return error.code
    except KeyboardInterrupt:
        print("puffer: interrupted", file=sys.stderr)
        return 128 + signal.SIGINT


def _mode_is_missing(words: Sequence[str]) -> str:
    """What to say where the environment stands in the place of the mode, before these words."""
    mode = words[0] if words and words[0] in MODES else "<mode>"
    hint = f"write puffer {mode} {ENV_NAME} …; the modes are {', '.join(MODES)}"
    return f"{ENV_NAME}: is the environment and no mode; {hint}"


def _prints_results(words: Sequence[str]) -> bool:
    """Whether what the words ask for is printed; otherwise all of it is found in a folder."""
    mode = MODES.get(words[0]) if words else None
    return mode is None or not mode.has_folder or _asks_for_help(words)


def _asks_for_help(words: Sequence[str]) -> bool:
    return not {"-h", "--help"}.isdisjoint(words)


def _print_error(message: str) -> None:
    """Print an error, and only the ends of words that are too long to be read, as paths may be."""
    words = re.sub(r"(\S{100})\S{100,}(\S{100})", r"\1…\2", message)
    print(f"puffer: error: {words}", file=sys.stderr)


def run(mode: str, argv: Sequence[str]) -> int:
    """Run one of our modes with the words after the environment's name.

    Raises:
        UserError: Something the user can mend is wrong.
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
    options = _imported(f"{ROOM}.options.{mode}").read(argv)
    with _awaited(mode):
        main = _imported(f"{ROOM}.{mode}").main
    # All is imported: from here on Ctrl-C raises KeyboardInterrupt.
    if signal.getsignal(signal.SIGINT) is signal.SIG_DFL:  # as __main__ has set it
        signal.signal(signal.SIGINT, signal.default_int_handler)
    return main(options)


@contextlib.contextmanager
def _awaited(mode: str) -> Iterator[None]:
    """Say on stderr what is awaited while a mode's module is imported, if that takes long.

    Of ranks the launcher has said so. On a terminal the word goes away again.
    """
    if not MODES[mode].needs_torch or "torch" in sys.modules or is_rank():
        yield
        return
    passes = sys.stderr.isatty()
    word = "puffer: loading PyTorch …"
    print(word, end="" if passes else "\n", file=sys.stderr, flush=True)
    yield
    if passes:
        print(f"\r{' ' * len(word)}\r", end="", file=sys.stderr, flush=True)


def _imported(name: str) -> ModuleType:
    """Import a module, and look for garbage neither meanwhile nor ever among what it brings.

    Of torch's objects there are so many that looking takes as long as importing them.
    """
    if name in sys.modules or not gc.isenabled():
        return importlib.import_module(name)
    gc.disable()
    try:
        return importlib.import_module(name)
    finally:
        gc.freeze()
        gc.enable()


def usage() -> str:
    """What `puffer --help` prints."""
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
