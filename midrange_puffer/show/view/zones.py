"""Launch zones of a fighter, as pictures show them: where a missile fired now would hit the enemy.

In the plane they are looked up in the game's envelope. With height they are flown out.
"""

import math
from concurrent.futures import Future, ThreadPoolExecutor
from typing import NamedTuple, Protocol

import numpy as np

from midrange_puffer.game.envelope import SHOWN, Envelope
from midrange_puffer.game.envelope_lookup import launch_zone
from midrange_puffer.game.parameters import Parameters
from midrange_puffer.game.paths import Paths
from midrange_puffer.game.shots import Flight, FlyOuts, flight_at
from midrange_puffer.show.view.states import Contact, Fighter

BEARINGS = np.linspace(-np.pi, np.pi, 97)[:-1]  # bearings of a zone's points [rad]
# With height a zone takes time: the bearings that are flown, and the time between two zones [s].
FLOWN, INTERVAL = 24, 2.0


class Zones(Protocol):
    """The launch zones of fighters."""

    def around(
        self, shooter: Fighter | Contact, enemy: Fighter | Contact, kind: int, time: float
    ) -> dict[str, np.ndarray]:
        """Returns the places of each edge in `SHOWN`, [points, 2] [m]; nothing if not known yet.

        Args:
            shooter, enemy: The launcher and its target.
            kind: The place of the missile's type in the launcher's loadout.
            time: Of the fight [s].
        """
        ...


class EnvelopeZones:
    """Zones in the plane.

    Args:
        envelope: The missile's envelope.
    """

    def __init__(self, envelope: Envelope) -> None:
        self._envelope = envelope

    def around(
        self, shooter: Fighter | Contact, enemy: Fighter | Contact, kind: int, time: float
    ) -> dict[str, np.ndarray]:
        """Returns the edges for the enemy's heading and speed, as `Zones.around`."""
        headings = np.asarray(shooter.heading), np.asarray(enemy.heading)
        speeds = np.asarray(shooter.speed), np.asarray(enemy.speed)
        return {
            edge: _places(
                shooter, BEARINGS, launch_zone(self._envelope, edge, BEARINGS, headings, speeds)
            )
            for edge in SHOWN
        }


class _Flown(NamedTuple):
    """Ranges [edges, FLOWN] of the zones at a time [s], by bearing from the nose."""

    time: float
    ranges: np.ndarray


class FlownZones:
    """Zones with height, on the ground: flown out every INTERVAL seconds of the fight.

    Between two times a zone moves and turns with its fighter.

    Args:
        paths: The fight's paths.
        parameters: Its parameters.
        in_background: True to fly in a thread; until it is done the zone before is shown.
    """

    def __init__(self, paths: Paths, parameters: Parameters, in_background: bool) -> None:
        self.paths = paths
        self._fly_outs = FlyOuts(parameters, paths.types)
        self._thread = ThreadPoolExecutor(1) if in_background else None
        self._last: dict[tuple[int, int, bool], _Flown] = {}  # by fighter, kind, belief
        self._pending: dict[tuple[int, int, bool], Future[_Flown]] = {}

    def around(
        self, shooter: Fighter | Contact, enemy: Fighter | Contact, kind: int, time: float
    ) -> dict[str, np.ndarray]:
        """Returns the edges for the enemy's height, course and speed, as `Zones.around`.

        Of a contact the believed flight counts. There are no zones without a track.
        """
        is_believed = isinstance(shooter, Contact) or isinstance(enemy, Contact)
        key = shooter.number, kind, is_believed
        due = INTERVAL * math.floor(time / INTERVAL + 1e-6)
        if key in self._pending and self._pending[key].done():
            self._last[key] = self._pending.pop(key).result()
        last = self._last.get(key)
        if (last is None or last.time != due) and key not in self._pending:
            pair = _flight(shooter, due), _flight(enemy, due)
            fly = self._fly, shooter.side, pair, kind, enemy.number, due
            if self._thread is None:
                self._last[key] = self._fly(*fly[1:])
            else:
                self._pending[key] = self._thread.submit(*fly)
        if key not in self._last:
            return {}
        turns = np.linspace(0, math.tau, FLOWN, endpoint=False)
        return {
            edge: _places(shooter, shooter.heading + turns, ranges)
            for edge, ranges in zip(SHOWN, self._last[key].ranges, strict=True)
        }

    def _fly(self, side: int, pair: tuple, kind: int, target: int, due: float) -> _Flown:
        [ranges] = self._fly_outs.zones(side, [pair], FLOWN, kind=kind, target=target)
        return _Flown(due, ranges)


def _flight(body: Fighter | Contact, time: float) -> Flight:
    """Returns a fighter's flight at a time [s], or the present one of a contact, as believed."""
    if isinstance(body, Fighter):
        return flight_at(body.path, time)
    x, y, z = body.point.tolist()
    return Flight(x, y, z, body.heading, body.climb, body.speed)


def _places(shooter: Fighter | Contact, bearings: np.ndarray, ranges: np.ndarray) -> np.ndarray:
    """Returns the places at ranges [m] on bearings [rad] from a fighter, [n, 2]."""
    return shooter.place + ranges[:, None] * np.column_stack([np.cos(bearings), np.sin(bearings)])
