"""What the environments for Gymnasium and PettingZoo have in common: engagements of one core."""

from collections.abc import Iterator, Mapping
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from midrange_puffer import _core
from midrange_puffer.envs.crew import OutsideCrew, find_crew
from midrange_puffer.envs.flown_groups import FlownGroup
from midrange_puffer.envs.groups import Group, SelfGroup
from midrange_puffer.envs.rendering import RENDER_MODES, checked_render_mode, make_env_view
from midrange_puffer.envs.start_options import BY_SEAT, EQUALS, checked_options, place
from midrange_puffer.envs.truth import truth
from midrange_puffer.game.actions import action_buffer, as_actions
from midrange_puffer.game.envelope import game_envelope
from midrange_puffer.game.observation import features_of, spaces_of
from midrange_puffer.game.parameters import (
    SEATS,
    checked_choice,
    checked_num_envs,
    checked_seed,
    checked_threads,
    is_team,
    observed,
    seat_weights,
    sizes_of,
)
from midrange_puffer.game.records import summary
from midrange_puffer.gymnasium_import import gymnasium

if TYPE_CHECKING:
    from midrange_puffer.envs.crew import Crew, Opponent
    from midrange_puffer.policies.contestants import Mixed

NOBODY = object()  # as the opponent: both seats are agents


