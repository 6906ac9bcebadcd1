"""Pictures of a sweep, as SVG for a web page: what was reached, at what cost, and how soon."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from midrange_puffer.show.web_page import INK, PAPER
from midrange_puffer.sweep.record import FAILED, FINISHED, STOPPED, Trial, pareto_front

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Seen on either ground.
MARKS = {
    FINISHED: {"marker": "o", "facecolors": "#3b82c4", "edgecolors": "#3b82c4"},
    STOPPED: {"marker": "o", "facecolors": "none", "edgecolors": "#c98a1b"},
    FAILED: {"marker": "x", "color": "#d0473f"},
}
WIDTH = 11.6  # inches, of a figure: as wide as the page
LABEL_GAP = 16  # points, the least between two numbers beside the Pareto front
WIDE = 5.0  # costs that differ by this factor are drawn along a logarithmic scale


def tooltip(trial: Trial) -> str:
    """What is said of a trial where the pointer rests on its mark."""
    return f"trial {trial.number}, {trial.status}: {trial.score:.3f} at {trial.cost:.0f} s"


def new_figure(height: float, width: float = WIDTH) -> "Figure":
    """An empty figure; height and width in inches."""
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height))


def scatter(axes: "Axes", trials: Sequence[Trial], x: Sequence[float], size: float = 26) -> None:
    """Mark the scores of trials of one status at `x`, with tooltips."""
    if trials:
        scores = [trial.score for trial in trials]
        marks = axes.scatter(x, scores, size, linewidths=1.2, **MARKS[trials[0].status])
        marks.set_urls([tooltip(trial) for trial in trials])


def cost_figure(trials: Sequence[Trial], score: str) -> "Figure":
    """Score against cost, with the Pareto front and the numbers of the trials on it.

    Args:
        score: what it is, for the axis.
    """
    figure = new_figure(4.6)
    axes = figure.subplots()
    for status in MARKS:
        shown = [trial for trial in trials if trial.status == status and trial.readings]
        scatter(axes, shown, [trial.cost for trial in shown])
    costs = [trial.cost for trial in trials if trial.is_over and trial.readings]
    if costs and max(costs) > WIDE * min(costs):
        axes.set_xscale("log")
        _number_log_scale(axes)
    axes.margins(x=0.05, y=0.1)
    axes.set_xlabel("cost: training [s]")
    axes.set_ylabel(score)
    front = pareto_front(trials)
    if front:
        _draw_front(axes, front)
    _draw_legend(axes, trials)
    _number(axes, front)
    return figure


def progress_figure(trials: Sequence[Trial], score: str) -> "Figure":
    """The best score so far, against the trials made and against the time spent on them.

    Args:
        score: as of `cost_figure`.
    """
    from matplotlib.ticker import MaxNLocator

    over = [trial for trial in trials if trial.is_over]
    finished = [trial.status == FINISHED for trial in over]
    scores = np.array([trial.score if trial.readings else np.nan for trial in over])
    best = np.fmax.accumulate(np.where(finished, scores, np.nan)) if over else scores
    spent = np.cumsum([trial.seconds for trial in over])
    length, unit = _time_unit(spent[-1] if over else 0)
    figure = new_figure(3.4)
    by_number, by_time = figure.subplots(1, 2, sharey=True)
    for axes, ends in ((by_number, np.arange(1, len(over) + 1)), (by_time, spent / length)):
        for status in MARKS:
            rows = [
                row for row, trial in enumerate(over) if trial.status == status and trial.readings
            ]
            scatter(axes, [over[row] for row in rows], ends[rows], 10)
        axes.step(ends, best, where="post", color=INK, lw=1.6)
        axes.set_xlim(left=0)
    by_number.xaxis.set_major_locator(MaxNLocator(integer=True))
    by_number.set_xlabel("trials")
    by_number.set_ylabel(score)
    by_time.set_xlabel(f"time spent on trials, one after another [{unit}]")
    return figure


def _draw_legend(axes: "Axes", trials: Sequence[Trial]) -> None:
    """What the marks mean, and how many trials there are of each."""
    for status, style in MARKS.items():
        count = sum(trial.status == status for trial in trials)
        unread = sum(trial.status == status and not trial.readings for trial in trials)
        label = f"{status}: {count}" + (f", of which without a score {unread}" if unread else "")
        if count:
            axes.scatter([], [], 26, linewidths=1.2, label=label, **style)
    axes.legend(loc="lower center", bbox_to_anchor=(0.5, 1), ncols=len(MARKS) + 1)


def _draw_front(axes: "Axes", front: Sequence[Trial]) -> None:
    """The best score at no more than a cost."""
    right = axes.get_xlim()[1]
    costs = [*(trial.cost for trial in front), right]
    scores = [*(trial.score for trial in front), front[-1].score]
    label = "Pareto front of the finished"
    axes.step(costs, scores, where="post", color=INK, lw=1.2, zorder=1, label=label)
    axes.set_xlim(right=right)


def _number(axes: "Axes", front: Sequence[Trial]) -> None:
    """Write the numbers of trials beside them, where there is room; the last one's surely."""
    axes.figure.draw_without_rendering()  # only then is it known where points are
    numbered: list[np.ndarray] = []
    for trial in reversed(front):
        place = axes.transData.transform((trial.cost, trial.score)) * 72 / axes.figure.dpi
        if all(np.hypot(*(place - other)) >= LABEL_GAP for other in numbered):
            numbered.append(place)
            _write_beside(axes, str(trial.number), (trial.cost, trial.score))


def _write_beside(axes: "Axes", text: str, place: tuple[float, float]) -> None:
    from matplotlib.patheffects import withStroke

    axes.annotate(
        text,
        place,
        (-4, 4),
        textcoords="offset points",
        ha="right",
        weight="bold",
        path_effects=[withStroke(linewidth=2.5, foreground=PAPER)],
        zorder=5,
    )


def _number_log_scale(axes: "Axes") -> None:
    """Few round numbers instead of powers of 10, of which a short scale has one or none."""
    from matplotlib.ticker import LogLocator, NullLocator, StrMethodFormatter

    axes.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_major_formatter(StrMethodFormatter("{x:g}"))


def _time_unit(seconds: float) -> tuple[float, str]:
    """A unit that so long a time is a handy number of, and its length [s]."""
    for length, name in ((3600.0, "h"), (60.0, "min")):
        if seconds > 2 * length:
            return length, name
    return 1.0, "s"
