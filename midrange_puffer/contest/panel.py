"""The panel: a fixed test of a policy, so that figures of different people can be compared."""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from statistics import fmean

import numpy as np

from midrange_puffer.contest.evaluation import fight
from midrange_puffer.contest.match import Contestant, Watch, tally
from midrange_puffer.contest.panel_rows import GROUPS, VERSION, Row
from midrange_puffer.contest.ratings import Result, score_interval
from midrange_puffer.contest.round_robin import ANCHORS, Payoffs, is_standard
from midrange_puffer.game.parameters import PILOTS
from midrange_puffer.policies.contestants import find_contestant

CANDIDATE = "candidate"  # who is on the panel, in the fit of the rating


def meet(
    policy: Contestant,
    row: Row,
    episodes: int,
    seed: int,
    greedy: bool,
    progress: Callable[[int], None] = lambda count: None,
    watches: Sequence[Watch | None] = (None, None),
    *,
    threads: int = 1,
    parameters: Mapping[str, float],
) -> tuple[Result, list[np.ndarray]]:
    """Let a policy fight a row; arguments as of `fight`.

    Returns:
        What it came to, for the policy, and the records of `fight`. The engagements of a parameter
        set are not taken for independent.

    Raises:
        ValueError: An argument of the wrong type or range.
        CheckpointError: A network that cannot be used.
    """
    records = fight(
        policy,
        find_contestant("opponent", row.opponent),
        episodes,
        seed,
        greedy,
        progress,
        watches,
        threads=threads,
        parameters=parameters,
        parts=row.parts,
    )
    clusters = len(row.parts) if len(row.parts) > 1 else None
    return Result(CANDIDATE, row.name, *tally(*records, clusters)), records


def rate(results: Sequence[Result], parameters: Mapping[str, float]) -> tuple[float, float] | None:
    """The rating by the pilots' rows, and the half width of its 95 % interval.

    Returns:
        None in a game for which the pilots' fixed ratings do not hold.
    """
    if not is_standard(parameters):
        return None
    of_pilots = [result for result in results if result.second in PILOTS]
    ratings, half_widths = Payoffs([CANDIDATE, *PILOTS], of_pilots).rate(ANCHORS)
    return float(ratings[0]), float(half_widths[0])


def means(rows: Sequence[Row], results: Sequence[Result]) -> dict[str, float]:
    """The mean scores of the groups, and of all rows, each row counting alike."""
    pairs = list(zip(rows, results, strict=True))
    groups = {
        group: fmean(result.score for row, result in pairs if row.group == group)
        for group in GROUPS
    }
    return groups | {"all": fmean(result.score for result in results)}


def format_report(
    rows: Sequence[Row], results: Sequence[Result], parameters: Mapping[str, float]
) -> dict[str, object]:
    """What a policy came to, for a JSON file."""
    rating = rate(results, parameters)
    worst = min(results, key=lambda result: result.score)
    return {
        "panel": VERSION,
        "rows": [_format_row(*pair) for pair in zip(rows, results, strict=True)],
        "means": means(rows, results),
        "worst": {"row": worst.second, "score": worst.score},
        "rating": rating and rating[0],
        "rating_ci95": rating and [rating[0] - rating[1], rating[0] + rating[1]],
    }


def interval(result: Result) -> list[float]:
    """The 95 % interval of a score."""
    ends = score_interval(result.wins, result.draws, result.losses, result.covariance)
    return [float(end) for end in ends]


def digest(path: Path) -> str:
    """The SHA-256 of a file."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _format_row(row: Row, result: Result) -> dict[str, object]:
    entry = {
        "row": row.name,
        "group": row.group,
        "wins": result.wins,
        "draws": result.draws,
        "losses": result.losses,
        "score": result.score,
        "score_ci95": interval(result),
    }
    if row.group == "wide":
        entry["parameter_sets"] = list(row.parts)
    if row.group == "frozen":
        entry["sha256"] = digest(row.opponent)
    return entry
