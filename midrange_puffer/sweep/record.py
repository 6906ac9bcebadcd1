"""The folder of a sweep: its configuration and its trials. Every file is always complete.

- sweep.ini: the complete configuration
- trials/0007/trial.json: the record of trial 7
- trials/0007/readings.json: the scores that its process has measured so far
- trials/0007/trial.ini, trial.log: its configuration, and the output of its process
- trials/0007/run/: its run folder, as `puffer train` writes it
"""

import shutil
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Annotated, Final, Literal

from midrange_puffer.config.configuration import Config, format_config, own_names
from midrange_puffer.config.key import Key
from midrange_puffer.config.reading import load_config
from midrange_puffer.config.schema import sweepable
from midrange_puffer.config.sweep_sections import METRICS_OF_PANEL, SweepConfig
from midrange_puffer.errors import UsageError
from midrange_puffer.files import TEMPORARY, make_folder, write_json, write_whole
from midrange_puffer.json_files import Count, JsonError, Share, Within, read_json
from midrange_puffer.names import suggest

RUNNING: Final = "running"  # or was running when the sweep was stopped
FINISHED: Final = "finished"
STOPPED: Final = "stopped"  # ended early, as hopeless
FAILED: Final = "failed"

MEAN, WORST, TIME = METRICS_OF_PANEL  # values of sweep.metric; others are metrics of the runs

TRIAL_INI = "trial.ini"  # its name in a trial's folder
LOG = "trial.log"


Status = Literal["running", "finished", "stopped", "failed"]
_Seconds = Annotated[float, Within(0, 1e12)]


class RecordError(UsageError):
    """A folder that is no sweep's folder, or is damaged."""


def is_of_runs(settings: SweepConfig) -> bool:
    """True if sweep.metric is a metric of the runs, and no score against the panel."""
    return settings.metric not in METRICS_OF_PANEL


@dataclass(frozen=True)
class Reading:
    """A measurement of a policy in training.

    Attributes:
        agent_steps: agent decisions of training so far.
        seconds: time of training so far [s], without measurements.
        score: the objective by `sweep.metric`, which the sweep maximises; from 0 to 1 if it is
            computed from `scores`.
        scores: score (win 1, draw 0.5) by pilot; empty with a metric of the runs.
        is_reached: True if training has ended with this reading because the goal is reached.
    """

    agent_steps: Annotated[int, Within(1, 2**53)]
    seconds: _Seconds
    score: Annotated[float, Within(-1e15, 1e15)]
    scores: dict[str, Share]
    is_reached: bool = False


@dataclass
class Trial:
    """One trial.

    Attributes:
        number: its number, from 0 on in the order of suggestions.
        params: the varied values, by "section.key".
        seed: its train.seed.
        status: RUNNING, FINISHED, STOPPED or FAILED.
        readings: its readings, in their order.
        total_timesteps: its train.total_timesteps.
        seconds: run time of its process, with start and measurements [s]; None while it runs.
        reason: the reason why it was stopped, failed or runs again.
    """

    number: Count
    params: dict[str, bool | int | float | str | None]
    seed: Count
    total_timesteps: Annotated[int, Within(1, 2**53)]
    status: Status = RUNNING
    readings: list[Reading] = field(default_factory=list)
    seconds: _Seconds | None = None
    reason: str | None = None

    @property
    def is_over(self) -> bool:
        """True if it finished, was stopped or failed."""
        return self.status != RUNNING

    @property
    def is_trained(self) -> bool:
        """True if it has a reading from the end of its training."""
        if not self.readings:
            return False
        last = self.readings[-1]
        return last.is_reached or last.agent_steps >= self.total_timesteps

    @property
    def agent_steps(self) -> int:
        """Length of its training; shorter than total_timesteps if the goal was reached earlier."""
        is_reached = bool(self.readings) and self.readings[-1].is_reached
        return self.readings[-1].agent_steps if is_reached else self.total_timesteps

    @property
    def duration(self) -> float:
        """Run time of its process, with start and measurements [s]; 0 while it runs."""
        return self.seconds or 0.0

    @property
    def score(self) -> float:
        """The objective: the score of the last reading. There must be a reading."""
        return self.readings[-1].score

    @property
    def cost(self) -> float:
        """Time of the whole training [s]; extrapolated if the trial was stopped early.

        There must be a reading.
        """
        last = self.readings[-1]
        if self.status == STOPPED:
            return last.seconds * self.total_timesteps / last.agent_steps
        return last.seconds


