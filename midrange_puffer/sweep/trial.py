"""The process of one trial: python -m midrange_puffer.sweep.trial FOLDER.

It trains as `trial.ini` in the trial's folder says, and exits with 0 at the end, STOPPED_EXIT where
it was not worth going on, OUTSIDE_EXIT where it could not go on and its settings have no part in
that, as on a full disk, and anything else after another error. Why it ended early is the last line
that it prints; an error is a line that begins with ERROR, which others may say goodbye after.

Its stdin must be a pipe that nobody writes to. When whoever holds the other end is gone, however
that came about, it is the end of this process, too.
"""

import contextlib
import errno
import os
import sys
import threading
import traceback
import warnings
from pathlib import Path

from midrange_puffer.streams import lasting

STOPPED_EXIT = 3
OUTSIDE_EXIT = 4
# Of the system: no room on the disk, a disk that is broken or read-only, or no file left to open.
OUTSIDE_ERRORS = (
    errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EROFS, errno.ESTALE, errno.EMFILE,
    errno.ENFILE,
)  # fmt: skip
ERROR = "puffer: error: "


def main(folder: Path) -> int:
    """Run the trial whose folder this is; return the exit status."""
    threading.Thread(target=_end_with_parent, daemon=True).start()
    _be_killed_first()
    # As for every mode: see cli.main.
    warnings.filterwarnings("ignore", "The pynvml package is deprecated", FutureWarning)
    with lasting():  # the log may be on a disk that is full
        sys.stdout.reconfigure(line_buffering=True)  # so that errors come last
        return _run_to_end(folder)


def _run_to_end(folder: Path) -> int:
    """Run the trial, and say which error ended it; return the exit status."""
    from midrange_puffer.errors import UserError
    from midrange_puffer.files import WriteError
    from midrange_puffer.names import shown

    try:
        return run(folder)
    except UserError as error:
        print(f"{ERROR}{shown(error)}", file=sys.stderr)
        return OUTSIDE_EXIT if isinstance(error, WriteError) else error.exit_code
    except Exception as error:  # now, and not at the exit, where trackers have their last words
        traceback.print_exc()
        print(f"{ERROR}{type(error).__name__}: {' '.join(str(error).split())}", file=sys.stderr)
        return OUTSIDE_EXIT if getattr(error, "errno", None) in OUTSIDE_ERRORS else 1


def run(folder: Path) -> int:
    """Train, and let the policy meet the panel of the sweep; return the exit status.

    Raises:
        UserError: The configuration cannot run, or training failed.
    """
    # Here, because they take seconds, in which the parent may be gone.
    from midrange_puffer.sweep.readings import PanelRater
    from midrange_puffer.sweep.record import TRIAL_INI
    from midrange_puffer.train.run import new_run, train
    from midrange_puffer.train.stop_signals import StopSignals

    with new_run(str(folder / TRIAL_INI), []) as training, StopSignals() as signals:
        rater = PanelRater(folder, training.config.train.total_timesteps)
        train(training, signals, [rater])
    if signals.caught:
        return 128 + signals.caught
    return STOPPED_EXIT if rater.stop_reason and not rater.is_reached else 0


def _end_with_parent() -> None:
    """Wait for the end of stdin, which nobody writes to."""
    os.read(0, 1)  # and not sys.stdin, whose lock would be missed at the end of the interpreter
    os._exit(1)


def _be_killed_first() -> None:
    """Where memory runs out, let Linux end this process before its parent and any other."""
    with contextlib.suppress(OSError):
        Path("/proc/self/oom_score_adj").write_text("1000")


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
