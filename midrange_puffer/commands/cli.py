"""The command line: `puffer <mode> midrange …`; other environments go to PufferLib."""

import difflib
import errno
import gc
import importlib
import os
import re
import signal
import sys
import textwrap
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from types import ModuleType
from typing import NoReturn

from midrange_puffer.errors import UsageError, UserError
from midrange_puffer.names import shown
from midrange_puffer.streams import Output, QuietPipe, lasting

ENV_NAME = "midrange"


@dataclass(frozen=True)
class Mode:
    """One thing that can be done with midrange: `module`.main(argv) -> exit status.

    `in_ranks`: it may run in several processes that know of each other, by --ranks or torchrun.
    `has_folder`: its results are in a folder; what it prints only tells of its progress.
    """

    module: str
    meaning: str
    usage: str
    in_ranks: bool = False
    has_folder: bool = False


# Of the modes that may run in ranks.
RANK_OPTIONS = {
    "--ranks N": "learn in so many processes of this machine, side by side",
    "--max-restarts N": "how often to go on from the last checkpoint after one has failed (0)",
}

# Of the modes that take a whole configuration: what they take besides.
CONFIG_OPTIONS = {
    "train": {
        "--config FILE": "an ini file whose values replace the defaults: configs/default.ini, or a "
        "run's config.ini",
        "--resume RUN": "go on with a run: its folder, its name, or `latest`",
        **RANK_OPTIONS,
    },
    "sweep": {
        "--config FILE": "an ini file that also says what is varied: configs/sweep.ini",
        "--resume SWEEP": "go on with a sweep: its folder, its name, or `latest`",
        "--report SWEEP": "write report.html and best.ini of a sweep; it may still be running",
    },
    "profile": {
        "--config FILE": "an ini file whose values replace the defaults: configs/default.ini, or a "
        "run's config.ini",
        "--updates N": "how many updates are measured (10)",
        "--out DIR": "the folder for profile.json and trace.json.gz (profile)",
        **RANK_OPTIONS,
    },
}

MODES = {
    "train": Mode(
        "midrange_puffer.commands.train",
        "train a policy with PuffeRL",
        "[--config FILE] [--section.key VALUE …] [--resume RUN] [--ranks N]",
        in_ranks=True,
        has_folder=True,
    ),
    "sweep": Mode(
        "midrange_puffer.commands.sweep",
        "search for better hyperparameters and rewards by many trainings",
        "--config FILE | --resume SWEEP | --report SWEEP [--section.key VALUE …]",
        has_folder=True,
    ),
    "profile": Mode(
        "midrange_puffer.commands.profile",
        "measure where the time of a training goes: environment, copies, inference, learning",
        "[--config FILE] [--section.key VALUE …] [--updates N] [--out DIR] [--ranks N]",
        in_ranks=True,
    ),
    "eval": Mode(
        "midrange_puffer.commands.eval",
        "measure a trained policy against the scripted pilots",
        "--load-model-path latest|FILE [--opponent NAME|FILE|all] [--episodes N] [--json FILE] "
        "[--save-replays N] [--render]",
    ),
    "league": Mode(
        "midrange_puffer.commands.league",
        "rate checkpoints and pilots by fights of all against all",
        "[--run RUN | FILE …] [--pilots all|none|NAMES] [--games N] [--json FILE] [--out PNG]",
    ),
    "exploit": Mode(
        "midrange_puffer.commands.exploit",
        "train an opponent against one policy, to see how well that policy can be beaten",
        "--load-model-path latest|FILE [--budget STEPS] [--json FILE] [--section.key VALUE …]",
    ),
    "plot": Mode(
        "midrange_puffer.commands.plot",
        "draw one engagement of a policy, the space-time graph of one moment of it, or the "
        "learning curves of runs",
        "--load-model-path latest|FILE [--opponent NAME|FILE] [--seed S] [--spacetime SECONDS] "
        "[--run RUN …] [--out FILE]",
    ),
    "runs": Mode(
        "midrange_puffer.commands.runs",
        "list the runs: how far each is, and what it was made from",
        "[--last N] [--train.data-dir DIR] [--json FILE]",
    ),
    "export": Mode(
        "midrange_puffer.commands.export",
        "write a trained policy as an ONNX file, for any program that can fly it",
        "--load-model-path latest|FILE --onnx FILE",
    ),
    "envelope": Mode(
        "midrange_puffer.commands.envelope",
        "find from where missiles hit, as a table and as polar plots",
        "[--env.<parameter> VALUE …] [--out DIR] [--json FILE]",
    ),
    "replay": Mode(
        "midrange_puffer.commands.replay",
        "fly replays again, bit for bit, and show them in a browser, Tacview or a film",
        "FILE … [--verify] [--html FILE] [--acmi FILE] [--gif FILE] [--mp4 FILE]",
    ),
    "play": Mode(
        "midrange_puffer.commands.play",
        "fly by hand against a pilot, a policy or another human, or watch two of them fight",
        "[--red human|NAME|FILE] [--blue human|NAME|FILE] [--seed S] [--save DIR]",
    ),
}


