"""The loop of a sweep: gives suggested trials to workers and records the results."""

import contextlib
import signal
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from midrange_puffer.config.configuration import Config, format_config
from midrange_puffer.config.key import Value
from midrange_puffer.config.sections import BaseConfig
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
    Status,
    Trial,
)
from midrange_puffer.sweep.search import Search
from midrange_puffer.sweep.space import trial_config
from midrange_puffer.sweep.trial import OUTSIDE_EXIT, STOPPED_EXIT
from midrange_puffer.sweep.workers import COMMAND, LocalWorker, local_workers
from midrange_puffer.train.cluster.connect import LostError, connected
from midrange_puffer.train.stop_signals import StopSignals

if TYPE_CHECKING:
    from midrange_puffer.sweep.ray_worker import RayWorker

    Worker = LocalWorker | RayWorker

POLL_INTERVAL = 0.1  # time between two looks at the workers [s]
ERROR_EXITS = (1, 2)  # exit statuses of a process that ended by an error
ALIKE = 5  # failures in a row for the same reason, after which the sweep ends
LOSSES = 3  # losses of a trial, after which it has failed: it may be the cause itself


class SweepError(UserError):
    """A sweep that has no finished trial, or cannot go on."""


@contextlib.contextmanager
def workers_of(config: Config, command: Sequence[str] = COMMAND) -> Iterator[Sequence["Worker"]]:
    """Yields the workers of a sweep, on this machine or a Ray cluster.

    Raises:
        UsageError, ClusterError: sweep.engine cannot be used.
    """
    settings = config.sweep
    count = min(settings.workers, settings.trials)
    if settings.engine == "local":
        yield local_workers(settings.workers, command)
        return
    cores = settings.trial_cores
    with connected(config.cluster.address, count * cores):
        from midrange_puffer.sweep.ray_worker import RayWorker, describe_room

        print(describe_room(cores))
        yield [RayWorker(cores, command) for _ in range(count)]


