"""Small helpers to set up and fly a `Simulation` in tests."""

from math import atan2

import numpy as np

from midrange_puffer import Simulation
from midrange_puffer.game.paths import Paths

RED, BLUE = 0, 1
OPEN, RED_WINS, BLUE_WINS, DRAW = range(4)

# Actuators that arrive within a step, no load limits, no end: what the closed forms suppose.
IDEAL = {
    "fighter_load_limit": 0,
    "missile_load_limit": 0,
    "fighter_rudder_rate": 1000,
    "fighter_throttle_rate": 1000,
    "missile_rudder_rate": 1000,
    "time_limit": 3600,
    "substeps": 1,
}
FAR = 500_000.0  # m; out of reach of everything

State = dict[str, float]


def controls(
    red: tuple[float, float, float] = (0, 1, 0),
    blue: tuple[float, float, float] = (0, 1, 0),
    num_envs: int = 1,
) -> np.ndarray:
    """Returns (rudder, throttle, fire) of both seats, the same in every engagement."""
    return np.tile(np.array([red, blue], np.float32), (num_envs, 1, 1))


def hold(
    sim: Simulation,
    decisions: int,
    red: tuple[float, float, float] = (0, 1, 0),
    blue: tuple[float, float, float] = (0, 1, 0),
) -> None:
    """Plays `decisions` with the same controls."""
    command = controls(red, blue, len(sim.outcome))
    for _ in range(decisions):
        sim.step(command)


def read(group: dict[str, np.ndarray], index: int, env: int = 0) -> State:
    """Returns one body's row of `sim.fighters` or `sim.missiles` in float64."""
    return {name: float(values[env, index]) for name, values in group.items()}


def fighter(sim: Simulation, seat: int = RED, env: int = 0) -> State:
    return read(sim.fighters, seat, env)


def missile(sim: Simulation, index: int = 0, env: int = 0) -> State:
    return read(sim.missiles, index, env)


def course(state: State) -> float:
    """Returns the direction of the velocity [rad]."""
    return atan2(state["vy"], state["vx"])


def turned(before: float, after: float) -> float:
    """Returns the angle from one course to another, in (-pi, pi]."""
    return -((before - after + np.pi) % (2 * np.pi) - np.pi)


def place(sim: Simulation, env: int = 0, *, blue: State | None = None, **red: float) -> None:
    """Puts red at the origin flying along +x, blue far ahead of it; keywords override."""
    base = {"x": 0, "y": 0, "heading_deg": 0, "speed": 300, "rudder": 0, "throttle": 1}
    sim.set_fighter(env, RED, **(base | red))
    sim.set_fighter(env, BLUE, **(base | {"x": FAR, "heading_deg": 180} | (blue or {})))


def missiles_in_the_air(sim: Simulation, owner: int, env: int = 0) -> int:
    active = sim.missiles["active"][env].astype(bool)
    return int((active & (sim.missiles["owner"][env] == owner)).sum())


def followed(red: str, blue: str, seed: int = 0, **parameters: float) -> tuple[Simulation, Paths]:
    """Flies an engagement of two pilots to its end; returns it and the paths."""
    sim = Simulation(1, seed, red, blue, **parameters)
    paths = Paths(sim)
    while not sim.outcome[0]:
        sim.step()
        paths.note()
    return sim, paths
