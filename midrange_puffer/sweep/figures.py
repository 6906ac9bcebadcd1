"""Figures of a sweep, as SVG for a web page: scores, costs, and the effects of parameters."""

import math
import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from midrange_puffer.show.web_page import INK, PAPER
from midrange_puffer.sweep.record import (
    FAILED,
    FINISHED,
    STOPPED,
    Trial,
    best_trial,
    pareto_front,
)
from midrange_puffer.sweep.space import SweptKey, Value

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Colours are visible on light and on dark pages.
MARKS: dict[str, dict[str, Any]] = {
    FINISHED: {"marker": "o", "facecolors": "#3b82c4", "edgecolors": "#3b82c4"},
    STOPPED: {"marker": "o", "facecolors": "none", "edgecolors": "#c98a1b"},
    FAILED: {"marker": "x", "color": "#d0473f"},
}
WIDTH = 11.6  # width of a figure [inches], the page's width
LABEL_GAP = 16  # least distance of two numbers beside the Pareto front [points]
WIDE = 5.0  # from this ratio of costs on, their scale is logarithmic
COLUMNS, ROW_HEIGHT = 3, 2.3  # effects' charts side by side, their height [inches]
SCALE_GAP = 0.7  # least distance between parallel scales [inches]
TICKS = 5  # most ticks on a scale
COLOURS = ("#3f74d8", "#b8559b", "#f0902b")  # colours of trials, from the lowest score on
ENOUGH = 8  # least number of trials for which a trend or a correlation is shown
SMOOTHING = 0.12  # standard deviation of the trend's kernel, as a share of the range
FEW = 8  # with at most so many different values, the trend has points at these only


def tooltip(trial: Trial) -> str:
    """Returns the text that is shown when the pointer is on a trial's mark."""
    return f"trial {trial.number}, {trial.status}: {trial.score:.3f} at {trial.cost:.0f} s"


def new_figure(height: float, width: float = WIDTH) -> "Figure":
    """Returns an empty figure; height and width in inches."""
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height))


def scatter(axes: "Axes", trials: Sequence[Trial], x: ArrayLike, size: float = 26) -> None:
    """Draws a mark for the score of each trial at `x`, with a tooltip; all have one status."""
    if trials:
        scores = [trial.score for trial in trials]
        marks = axes.scatter(x, scores, size, linewidths=1.2, **MARKS[trials[0].status])
        marks.set_urls([tooltip(trial) for trial in trials])


