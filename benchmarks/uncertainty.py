"""The effects of noise, jammers, emission control and chaff on pairs of pilots, with sensors.

    python benchmarks/uncertainty.py [--engagements 600] [--dimensions 2 3] [--of noise systems]

Every pair flies engagements with the same starts in all settings: those of SETTINGS and those of
SYSTEMS. *hits* is the share of the side's missiles that hit, *score* is of red: win 1, draw 1/2.
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
# Emission control and chaff, each for both sides.
SYSTEMS = {
    "neither": {},
    "emission control": {"emission_control": "on"},
    "6 cartridges": {"chaff": 6},
    "20 cartridges": {"chaff": 20},
    "both, 6 cartridges": {"emission_control": "on", "chaff": 6},
}
RED_WINS, BLUE_WINS, DRAW = 1, 2, 3
SEED = 1


def cells(records: np.ndarray) -> tuple[str, ...]:
    """Returns red's score, the wins of red and blue, and the hits a shot of each."""
    outcome = records["outcome"]
    wins = (f"{np.mean(outcome == side):.0%}" for side in (RED_WINS, BLUE_WINS))
    score = np.mean(outcome == RED_WINS) + 0.5 * np.mean(outcome == DRAW)
    hits, shots = (records[name].sum(axis=0) for name in ("hits", "shots"))
    shares = [
        f"{hit / shot:.0%}" if shot else "none" for hit, shot in zip(hits, shots, strict=True)
    ]
    return f"{score:.3f}", *wins, *shares


def main() -> None:
    """Flies all pairs in all settings and prints the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--engagements", type=int, default=600, help="of each pair and setting")
    parser.add_argument("--dimensions", type=int, nargs="+", default=[2, 3], choices=[2, 3])
    groups = {"noise": SETTINGS, "systems": SYSTEMS}
    parser.add_argument("--of", nargs="+", default=[*groups], choices=groups, help="of what")
    args = parser.parse_args()
    chosen = [item for name in args.of for item in groups[name].items()]
    fights, rows = [Fight(*pair) for pair in PAIRS], []
    for dimensions in args.dimensions:
        flown = {}
        for name, settings in chosen:
            parameters = resolve({"sensing": "radar", "dimensions": dimensions, **settings})
            flown[name] = play(fights, args.engagements, SEED, parameters=parameters)
        for number, pair in enumerate(PAIRS):
            for name, records in flown.items():
                rows.append((str(dimensions), ", ".join(pair), name, *cells(records[number])))
    columns = (
        *("dimensions", "red, blue", "setting", "score", "wins of red", "wins of blue"),
        *("hits of red", "hits of blue"),
    )
    print_table("Noise, jamming, emission control and chaff", columns, rows)


if __name__ == "__main__":
    main()
