"""The law of height in float64, from csrc/RULES.md alone: the forces, and their flight by RK4.

A state is an array x y z dx dy dz v, of a fighter with its actuators rudder, climb and throttle.
The game's own step is here, too, so that it can be compared operation by operation.
"""

import functools
from collections.abc import Callable, Mapping, Sequence
from math import hypot, sqrt

import numpy as np

GRAVITY = 9.8
SOUND = 340.294  # m/s at sea level
UP = np.array([0.0, 0.0, 1.0])
HIT_RADIUS = 100.0  # m
RATES = np.array([2.0, 2.0, 1.0])  # of the actuators rudder, climb and throttle [1/s]

Fields = Mapping[str, float]
Rate = Callable[[np.ndarray], np.ndarray]


@functools.lru_cache(64)  # of a body's height several functions ask
def air(z: float) -> tuple[float, float, float]:
    """Returns thin, density and 1/c^2."""
    a = min(float(z), 11000.0)
    b = float(z) - a
    root = polynomial(a, 1.0309813e-13, 1.3354166e-9, 4.8661203e-5, 1)
    root *= polynomial(b, 1.1429625e-13, 2.9369702e-9, 7.908521e-5, 1)
    sound = polynomial(a, 7.472089e-10, 2.1678857e-5, 1) / SOUND**2
    return root**2, root**-2, sound


def polynomial(x: float, *factors: float) -> float:
    """Returns the value of a polynomial, whose factors begin with that of the highest power."""
    return functools.reduce(lambda value, factor: value * x + factor, factors)


def standard_air(z: float) -> tuple[float, float]:
    """Returns the density over that at sea level and the speed of sound, of ISO 2533 to 20 km."""
    gravity, gas, lapse, tropopause = 9.80665, 287.05287, 0.0065, 11000.0
    temperature = 288.15 - lapse * min(z, tropopause)
    pressure = (temperature / 288.15) ** (gravity / gas / lapse)
    pressure *= np.exp(-gravity * max(z - tropopause, 0) / gas / temperature)
    return pressure * 288.15 / temperature, np.sqrt(1.4 * gas * temperature)


def drag_factor(fields: Fields, mach: float) -> float:
    """Returns F, the zero-lift drag over that below the rise."""
    onset2 = fields["onset_mach"] ** 2
    y, b = max(mach**2 - onset2, 0), fields["peak_mach"] ** 2 - onset2
    high = fields["high_drag"] - 1
    return 1 + y * (2 * b * (fields["peak_drag"] - 1 - high / 2) + high * y) / (y**2 + b**2)


def drag(fields: Fields, z: float, v: float, lift: float, gravity: float = GRAVITY) -> float:
    """Returns the deceleration by drag [m/s^2]."""
    thin, density, sound = air(z)
    c0 = gravity / fields["terminal_speed"] ** 2
    k = 1 / (4 * c0 * fields["lift_drag"] ** 2)
    factor = drag_factor(fields, v * sqrt(sound))
    return c0 * density * factor * v**2 + k * thin * lift**2 / v**2


def lift_limit(fields: Fields, z: float, v: float, gravity: float = GRAVITY) -> float:
    """Returns the greatest lift [m/s^2]."""
    load = fields["load_limit"] * gravity or np.inf
    return min(air(z)[1] * v**2 / fields["turn_radius"], load)


def thrust(fields: Fields, z: float, v: float) -> float:
    """Returns the thrust of an aircraft at full throttle [m/s^2]."""
    thin, _, sound = air(z)
    lapse, mach2 = fields["thrust_lapse"], v**2 * sound
    ram = fields["ram_static"] + fields["ram"] * min(mach2, fields["ram_mach"] ** 2)
    return ram * fields["thrust"] * (1 + lapse) / (1 + lapse * thin)


def fighter_forces(
    fields: Fields, state: np.ndarray, gravity: float = GRAVITY
) -> tuple[np.ndarray, float, float]:
    """Returns the acceleration across the path [3], the drag and the thrust [m/s^2]."""
    z, (dx, dy, dz), v, (rudder, climb, throttle) = state[2], state[3:6], state[6], state[7:10]
    limit = lift_limit(fields, z, v, gravity)
    wanted = min(
        climb * np.sin(np.radians(fields["climb_max_deg"])) * v,
        fields["stall_time"] * (limit - fields["stall_load"] * gravity),
        (fields["ceiling"] - z) / fields["ceiling_time"],
    )
    fall = np.sqrt(2 * fields["floor_load"] * gravity * max(z - fields["floor"], 0))
    wanted = max(wanted, -fall)
    level = np.sqrt(max(dx**2 + dy**2, 1e-6))
    most = fields["climb_load"] * gravity
    pull = min(max(fields["climb_gain"] * (wanted - v * dz), -most), most)
    up = min(max(gravity * level + pull, -limit), limit)
    left = rudder * np.sqrt(limit**2 - up**2)
    net = up - gravity * level
    p, q = left / level, net * dz / level
    across = np.array([-p * dy - q * dx, p * dx - q * dy, net * level])
    lift = hypot(up, left)
    return across, drag(fields, z, v, lift, gravity), throttle * thrust(fields, z, v)


