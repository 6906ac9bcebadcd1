"""Midrange: the C core as a native PufferLib environment."""

import hashlib
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from midrange_puffer import _core
from midrange_puffer.envs.crew import OutsideCrew, find_crew
from midrange_puffer.envs.flown_groups import FlownGroup, PoolGroup
from midrange_puffer.envs.groups import Group, SelfGroup, joined_records
from midrange_puffer.envs.own_reward import Decision, OwnReward, settings_of_reward
from midrange_puffer.envs.rendering import RENDER_MODES, checked_render_mode, make_env_view
from midrange_puffer.game.actions import as_actions
from midrange_puffer.game.envelope import game_envelope
from midrange_puffer.game.observation import features_of, spaces_of
from midrange_puffer.game.parameters import (
    OPTIONS,
    POOL,
    SCRIPTED,
    SEATS,
    SELF,
    checked_choice,
    checked_num_envs,
    checked_seed,
    checked_threads,
    is_team,
    observed,
    resolve,
    seat_weights,
    sizes_of,
)
from midrange_puffer.policies.mix import FIGHTERS, OTHERS, divide
from midrange_puffer.policies.own_code import Setting
from midrange_puffer.puffer_import import pufferlib

if TYPE_CHECKING:
    from midrange_puffer.envs.crew import Opponent


