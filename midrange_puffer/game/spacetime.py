"""The space-time graph: predicted and possible paths of fighters and missiles in the next seconds.

It answers, for one fighter and one enemy: which missiles in the air will hit? Does a full turn away
to the left or right evade them, and a missile that the enemy fires now? How far can that missile
reach at each time?

With height the graph is still a plan: it shows how far everything gets over the ground by a time,
at whatever height. Every point also has its height.

The C core flies all paths with the game's own steps and guidance; the simulation is not changed.
See csrc/RULES.md, "Space-time graph".
"""

from dataclasses import dataclass, replace

import numpy as np

from midrange_puffer import _core
from midrange_puffer.game.parameters import finite, has_height, is_team, sizes_of
from midrange_puffer.game.simulation import Simulation
from midrange_puffer.game.targets import duel_parameters

FRONT = 16  # points of a front to each side of straight ahead
# Unit vectors to the left half, every 5 degrees: the hull is at most 0.1 % too wide.
_ANGLES = np.linspace(0, np.pi, 37)
_NORMALS = np.stack((np.cos(_ANGLES), np.sin(_ANGLES)))
_LEAST_COSINE = 1e-3  # of a climb, below which a body has no heading
MAX_STEPS = _core.MAX_ADVANCE // _core.MAX_MOMENTS  # most physics steps from point to point
LAUNCHED = 0  # slot of the missile that the enemy launches now, in lanes with that launch


@dataclass(frozen=True, eq=False)
class MissilePrediction:
    """The prediction of a missile in the air, if both fighters hold their controls.

    Attributes:
        slot: its slot.
        owner, target: seats of its launcher and its target.
        points: float32 [T, 2], or with height [T, 3], positions [m]; not-a-number after its end.
        hits: True if it hits its target within the horizon.
        ended: time from now at which it hits, is spent or loses its target [s]; None if it flies
            on.
        harmless: time from now after which it comes no nearer to its target [s]: the target outruns
            it, it has passed the target, it is spent, or the target is dead. None if it hits, or if
            it still burns or comes nearer at the horizon.
        miss: least distance to its target within the horizon [m]; 0 if it hits.
        escape_miss: [2], the same if the fighter of the graph escapes to the left, to the right.
    """

    slot: int
    owner: int
    target: int
    points: np.ndarray
    hits: bool
    ended: float | None
    harmless: float | None
    miss: float
    escape_miss: np.ndarray


@dataclass(frozen=True, eq=False)
class SpaceTime:
    """The space-time graph of one seat. Positions float32 in m, times in s from now.

    A position has D numbers: x and y in the plane, with height x, y and z. An escape is full rudder
    to one side until the tail points at the enemy, then straight on, at full throttle, with height
    in a dive of `pilot_dive`. A fighter that is hit stays where it was hit.

    Attributes:
        seat: seat of the fighter that the graph is about.
        times: float64 [T], from 0 on.
        own: [T, D], the fighter's path with its present controls.
        escapes: [2, T, D], its escapes to the left and right from a missile that the enemy launches
            now; an escape ends where that missile hits.
        fronts: [T, M, D], the threat cone: the farthest points that a missile launched by the enemy
            now can reach by each time, however it is steered. They go from the hardest turn to its
            left to the hardest turn to its right, as seen from the launch point. With height they
            are the farthest over the ground by any climb or dive, and z is the height at which the
            missile is then. A position beyond the front by more than the hit radius, at any height,
            is safe until that time. None if the enemy cannot launch: one of the two is dead, or it
            has no missile left.
        shots: [2, T, D], that missile, guided at each escape; not-a-number after its end. None if
            the enemy cannot launch.
        escape_miss: [2], least distance between each escape and its shot within the horizon [m]; 0
            if it hits. None if the enemy cannot launch.
        missiles: predictions of the missiles in the air.
    """

    seat: int
    times: np.ndarray
    own: np.ndarray
    escapes: np.ndarray
    fronts: np.ndarray | None
    shots: np.ndarray | None
    escape_miss: np.ndarray | None
    missiles: tuple[MissilePrediction, ...]

    @property
    def has_height(self) -> bool:
        """True if the fight is in three dimensions."""
        return self.own.shape[-1] == 3

    def verdict(self, side: int) -> tuple[bool, str]:
        """Returns whether an escape evades all missiles, and the reason.

        The missiles are those in the air and one that the enemy fires now.

        Args:
            side: the escape, left (0) or right (1).
        """
        inbound = [
            missile.escape_miss[side] for missile in self.missiles if missile.target == self.seat
        ]
        fired_now = [] if self.escape_miss is None else [self.escape_miss[side]]
        if self.has_height and self.escapes[side, -1, 2] < 0:
            return False, "flies into the ground"
        if 0 in inbound:
            return False, "hit by a missile in the air"
        if 0 in fired_now:
            return False, "hit by a missile fired now"
        if not inbound + fired_now:
            return True, "no missile to escape from"
        return True, f"missed by {min(inbound + fired_now) / 1000:.1f} km"


