"""An engagement as it is, in one vector: for critics that see everything, and for logs.

Nothing in it depends on what the sides know.
"""

from collections.abc import Sequence

import numpy as np

from midrange_puffer import _core
from midrange_puffer.game.parameters import SEATS
from midrange_puffer.game.simulation import MAX_AMMUNITION

# What each number is divided by; then it is clipped to [-1, 1].
PLACE = 200_000.0  # m, from the middle of the plane
SPEED = 2_000.0  # m/s
AGE = 200.0  # s
_BODY = {"x": PLACE, "y": PLACE, "c": 1.0, "s": 1.0, "v": SPEED, "rudder": 1.0}
_FIGHTER = {"alive": 1.0} | _BODY | {"throttle": 1.0, "ammunition": float(MAX_AMMUNITION)}
_MISSILE = {"active": 1.0, "owner": 1.0} | _BODY | {"age": AGE}

MISSILES_PER_FIGHTER = _core.MISSILES // _core.FIGHTERS
_BODY_NAMES = {"c": "heading_cos", "s": "heading_sin", "v": "speed"}


def state_names(agents: Sequence[str]) -> tuple[str, ...]:
    """What the numbers of a state are, where these fight: red, then blue."""
    slots = [f"missile_{slot}" for slot in range(len(agents) * MISSILES_PER_FIGHTER)]
    return (
        "time_left",
        *(f"{agent}_{_BODY_NAMES.get(name, name)}" for agent in agents for name in _FIGHTER),
        *(f"{slot}_{_BODY_NAMES.get(name, name)}" for slot in slots for name in _MISSILE),
    )


STATE = state_names(SEATS)


def truth(core: _core.Core, env: int = 0) -> np.ndarray:
    """The state of an engagement, float32 in [-1, 1]; in one against one `STATE` names its numbers.

    The time that is left, as a share of the time limit; all fighters; all slots of missiles, which
    are zeros where none is in the air. The owner of a missile is 0 for the first fighter and 1 for
    the last, in one against one red and blue.
    """
    dt, limit = core.parameters["physics_dt"], core.parameters["time_limit"]
    fighters, missiles = core.read("fighter"), core.read("missile")
    time = core.read("engagement")["time"][env] * dt
    columns = [fighters[name][env] / scale for name, scale in _FIGHTER.items()]
    ages = missiles["age"] * dt
    owners = missiles["owner"] / (core.fighters - 1)
    missiles |= {"age": ages, "owner": owners}
    slots = [missiles[name][env] / scale for name, scale in _MISSILE.items()]
    slots = np.stack(slots, axis=1) * missiles["active"][env][:, None]
    left = 1 - time.ravel() / limit
    state = np.concatenate([left, np.stack(columns, axis=1).ravel(), slots.ravel()])
    return state.clip(-1, 1).astype(np.float32)
