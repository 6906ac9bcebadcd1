"""Orders in replays, and fights told in words."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from scenes import RED, place

from midrange_puffer import Simulation
from midrange_puffer.contest.match import Fight, play
from midrange_puffer.game.manoeuvres import Doings, in_words, manoeuvres
from midrange_puffer.game.observation import spaces_of
from midrange_puffer.game.orders import as_commands, carry_out, heads_of, orders_in, parse_order
from midrange_puffer.game.parameters import resolve
from midrange_puffer.game.paths import Paths
from midrange_puffer.policies.networks import make_policy
from midrange_puffer.replays.format import HEADER, Ordered, to_bytes
from midrange_puffer.replays.recorder import FightRecorder
from midrange_puffer.replays.replay import Recorder, Replay, ReplayError
from midrange_puffer.replays.told import tell
from midrange_puffer.show.play.debrief import debrief

SEQUENCE = {0: "commit hold", 6: "crank free", 20: "cold tight"}  # decision -> order of red


def flown() -> Replay:
    """A fight of 30 decisions in which red follows `SEQUENCE`, and blue flies straight."""
    sim = Simulation(seed=1, envelope=True, blue="straight")
    recorder, order = Recorder(sim, seed=1, pilots=("agent", "straight")), ""
    for decision in range(30):
        order = SEQUENCE.get(decision, order)
        commands = np.zeros((1, 2, 3), np.float32)
        commands[:, 0] = as_commands(np.array([parse_order(order, heads_of(sim.parameters))]))
        orders = orders_in(commands)[0]
        carry_out(sim.core, commands)
        sim.step(commands)
        recorder.add(commands, orders)
    return recorder.replay()


def test_a_file_has_the_orders_and_plays_without_them():
    replay = flown()
    expected = tuple(Ordered(decision, 0, words) for decision, words in SEQUENCE.items())
    assert replay.orders == expected
    again = Replay.from_bytes(replay.to_bytes())
    assert again.orders == expected
    again.verify()
    bare = replace(replay, orders=())
    assert b'"orders"' not in bare.to_bytes()
    assert Replay.from_bytes(bare.to_bytes()).orders == ()
    assert np.array_equal(again.controls, replay.controls)


def test_a_rewound_recording_drops_the_later_orders():
    sim = Simulation(seed=1)
    recorder = Recorder(sim, seed=1, pilots=("agent", "agent"))
    for order in (0, 0, 1, 2, 2):
        sim.step(np.zeros((1, 2, 3)))
        recorder.add(None, np.array([[order, 0, 0], [-1, -1, -1]]))
    recorder.truncate(3)
    recorder.add(None)
    words = [(given.decision, given.words) for given in recorder.replay().orders]
    assert words == [(0, "commit hold"), (2, "crank hold"), (3, "")]


@pytest.mark.parametrize(
    ("orders", "message"),
    [
        ({}, "orders that are no list"),
        ([[0, 0]], r"\[0, 0\], not \[decision, fighter, words\]"),
        ([[True, 0, "cold"]], "not .decision"),
        ([[30, 0, "cold"]], "out of turn"),
        ([[5, 0, "cold"], [4, 0, "crank"]], "out of turn"),
        ([[0, 2, "cold"]], "of no fighter"),
        ([[0, 0, "crnk"]], "did you mean .crank"),
        ([[0, 0, "notch"]], "notch needs sensing = radar"),
        ([[0, 0, "x" * 10**6]], r"^.{,300}$"),
    ],
)
def test_a_file_with_orders_of_no_such_fight_is_refused(orders, message):
    replay = flown()
    header = {name: getattr(replay, name) for name in HEADER if name != "parameters_hash"}
    data = to_bytes(header, replay.controls, replay.hashes, orders or {"a": 1})
    with pytest.raises(ReplayError, match=message):
        Replay.from_bytes(data)


def test_a_match_records_what_a_policy_ordered():
    policy = make_policy(spaces_of("default", "orders"), {"hidden_size": 16}).eval()
    with torch.no_grad():
        policy.actor.weight.zero_()
        policy.actor.bias.zero_()
        policy.actor.bias[[1, 4 + 2]] = 100  # crank free
    parameters = resolve({})
    recorder = FightRecorder(("orders", None), 3, 0, parameters, {})
    [records] = play([Fight(policy, "weave")], 3, parameters=parameters, watch=recorder)
    replay = recorder.replay(records[1])
    assert replay.orders == (Ordered(0, 0, "crank free"),)
    told = tell(replay, replay.paths())
    assert told[0].words == "ordered crank free"
    assert any(one.words.startswith("crank") and one.fighter == 0 for one in told)
    assert [one.start for one in told] == sorted(one.start for one in told)


def test_fighters_do_the_same_while_their_paths_grow_and_are_cut_back():
    sim = Simulation(1, 2, "ace", "evader")
    paths = Paths(sim)
    doings = Doings(paths)
    for decision in range(120):
        if decision == 60:
            mark = sim.snapshot()
        sim.step()
        paths.note()
        doings.words(paths.time)
    sim.restore(mark)
    paths.cut_back()
    assert len(doings.words(paths.time)) == 2
    while not sim.outcome[0]:
        sim.step()
        paths.note()
        doings.words(paths.time)
    for fighter in range(2):
        whole = [held for held in manoeuvres(paths) if held.fighter == fighter]
        assert doings.of_fighters()[fighter] == whole
        living = [h for h in whole if h.start <= (paths.fighters[fighter].died or paths.time)]
        middle = living[len(living) // 2]
        assert doings.words(middle.start)[fighter] == in_words(middle, paths.sizes)
    dead = [path.died is not None for path in paths.fighters]
    assert [words == "" for words in doings.words(paths.time)] == dead


def test_a_debriefing_tells_what_both_did():
    sim = Simulation(1, 5, "straight", "ace")
    place(sim, blue={"x": 40_000})
    paths = Paths(sim)
    while not sim.outcome[0]:
        sim.step()
        paths.note()
    lines = debrief(sim, paths, RED, [])
    assert "You at last: commit at blue." in lines
    assert any(line.startswith("The enemy at last: commit at red") for line in lines)
