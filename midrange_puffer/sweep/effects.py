"""Pictures of what a sweep varied: how each parameter goes with the score, and all at once."""

import math
import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from midrange_puffer.show.web_page import INK
from midrange_puffer.sweep.figures import MARKS, WIDTH, new_figure, scatter, tooltip
from midrange_puffer.sweep.record import Trial, best_trial
from midrange_puffer.sweep.space import Parameter, Value
from midrange_puffer.sweep.statistics import ENOUGH, rank_correlations, ranks, scored, trend

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

COLUMNS, ROW_HEIGHT = 3, 2.3  # of the small multiples; inches
SCALE_GAP = 0.7  # inches between parallel scales, at least
TICKS = 5  # on a scale, at most
COLOURS = ("#3f74d8", "#b8559b", "#f0902b")  # from poor to good, seen on light and dark ground


def effects_figure(trials: Sequence[Trial], parameters: Mapping[str, Parameter]) -> "Figure":
    """Score against each parameter, the one of the strongest rank correlation first."""
    shown = scored(trials)
    correlations = rank_correlations(shown, parameters)
    rows = math.ceil(len(parameters) / COLUMNS)
    figure = new_figure(ROW_HEIGHT * rows)
    panels = figure.subplots(rows, COLUMNS, sharey=True, squeeze=False)
    for axes in panels.flat[len(parameters) :]:
        axes.remove()
    for axes, (name, correlation) in zip(panels.flat, correlations.items(), strict=False):
        _draw_effect(axes, shown, parameters[name])
        if len(shown) >= ENOUGH:
            axes.set_title(f"rank correlation {correlation:+z.2f}", fontsize=9, loc="left")
    for axes in panels[:, 0]:
        axes.set_ylabel("score")
    return figure


def parallel_figure(trials: Sequence[Trial], parameters: Mapping[str, Parameter]) -> "Figure":
    """A line a trial, through its value of each parameter to its score; the best one stands out."""
    from matplotlib.collections import LineCollection
    from matplotlib.colors import LinearSegmentedColormap

    shown = sorted(scored(trials), key=lambda trial: trial.score)  # the best are drawn last
    figure = new_figure(4.8, max(WIDTH, SCALE_GAP * (len(parameters) + 1)))
    axes = figure.subplots()
    scores = np.array([trial.score for trial in shown])
    low, high = scores.min(), scores.max()
    heights = (scores - low) / (high - low) if high > low else np.full(len(scores), 0.5)
    lines = [
        list(enumerate([*(_place(trial, row) for row in parameters.values()), height]))
        for trial, height in zip(shown, heights, strict=True)
    ]
    quality = ranks(scores) / len(scores)  # by score, most would have one colour
    colours = LinearSegmentedColormap.from_list("score", COLOURS)(quality)
    faintest = np.clip(10 / len(scores), 0.12, 0.5)
    colours[:, 3] = faintest + (0.85 - faintest) * quality**2  # the poor ones recede
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
    """A value in few characters: 1e7 for 10,000,000."""
    if isinstance(value, str | bool) or value is None:
        return str(value)
    text = f"{value:.10g}".replace("e-0", "e-")
    return re.sub(r"^(\d)(0{5,})$", lambda found: f"{found[1]}e{len(found[2])}", text)


def ticks(parameter: Parameter) -> list[Value]:
    """Round values in a parameter's range, spread along its scale; or some of its choices."""
    from matplotlib.ticker import MaxNLocator

    low, high = parameter.minimum, parameter.maximum
    found: list[Value] = []
    if parameter.choices:
        found = list(parameter.choices)
    elif parameter.distribution == "uniform_pow2":
        exponents = range(round(math.log2(low)), round(math.log2(high)) + 1)
        found = [2.0**exponent for exponent in exponents]
    elif parameter.distribution == "log_normal":
        found = _round_numbers(low, high)
    elif parameter.distribution == "logit_normal":
        found = [1 - rest for rest in reversed(_round_numbers(1 - high, 1 - low))]
    if not found:
        whole = parameter.key.kind is int
        spread = MaxNLocator(TICKS, steps=(1, 2, 5, 10), integer=whole).tick_values(low, high)
        slack = 1e-9 * (high - low)  # 3 * 0.1 > 0.3
        found = [value for value in spread if low - slack <= value <= high + slack]
    return found[:: math.ceil(len(found) / TICKS)]


def _draw_effect(axes: "Axes", trials: Sequence[Trial], parameter: Parameter) -> None:
    """Scores along the scale that the parameter was drawn from."""
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


def _place(trial: Trial, parameter: Parameter) -> float:
    return parameter.position(trial.params[parameter.name])


def _draw_scales(axes: "Axes", ends: Mapping[str, tuple[object, object]]) -> None:
    """A vertical line for each name, with the values at its ends."""
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
    """1, 2, 5 and the like times powers of 10, as few as are three; none in a narrow range."""
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    for digits in ((1,), (1, 3), (1, 2, 5)):
        values = [float(f"{digit}e{power}") for power in powers for digit in digits]
        found = [value for value in values if low * (1 - 1e-9) <= value <= high * (1 + 1e-9)]
        if len(found) >= 3:
            return found
    return []
