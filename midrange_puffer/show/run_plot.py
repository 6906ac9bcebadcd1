"""Learning curves of runs: scores, ratings and losses over agent decisions and over time."""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from midrange_puffer.errors import UsageError
from midrange_puffer.game.parameters import PILOTS
from midrange_puffer.names import label, shown

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Rows = Sequence[Mapping[str, float | None]]  # of metrics.jsonl

COLUMNS = 3
PANEL = (4.0, 2.5)  # inches
SMOOTHING = 0.02  # of a run: over how much of it the heavy line averages
STEPS, TIME = "agent_steps", "uptime"
AXES = {STEPS: (1e-6, "agent decisions [millions]"), TIME: (1 / 60, "time [min]")}
LEAGUE = "league/"  # begins the names of what was measured now and then
RATING = f"{LEAGUE}rating"
VERSUS = "environment/score_vs_"  # begins the name of a score against an opponent
LOSSES = {
    "losses/entropy": "entropy",
    "losses/value_loss": "value loss",
    "losses/explained_variance": "explained variance",
}


def draw_runs(runs: Mapping[str, Rows]) -> "Figure":
    """Draw the curves of runs, a colour each, all that were logged of them.

    Over agent decisions are the score, the rating, the score against each pilot and the pool, and
    the losses; the score is over time, too. A light line is what was logged, a heavy one its mean
    over 2 % of the run. A dashed line is where a stage of a curriculum begins.

    Args:
        runs: by name, rows of metrics, each with `agent_steps`.

    Raises:
        UsageError: There is nothing to draw.
    """
    from matplotlib.figure import Figure

    panels = _panels(runs)
    if not panels:
        raise UsageError(f"{', '.join(map(shown, runs))}: nothing was logged yet that can be drawn")
    lines = -(-len(panels) // COLUMNS)
    width, height = PANEL
    figure = Figure(figsize=(COLUMNS * width, lines * height + 0.5), layout="constrained")
    grid = figure.subplots(lines, COLUMNS, squeeze=False).ravel()
    for axes, (key, title, over) in zip(grid, panels, strict=False):
        for place, rows in enumerate(runs.values()):
            _draw_curve(axes, rows, key, over, f"C{place % 10}")
        axes.set_xlabel(AXES[over][1], fontsize=8)
        axes.set_title(title, fontsize=10)
        axes.tick_params(labelsize=8)
        axes.spines[["top", "right"]].set_visible(False)
        axes.grid(color="0.92")
        if "score" in key:
            axes.set_ylim(-0.03, 1.03)
    for axes in grid[len(panels) :]:
        axes.set_visible(False)
    marks = [
        grid[0].plot([], [], color=f"C{place % 10}", lw=2, label=label(name))[0]
        for place, name in enumerate(runs)
    ]
    figure.legend(handles=marks, loc="outside upper left", frameon=False, ncols=min(len(runs), 4))
    return figure


def _opponents(logged: set[str]) -> list[str]:
    """Who may have been fought: the pilots, then all others that are logged."""
    others = {name.removeprefix(VERSUS) for name in logged if name.startswith(VERSUS)}
    return [*PILOTS, *sorted(others - set(PILOTS))]


def _panels(runs: Mapping[str, Rows]) -> list[tuple[str, str, str]]:
    """(metric, title, axis) of each panel for which there is anything to draw."""
    logged = {
        name for rows in runs.values() for row in rows for name in row if row[name] is not None
    }
    panels = [
        ("environment/score", "score in training", STEPS),
        ("environment/score", "score in training", TIME),
        (f"{LEAGUE}panel_score", "score against all pilots", STEPS),
        (RATING, "rating", STEPS),
    ]
    panels += [(f"{VERSUS}{name}", f"score against {name}", STEPS) for name in _opponents(logged)]
    panels += [(key, title, STEPS) for key, title in LOSSES.items()]
    return [panel for panel in panels if panel[0] in logged]


def _draw_curve(axes: "Axes", rows: Rows, key: str, over: str, colour: str) -> None:
    """One metric of one run."""
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
    for begin in _stage_begins(rows, over):
        axes.axvline(begin * factor, color=colour, lw=0.8, ls="--", alpha=0.6)


def _smooth(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """At each point the mean of those within half of SMOOTHING of the run on either side."""
    reach = SMOOTHING * (x[-1] - x[0]) / 2
    first, last = np.searchsorted(x, x - reach), np.searchsorted(x, x + reach, side="right")
    sums = np.concatenate([[0.0], np.cumsum(y)])
    return (sums[last] - sums[first]) / (last - first)


def _stage_begins(rows: Rows, over: str) -> list[float]:
    """Where each stage but the first begins."""
    stages = _points(rows, over, "curriculum/stage")
    return [place for (_, before), (place, stage) in pairwise(stages) if stage != before]


def _points(rows: Rows, over: str, key: str) -> list[tuple[float, float]]:
    """The place and the value of a metric in each row that has both."""
    found = [(row.get(over), row.get(key)) for row in rows]
    return [point for point in found if None not in point]
