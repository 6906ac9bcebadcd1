"""What plots show of teams: trails with the fighters' numbers, and who killed whom."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from midrange_puffer.game.parameters import callsigns
from midrange_puffer.game.paths import HIT, FighterPath, Paths
from midrange_puffer.show.figures import COLOURS
from midrange_puffer.show.path_plot import TICK, draw_end, trail

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def draw_team(axes: "Axes", paths: Sequence[FighterPath], title: str) -> None:
    """The trails of a side: each fighter's number in it at both ends, a dot every TICK seconds."""
    for index, path in enumerate(paths):
        times, x, y = trail(path)
        colour = COLOURS[path.side]
        axes.plot(x, y, color=colour, lw=1.5, zorder=4, label=title if index == 0 else None)
        marks = np.arange(0, times[-1], TICK)
        dots = {"marker": "o", "ls": "", "ms": 3, "mfc": "white", "mew": 0.8}
        axes.plot(np.interp(marks, times, x), np.interp(marks, times, y), color=colour, **dots,
                  zorder=5)  # fmt: skip
        draw_end(axes, path, 0.6)
        _draw_number(axes, index, (x[0], y[0]), -np.array((x[1] - x[0], y[1] - y[0])), colour)
        _draw_number(axes, index, (x[-1], y[-1]), np.array((x[-1] - x[-2], y[-1] - y[-2])), colour)


def _draw_number(
    axes: "Axes", number: int, place: tuple[float, float], way: np.ndarray, colour: str
) -> None:
    """A number beside a place, to where `way` points."""
    from matplotlib.patheffects import withStroke

    offset = 9 * way / max(np.hypot(*way), 1e-9)
    axes.annotate(
        str(number),
        place,
        offset,
        textcoords="offset points",
        ha="center",
        va="center",
        fontsize=8,
        fontweight="bold",
        color=colour,
        path_effects=[withStroke(linewidth=2, foreground="white")],
        zorder=8,
    )


def kills_in_words(paths: Paths) -> list[str]:
    """Who killed whom and when, as "43 s: red_1 by blue_0", in their order."""
    names = callsigns(paths.sizes)
    kills = sorted(
        (missile.times[-1], missile.target, missile.owner)
        for missile in paths.missiles
        if missile.fate == HIT
    )
    return [f"{time:.0f} s: {names[victim]} by {names[killer]}" for time, victim, killer in kills]
