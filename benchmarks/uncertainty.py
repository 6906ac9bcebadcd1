"""The cost of noise and jammers: hits and scores of pairs of pilots, with sensors.

    python benchmarks/uncertainty.py [--engagements 600] [--dimensions 2 3]

Every pair flies engagements with the same starts in all SETTINGS. *hits* is the share of the side's
missiles that hit, *score* is of red: win 1, draw 1/2.
"""

import argparse

import numpy as np
from common import print_table

from midrange_puffer.contest.match import Fight, play
from midrange_puffer.game.parameters import resolve

PAIRS = [
    ("shooter", "crank"), ("ace", "shooter"), ("ace", "crank"), ("evader", "snake"),
    ("notcher", "ace"), ("patient", "turn_back"),
]  # fmt: skip
NOISE = {"radar_noise_bearing_deg": 1, "radar_noise_range": 100, "radar_noise_speed": 5}
SETTINGS = {
    "exact": {},
    "noise": NOISE,
    "three times": {name: 3 * value for name, value in NOISE.items()},
    "red jams, 25 km": {"red_jammer": 25_000},
    "12 km": {"red_jammer": 12_000},
    "without home-on-jam": {"red_jammer": 12_000, "home_on_jam_range": 0},
    "both jam, 12 km": {"red_jammer": 12_000, "blue_jammer": 12_000},
}
RED_WINS, DRAW = 1, 3
SEED = 1


def cells(records: np.ndarray) -> tuple[str, str, str]:
    """Returns red's score, and the hits a shot of red and blue."""
    outcome = records["outcome"]
    score = np.mean(outcome == RED_WINS) + 0.5 * np.mean(outcome == DRAW)
    hits, shots = (records[name].sum(axis=0) for name in ("hits", "shots"))
    shares = [
        f"{hit / shot:.0%}" if shot else "none" for hit, shot in zip(hits, shots, strict=True)
    ]
    return f"{score:.3f}", *shares


def main() -> None:
    """Flies all pairs in all settings and prints the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--engagements", type=int, default=600, help="of each pair and setting")
    parser.add_argument("--dimensions", type=int, nargs="+", default=[2, 3], choices=[2, 3])
    args = parser.parse_args()
    fights, rows = [Fight(*pair) for pair in PAIRS], []
    for dimensions in args.dimensions:
        flown = {}
        for name, settings in SETTINGS.items():
            parameters = resolve({"sensing": "radar", "dimensions": dimensions, **settings})
            flown[name] = play(fights, args.engagements, SEED, parameters=parameters)
        for number, pair in enumerate(PAIRS):
            for name, records in flown.items():
                rows.append((str(dimensions), ", ".join(pair), name, *cells(records[number])))
    columns = ("dimensions", "red, blue", "setting", "score", "hits of red", "hits of blue")
    print_table("Noise and jamming", columns, rows)


if __name__ == "__main__":
    main()
