"""How plots draw what flew: trails of fighters and missiles, seen from above."""

from typing import TYPE_CHECKING

import numpy as np

from midrange_puffer.game.paths import HIT, BodyPath, FighterPath, MissilePath
from midrange_puffer.show.figures import COLOURS

if TYPE_CHECKING:
    from matplotlib.axes import Axes

STAR = "#ffc52e"
TICK = 20.0  # s between the marks on a fighter's trail


def trail(path: BodyPath) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Times [s] and positions [km]."""
    return np.array(path.times), np.array(path.x) / 1000, np.array(path.y) / 1000


def draw_missile(axes: "Axes", path: MissilePath, side: int) -> None:
    """Thick while its motor burns, thin while it coasts; `side` has launched it."""
    times, x, y = trail(path)
    burning = times <= path.burnt_out
    colour = COLOURS[side]
    axes.plot(x, y, color=colour, lw=1, alpha=0.8, zorder=2)
    axes.plot(x[burning], y[burning], color=colour, lw=4, alpha=0.35, zorder=2)
    if path.fate != HIT:
        axes.plot(x[-1], y[-1], marker="x", ms=4, mew=1, color=colour, alpha=0.8, zorder=3)


def draw_fighter(axes: "Axes", path: FighterPath, label: str) -> None:
    """A dot every TICK seconds, and at the end an arrowhead, or a star where it died."""
    from matplotlib.patheffects import withStroke

    times, x, y = trail(path)
    colour = COLOURS[path.side]
    axes.plot(x, y, color=colour, lw=2.2, zorder=4, label=label)
    marks = np.arange(0, times[-1], TICK)
    places = np.column_stack([np.interp(marks, times, x), np.interp(marks, times, y)])
    for time, place in zip(marks, places, strict=True):
        face = "white" if time else colour
        axes.plot(*place, marker="o", ms=5, mfc=face, mec=colour, mew=1.3, zorder=5)
        axes.annotate(
            f"{time:.0f}",
            place,
            (5, 5),
            textcoords="offset points",
            fontsize=8,
            color=colour,
            path_effects=[withStroke(linewidth=2.5, foreground="white")],
            zorder=7,
        )
    draw_end(axes, path)


def draw_end(axes: "Axes", path: FighterPath, scale: float = 1.0) -> None:
    """An arrowhead along the last bit of a trail, or a star where its fighter died."""
    from matplotlib.markers import MarkerStyle

    _, x, y = trail(path)
    colour = COLOURS[path.side]
    heading = np.degrees(np.arctan2(y[-1] - y[-2], x[-1] - x[-2]))
    arrow = MarkerStyle(">").scaled(1.3, 0.75).rotated(deg=heading)
    end = (
        {"marker": "*", "ms": 21 * scale, "mfc": STAR}
        if path.died is not None
        else {"marker": arrow, "ms": 11 * scale}
    )
    axes.plot(x[-1], y[-1], color=colour, mec=colour, mew=1.4 * scale, zorder=6, **end)


def style_plane(axes: "Axes") -> None:
    """Axes in km, to one scale."""
    axes.set_aspect("equal", adjustable="datalim")
    axes.margins(0.06)
    axes.grid(color="0.9", lw=0.7)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)
    axes.set_xlabel("x [km]")
    axes.set_ylabel("y [km]")
