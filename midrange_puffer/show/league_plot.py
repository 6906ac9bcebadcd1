"""A plot of a league: its payoff matrix, and the ratings of runs over their training."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from midrange_puffer.contest.standings import Standings
from midrange_puffer.game.parameters import PILOTS
from midrange_puffer.names import label
from midrange_puffer.show.figures import new_figure, open_frame, save_figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes

CELL, MATRIX_MARGINS, CURVES_WIDTH, PAD = 0.42, (2.3, 1.7), 5.5, 0.12  # inches
LABEL_GAP = 0.028  # least distance between pilots' names, as a share of the height


def plot_standings(
    standings: Standings, runs: Mapping[Path, Sequence[tuple[int, str]]], path: str | Path
) -> None:
    """Draws the payoff matrix, and beside it the ratings of runs with two or more checkpoints.

    Args:
        standings: The league's standings.
        runs: (agent steps, player's name) of the checkpoints, by run folder.
        path: A .png, .svg or .pdf file.

    Raises:
        WriteError: The file could not be written.
    """
    curves = {folder: points for folder, points in runs.items() if len(points) > 1}
    width, height = (CELL * len(standings.names) + margin for margin in MATRIX_MARGINS)
    widths = [width, CURVES_WIDTH] if curves else [width]
    figure = new_figure(sum(widths), height)
    axes = figure.subplots(1, len(widths), squeeze=False, width_ratios=widths)[0]
    figure.set_layout_engine("constrained", w_pad=PAD, h_pad=PAD)
    _draw_matrix(axes[0], standings)
    if curves:
        _draw_curves(axes[1], standings, curves)
    save_figure(figure, path)


def _draw_matrix(axes: "Axes", standings: Standings) -> None:
    """Draws scores in percent; bold if the whole 95 % interval is above or below 50 %."""
    payoffs, names = standings.payoffs, standings.names
    image = axes.imshow(100 * payoffs.scores, cmap="RdBu", vmin=0, vmax=100)
    for row in range(len(names)):
        for column in range(len(names)):
            if row == column:
                continue
            score = payoffs.scores[row, column]
            clear = payoffs.low[row, column] > 0.5 or payoffs.high[row, column] < 0.5
            style = {"ha": "center", "va": "center", "fontsize": 9}
            style["weight"] = "bold" if clear else "normal"
            style["color"] = "white" if abs(score - 0.5) > 0.3 else "black"
            axes.text(column, row, f"{100 * score:.0f}", **style)
    labels = [label(name) for name in names]
    axes.set_xticks(range(len(names)), labels, rotation=45, ha="left", rotation_mode="anchor")
    axes.set_yticks(
        range(len(names)),
        [f"{name}  {rating:.0f}" for name, rating in zip(labels, standings.ratings, strict=True)],
    )
    axes.xaxis.tick_top()
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)
    axes.set_xlabel("score of row against column [%], by rating", labelpad=8)
    axes.figure.colorbar(image, ax=axes, shrink=0.6, pad=0.02)


def _draw_curves(
    axes: "Axes", standings: Standings, curves: Mapping[Path, Sequence[tuple[int, str]]]
) -> None:
    """Draws runs' ratings over agent decisions, with 95 % intervals; pilots' ratings as lines."""
    places = {name: place for place, name in enumerate(standings.names)}
    lines = []
    for points in curves.values():
        rows = [places[name] for _, name in points]
        steps = [steps / 1e6 for steps, _ in points]
        ratings, half_widths = standings.ratings[rows], standings.half_widths[rows]
        lines.append(axes.errorbar(steps, ratings, half_widths, marker="o", ms=4, capsize=3))
    pilots = {name: standings.ratings[places[name]] for name in places if name in PILOTS}
    for rating in pilots.values():
        axes.axhline(rating, color="0.7", lw=0.8, zorder=0)
    low, high = axes.get_ylim()
    text_height = -float("inf")
    for name, rating in sorted(pilots.items(), key=lambda item: item[1]):
        text_height = max(rating, text_height + LABEL_GAP * (high - low))
        style = {"transform": axes.get_yaxis_transform(), "va": "center", "fontsize": 8}
        axes.text(1.02, text_height, name, color="0.4", **style)
    open_frame(axes)
    axes.set_xlabel("agent decisions [millions]")
    axes.set_ylabel("rating")
    axes.set_title("ratings of checkpoints, with 95 % intervals")
    # The labels go to the legend directly: it skips lines whose label begins with "_".
    runs = [label(folder.name) for folder in curves]
    axes.legend(lines, runs, frameon=False, fontsize=9)
