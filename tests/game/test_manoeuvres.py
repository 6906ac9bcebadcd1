"""The words for what fighters do: those of the orders that they fly, and no flicker."""

import numpy as np
import pytest
from scenes import BLUE, RED, place

from midrange_puffer import Simulation
from midrange_puffer.commands import cli
from midrange_puffer.errors import UsageError
from midrange_puffer.game.manoeuvres import Held, Manoeuvre, in_words, manoeuvres
from midrange_puffer.game.paths import Paths
from midrange_puffer.replays.replay import Recorder


def words_of(sim: Simulation, orders: list[str], fighter: int = RED) -> list[str]:
    """Flies each order for 20 s; returns what the fighter is said to do, in sequence."""
    paths = Paths(sim)
    for order in orders:
        for _ in range(40):
            sim.step(sim.controls_of({fighter: order}))
            paths.note()
    return [in_words(held, paths.sizes) for held in manoeuvres(paths) if held.fighter == fighter]


def test_the_words_are_those_of_the_orders_that_are_flown():
    sim = Simulation()
    place(sim, blue={"x": 200_000, "y": 5_000.0})
    orders = ["commit", "crank", "beam", "cold", "commit"]
    words = words_of(sim, orders)
    expected = ["commit at blue", "crank right of blue", "beam from blue", "cold from blue"]
    assert words[:4] == expected
    assert words[-1] == "commit at blue"


def test_a_missile_that_is_evaded_is_named():
    sim = Simulation(missile_burn_time=120)
    place(sim, blue={"x": 200_000})
    for slot in range(4):
        sim.set_missile(
            0, slot, owner=BLUE, x=0, y=20_000 + 12_000 * slot, heading_deg=-90, speed=900
        )
    sim.set_fighter(0, RED, heading_deg=90)
    assert "beam from blue’s missile" in words_of(sim, ["beam"])


def test_notch_and_support_of_a_game_with_sensors():
    sim = Simulation(sensing="radar", radar_acquire_time=0)
    place(sim, blue={"x": 40_000, "y": 2_000.0})
    sim.step()
    sim.launch(0, RED)
    words = words_of(sim, ["support"])
    assert words[0] == "crank right of blue, supporting its missile"
    sim = Simulation(sensing="radar", radar_acquire_time=0, radar_notch_speed=0)
    place(sim, blue={"x": 40_000, "y": 2_000.0})
    sim.step()
    assert "notch against blue" in words_of(sim, ["notch"])


def test_a_wingman_supports_the_missile_of_its_ally():
    sim = Simulation(1, 3, "pair", "straight", red_size=2, blue_size=2, sensing="radar")
    paths = Paths(sim)
    while not sim.outcome[0]:
        sim.step()
        paths.note()
    supported = {(held.fighter, held.manoeuvre.supports) for held in manoeuvres(paths)}
    assert (0, 1) in supported or (1, 0) in supported
    held = Held(1, 0, 4, Manoeuvre("crank", 2, side="left", supports=0))
    assert in_words(held, (2, 2)) == "crank left of blue_0, supporting red_0"


def test_a_nose_that_swings_about_the_end_of_a_course_does_not_flicker():
    """The target's bearing swings to either side of 70 degrees, where `crank` ends."""
    sim = Simulation(order_crank_angle_deg=70)
    place(sim, blue={"x": 400_000, "y": 5_000.0})
    paths = Paths(sim)
    seen = []
    for decision in range(160):
        controls = sim.controls_of({RED: "crank"})
        if decision > 40:
            controls[0, RED, 0] = 0.25 if decision // 2 % 2 else -0.25
        sim.step(controls)
        paths.note()
        dx, dy = (sim.fighters[name][0, BLUE] - sim.fighters[name][0, RED] for name in "xy")
        off = np.degrees(np.arctan2(dy, dx) - sim.fighters["heading"][0, RED])
        seen.append(float(off))
    swings = np.array(seen[45:])
    assert swings.min() < 70 < swings.max()
    words = [held.manoeuvre.course for held in manoeuvres(paths) if held.fighter == RED]
    assert words == ["commit", "crank"]


def test_puffer_replay_prints_the_words_with_their_times(tmp_path, capsys):
    sim = Simulation(1, 2, "crank", "evader")
    recorder = Recorder(sim, seed=2, pilots=["crank", "evader"])
    paths = Paths(sim)
    while not sim.outcome[0]:
        sim.step()
        recorder.add(None)
        paths.note()
    path = tmp_path / "fight.replay"
    recorder.replay().write(path)
    assert cli.run("replay", [str(path), "--orders"]) == 0
    lines = capsys.readouterr().out.splitlines()[1:]
    assert len(lines) == len(manoeuvres(paths)) > 3
    times = [float(line.split()[0]) for line in lines]
    assert times == sorted(times)
    assert any("crank" in line and "red " in line for line in lines)
    with pytest.raises(UsageError, match="--orders: takes one replay, not 2"):
        cli.run("replay", [str(path), str(path), "--orders"])


@pytest.mark.parametrize("fighter", [0, 1])
def test_the_dead_do_nothing(fighter):
    sim = Simulation()
    sim.set_fighter(0, fighter, alive=False)
    paths = Paths(sim)
    for _ in range(10):
        sim.step()
        paths.note()
    assert {held.fighter for held in manoeuvres(paths)} <= {1 - fighter}
