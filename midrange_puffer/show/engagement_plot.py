"""A plot of one engagement from above: the trails of fighters and missiles.

With height there are panels over time beside it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from midrange_puffer.game.parameters import SEATS, callsigns
from midrange_puffer.game.paths import HIT, BodyPath, FighterPath, MissilePath, Paths
from midrange_puffer.game.records import outcome_words
from midrange_puffer.names import label, versus
from midrange_puffer.replays.session import Session
from midrange_puffer.show.figures import COLOURS, new_figure, open_frame, outlined, save_figure
from midrange_puffer.show.height_plot import STAR, draw_panels

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from midrange_puffer.policies.contestants import Contestant

TICK = 20.0  # s between the marks on a fighter's trail
LEGEND: tuple[tuple[str, dict[str, Any]], ...] = (  # a meaning, and the style of its line
    ("missile, motor burning", {"lw": 4, "alpha": 0.5}),
    ("missile coasting", {"lw": 1}),
    ("missile spent", {"ls": "", "marker": "x", "ms": 5}),
    ("hit", {"ls": "", "marker": "*", "ms": 13, "mfc": STAR}),
    (f"every {TICK:.0f} s", {"ls": "", "marker": "o", "ms": 5, "mfc": "white"}),
)


@dataclass
class Engagement:
    """One engagement from its start to its end.

    Attributes:
        names: Names of the contestants that fly red and blue.
        paths: Paths of all fighters and missiles.
        outcome: The outcome in words.
    """

    names: tuple[str, ...]
    paths: Paths
    outcome: str

    @property
    def length(self) -> float:
        """The duration [s]."""
        return self.paths.time


def record_engagement(
    red: "Contestant",
    blue: "Contestant",
    seed: int = 0,
    greedy: bool = False,
    **parameters: Any,
) -> Engagement:
    """Flies one engagement and records its paths.

    Args:
        red, blue: A pilot's name, a policy on the CPU, or a function of observations.
        seed: Seed of the start and the actions.
        greedy: Policies take the likeliest action instead of drawing one.
        **parameters: Rows of csrc/params.h.

    Raises:
        ValueError: An argument has a wrong name, type or range.
    """
    session = Session((red, blue), seed=seed, greedy=greedy, **parameters)
    while not session.over:
        session.step()
    return Engagement(names_of((red, blue)), session.paths, outcome_words(session.sim))


def names_of(contestants: Sequence["Contestant"]) -> tuple[str, ...]:
    """Returns the names of contestants in a plot."""
    return tuple(
        contestant if isinstance(contestant, str) else getattr(contestant, "__name__", "policy")
        for contestant in contestants
    )


def plot_engagement(engagement: Engagement, path: str | Path) -> None:
    """Draws an engagement from above into a .png, .svg or .pdf file.

    Raises:
        WriteError: The file could not be written.
    """
    save_figure(draw_engagement(engagement), path)


def draw_engagement(engagement: Engagement) -> "Figure":
    """Draws an engagement from above, with height also its panels over time."""
    paths = engagement.paths
    title = f"{versus([label(name) for name in engagement.names], paths.sizes)}: "
    title += f"{engagement.outcome} after {engagement.length:.0f} s"
    if paths.has_height:
        figure = new_figure(14, 7.5)
        parts: Any = figure.subfigures(1, 2, width_ratios=(3, 2))
        axes = parts[0].add_subplot()
        draw_panels(parts[1], paths)
        figure.suptitle(title)
        place: dict[str, Any] = {"loc": "upper center", "bbox_to_anchor": (0.5, -0.1), "ncols": 3}
    else:
        figure = new_figure(10, 6.5)
        axes = figure.add_subplot()
        axes.set_title(title)
        place = {"loc": "upper left", "bbox_to_anchor": (1, 1)}
    _draw_plan(axes, engagement)
    axes.legend(frameon=False, fontsize=9, **place)
    return figure


def _draw_plan(axes: "Axes", engagement: Engagement) -> None:
    """Draws all trails from above, and adds their meanings to the legend."""
    paths = engagement.paths
    for missile in paths.missiles:
        draw_missile(axes, missile, paths.fighters[missile.owner].side)
    for side, name in enumerate(map(label, engagement.names)):
        draw_side(axes, paths, side, f"{SEATS[side]}: {name}")
    for meaning, style in LEGEND:
        axes.plot([], [], color="0.35", label=meaning, **style)
    if paths.line is not None:
        _draw_line(axes, paths)
    style_plane(axes)
    if max(paths.sizes) > 1:
        kills = kills_in_words(paths)
        for line in ["killed:", *kills] if kills else ():
            axes.plot([], [], ls="", label=line)


def _draw_line(axes: "Axes", paths: Paths) -> None:
    """Draws the line of a mission, and names it and the transport in the legend."""
    line = paths.line
    assert line is not None
    x, y = (np.concatenate([getattr(path, axis) for path in paths.fighters]) for axis in "xy")
    half = max(np.ptp(x), np.ptp(y)) / 4
    ends = np.array(line.ends(float(x.mean()), float(y.mean()), float(half)))
    colour = COLOURS[line.attacker]
    axes.plot(
        *ends.T / 1000,
        color=colour,
        lw=2,
        ls="--",
        zorder=1,
        label=f"line for {SEATS[line.attacker]}",
    )
    if line.transport is not None:
        path = paths.fighters[line.transport]
        _, x, y = _trail(path)
        axes.plot(x, y, color=colour, lw=7, alpha=0.2, zorder=1, label="transport")


def kills_in_words(paths: Paths) -> list[str]:
    """Returns the kills in order of time, for example "43 s: red_1 by blue_0"."""
    names = callsigns(paths.sizes)
    kills = sorted(
        (missile.times[-1], missile.target, missile.owner)
        for missile in paths.missiles
        if missile.fate == HIT
    )
    return [f"{time:.0f} s: {names[victim]} by {names[killer]}" for time, victim, killer in kills]


def draw_missile(axes: "Axes", path: MissilePath, side: int) -> None:
    """Draws the trail of a side's missile: thick while its motor burns, thin while it coasts."""
    times, x, y = _trail(path)
    burning = times <= path.burnt_out
    colour = COLOURS[side]
    axes.plot(x, y, color=colour, lw=1, alpha=0.8, zorder=2)
    axes.plot(x[burning], y[burning], color=colour, lw=4, alpha=0.35, zorder=2)
    if path.fate != HIT:
        axes.plot(x[-1], y[-1], marker="x", ms=4, mew=1, color=colour, alpha=0.8, zorder=3)