def spacetime(
    sim: Simulation, env: int = 0, seat: int = 0, horizon: float = 20.0, interval: float = 1.0
) -> SpaceTime:
    """Returns the space-time graph of `seat` in engagement `env`.

    Args:
        sim: the simulation; it is not changed.
        env: the engagement.
        seat: the fighter that the graph is about.
        horizon: length of the prediction [s].
        interval: time from point to point [s]; rounded to whole physics steps.

    Raises:
        ValueError: The horizon or interval is no number above 0, or is too long.
        IndexError: There is no such engagement or seat.
    """
    dt = sim.parameters["physics_dt"]
    for name, value in (("horizon", horizon), ("interval", interval)):
        if finite(value) is None or value <= 0:
            raise ValueError(f"{name} = {value!r}: must be a number of seconds above 0")
    longest = MAX_STEPS * dt
    if interval > longest:
        raise ValueError(
            f"interval = {interval!r}: must be at most {longest:g} s, {MAX_STEPS} physics steps"
        )
    steps = max(1, round(interval / dt))
    longest = (_core.MAX_MOMENTS - 1) * steps * dt
    if horizon > longest:
        raise ValueError(
            f"horizon = {horizon!r}: must be at most {longest:g} s, {_core.MAX_MOMENTS} points "
            f"{steps * dt:g} s apart"
        )
    count = int(horizon / (steps * dt) + 1e-6) + 1
    moments, predictions = sim.core.look_ahead(env, seat, steps, count)

    own, flown = moments["own"], moments["missiles"]
    if has_height(sim.parameters):
        own = np.concatenate((own, moments["own_height"][..., None]), axis=-1)
        flown = np.concatenate((flown, moments["missile_heights"][..., None]), axis=-1)
    threatened = predictions[LAUNCHED, _core.AHEAD_THREATENED_ESCAPES]
    threat = bool(threatened["present"].all())
    return SpaceTime(
        seat=seat,
        times=np.arange(count) * (steps * dt),
        own=own[:, _core.AHEAD_HELD].copy(),
        escapes=_paths(own, _core.AHEAD_THREATENED_ESCAPES),
        fronts=_fronts(sim, env, 1 - seat, steps, count) if threat else None,
        shots=_paths(flown[:, LAUNCHED], _core.AHEAD_THREATENED_ESCAPES) if threat else None,
        escape_miss=threatened["miss"].copy() if threat else None,
        missiles=tuple(
            _missile(sim, env, slot, flown[:, slot, _core.AHEAD_HELD], predictions[slot])
            for slot in np.flatnonzero(predictions[:, _core.AHEAD_HELD]["present"])
        ),
    )


def _paths(points: np.ndarray, lanes: slice) -> np.ndarray:
    """Returns the paths in some lanes, [lanes, T, D], from positions [T, lanes, D]."""
    return points[:, lanes].swapaxes(0, 1).copy()


def _fronts(sim: Simulation, env: int, launcher: int, steps: int, count: int) -> np.ndarray:
    """Returns a fighter's threat cone, in the form of `SpaceTime.fronts`."""
    state = sim.core.get_fighter(env, launcher)
    level = np.array((state["direction_x"], state["direction_y"]))
    ahead = level / max(np.hypot(*level), _LEAST_COSINE)
    if has_height(sim.parameters):
        cone = sim.core.high_threat_cone(env, launcher, steps, count)
        cone = cone.reshape(count, -1, 3).astype(float)
    else:
        cone = sim.core.threat_cone(state["speed"], steps, count)
        cone = cone.reshape(count, -1, 2).astype(float)
    left = np.array([_front(points) for points in cone])
    right = left[:, 1:].copy()
    right[..., 1] *= -1
    fronts = np.concatenate((left[:, ::-1], right), axis=1)
    rotation = np.stack((ahead, (-ahead[1], ahead[0])))
    fronts[..., :2] = (state["x"], state["y"]) + fronts[..., :2] @ rotation
    return fronts.astype(np.float32)


def _front(points: np.ndarray) -> np.ndarray:
    """Returns the border of the convex hull of points [n, D] and their mirror images, [FRONT, D].

    The hull is that of x and y. The border's points lie in directions from straight ahead to the
    left end of the hull. The height of each is that of the farthest point towards its side of the
    hull. Points that are not-a-number, those of spent missiles, are skipped.
    """
    points = points[np.isfinite(points[:, 0])]
    if len(points) == 0:
        return np.zeros((FRONT, points.shape[1]))
    x, y = points[:, 0], np.abs(points[:, 1])
    reach = np.stack((x, y), axis=-1) @ _NORMALS
    support = reach.max(axis=0)  # the hull: all x with x . normal <= support, and the mirror image
    surrounds = (support > 0).all()
    last = np.pi if surrounds else np.arctan2(y, x).max()
    directions = np.linspace(0, last, FRONT)
    rays = np.stack((np.cos(directions), np.sin(directions)), axis=-1)
    facing = rays @ _NORMALS
    leaves = np.where(facing > 1e-6, support / np.maximum(facing, 1e-6), np.inf)
    border = rays * leaves.min(axis=1, keepdims=True)
    heights = points[reach.argmax(axis=0), 2:][leaves.argmin(axis=1)]
    return np.concatenate((border, heights), axis=1)