def cost_figure(trials: Sequence[Trial], score: str) -> "Figure":
    """Draws score against cost, with the Pareto front and the numbers of the trials on it.

    Args:
        trials: the sweep's trials.
        score: label of the score's axis.
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
    """Draws the best score so far, against the number of trials and against their time.

    Args:
        trials: the sweep's trials.
        score: label of the score's axis.
    """
    from matplotlib.ticker import MaxNLocator

    over = [trial for trial in trials if trial.is_over]
    finished = [trial.status == FINISHED for trial in over]
    scores = np.array([trial.score if trial.readings else np.nan for trial in over])
    best = np.fmax.accumulate(np.where(finished, scores, np.nan)) if over else scores
    spent = np.cumsum([trial.duration for trial in over])
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
    """Draws the legend of the marks, with the number of trials of each status."""
    for status, style in MARKS.items():
        count = sum(trial.status == status for trial in trials)
        unread = sum(trial.status == status and not trial.readings for trial in trials)
        label = f"{status}: {count}" + (f", of which without a score {unread}" if unread else "")
        if count:
            axes.scatter([], [], 26, linewidths=1.2, label=label, **style)
    axes.legend(loc="lower center", bbox_to_anchor=(0.5, 1), ncols=len(MARKS) + 1)


def _draw_front(axes: "Axes", front: Sequence[Trial]) -> None:
    """Draws the Pareto front: at each cost, the best score of the trials up to that cost."""
    right = axes.get_xlim()[1]
    costs = [*(trial.cost for trial in front), right]
    scores = [*(trial.score for trial in front), front[-1].score]
    label = "Pareto front of the finished"
    axes.step(costs, scores, where="post", color=INK, lw=1.2, zorder=1, label=label)
    axes.set_xlim(right=right)


def _number(axes: "Axes", front: Sequence[Trial]) -> None:
    """Writes the numbers of trials beside their marks where there is room, always the last one."""
    figure = axes.get_figure(root=True)
    if figure is None:
        return
    figure.draw_without_rendering()  # computes the positions that the labels need
    numbered: list[np.ndarray] = []
    for trial in reversed(front):
        place = axes.transData.transform((trial.cost, trial.score)) * 72 / figure.dpi
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
    """Labels a logarithmic scale with a few round numbers, also if it is short."""
    from matplotlib.ticker import LogLocator, NullLocator, StrMethodFormatter

    axes.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_major_formatter(StrMethodFormatter("{x:g}"))


def _time_unit(seconds: float) -> tuple[float, str]:
    """Returns the length [s] and the name of a suitable unit for a time."""
    for length, name in ((3600.0, "h"), (60.0, "min")):
        if seconds > 2 * length:
            return length, name
    return 1.0, "s"


def effects_figure(trials: Sequence[Trial], parameters: Mapping[str, SweptKey]) -> "Figure":
    """Draws score against each parameter, the strongest rank correlation first."""
    shown = scored(trials)
    correlations = rank_correlations(shown, parameters)
    rows = math.ceil(len(parameters) / COLUMNS)
    figure = new_figure(ROW_HEIGHT * rows)
    plots = figure.subplots(rows, COLUMNS, sharey=True, squeeze=False)
    for axes in plots.flat[len(parameters) :]:
        axes.remove()
    for axes, (name, correlation) in zip(plots.flat, correlations.items(), strict=False):
        _draw_effect(axes, shown, parameters[name])
        if len(shown) >= ENOUGH:
            axes.set_title(f"rank correlation {correlation:+z.2f}", fontsize=9, loc="left")
    for axes in plots[:, 0]:
        axes.set_ylabel("score")
    return figure


def parallel_figure(trials: Sequence[Trial], parameters: Mapping[str, SweptKey]) -> "Figure":
    """Draws each trial as a line through its parameters to its score, the best most visibly."""
    from matplotlib.collections import LineCollection
    from matplotlib.colors import LinearSegmentedColormap

    shown = sorted(scored(trials), key=lambda trial: trial.score)  # the best are drawn last, on top
    figure = new_figure(4.8, max(WIDTH, SCALE_GAP * (len(parameters) + 1)))
    axes = figure.subplots()
    scores = np.array([trial.score for trial in shown])
    low, high = scores.min(), scores.max()
    heights = (scores - low) / (high - low) if high > low else np.full(len(scores), 0.5)
    lines = [
        list(enumerate([*(_place(trial, row) for row in parameters.values()), height]))
        for trial, height in zip(shown, heights, strict=True)
    ]
    quality = ranks(scores.tolist()) / len(scores)  # by score, most had the same colour
    colours = LinearSegmentedColormap.from_list("score", COLOURS)(quality)
    faintest = np.clip(10 / len(scores), 0.12, 0.5)
    colours[:, 3] = faintest + (0.85 - faintest) * quality**2  # low scores are faint
    bundle = LineCollection(lines, colors=colours, linewidths=1.2, zorder=2)
    bundle.set_urls([tooltip(trial) for trial in shown])
    axes.add_collection(bundle)
    best = best_trial(trials)
    if best:
        x, y = zip(*lines[shown.index(best)], strict=True)
        axes.plot(x, y, color=INK, lw=2.4, marker="o", ms=5, zorder=3, label=tooltip(best))
        axes.legend(loc="upper left", bbox_to_anchor=(0, -0.06))
    ends = {name: (row.minimum, row.maximum) for name, row in parameters.items()}
    _draw_scales(axes, {**ends, "score": (f"{low:.3f}", f"{high:.3f}")})
    return figure


def format_value(value: Value) -> str:
    """Returns a value in few characters, for example 1e7 for 10,000,000."""
    if isinstance(value, str | bool) or value is None:
        return str(value)
    text = f"{value:.10g}".replace("e-0", "e-")
    return re.sub(r"^(\d)(0{5,})$", lambda match: f"{match[1]}e{len(match[2])}", text)


def ticks(parameter: SweptKey) -> list[Value]:
    """Returns round values in a parameter's range, spread along its scale; or some choices."""
    from matplotlib.ticker import MaxNLocator

    low, high = parameter.minimum, parameter.maximum
    values: list[Any] = []
    if parameter.choices:
        values = list(parameter.choices)
    elif parameter.distribution == "uniform_pow2":
        exponents = range(round(math.log2(low)), round(math.log2(high)) + 1)
        values = [2.0**exponent for exponent in exponents]
    elif parameter.distribution == "log_normal":
        values = _round_numbers(low, high)
    elif parameter.distribution == "logit_normal":
        values = [1 - rest for rest in reversed(_round_numbers(1 - high, 1 - low))]
    if not values:
        whole = parameter.key.kind is int
        spread = MaxNLocator(TICKS, steps=(1, 2, 5, 10), integer=whole).tick_values(low, high)
        slack = 1e-9 * (high - low)  # for rounding errors: 3 * 0.1 > 0.3
        values = [value for value in spread if low - slack <= value <= high + slack]
    return values[:: math.ceil(len(values) / TICKS)]


