"""Paths of teams: targets that change, hits and their launchers, and the outcome in words."""

import copy

import numpy as np
import pytest
from team_fights import EACH_SIZE, sized

from midrange_puffer import Simulation
from midrange_puffer.game.paths import FLYING, HIT, LOST, Paths
from midrange_puffer.game.records import outcome_words


def fly_on(sim: Simulation, paths: Paths) -> None:
    """Flies one decision."""
    sim.step()
    paths.note()


@EACH_SIZE
@pytest.mark.parametrize("substeps", [5, 40])
def test_the_fate_of_all_is_what_the_core_has_counted(sizes, substeps):
    """Shots, hits and deaths equal those of the records, however short flights are."""
    changed = 0
    for seed in range(3):
        game = sized(*sizes, substeps=substeps, launch_interval=0)
        sim = Simulation(1, seed, "ace", "evader", **game)
        paths = Paths(sim)
        while not sim.outcome[0]:
            fly_on(sim, paths)
        state = {name: values[0] for name, values in sim.core.read("fighter").items()}
        assert [path.side for path in paths.fighters] == [0] * sizes[0] + [1] * sizes[1]
        for path in paths.fighters:
            own = [missile for missile in paths.missiles if missile.owner == path.number]
            hits = [missile for missile in own if missile.fate == HIT]
            assert len(own) == state["shots"][path.number]
            assert len(hits) <= state["hits"][path.number]  # of two in the same step one has hit
            assert (path.died is None) == state["alive"][path.number]
            at = [one for one in paths.missiles if one.fate == HIT and one.target == path.number]
            assert len(at) == (path.died is not None)
            for missile in at:
                assert paths.fighters[missile.owner].side != path.side
                assert (missile.x[-1], missile.y[-1]) == (path.x[-1], path.y[-1])
                assert missile.times[-1] == path.died
        changed += sum(len(set(missile.targets)) > 1 for missile in paths.missiles)
        for missile in paths.missiles:
            lengths = [len(values) for values in vars(missile).values() if type(values) is list]
            assert len(set(lengths) - {0}) == 1  # those of height are empty
    assert substeps == 40 or (changed > 0) == (sizes != (3, 1))


def two_against_one(**other) -> tuple[Simulation, Paths]:
    """Red's first is about to be hit by a missile; red's second is `other`, 1 km ahead of it."""
    sim = Simulation(1, red_size=2, blue_size=1, time_limit=60)
    sim.set_fighter(0, 0, x=0, y=0, heading_deg=90, speed=200)
    sim.set_fighter(0, 1, **({"x": 1500, "y": 100, "heading_deg": 0, "speed": 200} | other))
    sim.set_fighter(0, 2, x=-20_000, y=0, heading_deg=0, speed=200)
    sim.set_missile(0, 0, owner=2, x=-300, y=50, heading_deg=0, speed=900, target=0)
    sim.set_missile(0, 1, owner=2, x=-900, y=50, heading_deg=0, speed=900, target=0)
    return sim, Paths(sim)


def test_a_missile_whose_target_dies_goes_for_the_next_one_or_is_lost():
    sim, paths = two_against_one()
    fly_on(sim, paths)
    first, second = paths.missiles
    assert (first.fate, first.targets) == (HIT, [0, 0])
    assert (second.fate, second.targets) == (FLYING, [0, 1])
    sim, paths = two_against_one(x=-50_000)
    fly_on(sim, paths)
    first, second = paths.missiles
    assert (first.fate, first.target) == (HIT, 0)
    assert (second.fate, second.targets) == (LOST, [0])


def test_paths_cut_back_and_flown_again_are_the_same():
    sim = Simulation(1, 1, "ace", "shooter", **sized(4, 4))
    paths = Paths(sim)
    kept = None
    while not sim.outcome[0]:
        fly_on(sim, paths)
        if kept is None and any(len(set(one.targets)) > 1 for one in paths.missiles):
            kept, then = sim.snapshot(), copy.deepcopy(paths.missiles)
    end = copy.deepcopy((paths.fighters, paths.missiles))
    sim.restore(kept)
    paths.cut_back()
    assert paths.missiles == then
    while not sim.outcome[0]:
        fly_on(sim, paths)
    assert (paths.fighters, paths.missiles) == end


def ended(alive, time_limit=600, ammo=0, **parameters) -> Simulation:
    """Returns a fight of two against two with so many alive, by default without missiles."""
    sim = Simulation(1, red_size=2, blue_size=2, time_limit=time_limit, **parameters)
    for fighter, lives in enumerate(alive):
        sim.set_fighter(0, fighter, alive=lives, ammo=ammo)
    sim.step()
    while not sim.outcome[0] and ammo:
        sim.step()
    return sim


@pytest.mark.parametrize(
    ("alive", "limit", "ammo", "words"),
    [
        ((1, 0, 0, 0), 600, 0, "red wins, 1 of 2 left"),
        ((0, 0, 1, 1), 600, 6, "blue wins, 2 of 2 left"),
        ((1, 1, 1, 0), 600, 0, "red wins, no missiles left, 2 to 1"),
        ((0, 1, 1, 1), 1, 6, "blue wins by time, 1 to 2"),
        ((1, 1, 1, 1), 1, 6, "draw by time, 2 to 2"),
        ((1, 0, 0, 1), 600, 0, "draw, no missiles left, 1 to 1"),
        ((0, 0, 0, 0), 600, 6, "mutual kill"),
    ],
)
def test_the_outcome_says_who_is_left(alive, limit, ammo, words):
    assert outcome_words(ended(alive, limit, ammo)) == words


def test_an_outcome_is_of_its_engagement():
    sim = Simulation(2, red_size=2, blue_size=2)
    for fighter in (2, 3):
        sim.set_fighter(1, fighter, alive=False)
    sim.step()
    assert [outcome_words(sim, env) for env in range(2)] == ["open", "red wins, 2 of 2 left"]
    assert np.array_equal(sim.outcome, [0, 1])
