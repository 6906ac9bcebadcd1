"""The thresholds that pilots draw for an engagement, seen in when they fire and turn."""

import functools

import numpy as np
import pytest
from closed_forms import chase_reach
from flights import closing_speed, distance, exactly
from scenes import BLUE, RED, fighter, missile

from midrange_puffer import FEATURES, Simulation
from midrange_puffer.contest.match import Fight, play
from midrange_puffer.game.parameters import (
    PAIRS,
    PARAMETERS,
    SENSOR_PILOTS,
    WING_PILOTS,
    resolve,
)

SEATS = ("red", "blue")
RUDDER = [feature.name for feature in FEATURES].index("own_rudder")
COUNT = 300  # engagements, to see a distribution


def launch_ranges(pilot: str, seat: int, seed: int = 0, **parameters: float) -> np.ndarray:
    """Ranges [COUNT] at which a pilot fires its only missile at one that flies straight at it.

    Both fly at top speed from the start on, so that R_max and R_NEZ stay as they are.
    """
    alike = {
        "start_range_min": 57_000,
        "start_range_max": 57_000,
        "start_speed_min": 489.9,
        "start_speed_max": 489.9,
        "start_off_boresight_max_deg": 0,
    }
    few = {"ammunition": 1, "ace_reserve": 0, "substeps": 1, "time_limit": 60}
    few |= {"patient_left": 1}  # so that it does not wait
    if pilot in SENSOR_PILOTS:  # they see the enemy at once, and do not turn from it
        few |= {"sensing": "radar", "radar_range_nose": 100_000, "radar_acquire_time": 0}
        few |= {"notcher_time": 0}
    if pilot in WING_PILOTS:  # alone, against two beside each other
        few |= {f"{SEATS[1 - seat]}_size": 2, "start_spacing_min": 100, "start_spacing_max": 100}
    fight = Fight(pilot, "straight") if seat == RED else Fight("straight", pilot)
    records = play([fight], COUNT, seed, parameters=resolve(alike | few | parameters, teams=True))[
        0
    ]
    assert (records["shots"][:, seat] == 1).all()
    return records["launch_range"][:, seat]


def facing(
    pilot: str, seat: int, apart: float, count: int = COUNT, seed: int = 0, **parameters: float
) -> Simulation:
    """A pilot and its enemy nose to nose, so far apart; decisions of 0.1 s."""
    sim = Simulation(count, seed, **{SEATS[seat]: pilot}, substeps=1, **parameters)
    level = {"y": 0, "speed": 450, "rudder": 0, "throttle": 1}
    for env in range(count):
        sim.set_fighter(env, seat, x=0, heading_deg=0, **level)
        sim.set_fighter(env, 1 - seat, x=apart, heading_deg=180, **level)
    return sim


def send_missiles(sim: Simulation, seat: int) -> None:
    """Sends a missile at this seat in every engagement, a little from the left."""
    for env in range(sim.num_envs):
        flight = {"heading_deg": 190, "speed": 1100, "age": 100}
        sim.set_missile(env, 0, owner=1 - seat, x=24_000, y=4_000, **flight)


def turning_times(sim: Simulation, seat: int) -> np.ndarray:
    """Steps [num_envs] after which each fighter begins to turn."""
    steps = np.zeros(sim.num_envs, int)
    level = np.ones(sim.num_envs, bool)
    while level.any() and steps.max() < 200:
        sim.step()
        level &= np.abs(sim.observe()[:, seat, RUDDER]) < 0.1
        steps += level
    return steps


def evasion_times(pilot: str, seat: int, seed: int = 0, **parameters: float) -> np.ndarray:
    """Times to go [COUNT] of a missile at which a pilot turns from it, in s."""
    any_missile = exactly(ace_guard=50_000)
    sim = facing(pilot, seat, 300_000, seed=seed, **any_missile, **parameters)
    send_missiles(sim, seat)
    # Until it turns, the missile flies as it does at one that flies straight.
    calm = facing("straight", seat, 300_000, count=1)
    send_missiles(calm, seat)
    times = []
    while missile(calm)["active"]:
        target = fighter(calm, seat)
        times.append(distance(missile(calm), target) / closing_speed(missile(calm), target))
        calm.step()
    return np.array(times)[turning_times(sim, seat)]


