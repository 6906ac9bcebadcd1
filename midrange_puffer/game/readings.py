"""States of fighters, missiles and contacts, read from the core as arrays by name.

`Readings` is the part of `Simulation` that reads.
"""

from typing import Any

import numpy as np

from midrange_puffer._core import Core
from midrange_puffer.errors import UsageError
from midrange_puffer.game.flown_types import FlownTypes
from midrange_puffer.game.parameters import is_team, require_height, sizes_of

# Source of a contact, in this order: no track yet; the own radar sees the enemy; the track is from
# memory; the track is lost; in teams, an ally's radar sees the enemy.
SOURCES = ("unseen", "radar", "memory", "lost", "linked")
TRACKING = ("radar", "memory", "linked")  # those of a track


class Readings:
    """The states of a simulation's engagements.

    Attributes:
        parameters: a value for every parameter.
        num_envs: number of engagements.
    """

    parameters: dict[str, Any]
    num_envs: int
    _core: Core
    _types: FlownTypes | None

    @property
    def core(self) -> Core:
        """The C core itself, for callers that only read."""
        return self._core

    @property
    def fighters(self) -> dict[str, np.ndarray]:
        """The fighters' states by name, copies [num_envs, fighters].

        float32: x y [m], vx vy speed [m/s], heading [rad], rudder, throttle; with height also z,
        vz, and climb, the actuator's position. int32: alive, ammo (missiles left), wait (physics
        steps until the next launch is allowed), pressed (physics steps spent pressing, counted if
        `pressing_margin` is not 0), pilot (an index into `CONTROLLERS`).
        """
        return read_fighters(self._core)

    @property
    def ammo_by_type(self) -> np.ndarray:
        """The missiles left of each type in the loadout, int32 [num_envs, fighters, `MAX_CARRIED`].

        Raises:
            ValueError: The game is in the plane.
        """
        require_height(self.parameters, "ammo_by_type")
        state = self._core.read("fighter")
        others = [state["ammunition_2"], state["ammunition_3"]]
        return np.stack([state["ammunition"] - sum(others), *others], axis=-1)

    @property
    def types(self) -> dict[str, np.ndarray]:
        """The fighters' types by name, copies [num_envs, fighters]; only with height.

        int32: aircraft, missile (indices into `type_names`).
        All fighters of a side have the same missile and factors.
        float32: factors by which `aircraft_spread` and `missile_spread` vary these: thrust_factor,
        drag_factor, lift_factor, induced_drag_factor; missile_thrust_factor, missile_drag_factor,
        missile_lift_factor, missile_burn_time_factor.

        Raises:
            UsageError: The game is in the plane.
        """
        drawn = self._core.types()
        return {name: drawn[name].copy() for name in drawn.dtype.names or ()}

    @property
    def type_names(self) -> dict[str, tuple[str, ...]]:
        """The names of all types of the game: of "aircraft" and of "missile"; only with height.

        Raises:
            UsageError: The game is in the plane.
        """
        if self._types is None:
            raise UsageError("type_names: with height only, and dimensions = 2")
        return dict(self._types.names)

    @property
    def missiles(self) -> dict[str, np.ndarray]:
        """The missiles' states by name, copies [num_envs, slots]; all zero where no missile flies.

        float32: x y [m], vx vy speed [m/s], heading [rad], rudder; with height also z and vz.
        int32: active, owner, target, age [physics steps]; with height also kind, the place of its
        type in the loadout of its owner, from 0.
        """
        return read_missiles(self._core)

    @property
    def contacts(self) -> dict[str, np.ndarray]:
        """Each fighter's contact with its enemy, copies [num_envs, fighters]; only with sensors.

        In teams the arrays are [num_envs, fighters, fighters of the larger side]: [.., f, k] is the
        contact of fighter f with the k-th fighter of the other side; zeros if there is no such
        enemy.

        * float32 x y vx vy speed heading, with height also z vz: the enemy, as believed.
        * int32 source: an index into `SOURCES`.
        * int32 age: physics steps since the enemy was last seen, once there was a track.
        * int32 seen: number of physics steps for which the radar has seen the enemy without a
          break, or -1.
        * float32 deviation: standard deviation of the believed place, by the filter of a track [m];
          0 without noise.

        Raises:
            ValueError: The game has no sensors.
        """
        return read_contacts(self._core)

    @property
    def beliefs(self) -> dict[str, np.ndarray]:
        """Each missile's belief about its target, copies [num_envs, slots]; only with sensors.

        * float32 x y vx vy, with height also z vz: the target, as believed.
        * int32 locked: 1 while its seeker has a lock.
        * int32 unseen: physics steps since the seeker of a locked missile last saw the target.

        All are zero where no missile flies.

        Raises:
            ValueError: The game has no sensors.
        """
        return read_beliefs(self._core)

    @property
    def systems(self) -> dict[str, np.ndarray]:
        """Each fighter's systems, copies [num_envs, fighters]; only with sensors.

        * int32 command: the level of the control systems that was last given.
        * int32 silent: 1 while its radar is silent.
        * int32 chaff: cartridges left.
        * int32 cloud: physics steps until its last cloud of chaff is gone; 0 without a cloud.
        * float32 x y z: the place of that cloud [m]; 0 without one.

        Raises:
            ValueError: The game has no sensors.
        """
        return read_systems(self._core)

    @property
    def outcome(self) -> np.ndarray:
        """Outcomes, int32 [num_envs]: 0 open, 1 red has won, 2 blue has won, 3 draw."""
        return self._core.status()[0]

    @property
    def truncated(self) -> np.ndarray:
        """True where the time limit ended the engagement, bool [num_envs]."""
        return self._core.status()[1]

    @property
    def time(self) -> np.ndarray:
        """Physics steps since the start, int32 [num_envs]."""
        return self._core.status()[2]

    def observe(self) -> np.ndarray:
        """Returns the observations of all fighters, float32 [num_envs, fighters, features]."""
        out = np.empty((self.num_envs * self._core.fighters, self._core.features), np.float32)
        self._core.observe_all(out)
        return out.reshape(self.num_envs, self._core.fighters, -1)


