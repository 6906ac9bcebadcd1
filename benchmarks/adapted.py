"""Scores of policies in the game of their training, and in games that they never met.

    python benchmarks/adapted.py MODEL [MODEL …] --games exact noise [--episodes 400]

Every model fights each of OPPONENTS in both seats, with sensors in the plane. Chaff gives
agents one more control, so a policy flies only in games that have it, or in those that do not. For
policies that have it `idle_chaff`, cartridges without effect, is the exact game.
"""

import argparse
from collections.abc import Sequence
from statistics import fmean
from typing import Any

from common import print_table
from rich.progress import track

from midrange_puffer.contest.evaluation import evaluate
from midrange_puffer.errors import UsageError
from midrange_puffer.game.observation import observation_for
from midrange_puffer.game.parameters import PILOTS, resolve
from midrange_puffer.policies.loading import load_policy
from midrange_puffer.policies.player import Player

OPPONENTS = (*PILOTS, "notcher")
SEED = 0
EXACT: dict[str, float] = dict.fromkeys(
    ("radar_noise_bearing_deg", "radar_noise_range", "radar_noise_speed"), 0
)
EXACT |= {"red_jammer": 0, "blue_jammer": 0, "chaff": 0, "chaff_chance": 0.7}
GAMES: dict[str, dict[str, float]] = {
    "exact": {},
    "noise": {"radar_noise_bearing_deg": 1, "radar_noise_range": 100, "radar_noise_speed": 5},
    "jam_25_km": {"red_jammer": 25_000, "blue_jammer": 25_000},
    "jam_12_km": {"red_jammer": 12_000, "blue_jammer": 12_000},
    "idle_chaff": {"chaff": 6, "chaff_chance": 0},
    "chaff": {"chaff": 6},
}


def parameters_of(game: str) -> dict[str, Any]:
    """Returns the parameters of one of GAMES."""
    return {"sensing": "radar"} | EXACT | GAMES[game]


def check_models(models: Sequence[str], games: Sequence[str]) -> None:
    """Raises UsageError if a model cannot fly in a game."""
    for model in models:
        player = Player(load_policy(model)[0], 1, SEED)
        for game in games:
            try:
                observation_for([player], resolve(parameters_of(game)))
            except UsageError as error:
                raise UsageError(f"{model} in {game}: {error}") from None


def scores_in(model: str, episodes: int, game: str) -> list[float]:
    """Returns a model's scores against each of OPPONENTS in one of GAMES."""
    parameters = parameters_of(game)
    return [
        evaluate(model, pilot, episodes, SEED, threads=2, **parameters)["score"]
        for pilot in OPPONENTS
    ]


def main() -> None:
    """Prints a row for each model, and the mean of all with the least and the greatest."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--games", nargs="+", choices=GAMES, required=True)
    parser.add_argument("models", nargs="+", metavar="MODEL")
    parser.add_argument("--episodes", type=int, default=400, help="with each pilot")
    options = parser.parse_args()
    try:
        check_models(options.models, options.games)
    except UsageError as error:
        parser.error(str(error))
    rows, means = [], []
    for model in track(options.models, "models"):
        scores_by_game = [scores_in(model, options.episodes, game) for game in options.games]
        means.append([fmean(scores) for scores in scores_by_game])
        lowest = [min(zip(scores, OPPONENTS, strict=True)) for scores in scores_by_game]
        cells = [
            f"{mean:.3f}; {lowest_score:.2f} {name}"
            for mean, (lowest_score, name) in zip(means[-1], lowest, strict=True)
        ]
        rows.append([model, *cells])
    totals = [
        f"{fmean(column):.3f} ({min(column):.3f} to {max(column):.3f})"
        for column in zip(*means, strict=True)
    ]
    rows.append(["all", *totals])
    title = f"Mean score over {len(OPPONENTS)} pilots; the lowest"
    print_table(title, ["model", *options.games], rows)


if __name__ == "__main__":
    main()
