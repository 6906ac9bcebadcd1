"""Which missiles come at the fighters that humans fly, and whether an escape was open in time."""

from midrange_puffer.game.pair import pair_graph
from midrange_puffer.game.parameters import RADAR
from midrange_puffer.replays.session import Session
from midrange_puffer.show.play.debrief import Look
from midrange_puffer.show.play.threats import Threat, find_threats, heard_threats
from midrange_puffer.show.view.moment import moment

INTERVAL = 0.2  # s of the fight, from one look at the space-time graph to the next


class Lookout:
    """Looks at each human's space-time graph now and then.

    It is the true one, with sensors, too: for the debriefing. Then the receiver warns.

    Args:
        session: With the humans.

    Attributes:
        looks: By side, in order of time, while missiles were after the fighter that is flown.
        threats: By side, the missiles that a human is warned of, the most pressing first.
    """

    def __init__(self, session: Session) -> None:
        self._session = session
        self.looks: dict[int, list[Look]] = {side: [] for side in session.sides}
        self.threats: dict[int, list[Threat]] = {side: [] for side in session.sides}
        self._looked = -INTERVAL

    def look(self) -> None:
        """Look, if it is time to."""
        sim, paths = self._session.sim, self._session.paths
        if paths.time - self._looked < INTERVAL:
            return
        self._looked = paths.time
        for side, fighter in self._session.sides.items():
            graph = pair_graph(sim, 0, fighter)
            inbound = [one.escape_miss for one in graph.missiles if one.target == graph.seat]
            self.threats[side] = (
                heard_threats(moment(paths, side=side), fighter)
                if sim.parameters["sensing"] == RADAR
                else find_threats(sim, graph, fighter)
            )
            if inbound:
                is_open = any(all(misses[way] > 0 for misses in inbound) for way in (0, 1))
                self.looks[side].append(Look(paths.time, is_open))

    def forget(self, fighter: int) -> None:
        """Begin anew for the human who has just taken over a fighter."""
        for side, flown in self._session.sides.items():
            if flown == fighter:
                self.looks[side], self.threats[side] = [], []

    def cut_back(self) -> None:
        """Forget what is later than the fight, which has been taken back; the next look is new."""
        now = self._session.paths.time
        self._looked = now - INTERVAL
        for side, looks in self.looks.items():
            self.looks[side] = [look for look in looks if look.time <= now]
            self.threats[side] = []
