"""Fights of teams that are over soon, with their replays."""

from collections.abc import Sequence

import numpy as np
import pytest
from replays import random_controls

from midrange_puffer import Simulation
from midrange_puffer.game.parameters import sizes_of
from midrange_puffer.replays.replay import Recorder, Replay

NEAR = {
    "start_range_min": 10_000,
    "start_range_max": 15_000,
    "start_spacing_min": 300,
    "start_spacing_max": 900,
    "time_limit": 120,
}
SIZES = [(2, 2), (3, 1), (4, 4), (8, 8)]
EACH_SIZE = pytest.mark.parametrize("sizes", SIZES, ids="{0[0]}v{0[1]}".format)


def sized(red_size: int, blue_size: int, **parameters: float) -> dict[str, float]:
    """Returns the parameters of a near fight of sides of these sizes."""
    return NEAR | {"red_size": red_size, "blue_size": blue_size} | parameters


def record(
    parameters: dict[str, float],
    pilots: Sequence[str | Sequence[str]] = ("ace", "evader"),
    seed: int = 0,
    names: tuple[str, str] | None = None,
) -> tuple[Replay, list[int]]:
    """Flies an engagement to its end; returns its replay, and its hash after every decision.

    Args:
        pilots: of red and blue; of a side also one for each fighter. "agent" acts at random.
    """
    sim = Simulation(1, seed, *pilots, **parameters)
    each = [
        name
        for side, size in zip(pilots, sizes_of(sim.parameters), strict=True)
        for name in ([side] * size if isinstance(side, str) else side)
    ]
    recorder = Recorder(sim, seed=seed, pilots=each, names=names)
    rng = np.random.default_rng(seed)
    hashes = []
    while not sim.outcome[0]:
        command = random_controls(rng, len(each), sim.core.controls)
        sim.step(command)
        recorder.add(command)
        hashes.append(sim.fight_hash())
    return recorder.replay(), hashes
