"""Training from Python: the steps of `puffer train`, one at a time and without a terminal."""

import contextlib
import difflib
import io
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack
from pathlib import Path
from types import TracebackType
from typing import Any

from torch import nn

from midrange_puffer.config.configuration import Config, ConfigError
from midrange_puffer.config.hints import also_called
from midrange_puffer.config.key import Value, keys_of
from midrange_puffer.config.reading import load_config as read_config
from midrange_puffer.config.schema import LIVE_KEYS
from midrange_puffer.config.sections import TrainConfig
from midrange_puffer.config.settle import settle
from midrange_puffer.files import write_whole
from midrange_puffer.policies.loading import load_policy
from midrange_puffer.policies.mix import opponents_of
from midrange_puffer.policies.models import checked_metadata
from midrange_puffer.train.loggers import Logger, RecentScores
from midrange_puffer.train.machine import this_machine
from midrange_puffer.train.run import begun_run, removed_if_never_begun, resumed_run
from midrange_puffer.train.run_folder import Run, settled_models, settled_opponents
from midrange_puffer.train.stages import Stages, given_policy, open_stages
from midrange_puffer.train.vector import VecEnv, make_env

Overrides = Mapping[str, object] | Sequence[str]
Callback = Callable[["Trainer", Mapping[str, float]], None]


def load_config(path: str | Path | None = None, overrides: Overrides = ()) -> Config:
    """Reads and checks a configuration.

    Args:
        path: an ini file; configs/default.ini and the others are found wherever the package is
            installed. None: the defaults alone.
        overrides: values by key, such as {"train.learning_rate": 0.01, "env.opponent": "ace"}, or
            words of a command line.

    Raises:
        ConfigError: A file, key or value is wrong. The message names it, the allowed values and the
            nearest right name.
    """
    return read_config(path, _words(overrides))


def make_vec(config: Config, pool: str | Path | None = None) -> VecEnv:
    """Makes the trainer's environments of a configuration, vectorised by PufferLib.

    It has the `send`, `recv` and `close` of PufferLib's vectors. Truncations are among the
    terminals: PuffeRL ignores truncations, and would take the value of the next engagement for that
    of the truncated one.

    Args:
        config: from `load_config`; values of "auto" are chosen for this machine.
        pool: the pool's file, if env.opponent has a pool.

    Raises:
        ConfigError: It does not fit this machine.
        CheckpointError: A run that env.opponent names has no model.
    """
    with _quiet():
        config = settle(settled_opponents(_checked(config)), this_machine())
    return VecEnv(make_env, config, Path(pool) if pool is not None else None)


