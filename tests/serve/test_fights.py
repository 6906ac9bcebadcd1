"""Served fights: bits, turns of the seats, both clocks, controls, and the course of a series."""

import threading
from http import HTTPStatus

import numpy as np
import pytest
from seats import GAMES, NEAR, serve

from midrange_puffer import Simulation
from midrange_puffer.game.parameters import game_controls, resolve
from midrange_puffer.replays.replay import Replay
from midrange_puffer.serve.commands import RefusedError
from midrange_puffer.serve.fights import Fights


def wanted(decision: int, fighter: int, names: tuple[str, ...]) -> dict[str, float]:
    """Some controls that turn, climb, change the throttle and fire, for a decision."""
    wave = (decision // 7 + fighter) % 3 - 1
    values = {"rudder": wave / 2, "climb": -wave / 4, "throttle": 1 - decision % 5 / 8}
    values["systems"] = decision // 11 % 4
    return {name: values[name] for name in names if name in values} | {"fire": decision % 9 == 5}


def refused(status: HTTPStatus, words: str):
    return pytest.raises(RefusedError, match=words, check=lambda error: error.status == status)


@pytest.mark.parametrize("game", GAMES)
def test_a_served_fight_is_that_of_the_simulation_bit_for_bit(game, tmp_path):
    """With the same controls; and its replay flies to the same states again."""
    fights = serve(blue="ace", game=GAMES[game], folder=tmp_path, count=1)
    names = game_controls(resolve(GAMES[game], teams=True)).names
    sim = Simulation(1, 0, blue="ace", **NEAR | GAMES[game])
    sim.start(0, 0)
    in_team = "red_size" in GAMES[game]
    state = fights.state(next(iter(fights.seats)))
    controls = np.zeros((1, sim.core.fighters, len(names)), np.float32)
    while state["result"] is None:
        decision, controls[..., -1] = state["decision"], 0  # those of the dead stay
        if "systems" in names:
            controls[..., names.index("systems")] %= 2  # chaff is for one decision, too
        for seat in fights.state("red_0")["waiting_for"]:
            fighter = fights.seats[seat]
            given = wanted(decision, fighter, names)
            if in_team and given["fire"] and not fights.state(seat)["enemies"]:
                given["fire"] = 0
            state = fights.command(seat, {"decision": decision, **given})
            controls[0, fighter] = [given[name] for name in names]
            controls[0, fighter, -1] *= 1 + in_team  # the first of its enemies
        sim.step(controls)
        while (
            sim.outcome[0] == 0 and not sim.fighters["alive"][0, list(fights.seats.values())].any()
        ):
            controls[..., -1] = 0
            sim.step(controls)
    replay = Replay.read(tmp_path / "fight_0000.replay")
    assert replay.hashes[-1] == sim.fight_hash()
    assert replay.decisions * sim.parameters["substeps"] == sim.time[0]
    replay.verify()


def test_controls_that_are_not_given_stay_and_a_shot_is_for_one_decision():
    fights = serve()
    state = fights.command("red_0", {"decision": 0, "rudder": 0.5, "throttle": 0.25, "fire": True})
    assert state["controls"] == {"rudder": 0.5, "throttle": 0.25}
    assert state["own"]["missiles"] == 5
    for decision in range(1, 20):
        state = fights.command("red_0", {"decision": decision})
    assert state["own"]["missiles"] == 5
    assert state["own"]["rudder"] == pytest.approx(0.5)
    assert state["own"]["throttle"] == pytest.approx(0.25)
    state = fights.command("red_0", {"decision": 20, "rudder": -1})
    assert state["controls"] == {"rudder": -1, "throttle": 0.25}


def test_time_stands_until_every_living_seat_has_controls():
    fights = serve("agent", "agent", game={"red_size": 2})
    assert list(fights.seats) == ["red_0", "red_1", "blue_0"]
    state = fights.command("red_1", {"decision": 0})
    assert (state["decision"], state["waiting_for"]) == (0, ["red_0", "blue_0"])
    assert fights.command("blue_0", {"decision": 0})["waiting_for"] == ["red_0"]
    assert fights.command("red_0", {"decision": 0})["decision"] == 1
    fights._session.sim.set_fighter(0, 0, alive=False)
    with refused(HTTPStatus.CONFLICT, "red_0 is dead"):
        fights.command("red_0", {"decision": 1})
    fights.command("blue_0", {"decision": 1})
    assert fights.command("red_1", {"decision": 1})["decision"] == 2


def test_the_second_controls_for_a_decision_are_refused():
    """As when two clients fly one seat, or one repeats a request whose answer was lost."""
    fights = serve()
    fights.command("red_0", {"decision": 0, "rudder": 1})
    for _ in range(2):
        with refused(
            HTTPStatus.CONFLICT, "has controls for decision 0, and the fight is at decision 1"
        ):
            fights.command("red_0", {"decision": 0, "rudder": -1})
    assert fights.state("red_0")["controls"]["rudder"] == 1
    fights = serve("agent", "agent")
    fights.command("red_0", {"decision": 0, "rudder": 1})
    with refused(HTTPStatus.CONFLICT, "does another client fly red_0"):
        fights.command("red_0", {"decision": 0, "rudder": -1})


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({}, "decision is missing: must be that of the seat's last state, now 0"),
        ({"decision": 1}, "decision = 1: must be 0"),
        ({"decision": None}, "decision = null"),
        ({"decision": "0"}, "decision = 0: must be"),
        ({"decision": True}, "decision = true"),
        ({"rudr": 1}, "rudr: no such control; there are decision, rudder, throttle, fire, order"),
        ({"rudr": 1}, "mean 'rudder'"),
        ({"climb": 1}, "climb: no such control"),
        ({"rudder": 1.01}, "rudder = 1.01: must be a number from -1 to 1"),
        ({"throttle": -0.1}, "throttle = -0.1: must be a number from 0 to 1"),
        ({"rudder": float("nan")}, "rudder = NaN"),
        ({"rudder": True}, "rudder = true"),
        ({"rudder": [1]}, r"rudder = \[1\]"),
        ({"rudder": 10**400}, "rudder = 1000"),
        ({"fire": 2}, "fire = 2: must be a whole number from 0 to 1"),
        ({"fire": 0.5}, "fire = 0.5: must be"),
    ],
)  # fmt: skip
def test_wrong_controls_are_refused_whole(given, words):
    fights = serve()
    given = (
        {"rudder": 0.25} | ({"decision": 0} if given and "decision" not in given else {}) | given
    )
    with refused(HTTPStatus.BAD_REQUEST, words):
        fights.command("red_0", given)
    state = fights.state("red_0")
    assert (state["decision"], state["controls"]["rudder"]) == (0, 0)


