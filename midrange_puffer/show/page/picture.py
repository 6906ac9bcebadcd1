"""The picture that a page shows of a fight besides its paths: the truth, or a side's knowledge."""

import numpy as np

from midrange_puffer.game.contacts import TRACKS, believed, contact_places
from midrange_puffer.game.parameters import is_team, sizes_of
from midrange_puffer.game.shots import Flight, flight_of
from midrange_puffer.game.simulation import Simulation
from midrange_puffer.game.spacetime import SpaceTime, nearest_enemy, pair_graph
from midrange_puffer.game.targets import first_type_left
from midrange_puffer.show.page.zones import Shot


class Picture:
    """The space-time graphs and shots of a fight over time.

    Args:
        sim: The fight with its one engagement; it is noted at its present time.
        side: The side whose knowledge it is, red (0) or blue (1), in a game with sensors; None: the
            truth.

    Attributes:
        numbers: The fighters that have graphs: all, or those of the side.
        threats: At each time, the enemy of each of them.
        graphs: The graphs of each of them, while it lives.
        shots: At each time, the shots whose launch zones are shown. In one against one these are
            red's and blue's, in teams each fighter's at its threat, followed by that of its threat
            at it. None if nothing can be fired.
    """

    def __init__(self, sim: Simulation, side: int | None = None) -> None:
        self._sim, self.side = sim, side
        red, blue = sizes_of(sim.parameters)
        sides = range(red), range(red, red + blue)
        self.numbers = [*sides[0], *sides[1]] if side is None else [*sides[side]]
        self._enemies = {n: sides[int(n < red)] for n in range(red + blue)}
        self.threats: list[list[int]] = []
        self.graphs: list[list[SpaceTime]] = [[] for _ in self.numbers]
        self.shots: list[list[Shot | None]] = []

    def note_graphs(self) -> None:
        """Adds the present threats, and the graphs of the living fighters."""
        self.threats.append([self._threat(number) for number in self.numbers])
        alive = self._sim.fighters["alive"][0]
        for graphs, number, threat in zip(self.graphs, self.numbers, self.threats[-1], strict=True):
            if not alive[number]:
                continue
            if self.side is None:
                graphs.append(pair_graph(self._sim, 0, number, threat))
            else:
                game = believed(self._sim, 0, number, threat)
                graphs.append(pair_graph(game, 0, self.side, 1 - self.side))

    def note_shots(self) -> None:
        """Adds the present shots."""
        if is_team(self._sim.parameters):
            pairs = [(number, self._threat(number)) for number in self.numbers]
            pairs = [shot for pair in pairs for shot in (pair, pair[::-1])]
        else:
            pairs = [(0, 1), (1, 0)]
        self.shots.append([self._shot(*pair) for pair in pairs])

    def _threat(self, number: int) -> int:
        """Returns the nearest living enemy, of a side's picture the nearest with a track."""
        if self.side is None:
            return nearest_enemy(self._sim, 0, number)
        own = self._sim.fighters
        contacts, places = self._sim.contacts, contact_places(self._sim)

        def order(enemy: int) -> tuple[bool, float]:
            place = (0, *places[number, enemy])
            away = (contacts[axis][place] - own[axis][0, number] for axis in "xy")
            return contacts["source"][place] not in TRACKS, float(np.hypot(*away))

        return min(self._enemies[number], key=order)

    def _shot(self, number: int, target: int) -> Shot | None:
        """Returns the shot of a fighter at an enemy; None if it cannot fire.

        An enemy's missiles are unknown to a side: it is assumed to have some.
        """
        is_own = number in self.numbers
        own = number if is_own else target
        flight, other = self._flight(own, number), self._flight(own, target)
        is_out = is_own and not self._sim.fighters["ammo"][0, number]
        if flight is None or other is None or is_out:
            return None
        kind = first_type_left(self._sim, number) if is_own else 0
        return Shot(flight, other, int(number >= sizes_of(self._sim.parameters)[0]), kind, target)

    def _flight(self, own: int, number: int) -> Flight | None:
        """Returns a fighter's flight, as `own` knows it; None if it is dead or without a track."""
        sim = self._sim
        if number in self.numbers:
            state, place = sim.fighters, (0, number)
            if not state["alive"][place]:
                return None
        else:
            state, place = sim.contacts, (0, *contact_places(sim)[own, number])
            if state["source"][place] not in TRACKS:
                return None
        return flight_of(state, place)