class Trainer(AbstractContextManager["Trainer"]):
    """A run of `puffer train` under a program's control, with its folder, checkpoints and league.

        with Trainer(load_config("configs/default.ini")) as trainer:
            while not trainer.is_over:
                trainer.evaluate()
                metrics = trainer.train()

    Within the block the run's folder is locked. At its end a checkpoint is saved, but not after an
    error; earlier checkpoints remain. Signals are left to the program: Ctrl-C raises
    KeyboardInterrupt as usual.

    Args:
        config: from `load_config`. The run's folder is train.run_name in train.data_dir.
        logger: any object with `log(metrics, step)`, which is called for each row with a dict of
            numbers and the agent decisions so far. Its `close(model_path)`, if it has one, is
            called at the end.
        callbacks: functions called after each update with this trainer and the logged row, which is
            empty if none is due. They may `save`, or `stop` the run.
        is_quiet: print nothing; if False, the values chosen for "auto" and the folder.

    Keys of [train] can be read as attributes. Within the block those of `schema.LIVE_KEYS` can be
    set for the rest of the run: `trainer.learning_rate = 1e-4`, and so can `difficulty`. No other
    attribute can be set. A subclass declares its own in its class.

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
        self._scores = RecentScores()
        self._is_stopped = False
        self._is_gathered = False  # True if there is experience to learn from
        self._is_open = False  # True within the block
        self._difficulty: float | None = None
        self._opened: Stages | None = None

    @classmethod
    def resume(
        cls,
        run: str | Path = "latest",
        overrides: Overrides = (),
        logger: object | None = None,
        callbacks: Sequence[Callback] = (),
        is_quiet: bool = True,
    ) -> "Trainer":
        """Returns a trainer that resumes a run from its last checkpoint.

        Args:
            run: its folder, its name, or "latest".
            overrides: as in `load_config`; they must not change the policy.
            logger, callbacks, is_quiet: as in `Trainer`.
        """
        trainer = cls(None, logger, callbacks, is_quiet)  # pyright: ignore[reportArgumentType] - unused
        trainer._open = lambda: resumed_run(str(run), _words(overrides))
        return trainer

    def __enter__(self) -> "Trainer":
        if self._opened is not None:
            raise RuntimeError("this trainer's block has ended: make a new trainer for another run")
        for callback in self._callbacks:
            if not callable(callback):
                raise TypeError(f"callbacks: {callback!r}: must be callable")
        own = [] if self._logger is None else [_OwnLogger(self._logger)]
        with self._silence(), ExitStack() as held:
            run: Run = held.enter_context(self._open())
            held.enter_context(removed_if_never_begun(run))
            self._opened = held.enter_context(open_stages(run, lambda: False))
            self._held = held.pop_all()
        self._is_open = True
        self._stages.loggers.add(self._scores, *own)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> bool | None:
        self._is_open = False
        return self._held.__exit__(kind, error, traceback)

    @property
    def _stages(self) -> Stages:
        """The stages of the run, which can still be read after the block."""
        if self._opened is None:
            raise RuntimeError("the run is not open: use the trainer in `with Trainer(…) as …:`")
        return self._opened

    def _check_open(self) -> None:
        if self._opened is not None and not self._is_open:
            raise RuntimeError(f"the run is closed; Trainer.resume({str(self.folder)!r}) goes on")

    def __getattr__(self, name: str) -> Value:
        if name in keys_of(TrainConfig):
            return self.config.train[name]
        raise AttributeError(f"trainer.{name}: no such attribute{_hint(name)}")

    def __setattr__(self, name: str, value: object) -> None:
        if name.startswith("_") or hasattr(type(self), name):
            super().__setattr__(name, value)
        elif name in LIVE_KEYS:
            self._check_open()
            try:
                checked = keys_of(TrainConfig)[name].parse(str(value))
            except ValueError as error:
                raise ValueError(f"trainer.{name} = {value!r}: {error}") from None
            self._stages.set_live(name, checked)
        elif name in keys_of(TrainConfig):
            raise AttributeError(
                f"trainer.{name}: holds for the whole run; these may change during it: "
                f"{', '.join(LIVE_KEYS)}"
            )
        else:
            raise AttributeError(f"trainer.{name}: no such attribute{_hint(name)}")

    @property
    def folder(self) -> Path:
        """The run's folder."""
        return self._stages.run.folder

    @property
    def config(self) -> Config:
        """The run's configuration, without any "auto" and with the settings changed since."""
        return self._stages.run.config

    @property
    def is_over(self) -> bool:
        """True if the run is at its end or was stopped."""
        return self._is_stopped or self._stages.trainer.is_over

    @property
    def global_step(self) -> int:
        """The agent decisions so far."""
        return self._stages.trainer.global_step

    @property
    def policy(self) -> nn.Module:
        """The policy that learns, on its device."""
        return self._stages.trainer.actor

    @property
    def difficulty(self) -> float | None:
        """The difficulty that was set last; None before.

        Setting it, within the block and from 0 to 1, changes env.opponent to `opponents_of` that
        difficulty, from the next `evaluate` on. All engagements then start anew.
        """
        return self._difficulty

    @difficulty.setter
    def difficulty(self, value: float) -> None:
        self._check_open()
        self._stages.meet(opponents_of(value))
        self._difficulty = value

    @property
    def score(self) -> float | None:
        """The mean score of the last ten rows logged (win 1, draw 0.5); None before the first."""
        return self._scores.all.score if self._scores.all else None

    def evaluate(self) -> dict[str, list[float]]:
        """Gathers the experience of an update.

        Returns:
            Figures of the engagements that ended, by name: a number for each engagement.

        Raises:
            RuntimeError: The last experience has not been learnt from.
        """
        self._check_open()
        if self._is_gathered:
            raise RuntimeError("evaluate(): there is experience to learn from; call train() first")
        with self._silence():  # but not the output of the user's code
            self._stages.move_on()
        infos = self._stages.evaluate()
        self._is_gathered = True
        return infos

    def train(self) -> dict[str, float]:
        """Learns from that experience; logs a row of metrics and saves a checkpoint if one is due.

        Returns:
            The row; empty if none is due, by train.log_interval.

        Raises:
            DivergedError: The policy is useless; the last checkpoint is from before.
            RuntimeError: There is no new experience.
        """
        self._check_open()
        if not self._is_gathered:
            raise RuntimeError("train(): there is no new experience; call evaluate() before it")
        self._is_gathered = False
        row = self._stages.trainer.train()
        for callback in self._callbacks:
            callback(self, row)
        return dict(row)  # loggers keep the row itself

    def run(self) -> None:
        """Trains to the end of the run, or until a callback stops it."""
        while not self.is_over:
            self.evaluate()
            self.train()

    def mean_and_log(self) -> dict[str, float]:
        """Logs a row of all updates since the last one, before train.log_interval has passed.

        Returns:
            The row; empty if there was no update.
        """
        self._check_open()
        return dict(self._stages.trainer.mean_and_log())

    def save(self, metadata: Mapping[str, object] | None = None) -> Path | None:
        """Saves a checkpoint; returns the model's file, or None on ranks other than the first.

        Args:
            metadata: JSON values by name, which are saved in this model and in all later ones.
                `load_policy` returns them.

        Raises:
            ValueError: They are not JSON values.
            WriteError: The disk is full or the folder not writable.
        """
        self._check_open()
        trainer = self._stages.trainer
        if metadata is not None:
            trainer.metadata |= checked_metadata(dict(metadata))
        trainer.save_checkpoint()
        return trainer.model_path

    def save_checkpoint(
        self, path: str | Path | None = None, metadata: Mapping[str, object] | None = None
    ) -> Path | None:
        """Saves a checkpoint as `save` does, and a copy of the model at `path` if it is given.

        Returns:
            `path`, or else the model's file; None on ranks other than the first.
        """
        saved = self.save(metadata)
        if saved is None or path is None:
            return saved
        write_whole(Path(path), saved.read_bytes())
        return Path(path)

    def load_checkpoint(self, path: str | Path) -> dict[str, Any]:
        """Replaces the policy's weights by those of a model; the run goes on from its own steps.

        The optimizer begins anew. `Trainer.resume` continues a run with its optimizer and steps.

        Args:
            path: a model file, a run's folder or name, as base.load_model_path.

        Returns:
            The metadata saved in the model.

        Raises:
            RuntimeError: There is experience of the present policy to learn from.
            CheckpointError: It cannot be loaded.
            ConfigError: The model's policy has another shape.
        """
        self._check_open()
        if self._is_gathered:
            raise RuntimeError("load_checkpoint(): there is experience; call train() before it")
        config = self.config.replaced("base", "load_checkpoint", load_model_path=str(path))
        config = settled_models(config)
        self._stages.trainer.load_weights(given_policy(config).state_dict())
        return load_policy(str(config.base.load_model_path))[1]["metadata"]

    def stop(self) -> None:
        """Makes `is_over` True from now on."""
        self._is_stopped = True


