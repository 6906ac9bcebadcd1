"""Fly-outs of missiles by the law of height in C."""

from collections.abc import Callable, Sequence

import numpy as np
import reference_height as ref
from height import GRAVITY, Body, Law, body

SPEED = 300.0  # m/s, of the shooter and of its target


def cold(target: Body) -> tuple[float, float, float]:
    """Returns commands of a target that turns away from a shooter at negative x, and runs."""
    d = target.direction
    rudder = float(np.clip(-4 * d.y, -1, 1)) if d.x > 0.9 else 1.0
    return rudder, 0.0, 1.0


def fly_out(
    law: Law,
    distance: float,
    height: float,
    direction: Sequence[float],
    commands: Callable[[Body], Sequence[float]] | None = None,
) -> bool:
    """Returns True if a missile hits a target at its own height.

    Args:
        law: with the types of the missile and of the target.
        distance: from the shooter to the target [m].
        height: of both [m].
        direction: of the target. The shooter flies along x at it.
        commands: of the target; None: it flies straight on at its speed.
    """
    shot, target = body((0, 0, height), v=SPEED), body((distance, 0, height), direction, SPEED)
    missile, sight = law.missile, np.array([distance, 0, 0])
    burnt = missile["burn_time"] + missile["sustain_time"]
    for age in range(round(missile["life"] / law.dt)):
        law.shoot(shot, age, target=target)
        if commands is not None:
            law.fly(target, commands(target), 1)
        else:
            place = target.position
            place.x += law.dt * SPEED * target.direction.x
            place.y += law.dt * SPEED * target.direction.y
        at, to = shot.position, target.position
        before, sight = sight, np.array([to.x - at.x, to.y - at.y, to.z - at.z])
        if law.least_range(before, sight) < ref.HIT_RADIUS:
            return True
        energy = shot.v**2 + 2 * GRAVITY * (at.z - to.z)
        spent = (age + 1) * law.dt > burnt and energy < missile["spent_speed"] ** 2
        if spent or at.z < 0:
            return False
    return False


def reach(hits: Callable[[float], bool]) -> float:
    """Returns the greatest distance at which a missile hits, to 1 % [m]."""
    near, far = 1000.0, 400_000.0
    while far > 1.01 * near:
        middle = (near * far) ** 0.5
        near, far = (middle, far) if hits(middle) else (near, middle)
    return near
