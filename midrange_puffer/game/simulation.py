"""Simulation: the C core for tests, tools and notebooks, without learning."""

import hashlib
import json
import math
import operator
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from midrange_puffer import _core
from midrange_puffer.errors import UsageError
from midrange_puffer.game.envelope import core_map
from midrange_puffer.game.orders import ORDER, ORDERS, TARGET, heads_of, parse_order
from midrange_puffer.game.parameters import (
    CONTROLLERS,
    PARAMETERS,
    RADAR,
    checked_num_envs,
    checked_seed,
    checked_threads,
    fighter_names,
    finite,
    has_height,
    is_team,
    loads_of,
    needs_map,
    observed,
    require_height,
    resolve,
    seat_weights,
    sizes_of,
    without_mission,
)
from midrange_puffer.game.types import flown_types
from midrange_puffer.names import suggest

# Limits of values that a caller may set: positions [m], speeds [m/s], missiles, ages [steps].
MAX_POSITION = 1e7
MAX_SPEED = 10_000.0
HEIGHTS = (-1000.0, 30_000.0)  # m, of settable states: a crashed fighter is below the ground
MAX_AMMUNITION = int(PARAMETERS["ammunition"].maximum)
MAX_AGE = 1_000_000_000

# Source of a contact, in this order: no track yet; the own radar sees the enemy; the track is from
# memory; the track is lost; in teams, an ally's radar sees the enemy.
SOURCES = ("unseen", "radar", "memory", "lost", "linked")
TRACKING = ("radar", "memory", "linked")  # those of a track

_LEAST_COSINE = 1e-3  # of a climb, below which a body has no heading

_SNAPSHOT_MAGIC = b"midrange-snapshot-1\n"
_DIGEST_BYTES = 32


