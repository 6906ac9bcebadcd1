"""The information firewall: what a side cannot know changes nothing that it sees or does.

Two engagements are the same but for such things. Red sees the same in both, and its pilot and its
missiles do the same, bit for bit, until a sensor shows the difference.
"""

from collections.abc import Callable
from math import atan2, degrees

import numpy as np
import pytest
from hypothesis import Phase, assume, given, settings
from hypothesis import strategies as st
from scenes import BLUE, RED, fighter

from midrange_puffer import Simulation, features_of
from midrange_puffer.game.parameters import pilots_of, resolve

# The columns of the sensors' features; those of the systems follow them.
COLUMNS = {
    dimensions: {feature.name: column for column, feature in enumerate(features_of(observation))}
    for dimensions, observation in ((2, "radar"), (3, "radar_height"))
}
COMMANDS = ("rudder_command", "climb_command", "throttle_command", "fire")
CARTRIDGES = 8
BODY = ("x", "y", "z", "c", "s", "u", "v", "rudder")
View = Callable[[Simulation], np.ndarray]
PILOTS = pilots_of(resolve({"sensing": "radar"}))
FIGHTING = [name for name in PILOTS if name not in ("straight", "weave")]

fights = st.fixed_dictionaries(
    {
        "seed": st.integers(0, 2**31),
        "red": st.sampled_from(FIGHTING),
        "blue": st.sampled_from(FIGHTING),
        "decisions": st.integers(1, 250),
        "dimensions": st.sampled_from((2, 3)),
        "noise": st.sampled_from((0, 2)),
        "jammer": st.sampled_from((0, 20_000)),
        "systems": st.booleans(),
    }
)


def column(sim: Simulation, name: str) -> int:
    return COLUMNS[sim.parameters["dimensions"]][name]


def red_view(sim: Simulation) -> np.ndarray:
    return sim.observe()[0, RED]


def twins(fight: dict, sensing: str = "radar") -> tuple[Simulation, Simulation]:
    """The same engagement twice, in its middle: a fight that would be over is flown half as far."""
    settings = {"sensing": sensing, "start_range_min": 15_000, "start_range_max": 60_000}
    settings["dimensions"] = fight["dimensions"]
    if sensing == "radar":
        settings["radar_noise_bearing_deg"] = fight["noise"]
        settings["radar_noise_range"] = 100 * fight["noise"]
        settings["blue_jammer"] = fight["jammer"]
        if fight["systems"]:
            settings |= {"emission_control": "on", "chaff": CARTRIDGES, "chaff_chance": 0.9}
    one, other = (
        Simulation(1, fight["seed"], red=fight["red"], blue=fight["blue"], **settings)
        for _ in range(2)
    )
    decisions = fight["decisions"]
    for flown in range(decisions):
        one.step()
        if one.outcome[0] != 0:
            one.start()
            decisions = flown // 2
            break
    while one.time[0] < decisions * one.parameters["substeps"]:
        one.step()
    other.restore(one.snapshot())
    return one, other


def lost_twins(fight: dict, data: st.DataObject) -> tuple[Simulation, Simulation]:
    """The same engagement twice, but for where blue is, which red has just lost out of sight.

    Blue has no jammer, since red's receiver would hear it.
    """
    one, other = twins(fight | {"jammer": 0})
    move_blue(one, data)
    one.step()
    assume(one.outcome[0] == 0)
    assume(sees_nothing_of_blue(one))
    other.restore(one.snapshot())
    move_blue(other, data)
    assume(sees_nothing_of_blue(other))
    return one, other


def sees_nothing_of_blue(sim: Simulation) -> bool:
    """Neither its radar nor its receiver nor a seeker of its missiles shows it where blue is."""
    shows = [column(sim, n) for n in ("track_live", "receiver_searched", "receiver_tracked")]
    active = sim.core.read("missile")["active"] == 1
    return not red_view(sim)[shows].any() and not (sim.beliefs["locked"][active] == 1).any()


def change_what_is_hidden(sim: Simulation, fight: dict, data: st.DataObject) -> None:
    """Changes blue's ammunition, chaff, controls, and missiles without a lock."""
    sim.set_fighter(0, BLUE, ammo=data.draw(st.integers(0, 6), "ammo"))
    if fight["systems"]:
        left = int(sim.systems["chaff"][0, BLUE])
        # A pilot that has chaff may drop it in the next decision, and one without does not.
        chaff = data.draw(st.integers(min(left, 1), CARTRIDGES if left else 0), "chaff")
        sim.set_fighter(0, BLUE, chaff=chaff)
        if sees_nothing_of_blue(sim):
            sim.set_fighter(0, BLUE, silent=data.draw(st.booleans(), "silent"))
    slots = sim.core.read("missile")
    free = np.flatnonzero(slots["active"][0] == 0)
    if len(free) and data.draw(st.booleans(), "another missile"):
        place = {name: data.draw(st.integers(-60_000, 60_000), name) for name in "xy"}
        heading = data.draw(st.integers(-180, 180), "heading")
        if fight["dimensions"] == 3:
            place["z"] = data.draw(st.integers(500, 15_000), "z")
        sim.set_missile(0, int(free[-1]), owner=BLUE, heading_deg=heading, speed=600, **place)


