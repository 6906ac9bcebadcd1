"""Scores of policies with height, with types of aircraft and missiles that they did not train with.

    python benchmarks/generalist.py MODEL [MODEL …]

Every model fights each of the ten scripted pilots in both seats. Both sides fly by the same
settings. Rows 1 to 3 have only types of configs/generalist.ini, the others do not.
"""

import argparse
from statistics import fmean

from common import print_table
from rich.progress import track

from midrange_puffer.contest.evaluation import evaluate
from midrange_puffer.game.parameters import PILOTS

ENGAGEMENTS, SEED = 128, 1

# Name of a row, types of aircraft, types of missiles, spread of both.
GAMES = (
    ("as trained", "light:1,heavy:1", "medium:1,long:1", 0.2),
    ("light, medium, no spread", "light", "medium", 0.0),
    ("heavy, long, no spread", "heavy", "long", 0.0),
    ("spread 0.3", "light:1,heavy:1", "medium:1,long:1", 0.3),
    ("fast", "fast", "medium:1,long:1", 0.2),
    ("trainer", "trainer", "medium:1,long:1", 0.2),
    ("short", "light:1,heavy:1", "short", 0.2),
    ("trainer, short, spread 0.3", "trainer", "short", 0.3),
)


def score(model: str, aircraft: str, missile: str, spread: float) -> float:
    """Returns a model's mean score over the pilots."""
    game = {
        "dimensions": 3,
        "aircraft_spread": spread,
        "missile_spread": spread,
        **{f"{side}_aircraft": aircraft for side in ("red", "blue")},
        **{f"{side}_missile": missile for side in ("red", "blue")},
    }
    return fmean(evaluate(model, pilot, ENGAGEMENTS, SEED, **game)["score"] for pilot in PILOTS)


def main() -> None:
    """Prints a row for each game, with a column for each model."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("models", nargs="+", metavar="MODEL")
    models = parser.parse_args().models
    rows = [
        [name, *(f"{score(model, *game):.3f}" for model in models)]
        for name, *game in track(GAMES, "games")
    ]
    print_table("Mean score over ten pilots", ["game", *models], rows)


if __name__ == "__main__":
    main()