def test_the_shots_of_a_team_are_counted_in_the_list_of_enemies():
    """A shot at each enemy of the list flies at that enemy."""
    for place in range(3):
        fights = serve(game=GAMES["teams"])
        enemy = fights.state("red_0")["enemies"][place]
        fights.command("red_1", {"decision": 0})
        fights.command("red_0", {"decision": 0, "fire": place + 1})
        sim = fights._session.sim
        [slot] = np.flatnonzero(sim.missiles["active"][0])
        target = sim.missiles["target"][0, slot]
        assert (
            np.hypot(
                sim.fighters["x"][0, target] - enemy["x_m"],
                sim.fighters["y"][0, target] - enemy["y_m"],
            )
            < 500
        )  # it has flown for one decision
    with refused(HTTPStatus.BAD_REQUEST, "fire = 4: must be a whole number from 0 to 3"):
        fights.command("red_0", {"decision": 1, "fire": 4})


def end(fights: Fights) -> dict:
    state = fights.state("red_0")
    while state["result"] is None:
        state = fights.command("red_0", {"decision": state["decision"]})
    return state


def test_a_series_goes_from_start_to_start(tmp_path):
    lines = []
    fights = serve(count=3, folder=tmp_path, game={"time_limit": 2})
    fights._report = lines.append
    assert fights.begin(0)["fight"] == 0
    state = end(fights)
    assert (state["result"], state["waiting_for"]) == ("draw", [])
    assert state["words"] == "The fight is over after 2 s. It is a draw."
    with refused(HTTPStatus.CONFLICT, 'fight 0 is over; POST /fights {"fight": 1} begins the next'):
        fights.command("red_0", {"decision": state["decision"]})
    for wrong in (2, -1, None, True, "1"):
        with refused(HTTPStatus.BAD_REQUEST, "fight = .*: must be a whole number from 0 to 1"):
            fights.begin(wrong)
    fights.begin(1)
    fights.command("red_0", {"decision": 0})
    assert fights.begin(1)["decision"] == 1, "it has begun: nothing happens"
    fights.begin(2)  # gives up the open one
    end(fights)
    fights.run()  # returns: the last fight is over
    with refused(HTTPStatus.CONFLICT, "fight 2 was the last of 3"):
        fights.begin(3)
    assert fights.fight()["results"] == {"draw": 2, "open": 1}
    assert lines == [
        "fight 0: draw by time after 2.0 s",
        "fight 1: open after 0.5 s",
        "fight 2: draw by time after 2.0 s",
    ]
    assert fights.summary == "red won 0, blue 0, draws 2; red's score 0.500"
    starts = [Replay.read(path) for path in sorted(tmp_path.iterdir())]
    assert [replay.engagement for replay in starts] == [0, 1, 2]
    for replay in starts:
        replay.verify()


