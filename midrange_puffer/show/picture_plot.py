"""One engagement with sensors: the truth, and beside it what each side believed."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from midrange_puffer.game.contact_path import LIVE, LOST, MEMORY, TRACKED, ContactPath
from midrange_puffer.game.parameters import SEATS
from midrange_puffer.game.paths import ACTIVE, RELAYED, FighterPath, MissilePath, Paths
from midrange_puffer.show.figures import COLOURS
from midrange_puffer.show.path_plot import draw_fighter, draw_missile, style_plane
from midrange_puffer.show.team_plot import draw_team

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

LOCK = "#8a2be2"  # where a seeker has a lock
RELAY = "#00897b"  # where a wingman's radar guides a missile
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
    for side, name in enumerate(SEATS):
        _draw_fighters(truth, paths, side, name)
    _draw_missiles(truth, paths, (0, 1))
    for side, axes in enumerate(sides):
        _draw_side(axes, paths, side)
    for axes in (truth, *sides):
        axes.update_datalim(truth.dataLim.get_points())  # the same part of the plane in all
        style_plane(axes)
        lines = axes.get_legend_handles_labels()
        each = dict(zip(*reversed(lines), strict=True))  # of a kind one
        axes.legend(each.values(), each.keys(), frameon=False, fontsize=8, loc="best")
    truth.set_title("truth")
    for seat, axes in enumerate(sides):
        axes.set_title(f"what {SEATS[seat]} knew")
    figure.suptitle(title)
    return figure


def _draw_side(axes: "Axes", paths: Paths, side: int) -> None:
    """What a side knew."""
    _draw_fighters(axes, paths, side, "own fighters" if max(paths.sizes) > 1 else "own fighter")
    _draw_missiles(axes, paths, (side,))
    for contact in paths.contacts:
        own = paths.fighters[contact.fighter]
        if own.side == side:
            inbound = [missile for missile in paths.missiles if missile.target == own.number]
            _draw_contact(axes, contact, COLOURS[1 - side])
            _draw_warnings(axes, own, contact, inbound)


def _draw_fighters(axes: "Axes", paths: Paths, side: int, title: str) -> None:
    fighters = [fighter for fighter in paths.fighters if fighter.side == side]
    if max(paths.sizes) > 1:
        draw_team(axes, fighters, title)
    else:
        draw_fighter(axes, *fighters, title)


def _draw_missiles(axes: "Axes", paths: Paths, sides: Sequence[int]) -> None:
    """Those of some sides, with what guided them."""
    missiles = [(m, paths.fighters[m.owner].side) for m in paths.missiles]
    missiles = [(missile, side) for missile, side in missiles if side in sides]
    for missile, side in missiles:
        draw_missile(axes, missile, side)
    for guide, colour, meaning in (
        (RELAYED, RELAY, "missile guided by a wingman"),
        (ACTIVE, LOCK, "missile with a lock"),
    ):
        places = [at for missile, _ in missiles for at in _guided(missile, guide)]
        if guide == ACTIVE or max(paths.sizes) > 1:
            axes.plot(*np.reshape(places, (-1, 2)).T / 1000, ls="", marker=".", ms=3, color=colour,
                      zorder=4, label=meaning)  # fmt: skip


def _guided(missile: MissilePath, guide: int) -> list[tuple[float, float]]:
    """Where a missile was guided so [m]."""
    places = zip(missile.x, missile.y, missile.guided, strict=True)
    return [(x, y) for x, y, guided in places if guided == guide]


def _draw_contact(axes: "Axes", contact: ContactPath, colour: str) -> None:
    """Where an enemy was believed to be, by what that rests on; what is linked an ally has."""
    places, source = np.array([contact.x, contact.y]) / 1000, np.array(contact.source)
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
