"""Panels over time for the plot of an engagement with height: heights, energy, and ranges."""

from typing import TYPE_CHECKING

import numpy as np

from midrange_puffer.game.parameters import SEATS
from midrange_puffer.game.paths import BodyPath, FighterPath, MissilePath, Paths
from midrange_puffer.show.figures import COLOURS, open_frame

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure

STAR = "#ffc52e"


def energy_height(path: BodyPath, gravity: float) -> np.ndarray:
    """Returns the height that a body would have without speed, at each entry [m]."""
    return np.array(path.z) + np.square(path.speed) / (2 * gravity)


def slant_range(path: BodyPath, other: BodyPath) -> tuple[np.ndarray, np.ndarray]:
    """Returns the times at which both bodies have entries [s], and their distance then [m]."""
    times, own, theirs = np.intersect1d(path.times, other.times, return_indices=True)
    places, others = (
        np.column_stack([body.x, body.y, body.z])[rows]
        for body, rows in ((path, own), (other, theirs))
    )
    return times, np.linalg.norm(places - others, axis=1)


def draw_panels(figure: "Figure | SubFigure", paths: Paths) -> None:
    """Draws height, energy height and range over time, one below the other.

    In teams the ranges are those of missiles alone.
    """
    panels = figure.subplots(3, sharex=True)
    for path in paths.fighters:
        _draw_fighter(panels[0], path, np.array(path.z))
        _draw_fighter(panels[1], path, energy_height(path, paths.gravity))
    for missile in paths.missiles:
        _draw_missile(panels[0], missile, np.array(missile.times), np.array(missile.z), paths)
        target = paths.fighters[missile.target]
        _draw_missile(panels[2], missile, *slant_range(missile, target), paths)
    last = "range of missiles to their targets [km]"
    if len(paths.fighters) == len(SEATS):
        times, ranges = slant_range(*paths.fighters)
        panels[2].plot(times, ranges / 1000, color="0.2", lw=1.8, zorder=4)
        last = f"range [km] of {SEATS[0]} and {SEATS[1]}; thin: of missiles to their targets"
    titles = ("height [km]; thin: missiles", "energy height z + v²/2g [km]", last)
    for axes, title in zip(panels, titles, strict=True):
        axes.set_title(title, fontsize=10, loc="left")
        axes.grid(color="0.9", lw=0.7)
        axes.set_axisbelow(True)
        open_frame(axes)
    for axes in (panels[0], panels[2]):
        axes.set_ylim(bottom=0)  # the ground, a hit
    panels[2].set_xlabel("time [s]")


def _draw_fighter(axes: "Axes", path: FighterPath, values: np.ndarray) -> None:
    """Draws values of a fighter [m], with a star where it died."""
    colour = COLOURS[path.side]
    axes.plot(path.times, values / 1000, color=colour, lw=2, zorder=4)
    if path.died is not None:
        star = {"marker": "*", "ms": 14, "mfc": STAR, "mec": colour}
        axes.plot(path.times[-1], values[-1] / 1000, zorder=6, **star)


def _draw_missile(
    axes: "Axes", path: MissilePath, times: np.ndarray, values: np.ndarray, paths: Paths
) -> None:
    """Draws values of a missile [m]: thick while its motor burns, thin while it coasts."""
    colour = COLOURS[paths.fighters[path.owner].side]
    burning = times <= path.burnt_out
    axes.plot(times, values / 1000, color=colour, lw=0.9, alpha=0.8, zorder=2)
    axes.plot(times[burning], values[burning] / 1000, color=colour, lw=3, alpha=0.35, zorder=2)
