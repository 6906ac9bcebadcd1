"""Polar plots of a missile envelope: around the target by aspect, and around the launcher."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from midrange_puffer.game.envelope import Envelope, direction
from midrange_puffer.show.figures import new_figure, outlined, save_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from matplotlib.projections.polar import PolarAxes

# (near edge, far edge, colour, meaning) of each zone, from the outside in.
ZONES = (
    ("cold", "aero", "#c9dcef", "hits if the target flies on: to R_aero"),
    ("nez", "cold", "#f2b04c", "hits though it turns cold: to R_cold"),
    ("inner", "nez", "#c8372d", "hits against every declared evasion: to R_NEZ"),
    ("minimum", "inner", "#8c99a6", "close in, where some evasion escapes"),
)
RANGES = (1, 4, 10, 20, 40, 80, 160, 320)  # circles of the grid [km]
BEARINGS = ("0°", "45°", "90°", "135°", "180°", "−135°", "−90°", "−45°")
SCALE = "ranges in km, on a square-root scale"
SIDE = 3.1  # size of one polar plot [inches]
COLUMNS = (  # aspects of the plot around the launcher, in diamond angles
    ("target flies at the launcher", 0.0),
    ("target crosses to the right", 1.0),
    ("target flies away", -2.0),
)


def plot_aspect(envelope: Envelope, path: str | Path) -> None:
    """Draws the zones around a target for nose-on launches, into a .png, .svg or .pdf file.

    Each row is a speed of the launcher, each column a speed of the target.

    Raises:
        WriteError: The file could not be written.
    """
    grid = envelope.grid
    launches, targets = _some(grid.launch_speeds), _some(grid.target_speeds)
    figure, grid_axes = _polar_axes(len(launches), len(targets))
    angles = _closed(_radians(grid.aspect_angles))
    for row, launch in zip(grid_axes, launches, strict=True):
        for axes, target in zip(row, targets, strict=True):
            edges = {
                name: _closed(getattr(envelope, name)[0, :, launch, target]) for name in _edges()
            }
            _draw_zones(axes, angles, edges)
    for axes, target in zip(grid_axes[0], targets, strict=True):
        axes.set_title(f"target at {grid.target_speeds[target]:.0f} m/s", pad=14, fontsize=11)
    _finish(figure, grid_axes, [grid.launch_speeds[launch] for launch in launches], 112)
    figure.suptitle(
        f"Where a launcher, nose-on, hits a target in the middle that flies up; {SCALE}"
    )
    save_figure(figure, path)


def plot_off_boresight(envelope: Envelope, path: str | Path) -> None:
    """Draws the zones around the launcher, into a .png, .svg or .pdf file.

    Raises:
        WriteError: The file could not be written.
    """
    grid = envelope.grid
    launches, target = _some(grid.launch_speeds), len(grid.target_speeds) // 2
    figure, grid_axes = _polar_axes(len(launches), len(COLUMNS))
    angles = _radians(grid.off_angles)
    angles = np.concatenate([-angles[:0:-1], angles])
    for column, (title, aspect) in enumerate(COLUMNS):
        right, left = grid.aspect_node(aspect), grid.aspect_node(-aspect)
        for row, launch in zip(grid_axes, launches, strict=True):
            edges = {}
            for name in _edges():
                values = getattr(envelope, name)[:, :, launch, target]
                # A target to the left is the mirror image of one to the right.
                edges[name] = np.concatenate([values[:0:-1, left], values[:, right]])
            _draw_zones(row[column], angles, edges)
        grid_axes[0][column].set_title(title, pad=14, fontsize=11)
    _finish(figure, grid_axes, [grid.launch_speeds[launch] for launch in launches], 157)
    figure.suptitle(
        f"Where a launcher in the middle, nose up, hits a target at "
        f"{grid.target_speeds[target]:.0f} m/s; {SCALE}"
    )
    save_figure(figure, path)


def plot_heights(
    heights: np.ndarray, ranges: Mapping[str, Mapping[str, np.ndarray]], path: str | Path
) -> None:
    """Draws ranges over the height that launcher and target share, into a picture file.

    Args:
        heights: [heights], rising [m].
        ranges: title of a panel -> name of an edge, "nez", "cold" or "aero" -> [heights] [m].
        path: a .png, .svg or .pdf file.

    Raises:
        WriteError: The file could not be written.
    """
    figure = new_figure(4.4 * len(ranges) + 0.4, 4.6)
    panels = figure.subplots(1, len(ranges), squeeze=False, sharey=True)[0]
    for axes, (title, edges) in zip(panels, ranges.items(), strict=True):
        left = np.zeros(len(heights))
        for _, edge, colour, meaning in reversed(ZONES[:3]):
            axes.fill_betweenx(
                heights / 1000, left, edges[edge] / 1000, color=colour, label=meaning
            )
            left = edges[edge] / 1000
        axes.set_title(title)
        axes.set_xlabel("range on the ground [km]")
        axes.set_xlim(left=0)
        axes.set_ylim(heights[0] / 1000, heights[-1] / 1000)
        axes.grid(alpha=0.3)
    panels[0].set_ylabel("height of both [km]")
    handles, labels = panels[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=1, frameon=False)
    save_figure(figure, path)


def _edges() -> set[str]:
    return {name for zone in ZONES for name in zone[:2]}


def _some(nodes: tuple[float, ...]) -> list[int]:
    """Returns the indices of the first, the middle and the last node."""
    return sorted({0, len(nodes) // 2, len(nodes) - 1})


def _radians(diamond: np.ndarray) -> np.ndarray:
    x, y = direction(diamond).T
    return np.arctan2(y, x)


def _closed(values: np.ndarray) -> np.ndarray:
    """Appends the first value, so that a line closes."""
    return np.append(values, values[0])


def _polar_axes(rows: int, columns: int) -> tuple["Figure", np.ndarray]:
    """Returns a figure and polar axes [rows, columns]: clockwise from the top, all to one scale."""
    figure = new_figure(SIDE * columns + 0.6, SIDE * rows + 1.1)
    grid_axes = figure.subplots(
        rows, columns, squeeze=False, sharey=True, subplot_kw={"projection": "polar"}
    )
    for axes in grid_axes.flat:
        axes.set_theta_zero_location("N")
        axes.set_theta_direction(-1)
    return figure, grid_axes


def _draw_zones(axes: "PolarAxes", angles: np.ndarray, edges: dict[str, np.ndarray]) -> None:
    """Fills the zones between edges [m] at angles [rad]."""
    for near, far, colour, label in ZONES:
        axes.fill_between(
            angles, edges[near] / 1000, edges[far] / 1000, color=colour, lw=0, label=label
        )
    axes.plot(angles, edges["aero"] / 1000, color="#2463b0", lw=1.2)
    axes.plot(angles, edges["minimum"] / 1000, color="0.2", lw=1, ls="--", label="R_min")


def _finish(
    figure: "Figure", grid_axes: np.ndarray, launch_speeds: list[float], label_angle: float
) -> None:
    """Sets the grid, with its ranges at an angle [degrees], labels of rows, and the legend."""
    top = 1.05 * max(axes.dataLim.y1 for axes in grid_axes.flat)
    for axes in grid_axes.flat:
        axes.set_rscale("function", functions=(np.sqrt, np.square))  # enlarges near ranges
        axes.set_rlim(0, top)
        axes.set_rgrids([tick for tick in RANGES if tick <= top], angle=label_angle, fontsize=7)
        for text in axes.get_yticklabels():
            text.set(**outlined(2))
        axes.set_thetagrids(range(0, 360, 45), BEARINGS, fontsize=7)
        axes.tick_params(axis="x", pad=-2)
        axes.grid(color="0.5", lw=0.5, alpha=0.4)
        axes.set_axisbelow(False)
    for axes, speed in zip(grid_axes[:, 0], launch_speeds, strict=True):
        axes.set_ylabel(f"launched at {speed:.0f} m/s", labelpad=24, fontsize=11)
    handles, labels = grid_axes[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=3, frameon=False, fontsize=9)
