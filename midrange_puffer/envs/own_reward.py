"""A user's own reward: the decision that it is computed from, its payment and its logging."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, NamedTuple, Protocol

import numpy as np

from midrange_puffer.envs.groups import Group, joined_records
from midrange_puffer.game.observation import features_of
from midrange_puffer.game.parameters import PARAMETERS, SEATS, keywords, sizes_of
from midrange_puffer.game.records import SHAPING, outcomes
from midrange_puffer.names import suggest
from midrange_puffer.policies.own_code import OwnCodeError, Setting, settings_of, where_raised

# Names of the parts of the environment's own reward; a user's parts must differ.
OURS = ("result", *SHAPING)


class Fighters(NamedTuple):
    """States of fighters by name, float32 [agents] or [agents, fighters] each.

    They are the rows of MR_STATES in midrange.h.

    Attributes:
        x, y: position [m].
        direction_x, direction_y: direction of flight, a unit vector; with height its horizontal
            part.
        speed: [m/s].
        alive: 1 until the fighter is dead, then 0.
        ammunition: missiles left.
        inbound: number of missiles in the air that fly at it.
        time_to_go: least time to go of these missiles [s], at most 100; 100 without any.
        z: height [m]; 0 in the plane.
        direction_z: sine of the climb; 0 in the plane.
    """

    x: np.ndarray
    y: np.ndarray
    direction_x: np.ndarray
    direction_y: np.ndarray
    speed: np.ndarray
    alive: np.ndarray
    ammunition: np.ndarray
    inbound: np.ndarray
    time_to_go: np.ndarray
    z: np.ndarray
    direction_z: np.ndarray


class Sides:
    """Selection of the agents' fighters, and of their allies and enemies, from arrays of states.

    Args:
        group: the group of engagements.
    """

    def __init__(self, group: Group) -> None:
        self._flown = group.flown_sides()
        self.is_team = group.core.fighters > len(SEATS)

    def own(self, states: np.ndarray) -> np.ndarray:
        """Returns the agents' own states, [n, agents], from states [n, fighters, num_envs]."""
        [(own, _), *others] = self._flown
        chosen = states if others else states[:, own]  # all, if agents fly both sides
        return chosen.transpose(0, 2, 1).reshape(len(states), -1)

    def enemy(self, states: np.ndarray) -> np.ndarray:
        """Returns the states of the only enemy in one against one, [n, agents]."""
        return self.own(states[:, ::-1])

    def enemies(self, states: np.ndarray) -> np.ndarray:
        """Returns the enemies' states, [n, agents, enemies]; zeros where a side has fewer."""
        sides = []
        for own, enemy in self._flown:
            states_of_enemy = states[:, enemy].transpose(0, 2, 1)[:, :, None]
            size = len(states[0, own])
            sides.append(states_of_enemy if size == 1 else states_of_enemy.repeat(size, axis=2))
        return _by_agent(sides)

    def allies(self, states: np.ndarray) -> np.ndarray:
        """Returns the allies' states, [n, agents, allies]; zeros where a side has fewer."""
        sides = []
        for own, _ in self._flown:
            states_of_side = states[:, own].transpose(0, 2, 1)
            size = states_of_side.shape[2]
            others = [[other for other in range(size) if other != agent] for agent in range(size)]
            sides.append(states_of_side[:, :, np.array(others, int).reshape(size, size - 1)])
        return _by_agent(sides)


def _by_agent(sides: Sequence[np.ndarray]) -> np.ndarray:
    """Joins the sides' arrays [n, num_envs, agents, fighters] to [n, all agents, fighters]."""
    joined = _joined(sides, axis=2, width=3)
    return joined.reshape(len(joined), -1, joined.shape[-1])


def _joined(parts: Sequence[np.ndarray], axis: int, width: int | None = None) -> np.ndarray:
    """Joins arrays along `axis`; zeros first make them equally long along the axis `width`."""
    if len(parts) == 1:
        return parts[0]
    if width is not None:
        most = max(part.shape[width] for part in parts)
        missing = [[(0, 0)] * part.ndim for part in parts]
        for part, pads in zip(parts, missing, strict=True):
            pads[width] = (0, most - part.shape[width])
        parts = [np.pad(part, pads) for part, pads in zip(parts, missing, strict=True)]
    return np.concatenate(parts, axis)


