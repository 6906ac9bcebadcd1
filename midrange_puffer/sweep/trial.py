"""The process of one trial: python -m midrange_puffer.sweep.trial FOLDER.

It trains with the configuration `trial.ini` in the trial's folder. Its exit status is

* 0 at the end of training,
* STOPPED_EXIT if the trial was hopeless; the last printed line is the reason,
* OUTSIDE_EXIT after an error outside its settings, for example a full disk,
* another number after any other error.

An error is printed as a line that begins with ERROR; libraries may print further lines. Stdin must
be a pipe to which nothing is written: the process ends as soon as the parent closes the pipe or
ends.
"""

import contextlib
import errno
import io
import os
import sys
import threading
import traceback
import warnings
from pathlib import Path

from midrange_puffer.streams import lasting

STOPPED_EXIT = 3
OUTSIDE_EXIT = 4
# Errors of the system: a disk that is full, broken or read-only, or too many open files.
OUTSIDE_ERRORS = (
    errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EROFS, errno.ESTALE, errno.EMFILE,
    errno.ENFILE,
)  # fmt: skip
ERROR = "puffer: error: "


def main(folder: Path) -> int:
    """Runs the trial of a folder; returns the exit status."""
    threading.Thread(target=_end_with_parent, daemon=True).start()
    _be_killed_first()
    # torch prints this warning because PufferLib imports pynvml.
    warnings.filterwarnings("ignore", "The pynvml package is deprecated", FutureWarning)
    with lasting():  # the disk with the log may be full
        if isinstance(sys.stdout, io.TextIOWrapper):
            sys.stdout.reconfigure(line_buffering=True)  # so that an error is the last line
        return _run_to_end(folder)


def _run_to_end(folder: Path) -> int:
    """Runs the trial, prints an error if there is one, and returns the exit status."""
    from midrange_puffer.errors import UserError
    from midrange_puffer.files import WriteError
    from midrange_puffer.names import shown

    try:
        return run(folder)
    except UserError as error:
        print(f"{ERROR}{shown(error)}", file=sys.stderr)
        return OUTSIDE_EXIT if isinstance(error, WriteError) else error.exit_code
    except Exception as error:  # any error, to be printed before trackers print their last lines
        traceback.print_exc()
        print(f"{ERROR}{type(error).__name__}: {' '.join(str(error).split())}", file=sys.stderr)
        return OUTSIDE_EXIT if getattr(error, "errno", None) in OUTSIDE_ERRORS else 1


def run(folder: Path) -> int:
    """Trains the policy and measures it; returns the exit status.

    Raises:
        UserError: The configuration cannot run, or training failed.
    """
    # Imported here, after the watch of the parent began: the import takes seconds.
    from midrange_puffer.sweep.readings import TrialRater
    from midrange_puffer.sweep.record import TRIAL_INI
    from midrange_puffer.train.run import new_run, train
    from midrange_puffer.train.run_folder import METRICS
    from midrange_puffer.train.stop_signals import StopSignals

    with new_run(str(folder / TRIAL_INI), []) as training, StopSignals() as signals:
        total = training.config.train.total_timesteps
        rater = TrialRater(folder, total, training.folder / METRICS)
        train(training, signals, [rater])
    if signals.caught:
        return 128 + signals.caught
    return STOPPED_EXIT if rater.stop_reason and not rater.is_reached else 0


def _end_with_parent() -> None:
    """Waits until stdin is closed, then ends the process."""
    os.read(0, 1)  # not sys.stdin, whose lock would block the end of the interpreter
    os._exit(1)


def _be_killed_first() -> None:
    """Makes Linux kill this process before all others if memory runs out."""
    with contextlib.suppress(OSError):
        Path("/proc/self/oom_score_adj").write_text("1000")


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
