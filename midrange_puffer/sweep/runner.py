"""Runs the trials of a sweep: each by a worker, in a process of its own."""

import signal
import time
from collections import Counter
from collections.abc import Callable, Sequence

import numpy as np

from midrange_puffer.config.configuration import format_config
from midrange_puffer.config.schema import schema
from midrange_puffer.errors import UserError
from midrange_puffer.files import write_whole
from midrange_puffer.sweep.record import (
    FAILED,
    FINISHED,
    LOG,
    RUNNING,
    STOPPED,
    TRIAL_INI,
    Record,
    RecordError,
    Trial,
)
from midrange_puffer.sweep.search import Search
from midrange_puffer.sweep.space import trial_config
from midrange_puffer.sweep.trial import OUTSIDE_EXIT, STOPPED_EXIT
from midrange_puffer.sweep.workers import Worker
from midrange_puffer.train.cluster.connect import LostError
from midrange_puffer.train.stop_signals import StopSignals

POLL_INTERVAL = 0.1  # s, from one look at the workers to the next
ERROR_EXITS = (1, 2)  # of a process that ended by an error of its own
ALIKE = 5  # failures in a row, for one reason, that are not the trials' own
LOSSES = 3  # of one trial, by which it has failed: it may be what ends the machines


class SweepError(UserError):
    """A sweep has come to nothing, or cannot go on."""


