"""One engagement of pilots and policies, decision by decision: for who wants to look at it."""

from collections.abc import Iterator

import numpy as np
from torch import nn

from midrange_puffer.parameters import SEATS, checked_seed
from midrange_puffer.player import Player, controls, observation_for, player_seed
from midrange_puffer.sim import Simulation


def fly(
    red: str | nn.Module,
    blue: str | nn.Module,
    seed: int = 0,
    greedy: bool = False,
    **parameters: float,
) -> Iterator[Simulation]:
    """Yield a simulation of one engagement at its start and after every decision, to its end.

    Args:
        red, blue: a pilot's name, or a policy on the CPU.
        seed: of the start and the actions.
        greedy: policies take the likeliest action instead of drawing one.
        **parameters: rows of csrc/params.h.

    Raises:
        ValueError: An argument of the wrong name, type or range.
    """
    checked_seed(seed)
    crew = (red, blue)
    players = {
        seat: Player(who, 1, player_seed(seed, seat), greedy)
        for seat, who in enumerate(crew)
        if not isinstance(who, str)
    }
    seats = [who if isinstance(who, str) else "agent" for who in crew]
    observation = observation_for(player.features for player in players.values())
    sim = Simulation(1, seed, *seats, observation=observation, **parameters)
    commands = np.zeros((1, len(SEATS), 3), np.float32)
    yield sim
    while not sim.outcome[0]:
        seen = sim.observe()
        for seat, player in players.items():
            commands[:, seat] = controls(player.act(seen[:, seat], np.array([0])))
        sim.step(commands)
        yield sim
