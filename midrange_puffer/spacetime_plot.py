"""The space-time graph as a figure: the plane to the sides, time downward."""

from typing import TYPE_CHECKING

import numpy as np

from midrange_puffer.parameters import SEATS
from midrange_puffer.spacetime import SpaceTime

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from mpl_toolkits.mplot3d import Axes3D

COLOURS = ("#c8372d", "#2463b0")  # of the seats, red and blue
ESCAPES = ("#2a8a4a", "#7a5cc0")  # left, right


def draw_spacetime(graph: SpaceTime, title: str) -> "Figure":
    """Draw a graph: the threat cone as its fronts, own and escape tracks, missiles in the air.

    Where an escape track stays outside the cone the shot is outrun; where a missile's track turns
    dotted it can no longer reach its target.
    """
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9, 7.5), layout="constrained")
    axes = figure.add_subplot(projection="3d", computed_zorder=False)
    if graph.fronts is not None:
        _draw_cone(axes, graph)
    _draw_fighter(axes, graph)
    for missile in graph.missiles:
        harmless = np.inf if missile.harmless is None else missile.harmless
        colour = COLOURS[missile.owner]
        for part, style in (
            (graph.times <= harmless, "-"),
            (graph.times >= np.floor(harmless), ":"),
        ):
            _line(axes, missile.points[part], graph.times[part], color=colour, ls=style, lw=1.6)
        if missile.hits:
            end = np.flatnonzero(np.isfinite(missile.points[:, 0]))[-1]
            _line(axes, missile.points[[end]], graph.times[[end]], color=colour, marker="*", ms=12)
    _draw_frame(axes, graph, title)
    return figure


def _line(axes: "Axes3D", points: np.ndarray, times: np.ndarray, **style: object) -> None:
    """A line through positions [n, 2] in m and times [n] in s."""
    axes.plot(points[:, 0] / 1000, points[:, 1] / 1000, times, **style)


def _draw_cone(axes: "Axes3D", graph: SpaceTime) -> None:
    """Its fronts, one a second, and the missiles' tracks between them."""
    colour = COLOURS[1 - graph.seat]
    for number, (front, time) in enumerate(zip(graph.fronts, graph.times, strict=True)):
        label = "threat cone: where a shot fired now can be" if number == 1 else None
        times = np.full(len(front), time)
        _line(axes, front, times, color=colour, lw=0.9, alpha=0.75, label=label)
    for track in graph.fronts.swapaxes(0, 1):
        _line(axes, track, graph.times, color=colour, lw=0.6, alpha=0.35)
    x, y = graph.fronts[..., 0] / 1000, graph.fronts[..., 1] / 1000
    times = np.broadcast_to(graph.times[:, None], x.shape)
    if np.isfinite(x).all():
        axes.plot_surface(x, y, times, color=colour, alpha=0.12, lw=0, shade=False)


def _draw_fighter(axes: "Axes3D", graph: SpaceTime) -> None:
    """The own track, and the escapes with what a shot fired now, dashed, would miss them by."""
    own = COLOURS[graph.seat]
    _line(axes, graph.own, graph.times, color=own, lw=2.4, label="own track, controls held")
    for number, (side, colour) in enumerate(zip(("left", "right"), ESCAPES, strict=True)):
        label = f"escape to the {side}"
        if graph.escape_miss is not None:
            miss = graph.escape_miss[number]
            label += ": hit" if miss == 0 else f": {miss / 1000:.1f} km from the shot at the least"
        _line(axes, graph.escapes[number], graph.times, color=colour, lw=1.8, label=label)
        if graph.shots is not None:
            _line(axes, graph.shots[number], graph.times, color=colour, lw=1, ls="--")


def _draw_frame(axes: "Axes3D", graph: SpaceTime, title: str) -> None:
    """Axes of one scale, time downward, legend."""
    for label, style in (
        ("missile in the air, if controls are held", "-"),
        ("the same, harmless from here on", ":"),
    ):
        if graph.missiles:
            axes.plot([], [], [], color="0.35", ls=style, lw=1.6, label=label)
    seen = [graph.own, *graph.escapes, *(missile.points for missile in graph.missiles)]
    if graph.fronts is not None:
        seen.append(graph.fronts.reshape(-1, 2))
    points = np.concatenate(seen) / 1000
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
    enemy = SEATS[1 - graph.seat]
    if graph.fronts is None:
        axes.plot([], [], [], ls="", label=f"{enemy} has nothing to launch")
    figure = axes.figure
    figure.legend(loc="outside lower center", frameon=False, ncols=2, fontsize=9)
