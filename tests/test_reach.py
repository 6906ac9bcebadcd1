"""R_NEZ, the pilots' estimate of the range from which there is no escape: its use, and its worth.

The band found by flying it out: nose to nose every shot from inside 0.98 of the estimate hits and
every one from beyond 1.1 misses. Over all aspects and speeds that is 0.66 and 1.22: the estimate
leaves out the target's speed, of which a fast one has less to gain that flies across or away.
"""

from itertools import product
from math import cos, radians

import numpy as np
import pytest
from flights import exactly
from reference import Body
from reference_pilots import Pilot
from scenes import BLUE, RED, controls

from midrange_puffer import Simulation
from midrange_puffer.parameters import resolve

ESTIMATE = Pilot("shooter", resolve({}))  # any pilot reckons it alike
SPEEDS = (250, 325, 400, 490)  # m/s


def r_nez(launch_speed: float, aspect_deg: float) -> float:
    """Aspect: from the target's nose to the line to the shooter, 0 nose to nose."""
    return ESTIMATE.r_nez(Body(0, 0, 1, 0, launch_speed), cos(radians(aspect_deg)))


def shot(env: int, sim: Simulation, launch_speed: float, speed: float, aspect_deg: float, x: float):
    """Put red at the origin with its nose on blue, x metres ahead."""
    level = {"y": 0, "rudder": 0, "throttle": 1}
    sim.set_fighter(env, RED, x=0, heading_deg=0, speed=launch_speed, **level)
    sim.set_fighter(env, BLUE, x=x, heading_deg=180 - aspect_deg, speed=speed, **level)


@pytest.mark.parametrize(
    ("pilot", "threshold"), [("bracket_shooter", "bracket_fire"), ("ace", "ace_fire")]
)
@pytest.mark.parametrize("fraction", [0.8, 1.0])
def test_pilots_fire_inside_their_fraction_of_r_nez(pilot, threshold, fraction):
    """Whatever the speeds and the target's aspect."""
    scenes = list(product(SPEEDS, SPEEDS, (0, 45, -90, 135, 180), (0.99, 1.01)))
    ranges = exactly(ace_probe=0) | exactly(**{threshold: fraction})
    sim = Simulation(num_envs=len(scenes), red=pilot, **ranges)
    for env, (own, target, aspect, near) in enumerate(scenes):
        shot(env, sim, own, target, aspect, near * fraction * r_nez(own, aspect))
    sim.step()
    assert (sim.fighters["ammo"][:, RED] < 6).tolist() == [near < 1 for *_, near in scenes]


def hits(scenes: list[tuple[float, float, float]], fraction: float) -> np.ndarray:
    """Whether a shot at a fraction of R_NEZ hits a target that turns cold at the launch."""
    sim = Simulation(num_envs=len(scenes), ammunition=1)
    for env, (own, target, aspect) in enumerate(scenes):
        shot(env, sim, own, target, aspect, fraction * r_nez(own, aspect))
    command = controls(red=(0, 1, 1), num_envs=len(scenes))
    sim.step(command)
    while (missiles := sim.missiles)["active"].any():
        blue = {name: values[:, BLUE] for name, values in sim.fighters.items()}
        away = np.arctan2(blue["y"] - missiles["y"][:, 0], blue["x"] - missiles["x"][:, 0])
        ahead, left = np.cos(away - blue["heading"]), np.sin(away - blue["heading"])
        command[:, BLUE, 0] = np.where(ahead > 0, 4 * left, np.copysign(1, left))
        sim.step(command)
    return sim.fighters["alive"][:, BLUE] == 0


@pytest.mark.parametrize(
    ("aspects", "sure", "hopeless"), [((0,), 0.95, 1.12), ((45, -90, 135, 180), 0.64, 1.25)]
)
def test_r_nez_is_an_honest_estimate(aspects, sure, hopeless):
    """A shot at the one fraction of it hits, at the other misses, whatever the speeds."""
    scenes = list(product(SPEEDS, SPEEDS, aspects))
    assert hits(scenes, sure).all()
    assert not hits(scenes, hopeless).any()
