"""Plots of training runs: learning curves, and populations of exploiters."""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from midrange_puffer.config.exploiter_kinds import EXPLOITERS
from midrange_puffer.errors import UsageError
from midrange_puffer.game.parameters import PILOTS
from midrange_puffer.names import label, shown
from midrange_puffer.show.figures import COLOURS, new_figure, open_frame

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Rows = Sequence[Mapping[str, float | None]]  # rows of metrics.jsonl

COLUMNS = 3
CHART = (4.0, 2.5)  # inches
SMOOTHING = 0.02  # share of a run over which the heavy line averages
STEPS, TIME = "agent_steps", "uptime"
AXES = {STEPS: (1e-6, "agent decisions [millions]"), TIME: (1 / 60, "time [min]")}
LEAGUE = "league/"  # prefix of metrics that are measured at intervals
VERSUS = "environment/score_vs_"  # prefix of scores against an opponent
LOSSES = {
    "losses/entropy": "entropy",
    "losses/value_loss": "value loss",
    "losses/explained_variance": "explained variance",
}


def draw_runs(runs: Mapping[str, Rows]) -> "Figure":
    """Draws the learning curves of runs, a colour for each, with all metrics that were logged.

    The charts show the score, the rating, the score against each opponent and the losses over agent
    decisions, and the score over time. A light line is the logged metric, a heavy line its mean
    over 2 % of the run. A dashed line marks the start of a stage of a curriculum.

    Args:
        runs: By the run's name, rows of metrics, each with `agent_steps`.

    Raises:
        UsageError: There is nothing to draw.
    """
    charts = _charts(runs)
    if not charts:
        raise UsageError(f"{', '.join(map(shown, runs))}: nothing was logged yet that can be drawn")
    lines = -(-len(charts) // COLUMNS)
    width, height = CHART
    figure = new_figure(COLUMNS * width, lines * height + 0.5)
    grid = figure.subplots(lines, COLUMNS, squeeze=False).ravel()
    for axes, (key, title, over) in zip(grid, charts, strict=False):
        for place, rows in enumerate(runs.values()):
            _draw_curve(axes, rows, key, over, f"C{place % 10}")
        axes.set_xlabel(AXES[over][1], fontsize=8)
        axes.set_title(title, fontsize=10)
        axes.tick_params(labelsize=8)
        open_frame(axes)
        axes.grid(color="0.92")
        if "score" in key:
            axes.set_ylim(-0.03, 1.03)
    for axes in grid[len(charts) :]:
        axes.set_visible(False)
    marks = [
        grid[0].plot([], [], color=f"C{place % 10}", lw=2, label=label(name))[0]
        for place, name in enumerate(runs)
    ]
    figure.legend(handles=marks, loc="outside upper left", frameon=False, ncols=min(len(runs), 4))
    return figure


def _charts(runs: Mapping[str, Rows]) -> list[tuple[str, str, str]]:
    """Returns (metric, title, axis) of each chart for which a run has a value."""
    logged = {
        name for rows in runs.values() for row in rows for name in row if row[name] is not None
    }
    others = {name.removeprefix(VERSUS) for name in logged if name.startswith(VERSUS)}
    charts = [
        ("environment/score", "score in training", STEPS),
        ("environment/score", "score in training", TIME),
        (f"{LEAGUE}panel_score", "score against all pilots", STEPS),
        (f"{LEAGUE}rating", "rating", STEPS),
    ]
    charts += [
        (f"{VERSUS}{name}", f"score against {name}", STEPS)
        for name in (*PILOTS, *sorted(others - set(PILOTS)))
    ]
    charts += [(key, title, STEPS) for key, title in LOSSES.items()]
    return [chart for chart in charts if chart[0] in logged]


def _draw_curve(axes: "Axes", rows: Rows, key: str, over: str, colour: str) -> None:
    """Draws one metric of one run."""
    factor, _ = AXES[over]
    points = _points(rows, over, key)
    if not points:
        return
    x, y = np.array(points, float).T
    x *= factor
    if key.startswith(LEAGUE):
        axes.plot(x, y, color=colour, marker=".", lw=1.2)
    else:
        axes.plot(x, y, color=colour, lw=0.6, alpha=0.25)
        axes.plot(x, _smooth(x, y), color=colour, lw=1.6)
    stages = _points(rows, over, "curriculum/stage")
    for (_, before), (place, stage) in pairwise(stages):
        if stage != before:
            axes.axvline(place * factor, color=colour, lw=0.8, ls="--", alpha=0.6)


def _smooth(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Returns at each point the mean over SMOOTHING of the run around it."""
    reach = SMOOTHING * (x[-1] - x[0]) / 2
    first, last = np.searchsorted(x, x - reach), np.searchsorted(x, x + reach, side="right")
    sums = np.concatenate([[0.0], np.cumsum(y)])
    return (sums[last] - sums[first]) / (last - first)


def _points(rows: Rows, over: str, key: str) -> list[tuple[float, float]]:
    """Returns (value of `over`, value of `key`) for each row that has both."""
    return [
        (place, value)
        for row in rows
        if (place := row.get(over)) is not None and (value := row.get(key)) is not None
    ]


class Exploiter(NamedTuple):
    """An exploiter: its kind, the agent decisions of its victim [M], and its score against it."""

    kind: str
    against: float
    score: float


def draw_population(
    exploiters: Sequence[Exploiter], steps: Sequence[int], scores: np.ndarray, done: float
) -> "Figure":
    """Draws the score of each exploiter, and of each checkpoint against each exploiter.

    Args:
        exploiters: At least one.
        steps: Agent decisions of the checkpoints, in their order, at least one.
        scores: Scores of each checkpoint against each exploiter, [checkpoints, exploiters].
        done: The score at which an exploiter's training ended.
    """
    figure = new_figure(11, 4.2)
    left, right = figure.subplots(1, 2)
    for kind, colour in zip(EXPLOITERS, (*COLOURS, "0.45", "#d99a2b"), strict=True):
        points = [(x.against, x.score) for x in exploiters if x.kind == kind]
        if points:
            left.plot(*np.array(points).T, "o-", color=colour, ms=4, lw=1, label=kind)
    left.axhline(0.5, color="0.6", lw=1)
    left.axhline(done, color="0.6", lw=1, ls="--")
    left.set(xlabel="agent decisions of the policy [M]", ylabel="score of the exploiter")
    left.set(ylim=(-0.03, 1.03))
    left.set_title("each exploiter against the policy it was trained against", fontsize=10)
    left.legend(loc="lower left", fontsize=8, frameon=False)
    open_frame(left)

    image = right.imshow(
        scores, origin="lower", aspect="auto", cmap="RdYlGn", vmin=0, vmax=1, interpolation="none"
    )
    right.set_yticks(range(len(steps)), [_number(step / 1e6) for step in steps], fontsize=7)
    count = len(exploiters)
    places = np.unique(np.linspace(0, count - 1, min(count, 12)).round().astype(int))
    labels = [_number(exploiters[place].against) for place in places]
    right.set_xticks(places, labels, fontsize=7)
    right.set(xlabel="exploiter, by the policy it was trained against [M]")
    right.set(ylabel="policy after so many decisions [M]")
    right.set_title("score of the policy against each exploiter", fontsize=10)
    figure.colorbar(image, ax=right)
    return figure


def _number(value: float) -> str:
    """Returns a number with three digits, so that steps of a short run differ in the labels."""
    return np.format_float_positional(value, 3, fractional=False, trim="-")
