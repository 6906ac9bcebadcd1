"""One engagement with sensors: the truth, and beside it what each side believed."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from midrange_puffer.game.parameters import RADAR, SEATS
from midrange_puffer.game.simulation import SOURCES
from midrange_puffer.replays.session import Session
from midrange_puffer.show.engagement_plot import draw_fighter, draw_missile, style_plane
from midrange_puffer.show.figures import COLOURS

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

LIVE, MEMORY, LOST = (SOURCES.index(name) for name in (RADAR, "memory", "lost"))
LOCK = "#8a2be2"  # where a seeker has a lock
WARNING = 2.5  # km, length of the stroke that shows where a warning comes from
WARNING_INTERVAL = 3.0  # s between two of them


@dataclass
class Picture:
    """What one side believed, an entry for each decision.

    Attributes:
        times: since the start [s].
        contact: [x, y] of the enemy as it was believed [m].
        source: an index into `SOURCES`.
        warnings: (own x, own y, direction) of a radar that tracks or a seeker with a lock [m, m,
            rad], and whether it is a seeker; noted every `WARNING_INTERVAL`.
    """

    times: list[float] = field(default_factory=list)
    contact: list[tuple[float, float]] = field(default_factory=list)
    source: list[int] = field(default_factory=list)
    warnings: list[tuple[float, float, float, bool]] = field(default_factory=list)


@dataclass
class Pictures:
    """What both sides believed, and where missiles had a lock: [x, y] [m] of each side's."""

    sides: list[Picture]
    locks: list[list[tuple[float, float]]]


def record_pictures(session: Session) -> Pictures:
    """Fly a session to its end, and note what both sides believe.

    Raises:
        ValueError: The game has no sensors.
    """
    out = Pictures([Picture() for _ in SEATS], [[] for _ in SEATS])
    _note(session, out)
    while not session.over:
        session.step()
        _note(session, out)
    return out


def _note(session: Session, out: Pictures) -> None:
    sim, time = session.sim, session.paths.time
    contacts, beliefs = sim.contacts, sim.beliefs
    own, missiles = sim.fighters, sim.missiles
    locked = np.flatnonzero(beliefs["locked"][0])
    for slot in locked:
        place = float(missiles["x"][0, slot]), float(missiles["y"][0, slot])
        out.locks[missiles["owner"][0, slot]].append(place)
    for seat, picture in enumerate(out.sides):
        picture.times.append(time)
        picture.contact.append((float(contacts["x"][0, seat]), float(contacts["y"][0, seat])))
        picture.source.append(int(contacts["source"][0, seat]))
        decision = session.decision
        if not own["alive"][0, seat] or time % WARNING_INTERVAL > decision * 0.99:
            continue
        x, y = float(own["x"][0, seat]), float(own["y"][0, seat])
        seekers = [(missiles["x"][0, n], missiles["y"][0, n]) for n in locked
                   if missiles["target"][0, n] == seat]  # fmt: skip
        if contacts["source"][0, 1 - seat] == LIVE:
            seekers.append(None)
        for at in seekers:
            is_seeker = at is not None
            tx, ty = at if is_seeker else (own["x"][0, 1 - seat], own["y"][0, 1 - seat])
            picture.warnings.append((x, y, float(np.arctan2(ty - y, tx - x)), is_seeker))


def draw_pictures(session: Session, pictures: Pictures, title: str) -> "Figure":
    """Draw the truth, red's picture and blue's, side by side and to one scale.

    Args:
        session: flown to its end.
        pictures: of it.
        title: of all.
    """
    from matplotlib.figure import Figure

    figure = Figure(figsize=(15, 6.2), layout="constrained")
    truth, *sides = figure.subplots(1, 3)
    paths = session.paths
    for missile in paths.missiles:
        draw_missile(truth, missile)
    for fighter in paths.fighters:
        draw_fighter(truth, fighter, SEATS[fighter.seat])
    for seat, axes in enumerate(sides):
        for missile in paths.missiles:
            if missile.owner == seat:
                draw_missile(axes, missile)
        draw_fighter(axes, paths.fighters[seat], "own fighter")
        _draw_side(axes, seat, pictures.sides[seat])
    for axes, seats in zip((truth, *sides), ((0, 1), (0,), (1,)), strict=True):
        places = np.array([at for seat in seats for at in pictures.locks[seat]]).reshape(-1, 2)
        axes.plot(*places.T / 1000, ls="", marker=".", ms=3, color=LOCK, zorder=4,
                  label="missile with a lock")  # fmt: skip
        axes.update_datalim(truth.dataLim.get_points())  # the same part of the plane in all
        style_plane(axes)
        axes.legend(frameon=False, fontsize=8, loc="best")
    truth.set_title("truth")
    for seat, axes in enumerate(sides):
        axes.set_title(f"what {SEATS[seat]} knew")
    figure.suptitle(title)
    return figure


def _draw_side(axes: "Axes", seat: int, picture: Picture) -> None:
    """The contact, and the warnings."""
    places, source = np.array(picture.contact) / 1000, np.array(picture.source)
    colour = COLOURS[1 - seat]
    for which, style, meaning in (
        (LIVE, {"marker": ".", "ms": 4}, "enemy, on radar"),
        (MEMORY, {"marker": "o", "ms": 4, "mfc": "white", "mew": 0.8}, "enemy, from memory"),
        (LOST, {"marker": "x", "ms": 7, "mew": 1.5}, "where it was lost"),
    ):
        axes.plot(*places[source == which].T, ls="", color=colour, label=meaning, **style)
    for is_seeker, shade, meaning in (
        (False, "0.6", "warning: a radar tracks"),
        (True, LOCK, "warning: a seeker has a lock"),
    ):
        rows = [(x, y, a) for x, y, a, kind in picture.warnings if kind == is_seeker]
        for x, y, angle in rows:
            ends = np.array([[x, y], [x, y]]) / 1000
            ends[1] += WARNING * np.cos(angle), WARNING * np.sin(angle)
            axes.plot(*ends.T, color=shade, lw=0.9, zorder=3)
        axes.plot([], [], color=shade, lw=0.9, label=meaning)
