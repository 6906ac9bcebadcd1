"""A population over time: how far each exploiter came, and which policy beats which exploiter."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from midrange_puffer.config.sections import EXPLOITERS
from midrange_puffer.show.figures import COLOURS

if TYPE_CHECKING:
    from matplotlib.figure import Figure


class Exploiter(NamedTuple):
    """An exploiter's kind, the agent decisions of its victim in M, and its score against that."""

    kind: str
    against: float
    score: float


def draw_population(
    exploiters: Sequence[Exploiter], steps: Sequence[int], scores: np.ndarray, done: float
) -> "Figure":
    """Draw a population.

    Args:
        exploiters: at least one.
        steps: agent decisions of the checkpoints, in their order, at least one.
        scores: of each checkpoint against each exploiter, [checkpoints, exploiters].
        done: the score at which an exploiter's training ended.
    """
    from matplotlib.figure import Figure

    figure = Figure(figsize=(11, 4.2), layout="constrained")
    left, right = figure.subplots(1, 2)
    for kind, colour in zip(EXPLOITERS, (*COLOURS[:2], "0.45"), strict=True):
        points = [one[1:] for one in exploiters if one.kind == kind]
        if points:
            left.plot(*np.array(points).T, "o-", color=colour, ms=4, lw=1, label=kind)
    left.axhline(0.5, color="0.6", lw=1)
    left.axhline(done, color="0.6", lw=1, ls="--")
    left.set(xlabel="agent decisions of the policy [M]", ylabel="score of the exploiter")
    left.set(ylim=(-0.03, 1.03))
    left.set_title("each exploiter against the policy it was trained against", fontsize=10)
    left.legend(loc="lower left", fontsize=8, frameon=False)
    left.spines[["top", "right"]].set_visible(False)

    image = right.imshow(
        scores, origin="lower", aspect="auto", cmap="RdYlGn", vmin=0, vmax=1, interpolation="none"
    )
    right.set_yticks(range(len(steps)), [_number(step / 1e6) for step in steps], fontsize=7)
    count = len(exploiters)
    places = np.unique(np.linspace(0, count - 1, min(count, 12)).round().astype(int))
    labels = [_number(exploiters[place].against) for place in places]
    right.set_xticks(places, labels, fontsize=7)
    right.set(xlabel="exploiter, by the policy it was trained against [M]")
    right.set(ylabel="policy after so many decisions [M]")
    right.set_title("score of the policy against each exploiter", fontsize=10)
    figure.colorbar(image, ax=right)
    return figure


def _number(value: float) -> str:
    """Three digits, so that the steps of a short run differ, too."""
    return np.format_float_positional(value, 3, fractional=False, trim="-")
