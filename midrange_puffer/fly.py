"""One engagement of pilots and policies, decision by decision: for who wants to look at it."""

from collections.abc import Iterator

from midrange_puffer.match import Contestant
from midrange_puffer.session import Session
from midrange_puffer.sim import Simulation


def fly(
    red: Contestant,
    blue: Contestant,
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
    session = Session((red, blue), seed=seed, greedy=greedy, **parameters)
    yield session.sim
    while not session.over:
        session.step()
        yield session.sim