def test_an_open_fight_of_two_sides_is_not_given_up():
    fights = serve("agent", "agent")
    with refused(HTTPStatus.CONFLICT, "clients fly both sides"):
        fights.begin(1)


def test_time_stands_for_the_dead_too():
    """When all seats are dead, the fight is flown to its end."""
    fights = serve(game={"blue_size": 2})
    fights._session.sim.set_fighter(0, 1, alive=False)
    fights.command("red_0", {"decision": 0, "fire": 1})
    fights._session.sim.set_fighter(0, 0, alive=False)  # its missile may still hit
    fights._session.step()
    assert fights.state("red_0")["words"] == "You are dead. The fight goes on."


def test_a_request_that_comes_after_the_end_flies_nothing():
    fights = serve()
    fights.command("red_0", {"decision": 0, "rudder": 1})
    fights.close()
    summary = fights.summary
    with refused(HTTPStatus.CONFLICT, "no longer served"):
        fights.command("red_0", {"decision": 1})
    with refused(HTTPStatus.CONFLICT, "no longer served"):
        fights.begin(1)
    assert fights.moment()["decision"] == 1
    assert fights.summary == summary


class Running:
    """Fights whose clock runs in a thread."""

    def __init__(self, fights: Fights) -> None:
        self.fights, self.error = fights, None
        self.thread = threading.Thread(target=self._run, daemon=True)

    def _run(self) -> None:
        try:
            self.fights.run()
        except Exception as error:
            self.error = error

    def __enter__(self) -> "Running":
        self.thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.fights.close()
        self.thread.join(60)
        assert not self.thread.is_alive()


def test_a_running_clock_begins_when_all_seats_have_had_controls_and_then_runs():
    fights = serve("agent", "agent", clock=100.0, count=1, game={"time_limit": 20})
    with Running(fights) as running:
        assert fights.state("red_0", after=0, wait=0.01)["decision"] == 0
        fights.command("red_0", {"decision": 0, "rudder": 1})
        assert fights.state("red_0")["waiting_for"] == ["blue_0"]
        fights.command("blue_0", {"decision": 0})
        state = fights.state("red_0")
        while state["result"] is None:
            state = fights.state("red_0", after=state["decision"], wait=60)
        assert (state["decision"], state["controls"]["rudder"]) == (40, 1)
        running.thread.join(60)
        assert not running.thread.is_alive(), "the last fight is over"


def test_controls_may_come_late_to_a_running_clock_but_not_twice_for_one_state():
    fights = serve(clock=100.0, game={"time_limit": 3600})
    with Running(fights):
        fights.command("red_0", {"decision": 0})
        seen = fights.state("red_0", after=0, wait=60)["decision"]
        now = fights.state("red_0", after=seen, wait=60)["decision"]
        fights.command("red_0", {"decision": seen, "rudder": 0.5})
        with refused(HTTPStatus.CONFLICT, f"red_0 has controls for decision {seen}"):
            fights.command("red_0", {"decision": seen, "rudder": -0.5})
        fights.command("red_0", {"decision": now, "rudder": 1})


def test_an_error_ends_the_series():
    fights = serve()
    with Running(fights) as running:
        fights.fail(OSError("the disk is full"))
        running.thread.join(60)
    assert str(running.error) == "the disk is full"