def guide(
    fields: Fields,
    sight: np.ndarray,
    drift: np.ndarray,
    direction: np.ndarray,
    v: float,
    gravity: float = GRAVITY,
) -> np.ndarray:
    """Returns the lift that guidance asks for [3]."""
    range2 = sight @ sight
    raised = sight + min(range2 / fields["loft_radius"], fields["loft_max"]) * UP
    turn = drift * (raised @ direction) - raised * (drift @ direction)
    weight = gravity * (UP - direction[2] * direction)
    return fields["navigation"] * v / max(range2, 1) * turn + weight


def missile_forces(
    fields: Fields, state: np.ndarray, asked: np.ndarray, gravity: float = GRAVITY
) -> tuple[np.ndarray, float]:
    """Returns the acceleration across the path [3] and the drag [m/s^2]."""
    z, direction, v = state[2], state[3:6], state[6]
    limit = lift_limit(fields, z, v, gravity)
    lift = asked * limit / max(hypot(*asked), limit)
    weight = gravity * (UP - direction[2] * direction)
    return lift - weight, drag(fields, z, v, hypot(*lift), gravity)


def motor(fields: Fields, time: float) -> float:
    """Returns the thrust of a missile's motor at a time after its launch [m/s^2]."""
    if time < fields["burn_time"]:
        return fields["thrust"]
    return fields["sustain_thrust"] * (time < fields["burn_time"] + fields["sustain_time"])


def rate(
    state: np.ndarray, across: np.ndarray, along: float, gravity: float = GRAVITY
) -> np.ndarray:
    """Returns the rate of a state; `along` is thrust less drag. Actuators stay."""
    change = np.zeros_like(state)
    change[:3] = state[6] * state[3:6]
    change[3:6] = across / state[6]
    change[6] = along - gravity * state[5]
    return change


def rk4(derivative: Rate, state: np.ndarray, dt: float) -> np.ndarray:
    """Returns the state after a step of the classical Runge-Kutta method."""
    a = derivative(state)
    b = derivative(state + dt / 2 * a)
    c = derivative(state + dt / 2 * b)
    return state + dt / 6 * (a + 2 * b + 2 * c + derivative(state + dt * c))


def fly_fighter(
    fields: Fields, state: np.ndarray, time: float, dt: float, gravity: float = GRAVITY
) -> np.ndarray:
    """Returns the state after a flight by RK4, with settled actuators."""

    def derivative(at: np.ndarray) -> np.ndarray:
        across, slowed, pushed = fighter_forces(fields, at, gravity)
        return rate(at, across, pushed - slowed, gravity)

    for _ in range(round(time / dt)):
        state = rk4(derivative, state, dt)
    return state


def step(
    state: np.ndarray,
    across: np.ndarray,
    slowed: float,
    pushed: float,
    dt: float,
    gravity: float = GRAVITY,
) -> np.ndarray:
    """Returns the state after a step of the game."""
    d, v = state[3:6], state[6]
    free = (v + dt * (pushed - gravity * d[2])) / (1 + dt * slowed / v)
    t = dt / (2 * v) * max(1.5 - free / v / 2, 0.25)
    half = across * t
    m = 1 + half @ half / 3
    tangent = half * m
    w = 1 / (1 + tangent @ tangent)
    mean = m * w * (d + tangent)
    after = state.copy()
    after[6] = max(free - gravity * dt * (mean[2] - d[2]), 20)
    after[:3] += dt / 2 * (v + after[6]) * mean
    after[3:6] += 2 * w * (tangent - (tangent @ tangent) * d)
    return after


def fly_steps(
    fields: Fields, state: np.ndarray, command: Sequence[float], steps: int, dt: float = 0.1
) -> np.ndarray:
    """Returns the state of a fighter after steps of the game."""
    for number in range(steps):
        state = state.copy()
        most = dt * RATES
        state[7:10] = np.clip(command, state[7:10] - most, state[7:10] + most)
        state = step(state, *fighter_forces(fields, state), dt)
        if number % 5 == 4:
            state[3:6] *= 1.5 - state[3:6] @ state[3:6] / 2
    return state


def fly_out(
    fields: Fields, shooter: np.ndarray, target: np.ndarray, velocity: np.ndarray, dt: float = 0.1
) -> bool:
    """Returns True if a missile hits a target that flies straight on, by RK4.

    Args:
        fields: of the missile's type.
        shooter: state at the launch, x y z dx dy dz v.
        target, velocity: of the target at the launch, [3] each.
        dt: length of a step [s], which divides the motor's times.
    """
    state, sight, time = shooter, target - shooter[:3], 0.0
    burnt = fields["burn_time"] + fields["sustain_time"]
    while time < fields["life"] and state[2] > 0:
        thrust = motor(fields, time + dt / 2)

        def derivative(at: np.ndarray, pushed: float = thrust) -> np.ndarray:
            where = target + velocity * at[7]
            d, v = at[3:6], at[6]
            asked = guide(fields, where - at[:3], velocity - v * d, d, v)
            across, slowed = missile_forces(fields, at[:7], asked)
            return np.append(rate(at[:7], across, pushed - slowed), 1.0)

        state = rk4(derivative, np.append(state, time), dt)[:7]
        time += dt
        before, sight = sight, target + velocity * time - state[:3]
        path = sight - before
        nearest = before + np.clip(-(before @ path) / (path @ path), 0, 1) * path
        if np.linalg.norm(nearest) < HIT_RADIUS:
            return True
        energy = state[6] ** 2 + 2 * GRAVITY * (state[2] - target[2])
        if time > burnt and energy < fields["spent_speed"] ** 2:
            return False
    return False
