"""The loggers of a run's metrics: the console, trackers, and the recent scores by opponent."""

import importlib
import json
import os
import secrets
import textwrap
import time
from collections import deque
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from statistics import fmean
from typing import Any, NamedTuple, Protocol

from midrange_puffer.config.configuration import Config, ConfigError
from midrange_puffer.errors import UsageError
from midrange_puffer.files import write_whole
from midrange_puffer.json_files import JsonError, read_json
from midrange_puffer.train.curriculum import format_stage

Metrics = Mapping[str, float]

LINE_WIDTH = 120  # characters
UPDATES = 10  # rows in a recent score: one update has few engagements with each opponent
PREFIX = "environment/"
VERSUS = f"{PREFIX}score_vs_"

# [base] flag -> its package
TRACKERS = {"wandb": "wandb", "neptune": "neptune", "tensorboard": "torch.utils.tensorboard"}


class Logger(Protocol):
    """Base of loggers; PufferLib's trackers have the same methods."""

    def log(self, metrics: Metrics, step: int) -> None:
        """Records the metrics of a row, after `step` agent decisions."""
        ...

    def close(self, model_path: str) -> None:
        """Ends the records; `model_path` is the last model, empty on ranks that save none."""


class Loggers:
    """Several loggers, used as one.

    Args:
        run_id: the run's name.
        loggers: more can be added.

    Attributes:
        run_id: as given; PuffeRL reads it.
    """

    def __init__(self, run_id: str, loggers: Sequence[Logger] = ()) -> None:
        self.run_id = run_id
        self._loggers = [*loggers]

    def add(self, *loggers: Logger) -> None:
        """Adds loggers of the rows from now on."""
        self._loggers += loggers

    def log(self, metrics: Metrics, step: int) -> None:
        """Passes the metrics to every logger."""
        for logger in self._loggers:
            logger.log(metrics, step)

    def close(self, model_path: Path | None) -> None:
        """Closes every logger; `model_path` is None on ranks that save no model."""
        for logger in self._loggers:
            logger.close(str(model_path or ""))


class TimeLeft:
    """The time that a run still takes, by its mean speed since the first row.

    The speed of one row misleads, since some rows include a rating or replays.

    Args:
        total_steps: of the run.
    """

    def __init__(self, total_steps: int) -> None:
        self._total_steps = total_steps
        self._first: tuple[float, float] | None = None  # steps and uptime of the first row

    def text(self, metrics: Metrics) -> str:
        """Returns the time left, as "3m05s left"; to be called with every row."""
        steps, uptime = metrics["agent_steps"], metrics["uptime"]
        if self._first is None:
            self._first = steps, uptime
        done, seconds = steps - self._first[0], uptime - self._first[1]
        speed = done / seconds if done > 0 and seconds > 0 else metrics["SPS"]
        return f"{format_duration((self._total_steps - steps) / speed)} left" if speed > 0 else ""