def running_times(pilot: str, seat: int, seed: int = 0, **parameters: float) -> np.ndarray:
    """Times [COUNT] after its first launch at which a pilot turns, in s."""
    sim = facing(pilot, seat, 40_000, seed=seed, **exactly(turn_back_fire=1), **parameters)
    return 0.1 * turning_times(sim, seat)


def waiting_ranges(pilot: str, seat: int, seed: int = 0, **parameters: float) -> np.ndarray:
    """Ranges [COUNT] at which a pilot turns off an enemy that flies straight at it, in m.

    At the least band it turns where it waits.
    """
    band = {"patient_band": 100}
    sim = facing(pilot, seat, 40_000, seed=seed, **band, **parameters)
    calm = facing("straight", seat, 40_000, count=1)
    ranges = []
    for _ in range(200):
        ranges.append(distance(fighter(calm, RED), fighter(calm, BLUE)))
        calm.step()
    return np.array(ranges)[turning_times(sim, seat)] - band["patient_band"]


RANGES = {launch_ranges: (0.5, 0.9), evasion_times: (8.0, 14.0), running_times: (2.0, 10.0)}
RANGES[waiting_ranges] = (24_000.0, 36_000.0)
DRAWS = {  # threshold: what shows it, and the pilots that draw it
    "shooter_fire": (launch_ranges, "shooter", "evader"),
    "crank_fire": (launch_ranges, "crank"),
    "bracket_fire": (launch_ranges, "bracket_shooter"),
    "turn_back_fire": (launch_ranges, "turn_back"),
    "snake_fire": (launch_ranges, "snake"),
    "ace_probe": (launch_ranges, "ace"),
    "ace_fire": (launch_ranges, "ace"),
    "notcher_fire": (launch_ranges, "notcher"),
    "pair_fire": (launch_ranges, "pair"),
    "patient_fire": (launch_ranges, "patient"),
    "evader_cold_time": (evasion_times, "evader"),
    "crank_cold_time": (evasion_times, "crank"),
    "bracket_cold_time": (evasion_times, "bracket_shooter"),
    "snake_time": (evasion_times, "snake"),
    "ace_cold_time": (evasion_times, "ace"),
    "patient_cold_time": (evasion_times, "patient"),
    "patient_range": (waiting_ranges, "patient"),
    "turn_back_delay": (running_times, "turn_back"),
}


@functools.cache
def drawn(threshold: str, pilot: str, seat: int, seed: int = 0) -> np.ndarray:
    """Returns each pilot's threshold within its range [COUNT]: 0 the lower end, 1 the upper."""
    show = DRAWS[threshold][0]
    low, high = RANGES[show]
    others = exactly(ace_probe=0) if threshold == "ace_fire" else exactly(ace_fire=0)
    ends = {f"{threshold}_min": low, f"{threshold}_max": high}
    seen = show(pilot, seat, seed, **others | ends)
    if show is launch_ranges:
        seen = seen / show(pilot, seat, seed, **others | exactly(**{threshold: 1})).mean()
    return (seen - low) / (high - low)


CASES = [(threshold, pilot) for threshold, (_, *pilots) in DRAWS.items() for pilot in pilots]


@pytest.mark.parametrize(("threshold", "pilot"), CASES)
def test_thresholds_are_uniform_in_their_range_for_both_seats(threshold, pilot):
    rank = (np.arange(COUNT) + 0.5) / COUNT
    for seat in (RED, BLUE):
        values = drawn(threshold, pilot, seat)
        assert values.min() > -0.02  # decisions are 0.1 s apart
        assert values.max() < 1.02
        # Kolmogorov-Smirnov: 1.95 / sqrt(n) is passed by chance once in 1000.
        assert np.abs(np.sort(values) - rank).max() < 1.95 / np.sqrt(COUNT) + 0.02