def move_blue(sim: Simulation, data: st.DataObject) -> None:
    """Somewhere behind red, flying away: where red's sensors show nothing of it, now or soon."""
    red = fighter(sim, RED)
    nose = degrees(atan2(red["vy"], red["vx"]))
    back = data.draw(st.integers(20_000, 70_000), "distance")
    x = red["x"] - back * red["vx"] / red["speed"]
    y = red["y"] - back * red["vy"] / red["speed"]
    high = {}
    if sim.parameters["dimensions"] == 3:
        high = {"z": data.draw(st.integers(1_000, 15_000), "z"), "climb_deg": 0}
    sim.set_fighter(0, BLUE, x=x, y=y, heading_deg=nose + 180, speed=300, **high)


def assert_red_is_alike(one: Simulation, other: Simulation, view: View) -> None:
    """Compares what red sees; then its pilot's commands and its missiles' flight in a decision."""
    assert np.array_equal(view(one), view(other))
    flown = []
    for sim in (one, other):
        before, seen = sim.core.read("missile"), sim.beliefs
        blind = (before["active"] == 1) & (before["owner"] == RED)
        blind &= ~((seen["locked"] == 1) & (seen["unseen"] == 0))
        sim.step()
        after, fighters = sim.core.read("missile"), sim.core.read("fighter")
        commands = [fighters[name][0, RED] for name in COMMANDS if name in fighters]
        # A missile may have hit or be lost by what is true; those in both fly alike.
        blind &= after["active"] == 1
        bodies = {name: after[name][0] for name in BODY if name in after}
        flown.append((commands, blind[0], bodies))
    (commands, blind, bodies), (commands_2, blind_2, bodies_2) = flown
    assert commands == commands_2
    both = blind & blind_2
    for name in bodies:
        assert np.array_equal(bodies[name][both], bodies_2[name][both]), name


@given(fights, st.data())
@settings(max_examples=150)
def test_never_known_state_changes_nothing(fight, data):
    one, other = twins(fight)
    change_what_is_hidden(other, fight, data)
    assert_red_is_alike(one, other, red_view)


@given(fights, st.data())
@settings(max_examples=150)
def test_the_place_of_an_unseen_enemy_changes_nothing(fight, data):
    one, other = lost_twins(fight, data)
    change_what_is_hidden(other, fight, data)
    assert_red_is_alike(one, other, red_view)


def from_truth(sim: Simulation) -> np.ndarray:
    """A leak: what is remembered of the enemy's range is taken from where the enemy is."""
    view, fighters = red_view(sim).copy(), sim.fighters
    if view[column(sim, "track_memory")]:
        dx, dy = (fighters[name][0, BLUE] - fighters[name][0, RED] for name in "xy")
        view[column(sim, "enemy_range")] = np.hypot(dx, dy) / 100_000
    return view


def by_ammunition(sim: Simulation) -> np.ndarray:
    """A leak: a feature tells what the enemy has left."""
    view = red_view(sim).copy()
    view[column(sim, "seeker_3_present")] += sim.fighters["ammo"][0, BLUE]
    return view


@pytest.mark.parametrize(
    ("leak", "test"),
    [(from_truth, "moved"), (by_ammunition, "hidden")],
    ids=["the contact is the truth", "a feature of the state"],
)
def test_a_leak_is_caught(leak, test):
    """The same examples, with a view that knows too much."""

    @given(fights, st.data())
    @settings(max_examples=400, database=None, phases=[Phase.generate])  # none is shrunk
    def check(fight: dict, data: st.DataObject) -> None:
        if test == "moved":
            one, other = lost_twins(fight, data)
        else:
            one, other = twins(fight)
            change_what_is_hidden(other, fight, data)
        assert_red_is_alike(one, other, leak)

    with pytest.raises(AssertionError):
        check()


def test_a_pilot_that_reads_the_full_state_is_caught():
    """Where both see everything, the enemy's ammunition is seen: the check would tell of it."""
    fight = {"seed": 0, "red": "ace", "blue": "ace", "decisions": 20, "dimensions": 2}
    one, other = twins(fight, "full")
    other.set_fighter(0, BLUE, ammo=0)
    assert not np.array_equal(red_view(one), red_view(other))
