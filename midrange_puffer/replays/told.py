"""A fight told in words: the orders that were given, and what each fighter does."""

from dataclasses import dataclass

from midrange_puffer.game.manoeuvres import in_words, manoeuvres
from midrange_puffer.game.orders import NONE
from midrange_puffer.game.paths import Paths
from midrange_puffer.replays.replay import Replay


@dataclass(frozen=True)
class Told:
    """A sentence about a fighter.

    Attributes:
        start: the time from which it is true [s].
        fighter: the fighter's number.
        ordered: True for an order, False for what the fighter does.
        words: such as "ordered crank free", "crank left of blue_1, supporting red_0".
    """

    start: float
    fighter: int
    ordered: bool
    words: str


def tell(replay: Replay, paths: Paths) -> list[Told]:
    """Returns what each fighter was ordered and did, in the order of the times.

    Args:
        replay: of the fight.
        paths: of the fight, to its end.
    """
    decision = replay.duration / max(replay.decisions, 1)
    orders = [
        Told(given.decision * decision, given.fighter, True, f"ordered {given.words}")
        for given in replay.orders
        if given.words != NONE
    ]
    done = [
        Told(held.start, held.fighter, False, in_words(held, paths.sizes))
        for held in manoeuvres(paths)
    ]
    return sorted(orders + done, key=lambda told: (told.start, told.fighter, not told.ordered))
