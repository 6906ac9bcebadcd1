"""Checks of games with height: mirrored fights, snapshots, batches and threads."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from height_games import Game

from midrange_puffer.game.simulation import Simulation

LATERAL = ("y", "vy", "s", "rudder", "rudder_command")  # states that change sign in the mirror


def place_mirrored(games: Sequence[Game]) -> None:
    """Places all fighters of two equal games at random, those of the second one mirrored."""
    random = np.random.default_rng(3)
    envs, fighters = games[0].sim.rewards.shape
    for env in range(envs):
        for fighter in range(fighters):
            state = {"x": random.uniform(-9e3, 9e3), "z": random.uniform(1e3, 12e3)}
            state |= {"climb_deg": random.uniform(-50, 50), "speed": random.uniform(200, 500)}
            y, heading, rudder = random.uniform([-9e3, -180, -1], [9e3, 180, 1])
            for game, sign in zip(games, (1, -1), strict=True):
                turned = {"y": sign * y, "heading_deg": sign * heading, "rudder": sign * rudder}
                game.place(fighter, env, **(state | turned))


def step_mirrored(
    games: Sequence[Game], controls: np.ndarray, kinds: Sequence[str] = ("fighter", "missile")
) -> tuple[Simulation, Simulation]:
    """Flies a decision of both games and checks that their states and rewards are mirrored."""
    for game, sign in zip(games, (1, -1), strict=True):
        game.sim.step(controls * np.array([sign, 1, 1, 1], np.float32))
    a, b = (game.sim for game in games)
    for kind in kinds:
        theirs = b.core.read(kind)
        for name, values in a.core.read(kind).items():
            sign = -1 if name in LATERAL else 1
            assert np.array_equal(sign * values, theirs[name]), (kind, name)
    assert np.array_equal(a.rewards, b.rewards)
    assert np.array_equal(a.outcome, b.outcome)
    return a, b


def check_snapshots_and_batches(settings: Mapping[str, Any]) -> tuple[Simulation, Simulation]:
    """Checks that a fight is the same after a snapshot, in any batch and on any threads.

    Returns:
        A simulation, and another one that went on from its snapshot.
    """
    sims = [
        Simulation(count, seed=2, threads=threads, **settings)
        for count, threads in ((18, 1), (18, 2), (3, 1))
    ]
    shape = (60, *sims[0].rewards.shape, 4)
    commands = np.random.default_rng(5).uniform(-1, 1, shape).astype(np.float32)
    for command in commands[:30]:
        for sim in sims:
            sim.step(command[: sim.num_envs])
    other = Simulation(18, seed=7, **settings)
    other.restore(sims[0].snapshot())
    for command in commands[30:]:
        for sim in (*sims, other):
            sim.step(command[: sim.num_envs])
    assert {sim.state_hash() for sim in (*sims[:2], other)} == {sims[0].state_hash()}
    assert np.array_equal(other.observe(), sims[0].observe())
    assert np.array_equal(sims[0].observe()[:3], sims[2].observe())
    return sims[0], other
