"""Fights for the tests of replays."""

from collections.abc import Callable, Sequence

import numpy as np
from quick_fights import SHORT

from midrange_puffer import Simulation
from midrange_puffer.replay import Recorder, Replay

LEVELS = np.array([-1, -0.5, 0, 0.5, 1], np.float32)


def random_controls(rng: np.random.Generator) -> np.ndarray:
    """Controls [1, 2, 3] as an agent's actions are, firing now and then."""
    controls = rng.choice(LEVELS, (1, 2, 3))
    controls[..., 2] = rng.random((1, 2)) < 0.2
    return controls


def record(
    pilots: Sequence[str] = ("agent", "evader"),
    seed: int = 0,
    engagement: int = 0,
    episode: int = 0,
    controls: Callable[[np.random.Generator], np.ndarray] = random_controls,
    names: tuple[str, str] | None = None,
    **parameters: float,
) -> tuple[Replay, list[int]]:
    """Fly an engagement to its end; its replay, and its hash after every decision."""
    sim = Simulation(1, seed, *pilots, **(SHORT | parameters))
    sim.start(0, engagement, episode)
    recorder = Recorder(
        sim, seed=seed, pilots=pilots, names=names, engagement=engagement, episode=episode
    )
    rng = np.random.default_rng((seed, engagement, episode))
    hashes = []
    while not sim.outcome[0]:
        command = controls(rng)
        sim.step(command)
        recorder.add(command)
        hashes.append(sim.fight_hash())
    return recorder.replay(), hashes
