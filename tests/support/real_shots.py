"""Shots with height that are flown in the game itself, against targets whose pilots are here.

The evasions follow csrc/RULES.md, "Fly-outs", and types and factors are those that the game draws:
nothing is shared with the core's fly-outs but the physics step.
"""

import numpy as np
import reference_height as ref

from midrange_puffer import Simulation
from midrange_puffer.game.types import parse_types, types_of

RED, BLUE = 0, 1
GAME = {"dimensions": 3, "substeps": 1, "time_limit": 300}
# Of each evasion: the side to which it turns, if it beams, and the time to go at which it begins.
EVASIONS = {
    "fly_on": (0, False, -1),
    "cold_left": (1, False, 100),
    "cold_right": (-1, False, 100),
    "beam_left": (1, True, 100),
    "beam_right": (-1, True, 100),
    "late_left": (1, False, 8),
    "late_right": (-1, False, 8),
}


def random_shots(count: int, seed: int, far: float = 60_000) -> dict[str, np.ndarray]:
    """Returns the geometries of shots at 1 to 13 km, most of them near the nose: arrays [count]."""
    rng = np.random.default_rng(seed)
    return {
        "range": rng.uniform(2000, far, count),
        "off": rng.uniform(-1, 1, count),
        "aspect": rng.uniform(-np.pi, np.pi, count),
        "launch_speed": rng.uniform(230, 400, count),
        "target_speed": rng.uniform(230, 400, count),
        "height": rng.uniform(1000, 13_000, count),
        "target_height": rng.uniform(1000, 13_000, count),
        "climb": rng.uniform(-0.5, 0.5, count),
    }


def placed(shots: dict[str, np.ndarray], seed: int, **game) -> Simulation:
    """Returns a game with the fighters of each shot in an engagement: blue is red's target."""
    count = len(shots["range"])
    sim = Simulation(count, seed, **(GAME | game))
    for env in range(count):
        of = {name: float(values[env]) for name, values in shots.items()}
        sim.set_fighter(
            env, RED, x=0, y=0, z=of["height"], heading_deg=np.degrees(of["off"]),
            climb_deg=np.degrees(of["climb"]), speed=of["launch_speed"],
        )  # fmt: skip
        sim.set_fighter(
            env, BLUE, x=of["range"], y=0, z=of["target_height"], climb_deg=0, rudder=0, climb=0,
            heading_deg=180 + np.degrees(of["aspect"]), speed=of["target_speed"],
        )  # fmt: skip
    for env, throttle in enumerate(cruise(sim).tolist()):
        sim.set_fighter(env, BLUE, throttle=throttle)
    return sim


def cruise(sim: Simulation) -> np.ndarray:
    """Returns the throttle by which each target holds its speed in level flight."""
    types = types_of(parse_types(sim.parameters["types"]))["aircraft"]
    names, drawn = sim.type_names["aircraft"], sim.types
    factors = {name: drawn[name][:, BLUE] for name in drawn if name.endswith("_factor")}
    zero, induced, pushed = np.empty((3, sim.num_envs))
    heights, speeds = (sim.fighters[name][:, BLUE].tolist() for name in ("z", "speed"))
    for env, (z, v) in enumerate(zip(heights, speeds, strict=True)):
        fields = types[names[drawn["aircraft"][env, BLUE]]]
        zero[env] = ref.drag(fields, z, v, 0.0)
        induced[env] = ref.drag(fields, z, v, ref.GRAVITY) - zero[env]
        pushed[env] = ref.thrust(fields, z, v)
    slowed = factors["drag_factor"] * zero + factors["induced_drag_factor"] * induced
    return np.clip(slowed / (factors["thrust_factor"] * pushed), 0, 1)


def hits(shots: dict[str, np.ndarray], evasion: str, seed: int, **game) -> np.ndarray:
    """Returns True for each shot that hits a target that evades, bool [count]."""
    side, beams, begin = EVASIONS[evasion]
    sim = placed(shots, seed, **game)
    begun = np.zeros(sim.num_envs, bool)
    dive = 0 if beams else sim.parameters["pilot_dive"]
    controls = np.zeros((sim.num_envs, 2, 4), np.float32)
    controls[:, RED, 3] = 1  # the game launches before it moves anything
    missiles = launched(sim)
    while missiles["active"].any():
        target = {name: values[:, BLUE].astype(float) for name, values in sim.fighters.items()}
        away = {name: missiles[name][:, 0] - target[name] for name in ("x", "y", "z")}
        begun |= times_to_go(away, missiles, target) <= begin
        bearing = np.arctan2(away["y"], away["x"])
        course = bearing + np.pi
        if beams:  # the missile stays on the wing that it is nearer to
            is_left = np.sin(bearing - target["heading"]) >= 0
            course = bearing + np.where(is_left, -np.pi / 2, np.pi / 2)
        error = course - target["heading"]
        steer = 4 * np.sin(error)
        near = (np.cos(error) > 0) & (np.abs(steer) < 1)
        controls[:, BLUE, 0] = np.where(begun, np.where(near, steer, side), 0)
        controls[:, BLUE, 1] = np.where(begun, -dive, 0)
        controls[:, BLUE, 2] = 1.0 if begun.all() else np.where(begun, 1, cruise(sim))
        sim.step(controls)
        controls[:, RED, 3] = 0
        missiles = sim.missiles
    return sim.fighters["alive"][:, BLUE] == 0


def launched(sim: Simulation) -> dict[str, np.ndarray]:
    """Returns missiles as they begin: ahead of the red fighters, with their velocities."""
    names = ("x", "y", "z", "vx", "vy", "vz", "speed")
    out = {name: sim.fighters[name][:, :1].astype(float) for name in names}
    for name in ("x", "y", "z"):
        out[name] += sim.parameters["missile_launch_offset"] * out[f"v{name}"] / out["speed"]
    return out | {"active": np.ones((sim.num_envs, 1), bool)}


def times_to_go(away: dict, missiles: dict, target: dict) -> np.ndarray:
    """Returns range / closing speed of the missiles to their targets [s], at most 100."""
    closing = sum(away[name] * (target[f"v{name}"] - missiles[f"v{name}"][:, 0]) for name in away)
    range2 = sum(value**2 for value in away.values())
    return np.where(closing > 0, np.minimum(range2 / np.maximum(closing, 1e-9), 100), 100)
