"""Where the metrics of a run go: to loggers, of which the console and trackers are here."""

import importlib
import json
import os
import secrets
import textwrap
import time
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Protocol

from midrange_puffer.config.configuration import Config, ConfigError
from midrange_puffer.errors import UsageError
from midrange_puffer.files import write_whole
from midrange_puffer.json_files import JsonError, read_json
from midrange_puffer.train.curriculum import format_stage

Metrics = Mapping[str, float]

# [base] flag -> the package behind it
TRACKERS = {"wandb": "wandb", "neptune": "neptune", "tensorboard": "torch.utils.tensorboard"}


class Logger(Protocol):
    """What the trainer needs of a logger."""

    def log(self, metrics: Metrics, step: int) -> None:
        """Record `metrics` as they were after `step` agent decisions."""

    def close(self, model_path: str) -> None:
        """Write out what is left, and keep or name the last model."""


class Loggers:
    """Several loggers as one.

    Attributes:
        run_id: The run's name, which PuffeRL asks for.
        beside: Metrics that go into every row beside those that are logged.
        last: The last value of every metric; not every update sees an engagement end.
    """

    def __init__(self, run_id: str, loggers: list[Logger]) -> None:
        self.run_id = run_id
        self.loggers = loggers
        self.beside: Metrics = {}
        self.last: Metrics = {}

    def log(self, metrics: Metrics, step: int) -> None:
        """Pass `metrics` on to every logger, as plain numbers."""
        numbers = {name: _plain(value) for name, value in {**metrics, **self.beside}.items()}
        self.last = {**self.last, **numbers}
        for logger in self.loggers:
            logger.log(numbers, step)

    def close(self, model_path: Path) -> None:
        """Close every logger."""
        for logger in self.loggers:
            logger.close(str(model_path))


class Console:
    """One line a log for output that is not a terminal.

    At most one a second, but every one with a rating, and the last one.
    """

    INTERVAL = 1.0  # s

    def __init__(self, total_steps: int, stages: Sequence[str] = ()) -> None:
        self._total_steps = total_steps
        self._stages = stages
        self._printed = 0.0

    def log(self, metrics: Metrics, step: int) -> None:
        """Print the line, if it is time for one."""
        wanted = step >= self._total_steps or "league/rating" in metrics
        if wanted or time.monotonic() >= self._printed + self.INTERVAL:
            self._printed = time.monotonic()
            print(format_line(metrics, self._total_steps, self._stages), flush=True)

    def close(self, model_path: str) -> None:
        """Nothing is left to print."""


class TensorBoard:
    """An event file in the run folder."""

    def __init__(self, run: Path, step: int | None) -> None:
        module = importlib.import_module(TRACKERS["tensorboard"])
        self._writer = module.SummaryWriter(run / "tensorboard", purge_step=step)

    def log(self, metrics: Metrics, step: int) -> None:
        """Write every metric as a scalar."""
        for name, value in metrics.items():
            self._writer.add_scalar(name, value, step)
        self._writer.flush()

    def close(self, model_path: str) -> None:
        """Close the event file."""
        self._writer.close()


def format_line(metrics: Metrics, total_steps: int, stages: Sequence[str] = ()) -> str:
    """One line of what matters: steps, speed, stage, results, entropy, learning rate, time left."""
    steps, speed = metrics["agent_steps"], metrics["SPS"]
    parts = [f"{steps / 1e6:8.2f} M steps", f"{speed / 1e3:6.0f} k/s"]
    if "curriculum/stage" in metrics:
        parts.append(format_stage(stages, metrics["curriculum/stage"]))
    prefix = "environment/"
    results = {
        name.removeprefix(prefix): value
        for name, value in metrics.items()
        if name.startswith(prefix)
    }
    if "score" in results:
        parts.append(f"score {results['score']:.3f}")
    if all(name in results for name in ("win", "draw", "loss")):
        rates = "/".join(f"{results[name]:.2f}" for name in ("win", "draw", "loss"))
        parts.append(f"win/draw/loss {rates}")
    versus = "score_vs_"
    pilots = [name.removeprefix(versus) for name in sorted(results) if name.startswith(versus)]
    if pilots:
        parts.append(" ".join(f"{pilot} {results[versus + pilot]:.2f}" for pilot in pilots))
    if "league/rating" in metrics:
        parts.append(f"rating {metrics['league/rating']:.0f}")
    if "losses/entropy" in metrics:
        parts.append(f"entropy {metrics['losses/entropy']:.2f}")
    parts.append(f"lr {metrics['learning_rate']:.2g}")
    if speed > 0:
        parts.append(f"{format_duration((total_steps - steps) / speed)} left")
    return "  ".join(parts)


def format_duration(seconds: float) -> str:
    """1h02m, 3m05s or 7s."""
    minutes, seconds = divmod(round(max(seconds, 0)), 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours}h{minutes:02d}m"
    return f"{minutes}m{seconds:02d}s" if minutes else f"{seconds}s"


def check_trackers(config: Config) -> None:
    """Import the packages of the trackers asked for.

    Raises:
        ConfigError: One is not installed.
    """
    for flag, module in TRACKERS.items():
        if config["base"][flag]:
            try:
                importlib.import_module(module)
            except ImportError:
                raise ConfigError(
                    f"base.{flag}: the package {flag} is not installed: pip install {flag}"
                ) from None


def open_trackers(config: Config, run: Path, step: int | None) -> list[Logger]:
    """Start the trackers asked for; `step` is where a resumed run goes on, else None.

    Raises:
        UsageError: A tracker refuses, for want of an account or a network.
    """
    from midrange_puffer.train.fitted_pufferl import pufferl

    base = config["base"]
    loggers: list[Logger] = [TensorBoard(run, step)] if base["tensorboard"] else []
    ids_path = run / "trackers.json"  # by which a resumed run finds its records again
    os.environ.setdefault("WANDB_DIR", str(run))
    os.environ.setdefault("WANDB_NAME", run.name)
    settings = {**config.as_dict(), **base}
    # PufferLib would not heed the variable that neptune documents.
    neptune = partial(pufferl.NeptuneLogger, mode=os.environ.get("NEPTUNE_MODE", "async"))
    # Neptune chooses the id of a new run itself.
    for name, tracker, new_id in (
        ("wandb", pufferl.WandbLogger, secrets.token_hex(4)),
        ("neptune", neptune, None),
    ):
        if not base[name]:
            continue
        ids = _tracker_ids(ids_path)
        try:
            loggers.append(tracker(settings, load_id=ids.get(name, new_id)))
        except Exception as error:  # each has its own kinds
            reason = textwrap.shorten(str(error), 200)
            raise UsageError(f"base.{name}: {type(error).__name__}: {reason}") from error
        ids[name] = loggers[-1].run_id
        write_whole(ids_path, json.dumps(ids).encode())
    return loggers


def _tracker_ids(path: Path) -> dict[str, str | None]:
    """Tracker -> by what it knows the run."""
    try:
        return read_json(path, dict[str, str | None]) if path.exists() else {}
    except JsonError as error:
        raise UsageError(f"{error}; without the file the trackers begin new records") from None


def _plain(value: float) -> int | float:
    """A Python number of a numpy or torch one."""
    return value if isinstance(value, int) else float(value)
