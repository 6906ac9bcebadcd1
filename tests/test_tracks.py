"""Tracks follow what the simulation flies."""

import numpy as np
import pytest

from midrange_puffer import Simulation
from midrange_puffer.tracks import HIT, Tracks, energy_height, load_factor, outcome_words

NEAR = {"start_range_min": 20_000, "start_range_max": 20_000, "start_off_boresight_max_deg": 0}


@pytest.fixture(scope="module")
def final():
    """A simulation at the end of its engagement."""
    sim = Simulation(1, 2, "shooter", "evader", **NEAR)
    while not sim.outcome[0]:
        sim.step()
    return sim


@pytest.fixture(scope="module")
def tracks():
    """Of the same engagement."""
    sim = Simulation(1, 2, "shooter", "evader", **NEAR)
    tracks = Tracks(sim)
    while not sim.outcome[0]:
        sim.step()
        tracks.note()
    return tracks


def test_the_end_is_the_simulations(tracks, final):
    seconds = final.time[0] * 0.1
    assert tracks.time == pytest.approx(seconds)
    words = {1: "red wins", 2: "blue wins", 3: "mutual kill"}
    assert outcome_words(final) == words[final.outcome[0]]
    for track, alive in zip(tracks.fighters, final.fighters["alive"][0], strict=True):
        assert (track.died is not None) == (not alive)
        x, y = final.fighters["x"][0, track.seat], final.fighters["y"][0, track.seat]
        assert (track.x[-1], track.y[-1]) == pytest.approx((x, y))
        if alive:
            assert track.times[-1] == pytest.approx(seconds)


def test_every_missile_has_a_track(tracks, final):
    fired = 6 - final.fighters["ammo"][0]
    owners = [track.owner for track in tracks.missiles]
    assert [owners.count(0), owners.count(1)] == fired.tolist()
    assert sum(fired) > 2


def test_missiles_start_at_their_shooter_and_never_jump(tracks):
    for missile in tracks.missiles:
        shooter = tracks.fighters[missile.owner]
        x, y = (np.interp(missile.times[0], shooter.times, axis) for axis in (shooter.x, shooter.y))
        assert (missile.x[0], missile.y[0]) == pytest.approx((x, y))
        assert missile.burnt_out == pytest.approx(missile.times[0] + 10)
        # Under 2 km/s, which takes more than 10 s at 147 m/s^2.
        legs = np.hypot(np.diff(missile.x), np.diff(missile.y))
        assert (legs < 2000 * np.diff(missile.times) + 100).all()


def test_the_killed_were_hit_by_the_other_side(tracks):
    for fighter in tracks.fighters:
        hits = [m for m in tracks.missiles if m.fate == HIT and m.target == fighter.seat]
        assert len(hits) == (fighter.died is not None)
        for missile in hits:
            assert (missile.x[-1], missile.y[-1]) == (fighter.x[-1], fighter.y[-1])
            # Before, it was a decision's flight away.
            assert np.hypot(*(np.diff(axis[-2:]) for axis in (missile.x, missile.y))) < 1000
    assert any(fighter.died is not None for fighter in tracks.fighters)


def test_a_missile_that_hits_within_one_decision_leaves_no_track():
    near = {"start_range_min": 200, "start_range_max": 200, "start_off_boresight_max_deg": 0}
    sim = Simulation(**near)
    tracks = Tracks(sim)
    sim.step([[[0, 1, 1], [0, 1, 0]]])
    tracks.note()
    assert tracks.fighters[1].died == tracks.time == 0.5
    assert tracks.missiles == []


def test_load_is_what_turns_the_fighter(tracks):
    """v times the rate of turn, but for the turn within a decision."""
    fighter = tracks.fighters[1]
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
    assert energy_height(parameters, 300) == pytest.approx(300**2 / 19.6)


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


@pytest.mark.parametrize("place", [{"engagement": -1}, {"episode": -1}])
def test_what_cannot_be_started_is_refused(place):
    with pytest.raises(ValueError, match="at least 0"):
        Simulation().start(0, **place)
    with pytest.raises(IndexError, match="env = 1"):
        Simulation().start(1)