class Midrange(pufferlib.PufferEnv):
    """Mid-range air combat: a fighter with missiles against another, many engagements at once.

    `opponent` divides the engagements into up to four groups, and their agents follow in this
    order: both seats are agents ("self", agent = 2 * engagement + seat); an agent in `seat` fights
    scripted pilots; an agent in `seat` fights frozen policies ("pool", see pool.py), which fly the
    other seat without being agents, and so do models and functions. The rules, equations and
    rewards are in csrc/RULES.md.

    With `red_size` or `blue_size` above 1, teams fight: all fighters of the side `seat`, or of both
    with "self", are agents, numbered by engagement and then by fighter, red's first. They observe
    rows (`team_rows`), and choose with the third action at which of the enemies they observe they
    fire, 0 for none. Whoever flies the other side flies all of it. A dead fighter stays an agent
    until the engagement ends; it observes zeros, its actions do nothing, and `alive`, PufferLib's
    `masks`, masks it out.

    Action space:
        MultiDiscrete([5, 3, 2]), int32: rudder -1 ... 1 (right ... left), throttle 0 ... 1, fire
        no/yes. Anything outside is clipped to the nearest. With `action_mode="continuous"`
        Box([-1, 0, 0], [1, 1, 1], (3,), float32): rudder and throttle anything between, fire yes
        above 0.5; not-a-number counts as 0.

    Observation space:
        Box(-1, 1, (features,), float32): own state, enemy, own missiles in the air and inbound
        missiles, each group by time to go, and the clock, in the pilot's own frame. `FEATURES` is
        the table of names, scales and meanings; with `observation="stg"` it is `STG_FEATURES`,
        which are the same and, after them, how both stand in each other's missile envelope and by
        how much inbound missiles would miss.

    Rewards:
        +1 for a win, 0 for a draw, -1 for a loss, at the end; besides, the change of a potential
        and a rate for pressing the enemy, zero-sum between the seats and weighted by the `reward_*`
        parameters. At most `parameters.reward_bound` in size, 1.5 by default; nothing is clipped.

    Starting state:
        Range, bearing, noses and speeds drawn from the `start_*` parameters, alike for both seats.

    Episode end (the next episode starts in the same step; its first observation is returned):
        1. Termination: a side is dead and no missile can change the result; or nobody has a missile
           left, on the wing or in the air (draw).
        2. Truncation: `time_limit` is reached with both alive (draw).

    Info:
        A list with, now and then, one dict of lists: a value for each engagement against others
        than itself, seen from the agent's seat (with `opponent="self"`: against itself, from red).
        An engagement is told of one time limit after its beginning, however soon it ended: of those
        that begin together the short ones end first, and would tell nothing of the long ones. The
        values: score (win 1, draw 0.5, loss 0), win, draw, loss, mutual_kill, truncated,
        shots, hits, shots_against, hits_against, hit_rate and launch_range [m] (of engagements with
        shots), likewise in_nez_share, between_share and wasted_share (of the shots: from R_min to
        R_NEZ, from there to R_aero, beyond that or nearer than R_min), episode_length [decisions],
        episode_return. Besides score_vs_<pilot>, win_vs_<pilot>, score_vs_pool,
        pool/<name of a member> (score), score_vs_ and win_vs_ the short names of models and
        functions (`mix.short_names`), and draw_vs_self.

    Args:
        num_envs: engagements, at least one for each group.
        opponent: a pilot, "self", "pool", a model ("trained", a file), a function by name
            ("module:name", "file.py:name"), or a mix such as "self:4,pool:2,shooter:1,fly.py:fly":
            shares of the engagements, rounded to whole ones by groups; who of a group flies is
            drawn for each engagement where it starts. Or a policy on the CPU, or a function:
            observations float32 [n, features] -> actions [n, 3] of this action mode.
        seat: the agent's seat against others than itself, "red" or "blue".
        observation: "default" or "stg"; with sensing = radar it is "radar", whatever it says.
        action_mode: "discrete" or "continuous".
        seed: 0 <= seed < 2**64. The same seed and actions give the same bits everywhere, and with a
            pool the same pool, too.
        buf: PufferLib's buffers, or None to allocate them.
        isa: instruction set, "auto" for the best this machine has.
        threads: that step the engagements; the result does not depend on it.
        pool: the pool's file, needed where `opponent` has a pool; read at the first reset or step
            and looked at again now and then.
        render_mode: what `render` does with engagement 0: "human" shows it in a window,
            "rgb_array" returns a picture; None: there is nothing to render.
        **parameters: rows of csrc/params.h, and of a subclass the arguments of its `own_reward`.

    Raises:
        ValueError: an argument of the wrong name, type or range.
        TypeError: an opponent that is none of these.
        UsageError: a model or a function that cannot be used; pygame is not installed, or there is
            no display for "human".
    """

    metadata: ClassVar[dict[str, object]] = {"render_modes": list(RENDER_MODES)}
    # Features that `own_reward` is given, by their names in FEATURES or STG_FEATURES.
    reward_features: ClassVar[tuple[str, ...]] = ()

    def __init_subclass__(cls, **kwargs: object) -> None:
        """Refuse what would have no effect.

        Raises:
            TypeError: A subclass has a `step` that is not this one.
        """
        super().__init_subclass__(**kwargs)
        for name in ("step", "step_records"):
            if getattr(cls, name) is not getattr(Midrange, name):
                raise TypeError(
                    f"{cls.__name__}.{name}: PufferLib does not look at the rewards that it "
                    f"returns, but at the environment's buffer. Pay a reward of your own in "
                    f"own_reward(self, decision, …), and leave {name} as it is"
                )

    def __init__(
        self,
        num_envs: int = OPTIONS["num_envs"].default,
        opponent: "Opponent" = OPTIONS["opponent"].default,
        seat: str = OPTIONS["seat"].default,
        observation: str = OPTIONS["observation"].default,
        action_mode: str = OPTIONS["action_mode"].default,
        seed: int = 0,
        buf: Any = None,
        isa: str = "auto",
        threads: int = 1,
        pool: str | Path | None = None,
        render_mode: str | None = None,
        **parameters: float,
    ) -> None:
        self.render_mode = checked_render_mode(render_mode)
        checked_choice("seat", seat)
        self.num_envs = checked_num_envs(num_envs)
        settings = self._take_settings(parameters)
        self.parameters = resolve(parameters, type(self), teams=True)
        self._is_team = is_team(self.parameters)
        self.observation = observed(observation, self.parameters)
        self.action_mode = checked_choice("action_mode", action_mode)
        self._seed = checked_seed(seed)
        named = isinstance(opponent, str)
        self._counts = divide(self.num_envs, opponent) if named else {OTHERS: self.num_envs}
        if POOL in self._counts and pool is None:
            raise ValueError(f"opponent = {opponent!r}: needs a pool's file, pool = None")
        self._groups = self._make_groups(
            opponent, SEATS.index(seat), isa, checked_threads(threads), pool
        )
        self.num_agents = sum(group.agents for group in self._groups)
        spaces = spaces_of(self.observation, self.action_mode, *sizes_of(self.parameters))
        self.single_observation_space = spaces.single_observation_space
        self.single_action_space = spaces.single_action_space
        features = features_of(self.observation, *sizes_of(self.parameters))
        self._own_alive = [feature.name for feature in features].index("own_alive")
        super().__init__(buf)
        self.final_observations = np.zeros_like(self.observations) if self.reward_features else None
        self._bind()
        self._own_reward = None
        if self._has_own_reward():
            self._own_reward = OwnReward(self, self._groups, self._rows, settings)
        self._steps = 0
        decision = self.parameters["physics_dt"] * self.parameters["substeps"]
        self.metadata = {**self.metadata, "render_fps": 1 / decision}
        self._view = make_env_view(self._groups[0], self._seeds()[0], render_mode)

    @property
    def alive(self) -> np.ndarray:
        """Whose fighter lives, bool [num_agents], by what was last observed."""
        return self.observations[:, self._own_alive] > 0

    @property
    def sides(self) -> np.ndarray:
        """The side that each agent is of, int64 [num_agents], numbered in their order."""
        numbers, first = [], 0
        for group in self._groups:
            numbers.append(first + group.sides())
            first = numbers[-1][-1] + 1
        return np.concatenate(numbers)

    def own_reward(self, decision: Decision, **settings: object) -> dict[str, np.ndarray]:
        """What agents are paid besides, for a decision that was made; for subclasses to replace.

        It is called once for all agents after each decision. The arguments after `decision` have
        defaults; they are arguments of the environment, too, and keys of [env].

        Args:
            decision: what is known of it, as arrays over the agents.

        Returns:
            For each part of the reward, by its name, float [agents]. It is added to the rewards,
            and told of in the infos as reward_<name>: its sum over an engagement. The names and
            their order are always the same.
        """
        return {}

    @classmethod
    def _has_own_reward(cls) -> bool:
        return cls.own_reward is not Midrange.own_reward

    @classmethod
    def reward_settings(cls) -> dict[str, Setting]:
        """The arguments of `own_reward` after the decision, and their defaults.

        Raises:
            OwnCodeError: One has no default that tells its kind, or is another argument's name.
        """
        return settings_of_reward(cls, Midrange) if cls._has_own_reward() else {}

    def _take_settings(self, parameters: dict[str, object]) -> dict[str, object]:
        """Take the arguments of `own_reward` out of the parameters; those not given by default."""
        settings = self.reward_settings()
        for name in settings.keys() & parameters.keys():
            value, kind = parameters.pop(name), type(settings[name])
            if kind is float and type(value) is int:
                value = float(value)
            if type(value) is not kind:
                raise ValueError(f"{name} = {value!r}: must be of type {kind.__name__}")
            settings[name] = value
        return settings

    def _make_groups(
        self,
        opponent: "Opponent",
        seat: int,
        isa: str,
        threads: int,
        pool: str | Path | None,
    ) -> list[Group]:
        agent = seat_weights({"agent": 1.0})
        sizes = sizes_of(self.parameters)
        features = len(features_of(self.observation, *sizes))
        others = find_crew(opponent, self.observation, features, (*FIGHTERS, SELF, POOL))
        pilots = seat_weights({**others.shares, "agent": 0.0})
        envelope = game_envelope(self.parameters)
        groups: list[Group] = []
        for seed, (kind, count) in zip(self._seeds(), self._counts.items(), strict=True):
            other = pilots if kind == SCRIPTED else agent
            sides = (agent, other) if seat == 0 else (other, agent)
            weights = [side for side, size in zip(sides, sizes, strict=True) for _ in range(size)]
            core = _core.Core(
                self.parameters, count, seed, weights, True, isa, envelope, self.observation,
                threads,
            )  # fmt: skip
            if kind == SELF:
                groups.append(SelfGroup(core, self.action_mode, alone=len(self._counts) == 1))
            elif kind == POOL:
                groups.append(PoolGroup(core, seat, self.action_mode, Path(pool), seed))
            elif kind == OTHERS:
                make_crew = partial(
                    OutsideCrew, others.outsiders, count,
                    threads=threads, action_mode=self.action_mode,
                )  # fmt: skip
                groups.append(FlownGroup(core, seat, self.action_mode, make_crew, seed))
            else:
                groups.append(Group(core, seat, self.action_mode))
        return groups

    def _seeds(self) -> list[int]:
        """A seed for each group; a single one has the environment's."""
        if len(self._counts) == 1:
            return [self._seed]
        streams = np.random.SeedSequence(self._seed).spawn(len(self._counts))
        return [int(stream.generate_state(1, np.uint64)[0]) for stream in streams]

    def _bind(self) -> None:
        """Give the groups their parts of the buffers; they write into them in place."""
        outputs = (
            self.observations, self.rewards, self.terminals, self.truncations,
            self.final_observations,
        )  # fmt: skip
        ends = np.cumsum([group.agents for group in self._groups])
        self._rows = [
            slice(end - group.agents, end) for group, end in zip(self._groups, ends, strict=True)
        ]
        for group, rows in zip(self._groups, self._rows, strict=True):
            group.bind(*(None if output is None else output[rows] for output in outputs))

    @property
    def isa(self) -> str:
        """The instruction set in use."""
        return self._groups[0].core.isa

    def reset(self, seed: int | None = None) -> tuple[np.ndarray, list]:
        """Start episode 0 of every engagement, by default with the seed last given.

        Returns:
            Observations float32 [num_agents, features], and infos of engagements that were due and
            not yet logged.
        """
        if seed is not None:
            self._seed = checked_seed(seed)
        infos = self._take_infos()
        for group, group_seed in zip(self._groups, self._seeds(), strict=True):
            group.reset(group_seed)
        self.rewards[:] = 0
        self.terminals[:] = False
        self.truncations[:] = False
        self._steps = 0
        self._mask_dead()
        if self._own_reward:
            self._own_reward.reset()
        if self._view:
            self._view.reset(self._seeds()[0])
        return self.observations, infos

    def step(
        self, actions: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, list[dict]]:
        """One decision of every engagement.

        Args:
            actions: [num_agents, 3], whole numbers or, where they are continuous, any.

        Returns:
            Observations float32 [num_agents, features], rewards float32 [num_agents], terminals
            and truncations bool [num_agents], all of them the environment's own buffers, and infos.

        Raises:
            ValueError: actions of another shape.
            TypeError: actions of another type.
            RuntimeError: another thread is in it.
        """
        self._step(actions)
        self._steps += 1
        # Log now and then, but always before the room for records could run out.
        if self._steps % 32 == 0 or any(group.full for group in self._groups):
            return (*self._results(), self._take_infos())
        return (*self._results(), [])

    def step_records(self, actions: np.ndarray) -> np.ndarray:
        """One decision, as `step`, with records of the engagements that ended instead of infos.

        Returns:
            Array of `_core.RECORD`, the struct MrRecord of csrc/midrange.h; its `env` is the
            engagement's index, through all groups. Everything else is in the environment's own
            buffers.
        """
        self._step(actions)
        return joined_records((group, group.take_records()) for group in self._groups)

    def _step(self, actions: np.ndarray) -> None:
        actions = as_actions(actions, self.actions)
        if self._own_reward:
            self._own_reward.begin()
        for group, rows in zip(self._groups, self._rows, strict=True):
            group.step(actions[rows])
        self._mask_dead()
        if self._own_reward:
            self._own_reward.pay(actions)
        if self._view:
            self._view.follow(self._groups[0].first_controls(actions[self._rows[0]]))

    def _mask_dead(self) -> None:
        """Tell PufferLib whose decisions count, as it has it: in `masks`."""
        if self._is_team:
            self.masks[:] = self.alive

    def _results(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        return self.observations, self.rewards, self.terminals, self.truncations

    def _take_infos(self) -> list[dict]:
        """The engagements due since the last call; none is left out or given twice."""
        lists: dict[str, list[float]] = {}
        for group in self._groups:
            for key, values in group.take_infos(self._steps).items():
                # PufferLib averages over lists; a key without a value must not be there at all.
                if len(values):
                    lists.setdefault(key, []).extend(values.astype(float).tolist())
        return [lists] if lists else []

    def state_hash(self) -> int:
        """64-bit hash of the engagements: of their whole future but for who flies from outside."""
        hashes = [group.core.state_hash() for group in self._groups]
        if len(hashes) == 1:
            return hashes[0]
        words = b"".join(word.to_bytes(8, "little") for word in hashes)
        return int.from_bytes(hashlib.blake2b(words, digest_size=8).digest(), "little")

    def render(self) -> np.ndarray | None:
        """Show engagement 0, as `render_mode` says.

        "human" shows what happened since the last call in real time: 1 / metadata["render_fps"]
        seconds a step, and the end of an engagement somewhat longer.

        Returns:
            "rgb_array": a picture, uint8 [height, width, 3].

        Raises:
            KeyboardInterrupt: somebody has closed the window.
        """
        if self.render_mode == "rgb_array":
            return self._view.rgb()
        if self.render_mode == "human":
            self._view.show()
        return None

    def close(self) -> None:
        """Close the window, if there is one; the cores are freed with this object."""
        if self._view:
            self._view.close()
