"""Paths follow what the simulation flies."""

import copy

import numpy as np
import pytest
from scenes import followed

from midrange_puffer import Simulation
from midrange_puffer.game.paths import HIT, SPENT, Paths, load_factor
from midrange_puffer.game.records import outcome_words

NEAR = {"start_range_min": 20_000, "start_range_max": 20_000, "start_off_boresight_max_deg": 0}
CLOSE = NEAR | {"start_range_min": 200, "start_range_max": 200}


@pytest.fixture(scope="module")
def final():
    """Returns a simulation at the end of its engagement."""
    sim = Simulation(1, 2, "shooter", "evader", **NEAR)
    while not sim.outcome[0]:
        sim.step()
    return sim


@pytest.fixture(scope="module")
def paths():
    """Returns the paths of the same engagement."""
    return followed("shooter", "evader", seed=2, **NEAR)[1]


def test_the_end_is_the_simulations(paths, final):
    seconds = final.time[0] * 0.1
    assert paths.time == pytest.approx(seconds)
    words = {1: "red wins", 2: "blue wins", 3: "mutual kill"}
    assert outcome_words(final) == words[final.outcome[0]]
    for path, alive in zip(paths.fighters, final.fighters["alive"][0], strict=True):
        assert (path.died is not None) == (not alive)
        x, y = final.fighters["x"][0, path.number], final.fighters["y"][0, path.number]
        assert (path.x[-1], path.y[-1]) == pytest.approx((x, y))
        if alive:
            assert path.times[-1] == pytest.approx(seconds)


def test_every_missile_has_a_path(paths, final):
    fired = 6 - final.fighters["ammo"][0]
    owners = [path.owner for path in paths.missiles]
    assert [owners.count(0), owners.count(1)] == fired.tolist()
    assert sum(fired) > 2


def test_missiles_start_at_their_shooter_and_never_jump(paths):
    for missile in paths.missiles:
        shooter = paths.fighters[missile.owner]
        x, y = (np.interp(missile.times[0], shooter.times, axis) for axis in (shooter.x, shooter.y))
        assert (missile.x[0], missile.y[0]) == pytest.approx((x, y))
        assert missile.burnt_out == pytest.approx(missile.times[0] + 10)
        # Under 2 km/s, which takes more than 10 s at 147 m/s^2.
        legs = np.hypot(np.diff(missile.x), np.diff(missile.y))
        assert (legs < 2000 * np.diff(missile.times) + 100).all()


def test_the_killed_were_hit_by_the_other_side(paths):
    for fighter in paths.fighters:
        hits = [m for m in paths.missiles if m.fate == HIT and m.target == fighter.number]
        assert len(hits) == (fighter.died is not None)
        for missile in hits:
            assert (missile.x[-1], missile.y[-1]) == (fighter.x[-1], fighter.y[-1])
            # Before, it was a decision's flight away.
            assert np.hypot(*(np.diff(axis[-2:]) for axis in (missile.x, missile.y))) < 1000
    assert any(fighter.died is not None for fighter in paths.fighters)


def test_a_missile_that_hits_within_one_decision_flies_to_its_target():
    sim = Simulation(**CLOSE)
    paths = Paths(sim)
    sim.step([[[0, 1, 1], [0, 1, 0]]])
    paths.note()
    shooter, victim = paths.fighters
    assert victim.died == paths.time == 0.5
    [missile] = paths.missiles
    assert (missile.owner, missile.target, missile.fate) == (0, 1, HIT)
    assert (missile.times, missile.launched) == ([0, 0.5], 0)
    assert missile.x == [shooter.x[0], victim.x[1]]
    assert missile.y == [shooter.y[0], victim.y[1]]
    paths.note()
    assert len(paths.missiles) == 1


def test_a_missile_that_is_spent_at_once_stays_where_it_was_launched():
    sim = Simulation(missile_burn_time=0, missile_spent_speed=1000)
    paths = Paths(sim)
    sim.step([[[0, 1, 0], [0, 1, 1]]])
    paths.note()
    [missile] = paths.missiles
    assert (missile.owner, missile.target, missile.fate) == (1, 0, SPENT)
    assert missile.times == [0, 0.5]
    assert missile.x == [paths.fighters[1].x[0]] * 2