class Runner:
    """Runs trials until so many are over as the sweep is to have.

    Args:
        record: where what becomes of them is kept. Trials that an earlier process left half done
            are run again, first.
        search: suggests the others.
        tell: called with each trial that begins, is over, or is to be run again.
        workers: run them.
    """

    def __init__(
        self,
        record: Record,
        search: Search,
        tell: Callable[[Trial], None],
        workers: Sequence[Worker],
    ) -> None:
        self._record, self._search, self._tell, self._workers = record, search, tell, workers
        self._settings = record.config.sweep
        self._half_done = [trial for trial in record.trials if trial.status == RUNNING]
        self._run_again = {trial.number for trial in self._half_done}
        self._running: dict[Worker, Trial] = {}
        self._losses = Counter[int]()  # by number
        self._alike: list[Trial] = []  # the last ones, where they failed alike

    def run(self) -> None:
        """Run the trials; those still running when an exception comes are killed.

        Raises:
            SweepError: A trial fails for a reason that is not its own, or one after another does.
            WriteError, OSError: The record cannot be kept, or no process be started.
        """
        try:
            while self._running or self._has_more():
                self._fill()
                time.sleep(POLL_INTERVAL)
                for worker in list(self._running):
                    self._look_after(worker)
        finally:
            for worker in self._workers:  # all at once, where that takes a while
                worker.end()
            for worker in self._workers:
                worker.close()

    def _has_more(self) -> bool:
        """Whether there is a trial to begin."""
        return bool(self._half_done) or len(self._record.trials) < self._settings.trials

    def _fill(self) -> None:
        """Let every worker that is free begin a trial; where there is none, it is let go."""
        for worker in self._workers:
            if worker in self._running:
                continue
            if not self._has_more():
                worker.close()
            elif worker.is_free():
                self._begin(self._next(), worker)

    def _next(self) -> Trial:
        if self._half_done:
            return self._half_done.pop(0)
        number = len(self._record.trials)
        params = self._search.suggest(self._record.trials)
        config = trial_config(self._record.config, params)
        seed = trial_seed(self._settings.seed, number)
        return Trial(number, params, seed, config.train.total_timesteps)

    def _begin(self, trial: Trial, worker: Worker) -> None:
        trial.reason = None  # why it is run again
        self._record.begin(trial)
        write_trial_ini(self._record, trial)
        worker.begin(self._record.trial_folder(trial))
        self._running[worker] = trial
        self._tell(trial)

    def _look_after(self, worker: Worker) -> None:
        """Take in what a trial has read so far, and end it if it is over or has taken too long."""
        trial, limit = self._running[worker], self._settings.max_cost
        try:
            look = worker.look()
        except LostError as error:
            self._lose(worker, str(error))
            return
        except RecordError as error:  # of this trial's readings; the others are as good as before
            self._finish(worker, FAILED, str(error))
            return
        trial.readings = look.readings
        if look.code == OUTSIDE_EXIT and not trial.is_trained:  # in the record it has only begun
            raise SweepError(
                f"{self._record.folder}: trial {trial.number} could not go on, which is no fault "
                f"of its settings. The sweep ends; --resume runs the trial again: "
                f"{look.last_words or f'see {LOG} in its folder'}"
            )
        if look.code is not None:
            self._finish(worker, *judge(look.code, look.last_words))
        elif worker.seconds > limit:
            self._finish(worker, FAILED, f"took longer than sweep.max_cost = {limit:g} s")
        else:
            return
        self._give_up_where_all_fail(trial, ended_in_error=look.code in ERROR_EXITS)

    def _finish(self, worker: Worker, status: str, reason: str) -> None:
        """Note how the trial of a worker has ended."""
        trial = self._running[worker]
        if trial.is_trained:  # whatever came after, such as a tracker that does not end
            status, reason = FINISHED, None
        # In this order: by the status the thread that draws the progress takes the trial for over.
        trial.seconds, trial.reason, trial.status = worker.seconds, reason, status
        worker.end()
        del self._running[worker]
        self._record.save(trial)
        self._tell(trial)

    def _lose(self, worker: Worker, reason: str) -> None:
        """Let a trial be run again whose process is lost: that is no failure of its settings."""
        trial = self._running[worker]
        self._losses[trial.number] += 1
        if trial.is_trained or self._losses[trial.number] == LOSSES:
            self._finish(worker, FAILED, f"lost {LOSSES} times, last {reason}")
            return
        del self._running[worker]
        again = self._record.reset(trial)
        again.reason = reason
        self._half_done.append(again)
        self._tell(again)

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
            f"{self._record.folder}: {ALIKE} trials in a row failed alike. The sweep ends; "
            f"--resume runs them again: {trial.reason}"
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
    train: dict[str, object] = {"seed": trial.seed, "data_dir": str(folder), "run_name": "run"}
    if config.train.replay_interval == "auto":
        train["replay_interval"] = 0
    base: dict[str, object] = {}
    if config.base.wandb_group == schema()["base"]["wandb_group"].default:
        base["wandb_group"] = record.folder.name
    if config.base.tag is None:
        base["tag"] = record.folder.name
    config = config.replaced("train", "the sweep", **train).replaced("base", "the sweep", **base)
    write_whole(folder / TRIAL_INI, format_config(config).encode())


def trial_seed(sweep_seed: int, number: int) -> int:
    """The train.seed of a trial: 0 to 2^31 - 1, another for each."""
    return int(np.random.SeedSequence((sweep_seed, number)).generate_state(1)[0] >> 1)


def judge(code: int, last_words: str) -> tuple[str, str]:
    """Why a process ended before its trial was trained: (status, reason).

    Args:
        code: its exit status; the negative of a signal's number.
        last_words: that it printed.
    """
    if code == 0:
        return FAILED, "ended without a reading at the end of its training"
    if code == STOPPED_EXIT:
        return STOPPED, last_words
    if code == -signal.SIGKILL:
        return FAILED, "killed, most likely by the system for want of memory"
    number = -code if code < 0 else code - 128  # as StopSignals has it
    if code < 0 or number in StopSignals.SIGNALS:
        names = {known.value: known.name for known in signal.Signals}  # not of every real-time one
        name = names.get(number, f"signal {number}")
        return FAILED, f"ended by {name}; see {LOG} in its folder"
    return FAILED, last_words or f"ended with exit status {code}"
