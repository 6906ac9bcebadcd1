"""The space-time graph: what will be in the next seconds, and what could be.

All of it is flown by the C core with the steps and the guidance of the game (csrc/RULES.md, "Space-
time graph"); the simulation stays as it is.
"""

from dataclasses import dataclass

import numpy as np

from midrange_puffer import _core
from midrange_puffer.parameters import finite
from midrange_puffer.sim import Simulation

LAUNCHED = 0  # slot of the missile that the enemy launches now, in the lanes where it does


@dataclass(frozen=True, eq=False)
class MissilePrediction:
    """A missile in the air, if both fighters hold their controls.

    Attributes:
        slot, owner, target: which missile, and the seats that it belongs to and goes for.
        points: float32 [T, 2], m; not-a-number from its end on.
        hits: whether it hits its target within the horizon.
        ended: s from now at which it hits, is spent or loses its target; None if it flies on.
        harmless: s from now after which it comes no nearer to its target: it has been outrun or has
            passed, is spent, or its target is dead. None if it hits, or still burns or closes in at
            the horizon.
        miss: least distance to its target within the horizon, m; 0 if it hits.
        escape_miss: the same, [2], if the seat of the graph escapes to the left, to the right.
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

    An escape is full rudder to one side until the tail is to the enemy, then straight away from it,
    at full throttle. A fighter that is hit stays where it was hit.

    Attributes:
        seat: whose graph it is.
        times: float64 [T], from 0 on.
        own: [T, 2], the own track at the present controls.
        escapes: [2, T, 2], escapes to the left and right, each from a missile that the enemy launches
            now; it ends where that missile hits.
        fronts: [T, M, 2], the threat cone: where a missile launched by the enemy now is at each time,
            if the own fighter makes the m-th of M turns at full throttle, from half a turn to the
            left to half a turn to the right. Not-a-number from a missile's end on. None if the enemy
            cannot launch: one of the two is dead, or it has no missile left.
        escape_miss: [2], m, least distance of each escape and its missile within the horizon; 0 if it
            hits. None if the enemy cannot launch.
        missiles: those in the air.
    """

    seat: int
    times: np.ndarray
    own: np.ndarray
    escapes: np.ndarray
    fronts: np.ndarray | None
    escape_miss: np.ndarray | None
    missiles: tuple[MissilePrediction, ...]


def spacetime(
    sim: Simulation, env: int = 0, seat: int = 0, horizon: float = 20.0, interval: float = 1.0
) -> SpaceTime:
    """The space-time graph of `seat` in engagement `env`.

    Args:
        sim: the simulation; it is not changed.
        env, seat: whose graph.
        horizon: how far to look ahead, s.
        interval: time from point to point, s; rounded to whole physics steps.

    Raises:
        ValueError: a horizon or interval that is none, or too many points.
        IndexError: no such engagement or seat.
    """
    dt = sim.parameters["physics_dt"]
    for name, value in (("horizon", horizon), ("interval", interval)):
        if finite(value) is None or value <= 0:
            raise ValueError(f"{name} = {value!r}: must be a number of seconds above 0")
    steps = max(1, round(interval / dt))
    count = int(horizon / (steps * dt) + 1e-6) + 1
    moments, predictions = sim.core.look_ahead(env, seat, steps, count)

    own, flown = moments["own"], moments["missiles"]
    threatened = predictions[LAUNCHED, _core.AHEAD_THREATENED_ESCAPES]
    threat = bool(threatened["present"].all())
    return SpaceTime(
        seat=seat,
        times=np.arange(count) * (steps * dt),
        own=own[:, _core.AHEAD_HELD].copy(),
        escapes=own[:, _core.AHEAD_THREATENED_ESCAPES].swapaxes(0, 1).copy(),
        fronts=flown[:, LAUNCHED, _core.AHEAD_TURNS].copy() if threat else None,
        escape_miss=threatened["miss"].copy() if threat else None,
        missiles=tuple(
            _missile(sim, env, slot, flown[:, slot, _core.AHEAD_HELD], predictions[slot])
            for slot in np.flatnonzero(predictions[:, _core.AHEAD_HELD]["present"])
        ),
    )


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