def _missile(
    sim: Simulation, env: int, slot: int, points: np.ndarray, lanes: np.ndarray
) -> MissilePrediction:
    state = sim.core.get_missile(env, slot)
    held = lanes[_core.AHEAD_HELD]

    def seconds(steps: int) -> float | None:
        return None if steps < 0 else float(steps) * sim.parameters["physics_dt"]

    return MissilePrediction(
        slot=int(slot),
        owner=state["owner"],
        target=state["target"],
        points=points.copy(),
        hits=bool(held["hits"]),
        ended=seconds(held["ended"]),
        harmless=seconds(held["harmless"]),
        miss=float(held["miss"]),
        escape_miss=lanes[_core.AHEAD_ESCAPES]["miss"].copy(),
    )


# Teams


def nearest_enemy(sim: Simulation, env: int, fighter: int) -> int:
    """Returns the living enemy nearest to a fighter; if none lives, the nearest of the dead."""
    state = {name: values[env] for name, values in sim.fighters.items()}
    red, blue = sizes_of(sim.parameters)
    enemies = range(red, red + blue) if fighter < red else range(red)
    away = np.hypot(state["x"] - state["x"][fighter], state["y"] - state["y"][fighter])
    return min(enemies, key=lambda enemy: (not state["alive"][enemy], away[enemy]))


def pair_of(sim: Simulation, env: int, fighter: int, enemy: int) -> tuple[Simulation, list[int]]:
    """Returns the engagement of a fighter and an enemy alone, as one against one.

    In the result, red's fighter has number 0 and blue's number 1. It has two kinds of missiles:
    those that fly at the fighter, as missiles of the enemy, and the fighter's own missiles that fly
    at the enemy. If these need more slots than one against one has, missiles at the fighter come
    first, the nearest of them first. The clock starts anew. With height both fly the types that
    they have drawn, without the factors.

    Args:
        sim: a game with full information; it is not changed.
        env: the engagement.
        fighter, enemy: numbers of a fighter of one side and a fighter of the other.

    Returns:
        The pair's simulation; and for each of its slots, from 0 on, the missile's slot in `sim`.

    Raises:
        ValueError: Both fighters are on one side.
    """
    red, _ = sizes_of(sim.parameters)
    side = int(fighter >= red)
    if side == int(enemy >= red):
        raise ValueError(f"fighter {fighter}, enemy {enemy}: must be of the two sides")
    out = Simulation(1, **duel_parameters(sim, env, *sorted((fighter, enemy))))
    for number, place in ((fighter, side), (enemy, 1 - side)):
        out.core.set_fighter(0, place, sim.core.get_fighter(env, number))
    missiles = {name: values[env] for name, values in sim.missiles.items()}
    inbound = missiles["active"] * (missiles["target"] == fighter)
    outbound = (missiles["owner"] == fighter) * (missiles["target"] == enemy)
    own = sim.core.get_fighter(env, fighter)
    away = np.hypot(missiles["x"] - own["x"], missiles["y"] - own["y"])
    slots = np.flatnonzero(inbound | missiles["active"] * outbound)
    slots = sorted(slots.tolist(), key=lambda slot: (not inbound[slot], away[slot]))
    slots = sorted(slots[: out.core.slots])
    for place, slot in enumerate(slots):
        seats = {"target": side, "owner": 1 - side}
        if not inbound[slot]:
            seats = {"target": 1 - side, "owner": side}
        out.core.set_missile(0, place, sim.core.get_missile(env, slot) | seats)
    return out, slots


def pair_graph(
    sim: Simulation,
    env: int,
    fighter: int,
    enemy: int | None = None,
    horizon: float = 20.0,
    interval: float = 1.0,
) -> SpaceTime:
    """Returns the space-time graph of a fighter and one enemy, who may fire now.

    It works in all games: in one against one it returns the same as `spacetime(sim, env, fighter)`.
    In teams, the graph's `seat` and its missiles' owners and targets are sides (0 red, 1 blue), and
    the missiles' slots are those of `sim`.

    Args:
        sim: a game with full information; it is not changed.
        env: the engagement.
        fighter: the fighter that the graph is about.
        enemy: a fighter of the other side; None: `nearest_enemy`.
        horizon, interval: as in `spacetime`.

    Raises:
        ValueError, IndexError: As in `spacetime` and `pair_of`.
    """
    if not is_team(sim.parameters):
        return spacetime(sim, env, fighter, horizon, interval)
    if enemy is None:
        enemy = nearest_enemy(sim, env, fighter)
    pair, slots = pair_of(sim, env, fighter, enemy)
    side = int(fighter >= sizes_of(sim.parameters)[0])
    graph = spacetime(pair, 0, side, horizon, interval)
    missiles = (replace(missile, slot=slots[missile.slot]) for missile in graph.missiles)
    return replace(graph, missiles=tuple(missiles))