@dataclass(frozen=True)
class Situation:
    """The fighters of all engagements at one time, as arrays over the agents.

    Attributes:
        features: float32 [agents] by name, the features in `Midrange.reward_features`.
        groups: for each group of engagements its `Sides`, and the states of its fighters, float32
            [states, fighters, num_envs].
    """

    features: Mapping[str, np.ndarray]
    groups: Sequence[tuple[Sides, np.ndarray]]

    @cached_property
    def own(self) -> Fighters:
        """The agents' fighters, [agents] each."""
        return self._fighters("own")

    @cached_property
    def enemies(self) -> Fighters:
        """Each agent's enemies, in the order of their numbers, [agents, enemies] each.

        If one side has fewer enemies than another, its arrays have zeros at the end.
        """
        return self._fighters("enemies")

    @cached_property
    def allies(self) -> Fighters:
        """The other fighters of each agent's side, by their numbers, [agents, allies] each.

        If one side has fewer allies than another, its arrays have zeros at the end.
        """
        return self._fighters("allies")

    @cached_property
    def enemy(self) -> Fighters:
        """Each agent's nearest living enemy, or its first enemy if none lives, [agents] each."""
        if not self.groups[0][0].is_team:
            return self._fighters("enemy")
        enemies = self.enemies
        ranges = np.hypot(enemies.x - self.own.x[:, None], enemies.y - self.own.y[:, None])
        nearest = np.where(enemies.alive > 0, ranges, np.inf).argmin(axis=1)
        agents = np.arange(len(nearest))
        return Fighters(*(values[agents, nearest] for values in enemies))

    @cached_property
    def range(self) -> np.ndarray:
        """Distance between each agent and its `enemy` [m], float32 [agents]."""
        return np.hypot(self.enemy.x - self.own.x, self.enemy.y - self.own.y)

    def _fighters(self, which: str) -> Fighters:
        parts = [getattr(sides, which)(states) for sides, states in self.groups]
        return Fighters(*_joined(parts, axis=1, width=2 if parts[0].ndim == 3 else None))


@dataclass(frozen=True)
class Decision:
    """One decision of all agents, and its outcome.

    A reward must not change these arrays. Later decisions overwrite them: copy what is to be kept.

    Attributes:
        before, after: the fighters before and after the decision. If an engagement has ended,
            `after` has its end, not the start of the next one.
        actions: [agents, controls], int32 or float32, as they were given.
        rewards: float32 [agents], rewards of the environment itself.
        terminals, truncations: bool [agents].
        seconds: length of a decision, or of all those of an order [s].
        ended: (group, its agents, its new records) for each group of engagements.
    """

    before: Situation
    after: Situation
    actions: np.ndarray
    rewards: np.ndarray
    terminals: np.ndarray
    truncations: np.ndarray
    seconds: float
    ended: Sequence[tuple[Group, slice, np.ndarray]]

    @cached_property
    def records(self) -> np.ndarray:
        """Records of the engagements that ended, `_core.RECORD`; `env` counts over all groups."""
        return joined_records((group, records) for group, _, records in self.ended)

    @cached_property
    def result(self) -> np.ndarray:
        """Each agent's result, float32 [agents]: 1 won, 0 drawn, -1 lost, not-a-number if open."""
        result = np.full(len(self.rewards), np.nan, np.float32)
        for group, rows, records in self.ended:
            for seat, agents in group.agents_of(records):
                results = outcomes(records, seat)
                won = results["win"].astype(np.float32) - results["loss"]
                result[rows][agents] = won[:, None]
        return result


