"""A fighter and one enemy, taken out of a fight of teams: as one against one, they have a graph."""

from dataclasses import replace

import numpy as np

from midrange_puffer.game.parameters import is_team, sizes_of
from midrange_puffer.game.simulation import Simulation
from midrange_puffer.game.spacetime import SpaceTime, spacetime


def nearest_enemy(sim: Simulation, env: int, fighter: int) -> int:
    """The living enemy nearest to a fighter; if none lives, the nearest of the dead."""
    state = {name: values[env] for name, values in sim.fighters.items()}
    red, blue = sizes_of(sim.parameters)
    enemies = range(red, red + blue) if fighter < red else range(red)
    away = np.hypot(state["x"] - state["x"][fighter], state["y"] - state["y"][fighter])
    return min(enemies, key=lambda enemy: (not state["alive"][enemy], away[enemy]))


def pair_of(sim: Simulation, env: int, fighter: int, enemy: int) -> tuple[Simulation, list[int]]:
    """The engagement of a fighter and an enemy alone, as one against one.

    Red's is its fighter 0, blue's its fighter 1. All missiles that fly at the fighter are there, as
    the enemy's, and the fighter's own ones that fly at the enemy. If there are more than one
    against one has slots for, those that fly at the fighter come first, the nearest of them first.
    The clock is not carried over.

    Args:
        sim: with full information; it is not changed.
        env, fighter, enemy: an engagement, and one of each side by their numbers.

    Returns:
        The pair's simulation, and the slot in `sim` of the missile in each of its slots, from 0 on.

    Raises:
        ValueError: The two are of one side.
    """
    red, _ = sizes_of(sim.parameters)
    side = int(fighter >= red)
    if side == int(enemy >= red):
        raise ValueError(f"fighter {fighter}, enemy {enemy}: must be of the two sides")
    out = Simulation(1, **sim.parameters | {"red_size": 1, "blue_size": 1})
    for number, place in ((fighter, side), (enemy, 1 - side)):
        out.core.set_fighter(0, place, sim.core.get_fighter(env, number))
    missiles = {name: values[env] for name, values in sim.missiles.items()}
    inbound = missiles["active"] * (missiles["target"] == fighter)
    outbound = (missiles["owner"] == fighter) * (missiles["target"] == enemy)
    own = sim.core.get_fighter(env, fighter)
    away = np.hypot(missiles["x"] - own["x"], missiles["y"] - own["y"])
    slots = np.flatnonzero(inbound | missiles["active"] * outbound)
    slots = sorted(slots.tolist(), key=lambda slot: (not inbound[slot], away[slot]))
    slots = sorted(slots[: out.core.slots])
    for place, slot in enumerate(slots):
        seats = {"target": side, "owner": 1 - side}
        if not inbound[slot]:
            seats = {"target": 1 - side, "owner": side}
        out.core.set_missile(0, place, sim.core.get_missile(env, slot) | seats)
    return out, slots


def pair_graph(
    sim: Simulation,
    env: int,
    fighter: int,
    enemy: int | None = None,
    horizon: float = 20.0,
    interval: float = 1.0,
) -> SpaceTime:
    """The space-time graph of a fighter, and of an enemy that may fire now, out of any fight.

    Call `pair_graph(sim, env, fighter)` where one against one has `spacetime(sim, env, seat)`: of
    one against one it is the very same. Its `seat` is the fighter's side, and so are the owners and
    targets of its missiles; the missiles' slots are those of `sim`.

    Args:
        sim: with full information; it is not changed.
        env, fighter: whose graph.
        enemy: the fighter of the other side that it is about; None: `nearest_enemy`.
        horizon, interval: as of `spacetime`.

    Raises:
        ValueError, IndexError: As `spacetime` and `pair_of`.
    """
    if not is_team(sim.parameters):
        return spacetime(sim, env, fighter, horizon, interval)
    if enemy is None:
        enemy = nearest_enemy(sim, env, fighter)
    pair, slots = pair_of(sim, env, fighter, enemy)
    side = int(fighter >= sizes_of(sim.parameters)[0])
    graph = spacetime(pair, 0, side, horizon, interval)
    missiles = (replace(missile, slot=slots[missile.slot]) for missile in graph.missiles)
    return replace(graph, missiles=tuple(missiles))
