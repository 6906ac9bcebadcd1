"""Orders over a seat and over a side: flown as by the simulation, refused whole and by name."""

from http import HTTPStatus

import pytest
from seats import NEAR, serve

from midrange_puffer import Simulation
from midrange_puffer.replays.replay import Replay
from midrange_puffer.serve.commands import RefusedError

TWOS = {"red_size": 2, "blue_size": 2}
ORDERS = {0: "commit free", 5: "crank hold", 9: "cold"}


def refused(words: str, status: HTTPStatus = HTTPStatus.BAD_REQUEST):
    return pytest.raises(RefusedError, match=words, check=lambda error: error.status == status)


def test_a_fight_by_orders_is_that_of_the_simulation_bit_for_bit(tmp_path):
    fights = serve(blue="ace", folder=tmp_path, count=1)
    sim = Simulation(1, 0, blue="ace", envelope=True, **NEAR)
    sim.start(0, 0)
    order, state = "", fights.state("red_0")
    while state["result"] is None:
        decision = state["decision"]
        order = ORDERS.get(decision, order)
        given = {"order": order} if decision in ORDERS else {}
        state = fights.command("red_0", {"decision": decision, **given})
        sim.step(sim.controls_of({0: order}))
        while sim.outcome[0] == 0 and not sim.fighters["alive"][0, 0]:
            sim.step()
    assert state["order"] == "cold hold"
    assert state["controls"] == {}
    replay = Replay.read(tmp_path / "fight_0000.replay")
    assert replay.hashes[-1] == sim.fight_hash()
    words = [(given.decision, given.words) for given in replay.orders]
    assert words == [(0, "commit free"), (5, "crank hold"), (9, "cold hold")]


@pytest.mark.parametrize("game", [{}, TWOS])
def test_tight_fires_inside_r_nez_whoever_flies_the_other_side(game):
    fights = serve(blue="straight", game=game)
    state = fights.command_side(
        0, {"decision": 0, "seats": {seat: {"order": "commit tight"} for seat in fights.seats}}
    )
    while state["seats"]["red_0"]["own"]["missiles"] == 6:
        seats = {seat: {} for seat in state["waiting_for"]}
        state = fights.command_side(0, {"decision": state["decision"], "seats": seats})
    assert state["seats"]["red_0"]["result"] is None


def test_controls_end_an_order_and_an_order_ends_controls():
    fights = serve()
    state = fights.command("red_0", {"decision": 0, "rudder": 0.5, "throttle": 0.25})
    assert (state["order"], state["controls"]) == (None, {"rudder": 0.5, "throttle": 0.25})
    state = fights.command("red_0", {"decision": 1, "order": "crank"})
    assert (state["order"], state["controls"]) == ("crank hold", {})
    assert fights.command("red_0", {"decision": 2})["order"] == "crank hold"
    state = fights.command("red_0", {"decision": 3, "rudder": -0.5})
    assert (state["order"], state["controls"]) == (None, {"rudder": -0.5, "throttle": 1})


def test_a_side_is_commanded_in_one_request():
    fights = serve(red="agent", blue="straight", game=TWOS)
    seats = {"red_0": {"order": "commit free 2"}, "red_1": {"rudder": 0.25}}
    state = fights.command_side(0, {"decision": 0, "seats": seats})
    assert (state["decision"], state["side"]) == (1, "red")
    assert state["seats"]["red_0"]["order"] == "commit free 2"
    assert state["seats"]["red_1"]["controls"]["rudder"] == 0.25
    assert state["seats"]["red_1"] == fights.state("red_1")
    state = fights.command_side(0, {"decision": 1, "seats": {"red_1": {"order": "regroup"}}})
    assert (state["decision"], state["waiting_for"]) == (1, ["red_0"])


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"order": "crnk free"}, "'crnk' is none of .*did you mean 'crank'"),
        ({"order": "free"}, "must have one of commit"),
        ({"order": "notch"}, "notch needs sensing = radar"),
        ({"order": "commit 3"}, "'3' is none of|no target 3"),
        ({"order": 5}, "order = 5: must be words"),
        ({"order": "crank " * 99}, "must be words such as"),
        ({"order": "\udcff"}, "is none of"),
        ({"order": "crank", "rudder": 1}, "order and rudder: an order is flown in place"),
        ({"ordr": "crank"}, "ordr: no such control; .*did you mean 'order'"),
    ],
)
def test_orders_for_what_is_not_there_are_refused_and_nothing_is_used(given, words):
    fights = serve(red="agent", blue="straight", game=TWOS)
    before = fights.side_state(0)
    with refused(words):
        fights.command("red_0", {"decision": 0, **given})
    with refused(words):
        fights.command_side(0, {"decision": 0, "seats": {"red_1": {"rudder": 1}, "red_0": given}})
    assert fights.side_state(0) == before


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({}, "seats = null: must be an object"),
        ({"seats": []}, "must be an object with seats"),
        ({"seats": {}}, "must be an object with seats"),
        ({"seats": {"blue_0": {}}}, "blue_0: must be one of red_0, red_1"),
        ({"seats": {"red_0": 5}}, "red_0 = 5: must be an object"),
        ({"seats": {"red_0": {"decision": 0}}}, "must be an object of controls, or an order"),
        ({"seat": {}}, "seat: must be decision or seats; did you mean 'seats'"),
    ],
)
def test_wrong_commands_to_a_side_are_refused(given, words):
    fights = serve(red="agent", blue="straight", game=TWOS)
    with refused(words):
        fights.command_side(0, {"decision": 0, **given})
    with refused("decision is missing"):
        fights.command_side(0, {"seats": {"red_0": {}}})
    assert fights.moment()["decision"] == 0
