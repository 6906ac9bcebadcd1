"""Errors of the envelope for all heights.

    python benchmarks/envelope_height.py

It builds the map and its table of heights (game/envelope_height.py), and compares them with the
ranges of fresh random shots that are flown out one by one: heights from 1 to 13 km of each fighter,
any aspect, the target up to 57 degrees off the nose, speeds from 250 to 450 m/s.
"""

import argparse
from collections.abc import Sequence
from typing import Any

import numpy as np

from midrange_puffer import _core
from midrange_puffer.commands.progress import progress_bar
from midrange_puffer.files import write_results
from midrange_puffer.game.envelope import find_edges, limits_of, relevant
from midrange_puffer.game.envelope_height import (
    CLIMB,
    HEIGHTS,
    LEAST_RANGE,
    SCALED,
    HeightEnvelope,
    build_for_heights,
    cells,
)
from midrange_puffer.game.parameters import resolve


def main(argv: Sequence[str] | None = None) -> None:
    """Measures and prints the errors."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--shots", type=int, default=500, help="random shots (%(default)s)")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", help="also write the result to this file")
    options = parser.parse_args(argv)
    parameters = resolve({"dimensions": 3})
    with progress_bar("map and table", cells()) as advance:
        envelope = build_for_heights(parameters, advance)
    rows = [
        errors(envelope, parameters, options.shots, options.seed, climb) for climb in (0.0, CLIMB)
    ]
    print(f"{options.shots} random shots a row; error of the range, median and 90th percentile")
    for row in rows:
        columns = "  ".join(
            f"{edge} {row[edge]['median']:.1%} {row[edge]['p90']:.1%}" for edge in SCALED
        )
        print(f"launcher's climb up to {row['climb_deg']:.0f}°: {columns}")
    if options.json:
        write_results(options.json, {"shots": options.shots, "seed": options.seed, "rows": rows})


def errors(
    envelope: HeightEnvelope, parameters: dict[str, Any], count: int, seed: int, climb: float
) -> dict[str, Any]:
    """Returns the relative errors of each edge over random shots.

    Args:
        envelope: the map and its table.
        parameters: of its game.
        count: number of shots.
        seed: seed of their geometries.
        climb: greatest sine of the launcher's climb and dive.
    """
    rng = np.random.default_rng(seed)
    off, aspect = rng.uniform(-1, 1, count), rng.uniform(-np.pi, np.pi, count)
    speeds = rng.uniform(250, 450, (2, count))
    heights = rng.uniform(HEIGHTS[0], HEIGHTS[-1], (2, count))
    sines = rng.uniform(-climb, climb, count)
    shots = np.zeros(count, _core.SHOT)
    shots["nose"] = np.stack([np.cos(off), np.sin(off)], 1)
    shots["aspect"] = np.stack([np.cos(aspect), np.sin(aspect)], 1)
    shots["launch_speed"], shots["target_speed"] = speeds
    shots["height"], shots["target_height"] = heights
    shots["climb_sine"] = sines
    values = relevant(parameters)
    limits = limits_of(values, shots["aspect"], [450.0], [450.0]).ravel()
    flown = find_edges(values, shots, limits)
    row: dict[str, Any] = {"climb_deg": np.degrees(np.arcsin(climb))}
    for edge in SCALED:
        exact = getattr(flown, edge)
        found = envelope.ranges(edge, off, aspect, *speeds, *heights, sines)
        error = np.abs(found / np.maximum(exact, 1) - 1)[exact > LEAST_RANGE]
        row[edge] = {
            "shots": len(error),
            "median": float(np.median(error)),
            "p90": float(np.quantile(error, 0.9)),
        }
    return row


if __name__ == "__main__":
    main()
