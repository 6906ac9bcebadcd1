"""Stands in for the process of a trial: python fake_trial.py ACT,ACT,… FOLDER.

Trial n does what the act at place n says, so that whatever becomes of a trial is there at will.
"""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from midrange_puffer.config import load_config
from midrange_puffer.sweep.record import Reading, load_readings, save_readings
from midrange_puffer.sweep.trial import STOPPED_EXIT


def read_panel(folder: Path, share: float) -> None:
    """Note one more reading, after this share of the training."""
    total = load_config(folder / "trial.ini")["train"]["total_timesteps"]
    scores = dict.fromkeys(("straight", "weave"), share / 2)
    reading = Reading(round(share * total), 10 * share, share / 2, scores)
    save_readings(folder, [*load_readings(folder), reading])


def finish(folder: Path) -> None:
    print("training")
    read_panel(folder, 0.5)
    read_panel(folder, 1.0)


def end_half_way(folder: Path) -> None:
    read_panel(folder, 0.5)


def stop(folder: Path) -> None:
    read_panel(folder, 0.5)
    print("below the quantile")
    sys.exit(STOPPED_EXIT)


def refuse(folder: Path) -> None:
    print("puffer: error: train.batch_size 3 must be a multiple of 4")
    sys.exit(2)


def crash(folder: Path) -> None:
    read_panel(folder, 0.5)
    raise RuntimeError("out of luck")


def fault(folder: Path) -> None:
    print("the last words")
    sys.stdout.flush()
    os.kill(os.getpid(), signal.SIGSEGV)


def vanish(folder: Path) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def hang(folder: Path) -> None:
    """Beside a worker that hangs, too."""
    worker = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
    (folder / "workers").write_text(str(worker.pid))
    time.sleep(600)


def meet(folder: Path) -> None:
    """Wait for another that does so at the same time."""
    (folder / "here").write_text(str(sorted(os.sched_getaffinity(0))))
    while len(list(folder.parent.glob("*/here"))) < 2:
        time.sleep(0.01)
    finish(folder)


if __name__ == "__main__":
    acts, folder = sys.argv[1].split(","), Path(sys.argv[2])
    globals()[acts[int(folder.name)]](folder)
