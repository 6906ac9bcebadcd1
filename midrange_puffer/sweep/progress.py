"""The state of a running sweep: a live table on a terminal, otherwise a line for each trial."""

import contextlib
import sys
import time
from types import TracebackType

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.table import Table
from rich.text import Text

from midrange_puffer.names import shown
from midrange_puffer.sweep.figures import format_value
from midrange_puffer.sweep.record import (
    FAILED,
    FINISHED,
    RUNNING,
    STOPPED,
    Record,
    Trial,
    best_trial,
    pareto_front,
)
from midrange_puffer.train.loggers import format_duration

COLOURS = {FINISHED: "green", STOPPED: "yellow", FAILED: "red"}
REFRESHES = 2  # refreshes of the table a second
SHOWN = 5  # most trials shown of the Pareto front, and of the running ones


class Progress:
    """The display of a running sweep, a context manager.

    Args:
        record: the sweep's record.
        console: the console; None: one on stdout.
    """

    def __init__(self, record: Record, console: Console | None = None) -> None:
        self._record = record
        self._settings = record.config.sweep
        # The sys.stdout of now: `Search` replaces it later, to silence the methods.
        self._console = console or Console(file=sys.stdout, highlight=False)
        self._began = time.monotonic()
        self._trial_began: dict[int, float] = {}
        self._front: list[Trial] = []  # the front that was printed last
        self._live = contextlib.nullcontext()
        if self._console.is_terminal:
            self._live = Live(self, console=self._console, refresh_per_second=REFRESHES)

    def __enter__(self) -> "Progress":
        self._live.__enter__()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._live.__exit__(kind, error, trace)

    def show(self, trial: Trial) -> None:
        """Shows a trial that has begun, has ended, or will run again."""
        if trial.status == RUNNING:
            self._trial_began[trial.number] = time.monotonic()
        line = f"trial {trial.number}: {describe(trial)}"
        if not self._console.is_terminal:
            self._print(f"{line}; {self._over()}" if trial.is_over else line)
            self._print_front()
        elif trial.is_over or trial.reason:  # the table shows all other trials
            self._print(line)

    def seconds_left(self) -> float | None:
        """Returns the expected time for the other trials [s]; None before the first has ended."""
        over = self._record.over
        if not over:
            return None
        mean = sum(trial.duration for trial in over) / len(over)
        elapsed = [self._elapsed(trial) for trial in self._running()]
        not_begun = max(self._settings.trials - len(over) - len(elapsed), 0)
        left = not_begun * mean + sum(max(mean - seconds, 0) for seconds in elapsed)
        return left / self._settings.workers

    def __rich__(self) -> RenderableType:
        """Returns the table of the present state."""
        parts: list[RenderableType] = [self._headline()]
        if running := self._running():
            parts.append(self._running_table(running))
        if front := pareto_front(self._record.trials):
            parts.append(front_table(front))
        return Group(*parts)

    def _print(self, line: str) -> None:
        self._console.print(Text(line), soft_wrap=True)

    def _print_front(self) -> None:
        """Prints the Pareto front if it has changed."""
        front = pareto_front(self._record.trials)
        if front != self._front:
            points = (f"{trial.score:.3f}@{format_duration(trial.cost)}" for trial in front)
            self._print(f"Pareto front, score@cost: {' '.join(points)}")
            self._front = front

    def _running(self) -> list[Trial]:
        """Returns the running trials, without those that an earlier process left unfinished."""
        return [
            trial
            for trial in self._record.trials
            if trial.status == RUNNING and not trial.reason and trial.number in self._trial_began
        ]

    def _elapsed(self, trial: Trial) -> float:
        return time.monotonic() - self._trial_began[trial.number]

    def _over(self) -> str:
        """Returns the number of ended trials, the best one and the time left, in words."""
        over, left = self._record.over, self.seconds_left()
        parts = [f"{len(over)} of {self._settings.trials} over"]
        if best := best_trial(over):
            cost = format_duration(best.cost)
            parts.append(f"best {best.score:.3f} by trial {best.number} in {cost}")
        if left is not None:
            parts.append(f"{format_duration(left)} left")
        return ", ".join(parts)

    def _headline(self) -> Text:
        over, left = self._record.over, self.seconds_left()
        method, trials = self._settings.method, self._settings.trials
        text = Text(f"{method}: {len(over)} of {trials} trials over")
        for status, colour in COLOURS.items():
            if count := sum(trial.status == status for trial in over):
                text.append(f"  {count} {status}", colour)
        text.append(f"  {format_duration(time.monotonic() - self._began)} so far")
        if left is not None:
            text.append(f"  {format_duration(left)} left")
        if best := best_trial(over):
            text.append(f"\nbest score {best.score:.3f}", "bold green")
            text.append(f" by trial {best.number}, trained for {format_duration(best.cost)}")
        return text

    def _running_table(self, running: list[Trial]) -> Table:
        table = Table("running", "for", "trained", "score", box=None, pad_edge=False)
        for trial in running[:SHOWN]:
            done, score = "", ""
            if trial.readings:
                done = f"{trial.readings[-1].agent_steps / trial.total_timesteps:.0%}"
                score = f"{trial.score:.3f}"
            elapsed = format_duration(self._elapsed(trial))
            table.add_row(f"trial {trial.number}", elapsed, done, score)
        return table


def describe(trial: Trial) -> str:
    """Returns the state of a trial as one line."""
    if trial.status == RUNNING and trial.reason:
        return f"is run again: {shown(trial.reason)}"
    if trial.status == RUNNING:
        return f"begins with {format_params(trial)}"
    took = f"after {format_duration(trial.duration)}"
    score = f", score {trial.score:.3f}" if trial.readings else ""
    if trial.status == FINISHED:
        return f"finished {took}{score}"
    return f"{trial.status} {took}{score}: {shown(trial.reason)}"


def format_params(trial: Trial) -> str:
    """Returns a trial's settings, for example "train.gamma 0.995, env.reward_threat 0.2"."""
    return ", ".join(f"{name} {format_value(value)}" for name, value in trial.params.items())


def front_table(front: list[Trial]) -> Table:
    """Returns a table of the best trials of the Pareto front, one a column, cheapest first."""
    best = front[-SHOWN:]
    table = Table(f"Pareto front, {len(best)} of {len(front)}", box=None, pad_edge=False)
    for trial in best:
        table.add_column(f"trial {trial.number}", justify="right")
    table.add_row("score", *(f"{trial.score:.3f}" for trial in best), style="bold")
    table.add_row("cost", *(format_duration(trial.cost) for trial in best))
    for name in best[0].params:
        table.add_row(name, *(format_value(trial.params[name]) for trial in best))
    return table
