"""A fighter's targets: its enemies in the core's order, shots at one, and the duel with one."""

from typing import Any

import numpy as np

from midrange_puffer.game.missions import without_mission
from midrange_puffer.game.parameters import RADAR, has_height, is_team, sizes_of
from midrange_puffer.game.readings import SOURCES, TRACKING
from midrange_puffer.game.simulation import Simulation


def enemies_of(sim: Simulation, fighter: int, env: int = 0) -> np.ndarray:
    """Returns the numbers of a fighter's living enemies, int [n], the nearest first.

    Observations list the enemies in this order, and the fire control counts them in it. In teams
    with sensors only enemies with a track count, by their believed places.
    """
    if is_team(sim.parameters) and sim.parameters["sensing"] == RADAR:
        return _tracked(sim, fighter, env)
    ranges, _ = _sight(sim, fighter, env)
    return _others(sim, fighter, env, ranges)


def nearest_nose(sim: Simulation, fighter: int, env: int = 0) -> int | None:
    """Returns the living enemy at the least angle off a fighter's nose; None if none lives."""
    _, cosines = _sight(sim, fighter, env)
    enemies = _others(sim, fighter, env, -cosines)
    return int(enemies[0]) if len(enemies) else None


def shot_at(sim: Simulation, fighter: int, enemy: int, env: int = 0) -> float:
    """Returns the fire control of `Simulation.step` for a shot at an enemy; 0 if it is dead."""
    order = enemies_of(sim, fighter, env).tolist()
    if enemy not in order:
        return 0.0
    return order.index(enemy) + 2.0 if is_team(sim.parameters) else 1.0


def duel_parameters(sim: Simulation, env: int, red: int, blue: int) -> dict[str, Any]:
    """Returns the parameters of one against one between two fighters, without a mission.

    With height they fly the types that they have drawn, without the factors of these.

    Args:
        sim, env: the engagement.
        red, blue: numbers of the fighters.
    """
    game = without_mission(sim.parameters) | {"red_size": 1, "blue_size": 1}
    if not has_height(game):
        return game
    names, drawn = sim.type_names, sim.types
    for side, fighter in (("red", red), ("blue", blue)):
        kinds = ("aircraft",) if game[f"{side}_missiles"] else ("aircraft", "missile")
        for kind in kinds:
            game[f"{side}_{kind}"] = names[kind][drawn[kind][env, fighter]]
    return game | {"aircraft_spread": 0.0, "missile_spread": 0.0}


def first_type_left(sim: Simulation, fighter: int) -> int:
    """Returns the place in the loadout of the first type of which missiles are left, or 0.

    The fighter is of the first engagement.
    """
    if not has_height(sim.parameters):
        return 0
    return int((sim.ammo_by_type[0, fighter] > 0).argmax())


def _tracked(sim: Simulation, fighter: int, env: int) -> np.ndarray:
    """Returns the living enemies of which a fighter has a track, the nearest first."""
    red, blue = sizes_of(sim.parameters)
    numbers = np.arange(red, red + blue) if fighter < red else np.arange(red)
    contacts = {name: of[env, fighter, : len(numbers)] for name, of in sim.contacts.items()}
    own = {name: of[env, fighter] for name, of in sim.fighters.items()}
    square = np.square([contacts[axis] - own[axis] for axis in "xyz" if axis in contacts]).sum(0)
    is_tracked = np.isin(contacts["source"], [SOURCES.index(name) for name in TRACKING])
    known = np.flatnonzero(is_tracked & (sim.fighters["alive"][env, numbers] != 0))
    return numbers[known[np.argsort(square[known], kind="stable")]]


def _others(sim: Simulation, fighter: int, env: int, keys: np.ndarray) -> np.ndarray:
    """Returns the living enemies, in the order of rising keys."""
    red_size, _ = sizes_of(sim.parameters)
    numbers = np.arange(sum(sizes_of(sim.parameters)))
    is_enemy = (numbers >= red_size) != (fighter >= red_size)
    enemies = numbers[is_enemy & (sim.fighters["alive"][env] != 0)]
    return enemies[np.argsort(keys[enemies], kind="stable")]


def _sight(sim: Simulation, fighter: int, env: int) -> tuple[np.ndarray, np.ndarray]:
    """Returns the squared range [m²] of all fighters, and the cosine of their angle off the nose.

    Both are float32, computed in the core's order of operations: ranges that are equal in the core
    are equal here.
    """
    body = {name: values[env] for name, values in sim.core.read("fighter").items()}
    dx, dy = body["x"] - body["x"][fighter], body["y"] - body["y"][fighter]
    square = dx * dx + dy * dy
    ahead = dx * body["c"][fighter] + dy * body["s"][fighter]
    if "z" in body:
        dz = body["z"] - body["z"][fighter]
        square, ahead = square + dz * dz, ahead + dz * body["u"][fighter]
    return square, ahead / np.maximum(np.sqrt(square), np.float32(1))
