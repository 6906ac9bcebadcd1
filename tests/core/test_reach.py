"""R_NEZ, the range from which there is no escape, as pilots take it from the map: use and worth.

The map says it between its nodes, too: at any speed and aspect every shot from inside 0.98 of R_NEZ
hits a target that turns cold, and every one from beyond 1.06 of R_cold misses it.
"""

from itertools import product
from math import radians

import numpy as np
import pytest
from flights import exactly
from reference_envelope import look_up, turn
from scenes import BLUE, RED, controls

from midrange_puffer import Simulation, _core
from midrange_puffer.game.envelope import EVASIONS, PLAIN, game_envelope
from midrange_puffer.game.parameters import resolve

MAP = game_envelope(resolve({}))
SPEEDS = (250, 325, 400, 490)  # m/s
ASPECTS = (0, 45, -90, 135, 180)  # from the line to the shooter to the target's nose


def of_map(ranges: np.ndarray, launch_speed: float, speed: float, aspect_deg: float) -> float:
    """A range of a shot with the nose on the target."""
    return look_up(MAP, ranges, 0, turn(0, radians(aspect_deg)), launch_speed, speed)


def shot(env: int, sim: Simulation, launch_speed: float, speed: float, aspect_deg: float, x: float):
    """Put red at the origin with its nose on blue, x metres ahead."""
    level = {"y": 0, "rudder": 0, "throttle": 1}
    sim.set_fighter(env, RED, x=0, heading_deg=0, speed=launch_speed, **level)
    sim.set_fighter(env, BLUE, x=x, heading_deg=180 + aspect_deg, speed=speed, **level)


@pytest.mark.parametrize(
    ("pilot", "threshold"), [("bracket_shooter", "bracket_fire"), ("ace", "ace_fire")]
)
@pytest.mark.parametrize("fraction", [0.8, 1.0])
def test_pilots_fire_inside_their_fraction_of_r_nez(pilot, threshold, fraction):
    """Speeds and the target's aspect vary."""
    scenes = list(product(SPEEDS, SPEEDS, ASPECTS, (0.99, 1.01)))
    ranges = exactly(ace_probe=0) | exactly(**{threshold: fraction})
    sim = Simulation(num_envs=len(scenes), red=pilot, **ranges)
    for env, (*geometry, near) in enumerate(scenes):
        shot(env, sim, *geometry, near * fraction * of_map(MAP.nez, *geometry))
    sim.step()
    assert (sim.fighters["ammo"][:, RED] < 6).tolist() == [near < 1 for *_, near in scenes]


def hits(ranges: np.ndarray, fraction: float) -> np.ndarray:
    """Returns True if a shot at a fraction of a range hits a target that turns cold at launch."""
    scenes = list(product(SPEEDS, SPEEDS, ASPECTS))
    sim = Simulation(num_envs=len(scenes), ammunition=1)
    for env, geometry in enumerate(scenes):
        shot(env, sim, *geometry, fraction * of_map(ranges, *geometry))
    command = controls(red=(0, 1, 1), num_envs=len(scenes))
    sim.step(command)
    while (missiles := sim.missiles)["active"].any():
        blue = {name: values[:, BLUE] for name, values in sim.fighters.items()}
        away = np.arctan2(blue["y"] - missiles["y"][:, 0], blue["x"] - missiles["x"][:, 0])
        ahead, left = np.cos(away - blue["heading"]), np.sin(away - blue["heading"])
        command[:, BLUE, 0] = np.where(ahead > 0, 4 * left, np.copysign(1, left))
        sim.step(command)
    return sim.fighters["alive"][:, BLUE] == 0


def test_r_nez_and_r_cold_are_what_they_say():
    assert hits(MAP.nez, 0.98).all()
    assert not hits(MAP.cold, 1.06).any()


def test_shots_are_classed_by_what_they_hit():
    """Compares with the same shots flown out, from all directions, most of them off the nose."""
    rng, count = np.random.default_rng(2), 3000
    sim = Simulation(num_envs=count, observation="stg", ammunition=1, time_limit=1)
    shots = np.zeros(count, _core.SHOT)
    shots["evasion"] = list(EVASIONS).index(PLAIN)
    shots["range"] = rng.uniform(1000, 40_000, count)  # no hit in the first decision
    for name in ("launch_speed", "target_speed"):
        shots[name] = rng.uniform(200, 490, count)
    off, aspect = rng.uniform(-np.pi, np.pi, (2, count))
    for name, angle in (("nose", off), ("aspect", aspect)):
        shots[name] = np.stack([np.cos(angle), np.sin(angle)], axis=-1)
    for env, (x, speed, other) in enumerate(shots[["range", "launch_speed", "target_speed"]]):
        sim.set_fighter(env, RED, x=0, y=0, heading_deg=np.degrees(off[env]), speed=speed)
        heading = 180 + np.degrees(aspect[env])
        sim.set_fighter(env, BLUE, x=x, y=0, heading_deg=heading, speed=other)
    for _ in range(2):
        sim.step(controls(red=(0, 1, 1), num_envs=count))
    records = np.sort(sim.core.take_records(), order="env")
    in_nez, wasted = (records[name][:, RED] == 1 for name in ("shots_in_nez", "shots_wasted"))
    hit = sim.core.fly_shots(shots)
    assert records["shots"][:, RED].tolist() == [1] * count
    assert in_nez.sum() > 300
    assert wasted.sum() > 1000
    assert hit[in_nez].mean() > 0.95
    assert hit[wasted].mean() < 0.03
