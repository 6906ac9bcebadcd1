"""Stands in for the process of a trial: python fake_trial.py ACT,ACT,… FOLDER.

Trial n does what the act at place n says, so that whatever becomes of a trial is there at will. It
imports nothing of the package, which would take longer than all that it does.
"""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

STOPPED_EXIT = 3
OUTSIDE_EXIT = 4


def read_panel(folder: Path, share: float) -> None:
    """Writes one more reading, after this share of the training."""
    path, score = folder / "readings.json", share / 2
    total = json.loads((folder / "trial.json").read_text())["total_timesteps"]
    before = json.loads(path.read_text())["readings"] if path.exists() else []
    reading = {
        "agent_steps": round(share * total),
        "seconds": 10 * share,
        "score": score,
        "scores": {"straight": score, "weave": score},
    }
    whole = folder / "readings.new"  # the sweep may read at any time
    whole.write_text(json.dumps({"readings": [*before, reading]}))
    whole.replace(path)


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


def fill(folder: Path) -> None:
    """Fails with a full disk after a reading."""
    read_panel(folder, 0.5)
    print("puffer: error: cannot write run/model_000002.pt: No space left on device")
    sys.exit(OUTSIDE_EXIT)


def crash(folder: Path) -> None:
    read_panel(folder, 0.5)
    raise RuntimeError("out of luck")


def fault(folder: Path) -> None:
    print("the last words")
    sys.stdout.flush()
    signal.signal(signal.SIGSEGV, signal.SIG_DFL)  # not a sanitizer's, if one is preloaded
    os.kill(os.getpid(), signal.SIGSEGV)


def vanish(folder: Path) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def hang(folder: Path) -> None:
    """Hangs, and its worker hangs too."""
    worker = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
    (folder / "workers").write_text(str(worker.pid))
    time.sleep(600)


def linger(folder: Path) -> None:
    """Waits for the end of its parent, as a trial does; finishes at once if `enough` exists."""
    if (folder / "enough").exists():
        return finish(folder)
    read_panel(folder, 0.5)
    (folder / "parent").write_text(str(os.getppid()))
    os.read(0, 1)


def count_cores(folder: Path) -> None:
    print(os.environ["MIDRANGE_CORES"], "cores")
    sys.exit(2)


def muddle(folder: Path) -> None:
    """Writes malformed readings."""
    reading = {"agent_steps": 500, "seconds": 1, "score": -7e15, "scores": {}}
    (folder / "readings.json").write_text(json.dumps({"readings": [reading]}))
    time.sleep(600)


def meet(folder: Path) -> None:
    """Waits for another trial that does the same."""
    (folder / "here").write_text(str(sorted(os.sched_getaffinity(0))))
    while len(list(folder.parent.glob("*/here"))) < 2:
        time.sleep(0.01)
    finish(folder)


if __name__ == "__main__":
    acts, folder = sys.argv[1].split(","), Path(sys.argv[2])
    globals()[acts[int(folder.name)]](folder)