def read_fighters(core: Core) -> dict[str, np.ndarray]:
    """Returns `Simulation.fighters`."""
    state, engagement = core.read("fighter"), core.read("engagement")
    out = _motion(state) | {
        "throttle": state["throttle"],
        "alive": state["alive"],
        "ammo": state["ammunition"],
        "wait": np.maximum(state["ready"] - engagement["time"], 0),
        "pressed": state["pressed"],
        "pilot": state["pilot"],
    }
    return out | ({"climb": state["climb"]} if "climb" in state else {})


def read_missiles(core: Core) -> dict[str, np.ndarray]:
    """Returns `Simulation.missiles`."""
    state = core.read("missile")
    names = ("active", "owner", "target", "age", "kind")
    out = _motion(state) | {name: state[name] for name in names if name in state}
    return {name: np.where(state["active"], values, 0) for name, values in out.items()}


def read_contacts(core: Core) -> dict[str, np.ndarray]:
    """Returns `Simulation.contacts`."""
    state = core.read("contact")
    contacts = _motion(state) | {name: state[name] for name in ("source", "age", "seen")}
    contacts["deviation"] = np.sqrt(state["along_xx"] + state["across_xx"])
    if not is_team(core.parameters):
        return contacts
    return {name: _by_enemy(core, values) for name, values in contacts.items()}


def read_beliefs(core: Core) -> dict[str, np.ndarray]:
    """Returns `Simulation.beliefs`."""
    active = core.read("missile")["active"]
    beliefs = core.read("belief")
    return {name: np.where(active, values, 0) for name, values in beliefs.items()}


def read_systems(core: Core) -> dict[str, np.ndarray]:
    """Returns `Simulation.systems`."""
    state = core.read("systems")
    cloud = np.maximum(state["cloud_end"] - core.read("engagement")["time"], 0)
    place = {name: np.where(cloud > 0, state[name], 0) for name in "xyz"}
    return {name: state[name] for name in ("command", "silent", "chaff")} | {"cloud": cloud} | place


def _by_enemy(core: Core, contacts: np.ndarray) -> np.ndarray:
    """Returns the core's contacts as [num_envs, fighters, fighters of the larger side]."""
    red, blue = sizes_of(core.parameters)
    out = np.zeros((core.num_envs, red + blue, max(red, blue)), contacts.dtype)
    out[:, :red, :blue] = contacts[:, : red * blue].reshape(-1, red, blue)
    out[:, red:, :red] = contacts[:, red * blue :].reshape(-1, blue, red)
    return out


def _motion(state: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Returns x y vx vy speed heading rudder of bodies by the core's fields, and height's z vz."""
    ahead, left, speed = state["c"], state["s"], state["v"]
    return {
        "x": state["x"],
        "y": state["y"],
        "vx": speed * ahead,
        "vy": speed * left,
        "speed": speed,
        "heading": np.arctan2(left, ahead),
        "rudder": state["rudder"],
        **({"z": state["z"], "vz": speed * state["u"]} if "z" in state else {}),
    }
