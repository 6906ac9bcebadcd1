"""A plot of a space-time graph: the plane to the sides, time downward."""

from typing import TYPE_CHECKING, Any

import numpy as np

from midrange_puffer.game.parameters import SEATS
from midrange_puffer.game.spacetime import MissilePrediction, SpaceTime
from midrange_puffer.show.figures import COLOURS, new_figure, outlined
from midrange_puffer.show.heights import HIGHEST, SHADES

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from mpl_toolkits.mplot3d import Axes3D

SAFE, DANGER = "#17803d", "#c25700"  # escape paths: evades all missiles; is hit
IN_THE_AIR, HARMLESS, FIRED_NOW = "-.", ":", "--"  # line styles of missiles


def draw_spacetime(graph: SpaceTime, title: str) -> "Figure":
    """Draws a graph: the fronts of the threat cone, own and escape paths, missiles in the air.

    An escape path outside the cone outruns the shot. A missile whose path turns dotted can no
    longer reach its target. With height, dots have the colours of heights.
    """
    figure = new_figure(9, 7.5)
    axes = figure.add_subplot(projection="3d", computed_zorder=False)
    if graph.fronts is not None:
        _draw_cone(axes, graph, graph.fronts)
    _draw_fighter(axes, graph)
    for missile in graph.missiles:
        _draw_missile(axes, graph.times, missile)
    if graph.has_height:
        _draw_heights(axes, graph)
    _draw_frame(axes, graph, title)
    return figure


def _line(axes: "Axes3D", points: np.ndarray, times: np.ndarray, **style: Any) -> None:
    """Draws a line through positions [n, 2] or [n, 3] in m and times [n] in s."""
    axes.plot(points[:, 0] / 1000, points[:, 1] / 1000, times, **style)


def _draw_cone(axes: "Axes3D", graph: SpaceTime, fronts: np.ndarray) -> None:
    """Draws a front for each second, and the missiles' paths between the fronts."""
    colour, enemy = COLOURS[1 - graph.seat], SEATS[1 - graph.seat]
    for number, (front, time) in enumerate(zip(fronts, graph.times, strict=True)):
        label = f"threat cone: where a missile fired now by {enemy} can be" if number == 1 else None
        times = np.full(len(front), time)
        _line(axes, front, times, color=colour, lw=0.9, alpha=0.75, label=label)
    for path in fronts.swapaxes(0, 1):
        _line(axes, path, graph.times, color=colour, lw=0.6, alpha=0.35)
    x, y = fronts[..., 0] / 1000, fronts[..., 1] / 1000
    times = np.broadcast_to(graph.times[:, None], x.shape)
    if np.isfinite(x).all():
        axes.plot_surface(x, y, times, color=colour, alpha=0.12, lw=0, shade=False)


def _draw_fighter(axes: "Axes3D", graph: SpaceTime) -> None:
    """Draws the own path, the escapes, and for each of these the missile fired now."""
    own = f"{SEATS[graph.seat]}, controls held"
    _line(axes, graph.own, graph.times, color=COLOURS[graph.seat], lw=2.4, label=own)
    for number, side in enumerate(("left", "right")):
        path = graph.escapes[number]
        safe, words = graph.verdict(number)
        colour = SAFE if safe else DANGER
        _line(axes, path, graph.times, color=colour, lw=1.8, label=f"escape {side}: {words}")
        style = {"color": colour, "ha": "center", "va": "top", **outlined(2.5)}
        x, y, *height = path[-1] / 1000
        words = "\n".join([side, *(f"{z:.1f} km" for z in height)])
        axes.text(x, y, graph.times[-1], words, **style)
        if graph.shots is not None:
            _line(axes, graph.shots[number], graph.times, color=colour, lw=1, ls=FIRED_NOW)


def _draw_missile(axes: "Axes3D", times: np.ndarray, missile: MissilePrediction) -> None:
    """Draws a missile in the air: dotted once it is harmless, with a star where it hits."""
    colour = COLOURS[missile.owner]
    harmless = np.inf if missile.harmless is None else missile.harmless
    for part, style in (
        (times <= harmless, IN_THE_AIR),
        (times >= np.floor(harmless), HARMLESS),
    ):
        _line(axes, missile.points[part], times[part], color=colour, ls=style, lw=1.6)
    if missile.hits:
        end = np.flatnonzero(np.isfinite(missile.points[:, 0]))[-1]
        _line(axes, missile.points[[end]], times[[end]], color=colour, marker="*", ms=12)


def _draw_heights(axes: "Axes3D", graph: SpaceTime) -> None:
    """Draws a dot in the colour of its height at each point of paths and fronts, and the scale."""
    from matplotlib.colors import LinearSegmentedColormap

    paths = [graph.own, *graph.escapes, *(missile.points for missile in graph.missiles)]
    times = [graph.times] * len(paths)
    if graph.fronts is not None:
        paths.extend(graph.fronts)
        times.extend(
            np.full(len(front), time) for front, time in zip(graph.fronts, graph.times, strict=True)
        )
    points, places = np.vstack(paths) / 1000, np.concatenate(times)
    colours = LinearSegmentedColormap.from_list("heights", [np.array(c) / 255 for c in SHADES])
    x, y, z = points.T
    scale: dict[str, Any] = {"zs": places, "c": z, "vmin": 0, "vmax": HIGHEST / 1000}
    dots = axes.scatter(x, y, s=14, cmap=colours, depthshade=False, **scale)
    axes.figure.colorbar(dots, ax=axes, label="height [km]", shrink=0.5, pad=0.08, extend="max")


def _draw_frame(axes: "Axes3D", graph: SpaceTime, title: str) -> None:
    """Sets axes of one scale with time downward, and the legend."""
    harmless = any(missile.harmless is not None for missile in graph.missiles)
    hits = any(missile.hits for missile in graph.missiles)
    lines: tuple[tuple[str, bool, dict[str, Any]], ...] = (
        ("missile fired now, guided at an escape", graph.shots is not None, {"ls": FIRED_NOW}),
        ("missile in the air, if controls are held", bool(graph.missiles), {"ls": IN_THE_AIR}),
        ("the same, harmless from here on", harmless, {"ls": HARMLESS}),
        ("the same, where it hits", hits, {"ls": "", "marker": "*", "ms": 12}),
    )
    for label, is_there, style in lines:
        if is_there:
            axes.plot([], [], [], color="0.35", lw=1.6, label=label, **style)
    paths = [graph.own, *graph.escapes, *(missile.points for missile in graph.missiles)]
    if graph.fronts is None:
        enemy = SEATS[1 - graph.seat]
        axes.plot([], [], [], ls="", label=f"{enemy} has nothing to launch")
    else:
        paths.extend(graph.fronts)
    points = np.concatenate(paths)[:, :2] / 1000
    low, high = np.nanmin(points, axis=0), np.nanmax(points, axis=0)
    middle, half = (low + high) / 2, max(*(high - low), 2) / 2 * 1.02
    axes.set(
        xlim=(middle[0] - half, middle[0] + half),
        ylim=(middle[1] - half, middle[1] + half),
        zlim=(graph.times[-1], 0),
        xlabel="x [km]",
        ylabel="y [km]",
        zlabel="time ahead [s]",
        title=f"Space-time graph of {title}",
    )
    axes.view_init(elev=24, azim=-60)
    axes.figure.legend(loc="outside lower center", frameon=False, ncols=2, fontsize=9)
