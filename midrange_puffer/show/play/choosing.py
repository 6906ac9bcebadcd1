"""Which fighter or target comes next, where a human asks for another one in teams."""

from midrange_puffer.game.targets import enemies_of
from midrange_puffer.replays.session import Session


def next_fighter(session: Session, fighter: int) -> int:
    """The next living fighter of its side, after the last one the first; itself if none lives."""
    alive = session.sim.fighters["alive"][0]
    living = [number for number in session.side_of(fighter) if alive[number]]
    after = [number for number in living if number > fighter]
    return next(iter((*after, *living)), fighter)


def next_target(session: Session, fighter: int) -> int | None:
    """The next living enemy by range, after the farthest the nearest; None if none lives."""
    order = enemies_of(session.sim, fighter).tolist()
    if not order:
        return None
    return order[(order.index(session.target(fighter)) + 1) % len(order)]
