"""What a sweep seeks: how the scores of a trial on the panel become the one that is maximised."""

from collections.abc import Mapping
from statistics import fmean

from midrange_puffer.config.sections import Sweep

PANEL, WORST, TIME = "panel_score", "worst_score", "time_to_score"


def objective(scores: Mapping[str, float], settings: Sweep) -> float:
    """The score that the sweep maximises, from 0 to 1.

    To find the shortest time to a score, no score counts for more than that one. Of the trials that
    reach it, which end there, the cheapest is then the best.

    Args:
        scores: pilot -> score.
        settings: [sweep].
    """
    if settings.metric == WORST:
        return min(scores.values())
    mean = fmean(scores.values())
    return min(mean, settings.metric_score) if settings.metric == TIME else mean


def is_reached(scores: Mapping[str, float], settings: Sweep) -> bool:
    """Whether a trial with these scores has come to all that is sought, and need not go on."""
    return settings.metric == TIME and fmean(scores.values()) >= settings.metric_score


def axis_label(settings: Sweep) -> str:
    """What the score is, for the axis of a picture."""
    if settings.metric == WORST:
        return f"{WORST}: least of the panel"
    if settings.metric == TIME:
        return f"{TIME}: mean, up to {settings.metric_score:g}"
    return f"{PANEL}: mean of the panel"


def in_words(settings: Sweep) -> str:
    """What the score is."""
    if settings.metric == WORST:
        return "The score is that against the pilot of the panel that the policy does worst with."
    if settings.metric == TIME:
        return (
            "The score is the mean over the panel, at which no trial trains longer than to "
            f"{settings.metric_score:g}. Of the trials that reach it the quickest is the best."
        )
    return "The score is the mean over the panel."