class Simulation:
    """Engagements side by side, in which callers or scripted pilots control the fighters.

    SI units; headings counter-clockwise from +x. Fighters are numbered, red's first, then blue's;
    the parameters `red_size` and `blue_size` are their numbers. An engagement that has ended keeps
    its outcome and flies on until `reset`. Only one thread at a time may use a simulation: a call
    during another call raises RuntimeError.

    Args:
        num_envs: number of engagements, at least 1.
        seed: 0 <= seed < 2**64; draws the starts.
        red, blue: the side's controller: "agent" (the controls given to `step`) or the name of a
            pilot. For teams also a list with a controller for each fighter of the side.
        isa: instruction set; "auto" is the best that this machine has.
        observation: the observation that `observe` returns, "default" or "stg". With
            `sensing="radar"`, "default" has the sensors' data; in teams it has the rows of
            `midrange_puffer.team_rows`.
        threads: number of threads, with the caller's, that step the engagements in parts of 64; the
            result does not depend on it.
        envelope: True to make the missile envelope, by which orders fire with the permission
            "tight" in the plane. It takes time, once for each set of parameters.
        **parameters: rows of csrc/params.h.

    Raises:
        ValueError: An argument has a wrong name, type or range.
    """

    def __init__(
        self,
        num_envs: int = 1,
        seed: int = 0,
        red: str | Sequence[str] = "agent",
        blue: str | Sequence[str] = "agent",
        isa: str = "auto",
        observation: str = "default",
        threads: int = 1,
        envelope: bool = False,
        **parameters: float | str,
    ) -> None:
        self.parameters = resolve(parameters, Simulation, teams=True)
        self.num_envs = checked_num_envs(num_envs)
        seed = checked_seed(seed)
        self._flown_by = [
            *_side("red", red, self.parameters["red_size"]),
            *_side("blue", blue, self.parameters["blue_size"]),
        ]
        weights = [seat_weights({name: 1.0}) for name in self._flown_by]
        observation = observed(observation, self.parameters)
        # Building the envelope takes time: only where a pilot or the observation uses it.
        needed = envelope or needs_map(self._flown_by, observation)
        self._has_map = needed or has_height(self.parameters)
        ranges = core_map(self.parameters) if needed else None
        self._types = flown_types(self.parameters)
        self._core = _core.Core(
            self.parameters, self.num_envs, seed, weights, False, isa, ranges, observation,
            checked_threads(threads), self._types,
        )  # fmt: skip
        self.rewards = np.zeros((self.num_envs, self._core.fighters), np.float32)

    @property
    def core(self) -> _core.Core:
        """The C core itself, for callers that only read."""
        return self._core

    def reset(self, seed: int | None = None) -> None:
        """Starts every engagement from `seed`; None: the seed last given or restored."""
        self._core.reset(self._core.seed if seed is None else checked_seed(seed))
        self.rewards[:] = 0

    def start(self, env: int = 0, engagement: int = 0, episode: int = 0) -> None:
        """Starts one engagement again, as any episode of any engagement of the seed.

        Random numbers are keyed by (seed, engagement, episode), so one engagement of many can be
        flown alone.

        Args:
            env: the engagement to start.
            engagement: number of the engagement whose random numbers it uses.
            episode: number of that engagement's episode.

        Raises:
            ValueError: `engagement` or `episode` is below 0 or above 2**30.
            IndexError: There is no engagement `env`.
        """
        self._core.start(env, engagement, episode)
        self.rewards[env] = 0

    def step(self, controls: np.ndarray | None = None) -> None:
        """Makes one decision.

        Args:
            controls: float [num_envs, fighters, controls]: rudder in [-1, 1] (positive left), with
                height then climb in [-1, 1], throttle in [0, 1], fire (a shot if above 0.5). In
                teams fire = 1 is a shot at the enemy nearest the nose; `game.targets.shot_at` gives
                the value for another enemy. Values are clipped; not-a-number counts as 0. Controls
                of fighters with a pilot are ignored. None: all are 0.

        Raises:
            ValueError: The controls have another shape.
        """
        shape = (self.num_envs, self._core.fighters, self._core.controls)
        controls = np.zeros(shape) if controls is None else np.asarray(controls)
        if controls.shape != shape:
            raise ValueError(f"controls of shape {controls.shape}: must be {shape}")
        with np.errstate(over="ignore"):
            controls = np.require(controls, np.float32, ["C", "ALIGNED"])
        self._core.step_controls(controls, self.rewards)

    def controls_of(
        self, orders: Mapping[int, str], env: int = 0, controls: np.ndarray | None = None
    ) -> np.ndarray:
        """Returns controls for `step` by which fighters follow orders in the next decision.

        An order is for one decision. The fighter flies a course as scripted pilots do, so an order
        that stands is given before every decision.

        Args:
            orders: by the fighter's number its order in words, such as "crank free": see
                `game.orders.parse_order` and docs/orders.md.
            env: the engagement.
            controls: controls for all fighters, which are copied; None: all are 0.

        Returns:
            float32 [num_envs, fighters, controls].

        Raises:
            ValueError: A word is unknown, or the order speaks of what is not there: an enemy that
                the fighter does not observe, a radar that does not track it, a dead ally.
            IndexError: There is no such engagement or fighter.
        """
        core, heads = self._core, heads_of(self.parameters)
        shape = self.num_envs, core.fighters
        levels = np.full((*shape, core.controls), -1, np.int32)
        for fighter, text in orders.items():
            core.get_fighter(env, fighter)  # checks the numbers
            levels[env, fighter] = parse_order(text, heads)
        out = np.zeros((*shape, core.controls), np.float32)
        if controls is not None:
            out[:] = controls
        absent = np.zeros(shape, np.uint8)
        core.controls_of_orders(levels, out, absent)
        for fighter, text in orders.items():
            named = dict(zip(heads, levels[env, fighter].tolist(), strict=True))
            self._check_order(env, fighter, text, named, bool(absent[env, fighter]))
        return out

    def _check_order(
        self, env: int, fighter: int, text: str, levels: dict[str, int], is_absent: bool
    ) -> None:
        """Raises ValueError if an order speaks of what is not there.

        Args:
            env, fighter: whose order it is.
            text: the order.
            levels: its levels by head.
            is_absent: True if the core has found that something is missing.
        """
        where = f"{fighter_names(sizes_of(self.parameters))[fighter]}: order = {text!r}"
        if "tight" in text.split() and not self._has_map:
            raise ValueError(
                f"{where}: tight needs the missile envelope; Simulation(envelope=True) makes it"
            )
        enemies = self._observed_enemies(env, fighter)
        if levels.get(TARGET, 0) > enemies:
            raise ValueError(
                f"{where}: there is no target {levels[TARGET]}, the fighter observes {enemies} "
                f"enem{'y' if enemies == 1 else 'ies'}"
            )
        if is_absent:
            order = ORDERS[heads_of(self.parameters)[ORDER][levels[ORDER]]]
            raise ValueError(
                f"{where}: there is nothing to fly it by: {order.name} is {order.meaning}. An "
                f"agent's order would be flown {order.otherwise}"
            )

    def _observed_enemies(self, env: int, fighter: int) -> int:
        """Returns the number of enemies that a fighter observes: the living, or its tracks."""
        alive = self.fighters["alive"][env] != 0
        red = sizes_of(self.parameters)[0]
        is_enemy = (np.arange(len(alive)) >= red) != (fighter >= red)
        if self.parameters["sensing"] != RADAR:
            return int((alive & is_enemy).sum())
        source = np.atleast_1d(self.contacts["source"][env, fighter])
        return int(np.isin(source, [SOURCES.index(name) for name in TRACKING]).sum())

    def advance(self, substeps: int) -> None:
        """Flies `substeps` physics steps with the last controls: no launches, no outcome.

        `advance(a)` and then `advance(b)` is `advance(a + b)`, to the bit. In the plane, with full
        information in one against one, the path is also that of `step`. Elsewhere `step` differs:

        * With height it brings directions back to length 1.
        * With sensors it updates the beliefs of the sides.
        * It moves a believed position once for all its physics steps, which rounds otherwise.
        * In teams a missile whose target dies goes for another one after all of them. In `advance`
          it does so after the physics step of the death.
        """
        self._core.advance(substeps)

    def set_fighter(
        self,
        env: int,
        fighter: int,
        *,
        x: float | None = None,
        y: float | None = None,
        z: float | None = None,
        heading_deg: float | None = None,
        climb_deg: float | None = None,
        speed: float | None = None,
        rudder: float | None = None,
        climb: float | None = None,
        throttle: float | None = None,
        ammo: int | Sequence[int] | None = None,
        alive: bool | None = None,
    ) -> None:
        """Changes the given values of one fighter.

        A rudder, climb or throttle sets both the position and the command of that control. The
        direction is given by the heading and, with height, the angle of the climb; where only one
        of them is given, the other stays. `ammo` is the missiles left, of a load of several types
        those of each.

        Raises:
            ValueError: A value is out of range.
            IndexError: There is no such engagement or fighter.
        """
        state = self._core.get_fighter(env, fighter)
        state |= _body("fighter", x, y, speed, rudder)
        state |= self._turned("fighter", state, z, heading_deg, climb_deg)
        if climb is not None:
            require_height(self.parameters, f"climb = {climb!r}")
            state["climb"] = _within("climb", climb, -1, 1)
        if throttle is not None:
            state["throttle"] = _within("throttle", throttle, 0, 1)
        if ammo is not None:
            state |= self._ammunition(fighter, ammo)
        if alive is not None:
            if alive not in (False, True):
                raise ValueError(f"alive = {alive!r}: must be True or False")
            state["alive"] = int(alive)
        self._core.set_fighter(env, fighter, state)

    def _ammunition(self, fighter: int, ammo: int | Sequence[int]) -> dict[str, int]:
        """Returns a fighter's missiles left, by the core's names."""
        types = len(loads_of(self.parameters)[self._side(fighter)])
        counts: list[Any] = list(ammo) if isinstance(ammo, tuple | list | np.ndarray) else [ammo]
        if len(counts) != types:
            wanted = f"{types} numbers, one for each type of its load" if types > 1 else "a number"
            raise ValueError(f"ammo = {ammo!r}: must be {wanted}")
        counts = [_whole_within("ammo", count, 0, MAX_AMMUNITION) for count in counts]
        total = _whole_within("the sum of ammo", sum(counts), 0, MAX_AMMUNITION)
        second, third = (*counts[1:], 0, 0)[:2]
        return {"ammunition": total, "ammunition_2": second, "ammunition_3": third}

    def _side(self, fighter: int) -> int:
        """Returns the side of a fighter: 0 red, 1 blue."""
        return int(operator.index(fighter) >= sizes_of(self.parameters)[0])

    def set_missile(
        self,
        env: int,
        missile: int,
        *,
        owner: int,
        x: float,
        y: float,
        heading_deg: float,
        speed: float,
        age: int = 0,
        rudder: float = 0.0,
        target: int | None = None,
        z: float | None = None,
        climb_deg: float | None = None,
        kind: int = 0,
    ) -> None:
        """Puts a missile into a slot.

        Args:
            env: the engagement.
            missile: the slot.
            owner: the fighter that launched it.
            x, y, heading_deg, speed: position [m], course [degrees], speed [m/s].
            age: physics steps since the launch.
            rudder: its position; with height a missile has none.
            target: the fighter that it flies at; None: the first enemy.
            z, climb_deg: with height its height [m] and the angle of its climb [degrees]; None: 0.
            kind: the place of its type in the load of its owner, from 0.

        Raises:
            ValueError: A value is out of range, or the target is on the owner's side.
            IndexError: There is no such engagement, slot or fighter.
        """
        owner = operator.index(owner)
        types = len(loads_of(self.parameters)[self._side(owner)])
        state = {
            "active": 1,
            "owner": owner,
            "target": self._first_enemy(owner) if target is None else operator.index(target),
            "age": _whole_within("age", age, 0, MAX_AGE),
            "kind": _whole_within("kind", kind, 0, types - 1),
        }
        state |= _body("missile", x, y, speed, rudder)
        state |= {"z": 0.0, "direction_x": 1.0, "direction_y": 0.0, "direction_z": 0.0}
        state |= self._turned("missile", state, z, heading_deg, climb_deg)
        self._core.set_missile(env, missile, state)

    def _turned(
        self,
        kind: str,
        state: dict[str, float],
        z: float | None,
        heading_deg: float | None,
        climb_deg: float | None,
    ) -> dict[str, float]:
        """Returns height and direction of a body after a change, by the core's names."""
        out = {}
        for name, value in (("z", z), ("climb_deg", climb_deg)):
            if value is not None:
                require_height(self.parameters, f"{kind} {name} = {value!r}")
        if z is not None:
            out["z"] = _within(f"{kind} z", z, *HEIGHTS)
        level = state["direction_x"], state["direction_y"]
        up, along = state["direction_z"], math.hypot(*level) if has_height(self.parameters) else 1.0
        if heading_deg is not None:
            level = _core.direction(_within(f"{kind} heading_deg", heading_deg, -1e6, 1e6))
        elif along > _LEAST_COSINE:
            level = level[0] / along, level[1] / along
        elif climb_deg is not None:
            raise ValueError(
                f"{kind} climb_deg = {climb_deg!r}: it flies straight up or down; "
                "give its heading_deg, too"
            )
        if climb_deg is not None:
            along, up = _core.direction(_within(f"{kind} climb_deg", climb_deg, -90, 90))
        if heading_deg is not None or climb_deg is not None:
            out["direction_x"], out["direction_y"] = level[0] * along, level[1] * along
            out["direction_z"] = up
        return out

    def _first_enemy(self, fighter: int) -> int:
        return self._core.red_size if fighter < self._core.red_size else 0

    def launch(self, env: int, fighter: int) -> bool:
        """Launches at the nearest enemy now, regardless of the launch interval.

        Of a load the first type that is left is launched.

        Returns:
            True if a missile was launched. False if the fighter has none left or no enemy lives, or
            with sensors if the fighter has no track.
        """
        return self._core.launch(env, fighter)

    @property
    def fighters(self) -> dict[str, np.ndarray]:
        """The fighters' states by name, copies [num_envs, fighters].

        float32: x y [m], vx vy speed [m/s], heading [rad], rudder, throttle; with height also z,
        vz, and climb, the actuator's position. int32: alive, ammo (missiles left), wait (physics
        steps until the next launch is allowed), pressed (physics steps spent pressing, counted if
        `pressing_margin` is not 0), pilot (an index into `CONTROLLERS`).
        """
        state, engagement = self._core.read("fighter"), self._core.read("engagement")
        out = _motion(state) | {
            "throttle": state["throttle"],
            "alive": state["alive"],
            "ammo": state["ammunition"],
            "wait": np.maximum(state["ready"] - engagement["time"], 0),
            "pressed": state["pressed"],
            "pilot": state["pilot"],
        }
        return out | ({"climb": state["climb"]} if "climb" in state else {})

    @property
    def ammo_by_type(self) -> np.ndarray:
        """The missiles left of each type in the load, int32 [num_envs, fighters, `MAX_LOADED`].

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
        type in the load of its owner, from 0.
        """
        state = self._core.read("missile")
        names = ("active", "owner", "target", "age", "kind")
        out = _motion(state) | {name: state[name] for name in names if name in state}
        return {name: np.where(state["active"], values, 0) for name, values in out.items()}

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

        Raises:
            ValueError: The game has no sensors.
        """
        state = self._core.read("contact")
        contacts = _motion(state) | {name: state[name] for name in ("source", "age", "seen")}
        if not is_team(self.parameters):
            return contacts
        return {name: self._by_enemy(values) for name, values in contacts.items()}

    def _by_enemy(self, contacts: np.ndarray) -> np.ndarray:
        """Returns the core's contacts as [num_envs, fighters, fighters of the larger side]."""
        red, blue = sizes_of(self.parameters)
        out = np.zeros((self.num_envs, red + blue, max(red, blue)), contacts.dtype)
        out[:, :red, :blue] = contacts[:, : red * blue].reshape(-1, red, blue)
        out[:, red:, :red] = contacts[:, red * blue :].reshape(-1, blue, red)
        return out

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
        active = self._core.read("missile")["active"]
        beliefs = self._core.read("belief")
        return {name: np.where(active, values, 0) for name, values in beliefs.items()}

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

    def snapshot(self) -> bytes:
        """Returns an exact copy of the state; `restore` needs the same size and parameters."""
        body = self._identity() + self.rewards.tobytes() + self._core.snapshot()
        return _SNAPSHOT_MAGIC + hashlib.sha256(body).digest() + body

    def restore(self, snapshot: bytes) -> None:
        """Restores a snapshot's state, and the seed for `start` and `reset`.

        Raises:
            TypeError: It is not bytes.
            ValueError: It is not a snapshot, is damaged or of another simulation, or its contents
                are impossible; nothing is changed.
        """
        snapshot = bytes(memoryview(snapshot))
        start = len(_SNAPSHOT_MAGIC) + _DIGEST_BYTES
        if not snapshot.startswith(_SNAPSHOT_MAGIC):
            raise ValueError("not a snapshot of this version of midrange_puffer")
        digest, body = snapshot[len(_SNAPSHOT_MAGIC) : start], snapshot[start:]
        if hashlib.sha256(body).digest() != digest:
            raise ValueError("the snapshot is damaged or cut short")
        identity = self._identity()
        if not body.startswith(identity):
            raise ValueError("the snapshot is of a simulation of another size, seats or parameters")
        parts = np.frombuffer(body[len(identity) :], np.uint8)
        rewards, state = np.split(parts, [self.rewards.nbytes])
        if not np.isfinite(rewards[: len(rewards) // 4 * 4].view(np.float32)).all():
            raise ValueError("snapshot whose rewards are out of range")
        self._core.restore(state)
        self.rewards[:] = rewards.view(np.float32).reshape(self.rewards.shape)

    def _identity(self) -> bytes:
        """Returns a digest of size, controllers and parameters, which a snapshot must share."""
        text = json.dumps(
            [self.num_envs, self._flown_by, self._core.state_bytes, self.parameters], sort_keys=True
        )
        return hashlib.sha256(text.encode()).digest()

    def state_hash(self) -> int:
        """Returns a 64-bit hash of all that the future depends on, except parameters, pilots."""
        return self._core.state_hash()

    def fight_hash(self) -> int:
        """Returns a 64-bit hash of the flights; it leaves out the seed and engagement numbers."""
        return self._core.fight_hash()


def _side(side: str, names: str | Sequence[str], size: int) -> list[str]:
    """Returns the controllers of a side's fighters, one each."""
    controllers = [names] * size if isinstance(names, str) else list(names)
    if len(controllers) != size:
        raise ValueError(f"{side} = {names!r}: {side}_size is {size}")
    for name in controllers:
        if name not in CONTROLLERS:
            raise ValueError(
                f"{side} = {name!r}: must be one of {', '.join(CONTROLLERS)}"
                f"{suggest(str(name), CONTROLLERS)}"
            )
    return controllers


def _within(name: str, value: float, low: float, high: float) -> float:
    number = finite(value)
    if number is None or not low <= number <= high:
        raise ValueError(f"{name} = {value!r}: must be a number from {low:g} to {high:g}")
    return number


def _whole_within(name: str, value: int, low: int, high: int) -> int:
    number = _within(name, value, low, high)
    if number != int(number):
        raise ValueError(f"{name} = {value!r}: must be a whole number")
    return int(number)


def _body(
    kind: str,
    x: float | None,
    y: float | None,
    speed: float | None,
    rudder: float | None,
) -> dict[str, float]:
    """Returns those fields of a fighter or missile that are given, by the core's names."""
    state = {}
    for name, value, low, high in (
        ("x", x, -MAX_POSITION, MAX_POSITION),
        ("y", y, -MAX_POSITION, MAX_POSITION),
        ("speed", speed, 0, MAX_SPEED),
        ("rudder", rudder, -1, 1),
    ):
        if value is not None:
            state[name] = _within(f"{kind} {name}", value, low, high)
    return state


def duel_parameters(sim: Simulation, env: int, red: int, blue: int) -> dict[str, Any]:
    """Returns the parameters of one against one between two fighters, without a mission.

    With height they fly the types that they have drawn, without the factors of these.

    Args:
        sim, env: the engagement.
        red, blue: numbers of the fighters.
    """
    game = without_mission(sim.parameters) | {"red_size": 1, "blue_size": 1}
    if not has_height(game):
        return game
    names, drawn = sim.type_names, sim.types
    for side, fighter in (("red", red), ("blue", blue)):
        kinds = ("aircraft",) if game[f"{side}_missiles"] else ("aircraft", "missile")
        for kind in kinds:
            game[f"{side}_{kind}"] = names[kind][drawn[kind][env, fighter]]
    return game | {"aircraft_spread": 0.0, "missile_spread": 0.0}


def first_type_left(sim: Simulation, fighter: int) -> int:
    """Returns the place in its load of the first type of which a fighter has missiles left, or 0.

    The fighter is of the first engagement.
    """
    if not has_height(sim.parameters):
        return 0
    return int((sim.ammo_by_type[0, fighter] > 0).argmax())


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