class Console(Logger):
    """One printed line a row, for small terminals and for output to a file.

    It prints at most one line a second, and always rows with a rating and the last row.

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
        self._left = TimeLeft(total_steps)
        self._printed = 0.0

    def log(self, metrics: Metrics, step: int) -> None:
        """Prints the line, if one is due."""
        left = self._left.text(metrics)
        wanted = step >= self._total_steps or "league/rating" in metrics
        if wanted or time.monotonic() >= self._printed + self.INTERVAL:
            self._printed = time.monotonic()
            print(format_line(metrics, left, self._stages, self._width), flush=True)


class TensorBoard(Logger):
    """An event file in the run folder."""

    def __init__(self, run: Path, step: int | None) -> None:
        module = importlib.import_module(TRACKERS["tensorboard"])
        self._writer = module.SummaryWriter(run / "tensorboard", purge_step=step)

    def log(self, metrics: Metrics, step: int) -> None:
        """Writes every metric as a scalar."""
        for name, value in metrics.items():
            self._writer.add_scalar(name, value, step)
        self._writer.flush()

    def close(self, model_path: str) -> None:
        """Closes the event file."""
        self._writer.close()


def format_line(
    metrics: Metrics, left: str, stages: Sequence[str] = (), width: int = LINE_WIDTH
) -> str:
    """Returns a line with steps, speed, stage, score, the three lowest scores, and time left.

    Parts that do not fit are left out, the least important first.
    """
    steps, speed = metrics["agent_steps"], metrics["SPS"]
    parts = {"steps": f"{steps / 1e6:8.2f} M steps", "speed": f"{speed / 1e3:4.0f} k/s"}
    if "curriculum/stage" in metrics:
        parts["stage"] = format_stage(stages, int(metrics["curriculum/stage"]))
    score = metrics.get("environment/score")
    parts["score"] = "no score yet" if score is None else f"score {score:.3f}"
    if lowest := lowest_scores(metrics, 3):
        parts["worst"] = "worst " + " ".join(f"{name} {value:.2f}" for name, value in lowest)
    if "league/rating" in metrics:
        parts["rating"] = f"rating {metrics['league/rating']:.0f}"
    if "losses/entropy" in metrics:
        parts["entropy"] = f"entropy {metrics['losses/entropy']:.2f}"
    if left:
        parts["left"] = left
    for name in ("entropy", "speed", "rating", "stage", "left", "worst"):
        if len("  ".join(parts.values())) > width:
            parts.pop(name, None)
    return "  ".join(parts.values())[:width]


def format_duration(seconds: float) -> str:
    """Formats a duration: 1h02m, 3m05s or 7s."""
    minutes, seconds = divmod(round(max(seconds, 0)), 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours}h{minutes:02d}m"
    return f"{minutes}m{seconds:02d}s" if minutes else f"{seconds}s"


def check_trackers(config: Config) -> None:
    """Imports the packages of the configured trackers.

    Raises:
        ConfigError: One is not installed.
    """
    for flag, module in TRACKERS.items():
        if config.base[flag]:
            try:
                importlib.import_module(module)
            except ImportError:
                raise ConfigError(
                    f"base.{flag}: the package {flag} is not installed: pip install {flag}"
                ) from None


def open_trackers(config: Config, run: Path, step: int | None) -> list[Logger]:
    """Starts the configured trackers.

    Args:
        config: of the run.
        run: its folder.
        step: where a resumed run goes on; None: a new run.

    Raises:
        UsageError: A tracker fails, for example without an account or a network.
    """
    from midrange_puffer.train.rollout import pufferl

    base = config.base
    loggers: list[Logger] = [TensorBoard(run, step)] if base.tensorboard else []
    ids_path = run / "trackers.json"  # by tracker, for a resumed run
    os.environ.setdefault("WANDB_DIR", str(run))
    os.environ.setdefault("WANDB_NAME", run.name)
    settings = {**config.as_dict(), **base}
    # PufferLib ignores the variable that neptune documents.
    neptune = partial(pufferl.NeptuneLogger, mode=os.environ.get("NEPTUNE_MODE", "async"))
    # Neptune chooses the id of a new run itself.
    for name, tracker, new_id in (
        ("wandb", pufferl.WandbLogger, secrets.token_hex(4)),
        ("neptune", neptune, None),
    ):
        if not base[name]:
            continue
        ids = _tracker_ids(ids_path)
        mode = "WANDB_MODE"
        if name == "wandb" and (mode in os.environ or mode in ids):  # a resumed run stays offline
            ids[mode] = os.environ.setdefault(mode, str(ids.get(mode)))
        try:
            logger: Any = tracker(settings, load_id=ids.get(name, new_id))
        except Exception as error:  # each tracker has its own classes
            reason = textwrap.shorten(str(error), 200)
            raise UsageError(f"base.{name}: {type(error).__name__}: {reason}") from error
        loggers.append(logger)
        ids[name] = logger.run_id
        write_whole(ids_path, json.dumps(ids).encode())
    return loggers


def _tracker_ids(path: Path) -> dict[str, str | None]:
    """Returns the run's id by tracker."""
    try:
        return read_json(path, dict[str, str | None]) if path.exists() else {}
    except JsonError as error:
        raise UsageError(f"{error}; without the file the trackers begin new records") from None


class OpponentScore(NamedTuple):
    """Shares of the engagements with an opponent."""

    opponent: str
    win: float
    draw: float
    loss: float

    @property
    def score(self) -> float:
        """The score: a win is 1, a draw 0.5."""
        return self.win + self.draw / 2


class RecentScores(Logger):
    """A logger that averages the scores against each opponent over the last rows."""

    def __init__(self) -> None:
        self._rows: deque[Metrics] = deque(maxlen=UPDATES)
        self._stage: float | None = None

    def log(self, metrics: Metrics, step: int) -> None:
        """Adds a row; the first one of a stage drops those before."""
        stage = metrics.get("curriculum/stage")
        if stage != self._stage:
            self._rows.clear()
        self._stage = stage
        if f"{PREFIX}score" in metrics:
            self._rows.append(metrics)

    @property
    def all(self) -> OpponentScore | None:
        """The score against all opponents, as often as each was met; None before the first row."""
        shares = (self._mean(f"{PREFIX}{name}") for name in ("win", "draw", "loss"))
        return OpponentScore("all", *shares) if self._rows else None

    @property
    def opponents(self) -> list[OpponentScore]:
        """The score against each opponent, the lowest first."""
        names = dict.fromkeys(name for row in self._rows for name in row if name.startswith(VERSUS))
        scores = []
        for name in names:
            opponent = name.removeprefix(VERSUS)
            if not any(f"{PREFIX}win_vs_{opponent}" in row for row in self._rows):
                continue
            win, score = self._mean(f"{PREFIX}win_vs_{opponent}"), self._mean(name)
            draw = 2 * (score - win)
            scores.append(OpponentScore(opponent, win, draw, max(1 - win - draw, 0.0)))
        return sorted(scores, key=lambda score: score.score)

    def _mean(self, name: str) -> float:
        return fmean(row[name] for row in self._rows if name in row)


def lowest_scores(metrics: Metrics, count: int) -> list[tuple[str, float]]:
    """Returns the opponents with the lowest scores of a row, and these scores."""
    scores = {
        name.removeprefix(VERSUS): score
        for name, score in metrics.items()
        if name.startswith(VERSUS)
    }
    return sorted(scores.items(), key=lambda item: item[1])[:count]