class _OwnLogger(Logger):
    """The user's logger, which may lack `close`."""

    def __init__(self, logger: Any) -> None:
        if not callable(getattr(logger, "log", None)):
            raise TypeError(f"logger of type {type(logger).__name__}: must have log(metrics, step)")
        self._logger = logger

    def log(self, metrics: Mapping[str, float], step: int) -> None:
        self._logger.log(dict(metrics), step)

    def close(self, model_path: str) -> None:
        if hasattr(self._logger, "close"):
            self._logger.close(model_path)


def _hint(name: str) -> str:
    """Returns the end of an error message: the nearest setting that may change."""
    names = [key for section, key in also_called(name) if section == "train"]
    near = names[:1] or difflib.get_close_matches(name, LIVE_KEYS, n=1)
    return f"; did you mean {near[0]}?" if near else ""


def _checked(config: object) -> Config:
    """Returns the configuration; raises TypeError for other values, such as a file's name."""
    if not isinstance(config, Config):
        raise TypeError(f"config of type {type(config).__name__}: must come from load_config")
    return config


def _words(overrides: Overrides) -> list[str]:
    """Returns overrides as words of a command line."""
    if isinstance(overrides, Mapping):
        return [f"--{name}={value}" for name, value in overrides.items()]
    if isinstance(overrides, str):
        raise ConfigError(
            f"overrides = {overrides!r}: is a single text; must be values by key, such as "
            '{"train.seed": 3}, or a list of words, such as ["--train.seed=3"]'
        )
    return list(overrides)


@contextlib.contextmanager
def _quiet() -> Generator[None, None, None]:
    with contextlib.redirect_stdout(io.StringIO()):
        yield
