"""A plot of one engagement with sensors: the truth, and each side's knowledge beside it."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from midrange_puffer.game.contacts import LIVE, LOST, MEMORY, TRACKED, ContactPath
from midrange_puffer.game.parameters import SEATS
from midrange_puffer.game.paths import ACTIVE, RELAYED, FighterPath, MissilePath, Paths
from midrange_puffer.show.engagement_plot import draw_missile, draw_side, style_plane
from midrange_puffer.show.figures import COLOURS, new_figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

LOCK = "#8a2be2"  # colour of the marks where a missile's seeker has a lock
RELAY = "#00897b"  # colour of the marks where an ally's track guides it
WARNING = 2.5  # length of the stroke toward the source of a warning [km]
WARNING_INTERVAL = 3.0  # time between two strokes [s]


def draw_pictures(paths: Paths, title: str) -> "Figure":
    """Draws the truth, red's knowledge and blue's knowledge side by side, to the same scale.

    Args:
        paths: Paths of a fight with sensors.
        title: Title of the figure.
    """
    figure = new_figure(15, 6.2)
    truth, *sides = figure.subplots(1, 3)
    for side, name in enumerate(SEATS):
        draw_side(truth, paths, side, name)
    _draw_missiles(truth, paths, (0, 1))
    own_title = "own fighters" if max(paths.sizes) > 1 else "own fighter"
    for side, axes in enumerate(sides):
        draw_side(axes, paths, side, own_title)
        _draw_missiles(axes, paths, (side,))
        for contact in paths.contacts:
            own = paths.fighters[contact.fighter]
            if own.side == side:
                inbound = [missile for missile in paths.missiles if missile.target == own.number]
                _draw_contact(axes, contact, COLOURS[1 - side])
                _draw_warnings(axes, own, contact, inbound)
    for axes in (truth, *sides):
        axes.update_datalim(truth.dataLim.get_points())  # all show the same part of the plane
        style_plane(axes)
        handles, labels = axes.get_legend_handles_labels()
        unique = dict(zip(labels, handles, strict=True))
        axes.legend(unique.values(), unique.keys(), frameon=False, fontsize=8, loc="best")
    truth.set_title("truth")
    for side, axes in enumerate(sides):
        axes.set_title(f"what {SEATS[side]} knew")
    figure.suptitle(title)
    return figure


def _draw_missiles(axes: "Axes", paths: Paths, sides: Sequence[int]) -> None:
    """Draws the missiles of some sides, with marks where they were relayed or had a lock."""
    missiles = [(missile, paths.fighters[missile.owner].side) for missile in paths.missiles]
    missiles = [(missile, side) for missile, side in missiles if side in sides]
    for missile, side in missiles:
        draw_missile(axes, missile, side)
    for source, colour, meaning in (
        (RELAYED, RELAY, "missile guided by a wingman"),
        (ACTIVE, LOCK, "missile with a lock"),
    ):
        places = [
            (x, y)
            for missile, _ in missiles
            for x, y, guided in zip(missile.x, missile.y, missile.guided, strict=True)
            if guided == source
        ]
        if source == ACTIVE or max(paths.sizes) > 1:
            axes.plot(*np.reshape(places, (-1, 2)).T / 1000, ls="", marker=".", ms=3, color=colour,
                      zorder=4, label=meaning)  # fmt: skip


def _draw_contact(axes: "Axes", contact: ContactPath, colour: str) -> None:
    """Draws the believed places of an enemy, in a style for each source.

    Linked places are left out: the ally whose radar they come from has them as live ones.
    """
    places, sources = np.array([contact.x, contact.y]) / 1000, np.array(contact.source)
    for source, style, meaning in (
        (LIVE, {"marker": ".", "ms": 4}, "enemy, on radar"),
        (MEMORY, {"marker": "o", "ms": 4, "mfc": "white", "mew": 0.8}, "enemy, from memory"),
        (LOST, {"marker": "x", "ms": 7, "mew": 1.5}, "where it was lost"),
    ):
        axes.plot(*places[:, sources == source], ls="", color=colour, label=meaning, **style)


def _draw_warnings(
    axes: "Axes", own: FighterPath, contact: ContactPath, inbound: list[MissilePath]
) -> None:
    """Draws strokes toward radars that track the fighter and seekers with a lock, at intervals."""
    bearings: dict[bool, list[tuple[float, float, float]]] = {False: [], True: []}
    for time in np.arange(0, own.times[-1], WARNING_INTERVAL):
        index, heard = own.at(time) or 0, contact.at(time) or 0
        x, y = own.x[index], own.y[index]
        if contact.heard[heard] == TRACKED:
            bearings[False].append((x, y, contact.bearing[heard]))
        for missile in inbound:
            at = missile.at(time)
            if at is not None and time < missile.times[-1] and missile.guided[at] == ACTIVE:
                angle = np.arctan2(missile.y[at] - y, missile.x[at] - x)
                bearings[True].append((x, y, angle))
    for is_seeker, shade, meaning in (
        (False, "0.6", "warning: a radar tracks"),
        (True, LOCK, "warning: a seeker has a lock"),
    ):
        for x, y, angle in bearings[is_seeker]:
            ends = np.array([[x, y], [x, y]]) / 1000
            ends[1] += WARNING * np.cos(angle), WARNING * np.sin(angle)
            axes.plot(*ends.T, color=shade, lw=0.9, zorder=3)
        axes.plot([], [], color=shade, lw=0.9, label=meaning)