class Record:
    """A sweep's folder.

    Attributes:
        folder: path of the folder.
        config: the sweep's configuration; some values may be "auto".
        trials: the trials suggested so far, by number.
    """

    CONFIG = "sweep.ini"

    def __init__(self, folder: Path) -> None:
        """Opens the folder of a sweep.

        Raises:
            RecordError: The folder is no sweep's folder, or is damaged.
        """
        if not (folder / self.CONFIG).is_file():
            raise RecordError(f"{folder}: not the folder of a sweep: there is no {self.CONFIG}")
        self.folder = folder
        self.config = load_config(folder / self.CONFIG, complete=True)
        varied = sweepable(own_names(self.config))
        trials = [_load_trial(path, varied) for path in folder.glob("trials/*/trial.json")]
        self.trials = sorted(trials, key=lambda trial: trial.number)
        numbers = [trial.number for trial in self.trials]
        if numbers != list(range(len(numbers))):
            raise RecordError(f"{folder}: trials are missing: there are {numbers}")

    @classmethod
    def create(cls, folder: Path, config: Config) -> "Record":
        """Makes the folder of a new sweep.

        Raises:
            WriteError: The folder exists already, or cannot be made.
        """
        # A process that was killed at this point can have left a temporary file only.
        left = f"{cls.CONFIG}.*{TEMPORARY}"
        if not (folder.is_dir() and all(path.match(left) for path in folder.iterdir())):
            make_folder(folder)
        write_whole(folder / cls.CONFIG, format_config(config).encode())
        return cls(folder)

    @property
    def over(self) -> list[Trial]:
        """The trials that have finished, were stopped or failed."""
        return [trial for trial in self.trials if trial.is_over]

    def trial_folder(self, trial: Trial) -> Path:
        """Returns the folder of a trial."""
        return self.folder / "trials" / f"{trial.number:04d}"

    def check_params(self, names: Collection[str]) -> None:
        """Raises RecordError if a trial has no value of a parameter in `names`."""
        for trial in self.trials:
            for name in names:
                if name not in trial.params:
                    path = self.trial_folder(trial) / "trial.json"
                    raise RecordError(f"{path}: damaged: params.{name}: is missing")

    def begin(self, trial: Trial) -> None:
        """Records a trial as running; removes the files of an earlier process.

        Raises:
            WriteError: The record cannot be written.
        """
        folder = self.trial_folder(trial)
        if trial.number < len(self.trials):
            for name in ("run", "readings.json", LOG, TRIAL_INI):
                path = folder / name
                shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)
        else:
            if not folder.is_dir():  # a killed sweep may have left an empty folder
                make_folder(folder)
            self.trials.append(trial)
        self.save(trial)

    def reset(self, trial: Trial) -> Trial:
        """Records a trial as running and without results, to run again; returns the new record.

        Raises:
            WriteError: The record cannot be written.
        """
        again = Trial(trial.number, trial.params, trial.seed, trial.total_timesteps)
        self.trials[trial.number] = again
        self.save(again)
        return again

    def save(self, trial: Trial) -> None:
        """Writes the record of a trial.

        Raises:
            WriteError: The record cannot be written.
        """
        write_json(self.trial_folder(trial) / "trial.json", asdict(trial))


def best_trial(trials: Sequence[Trial]) -> Trial | None:
    """Returns the finished trial with the highest score; of equal ones, the cheapest."""
    finished = [trial for trial in trials if trial.status == FINISHED]
    return max(finished, key=lambda trial: (trial.score, -trial.cost), default=None)


