"""Noise and the filter of csrc/RULES.md a second time, in float64, written from that text alone.

Vectors are in space; the plane is at height 0.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import hypot, radians, sqrt
from types import EllipsisType
from typing import TYPE_CHECKING

import numpy as np

from midrange_puffer import _core

if TYPE_CHECKING:
    from reference import Parameters
    from reference_sensors import Contact

UP = np.array([0.0, 0.0, 1.0])
NEAR_TRACK = 1_000.0  # m
ROWS = ("xx", "xv"), ("xv", "vv")
# The state of a filter: place, velocity, and covariances [2, 2] along the line and across it.
State = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]


def is_noisy(p: "Parameters") -> bool:
    return any(p[f"radar_noise_{of}"] for of in ("bearing_deg", "range", "speed"))


def numbers(draws: Sequence[int], time: int, contact: int) -> list[float]:
    """Returns the random numbers n1 to n4 of a contact at a time."""
    seed, engagement, episode = draws
    key = seed & 0xFFFFFFFF, seed >> 32
    counters = [(engagement, episode, time, 1 + 4 * contact + j) for j in range(4)]
    drawn = [_core.philox4x32(counter, key) for counter in counters]
    return [sqrt(3) * (sum(bits >> 8 for bits in four) / 2**24 - 2) for four in drawn]


@dataclass
class Measurement:
    """A measurement of a radar: place, direction and speed, and the variances of their errors."""

    place: np.ndarray
    line: np.ndarray
    speed: float
    along: float
    across: float
    speeding: float


def measure(
    p: "Parameters",
    radar: np.ndarray,
    target: np.ndarray,
    velocity: np.ndarray,
    reach: float,
    is_right: bool,
    n: Sequence[float],
) -> Measurement:
    """Returns what a radar at a place measures of a target with errors of `n` deviations."""
    distance = hypot(*(target - radar))
    share = (distance / reach) ** 2
    u = (target - radar) / distance
    left = np.cross(UP, u) / hypot(*np.cross(UP, u))
    up = np.cross(u, left) * (p["dimensions"] == 3)
    angle = share * radians(p["radar_noise_bearing_deg"])
    line = u + angle * ((-n[1] if is_right else n[1]) * left + n[3] * up)
    line = line / hypot(*line)
    along, speeding = share * p["radar_noise_range"], share * p["radar_noise_speed"]
    return Measurement(
        radar + max(distance + along * n[0], 0) * line,
        line,
        float(velocity @ u) + speeding * n[2],
        *(max(deviation**2, 1.0) for deviation in (along, angle * distance, speeding)),
    )


def first(m: Measurement, speed: float) -> State:
    """Returns the state of a filter that begins with a measurement."""
    return m.place, m.speed * m.line, np.diag([m.along, m.speeding]), np.diag([m.across, speed**2])


def grown(covariance: np.ndarray, time: float, acceleration: float) -> np.ndarray:
    """Returns the covariances after a time with random accelerations."""
    flight = np.array([[1.0, time], [0.0, 1.0]])
    moved = acceleration * np.array([time**2 / 2, time])
    return flight @ covariance @ flight.T + np.outer(moved, moved)


def filtered(
    m: Measurement,
    place: np.ndarray,
    velocity: np.ndarray,
    along: np.ndarray,
    across: np.ndarray,
) -> State:
    """Returns the state of a filter after a measurement, by the formulas of Kalman's filter."""
    ahead = np.array([m.line @ place, m.line @ velocity])
    aside = np.array([place - ahead[0] * m.line, velocity - ahead[1] * m.line])
    measured = m.line @ m.place
    for seen, value, variance in (([1, 0], measured, m.along), ([0, 1], m.speed, m.speeding)):
        ahead, along = corrected(np.array(seen, float), value, variance, ahead, along)
    beside = m.place - measured * m.line
    aside, across = corrected(np.array([1.0, 0.0]), beside, m.across, aside, across)
    return aside[0] + ahead[0] * m.line, aside[1] + ahead[1] * m.line, along, across


def corrected(
    seen: np.ndarray,
    value: float | np.ndarray,
    variance: float,
    state: np.ndarray,
    covariance: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:
    """Returns a state of place and velocity and its covariances after a measured `seen @ state`."""
    gain = covariance @ seen / (seen @ covariance @ seen + variance)
    miss = value - seen @ state
    return state + np.multiply.outer(gain, miss), (np.eye(2) - np.outer(gain, seen)) @ covariance


def covariances(
    contacts: Mapping[str, np.ndarray], index: int | tuple[int, ...] | EllipsisType
) -> tuple[np.ndarray, np.ndarray]:
    """Returns a contact's covariances as the core shows them: along the line and across it.

    Those of all contacts, by `...`, are [2, 2, engagements, contacts].
    """
    along, across = (
        np.array([[contacts[f"{of}_{name}"][index] for name in row] for row in ROWS], float)
        for of in ("along", "across")
    )
    return along, across


def quality(contact: "Contact") -> float:
    return NEAR_TRACK / (NEAR_TRACK + sqrt(contact.along[0, 0] + contact.across[0, 0]))