@pytest.mark.parametrize("substeps", [5, 10, 40])
def test_there_are_as_many_missiles_as_shots_however_short_their_flights(substeps):
    """Every kill is a hit by a missile of the other side."""
    near = {"start_range_min": 100, "start_range_max": 200 * substeps, "launch_interval": 0}
    short = 0
    for seed in range(12):
        sim = Simulation(1, seed, "shooter", "shooter", substeps=substeps, **near)
        paths = Paths(sim)
        while not sim.outcome[0]:
            sim.step()
            paths.note()
        [record] = sim.core.take_records()
        for seat, fighter in enumerate(paths.fighters):
            fired = [missile for missile in paths.missiles if missile.owner == seat]
            assert len(fired) == record["shots"][seat]
            hits = [missile for missile in paths.missiles if missile.target == seat]
            assert [m.fate for m in hits].count(HIT) == (fighter.died is not None)
        # Of one that was seen in the air there are three points at least.
        short += sum(m.fate == HIT and len(m.times) == 2 for m in paths.missiles)
    assert short > 0


def test_paths_are_cut_back_to_a_missile_just_launched():
    """The next launch of its owner is another missile."""
    sim = Simulation(launch_interval=0)
    sim.step()
    sim.launch(0, 1)
    paths = Paths(sim)
    kept, begun = sim.snapshot(), copy.deepcopy(paths.missiles)
    assert [missile.launched for missile in begun] == [0.5]
    for controls in ([[0, 1, 1], [0, 1, 0]], [[0, 1, 0], [0, 1, 0]]):
        sim.step([controls])
        paths.note()
    assert [missile.owner for missile in paths.missiles] == [1, 0]
    sim.restore(kept)
    paths.cut_back()
    assert paths.missiles == begun
    sim.step()
    paths.note()
    assert [missile.times for missile in paths.missiles] == [[0.5, 1.0]]


def test_load_is_what_turns_the_fighter(paths):
    """v times the rate of turn, but for the turn within a decision."""
    fighter = paths.fighters[1]
    turn = np.unwrap(fighter.heading)
    for middle in range(1, len(turn) - 1):
        steady = np.ptp(fighter.rudder[middle - 1 : middle + 2]) < 0.01
        if steady:
            rate = (turn[middle + 1] - turn[middle - 1]) / 1.0
            assert fighter.load[middle] == pytest.approx(
                fighter.speed[middle] * rate / 9.8, rel=0.05, abs=0.05
            )


def test_load_and_energy_have_closed_forms():
    parameters = Simulation().parameters
    assert load_factor(parameters, "fighter", 255.88, 1) == pytest.approx(6.68, abs=0.01)  # P2
    assert load_factor(parameters, "fighter", 400, -1) == -9  # P8: above corner speed
    assert load_factor(parameters | {"fighter_load_limit": 0}, "fighter", 400, 1) > 16


def test_an_engagement_of_a_batch_can_be_flown_alone():
    """Any episode of any engagement of a seed begins alike wherever it is flown."""
    batch = Simulation(20, 5, "evader", "ace", time_limit=60)
    alone = Simulation(1, 5, "evader", "ace", time_limit=60)
    alone.start(0, engagement=17)
    for _ in range(50):
        batch.step()
        alone.step()
    for kind in ("fighters", "missiles"):
        for name, values in getattr(batch, kind).items():
            assert (values[17] == getattr(alone, kind)[name][0]).all(), name
    before = alone.state_hash()
    alone.start(0, engagement=17, episode=1)
    other = alone.state_hash()
    alone.start(0, engagement=17)
    assert before != other != alone.state_hash()


@pytest.mark.parametrize("name", ["engagement", "episode"])
def test_a_start_that_is_impossible_is_refused(name):
    """Numbers up to 2**30 can be started."""
    Simulation().start(0, **{name: 2**30})
    for number in (-1, 2**30 + 1, 2**31 - 1, 2**40):
        with pytest.raises(ValueError, match=f"{name} = {number}.*at least 0, at most {2**30}"):
            Simulation().start(0, **{name: number})
    with pytest.raises(IndexError, match="env = 1"):
        Simulation().start(1)