class Arena:
    """Engagements side by side, their agents' results in buffers, and how it all looks.

    Args:
        num_envs: engagements, at least 1.
        opponent: as of `crew.find_crew`, or `NOBODY`.
        seat: the only agent's, "red" or "blue".
        observation: "default" or "stg".
        action_mode: "discrete" or "continuous".
        render_mode: what `render` does with engagement 0: "human", "rgb_array" or None.
        auto_reset: start the next episode of an engagement in the step in which one ends.
        isa: instruction set, "auto" for the best this machine has.
        threads: that step the engagements, and compute a policy in the other seat.
        parameters: a value for each row of csrc/params.h, as of `resolve`.
        wingmen: who flies the others of the agent's side in teams, as an `opponent`; None: they are
            agents, too.

    Attributes:
        spaces: an agent's; shared, so to be copied before samples are drawn from them.
        metadata: render_modes, and render_fps: decisions a second.
        observations: float32 [agents, features]; agents are numbered by engagement, then seat.
        rewards: float32 [agents].
        terminations, truncations: bool [agents].
        actions: int32 or float32 [agents, 3]: room for those of a step.
        final_observations: float32 [agents, features], with `auto_reset`: what agents see at the
            end of the engagements that ended in the last step; the other rows have no meaning.

    Raises:
        ValueError: an argument of the wrong name, type or range.
        TypeError: an opponent that is none.
        UsageError: pygame is not installed, or there is no display for "human".
    """

    def __init__(
        self,
        num_envs: int,
        opponent: "Opponent",
        seat: str,
        observation: str,
        action_mode: str,
        render_mode: str | None,
        auto_reset: bool,
        isa: str,
        threads: int,
        parameters: Mapping[str, float],
        wingmen: "Opponent | None" = None,
    ) -> None:
        self.num_envs = checked_num_envs(num_envs)
        self.seat = SEATS.index(checked_choice("seat", seat))
        self.render_mode = checked_render_mode(render_mode)
        observation = observed(observation, parameters)
        sizes = sizes_of(parameters)
        self.spaces = spaces_of(observation, checked_choice("action_mode", action_mode), *sizes)
        decision = parameters["physics_dt"] * parameters["substeps"]
        self.metadata = {"render_modes": list(RENDER_MODES), "render_fps": 1 / decision}
        self._auto_reset = auto_reset
        threads = checked_threads(threads)
        self._prefixes, self._opposition = () if is_team(parameters) else EQUALS, None
        features = len(features_of(observation, *sizes))
        self._wingmen = None  # of the agent's side
        if opponent is not NOBODY:
            self._prefixes = () if is_team(parameters) else BY_SEAT[self.seat]
            self._opposition = find_crew(opponent, observation, features)
        if wingmen is not None and sizes[self.seat] > 1:
            self._wingmen = find_crew(wingmen, observation, features, argument="wingmen")
        self._core = self._make_core(parameters, auto_reset, isa, observation, threads)
        self._group = self._make_group(action_mode, threads)
        self._make_buffers(action_mode)
        self._seed: int | None = None
        self._engagements = np.arange(self.num_envs)  # which of the seed's is flown in each place
        self._first_episode = 0  # of engagement 0, since the last reset
        self._open = False
        self._view = make_env_view(self._group, 0, render_mode)

    def _make_core(
        self,
        parameters: Mapping[str, float],
        auto_reset: bool,
        isa: str,
        observation: str,
        threads: int,
    ) -> _core.Core:
        agent = seat_weights({"agent": 1.0})
        other = seat_weights(self._opposition.shares) if self._opposition else agent
        sides = (agent, other) if self.seat == 0 else (other, agent)
        sizes = sizes_of(parameters)
        weights = [side for side, size in zip(sides, sizes, strict=True) for _ in range(size)]
        if self._wingmen:
            first, count = self.seat * sizes[0], sizes[self.seat] - 1
            weights[first + 1 : first + 1 + count] = [seat_weights(self._wingmen.shares)] * count
        envelope = game_envelope(parameters)
        return _core.Core(
            parameters, self.num_envs, 0, weights, auto_reset, isa, envelope, observation, threads
        )

    def _make_group(self, action_mode: str, threads: int) -> Group:
        if self._opposition is None:
            return SelfGroup(self._core, action_mode, alone=True)
        enemies, wingmen = (
            partial(self._make_crew, who, side, threads=threads, action_mode=action_mode)
            if who and who.outsiders
            else None
            for who, side in ((self._opposition, 1 - self.seat), (self._wingmen, self.seat))
        )
        if not (enemies or wingmen):
            return Group(self._core, self.seat, action_mode)
        return FlownGroup(self._core, self.seat, action_mode, enemies, 0, wingmen)

    def _make_crew(
        self, who: "Mixed", side: int, _: int, size: int, threads: int, action_mode: str
    ) -> "Crew":
        """A crew whose draws are those of the first engagement's episode, whenever it is flown."""
        keys = (int(self._engagements[0]), self._first_episode)
        stream = np.random.SeedSequence((self._seed, side), spawn_key=keys)
        seed = int(stream.generate_state(1, np.uint64)[0])
        return OutsideCrew(who.outsiders, self.num_envs, seed, size, threads, action_mode)

    def _make_buffers(self, action_mode: str) -> None:
        agents, features = self._group.agents, self._core.features
        self.observations = np.zeros((agents, features), np.float32)
        self.rewards = np.zeros(agents, np.float32)
        self.terminations = np.zeros(agents, bool)
        self.truncations = np.zeros(agents, bool)
        self.final_observations = (
            np.zeros((agents, features), np.float32) if self._auto_reset else None
        )
        self.actions = action_buffer((agents, 3), action_mode)
        self._group.bind(
            self.observations,
            self.rewards,
            self.terminations,
            self.truncations,
            self.final_observations,
        )

    def living(self) -> list[bool]:
        """Whether each fighter of engagement 0 is alive."""
        return self._core.read("fighter")["alive"][0].astype(bool).tolist()

    def truth(self, env: int = 0) -> np.ndarray:
        """An engagement as it is, whatever the sides know; see envs/truth.py."""
        return truth(self._core, env)

    @property
    def isa(self) -> str:
        """The instruction set in use."""
        return self._core.isa

    def reset(self, seed: int | None, options: Mapping[str, object] | None) -> None:
        """Start an episode of every engagement; the observations are in their buffer.

        Args:
            seed: starts episode 0 of every engagement of that seed; None: the next episodes of the
                present one, which is drawn at first.
            options: as of `start.checked_options`.

        Raises:
            ValueError: a seed or an option out of range, or an option that does not exist.
            TypeError: options that are no dict.
        """
        options = checked_options(options, self._prefixes, self.num_envs)
        engagements, episodes = self._next(seed, options)
        self._open = False  # should anything go wrong half-way
        self._engagements, self._first_episode = engagements, int(episodes[0])
        self._group.reset(self._seed)
        others = (engagements != np.arange(self.num_envs)) | (episodes != 0)
        for env in np.flatnonzero(others):
            self._core.start(env, engagements[env], episodes[env])
        if not options.keys() <= {"engagement", "episode"}:
            for env in range(self.num_envs):
                place(self._core, env, options, self._prefixes)
        self._group.observe()
        self.rewards[:] = 0
        self.terminations[:] = self.truncations[:] = False
        self._open = True
        if self._view:
            self._view.reset(self._seed, int(engagements[0]))
        self._show()

    def _next(
        self, seed: int | None, options: Mapping[str, np.ndarray]
    ) -> tuple[np.ndarray, np.ndarray]:
        """The engagements and episodes that a reset starts, int [num_envs]; takes the seed."""
        engagements = self._engagements
        episodes = self._core.status()[3] + 1
        if seed is None and self._seed is None:
            seed = int(np.random.SeedSequence().generate_state(1, np.uint64)[0])
        if seed is not None:
            self._seed = checked_seed(seed)
            engagements = np.arange(self.num_envs)
        if seed is not None or "engagement" in options:
            episodes = np.zeros(self.num_envs)
        return (
            options.get("engagement", engagements).astype(int),
            options.get("episode", episodes).astype(int),
        )

    def step(self, actions: np.ndarray) -> np.ndarray:
        """One decision of every engagement; its results are in the buffers.

        Args:
            actions: [agents, 3], whole numbers or, where they are continuous, any.

        Returns:
            Records of the engagements that have ended in it, array of `_core.RECORD`.

        Raises:
            ResetNeeded: before the first reset, or after the end where nothing starts anew.
            ValueError: actions of another shape.
            TypeError: actions of another type.
        """
        if not self._open:
            raise gymnasium.error.ResetNeeded("reset() before step()")
        actions = as_actions(actions, self.actions)
        self._group.step(actions)
        records = self._group.take_records()
        if not self._auto_reset and len(records):
            self._open = False
        if self._view:
            self._view.follow(self._group.first_controls(actions))
        self._show()
        return records

    def infos(self, records: np.ndarray, seat: int | None = None) -> list[dict[str, object]]:
        """What is to be told of each finished engagement: its `figures` by name."""
        infos = [{} for _ in records]
        for name, indices, values in self.figures(records, seat):
            for index, value in zip(indices.tolist(), values.tolist(), strict=True):
                infos[index][name] = value
        return infos

    def figures(
        self, records: np.ndarray, seat: int | None = None
    ) -> Iterator[tuple[str, np.ndarray, np.ndarray]]:
        """What is to be told of finished engagements from a seat, by default the agent's.

        Yields:
            The figures of `records.summary` and, if there is an opponent, `opponent`, its name:
            name, the indices of the records that have such a figure (some want shots), and values.
        """
        seat = self.seat if seat is None else seat
        all_of_them, with_shots = np.arange(len(records)), np.flatnonzero(records["shots"][:, seat])
        for name, values in summary(records, seat).items():
            indices = all_of_them if len(values) == len(records) else with_shots
            yield name, indices, values
        if self._opposition:
            yield "opponent", all_of_them, self._group.opponents_of(records)

    def render(self) -> np.ndarray | None:
        """A picture of engagement 0, uint8 [height, width, 3], with "rgb_array".

        With "human" it is shown by `reset` and `step`.

        Raises:
            ResetNeeded: before the first reset.
        """
        if self._seed is None:
            raise gymnasium.error.ResetNeeded("reset() before render()")
        return self._view.rgb() if self.render_mode == "rgb_array" else None

    def _show(self) -> None:
        if self.render_mode == "human":
            self._view.show()

    def close(self) -> None:
        """Close the window, if there is one."""
        if self._view:
            self._view.close()