def _draw_effect(axes: "Axes", trials: Sequence[Trial], parameter: SweptKey) -> None:
    """Draws the trials' scores over a parameter, along the scale of its distribution."""
    for status in MARKS:
        group = [trial for trial in trials if trial.status == status]
        scatter(axes, group, [_place(trial, parameter) for trial in group], 12)
    positions = np.array([_place(trial, parameter) for trial in trials])
    if len(trials) >= ENOUGH and np.ptp(positions):
        axes.plot(*trend(positions, np.array([t.score for t in trials])), color=INK, lw=1.6)
    values = ticks(parameter)
    axes.set_xticks([parameter.position(value) for value in values], map(format_value, values))
    axes.set_xlim(-0.04, 1.04)
    unit = f" [{parameter.key.unit}]" if parameter.key.unit not in ("", "1") else ""
    axes.set_xlabel(parameter.name + unit)


def _place(trial: Trial, parameter: SweptKey) -> float:
    return parameter.position(trial.params[parameter.name])


def _draw_scales(axes: "Axes", ends: Mapping[str, tuple[Value, Value]]) -> None:
    """Draws a vertical line for each parameter, with the values at its ends."""
    for place, (low, high) in enumerate(ends.values()):
        axes.vlines(place, 0, 1, color=INK, lw=0.8, alpha=0.5, zorder=1)
        for height, value, side in ((-0.03, low, "top"), (1.03, high, "bottom")):
            text = value if isinstance(value, str) else format_value(value)
            axes.text(place, height, text, ha="center", va=side, fontsize=8)
    axes.set_xticks(range(len(ends)), ends, rotation=35, ha="left", rotation_mode="anchor")
    axes.xaxis.tick_top()
    axes.tick_params(length=0)
    axes.set_yticks([])
    axes.grid(False)
    axes.spines[:].set_visible(False)
    axes.set_ylim(-0.08, 1.08)
    axes.set_xlim(-0.3, len(ends) - 0.7)


def _round_numbers(low: float, high: float) -> list[float]:
    """Returns at least three round numbers such as 10, 30, 100; none in a narrow range."""
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    for digits in ((1,), (1, 3), (1, 2, 5)):
        values = [float(f"{digit}e{power}") for power in powers for digit in digits]
        inside = [value for value in values if low * (1 - 1e-9) <= value <= high * (1 + 1e-9)]
        if len(inside) >= 3:
            return inside
    return []


def scored(trials: Sequence[Trial]) -> list[Trial]:
    """Returns the finished and stopped trials, the ones whose score depends on their parameters.

    The score of a failed trial depends mostly on its failure.
    """
    return [trial for trial in trials if trial.status in (FINISHED, STOPPED)]


def rank_correlations(
    trials: Sequence[Trial], parameters: Mapping[str, SweptKey]
) -> dict[str, float]:
    """Returns Spearman's rank correlation of each parameter with the score, the strongest first.

    It is 1 if the score always rises with the parameter, and -1 if it always falls. It is 0 if the
    parameter or the score is the same in all trials.
    """
    scores = ranks([trial.score for trial in trials])
    correlations = {
        name: _correlation(ranks([row.position(trial.params[name]) for trial in trials]), scores)
        for name, row in parameters.items()
    }
    return dict(sorted(correlations.items(), key=lambda item: -abs(item[1])))


def chance_correlation(count: int) -> float:
    """Returns the size that 95 % of rank correlations stay below for a parameter without effect.

    It holds for `count` independent trials, by the normal approximation.
    """
    return min(1.96 / math.sqrt(max(count - 1, 1)), 1.0)


def trend(positions: np.ndarray, scores: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Returns the mean score of nearby trials, weighted by a Gaussian kernel.

    Args:
        positions: positions of the trials along the range, 0 to 1.
        scores: scores of the trials.

    Returns:
        Positions from the first trial to the last, and the mean scores there. With at most `FEW`
        different positions, they are these positions.
    """
    x = np.unique(positions)
    if len(x) > FEW:
        x = np.linspace(x[0], x[-1], 60)
    weights = np.exp(-(((x[:, None] - positions) / SMOOTHING) ** 2) / 2)
    return x, weights @ scores / weights.sum(1)


def ranks(values: Sequence[float]) -> np.ndarray:
    """Returns ranks from 1 on; equal values have the mean of their ranks."""
    _, inverse, counts = np.unique(values, return_inverse=True, return_counts=True)
    return (np.cumsum(counts) - (counts - 1) / 2)[inverse]


def _correlation(x: np.ndarray, y: np.ndarray) -> float:
    """Returns Pearson's correlation; 0 if x or y is constant."""
    x, y = x - x.mean(), y - y.mean()
    scale = math.sqrt((x @ x) * (y @ y))
    return float(x @ y / scale) if scale else 0.0
