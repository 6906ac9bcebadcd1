"""Runs the trials of a sweep: each in a process of its own, some side by side."""

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from textwrap import shorten

import numpy as np
from rich.text import Text

from midrange_puffer.config import format_config
from midrange_puffer.errors import UserError
from midrange_puffer.files import write_whole
from midrange_puffer.schema import schema
from midrange_puffer.sweep.record import (
    FAILED,
    FINISHED,
    RUNNING,
    STOPPED,
    Record,
    Trial,
    load_readings,
)
from midrange_puffer.sweep.search import Search
from midrange_puffer.sweep.space import trial_config
from midrange_puffer.sweep.trial import ERROR, STOPPED_EXIT
from midrange_puffer.train import StopSignals

COMMAND = (sys.executable, "-m", "midrange_puffer.sweep.trial")  # and the trial's folder
POLL_INTERVAL = 0.1  # s, from one look at the processes to the next
ERROR_EXITS = (1, 2)  # of a process that ended by an error of its own
REASON_LENGTH = 300  # characters
ALIKE = 5  # failures in a row, for one reason, that are not the trials' own


class SweepError(UserError):
    """A sweep has come to nothing, or cannot go on."""


class TrialProcess:
    """The process of one trial.

    It has a session of its own, so that Ctrl-C does not reach it and all of it can be killed at
    once. It reads its stdin, which ends when this process does, and then ends, too.

    Args:
        command: what to run, with `folder` as its last word.
        folder: the trial's; what it prints goes to its trial.log.
        cores: those that it may use.
    """

    LOG = "trial.log"

    def __init__(self, command: Sequence[str], folder: Path, cores: Sequence[int]) -> None:
        # Trackers name a run by its folder, which is `run` for every trial.
        environment = {"WANDB_NAME": folder.name, **os.environ}
        with (folder / self.LOG).open("wb") as log, pinned(cores):
            self._process = subprocess.Popen(
                [*command, str(folder)],
                env=environment,
                stdin=subprocess.PIPE,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        self._began = time.monotonic()

    @property
    def seconds(self) -> float:
        """For how long it has run [s]."""
        return time.monotonic() - self._began

    def poll(self) -> int | None:
        """Its exit status, below 0 where it was a signal's; None while it runs."""
        return self._process.poll()

    def kill(self) -> None:
        """End it with all its workers, if it runs, and wait until it is gone."""
        if self.poll() is None:
            os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()

    def close(self) -> None:
        """Let go of it; it ends if it still runs."""
        self.kill()
        self._process.stdin.close()


class Runner:
    """Runs trials until so many are over as the sweep is to have.

    Args:
        record: where what becomes of them is kept. Trials that an earlier process left half done
            are run again, first.
        search: suggests the others.
        tell: called with each trial that begins and with each that is over.
        command: runs a trial, as sweep/trial.py does: what it prints says why it ended, and its
            exit status how.
    """

    def __init__(
        self,
        record: Record,
        search: Search,
        tell: Callable[[Trial], None],
        command: Sequence[str] = COMMAND,
    ) -> None:
        self._record, self._search, self._tell, self._command = record, search, tell, command
        self._settings = record.config["sweep"]
        self._half_done = [trial for trial in record.trials if trial.status == RUNNING]
        self._run_again = {trial.number for trial in self._half_done}
        self._running: dict[int, tuple[Trial, TrialProcess]] = {}  # by the slot of its cores
        self._alike: list[Trial] = []  # the last ones, where they failed alike

    def run(self) -> None:
        """Run the trials; those still running when an exception comes are killed.

        Raises:
            SweepError: One trial after another fails for a reason that is not its own.
            WriteError, OSError: The record cannot be kept, or no process be started.
        """
        try:
            while True:
                self._fill()
                if not self._running:
                    return
                time.sleep(POLL_INTERVAL)
                for slot in list(self._running):
                    self._look_after(slot)
        finally:
            for _, process in self._running.values():
                process.close()

    def _fill(self) -> None:
        """Begin a trial wherever there is room for one and one to begin."""
        workers = self._settings["workers"]
        for slot in range(workers):
            if slot not in self._running and (trial := self._next()):
                self._begin(trial, slot)

    def _next(self) -> Trial | None:
        if self._half_done:
            return self._half_done.pop(0)
        number = len(self._record.trials)
        if number >= self._settings["trials"]:
            return None
        params = self._search.suggest(self._record.trials)
        config = trial_config(self._record.config, params)
        seed = trial_seed(self._settings["seed"], number)
        return Trial(number, params, seed, config["train"]["total_timesteps"])

    def _begin(self, trial: Trial, slot: int) -> None:
        self._record.begin(trial)
        write_trial_ini(self._record, trial)
        folder = self._record.trial_folder(trial)
        cores = share_of_cores(slot, self._settings["workers"])
        self._running[slot] = trial, TrialProcess(self._command, folder, cores)
        self._tell(trial)

    def _look_after(self, slot: int) -> None:
        """Take in what a trial has read so far, and end it if it is over or has taken too long."""
        trial, process = self._running[slot]
        folder = self._record.trial_folder(trial)
        code, limit = process.poll(), self._settings["max_cost"]
        trial.readings = load_readings(folder)
        if code is not None:
            status, reason = judge(code, folder / TrialProcess.LOG)
        elif process.seconds > limit:
            status, reason = FAILED, f"took longer than sweep.max_cost = {limit:g} s"
        else:
            return
        if trial.is_trained:  # whatever came after, such as a tracker that does not end
            status, reason = FINISHED, None
        # In this order: by the status the thread that draws the progress takes the trial for over.
        trial.seconds, trial.reason, trial.status = process.seconds, reason, status
        process.close()
        del self._running[slot]
        self._record.save(trial)
        self._tell(trial)
        self._give_up_where_all_fail(trial, ended_in_error=code in ERROR_EXITS)

    def _give_up_where_all_fail(self, trial: Trial, ended_in_error: bool) -> None:
        """Keep a cause outside the trials, such as a full disk, from using up all that are left.

        A trial that took too long or was killed has done that itself. One that is run again does
        not count, so that every sweep comes to its end.
        """
        alike = [before for before in self._alike if before.reason == trial.reason]
        counts = ended_in_error and trial.status == FAILED and not trial.readings
        self._alike = [*alike, trial] if counts and trial.number not in self._run_again else []
        if len(self._alike) < ALIKE:
            return
        for failed in self._alike:
            self._record.reset(failed)
        raise SweepError(
            f"{self._record.folder}: {ALIKE} trials in a row failed alike, and are run again where "
            f"the sweep goes on: {trial.reason}"
        )


def write_trial_ini(record: Record, trial: Trial) -> None:
    """Write the complete configuration of a trial, for training in its folder.

    Trackers see the sweep as a group, unless they are told of another: wandb by its group, neptune
    by its tag.

    Raises:
        WriteError: It cannot be written.
    """
    config = trial_config(record.config, trial.params)
    folder = record.trial_folder(trial)
    config["train"].update(seed=trial.seed, data_dir=str(folder), run_name="run")
    if config["train"]["replay_interval"] == "auto":
        config["train"]["replay_interval"] = 0
    base, name = config["base"], record.folder.name
    if base["wandb_group"] == schema()["base"]["wandb_group"].default:
        base["wandb_group"] = name
    if base["tag"] is None:
        base["tag"] = name
    write_whole(folder / "trial.ini", format_config(config).encode())


def trial_seed(sweep_seed: int, number: int) -> int:
    """The train.seed of a trial: 0 to 2^31 - 1, another for each."""
    return int(np.random.SeedSequence((sweep_seed, number)).generate_state(1)[0] >> 1)


def judge(code: int, log: Path) -> tuple[str, str]:
    """Why a process ended before its trial was trained: (status, reason).

    Args:
        code: its exit status; the negative of a signal's number.
        log: what it printed.
    """
    if code == 0:
        return FAILED, "ended without a reading at the end of its training"
    if code == STOPPED_EXIT:
        return STOPPED, last_words(log)
    if code == -signal.SIGKILL:
        return FAILED, "killed, most likely by the system for want of memory"
    number = -code if code < 0 else code - 128  # as StopSignals has it
    if code < 0 or number in StopSignals.SIGNALS:
        names = {known.value: known.name for known in signal.Signals}  # not of every real-time one
        name = names.get(number, f"signal {number}")
        return FAILED, f"ended by {name}; see {log.name} in its folder"
    return FAILED, last_words(log) or f"ended with exit status {code}"


def last_words(log: Path) -> str:
    """The last error in what a process printed, or else the last line.

    Without what differs where trials fail alike: the folder.
    """
    text = Text.from_ansi(log.read_text(errors="replace")).plain
    lines = [line for line in text.splitlines() if line.strip()]
    errors = [line.removeprefix(ERROR) for line in lines if line.startswith(ERROR)]
    words = (errors or lines or [""])[-1]
    return shorten(words.replace(f"{log.parent}/", ""), REASON_LENGTH)


def share_of_cores(slot: int, workers: int) -> list[int]:
    """The cores of one of so many workers: a share of those that this process may use."""
    if not hasattr(os, "sched_getaffinity"):
        return []
    cores = sorted(os.sched_getaffinity(0))
    return cores[slot::workers] or [cores[slot % len(cores)]]


@contextlib.contextmanager
def pinned(cores: Sequence[int]) -> Iterator[None]:
    """Keep this thread, and what it starts meanwhile, to some cores; none given: to no fewer."""
    if not cores:
        yield
        return
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, cores)
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)
