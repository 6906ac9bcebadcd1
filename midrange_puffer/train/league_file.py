"""`league.json` of a run folder: how the run's checkpoints were rated. Read without torch."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from midrange_puffer.contest.ratings import Pairing
from midrange_puffer.game.parameters import PILOTS
from midrange_puffer.json_files import Count, JsonError, Within, read_json
from midrange_puffer.policies.models import PanelScore

FILE = "league.json"
MOST_PLAYERS = 5000  # of a run's league: the results of all are in the memory, each against each


@dataclass
class Rating:
    """How strong a checkpoint is, with the 95 % interval of that."""

    name: str
    agent_steps: Count
    rating: float = 0.0  # until all are rated
    rating_low: float = 0.0
    rating_high: float = 0.0


@dataclass
class LeagueFile:
    """The content of the file."""

    parameters: dict[str, float | str]
    # By ratings far beyond these, or more games than there may be, no fit comes to an end.
    anchors: dict[str, Annotated[float, Within(-1e4, 1e4)]]
    ratings: list[Rating]
    results: list[Pairing]


def read_league(path: Path) -> LeagueFile:
    """Read the file.

    Raises:
        JsonError: It cannot be read or is damaged.
    """
    content = read_json(path, LeagueFile)
    _check_results(content, path)
    return content


def panel_scores(league: LeagueFile) -> dict[str, PanelScore]:
    """The panel score of each checkpoint that has met every pilot, the earliest first."""
    met: dict[str, list[Pairing]] = {rating.name: [] for rating in league.ratings}
    for result in league.results:
        met[result.first].append(result)
    scores = {name: panel_score(results) for name, results in met.items()}
    return {name: score for name, score in scores.items() if score is not None}


def panel_score(results: Iterable[Pairing]) -> PanelScore | None:
    """What a player's results come to against the panel; None if a pilot was not met."""
    by_pilot = {result.second: result for result in results if result.second in PILOTS}
    if len(by_pilot) < len(PILOTS):
        return None
    scores = {pilot: result.score for pilot, result in by_pilot.items()}
    worst = min(scores, key=scores.get)
    mean = sum(scores.values()) / len(scores)
    return PanelScore(mean, scores[worst], worst, by_pilot[worst].games)


def _check_results(content: LeagueFile, path: Path) -> None:
    """Raise JsonError where a result is of no game, or of a checkpoint that is not rated."""
    rated = {row.name for row in content.ratings}
    players = rated | {result.second for result in content.results}
    if len(players) > MOST_PLAYERS:
        raise JsonError(f"{path}: damaged: {len(players)} players, at most {MOST_PLAYERS} allowed")
    met: set[tuple[str, str]] = set()
    for place, result in enumerate(content.results):
        where = f"{path}: damaged: results[{place}]"
        if result.first not in rated:
            raise JsonError(f"{where}.first = {result.first}: must be a name in ratings")
        if result.second == result.first or (result.first, result.second) in met:
            raise JsonError(f"{where}.second = {result.second}: must be another, not met before")
        met.add((result.first, result.second))
        if not result.games:
            raise JsonError(f"{where}: wins, draws and losses must not all be 0")