def test_the_guard_of_the_ace_is_drawn():
    """If a missile lacks 20 km to run an ace down, half of the aces evade."""
    guards = {"ace_guard_min": 10_000, "ace_guard_max": 30_000} | exactly(ace_cold_time=100)
    sim = facing("ace", RED, 300_000, **guards)
    for env in range(COUNT):
        x = chase_reach(1100) + 20_000
        sim.set_missile(env, 0, owner=BLUE, x=x, y=0, heading_deg=180, speed=1100, age=100)
    sim.step()
    turned = np.abs(sim.fighters["rudder"][:, RED]) > 0.1
    assert abs(turned.mean() - 0.5) < 4 * 0.5 / np.sqrt(COUNT)


def left_at_attack(seat: int, seed: int = 0, **parameters: float) -> np.ndarray:
    """Missiles [COUNT] that an enemy may have left when `patient` attacks it.

    While it waits at its range it turns off the enemy.
    """
    at_its_range = exactly(patient_range=20_000)
    attacks = np.zeros(COUNT, int)
    for left in range(PARAMETERS["ammunition"].default + 1):
        sim = facing("patient", seat, 20_000, seed=seed, **at_its_range, **parameters)
        for env in range(COUNT):
            sim.set_fighter(env, 1 - seat, ammo=left)
        sim.step()
        attacks += np.abs(sim.fighters["rudder"][:, seat]) < 0.1
    return attacks - 1


def test_the_missiles_left_at_which_patient_attacks_are_drawn():
    """Each number from `patient_left` on is as likely, for both seats and with any other draw."""
    left = {"patient_left": 1, "patient_left_spread": 3}
    drawn_left = [left_at_attack(seat, **left) for seat in (RED, BLUE)]
    for seen in drawn_left:
        assert set(seen) == {1, 2, 3, 4}
        shares = np.bincount(seen)[1:] / COUNT
        assert np.abs(shares - 1 / 4).max() < 4 * np.sqrt(1 / 4 * 3 / 4 / COUNT)
    thresholds = [
        drawn(threshold, "patient", seat)
        for threshold in ("patient_cold_time", "patient_fire")
        for seat in (RED, BLUE)
    ]
    correlation = np.corrcoef(drawn_left + thresholds)[:2] - np.eye(2, 6)
    assert np.abs(correlation).max() < 4.5 / np.sqrt(COUNT)
    assert (drawn_left[RED] != left_at_attack(RED, seed=1, **left)).mean() > 0.5


def test_team_mates_draw_the_missiles_left_of_their_own():
    team = {"red_size": 2, "blue_size": 2, "patient_left_spread": 3}
    sim = Simulation(COUNT, 0, red="patient", blue="patient", **team)
    left = sim.core.read("fighter")["wait_left"]
    correlation = np.corrcoef(left.T) - np.eye(4)
    assert np.abs(correlation).max() < 4.5 / np.sqrt(COUNT)


def test_without_a_spread_patient_attacks_at_the_same_number():
    assert set(left_at_attack(RED, patient_left=2)) == {2}


def test_all_ranges_are_seen():
    ranges = {low[:-4] for low, _ in PAIRS if PARAMETERS[low].group == "pilot"}
    assert ranges == {*DRAWS, "ace_guard", "pilot_height"}  # test_height_fights.py has the last


def test_draws_repeat_with_the_seed_alone():
    first = drawn("crank_fire", "crank", RED)
    drawn.cache_clear()
    assert np.array_equal(first, drawn("crank_fire", "crank", RED))
    assert (np.abs(first - drawn("crank_fire", "crank", RED, seed=1)) > 0.01).mean() > 0.9


@pytest.mark.parametrize(
    "pilot", ["evader", "crank", "bracket_shooter", "turn_back", "snake", "ace", "patient"]
)
def test_draws_are_independent(pilot):
    """The draws of when to fire, when to evade or turn, and of both seats."""
    values = [
        drawn(threshold, pilot, seat)
        for threshold, (_, *pilots) in DRAWS.items()
        for seat in (RED, BLUE)
        if pilot in pilots and threshold not in ("ace_probe", "patient_range")
    ]
    assert len(values) == 4
    correlation = np.corrcoef(values) - np.eye(4)
    assert np.abs(correlation).max() < 4.5 / np.sqrt(COUNT)


def test_all_that_says_when_to_fire_is_one_draw():
    probe, fire = drawn("ace_probe", "ace", RED), drawn("ace_fire", "ace", RED)
    assert probe == pytest.approx(fire, abs=0.02)
