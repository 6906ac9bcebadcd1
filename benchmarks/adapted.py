"""Scores of policies in the game of their training, and in games that they never met.

    python benchmarks/adapted.py MODEL [MODEL …] --games exact noise [--episodes 400]

Every model fights each of eleven pilots in both seats, with sensors in the plane. Chaff gives
agents one more control, so a policy flies only in games that have it, or in those that do not. For
policies that have it `idle_chaff`, cartridges without effect, is the exact game.
"""

import argparse
from statistics import fmean

from common import print_table
from rich.progress import track

from midrange_puffer.contest.evaluation import evaluate
from midrange_puffer.game.parameters import PILOTS

ELEVEN = (*PILOTS, "notcher")
SEED = 0
EXACT = dict.fromkeys(("radar_noise_bearing_deg", "radar_noise_range", "radar_noise_speed"), 0)
EXACT |= {"red_jammer": 0, "blue_jammer": 0, "chaff": 0, "chaff_chance": 0.7}
GAMES: dict[str, dict[str, float]] = {
    "exact": {},
    "noise": {"radar_noise_bearing_deg": 1, "radar_noise_range": 100, "radar_noise_speed": 5},
    "jam_25_km": {"red_jammer": 25_000, "blue_jammer": 25_000},
    "jam_12_km": {"red_jammer": 12_000, "blue_jammer": 12_000},
    "idle_chaff": {"chaff": 6, "chaff_chance": 0},
    "chaff": {"chaff": 6},
}


def scores(model: str, episodes: int, game: str) -> list[float]:
    """Returns a model's scores against the pilots in one of GAMES."""
    parameters = EXACT | GAMES[game]
    return [
        evaluate(model, pilot, episodes, SEED, threads=2, sensing="radar", **parameters)["score"]
        for pilot in ELEVEN
    ]


def main() -> None:
    """Prints a row for each model, and the mean of all with the least and the greatest."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--games", nargs="+", choices=GAMES, required=True)
    parser.add_argument("models", nargs="+", metavar="MODEL")
    parser.add_argument("--episodes", type=int, default=400, help="with each pilot")
    options = parser.parse_args()
    rows, means = [], []
    for model in track(options.models, "models"):
        of_games = [scores(model, options.episodes, game) for game in options.games]
        means.append([fmean(of_game) for of_game in of_games])
        lowest = [min(zip(of_game, ELEVEN, strict=True)) for of_game in of_games]
        cells = zip(means[-1], lowest, strict=True)
        rows.append([model, *(f"{mean:.3f}; {least:.2f} {name}" for mean, (least, name) in cells)])
    every = [
        f"{fmean(column):.3f} ({min(column):.3f} to {max(column):.3f})"
        for column in zip(*means, strict=True)
    ]
    rows.append(["all", *every])
    print_table("Mean score over eleven pilots; the lowest", ["model", *options.games], rows)


if __name__ == "__main__":
    main()
