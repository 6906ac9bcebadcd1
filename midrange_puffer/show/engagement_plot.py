"""A picture of one engagement, seen from above."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from torch import nn

from midrange_puffer.game.parameters import SEATS
from midrange_puffer.game.paths import Paths, outcome_words
from midrange_puffer.names import label, versus
from midrange_puffer.policies.own_pilot import Function
from midrange_puffer.replays.session import Session
from midrange_puffer.show.figures import save_figure
from midrange_puffer.show.path_plot import STAR, TICK, draw_fighter, draw_missile, style_plane
from midrange_puffer.show.team_plot import draw_team, kills_in_words

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


@dataclass
class Engagement:
    """One engagement from its start to its end.

    Attributes:
        names: Who flies red and blue.
        paths: Where everything went.
        outcome: In words.
    """

    names: tuple[str, str]
    paths: Paths
    outcome: str

    @property
    def length(self) -> float:
        """How long it took [s]."""
        return self.paths.time


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
    return Engagement(names_of((red, blue)), session.paths, outcome_words(session.sim))


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
    save_figure(draw_engagement(engagement), path)


def draw_engagement(engagement: Engagement) -> "Figure":
    """The same as a figure."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(10, 6.5), layout="constrained")
    axes = figure.add_subplot()
    paths, is_team = engagement.paths, max(engagement.paths.sizes) > 1
    for missile in paths.missiles:
        draw_missile(axes, missile, paths.fighters[missile.owner].side)
    for side, name in enumerate(engagement.names):
        fighters = [fighter for fighter in paths.fighters if fighter.side == side]
        title = f"{SEATS[side]}: {label(name)}"
        if is_team:
            draw_team(axes, fighters, title)
        else:
            draw_fighter(axes, *fighters, title)
    _draw_frame(axes, engagement)
    return figure


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
    who = versus([label(name) for name in engagement.names], engagement.paths.sizes)
    axes.set_title(f"{who}: {engagement.outcome} after {engagement.length:.0f} s")
    if max(engagement.paths.sizes) > 1:
        kills = kills_in_words(engagement.paths)
        for line in ["killed:", *kills] if kills else ():
            axes.plot([], [], ls="", label=line)
    axes.legend(frameon=False, fontsize=9, loc="upper left", bbox_to_anchor=(1, 1))
