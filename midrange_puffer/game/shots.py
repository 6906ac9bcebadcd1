"""Shots in a fight with height, flown out: the evasions against which a shot would hit."""

import math
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from midrange_puffer import _core
from midrange_puffer.game.envelope import EVASIONS, PLAIN, relevant, shots_core
from midrange_puffer.game.parameters import Parameters
from midrange_puffer.game.simulation import Simulation
from midrange_puffer.game.types import AIRCRAFT, MISSILE


class Flight(NamedTuple):
    """The place of a fighter [m], the directions of its flight [rad], and its speed [m/s]."""

    x: float
    y: float
    z: float
    heading: float
    climb: float
    speed: float


def flight_of(sim: Simulation, number: int) -> Flight:
    """Returns the present flight of a fighter of the first engagement."""
    state = {name: float(values[0, number]) for name, values in sim.fighters.items()}
    climb = math.asin(min(max(state["vz"] / max(state["speed"], 1.0), -1.0), 1.0))
    return Flight(state["x"], state["y"], state["z"], state["heading"], climb, state["speed"])


class FlyOuts:
    """Fly-outs of shots with the types that a fight has drawn, without their factors.

    Args:
        parameters: Of the fight.
        types: As of `Paths.types`.
    """

    def __init__(self, parameters: Parameters, types: Mapping[str, list[tuple[str, str]]]) -> None:
        self._parameters, self._types = parameters, types
        self._cores: dict[int, _core.Core] = {}

    def hits(self, side: int, own: Flight, enemy: Flight) -> dict[str, bool]:
        """Returns whether a shot of a side's fighter hits, by the name of the enemy's evasion.

        The enemy begins each evasion, one of `EVASIONS`, level.
        """
        if side not in self._cores:
            # The core's fly-outs are of red's missiles at blue's aircraft.
            names = {
                "red_missile": self._types[MISSILE][side][0],
                "blue_aircraft": self._types[AIRCRAFT][1 - side][0],
            }
            game = dict(self._parameters, **names)
            self._cores[side] = shots_core(relevant(game))
        dx, dy = enemy.x - own.x, enemy.y - own.y
        bearing = math.atan2(dy, dx)
        nose, course = own.heading - bearing, enemy.heading - bearing - math.pi
        shots = np.zeros(len(EVASIONS), _core.SHOT)
        shots["range"] = math.hypot(dx, dy)
        shots["nose"] = math.cos(nose), math.sin(nose)
        shots["aspect"] = math.cos(course), math.sin(course)
        shots["launch_speed"], shots["target_speed"] = own.speed, enemy.speed
        shots["height"], shots["target_height"] = max(own.z, 0.0), max(enemy.z, 0.0)
        shots["climb_sine"] = math.sin(own.climb)
        shots["evasion"] = np.arange(len(EVASIONS))
        return dict(zip(EVASIONS, self._cores[side].fly_shots(shots).tolist(), strict=True))


def surely(hits: Mapping[str, bool]) -> bool:
    """True if a shot hits against every evasion: the enemy is inside R_NEZ."""
    return all(hits.values())


def if_it_flies_on(hits: Mapping[str, bool]) -> bool:
    """True if a shot hits an enemy that flies on: the enemy is inside R_aero."""
    return hits[PLAIN]
