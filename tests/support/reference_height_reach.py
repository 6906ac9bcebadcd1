"""Flights of the pilots' estimates with height, in float64 Python, from csrc/RULES.md alone."""

from math import hypot

import numpy as np
import reference_height as law
from reference import Parameters
from reference_height import Fields

STEP = 0.1  # s
HEIGHTS = (1000.0, 10_000.0)  # m, at which the estimates are flown
FARTHEST = 200_000.0  # m


def launched(p: Parameters, x: float, z: float, ahead: float) -> np.ndarray:
    """Returns a level body at the pilots' launch speed, with its actuators at rest."""
    return np.array([x, 0, z, ahead, 0, 0, p["pilot_launch_speed"], 0, 0, 1.0])


def fly_missile(
    fields: Fields, state: np.ndarray, asked: np.ndarray, age: int, gravity: float
) -> np.ndarray:
    """Returns a missile after a step."""
    boost, sustain = fields["burn_time"] / STEP - age, fields["sustain_time"] / STEP
    burning = np.clip(boost, 0, 1), np.clip(boost + sustain, 0, 1)
    push = fields["thrust"] * burning[0] + fields["sustain_thrust"] * (burning[1] - burning[0])
    across, slowed = law.missile_forces(fields, state, asked, gravity)
    return np.append(law.step(state[:7], across, slowed, push, STEP, gravity), state[7:])


def fly_level(p: Parameters, fields: Fields, z: float) -> tuple[float, float]:
    """Returns range and time in which a level missile slows to `pilot_reach_speed`."""
    g, state, age = p["gravity"], launched(p, 0, z, 1), 0
    burn = (fields["burn_time"] + fields["sustain_time"]) / STEP
    while age < fields["life"] / STEP and (age < burn or state[6] > p["pilot_reach_speed"]):
        state, age = fly_missile(fields, state, g * law.UP, age, g), age + 1
    return float(state[0]), age * STEP


def hits_cold(p: Parameters, fields: Fields, enemy: Fields, z: float, distance: float) -> bool:
    """True if a missile hits an enemy head-on that turns away at the launch and dives."""
    g, age = p["gravity"], 0
    missile, target = launched(p, 0, z, 1), launched(p, distance, z, -1)
    while age < fields["life"] / STEP:
        sight = target[:3] - missile[:3]
        drift = target[6] * target[3:6] - missile[6] * missile[3:6]
        asked = law.guide(fields, sight, drift, missile[3:6], missile[6], g)
        away = sight[:2] / max(hypot(*sight[:2]), 1)
        ahead, left = away @ target[3:5], target[3] * away[1] - target[4] * away[0]
        rudder = 1.0 if ahead < 0 else float(np.clip(p["pilot_steering"] * left, -1, 1))
        target[7:10] = rudder, -p["pilot_dive"], 1
        across, slowed, push = law.fighter_forces(enemy, target, g)
        target[:7] = law.step(target[:7], across, slowed, push, STEP, g)
        missile, age = fly_missile(fields, missile, asked, age, g), age + 1
        after = target[:3] - missile[:3]
        path = after - sight
        nearest = sight + np.clip(-(sight @ path) / (path @ path), 0, 1) * path
        if hypot(*nearest) < p["missile_hit_radius"]:
            return True
        burnt = age >= (fields["burn_time"] + fields["sustain_time"]) / STEP
        slow = missile[6] ** 2 - 2 * g * after[2] < fields["spent_speed"] ** 2
        if missile[2] < 0 or (burnt and slow):
            return False
    return False


def find_nez(p: Parameters, fields: Fields, enemy: Fields, z: float) -> float:
    """Returns the greatest range at which it does [m]."""
    near, far = 0.0, FARTHEST
    for _ in range(12):
        middle = (near + far) / 2
        near, far = (middle, far) if hits_cold(p, fields, enemy, z, middle) else (near, middle)
    return near
