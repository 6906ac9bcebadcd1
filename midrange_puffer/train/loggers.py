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
from midrange_puffer.train.results import worst

Metrics = Mapping[str, float]

LINE_WIDTH = 120  # characters

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

    Args:
        run_id: The run's name.
        loggers: The first of them.

    Attributes:
        run_id: As given; PuffeRL asks for it.
        beside: Metrics that go into every row beside those that are logged.
    """

    def __init__(self, run_id: str, loggers: Sequence[Logger] = ()) -> None:
        self.run_id = run_id
        self._loggers = [*loggers]
        self.beside: Metrics = {}

    def add(self, *loggers: Logger) -> None:
        """Pass the rows that come from now on to these, too."""
        self._loggers += loggers

    def log(self, metrics: Metrics, step: int) -> None:
        """Pass `metrics` on to every logger, as plain numbers."""
        numbers = {name: _plain(value) for name, value in {**metrics, **self.beside}.items()}
        for logger in self._loggers:
            logger.log(numbers, step)

    def close(self, model_path: Path) -> None:
        """Close every logger."""
        for logger in self._loggers:
            logger.close(str(model_path))


class Console:
    """One line a log, for a small terminal and for output that is none.

    At most one a second, but every one with a rating, and the last one.

    Args:
        total_steps: of the run.
        stages: of its curriculum.
        width: of a line, at most.
    """

    INTERVAL = 1.0  # s

    def __init__(
        self, total_steps: int, stages: Sequence[str] = (), width: int = LINE_WIDTH
    ) -> None:
        self._total_steps, self._stages, self._width = total_steps, stages, width
        self._printed = 0.0

    def log(self, metrics: Metrics, step: int) -> None:
        """Print the line, if it is time for one."""
        wanted = step >= self._total_steps or "league/rating" in metrics
        if wanted or time.monotonic() >= self._printed + self.INTERVAL:
            self._printed = time.monotonic()
            print(format_line(metrics, self._total_steps, self._stages, self._width), flush=True)

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


def format_line(
    metrics: Metrics, total_steps: int, stages: Sequence[str] = (), width: int = LINE_WIDTH
) -> str:
    """One line of what matters: steps, speed, stage, score, the three worst opponents, time left.

    What there is no room for is left out, what matters least first.
    """
    steps, speed = metrics["agent_steps"], metrics["SPS"]
    parts = {"steps": f"{steps / 1e6:8.2f} M steps", "speed": f"{speed / 1e3:4.0f} k/s"}
    if "curriculum/stage" in metrics:
        parts["stage"] = format_stage(stages, metrics["curriculum/stage"])
    score = metrics.get("environment/score")
    parts["score"] = "no score yet" if score is None else f"score {score:.3f}"
    if hardest := worst(metrics, 3):
        parts["worst"] = "worst " + " ".join(f"{name} {its:.2f}" for name, its in hardest)
    if "league/rating" in metrics:
        parts["rating"] = f"rating {metrics['league/rating']:.0f}"
    if "losses/entropy" in metrics:
        parts["entropy"] = f"entropy {metrics['losses/entropy']:.2f}"
    if speed > 0:
        parts["left"] = f"{format_duration((total_steps - steps) / speed)} left"
    for name in ("entropy", "speed", "rating", "stage", "left", "worst"):
        if len("  ".join(parts.values())) > width:
            parts.pop(name, None)
    return "  ".join(parts.values())[:width]


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