def main() -> int:
    """Run sys.argv; return the exit status."""
    # PufferLib requires pynvml, whose mere presence makes torch warn.
    warnings.filterwarnings("ignore", "The pynvml package is deprecated", FutureWarning)
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
    if len(words) > 1 and not words[1].startswith("-") and words[1] != ENV_NAME:
        _become_pufferlib()
    try:
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
        from midrange_puffer.game.parameters import suggest

        raise UsageError(
            f"{mode}: no such mode{suggest(mode, MODES)}; the modes are {', '.join(MODES)}"
        )
    if mode in CONFIG_OPTIONS and _asks_for_help(argv):
        print(config_help(mode))
        return 0
    # What torchrun sets, and torch.distributed.is_torchelastic_launched() looks at.
    if "TORCHELASTIC_RUN_ID" in os.environ and not MODES[mode].in_ranks:
        allowed = " and ".join(name for name in MODES if MODES[name].in_ranks)
        raise UsageError(
            f"{mode}: each process of torchrun would do all of the work; use torchrun only for "
            f"{allowed}"
        )
    main = _imported(MODES[mode].module).main
    # All is imported: from here on Ctrl-C raises KeyboardInterrupt.
    if signal.getsignal(signal.SIGINT) is signal.SIG_DFL:  # as __main__ has set it
        signal.signal(signal.SIGINT, signal.default_int_handler)
    return main(argv)


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
    ]
    return "\n".join(lines)


def config_help(mode: str) -> str:
    """What the help of a mode in CONFIG_OPTIONS prints: every key of the configuration."""
    from midrange_puffer.config.schema import help_sections

    lines = [f"usage: puffer {mode} {ENV_NAME} {MODES[mode].usage}", ""]
    lines += [f"  {option:<18}{meaning}" for option, meaning in CONFIG_OPTIONS[mode].items()]
    lines += [
        "",
        "Every key below may stand in that file, in its section, and is an option here:",
        "--section.key VALUE, or --key VALUE for a key of [base]. '-' and '_' are the same.",
        "The default is on the right.",
    ]
    for section, keys in help_sections().items():
        lines += ["", f"[{section}]"]
        for key in keys.values():
            prefix = "" if section == "base" else f"{section}."
            option = f"--{prefix}{key.name}".replace("_", "-")
            unit = f" ({key.unit})" if key.unit not in ("", "1") else ""
            lines.append(f"  {option:<44} {key.default}")
            text = f"{key.meaning}{unit} [{key.allowed}]"
            lines += textwrap.wrap(text, 96, initial_indent=" " * 6, subsequent_indent=" " * 6)
    return "\n".join(lines)


def _become_pufferlib() -> NoReturn:
    """Replace this process by PufferLib's own command, with the same words."""
    if difflib.get_close_matches(sys.argv[2], [ENV_NAME]):
        print(
            f"puffer: {shown(sys.argv[2])} is handed on to PufferLib; did you mean {ENV_NAME}?",
            file=sys.stderr,
        )
    os.execv(sys.executable, [sys.executable, "-m", "pufferlib.pufferl", *sys.argv[1:]])
