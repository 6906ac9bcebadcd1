"""An opponent of your own: a function that flies the other seat.

    puffer train midrange --config configs/default.ini \
        --env.opponent examples/own_opponent.py:sniper:1,ace:3
    puffer eval midrange --load-model-path trained --opponent examples/own_opponent.py:sniper
    puffer league midrange trained examples/own_opponent.py:sniper
    puffer play midrange --blue examples/own_opponent.py:sniper

The function is called once for each decision, for all of its engagements together.
"""

import numpy as np

from midrange_puffer import FEATURES

COLUMN = {feature.name: column for column, feature in enumerate(FEATURES)}
SCALE = {feature.name: feature.scale for feature in FEATURES}
REACH = 8_000.0  # m: it fires this far inside R_max


def sniper(observations: np.ndarray) -> np.ndarray:
    """Flies at the enemy, fires well inside R_max, and turns away from near missiles.

    Args:
        observations: float32 [n, features], of the fighters that it flies.

    Returns:
        float32 [n, 3]: rudder from 1 (left) to -1 (right), throttle from 0 to 1, fire above 0.5.
    """

    def feature(name: str) -> np.ndarray:
        return observations[:, COLUMN[name]] * SCALE[name]

    enemy_left = np.arctan2(feature("enemy_left"), feature("enemy_ahead"))  # angles [rad]
    missile_left = np.arctan2(feature("inbound_1_left"), feature("inbound_1_ahead"))
    threatened = feature("inbound_1_urgency") > 0.4  # less than 15 s to go
    # To turn away from a missile, turn until its bearing is 180 degrees.
    error = np.where(threatened, np.angle(-np.exp(1j * missile_left)), enemy_left)
    rudder = np.clip(3.0 * error, -1, 1)
    fire = (feature("own_reach") > REACH) & (np.abs(enemy_left) < 0.3) & (feature("own_in_air") < 1)
    return np.stack([rudder, np.ones_like(rudder), fire], axis=1).astype(np.float32)