def pareto_front(trials: Sequence[Trial]) -> list[Trial]:
    """Returns the finished trials that no trial beats in score at the same or a lower cost.

    The cheapest comes first.
    """
    front: list[Trial] = []
    finished = [trial for trial in trials if trial.status == FINISHED]
    for trial in sorted(finished, key=lambda trial: (trial.cost, -trial.score)):
        if not front or trial.score > front[-1].score:
            front.append(trial)
    return front


def load_readings(folder: Path) -> list[Reading]:
    """Returns the readings that the process of the trial in `folder` has written.

    Raises:
        RecordError: The file is damaged.
    """
    path = folder / "readings.json"
    if not path.exists():
        return []
    try:
        return read_json(path, _ReadingsFile).readings
    except JsonError as error:
        raise RecordError(str(error)) from None


def save_readings(folder: Path, readings: Sequence[Reading]) -> None:
    """Writes the readings of the trial in `folder`.

    Raises:
        WriteError: The file cannot be written.
    """
    write_json(folder / "readings.json", {"readings": [asdict(reading) for reading in readings]})


def find_sweep(name: str, data_dir: str | Path) -> Path:
    """Returns the folder of a sweep.

    Args:
        name: a path, the name of a sweep in `data_dir`, or "latest".
        data_dir: the data directory.

    Raises:
        RecordError: There is no such sweep.
    """
    home = sweeps_folder(data_dir)
    paths = sorted(home.glob(f"*/{Record.CONFIG}"), key=lambda path: path.stat().st_mtime_ns)
    if name == "latest" and paths:
        return paths[-1].parent.resolve()
    for folder in (Path(name), home / name):
        if (folder / Record.CONFIG).is_file():
            return folder.resolve()  # so that its last part is the sweep's name, also for "."
    names = [path.parent.name for path in reversed(paths)]
    there = f"the newest sweeps are {', '.join(names[:3])}" if names else "there are no sweeps"
    raise RecordError(f"{name}: no such sweep, nor one in {home}, where {there}")


def sweeps_folder(data_dir: str | Path) -> Path:
    """Returns the folder of the sweeps in a data directory."""
    return Path(data_dir) / "sweeps"


@dataclass
class _ReadingsFile:
    """The content of readings.json."""

    readings: list[Reading]


def _load_trial(path: Path, varied: Mapping[str, Key]) -> Trial:
    """Returns the trial of a file.

    Args:
        path: the file.
        varied: all keys that a sweep may vary, by "section.key".

    Raises:
        RecordError: The file is damaged; the message names the entry and the allowed values.
    """
    try:
        trial = read_json(path, Trial)
        _check_trial(trial, path.parent.name, varied)
    except JsonError as error:
        raise RecordError(str(error)) from None
    except ValueError as error:
        raise RecordError(f"{path}: damaged: {error}") from None
    return trial


def _check_trial(trial: Trial, folder: str, varied: Mapping[str, Key]) -> None:
    """Raises ValueError if entries of a trial, each valid by itself, contradict each other."""
    if not folder.isdecimal() or int(folder) != trial.number:
        raise ValueError(f"number = {trial.number}: must be that of its folder, {folder}")
    for name, value in trial.params.items():
        if name not in varied:
            raise ValueError(f"params.{name}: no sweep varies it{suggest(name, varied)}")
        key = varied[name]
        try:
            parsed = key.parse(str(value))
            if type(parsed) is not type(value) and not (key.kind is float and type(value) is int):
                raise ValueError(f"must be {key.allowed}")
        except ValueError as error:
            raise ValueError(f"params.{name} = {value!r}: {error}") from None
    if trial.is_over and trial.seconds is None:
        raise ValueError(f"seconds = None: must be a number where status is {trial.status}")
    if trial.status in (FINISHED, STOPPED) and not trial.readings:
        raise ValueError(f"readings = []: there must be some where status is {trial.status}")
