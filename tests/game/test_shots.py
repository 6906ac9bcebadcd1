"""Shots in fights with height, flown out."""

import math

import pytest

from midrange_puffer import Simulation
from midrange_puffer.game.paths import Paths
from midrange_puffer.game.shots import Flight, FlyOuts, flight_at, flight_of, if_it_flies_on, surely

HEIGHT = {"dimensions": 3}


def test_shots_are_judged_by_fly_outs():
    """By the table of docs/height.md: at 5 km head-on 54.1 km if it flies on, tail-on 14.6 km."""
    sim = Simulation(1, 3, **HEIGHT)
    fly_outs = FlyOuts(sim.parameters, Paths(sim).types)
    for course, reach in ((math.pi, 54_100), (0.0, 14_600)):
        for side in (0, 1):
            for share, hits in ((0.97, True), (1.03, False)):
                own = Flight(0, 0, 5000, 0, 0, 300)
                enemy = Flight(share * reach, 0, 5000, course, 0, 300)
                assert if_it_flies_on(fly_outs.hits(side, own, enemy)) == hits
    near = fly_outs.hits(0, own, Flight(5000, 0, 5000, math.pi, 0, 300))
    assert surely(near)


def test_each_side_fires_its_own_missiles_at_the_others_aircraft():
    sim = Simulation(1, 3, red_missile="short", blue_missile="long", **HEIGHT)
    fly_outs = FlyOuts(sim.parameters, Paths(sim).types)
    own, enemy = Flight(0, 0, 5000, 0, 0, 300), Flight(40_000, 0, 5000, math.pi, 0, 300)
    assert not if_it_flies_on(fly_outs.hits(0, own, enemy))  # reaches 19.1 km
    assert if_it_flies_on(fly_outs.hits(1, own, enemy))  # 92.6 km


def test_factors_of_a_fight_change_its_shots():
    """A missile with more thrust reaches farther; the other side's factors do not matter."""
    sim = Simulation(1, 3, **HEIGHT)
    types = Paths(sim).types
    own, enemy = Flight(0, 0, 5000, 0, 0, 300), Flight(58_000, 0, 5000, math.pi, 0, 300)
    plain, strong = {"missile_thrust_factor": 1.0}, {"missile_thrust_factor": 1.3}
    for factors, hits in (
        ((plain, plain), False),
        ((strong, plain), True),
        ((plain, strong), False),
    ):
        fly_outs = FlyOuts(sim.parameters, types, factors)
        assert if_it_flies_on(fly_outs.hits(0, own, enemy)) == hits


def test_zones_have_the_ranges_of_shots():
    """Nose-on the zones are the table's; they turn with the launcher, and mirror left and right."""
    sim = Simulation(1, 3, **HEIGHT)
    fly_outs = FlyOuts(sim.parameters, Paths(sim).types)
    own, enemy = Flight(0, 0, 5000, 0, 0, 300), Flight(9000, 0, 5000, math.pi, 0, 300)
    counts = []
    [(aero, nez)] = fly_outs.zones(0, [(own, enemy)], 8, counts.append)
    assert sum(counts) == 8
    assert aero[0] == pytest.approx(54_100, rel=0.01)
    assert aero[1:] == pytest.approx(aero[:0:-1], rel=0.02)
    assert (nez <= aero).all()
    turned = [flight._replace(heading=flight.heading + 1.1) for flight in (own, enemy)]
    [(again, _)] = fly_outs.zones(0, [(turned[0], turned[1])], 8)
    assert again == pytest.approx(aero, rel=0.02)


def test_a_flight_is_that_of_the_fighter():
    sim = Simulation(1, 3, "crank", "ace", **HEIGHT)
    paths = Paths(sim)
    for _ in range(30):
        sim.step()
        paths.note()
    for number, path in enumerate(paths.fighters):
        assert flight_of(sim.fighters, (0, number)) == pytest.approx(
            flight_at(path, paths.time), rel=1e-5
        )
