"""A picture of one engagement, seen from above."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from torch import nn

from midrange_puffer.game.parameters import SEATS
from midrange_puffer.game.paths import HIT, BodyPath, FighterPath, MissilePath, outcome_words
from midrange_puffer.names import label
from midrange_puffer.policies.own_pilot import Function
from midrange_puffer.replays.session import Session
from midrange_puffer.show.figures import COLOURS, save_figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes

STAR = "#ffc52e"
TICK = 20.0  # s between the marks on a fighter's trail


@dataclass
class Engagement:
    """One engagement from its start to its end.

    Attributes:
        names: Who flies red and blue.
        length: [s]
        outcome: In words.
    """

    names: tuple[str, str]
    fighters: list[FighterPath]
    missiles: list[MissilePath]
    length: float
    outcome: str


def record_engagement(
    red: str | nn.Module | Function,
    blue: str | nn.Module | Function,
    seed: int = 0,
    greedy: bool = False,
    **parameters: float,
) -> Engagement:
    """Fight one engagement and note where everything went.

    Args:
        red, blue: a pilot's name, a policy on the CPU, or a function of observations.
        seed: of the start and the actions.
        greedy: policies take the likeliest action instead of drawing one.
        **parameters: rows of csrc/params.h.

    Raises:
        ValueError: An argument of the wrong name, type or range.
    """
    session = Session((red, blue), seed=seed, greedy=greedy, **parameters)
    while not session.over:
        session.step()
    paths, outcome = session.paths, outcome_words(session.sim)
    return Engagement(names_of((red, blue)), paths.fighters, paths.missiles, paths.time, outcome)


def names_of(contestants: Sequence[str | nn.Module | Function]) -> tuple[str, ...]:
    """What contestants are called in a picture."""
    return tuple(
        who if isinstance(who, str) else getattr(who, "__name__", "policy") for who in contestants
    )


def plot_engagement(engagement: Engagement, path: str | Path) -> None:
    """Draw an engagement from above into a .png, .svg or .pdf file.

    Raises:
        WriteError: The file could not be written.
    """
    from matplotlib.figure import Figure

    figure = Figure(figsize=(10, 6.5), layout="constrained")
    axes = figure.add_subplot()
    for missile in engagement.missiles:
        draw_missile(axes, missile)
    for fighter, name in zip(engagement.fighters, engagement.names, strict=True):
        draw_fighter(axes, fighter, f"{SEATS[fighter.side]}: {label(name)}")
    _draw_frame(axes, engagement)
    save_figure(figure, path)


def _trail(path: BodyPath) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Times [s] and positions [km]."""
    return np.array(path.times), np.array(path.x) / 1000, np.array(path.y) / 1000


def draw_missile(axes: "Axes", path: MissilePath) -> None:
    """Thick while its motor burns, thin while it coasts."""
    times, x, y = _trail(path)
    burning = times <= path.burnt_out
    colour = COLOURS[path.owner]
    axes.plot(x, y, color=colour, lw=1, alpha=0.8, zorder=2)
    axes.plot(x[burning], y[burning], color=colour, lw=4, alpha=0.35, zorder=2)
    if path.fate != HIT:
        axes.plot(x[-1], y[-1], marker="x", ms=4, mew=1, color=colour, alpha=0.8, zorder=3)


def draw_fighter(axes: "Axes", path: FighterPath, label: str) -> None:
    """A dot every TICK seconds, and at the end an arrowhead, or a star where it died."""
    from matplotlib.markers import MarkerStyle
    from matplotlib.patheffects import withStroke

    times, x, y = _trail(path)
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
    heading = np.degrees(np.arctan2(y[-1] - y[-2], x[-1] - x[-2]))
    arrow = MarkerStyle(">").scaled(1.3, 0.75).rotated(deg=heading)
    end = (
        {"marker": "*", "ms": 21, "mfc": STAR}
        if path.died is not None
        else {"marker": arrow, "ms": 11}
    )
    axes.plot(x[-1], y[-1], color=colour, mec=colour, mew=1.4, zorder=6, **end)


def style_plane(axes: "Axes") -> None:
    """Axes in km, to one scale."""
    axes.set_aspect("equal", adjustable="datalim")
    axes.margins(0.06)
    axes.grid(color="0.9", lw=0.7)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)
    axes.set_xlabel("x [km]")
    axes.set_ylabel("y [km]")


def _draw_frame(axes: "Axes", engagement: Engagement) -> None:
    """Scale, title and legend."""
    grey = "0.35"
    for meaning, style in (
        ("missile, motor burning", {"lw": 4, "alpha": 0.5}),
        ("missile coasting", {"lw": 1}),
        ("missile spent", {"ls": "", "marker": "x", "ms": 5}),
        ("hit", {"ls": "", "marker": "*", "ms": 13, "mfc": STAR}),
        (f"every {TICK:.0f} s", {"ls": "", "marker": "o", "ms": 5, "mfc": "white"}),
    ):
        axes.plot([], [], color=grey, label=meaning, **style)
    style_plane(axes)
    red, blue = map(label, engagement.names)
    axes.set_title(
        f"{red} (red) against {blue} (blue): {engagement.outcome} after {engagement.length:.0f} s"
    )
    axes.legend(frameon=False, fontsize=9, loc="upper left", bbox_to_anchor=(1, 1))
