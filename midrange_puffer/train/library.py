"""Training from Python: what `puffer train` does, a step at a time and without a terminal."""

import contextlib
import io
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack
from pathlib import Path

from torch import nn

from midrange_puffer.config.configuration import Config, ConfigError
from midrange_puffer.config.reading import load_config as read_config
from midrange_puffer.config.settle import settle
from midrange_puffer.policies.models import checked_metadata
from midrange_puffer.train.machine import this_machine
from midrange_puffer.train.opponents import settled_opponents
from midrange_puffer.train.results import Results
from midrange_puffer.train.run import begun_run, removed_if_never_begun, resumed_run
from midrange_puffer.train.run_folder import Run
from midrange_puffer.train.session import Session, open_session
from midrange_puffer.train.vector import VecEnv, make_env

Overrides = Mapping[str, object] | Sequence[str]
Callback = Callable[["Trainer", Mapping[str, float]], None]


def load_config(path: str | Path | None = None, overrides: Overrides = ()) -> Config:
    """Read and check a configuration.

    Args:
        path: an ini file; configs/default.ini and the others are found wherever the package is
            installed. None: the defaults alone.
        overrides: values by key, such as {"train.learning_rate": 0.01, "env.opponent": "ace"}, or
            words of a command line.

    Raises:
        ConfigError: a file, key or value is wrong. The message names it, what is allowed and the
            nearest right name.
    """
    return read_config(path, _words(overrides))


def make_vec(config: Config, pool: str | Path | None = None) -> VecEnv:
    """The environments of a configuration, vectorised by PufferLib as the trainer has them.

    It has the `send`, `recv` and `close` of PufferLib's vectors, and its ends are complete: PuffeRL
    by itself ignores truncations, and takes the value of the next engagement for that of the one
    that was cut off. Here they are among the terminals.

    Args:
        config: as of `load_config`; what is "auto" is chosen for this machine.
        pool: the file of a pool, where env.opponent has one.

    Raises:
        ConfigError: It does not fit this machine.
        CheckpointError: A run that env.opponent names has no model.
    """
    with _quiet():
        config = settle(settled_opponents(_checked(config)), this_machine())
    return VecEnv(make_env, config, Path(pool) if pool is not None else None)


