"""Simulation: the C core for tests, tools and notebooks, without learning."""

import hashlib
import json
import operator
from collections.abc import Mapping, Sequence

import numpy as np

from midrange_puffer import _core
from midrange_puffer.game.envelope import core_map
from midrange_puffer.game.flown_types import flown_types
from midrange_puffer.game.orders import controls_in_words
from midrange_puffer.game.parameters import (
    checked_num_envs,
    checked_seed,
    checked_threads,
    has_height,
    loadouts_of,
    needs_map,
    observed,
    require_height,
    resolve,
    seat_weights,
    sizes_of,
)
from midrange_puffer.game.pilots import checked_side
from midrange_puffer.game.readings import Readings
from midrange_puffer.game.settable import (
    LEVEL,
    MAX_AGE,
    attitude,
    body_changes,
    missiles_left,
    system_changes,
    whole_within,
    within,
)
from midrange_puffer.game.snapshots import pack, unpack


class Simulation(Readings):
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
            *checked_side("red", red, self.parameters["red_size"]),
            *checked_side("blue", blue, self.parameters["blue_size"]),
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
        return controls_in_words(self._core, orders, env, controls, self._has_map)

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
        silent: bool | None = None,
        chaff: int | None = None,
    ) -> None:
        """Changes the given values of one fighter.

        A rudder, climb or throttle sets both the position and the command of that control. The
        direction is given by the heading and, with height, the angle of the climb; where only one
        of them is given, the other stays. `ammo` is the missiles left, of a loadout of several
        types those of each. `silent` is the radar's state until the next decision, and `chaff` the
        cartridges left.

        Raises:
            ValueError: A value is out of range, or the game has no such system.
            IndexError: There is no such engagement or fighter.
        """
        state = self._core.get_fighter(env, fighter)
        state |= body_changes("fighter", x, y, speed, rudder)
        state |= attitude(self.parameters, "fighter", state, z, heading_deg, climb_deg)
        if climb is not None:
            require_height(self.parameters, f"climb = {climb!r}")
            state["climb"] = within("climb", climb, -1, 1)
        if throttle is not None:
            state["throttle"] = within("throttle", throttle, 0, 1)
        if ammo is not None:
            state |= missiles_left(ammo, self._types_carried(fighter))
        if alive is not None:
            if alive not in (False, True):
                raise ValueError(f"alive = {alive!r}: must be True or False")
            state["alive"] = int(alive)
        state |= system_changes(self.parameters, silent, chaff)
        self._core.set_fighter(env, fighter, state)

    def _types_carried(self, fighter: int) -> int:
        """Returns the number of types of missiles in a fighter's loadout."""
        side = int(operator.index(fighter) >= sizes_of(self.parameters)[0])
        return len(loadouts_of(self.parameters)[side])

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
            kind: the place of its type in the loadout of its owner, from 0.

        Raises:
            ValueError: A value is out of range, or the target is on the owner's side.
            IndexError: There is no such engagement, slot or fighter.
        """
        owner = operator.index(owner)
        enemy = 0 if owner >= self._core.red_size else self._core.red_size
        state = {
            "active": 1,
            "owner": owner,
            "target": enemy if target is None else operator.index(target),
            "age": whole_within("age", age, 0, MAX_AGE),
            "kind": whole_within("kind", kind, 0, self._types_carried(owner) - 1),
            **body_changes("missile", x, y, speed, rudder),
            **LEVEL,
        }
        state |= attitude(self.parameters, "missile", state, z, heading_deg, climb_deg)
        self._core.set_missile(env, missile, state)

    def launch(self, env: int, fighter: int) -> bool:
        """Launches at the nearest enemy now, regardless of the launch interval.

        Of a loadout the first type that is left is launched.

        Returns:
            True if a missile was launched. False if the fighter has none left or no enemy lives, or
            with sensors if the fighter has no track.
        """
        return self._core.launch(env, fighter)

    def snapshot(self) -> bytes:
        """Returns an exact copy of the state; `restore` needs the same size and parameters."""
        return pack(self._identity(), self.rewards.tobytes() + self._core.snapshot())

    def restore(self, snapshot: bytes) -> None:
        """Restores a snapshot's state, and the seed for `start` and `reset`.

        Raises:
            TypeError: It is not bytes.
            ValueError: It is not a snapshot, is damaged or of another simulation, or its contents
                are impossible; nothing is changed.
        """
        state = unpack(bytes(memoryview(snapshot)), self._identity())
        parts = np.frombuffer(state, np.uint8)
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
