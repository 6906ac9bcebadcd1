"""Odd calls change nothing, or leave numbers that are finite: a few sequences of each kind."""

import pytest
from hostile.callees import CALLEES
from hostile.calls import Caller
from hostile.outcome import CHANGED

from midrange_puffer import Simulation

pytestmark = pytest.mark.usefixtures("one_map")  # games are random, and an envelope takes seconds


@pytest.mark.parametrize("name", CALLEES)
def test_odd_calls_do_no_harm(name):
    caller = Caller(name)
    outcomes = [caller.try_one(seed) for seed in range(8)]
    assert [outcome for outcome in outcomes if outcome.is_finding] == []


def test_a_refusal_that_changes_something_is_found_out(monkeypatch):
    launch = Simulation.launch

    def launch_and_refuse(self: Simulation, env: int, fighter: int) -> None:
        launch(self, 0, 0)
        raise ValueError("too late")

    monkeypatch.setattr(Simulation, "launch", launch_and_refuse)
    caller = Caller("simulation")
    assert CHANGED in {caller.try_one(seed).result for seed in range(8)}