class Trainer(AbstractContextManager):
    """A run of `puffer train` in the hands of a program: its folder, checkpoints, league and all.

        with Trainer(load_config("configs/default.ini")) as trainer:
            while not trainer.is_over:
                trainer.evaluate()
                metrics = trainer.train()

    Within the block the run's folder is locked. At its end a checkpoint is saved, but not after an
    error; those saved before stand. Signals are the program's own business: Ctrl-C raises
    KeyboardInterrupt, as everywhere in Python.

    Args:
        config: as of `load_config`. The run's folder is train.run_name in train.data_dir.
        logger: any object with `log(metrics, step)`: a dict of numbers and the agent decisions so
            far, for each row. If it has `close(model_path)`, that is called at the end.
        callbacks: each is called after each update with this trainer and the row that was logged,
            which is empty where none is due. It may `save`, or `stop` the run.
        is_quiet: print nothing; otherwise what is chosen for "auto", and the folder.

    Attributes:
        folder: of the run.
        config: its configuration, without any "auto".

    Raises:
        UserError: On entering the block: the configuration cannot run, or the folder is there.
    """

    def __init__(
        self,
        config: Config,
        logger: object | None = None,
        callbacks: Sequence[Callback] = (),
        is_quiet: bool = True,
    ) -> None:
        self._open = lambda: begun_run(_checked(config))
        self._logger, self._callbacks = logger, callbacks
        self._silence = _quiet if is_quiet else contextlib.nullcontext
        self._results, self._row = Results(), _LastRow()
        self._is_stopped = False
        self._is_gathered = False  # whether there is experience to learn from
        self._is_open = False  # whether the program is within the block
        self._opened: Session | None = None

    @classmethod
    def resume(
        cls,
        run: str | Path = "latest",
        overrides: Overrides = (),
        logger: object | None = None,
        callbacks: Sequence[Callback] = (),
        is_quiet: bool = True,
    ) -> "Trainer":
        """Go on with a run from its last checkpoint.

        Args:
            run: its folder, its name, or "latest".
            overrides: as of `load_config`; they may not change the policy.
            logger, callbacks, is_quiet: as of `Trainer`.
        """
        trainer = cls(None, logger, callbacks, is_quiet)
        trainer._open = lambda: resumed_run(str(run), _words(overrides))
        return trainer

    def __enter__(self) -> "Trainer":
        if self._opened is not None:
            raise RuntimeError("this trainer has had its block: make another one for another run")
        for callback in self._callbacks:
            if not callable(callback):
                raise TypeError(f"callbacks: {callback!r} is none: must be callable")
        own = [] if self._logger is None else [_Closing(self._logger)]
        with self._silence(), ExitStack() as held:
            run: Run = held.enter_context(self._open())
            held.enter_context(removed_if_never_begun(run))
            self._opened = held.enter_context(open_session(run, lambda: False))
            self._held = held.pop_all()
        self._is_open = True
        self.folder, self.config = run.folder, run.config
        self._session.loggers.add(self._results, self._row, *own)
        return self

    def __exit__(self, *error: object) -> bool | None:
        self._is_open = False
        return self._held.__exit__(*error)

    @property
    def _session(self) -> Session:
        """What is trained, which may be looked at after the block, too."""
        if self._opened is None:
            raise RuntimeError("the run is not open: use the trainer in `with Trainer(…) as …:`")
        return self._opened

    def _check_open(self) -> None:
        if self._opened is not None and not self._is_open:
            raise RuntimeError(f"the run is closed; Trainer.resume({str(self.folder)!r}) goes on")

    @property
    def is_over(self) -> bool:
        """Whether the run is at its end, or was stopped."""
        return self._is_stopped or self._session.is_over

    @property
    def global_step(self) -> int:
        """Agent decisions so far."""
        return self._session.trainer.global_step

    @property
    def policy(self) -> nn.Module:
        """The policy that learns, on its device."""
        return self._session.trainer.uncompiled_policy

    @property
    def score(self) -> float | None:
        """The mean score of the last ten rows logged (win 1, draw 0.5); None before the first."""
        return self._results.all.score if self._results.all else None

    def evaluate(self) -> dict[str, list[float]]:
        """Gather the experience of an update.

        Returns:
            Figures of the engagements told of meanwhile, by name: a number for each of them.

        Raises:
            RuntimeError: There is experience already that nobody has learnt from.
        """
        self._check_open()
        if self._is_gathered:
            raise RuntimeError("evaluate(): there is experience to learn from; call train() first")
        with self._silence():  # but not what the user's own code prints
            self._session.move_on()
        infos = self._session.evaluate()
        self._is_gathered = True
        return infos

    def train(self) -> dict[str, float]:
        """Learn from that experience; log a row of metrics and save a checkpoint where one is due.

        Returns:
            The row; empty where none is due, by train.log_interval.

        Raises:
            DivergedError: The policy is of no more use; the last checkpoint is from before.
            RuntimeError: There is no new experience.
        """
        self._check_open()
        session = self._session
        if not self._is_gathered:
            raise RuntimeError("train(): there is no new experience; call evaluate() before it")
        self._row.metrics, self._is_gathered = {}, False
        session.train()
        for callback in self._callbacks:
            callback(self, self._row.metrics)
        return dict(self._row.metrics)

    def run(self) -> None:
        """Train to the end of the run, or until a callback stops it."""
        while not self.is_over:
            self.evaluate()
            self.train()

    def mean_and_log(self) -> dict[str, float]:
        """Log a row of all updates since the last one, before train.log_interval has passed.

        Returns:
            The row; empty where there was no update.
        """
        self._check_open()
        self._row.metrics = {}
        self._session.trainer.mean_and_log()
        return dict(self._row.metrics)

    def save(self, metadata: Mapping[str, object] | None = None) -> Path:
        """Save a checkpoint; return the model's file.

        Args:
            metadata: JSON values by name, which stand in this model and in all later ones. They
                are in what `load_policy` returns.

        Raises:
            ValueError: JSON cannot say it.
            WriteError: The disk is full or the folder not writable.
        """
        self._check_open()
        trainer = self._session.trainer
        if metadata is not None:
            trainer.metadata |= checked_metadata(dict(metadata))
        trainer.save_checkpoint()
        return trainer.model_path

    def stop(self) -> None:
        """Let `is_over` be true from now on."""
        self._is_stopped = True


class _LastRow:
    """The metrics logged last, as a logger."""

    def __init__(self) -> None:
        self.metrics: Mapping[str, float] = {}

    def log(self, metrics: Mapping[str, float], step: int) -> None:
        self.metrics = metrics

    def close(self, model_path: str) -> None:
        """Nothing is left to do."""


class _Closing:
    """A logger of the user's, which may do without `close`."""

    def __init__(self, logger: object) -> None:
        if not callable(getattr(logger, "log", None)):
            raise TypeError(f"logger of type {type(logger).__name__}: must have log(metrics, step)")
        self._logger = logger

    def log(self, metrics: Mapping[str, float], step: int) -> None:
        self._logger.log(dict(metrics), step)

    def close(self, model_path: str) -> None:
        if hasattr(self._logger, "close"):
            self._logger.close(model_path)


def _checked(config: Config) -> Config:
    """The configuration; TypeError where it is something else, such as its file's name."""
    if not isinstance(config, Config):
        raise TypeError(f"config of type {type(config).__name__}: must be as of load_config")
    return config


def _words(overrides: Overrides) -> list[str]:
    """Overrides as words of a command line."""
    if isinstance(overrides, Mapping):
        return [f"--{name}={value}" for name, value in overrides.items()]
    if isinstance(overrides, str):
        raise ConfigError(
            f"overrides = {overrides!r}: is one text; must be values by key, such as "
            '{"train.seed": 3}, or a list of words, such as ["--train.seed=3"]'
        )
    return list(overrides)


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    with contextlib.redirect_stdout(io.StringIO()):
        yield
