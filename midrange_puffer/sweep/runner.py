"""The loop of a sweep: suggests trials, gives them to workers and records their ends."""

import contextlib
import signal
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from midrange_puffer.config.configuration import Config, format_config
from midrange_puffer.config.key import Value
from midrange_puffer.config.sections import Base
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

POLL_INTERVAL = 0.1  # s, from one look at the workers to the next
ERROR_EXITS = (1, 2)  # of a process that ended by an error of its own
ALIKE = 5  # failures in a row, for one reason, that are not the trials' own
LOSSES = 3  # of one trial, after which it has failed: it may end the machines itself


class SweepError(UserError):
    """A sweep without a finished trial, or one that cannot go on."""


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
    """The loop of a sweep, until the number of trials that it is to have are over.

    Args:
        record: keeps the trials. Those that an earlier process left half done run again first.
        search: suggests the others.
        notify: called with each trial that begins, is over, or is to run again.
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
        self._losses = Counter[int]()  # by number
        self._alike: list[Trial] = []  # the last ones, if they failed alike

    def run(self) -> None:
        """Runs the trials; an exception kills those still running.

        Raises:
            SweepError: A trial failed for a reason outside its settings, or several in a row did.
            WriteError, OSError: The record cannot be written, or no process can be started.
        """
        try:
            while self._running or self._has_more():
                self._fill()
                time.sleep(POLL_INTERVAL)
                for worker in list(self._running):
                    self._look_after(worker)
        finally:
            for worker in self._workers:  # all at once, because that may take a while
                worker.end()
            for worker in self._workers:
                worker.close()

    def _has_more(self) -> bool:
        """True if there is a trial to begin."""
        return bool(self._half_done) or len(self._record.trials) < self._settings.trials

    def _fill(self) -> None:
        """Lets every free worker begin a trial; closes it if there is none."""
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
        trial.reason = None  # that it runs again
        self._record.begin(trial)
        write_trial_ini(self._record, trial)
        worker.begin(self._record.trial_folder(trial))
        self._running[worker] = trial
        self._notify(trial)

    def _look_after(self, worker: "Worker") -> None:
        """Takes in a trial's readings, and ends it if it is over or has taken too long."""
        trial, limit = self._running[worker], self._settings.max_cost
        try:
            look = worker.look()
        except LostError as error:
            self._lose(worker, str(error))
            return
        except RecordError as error:  # of this trial's readings alone
            self._finish(worker, FAILED, str(error))
            return
        trial.readings = look.readings
        if look.code == OUTSIDE_EXIT and not trial.is_trained:  # its record still says running
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

    def _finish(self, worker: "Worker", status: Status, reason: str | None) -> None:
        """Records the end of a worker's trial."""
        trial = self._running[worker]
        if trial.is_trained:  # even if its end failed, as a tracker's may
            status, reason = FINISHED, None
        # Status last: by it the thread that draws the progress takes the trial for over.
        trial.seconds, trial.reason, trial.status = worker.seconds, reason, status
        worker.end()
        del self._running[worker]
        self._record.save(trial)
        self._notify(trial)

    def _lose(self, worker: "Worker", reason: str) -> None:
        """Lets a trial run again whose process was lost, through no fault of its settings."""
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
        """Ends the sweep if trials in a row failed alike, as on a full disk.

        A trial that took too long or was killed does not count: its settings may be the cause. Nor
        does one that runs again, so that every sweep ends.

        Raises:
            SweepError: So many trials failed alike.
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

    Trackers show the sweep as a group, unless the configuration names another: wandb by its group,
    neptune by its tag.

    Raises:
        WriteError: The file cannot be written.
    """
    config = trial_config(record.config, trial.params)
    folder = record.trial_folder(trial)
    train: dict[str, Value] = {"seed": trial.seed, "data_dir": str(folder), "run_name": "run"}
    if config.train.replay_interval == "auto":
        train["replay_interval"] = 0
    base: dict[str, Value] = {}
    if config.base.wandb_group == Base().wandb_group:
        base["wandb_group"] = record.folder.name
    if config.base.tag is None:
        base["tag"] = record.folder.name
    config = config.replaced("train", "the sweep", **train).replaced("base", "the sweep", **base)
    write_whole(folder / TRIAL_INI, format_config(config).encode())


def trial_seed(sweep_seed: int, number: int) -> int:
    """Returns the train.seed of a trial: 0 to 2^31 - 1, another for each."""
    return int(np.random.SeedSequence((sweep_seed, number)).generate_state(1)[0] >> 1)


def judge(code: int, last_words: str) -> tuple[Status, str]:
    """Returns the status and the reason of a trial that was not trained to its end.

    Args:
        code: exit status of its process, or the negative number of a signal.
        last_words: that the process printed.
    """
    if code == 0:
        return FAILED, "ended without a reading at the end of its training"
    if code == STOPPED_EXIT:
        return STOPPED, last_words
    if code == -signal.SIGKILL:
        return FAILED, "killed, most likely by the system for want of memory"
    number = -code if code < 0 else code - 128  # as of StopSignals
    if code < 0 or number in StopSignals.SIGNALS:
        names = {entry.value: entry.name for entry in signal.Signals}  # some have no name
        name = names.get(number, f"signal {number}")
        return FAILED, f"ended by {name}; see {LOG} in its folder"
    return FAILED, last_words or f"ended with exit status {code}"