def settings_of_reward(env_class: type, base: type) -> dict[str, Setting]:
    """Returns the arguments of a class's `own_reward` after the decision, with their defaults.

    Args:
        env_class: a subclass of `base`.
        base: the environment, whose arguments these must not be.

    Raises:
        OwnCodeError: An argument has no default of a known type, or is an argument of `base`.
    """
    name = f"{env_class.__name__}.own_reward"
    settings = settings_of(env_class.own_reward, name, "env", skip=2)
    for argument in settings:
        if argument in {*PARAMETERS, *keywords(base.__init__)}:
            raise OwnCodeError(
                f"{name}: its argument {argument} is one of {base.__name__} already; rename it"
            )
    return settings


class RewardedEnv(Protocol):
    """The part of Midrange that `OwnReward` uses."""

    parameters: dict[str, Any]
    observation: str
    order_decisions: int
    num_agents: int
    observations: np.ndarray
    rewards: np.ndarray
    terminals: np.ndarray
    truncations: np.ndarray
    final_observations: np.ndarray | None
    reward_features: ClassVar[tuple[str, ...]]

    def own_reward(self, decision: Decision, **settings: Any) -> Mapping[str, np.ndarray]:
        """Returns the parts of the reward by name."""
        ...


class OwnReward:
    """Payment of a subclass's `own_reward`: adds it to the rewards of Midrange and logs its sums.

    Args:
        env: the Midrange, with its buffers.
        groups: its groups of engagements.
        rows: the agents of each group.
        settings: values for the arguments of own_reward.

    Raises:
        OwnCodeError: `reward_features` names a feature that does not exist.
    """

    def __init__(
        self,
        env: RewardedEnv,
        groups: Sequence[Group],
        rows: Sequence[slice],
        settings: Mapping[str, Setting],
    ) -> None:
        self._env, self._groups, self._rows, self._settings = env, groups, rows, settings
        self._name = f"{type(env).__name__}.own_reward"
        decision = env.parameters["physics_dt"] * env.parameters["substeps"]
        self._seconds = decision * (env.order_decisions or 1)
        self._columns = self._find_columns()
        self._sides = [Sides(group) for group in groups]
        # For each group the fighters' states: now, before the last step, and after it (an ended
        # engagement's end in the last of these, its next start in the first).
        fields = len(Fighters._fields)
        shapes = [(fields, group.core.fighters, group.core.num_envs) for group in groups]
        self._now, self._before, self._final = (
            [np.zeros(shape, np.float32) for shape in shapes] for _ in range(3)
        )
        self._features: dict[str, np.ndarray] | None = None  # after the last step
        self._parts: tuple[str, ...] = ()
        self._sums = np.zeros((0, env.num_agents), np.float32)

    def _find_columns(self) -> dict[str, int]:
        """Returns the index in an observation of each feature in `reward_features`."""
        env = self._env
        names = [row.name for row in features_of(env.observation, *sizes_of(env.parameters))]
        for name in env.reward_features:
            if name not in names:
                raise OwnCodeError(
                    f"{type(env).__name__}.reward_features: {name}: no such feature in observation "
                    f"= {env.observation!r}{suggest(name, names)}"
                )
        return {name: names.index(name) for name in env.reward_features}

    def reset(self) -> None:
        """Starts again after a reset of all engagements."""
        self._sums[:] = 0
        for group, now in zip(self._groups, self._now, strict=True):
            group.core.observe_states(now)
        self._features = self._features_in(self._env.observations)

    def begin(self) -> None:
        """Gives the groups buffers for the states after the next step."""
        if self._features is None:  # the environment was not reset
            self.reset()
        self._now, self._before = self._before, self._now
        for group, now, final in zip(self._groups, self._now, self._final, strict=True):
            group.states = (now, final)

    def pay(self, actions: np.ndarray) -> None:
        """Adds the user's own reward to the rewards of the step that was made with these actions.

        Raises:
            OwnCodeError: own_reward fails, or does not return rewards.
        """
        env = self._env
        fresh = [group.collect() for group in self._groups]
        ended = [*zip(self._groups, self._rows, fresh, strict=True)]
        before, after = ([*zip(self._sides, x, strict=True)] for x in (self._before, self._final))
        decision = Decision(
            before=Situation(self._features or {}, before),
            after=Situation(self._final_features(), after),
            actions=actions,
            rewards=env.rewards.copy(),
            terminals=env.terminals,
            truncations=env.truncations,
            seconds=self._seconds,
            ended=ended,
        )
        try:
            parts = env.own_reward(decision, **self._settings)
        except Exception as error:  # any error of the user's code
            raise OwnCodeError(f"{self._name}: {where_raised(error)}") from error
        self._take(parts)
        for group, rows, records in ended:
            if len(records):
                self._settle(group, rows, records)
        self._features = self._features_in(env.observations)

    def _features_in(self, observations: np.ndarray) -> dict[str, np.ndarray]:
        return {name: observations[:, column].copy() for name, column in self._columns.items()}

    def _final_features(self) -> dict[str, np.ndarray]:
        """Returns the features after the step; for ended engagements those at the end."""
        features = self._features_in(self._env.observations)
        if features:
            ended = np.flatnonzero(self._env.terminals | self._env.truncations)
            final = self._env.final_observations
            assert final is not None  # allocated if there are reward_features
            for name, column in self._columns.items():
                features[name][ended] = final[ended, column]
        return features

    def _take(self, parts: object) -> None:
        """Checks the parts of the reward; adds them to the rewards and to the parts' sums."""
        if not isinstance(parts, Mapping):
            raise OwnCodeError(
                f"{self._name}: gives a {type(parts).__name__}, expected a dict: name of a part -> "
                f"float [agents]"
            )
        if tuple(parts) != self._parts:
            self._name_parts(tuple(parts))
        for row, (name, values) in zip(self._sums, parts.items(), strict=True):
            self._check_part(name, values)
            self._env.rewards += values
            row += values
        if not np.isfinite(self._env.rewards).all():
            self._complain(parts)

    def _check_part(self, name: str, values: object) -> None:
        """Raises OwnCodeError if a part of the reward is not one number for each agent."""
        shape, kind = (self._env.num_agents,), f"a {type(values).__name__}"
        if isinstance(values, np.ndarray):
            if values.shape == shape and values.dtype.kind in "fiub":
                return
            kind = f"of shape {values.shape} and type {values.dtype}"
        raise OwnCodeError(
            f"{self._name}: its part {name} is {kind}, expected an array of shape {shape}, a "
            f"number for each agent"
        )

    def _complain(self, parts: Mapping[str, np.ndarray]) -> None:
        """Raises OwnCodeError for a reward that is not finite."""
        for name, values in parts.items():
            for agent in np.flatnonzero(~np.isfinite(values.astype(np.float32))):
                raise OwnCodeError(
                    f"{self._name}: its part {name} is {values[agent]} for agent {agent}, expected "
                    f"finite numbers of float32"
                )
        raise OwnCodeError(f"{self._name}: the sum of its parts is too large for float32")

    def _name_parts(self, names: tuple[str, ...]) -> None:
        """Stores the names of the parts, which must not change later, and allocates their sums."""
        if self._parts:
            raise OwnCodeError(
                f"{self._name}: its parts are {', '.join(names)}, and before they were "
                f"{', '.join(self._parts)}: always give the same, in the same order"
            )
        for name in names:
            if not (isinstance(name, str) and name.isidentifier()) or name in OURS:
                raise OwnCodeError(
                    f"{self._name}: a part is called {name!r}: must be letters, digits and _, and "
                    f"none of {', '.join(OURS)}"
                )
        self._parts = names
        for group in self._groups:
            group.parts = names
        self._sums = np.zeros((len(names), self._env.num_agents), np.float32)

    def _settle(self, group: Group, rows: slice, records: np.ndarray) -> None:
        """Adds the parts' sums of the engagements that ended to their records."""
        sums = self._sums[:, rows]
        for seat, agents in group.agents_of(records):
            paid = np.add.reduce(sums[:, agents], axis=2) / agents.shape[1]
            group.note_paid(records, seat, paid)
            sums[:, agents] = 0