class Runner:
    """The loop of a sweep, which ends when `sweep.trials` trials are over.

    Args:
        record: stores the trials. Trials that an earlier process left unfinished run again first.
        search: suggests the other trials.
        notify: called with each trial that begins, is over, or will run again.
        workers: run the trials.
    """

    def __init__(
        self,
        record: Record,
        search: Search,
        notify: Callable[[Trial], None],
        workers: Sequence["Worker"],
    ) -> None:
        self._record, self._search, self._workers = record, search, workers
        self._notify = notify
        self._settings = record.config.sweep
        self._half_done = [trial for trial in record.trials if trial.status == RUNNING]
        self._run_again = {trial.number for trial in self._half_done}
        self._running: dict[Worker, Trial] = {}
        self._losses = Counter[int]()  # by the trial's number
        self._alike: list[Trial] = []  # the last trials in a row that failed for the same reason

    def run(self) -> None:
        """Runs the trials; an exception kills those that are still running.

        Raises:
            SweepError: A trial failed for a reason outside its settings, or `ALIKE` trials in a row
                failed for the same reason.
            WriteError, OSError: The record cannot be written, or no process can be started.
        """
        try:
            while self._running or self._has_more():
                self._fill()
                time.sleep(POLL_INTERVAL)
                for worker in list(self._running):
                    self._look_after(worker)
        finally:
            for worker in self._workers:  # first all of them, because each takes a while to end
                worker.end()
            for worker in self._workers:
                worker.close()

    def _has_more(self) -> bool:
        """True if there is a trial to begin."""
        return bool(self._half_done) or len(self._record.trials) < self._settings.trials

    def _fill(self) -> None:
        """Starts a trial on every free worker; closes free workers if no trial is left."""
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

    def _begin(self, trial: Trial, worker: "Worker") -> None:
        trial.reason = None  # it was the reason to run again
        self._record.begin(trial)
        write_trial_ini(self._record, trial)
        worker.begin(self._record.trial_folder(trial))
        self._running[worker] = trial
        self._notify(trial)

    def _look_after(self, worker: "Worker") -> None:
        """Reads a trial's state; ends the trial if it is over or has taken too long."""
        trial, limit = self._running[worker], self._settings.max_cost
        try:
            state = worker.look()
        except LostError as error:
            self._lose(worker, str(error))
            return
        except RecordError as error:  # only this trial's readings are damaged
            self._finish(worker, FAILED, str(error))
            return
        trial.readings = state.readings
        if state.code == OUTSIDE_EXIT and not trial.is_trained:  # its record still says RUNNING
            raise SweepError(
                f"{self._record.folder}: trial {trial.number} could not go on, which is no fault "
                f"of its settings. The sweep ends; --resume runs the trial again: "
                f"{state.last_words or f'see {LOG} in its folder'}"
            )
        if state.code is not None:
            self._finish(worker, *judge(state.code, state.last_words))
        elif worker.seconds > limit:
            self._finish(worker, FAILED, f"took longer than sweep.max_cost = {limit:g} s")
        else:
            return
        self._give_up_where_all_fail(trial, ended_in_error=state.code in ERROR_EXITS)

    def _finish(self, worker: "Worker", status: Status, reason: str | None) -> None:
        """Records the end of the trial that a worker ran."""
        trial = self._running[worker]
        if trial.is_trained:  # also if its process failed later, for example in a tracker
            status, reason = FINISHED, None
        # The status is set last: the thread that draws the progress reads it first.
        trial.seconds, trial.reason, trial.status = worker.seconds, reason, status
        worker.end()
        del self._running[worker]
        self._record.save(trial)
        self._notify(trial)

    def _lose(self, worker: "Worker", reason: str) -> None:
        """Lets a trial run again if its process was lost, which its settings did not cause."""
        trial = self._running[worker]
        self._losses[trial.number] += 1
        if trial.is_trained or self._losses[trial.number] == LOSSES:
            self._finish(worker, FAILED, f"lost {LOSSES} times, last {reason}")
            return
        del self._running[worker]
        again = self._record.reset(trial)
        again.reason = reason
        self._half_done.append(again)
        self._notify(again)

    def _give_up_where_all_fail(self, trial: Trial, ended_in_error: bool) -> None:
        """Ends the sweep if trials in a row failed for the same reason, for example a full disk.

        Two kinds of trials do not count: those that took too long or were killed, because their
        settings may be the cause; and those that run again, because otherwise a resumed sweep might
        never end.

        Raises:
            SweepError: `ALIKE` trials in a row have failed for the same reason.
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
    """Writes the complete configuration of a trial, for training in its folder.

    In trackers all trials form a group: wandb's group and neptune's tag are the sweep's name,
    unless the configuration sets them.

    Raises:
        WriteError: The file cannot be written.
    """
    config = trial_config(record.config, trial.params)
    folder = record.trial_folder(trial)
    train: dict[str, Value] = {"seed": trial.seed, "data_dir": str(folder), "run_name": "run"}
    if config.train.replay_interval == "auto":
        train["replay_interval"] = 0
    base: dict[str, Value] = {}
    if config.base.wandb_group == BaseConfig().wandb_group:
        base["wandb_group"] = record.folder.name
    if config.base.tag is None:
        base["tag"] = record.folder.name
    config = config.replaced("train", "the sweep", **train).replaced("base", "the sweep", **base)
    write_whole(folder / TRIAL_INI, format_config(config).encode())


def trial_seed(sweep_seed: int, number: int) -> int:
    """Returns a trial's train.seed, 0 to 2^31 - 1, drawn from the sweep's seed and its number."""
    return int(np.random.SeedSequence((sweep_seed, number)).generate_state(1)[0] >> 1)


def judge(code: int, last_words: str) -> tuple[Status, str]:
    """Returns the status and the reason of a trial whose process has ended early.

    Args:
        code: exit status of the process, or the negative number of a signal.
        last_words: the last error or line that the process printed.
    """
    if code == 0:
        return FAILED, "ended without a reading at the end of its training"
    if code == STOPPED_EXIT:
        return STOPPED, last_words
    if code == -signal.SIGKILL:
        return FAILED, "killed, most likely by the system for want of memory"
    number = -code if code < 0 else code - 128  # 128 + signal, the exit status of `StopSignals`
    if code < 0 or number in StopSignals.SIGNALS:
        names = {entry.value: entry.name for entry in signal.Signals}  # some have no name
        name = names.get(number, f"signal {number}")
        return FAILED, f"ended by {name}; see {LOG} in its folder"
    return FAILED, last_words or f"ended with exit status {code}"
