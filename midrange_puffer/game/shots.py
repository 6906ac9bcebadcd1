"""Shots in a fight with height, flown out: which of them hit, and launch zones."""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from midrange_puffer import _core
from midrange_puffer.game.contacts import Course, climb_angle
from midrange_puffer.game.envelope import (
    EVASIONS,
    PLAIN,
    SHOWN,
    find_edges,
    limits_of,
    relevant,
    shots_core,
)
from midrange_puffer.game.flown_types import varied
from midrange_puffer.game.parameters import Parameters, sizes_of
from midrange_puffer.game.paths import Types
from midrange_puffer.game.types import AIRCRAFT, MISSILE


class Flight(NamedTuple):
    """The place of a fighter [m], the directions of its flight [rad], and its speed [m/s]."""

    x: float
    y: float
    z: float
    heading: float
    climb: float
    speed: float


class Flights(NamedTuple):
    """The flights of many fighters, an array of each value of `Flight`."""

    x: np.ndarray
    y: np.ndarray
    z: np.ndarray
    heading: np.ndarray
    climb: np.ndarray
    speed: np.ndarray


def flight_of(state: Mapping[str, np.ndarray], place: tuple[int, ...]) -> Flight:
    """Returns a fighter's flight, or that of a contact as believed; in the plane its height is 0.

    Args:
        state: `Simulation.fighters` or `Simulation.contacts`.
        place: Its index in these arrays.
    """
    x, y, heading, speed = (float(state[name][place]) for name in ("x", "y", "heading", "speed"))
    if "z" not in state:
        return Flight(x, y, 0.0, heading, 0.0, speed)
    climb = climb_angle(float(state["vz"][place]), speed)
    return Flight(x, y, float(state["z"][place]), heading, climb, speed)


def flight_at(path: Course, time: float) -> Flight:
    """Returns the flight at the last entry of a path with height up to a time [s]."""
    i = path.at(time + 1e-6) or 0
    return Flight(path.x[i], path.y[i], path.z[i], path.heading[i], path.climb[i], path.speed[i])


class FlyOuts:
    """Fly-outs of shots with the types that a fight has drawn.

    Args:
        parameters: Of the fight.
        types: As of `Paths.types`.
        factors: As of `Paths.factors`; none: the types are flown as they are.
    """

    def __init__(
        self, parameters: Parameters, types: Types, factors: Sequence[Mapping[str, float]] = ()
    ) -> None:
        self._parameters, self._types, self._factors = parameters, types, factors
        self._cores: dict[tuple[int, int, int], _core.Core] = {}

    def hits(
        self, side: int, own: Flight, enemy: Flight, kind: int = 0, target: int | None = None
    ) -> dict[str, bool]:
        """Returns True or False by the name of the enemy's evasion: if a side's shot hits it.

        The enemy begins each evasion, one of `EVASIONS`, level. `kind` is the place of the
        missile's type in the loadout of its fighter. `target` is the enemy's number; None: in one
        against one the other fighter.
        """
        key = side, kind, 1 - side if target is None else target
        if key not in self._cores:
            self._cores[key] = shots_core(self._game(*key))
        away = enemy.x - own.x, enemy.y - own.y
        shots = np.repeat(
            shots_on(own, enemy, np.array([math.atan2(away[1], away[0])])), len(EVASIONS)
        )
        shots["range"], shots["evasion"] = math.hypot(*away), np.arange(len(EVASIONS))
        return dict(zip(EVASIONS, self._cores[key].fly_shots(shots).tolist(), strict=True))

    def zones(
        self,
        side: int,
        pairs: Sequence[tuple[Flight, Flight]],
        count: int,
        progress: Callable[[int], None] = lambda count: None,
        kind: int = 0,
        target: int | None = None,
    ) -> np.ndarray:
        """Returns launch zones: the ranges of `SHOWN` on every bearing, by a coarse search.

        Args:
            side: The side that fires.
            pairs: Its fighter and the enemy, whose height, course and speed count.
            count: The number of bearings, counter-clockwise from the nose.
            progress: Called with the number of bearings done.
            kind, target: As of `hits`.

        Returns:
            [pairs, edges, bearings], ranges on the ground [m].
        """
        game = self._game(side, kind, 1 - side if target is None else target)
        turns = np.linspace(0, 2 * np.pi, count, endpoint=False)
        shots = [shots_on(own, enemy, own.heading + turns) for own, enemy in pairs]
        ahead = np.array([[1.0, 0.0]])
        limits = [limits_of(game, ahead, [own.speed], [enemy.speed]).item() for own, enemy in pairs]
        edges = find_edges(
            game, np.concatenate(shots), np.repeat(limits, count), progress=progress, is_coarse=True
        )
        ranges = [getattr(edges, name).reshape(len(pairs), count) for name in SHOWN]
        return np.stack(ranges, axis=1)

    def _game(self, side: int, kind: int, target: int) -> dict[str, Any]:
        """Returns the relevant parameters of a side's shots at a fighter."""
        missile, _ = self._types[MISSILE][side][kind]
        aircraft, _ = self._types[AIRCRAFT][target][0]
        factors = {}
        if self._factors:
            owner = sizes_of(self._parameters)[0] if side else 0
            factors = factors_of(self._factors[owner], self._factors[target])
        return game_of(self._parameters, missile, aircraft, factors)


def factors_of(owner: Mapping[str, float], target: Mapping[str, float]) -> dict[str, float]:
    """Returns the factors of a shot: of the missile the owner's, of the aircraft the target's."""
    return {
        name: owner[name] if name.startswith(MISSILE) else factor for name, factor in target.items()
    }


def game_of(
    parameters: Mapping[str, Any], missile: str, aircraft: str, factors: Mapping[str, float]
) -> dict[str, Any]:
    """Returns the relevant parameters of shots of one type of missile at one of aircraft.

    The core's fly-outs are of red's missiles at blue's aircraft.

    Args:
        parameters: a value for every parameter.
        missile, aircraft: names of the types.
        factors: as of `flown_types.varied`.
    """
    types = varied(parameters["types"], missile, aircraft, factors)
    names = {"red_missile": missile, "blue_aircraft": aircraft, "red_missiles": "", "types": types}
    return relevant({**parameters, **names})


def shots_on(own: Flight | Flights, enemy: Flight | Flights, bearings: np.ndarray) -> np.ndarray:
    """Returns shots `_core.SHOT` on bearings to the enemy [rad], without range and evasion."""
    shots = np.zeros(len(bearings), _core.SHOT)
    for name, angles in (
        ("nose", own.heading - bearings),
        ("aspect", enemy.heading - bearings - np.pi),
    ):
        shots[name] = np.column_stack([np.cos(angles), np.sin(angles)])
    shots["launch_speed"], shots["target_speed"] = own.speed, enemy.speed
    shots["height"], shots["target_height"] = np.maximum(own.z, 0.0), np.maximum(enemy.z, 0.0)
    shots["climb_sine"] = np.sin(own.climb)
    return shots


def surely(hits: Mapping[str, bool]) -> bool:
    """True if a shot hits against every evasion: the enemy is inside R_NEZ."""
    return all(hits.values())


def if_it_flies_on(hits: Mapping[str, bool]) -> bool:
    """True if a shot hits an enemy that flies on: the enemy is inside R_aero."""
    return hits[PLAIN]
