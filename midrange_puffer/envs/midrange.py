"""Midrange: the C core as a native PufferLib environment, and subclasses with their own reward."""

import hashlib
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from midrange_puffer.envs.arena import RENDER_MODES, Arena, Arguments, documented
from midrange_puffer.envs.critic_rows import CriticRows
from midrange_puffer.envs.given_orders import GivenOrders
from midrange_puffer.envs.groups import Buffers, joined_records
from midrange_puffer.envs.own_reward import Decision, OwnReward, settings_of_reward
from midrange_puffer.envs.sides import Sides
from midrange_puffer.game.actions import as_actions
from midrange_puffer.game.critic_views import OWN_CRITIC, critic_view
from midrange_puffer.game.observation import features_of
from midrange_puffer.game.parameters import (
    FIGHTER,
    OPTIONS,
    SIDE,
    SUBORDINATE,
    checked_agents,
    checked_order_cost,
    checked_seed,
    is_team,
    sizes_of,
)
from midrange_puffer.policies.own_code import OwnCodeError, Setting
from midrange_puffer.puffer_import import pufferlib

if TYPE_CHECKING:
    from midrange_puffer.envs.crews import Opponent


@documented(
    opponent='a pilot, "self", "pool", a model ("trained", a file), a function by name '
    '("module:name", "file.py:name"), or a mix such as "self:4,pool:2,shooter:1,fly.py:fly". The '
    "numbers are shares: each group has its share of the engagements, rounded; within a group an "
    "opponent is drawn whenever an engagement starts. Also a policy on the CPU, or a function: "
    "observations float32 [n, features] -> actions [n, controls], where whole numbers are levels "
    "and others are controls. It is called once when the environment is made, to check its "
    "actions.",
    seat='the agent\'s side in engagements against an opponent, "red" or "blue".',
    seed="0 <= seed < 2**64. Equal seeds and actions give the same bits on every machine; with a "
    "pool, only if the pools are equal, too.",
    buf="PufferLib's buffers, or None to allocate them.",
    pool="the pool's file, required if `opponent` has a pool; read at the first reset or step, "
    "and again every 64 decisions if it has changed.",
    critic='"own"; "side" or "truth" for a trainer with a central critic: each row of the '
    "observations is longer, by what only the critic sees (game/critic_views.py). "
    "`single_observation_space` is then that of these rows.",
    agents='"fighter"; "side" with action_mode = "orders" in teams: an agent is a side, which '
    "observes what each of its fighters does, one after another, and gives each an order. Its "
    'reward is the mean over its fighters. Or "subordinate": a fighter that is given orders, drawn '
    "at random; its observation ends with the order (docs/orders.md).",
    order_cost='with agents = "subordinate": what a decision costs whose controls are the '
    "opposite of those of the order's scripted course.",
    subordinates='with action_mode = "orders": the model file of a policy of agents = '
    '"subordinate", which flies the fighters by the agents\' orders; "": the scripted courses.',
    render_mode='"human": `render` shows engagement 0 in a window; "rgb_array": it returns a '
    "picture; None: nothing is rendered.",
    parameters="rows of csrc/params.h, and of a subclass the arguments of its `own_reward`.",
)
class Midrange(pufferlib.PufferEnv):
    """Mid-range air combat: a fighter with missiles against another, many engagements at once.

    `opponent` divides the engagements into up to four groups. The agents are numbered in this
    order:

    1. against itself ("self"): both sides are agents, agent = 2 * engagement + side;
    2. an agent in `seat` against scripted pilots;
    3. an agent in `seat` against frozen policies of a pool ("pool", see docs/curriculum.md);
    4. an agent in `seat` against models and functions.

    csrc/RULES.md has the rules, equations and rewards.

    With `red_size` or `blue_size` above 1, teams fight. All fighters of the side `seat`, or of both
    sides with "self", are agents. They are numbered by engagement, then by fighter, red's first.
    One opponent flies all fighters of the other side. A dead fighter stays an agent until the
    engagement ends: it observes zeros, its actions have no effect, and `alive`, which is also
    PufferLib's `masks`, is False for it.

    Rewards:
        At the end +1 for a win, 0 for a draw, -1 for a loss. Each decision also pays the change of
        a potential, and a rate for pressing the enemy. Both are zero-sum between the sides and
        weighted by the `reward_*` parameters. No reward exceeds `parameters.reward_bound` in size,
        1.5 by default; with `agents="subordinate"` the bound is greater by `order_cost`. Rewards
        are not clipped.

    Starting state:
        Range, bearing, noses and speeds are drawn from the `start_*` parameters, by the same rules
        for both sides.

    Episode end:
        The next episode starts in the same step, which returns its first observation.

        1. Termination: a side is dead and no missile can change the result; or no missile is left,
           on the wing or in the air (draw).
        2. Truncation: `time_limit` is reached with both sides alive (draw).

    Info:
        A list, empty in most steps, otherwise with one dict of lists. The lists have a value for
        each engagement against an opponent, seen from the agent's side; with `opponent="self"`, for
        each engagement, seen from red. An engagement is logged one time limit after its start, even
        if it ended earlier: if it were logged at its end, short engagements would come first and
        bias the means. The values are

        * score (win 1, draw 0.5, loss 0), win, draw, loss, mutual_kill, truncated;
        * shots, hits, shots_against, hits_against, episode_length [decisions], episode_return;
        * of engagements with shots: hit_rate, launch_range [m], and the shares of the shots from
          R_min to R_NEZ (in_nez_share), from R_NEZ to R_aero (between_share), and nearer than R_min
          or beyond R_aero (wasted_share); with height these shares are missing;
        * `score_vs_<pilot>`, `win_vs_<pilot>`; `score_vs_<name>`, `win_vs_<name>` for models and
          functions by their short names (`mix.short_names`); score_vs_pool, and
          `pool/<name of a member>`, the score against this member; draw_vs_self;
        * order_distance, with agents = "subordinate": how far the controls were from the scripted
          courses, from 0 to 1; a mean for each info;
        * `own/<name>`: the figures that a subclass gives to `log`, a mean for each call.
    """

    metadata: dict[str, Any] = {"render_modes": list(RENDER_MODES)}  # noqa: RUF012 - an instance has more
    # PufferLib's buffers, with one row for each agent.
    observations: np.ndarray
    actions: np.ndarray
    rewards: np.ndarray
    terminals: np.ndarray
    truncations: np.ndarray
    masks: np.ndarray
    num_agents: int
    # False: levels outside the action space are clipped and not looked for, as a trainer needs it.
    checks_levels = True
    # The features that `own_reward` needs, by their names in FEATURES or STG_FEATURES.
    reward_features: ClassVar[tuple[str, ...]] = ()

    def __init_subclass__(cls, **kwargs: object) -> None:
        """Rejects methods that would have no effect.

        Raises:
            TypeError: A subclass overrides `step` or `step_records`.
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
        critic: str = OWN_CRITIC,
        order_decisions: int = OPTIONS["order_decisions"].default,
        agents: str = OPTIONS["agents"].default,
        order_cost: float = OPTIONS["order_cost"].default,
        subordinates: str | Path = OPTIONS["subordinates"].default,
        **parameters: Setting,
    ) -> None:
        settings = self._take_settings(parameters)
        given = Arguments(
            type(self), num_envs, opponent, seat, observation, action_mode,
            order_decisions, render_mode, isa,
            threads, parameters, subordinates,
        )  # fmt: skip
        self._arena = arena = Arena(given, checked_seed(seed), pool)
        self._face: Arena | Sides | GivenOrders = arena  # the agents as they act
        self._sides = None
        commanded = checked_agents(agents, arena.action_mode, arena.parameters)
        cost = checked_order_cost(order_cost, agents)
        if agents != FIGHTER:
            self._check_fighters_own(agents, critic, pool)
        if commanded > 1:
            self._face = self._sides = Sides(arena)
        elif agents == SUBORDINATE:
            self._face = GivenOrders(arena, cost)
        self.num_envs, self.num_agents = arena.num_envs, self._face.agents
        self.parameters, self.render_mode = arena.parameters, render_mode
        self.observation, self.action_mode = arena.observation, action_mode
        self.order_decisions = arena.order_decisions
        spaces = self._face.spaces
        self.single_observation_space = spaces.single_observation_space
        view = critic_view(critic, arena.observation, arena.parameters)
        if view is not None:
            self.single_observation_space = view.space
        self.single_action_space = spaces.single_action_space
        self.metadata = {**self.metadata, "render_fps": arena.metadata["render_fps"]}
        super().__init__(buf)
        self._groups = arena.groups
        seen, self._critic_rows = self.observations, None
        if view is not None:
            self._critic_rows = CriticRows(view, arena.groups, arena.rows, self.sides, seen)
            seen = self._critic_rows.observations
        self.final_observations = np.zeros_like(seen) if self.reward_features else None
        results = seen, self.rewards, self.terminals, self.truncations
        self._face.bind(Buffers(*results, self.final_observations))
        features = features_of(self.observation, *sizes_of(self.parameters))
        self._own_alive = [feature.name for feature in features].index("own_alive")
        self._is_team = is_team(self.parameters) and not self._sides
        self._own_reward = None
        if self._has_own_reward():
            self._own_reward = OwnReward(self, arena.groups, arena.rows, settings)
        self._steps, self._started = 0, False
        self._own_figures: dict[str, list[float]] = {}

    def _check_fighters_own(self, agents: str, critic: str, pool: str | Path | None) -> None:
        """Checks that agents which are no fighters have nothing that only those can have.

        Raises:
            ValueError: They have this critic, this reward, or a pool.
        """
        if critic != OWN_CRITIC:
            reason = (
                f"a commander (agents = {SIDE}) sees its side already"
                if agents == SIDE
                else f"agents = {agents}"
            )
            raise ValueError(f"critic = {critic!r}: {reason}; must be {OWN_CRITIC}")
        if self._has_own_reward():
            raise ValueError(
                f"agents = {agents}: {type(self).__name__}.own_reward pays fighters; must be "
                f"{FIGHTER}"
            )
        if agents == SUBORDINATE and pool is not None:
            raise ValueError(f"pool = {str(pool)!r}: agents = {agents} cannot be opponents")

    @property
    def alive(self) -> np.ndarray:
        """True for agents with a living fighter, bool [num_agents]; by their last observation."""
        if not self._sides:
            return self.observations[:, self._own_alive] > 0
        features = len(self._arena.spaces.single_observation_space.low)  # of each of its fighters
        return (self.observations[:, self._own_alive :: features] > 0).any(axis=1)

    @property
    def sides(self) -> np.ndarray:
        """The number of each agent's side, int64 [num_agents], in the agents' order."""
        numbers, first = [], 0
        for group in self._groups:
            numbers.append(first + group.sides())
            first = numbers[-1][-1] + 1
        return np.concatenate(numbers)

    def own_reward(self, decision: Decision, **settings: object) -> dict[str, np.ndarray]:
        """Returns a reward of the user's own for a decision; subclasses override this method.

        The environment calls it once after each decision, for all agents. Arguments after
        `decision` must have defaults. They become arguments of the environment and keys of [env].

        Args:
            decision: the decision and its outcome, as arrays over the agents.
            **settings: values of the arguments that the subclass adds.

        Returns:
            The parts of the reward by name, float [agents] each. They are added to the rewards. The
            infos have the sum of each part over an engagement, as reward_<name>. Every call must
            return the same names in the same order.
        """
        return {}

    def log(self, name: str, values: float | np.ndarray) -> None:
        """Adds a figure to the metrics, `environment/own/<name>`; it changes no reward.

        A subclass calls it in `own_reward`. A row of metrics has the mean over the calls.

        Args:
            name: letters, digits and _.
            values: one number, or several of any shape, of which the mean is taken. Numbers that
                are not finite are left out.

        Raises:
            OwnCodeError: The name is another, or the values are no numbers.
        """
        if not (isinstance(name, str) and name.isidentifier()):
            raise OwnCodeError(f"log: {name!r}: a name must be letters, digits and _")
        numbers = np.asarray(values)
        if numbers.dtype.kind not in "fiub":
            raise OwnCodeError(f"log: {name} is of type {numbers.dtype}, expected numbers")
        if (finite := numbers[np.isfinite(numbers)]).size:
            self._own_figures.setdefault(f"own/{name}", []).append(float(finite.mean()))

    @classmethod
    def _has_own_reward(cls) -> bool:
        return cls.own_reward is not Midrange.own_reward

    @classmethod
    def reward_settings(cls) -> dict[str, Setting]:
        """Returns the arguments of `own_reward` after `decision`, with their defaults.

        Raises:
            OwnCodeError: An argument has no default of a known type, or the name of another
                argument of the environment.
        """
        return settings_of_reward(cls, Midrange) if cls._has_own_reward() else {}

    def _take_settings(self, parameters: dict[str, Setting]) -> dict[str, Setting]:
        """Removes `own_reward`'s arguments from `parameters`; returns them, or their defaults."""
        settings = self.reward_settings()
        for name in settings.keys() & parameters.keys():
            value, kind = parameters.pop(name), type(settings[name])
            if kind is float and type(value) is int:
                value = float(value)
            if type(value) is not kind:
                raise ValueError(f"{name} = {value!r}: must be of type {kind.__name__}")
            settings[name] = value
        return settings

    @property
    def isa(self) -> str:
        """The instruction set in use."""
        return self._arena.isa

    def reset(self, seed: int | None = None) -> tuple[np.ndarray, list]:
        """Starts episode 0 of every engagement; the seed is by default the last one given.

        Returns:
            Observations float32 [num_agents, features], and the infos of engagements that were due
            and not yet logged.
        """
        seed = self._arena.seed if seed is None else checked_seed(seed)
        infos = self._take_infos()
        self._face.restart(seed)
        self._steps, self._started = 0, True
        if self._critic_rows:
            self._critic_rows.write()
        if self._is_team:
            self.masks[:] = self.alive
        if self._own_reward:
            self._own_reward.reset()
        return self.observations, infos

    def step(
        self, actions: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, list[dict]]:
        """Makes one decision of every engagement.

        Args:
            actions: [num_agents, controls], whole numbers; any numbers if actions are continuous.

        Returns:
            Observations float32 [num_agents, features], rewards float32 [num_agents], terminals and
            truncations bool [num_agents], and infos. The arrays are the environment's own buffers.

        Raises:
            ResetNeeded: There was no reset yet.
            ValueError: The actions have another shape, or a level is outside the action space.
            TypeError: The actions have another type.
            RuntimeError: Another thread is stepping the environment.
        """
        self._step(actions)
        self._steps += 1
        infos = []
        # Logged every 32 steps, and before the core's room for records runs out.
        if self._steps % 32 == 0 or any(group.full for group in self._groups):
            infos = self._take_infos()
        return self.observations, self.rewards, self.terminals, self.truncations, infos

    def step_records(self, actions: np.ndarray) -> np.ndarray:
        """Makes one decision like `step`; returns records of ended engagements in place of infos.

        Returns:
            Array of `_core.RECORD`, the struct MrRecord of csrc/midrange.h. Its `env` is the index
            of the engagement, counted over all groups. All other results are in the environment's
            buffers.
        """
        self._step(actions)
        return joined_records((group, group.take_records()) for group in self._groups)

    def _step(self, actions: np.ndarray) -> None:
        if not self._started:
            from midrange_puffer.gymnasium_import import gymnasium

            raise gymnasium.error.ResetNeeded("reset() before step()")
        levels = self._face.levels if self.checks_levels else None
        actions = as_actions(actions, self.actions, levels=levels)
        if self._own_reward:
            self._own_reward.begin()
        self._face.fly(actions)
        if self._critic_rows:
            self._critic_rows.write()
        if self._is_team:
            self.masks[:] = self.alive  # PufferLib then ignores decisions of dead fighters
        if self._own_reward:
            self._own_reward.pay(actions)

    def _take_infos(self) -> list[dict]:
        """Returns the values of the engagements that became due since the last call."""
        lists: dict[str, list[float]] = {}
        for group in self._groups:
            for key, values in group.take_infos(self._steps * (self.order_decisions or 1)).items():
                # PufferLib averages each list, so there must be no empty one.
                if len(values):
                    lists.setdefault(key, []).extend(values.astype(float).tolist())
        if isinstance(self._face, GivenOrders):
            lists |= self._face.take_figures()
        lists |= self._own_figures
        self._own_figures = {}
        return [lists] if lists else []

    def state_hash(self) -> int:
        """Returns a 64-bit hash of all that the future depends on, except crews and orders."""
        hashes = [group.core.state_hash() for group in self._groups]
        if len(hashes) == 1:
            return hashes[0]
        words = b"".join(word.to_bytes(8, "little") for word in hashes)
        return int.from_bytes(hashlib.blake2b(words, digest_size=8).digest(), "little")

    def render(self) -> np.ndarray | None:
        """Shows engagement 0 in the way that `render_mode` names.

        "human" shows the steps since the last call in real time: 1 / metadata["render_fps"] seconds
        a step. The end of an engagement is shown somewhat longer.

        Returns:
            With "rgb_array" a picture, uint8 [height, width, 3]; otherwise None.

        Raises:
            KeyboardInterrupt: The user has closed the window.
        """
        view = self._arena.view
        if view is None:
            return None
        if self.render_mode == "rgb_array":
            return view.rgb()
        if self.render_mode == "human":
            view.show()
        return None

    def close(self) -> None:
        """Closes the window, if there is one; the cores are freed with this object."""
        self._arena.close()
