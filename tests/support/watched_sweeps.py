"""A sweep whose suggestions are known, and waiting for its processes."""

import contextlib
import time
from pathlib import Path

import psutil

from midrange_puffer.config.reading import load_config
from midrange_puffer.sweep.record import FAILED, FINISHED, STOPPED, Record
from midrange_puffer.sweep.search import Search


class Gammas(Search):
    """Suggests a discount after another, and notes what it was told."""

    def __init__(self) -> None:
        self.told = []

    def suggest(self, trials):
        self.told.append([(trial.number, trial.status) for trial in trials])
        return {"train.gamma": 0.9 + len(trials) / 100}


def new_record(folder: Path, *options: str) -> Record:
    words = ["--sweep.train.gamma.min=0.9", "--sweep.train.gamma.max=0.99"]
    return Record.create(folder / "sweep", load_config(None, [*words, *options]))


def wait_for(path: Path) -> int:
    """The process id that is going to stand in a file."""
    while not (path.exists() and path.read_text()):
        time.sleep(0.01)
    return int(path.read_text())


def ends(pid: int) -> bool:
    """Whether a process ends; one that was killed may take a moment."""
    until = time.monotonic() + 30
    with contextlib.suppress(psutil.NoSuchProcess):
        while psutil.Process(pid).status() != psutil.STATUS_ZOMBIE:
            if time.monotonic() > until:
                return False
            time.sleep(0.01)
    return True


ENDS = {
    "finish": (FINISHED, 2, None),
    "stop": (STOPPED, 1, "below the quantile"),
    "refuse": (FAILED, 0, "train.batch_size 3 must be a multiple of 4"),
    "crash": (FAILED, 1, "RuntimeError: out of luck"),
    "fault": (FAILED, 0, "ended by SIGSEGV; see trial.log in its folder"),
    "vanish": (FAILED, 0, "killed, most likely by the system for want of memory"),
    "end_half_way": (FAILED, 1, "ended without a reading at the end of its training"),
}
