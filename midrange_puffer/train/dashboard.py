"""A run in a terminal: its progress, and the policy's score against each opponent."""

import time
from collections.abc import Mapping, Sequence

from rich import box
from rich.console import Console, ConsoleOptions, Group, RenderResult
from rich.live import Live
from rich.panel import Panel
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from midrange_puffer.names import shown
from midrange_puffer.train.curriculum import format_stage
from midrange_puffer.train.loggers import (
    Logger,
    OpponentScore,
    RecentScores,
    TimeLeft,
    format_duration,
)

LEAST_WIDTH, LEAST_HEIGHT = 100, 30  # of the terminal
INTERVAL = 0.25  # s between two pictures, at least
BAR = 40  # characters
OUTCOMES = (("win", "█", "green"), ("draw", "▒", "yellow"), ("loss", "·", "red"))
# Figures of an update: name in the metrics, name on the screen, and number format.
LEARNING = (
    ("learning_rate", "rate", ".2g"),
    ("losses/entropy", "entropy", ".2f"),
    ("losses/approx_kl", "KL", ".4f"),
    ("losses/clipfrac", "clipped", ".1%"),
    ("league/rating", "rating", ".0f"),
)
LOSSES = (
    ("losses/policy_loss", "policy", ".4f"),
    ("losses/value_loss", "value", ".3f"),
    ("losses/explained_variance", "explained", ".2f"),
)
FIGHTS = (
    ("environment/episode_return", "return", ".3f"),
    ("environment/episode_length", "decisions", ".0f"),
    ("environment/shots", "shots", ".1f"),
    ("environment/hits", "hits", ".2f"),
)
MACHINE = (
    ("machine/process_cpu", "cores in use", ".1f"),
    ("machine/cpu", "CPU %", ".0f"),
    ("machine/memory", "memory %", ".0f"),
    ("gpu/utilization", "GPU %", ".0f"),
    ("gpu/memory", "GPU memory %", ".0f"),
)
# The parts of an update's time.
PARTS = (
    ("env", "environments"),
    ("eval_forward", "acting"),
    ("learn", "learning"),
    ("optimizer", "optimizer"),
)


class Dashboard(Logger):
    """A logger that redraws the state of a run after an update.

    It is a context manager: other output meanwhile appears above it. At the end it is removed,
    since `run.print_end` prints the figures once more.

    Args:
        console: the terminal.
        name: of the run.
        total_steps: of the run.
        stages: of its curriculum.
    """

    def __init__(self, console: Console, name: str, total_steps: int, stages: Sequence[str]):
        self._name, self._total_steps, self._stages = name, total_steps, stages
        self._scores = RecentScores()
        self._left, self._left_text = TimeLeft(total_steps), ""
        self._metrics: Mapping[str, float] = {}
        self._drawn = 0.0
        # It is not drawn by a thread: environments may be forked at any time.
        self._live = Live(self, console=console, auto_refresh=False, transient=True)

    @staticmethod
    def fits(console: Console) -> bool:
        """True if the terminal can show it and is large enough."""
        is_terminal = console.is_terminal and not console.is_dumb_terminal
        return is_terminal and console.width >= LEAST_WIDTH and console.height >= LEAST_HEIGHT

    def __enter__(self) -> "Dashboard":
        self._live.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._live.stop()

    def log(self, metrics: Mapping[str, float], step: int) -> None:
        """Draws it, if it is due."""
        self._scores.log(metrics, step)
        self._left_text = self._left.text(metrics)
        # A rating is not in every row, so older values are kept.
        self._metrics = {**self._metrics, **metrics}
        if time.monotonic() >= self._drawn + INTERVAL:
            self._drawn = time.monotonic()
            self._live.refresh()

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Draws it; called by rich."""
        if self._metrics:
            title = Text.assemble(("midrange", "bold"), "  ", shown(self._name))
            body = Group(self._progress(), *self._figures(), "", scores_table(self._scores, True))
            yield Panel(body, title=title, title_align="left", box=box.ROUNDED, padding=(0, 1))

    def _progress(self) -> Table:
        """Returns the progress line."""
        metrics = self._metrics
        steps, speed, total = metrics["agent_steps"], metrics["SPS"], self._total_steps
        line = Table.grid(padding=(0, 2), expand=True)
        line.add_column(ratio=1)
        for _ in range(3):
            line.add_column(no_wrap=True)
        left = f", {self._left_text}" if self._left_text else ""
        line.add_row(
            ProgressBar(total, min(steps, total)),
            f"{steps / 1e6:.2f} of {total / 1e6:.2f} M steps",
            f"{speed / 1e3:.0f} k/s",
            f"{format_duration(metrics['uptime'])} gone{left}",
        )
        return line

    def _figures(self) -> list[Text]:
        """Returns the lines of the stage, the learning, the machine and the time."""
        metrics, lines = self._metrics, []
        if "curriculum/stage" in metrics:
            stage = shown(format_stage(self._stages, int(metrics["curriculum/stage"])))
            score = metrics.get("curriculum/score")
            lines.append(Text(stage if score is None else f"{stage}   its score {score:.3f}"))
        whole = sum(metrics.get(f"performance/{name}", 0) for name in ("eval", "train"))
        shares = {
            label: metrics[f"performance/{name}"] / whole
            for name, label in PARTS
            if whole and f"performance/{name}" in metrics
        }
        time_goes = "   ".join(f"{label} {share:.0%}" for label, share in shares.items())
        rows = {"learning": LEARNING, "losses": LOSSES, "fights": FIGHTS, "machine": MACHINE}
        lines += [_line(head, figures, metrics) for head, figures in rows.items()]
        return [*lines, Text.assemble((f"{'time':10}", "dim"), time_goes)]


def _line(head: str, figures: Sequence[tuple[str, str, str]], metrics: Mapping[str, float]) -> Text:
    """Returns a line with the available figures."""
    parts = [f"{label} {metrics[name]:{form}}" for name, label, form in figures if name in metrics]
    return Text.assemble(
        (f"{head:10}", "dim"), "   ".join(parts), overflow="ellipsis", no_wrap=True
    )


def scores_table(scores: RecentScores, bars: bool) -> Table | Text:
    """Returns a table of opponents, the lowest score first, and of all; `bars` adds pictures."""
    if scores.all is None:
        return Text("no score yet: an engagement counts one time limit after its beginning")
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False)
    table.add_column("opponent", no_wrap=True)
    for heading in ("score", "win %", "draw %", "loss %"):
        table.add_column(heading, justify="right", no_wrap=True)
    if bars:
        table.add_column("   ".join(f"{glyph} {name}" for name, glyph, _ in OUTCOMES))
    for score in (*scores.opponents, scores.all):
        is_last = score == scores.all
        if is_last:
            table.add_section()
        shares = (f"{100 * getattr(score, name):.1f}" for name, *_ in OUTCOMES)
        bar = [_bar(score)] if bars else []
        table.add_row(
            Text(shown(score.opponent)),
            f"{score.score:.3f}",
            *shares,
            *bar,
            style="bold" if is_last else "",
        )
    return table


def _bar(score: OpponentScore) -> Text:
    """Returns a bar with the shares of win, draw and loss."""
    ends = [round(BAR * score.win), round(BAR * (score.win + score.draw)), BAR]
    bar, begin = Text(), 0
    for end, (_, glyph, colour) in zip(ends, OUTCOMES, strict=True):
        bar.append(glyph * (end - begin), style=colour)
        begin = end
    return bar
