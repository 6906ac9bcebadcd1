"""Odd calls change nothing, or leave numbers that are finite: a few sequences of each kind."""

import pytest
from hostile.callees import CALLEES
from hostile.calls import Caller


@pytest.mark.parametrize("name", CALLEES)
def test_odd_calls_do_no_harm(name):
    caller = Caller(name)
    outcomes = [caller.try_one(seed) for seed in range(8)]
    assert [outcome for outcome in outcomes if outcome.is_finding] == []
