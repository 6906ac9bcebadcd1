"""A fight that several tests look at."""

import pytest

from midrange_puffer.replays.session import Session


@pytest.fixture(scope="session")
def notch_fight() -> Session:
    """One with sensors, flown to its end, with contacts and guidance of all kinds."""
    session = Session(("shooter", "notcher"), seed=1, sensing="radar")
    while not session.over:
        session.step()
    return session
