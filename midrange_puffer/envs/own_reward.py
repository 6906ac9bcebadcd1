"""A reward of the user's own: what it is given of each decision, and how it is paid and kept."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from midrange_puffer.envs.groups import Group, joined_records
from midrange_puffer.envs.moment import Fighters, Moment, Sides
from midrange_puffer.game.observation import features_of
from midrange_puffer.game.parameters import PARAMETERS, keywords, sizes_of, suggest
from midrange_puffer.game.records import SHAPING, outcomes
from midrange_puffer.policies.own_code import OwnCodeError, Setting, settings_of, where_raised
from midrange_puffer.puffer_import import pufferlib

# The parts of the environment's own reward.
OURS = ("result", *SHAPING)


@dataclass(frozen=True)
class Decision:
    """One decision of all agents, and what came of it.

    Nothing of it may be changed. All arrays change with later decisions: copy what is to be kept.

    Attributes:
        before, after: how they stood. Of an engagement that ended, `after` is its end.
        actions: [agents, 3], int32 or float32, as they were given.
        rewards: float32 [agents], what the environment itself pays.
        terminals, truncations: bool [agents].
        seconds: length of a decision.
        ended: by group of engagements the group, which agents are its, and its new records.
    """

    before: Moment
    after: Moment
    actions: np.ndarray
    rewards: np.ndarray
    terminals: np.ndarray
    truncations: np.ndarray
    seconds: float
    ended: Sequence[tuple[Group, slice, np.ndarray]]

    @cached_property
    def records(self) -> np.ndarray:
        """Of the engagements that ended, array of `_core.RECORD`; `env` counts through all."""
        return joined_records((group, records) for group, _, records in self.ended)

    @cached_property
    def result(self) -> np.ndarray:
        """1 won, 0 drawn, -1 lost; not-a-number while it goes on. float32 [agents]."""
        result = np.full(len(self.rewards), np.nan, np.float32)
        for group, rows, records in self.ended:
            for seat, agents in group.agents_of(records):
                found = outcomes(records, seat)
                won = found["win"].astype(np.float32) - found["loss"]
                result[rows][agents] = won[:, None]
        return result


def settings_of_reward(env_class: type, base: type) -> dict[str, Setting]:
    """The arguments of a class's own_reward after the decision, and their defaults.

    Args:
        env_class: a subclass of `base`, whose arguments these may not be.
        base: the environment.

    Raises:
        OwnCodeError: One has no default that tells its kind, or is an argument of `base`.
    """
    name = f"{env_class.__name__}.own_reward"
    found = settings_of(env_class.own_reward, name, "env", skip=2)
    for argument in found:
        if argument in {*PARAMETERS, *keywords(base.__init__)}:
            raise OwnCodeError(
                f"{name}: its argument {argument} is one of {base.__name__} already; rename it"
            )
    return found


class OwnReward:
    """Pays what `own_reward` of a subclass of Midrange gives, and keeps count of it.

    Args:
        env: the Midrange, with its buffers.
        groups: its engagements.
        rows: which agents are of each group.
        settings: values for the arguments of own_reward.

    Raises:
        OwnCodeError: `reward_features` names a feature that there is not.
    """

    def __init__(
        self,
        env: pufferlib.PufferEnv,
        groups: Sequence[Group],
        rows: Sequence[slice],
        settings: Mapping[str, object],
    ) -> None:
        self._env, self._groups, self._rows, self._settings = env, groups, rows, settings
        self._name = f"{type(env).__name__}.own_reward"
        self._seconds = env.parameters["physics_dt"] * env.parameters["substeps"]
        self._columns = self._find_columns(env)
        # How all fighters stand now, and at the end of the step; of each group.
        fields = len(Fighters._fields)
        shapes = [(fields, group.core.fighters, group.core.num_envs) for group in groups]
        self._now, self._before, self._final = (
            [np.zeros(shape, np.float32) for shape in shapes] for _ in range(3)
        )
        self._features: dict[str, np.ndarray] | None = None  # as they are now
        self._parts: tuple[str, ...] = ()
        self._sums = np.zeros((0, env.num_agents), np.float32)

    def _find_columns(self, env: pufferlib.PufferEnv) -> dict[str, int]:
        """Where the features that are asked for stand in an observation."""
        features = features_of(env.observation, *sizes_of(env.parameters))
        names = [feature.name for feature in features]
        for name in env.reward_features:
            if name not in names:
                raise OwnCodeError(
                    f"{type(env).__name__}.reward_features: {name}: no such feature in observation "
                    f"= {env.observation!r}{suggest(name, names)}"
                )
        return {name: names.index(name) for name in env.reward_features}

    def reset(self) -> None:
        """Every engagement has begun anew."""
        self._sums[:] = 0
        for group, now in zip(self._groups, self._now, strict=True):
            group.core.observe_states(now)
        self._features = self._features_in(self._env.observations)

    def begin(self) -> None:
        """A step is about to come: the groups get room for how the fighters stand after it."""
        if self._features is None:  # nobody has reset the environment
            self.reset()
        self._now, self._before = self._before, self._now
        for group, now, final in zip(self._groups, self._now, self._final, strict=True):
            group.states = (now, final)

    def pay(self, actions: np.ndarray) -> None:
        """Add to the rewards of the step that was made with these actions.

        Raises:
            OwnCodeError: own_reward fails, or gives what is no reward.
        """
        env = self._env
        fresh = [group.collect() for group in self._groups]
        ended = [*zip(self._groups, self._rows, fresh, strict=True)]
        decision = Decision(
            before=Moment(self._features, self._with_sides(self._before)),
            after=Moment(self._final_features(), self._with_sides(self._final)),
            actions=actions,
            rewards=env.rewards.copy(),
            terminals=env.terminals,
            truncations=env.truncations,
            seconds=self._seconds,
            ended=ended,
        )
        try:
            parts = env.own_reward(decision, **self._settings)
        except Exception as error:  # whatever the user's code may raise
            raise OwnCodeError(f"{self._name}: {where_raised(error)}") from error
        self._take(parts)
        for group, rows, records in ended:
            if len(records):
                self._settle(group, rows, records)
        self._features = self._features_in(env.observations)

    def _with_sides(self, states: list[np.ndarray]) -> list[tuple[Sides, np.ndarray]]:
        """The states of each group, with whose its agents are."""
        return [(group.flown_sides, one) for group, one in zip(self._groups, states, strict=True)]

    def _features_in(self, observations: np.ndarray) -> dict[str, np.ndarray]:
        return {name: observations[:, column].copy() for name, column in self._columns.items()}

    def _final_features(self) -> dict[str, np.ndarray]:
        """The features at the end of the step, before others began in the places of the ended."""
        found = self._features_in(self._env.observations)
        if found:
            ended = np.flatnonzero(self._env.terminals | self._env.truncations)
            for name, column in self._columns.items():
                found[name][ended] = self._env.final_observations[ended, column]
        return found

    def _take(self, parts: object) -> None:
        """Check what own_reward gave, add it to the rewards and to the sums."""
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
        """Raise OwnCodeError where a part of the reward is no number for each agent."""
        is_array, shape = isinstance(values, np.ndarray), (self._env.num_agents,)
        if is_array and values.shape == shape and values.dtype.kind in "fiub":
            return
        its = f"a {type(values).__name__}"
        if is_array:
            its = f"of shape {values.shape} and type {values.dtype}"
        raise OwnCodeError(
            f"{self._name}: its part {name} is {its}, expected an array of shape {shape}, a number "
            f"for each agent"
        )

    def _complain(self, parts: Mapping[str, np.ndarray]) -> None:
        """Raise the error of a reward that is not finite."""
        for name, values in parts.items():
            for agent in np.flatnonzero(~np.isfinite(values.astype(np.float32))):
                raise OwnCodeError(
                    f"{self._name}: its part {name} is {values[agent]} for agent {agent}, expected "
                    f"finite numbers of float32"
                )
        raise OwnCodeError(f"{self._name}: the sum of its parts is too large for float32")

    def _name_parts(self, names: tuple[str, ...]) -> None:
        """Take the names of the parts, which never change, and make room for their sums."""
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
        """What was paid for the engagements that ended goes with their records."""
        sums = self._sums[:, rows]
        for seat, agents in group.agents_of(records):
            paid = np.add.reduce(sums[:, agents], axis=2) / agents.shape[1]
            group.note_paid(records, seat, paid)
            sums[:, agents] = 0
