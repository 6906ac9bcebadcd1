"""Seats in missions: where the line is, and the transport, which flies itself."""

import math
from http import HTTPStatus

import pytest
from seats import serve

from midrange_puffer.serve.commands import RefusedError

LINE = {"mission": "line", "attacker": "red", "start_line_depth": 20_000}
ESCORT = {"mission": "escort", "attacker": "red", "red_size": 2, "time_limit": 480}


@pytest.mark.parametrize("more", [{}, {"sensing": "radar"}, {"dimensions": 3}])
def test_both_sides_know_their_part_and_the_line(more):
    fights = serve(blue="agent", game=LINE | more)
    fights.command("red_0", {"decision": 0, "rudder": 1})
    fights.command("blue_0", {"decision": 0})
    line = fights._session.paths.line
    for seat, attacks in (("red_0", True), ("blue_0", False)):
        state = fights.state(seat)
        own, mission = state["own"], state["mission"]
        foot = line.foot(own["x_m"], own["y_m"])
        course = math.radians(own["heading_deg"] + mission["bearing_deg"])
        reached = [
            own["x_m"] + mission["line_m"] * math.cos(course),
            own["y_m"] + mission["line_m"] * math.sin(course),
        ]
        assert mission["attacks"] is attacks
        assert reached == pytest.approx(foot, abs=5)
        assert ("attacks" if attacks else "defends") in state["words"]


def test_a_fight_has_no_mission():
    assert "mission" not in serve().state("red_0")


def test_time_does_not_wait_for_the_transport_which_takes_no_controls():
    fights = serve(blue="agent", game=ESCORT)
    state = fights.state("red_1")
    assert (state["mission"], state["waiting_for"]) == (None, ["red_0", "blue_0"])
    assert state["words"] == "You are the transport, which flies itself."
    with pytest.raises(RefusedError, match="red_1 is the transport") as refused:
        fights.command("red_1", {"decision": 0, "rudder": 1})
    assert refused.value.status == HTTPStatus.CONFLICT
    fights.command("red_0", {"decision": 0})
    assert fights.command("blue_0", {"decision": 0})["decision"] == 1
    for seat in ("red_0", "blue_0"):
        own, mission = (fights.state(seat)[part] for part in ("own", "mission"))
        transport = fights.state("red_1")["own"]
        away = [transport[axis] - own[axis] for axis in ("x_m", "y_m")]
        assert mission["transport_range_m"] == pytest.approx(math.hypot(*away), abs=5)
