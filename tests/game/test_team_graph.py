"""A pair out of a fight of teams: the graph is that of one against one."""

import dataclasses

import numpy as np
import pytest
from team_fights import sized

from midrange_puffer import Simulation
from midrange_puffer.game.spacetime import SpaceTime, nearest_enemy, pair_graph, pair_of, spacetime

FIGHT = {"start_range_min": 20_000, "start_range_max": 30_000}


def with_an_idle_one(one: Simulation, side: int) -> tuple[Simulation, tuple[int, int]]:
    """Adds a second fighter of a side, far away and first of it; returns the fight and the two."""
    sizes = {"red_size": 2 - side, "blue_size": 1 + side}
    two = Simulation(1, **one.parameters | sizes)
    numbers = (0, 2) if side else (1, 2)
    idle = 1 if side else 0
    two.set_fighter(0, idle, x=900_000, y=900_000, heading_deg=0, speed=200)
    for seat, number in enumerate(numbers):
        two.core.set_fighter(0, number, one.core.get_fighter(0, seat))
    # In other slots, so that theirs are told apart.
    for slot in np.flatnonzero(one.missiles["active"][0]):
        state = one.core.get_missile(0, slot)
        seats = {"owner": numbers[state["owner"]], "target": numbers[state["target"]]}
        two.core.set_missile(0, int(slot) + 4, state | seats)
    return two, numbers


def assert_same(one: SpaceTime, other: SpaceTime, slots: int = 0) -> None:
    """Checks that two graphs are the same but for the missiles' slots, which differ by `slots`."""
    assert one.seat == other.seat
    for name in ("times", "own", "escapes", "fronts", "shots", "escape_miss"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name))
    assert len(one.missiles) == len(other.missiles)
    for its, others in zip(one.missiles, other.missiles, strict=True):
        its = dataclasses.replace(its, slot=its.slot + slots)
        for name, value in vars(its).items():
            np.testing.assert_array_equal(value, getattr(others, name), err_msg=name)


@pytest.mark.parametrize("idle_side", [0, 1])
@pytest.mark.parametrize("seat", [0, 1])
@pytest.mark.parametrize("decisions", [0, 30, 50])
def test_two_against_one_is_as_if_the_third_were_not_there(decisions, seat, idle_side):
    one = Simulation(1, 1, "snake", "shooter", **FIGHT)
    for _ in range(decisions):
        one.step()
    two, numbers = with_an_idle_one(one, idle_side)
    before = two.state_hash()
    graph = pair_graph(two, 0, numbers[seat], numbers[1 - seat])
    assert_same(spacetime(one, 0, seat), graph, 4)
    assert (len(graph.missiles) > 1) == (decisions > 0)
    assert two.state_hash() == before
    assert_same(spacetime(one, 0, seat, 8.0, 0.5), pair_graph(one, 0, seat, None, 8.0, 0.5))


def test_all_missiles_that_fly_at_the_fighter_are_the_enemys():
    sim = Simulation(1, **sized(3, 2))
    for fighter in range(5):
        sim.set_fighter(0, fighter, x=5000 * fighter, y=20_000 * (fighter > 2), heading_deg=90)
    common = {"heading_deg": 0, "speed": 500}
    # Each is (slot, owner, target); the third, fifth and sixth are not of this pair.
    missiles = [(7, 4, 1), (3, 3, 1), (9, 3, 0), (5, 1, 4), (6, 1, 3), (8, 0, 4)]
    for place, (slot, owner, target) in enumerate(missiles):
        sim.set_missile(0, slot, owner=owner, target=target, x=0, y=9000 - 1000 * place, **common)
    graph = pair_graph(sim, 0, 1, 4)
    told = [(one.slot, one.owner, one.target) for one in graph.missiles]
    assert told == [(3, 1, 0), (5, 0, 1), (7, 1, 0)]
    np.testing.assert_allclose(graph.missiles[0].points[0], (0, 8000))
    np.testing.assert_allclose(graph.own[0], (5000, 0))
    of_blue = pair_graph(sim, 0, 4, 1)
    told = [(one.slot, one.owner, one.target) for one in of_blue.missiles]
    assert (of_blue.seat, told) == (1, [(5, 0, 1), (7, 1, 0), (8, 0, 1)])


def test_the_nearest_missiles_are_kept_if_not_all_fit():
    sim = Simulation(1, **sized(1, 8))
    for slot in range(20):
        sim.set_missile(
            0, slot, owner=1 + slot % 8, target=0, x=100 * slot, y=0, heading_deg=0, speed=500
        )
    sim.set_fighter(0, 0, x=0, y=0, heading_deg=0, speed=200)
    pair, slots = pair_of(sim, 0, 0, 5)
    assert slots == list(range(12))
    assert (pair.missiles["active"] == 1).all()


def test_the_nearest_threat_lives():
    sim = Simulation(2, **sized(2, 3))
    for fighter, x in enumerate((0, 50_000, 10_000, 20_000, 30_000)):
        sim.set_fighter(1, fighter, x=x, y=0)
    assert [nearest_enemy(sim, 1, fighter) for fighter in range(5)] == [2, 4, 0, 0, 1]
    sim.set_fighter(1, 2, alive=False)
    assert [nearest_enemy(sim, 1, fighter) for fighter in range(2)] == [3, 4]
    for fighter in (3, 4):
        sim.set_fighter(1, fighter, alive=False)
    assert nearest_enemy(sim, 1, 0) == 2
    assert pair_graph(sim, 1, 0).fronts is None


def test_two_of_one_side_are_no_pair():
    with pytest.raises(ValueError, match="fighter 0, enemy 1: must be of the two sides"):
        pair_of(Simulation(1, **sized(2, 2)), 0, 0, 1)
