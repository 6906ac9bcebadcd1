"""One engagement with sensors: the truth, and beside it what each side believed."""

from typing import TYPE_CHECKING

import numpy as np

from midrange_puffer.game.contact_path import LIVE, LOST, MEMORY, TRACKED, ContactPath
from midrange_puffer.game.parameters import SEATS
from midrange_puffer.game.paths import ACTIVE, FighterPath, MissilePath, Paths
from midrange_puffer.show.figures import COLOURS
from midrange_puffer.show.path_plot import draw_fighter, draw_missile, style_plane

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

LOCK = "#8a2be2"  # where a seeker has a lock
WARNING = 2.5  # km, length of the stroke that shows where a warning comes from
WARNING_INTERVAL = 3.0  # s between two of them


def draw_pictures(paths: Paths, title: str) -> "Figure":
    """Draw the truth, red's picture and blue's, side by side and to one scale.

    Args:
        paths: of a fight with sensors.
        title: of all.
    """
    from matplotlib.figure import Figure

    figure = Figure(figsize=(15, 6.2), layout="constrained")
    truth, *sides = figure.subplots(1, 3)
    for missile in paths.missiles:
        draw_missile(truth, missile, missile.owner)
    for fighter in paths.fighters:
        draw_fighter(truth, fighter, SEATS[fighter.side])
    for contact, axes in zip(paths.contacts, sides, strict=True):
        seat = contact.fighter
        for missile in paths.missiles:
            if missile.owner == seat:
                draw_missile(axes, missile, seat)
        draw_fighter(axes, paths.fighters[seat], "own fighter")
        _draw_contact(axes, contact)
        inbound = [missile for missile in paths.missiles if missile.target == seat]
        _draw_warnings(axes, paths.fighters[seat], contact, inbound)
    for axes, seats in zip((truth, *sides), ((0, 1), (0,), (1,)), strict=True):
        locks = [at for missile in paths.missiles if missile.owner in seats
                 for at in _locks(missile)]  # fmt: skip
        axes.plot(*np.reshape(locks, (-1, 2)).T / 1000, ls="", marker=".", ms=3, color=LOCK,
                  zorder=4, label="missile with a lock")  # fmt: skip
        axes.update_datalim(truth.dataLim.get_points())  # the same part of the plane in all
        style_plane(axes)
        axes.legend(frameon=False, fontsize=8, loc="best")
    truth.set_title("truth")
    for seat, axes in enumerate(sides):
        axes.set_title(f"what {SEATS[seat]} knew")
    figure.suptitle(title)
    return figure


def _locks(missile: MissilePath) -> list[tuple[float, float]]:
    """Where a missile's seeker had a lock [m]."""
    places = zip(missile.x, missile.y, missile.guided, strict=True)
    return [(x, y) for x, y, guided in places if guided == ACTIVE]


def _draw_contact(axes: "Axes", contact: ContactPath) -> None:
    """Where the enemy was believed to be, by what that rests on."""
    places, source = np.array([contact.x, contact.y]) / 1000, np.array(contact.source)
    colour = COLOURS[contact.enemy]
    for which, style, meaning in (
        (LIVE, {"marker": ".", "ms": 4}, "enemy, on radar"),
        (MEMORY, {"marker": "o", "ms": 4, "mfc": "white", "mew": 0.8}, "enemy, from memory"),
        (LOST, {"marker": "x", "ms": 7, "mew": 1.5}, "where it was lost"),
    ):
        axes.plot(*places[:, source == which], ls="", color=colour, label=meaning, **style)


def _draw_warnings(
    axes: "Axes", own: FighterPath, contact: ContactPath, inbound: list[MissilePath]
) -> None:
    """Strokes toward a radar that tracks and toward seekers with a lock, now and then."""
    bearings: dict[bool, list[tuple[float, float, float]]] = {False: [], True: []}
    for time in np.arange(0, own.times[-1], WARNING_INTERVAL):
        index, heard = own.at(time), contact.at(time)
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