def draw_side(axes: "Axes", paths: Paths, side: int, title: str) -> None:
    """Draws the trails of a side's fighters, in teams with the fighters' numbers.

    Args:
        axes: Where to draw.
        paths: The engagement.
        side: Red (0) or blue (1).
        title: The side's name in the legend.
    """
    fighters = [fighter for fighter in paths.fighters if fighter.side == side]
    if max(paths.sizes) == 1:
        _draw_fighter(axes, fighters[0], title)
        return
    for index, path in enumerate(fighters):
        times, x, y = _trail(path)
        colour = COLOURS[side]
        axes.plot(x, y, color=colour, lw=1.5, zorder=4, label=title if index == 0 else None)
        marks = np.arange(0, times[-1], TICK)
        dots = {"marker": "o", "ls": "", "ms": 3, "mfc": "white", "mew": 0.8}
        axes.plot(np.interp(marks, times, x), np.interp(marks, times, y), color=colour, **dots,
                  zorder=5)  # fmt: skip
        _draw_end(axes, path, 0.6)
        for end, before in ((0, 1), (-1, -2)):
            way = np.array((x[end] - x[before], y[end] - y[before]))
            offset = 9 * way / max(np.hypot(*way), 1e-9)
            bold = {"fontsize": 8, "fontweight": "bold", "ha": "center", "va": "center"}
            axes.annotate(str(index), (x[end], y[end]), offset, textcoords="offset points",
                          color=colour, zorder=8, **bold, **outlined(2))  # fmt: skip


def _draw_fighter(axes: "Axes", path: FighterPath, title: str) -> None:
    """Draws a fighter's trail, with a dot and the time every TICK seconds."""
    times, x, y = _trail(path)
    colour = COLOURS[path.side]
    axes.plot(x, y, color=colour, lw=2.2, zorder=4, label=title)
    marks = np.arange(0, times[-1], TICK)
    places = np.column_stack([np.interp(marks, times, x), np.interp(marks, times, y)])
    for time, place in zip(marks, places, strict=True):
        face = "white" if time else colour
        axes.plot(*place, marker="o", ms=5, mfc=face, mec=colour, mew=1.3, zorder=5)
        axes.annotate(f"{time:.0f}", place, (5, 5), textcoords="offset points", fontsize=8,
                      color=colour, zorder=7, **outlined(2.5))  # fmt: skip
    _draw_end(axes, path)


def _draw_end(axes: "Axes", path: FighterPath, scale: float = 1.0) -> None:
    """Draws an arrowhead at the end of a trail, or a star where the fighter died."""
    from matplotlib.markers import MarkerStyle

    _, x, y = _trail(path)
    colour = COLOURS[path.side]
    heading = np.degrees(np.arctan2(y[-1] - y[-2], x[-1] - x[-2]))
    arrow = MarkerStyle(">").scaled(1.3, 0.75).rotated(deg=heading)
    end = (
        {"marker": "*", "ms": 21 * scale, "mfc": STAR}
        if path.died is not None
        else {"marker": arrow, "ms": 11 * scale}
    )
    axes.plot(x[-1], y[-1], color=colour, mec=colour, mew=1.4 * scale, zorder=6, **end)


def _trail(path: BodyPath) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Returns times [s] and positions [km]."""
    return np.array(path.times), np.array(path.x) / 1000, np.array(path.y) / 1000


def style_plane(axes: "Axes") -> None:
    """Gives axes a grid and equal scales in km."""
    axes.set_aspect("equal", adjustable="datalim")
    axes.margins(0.06)
    axes.grid(color="0.9", lw=0.7)
    axes.set_axisbelow(True)
    open_frame(axes)
    axes.set_xlabel("x [km]")
    axes.set_ylabel("y [km]")
