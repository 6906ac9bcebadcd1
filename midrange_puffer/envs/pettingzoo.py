"""MidrangeParallelEnv: all fighters as agents, as a PettingZoo environment."""

import copy
from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from midrange_puffer.envs.arena import NOBODY, Arena
from midrange_puffer.envs.rendering import RENDER_MODES
from midrange_puffer.envs.truth import state_names
from midrange_puffer.game.actions import as_actions
from midrange_puffer.game.parameters import (
    OPTIONS,
    SEATS,
    fighter_names,
    is_team,
    resolve,
    sizes_of,
)
from midrange_puffer.gymnasium_import import gymnasium

# isort: split
from pettingzoo import ParallelEnv


class MidrangeParallelEnv(ParallelEnv):
    """One engagement at a time of mid-range air combat between red_0, … and blue_0, ….

    `red_size` and `blue_size` are how many there are. It is bit for bit that of
    `midrange_puffer.Midrange` with opponent "self", of the same seed, engagement, episode and
    actions. The episodes end at once: terminated when the fight is decided, truncated when the time
    limit was reached with both sides alive. In teams an agent that dies is terminated then, with
    what that decision paid it, and leaves. Spaces, infos and arguments are those of
    `midrange_puffer.gym.MidrangeEnv`, where they apply; the means of the sides' rewards are each
    other's negatives.

    `state()` is the engagement as it is, whatever the agents know of it; `state_names` names its
    numbers.
    """

    metadata: ClassVar[dict[str, Any]] = {
        "name": "midrange_v0",
        "render_modes": list(RENDER_MODES),
        "is_parallelizable": True,
    }

    def __init__(
        self,
        observation: str = OPTIONS["observation"].default,
        action_mode: str = OPTIONS["action_mode"].default,
        render_mode: str | None = None,
        isa: str = "auto",
        **parameters: float,
    ) -> None:
        parameters = resolve(parameters, MidrangeParallelEnv, teams=True)
        self._leave = is_team(parameters)  # those who die
        self._arena = Arena(
            1,
            NOBODY,
            SEATS[0],
            observation,
            action_mode,
            render_mode,
            auto_reset=False,
            isa=isa,
            threads=1,
            parameters=parameters,
        )
        self.metadata = {**self.metadata, **self._arena.metadata}
        self.render_mode = render_mode
        self.possible_agents = list(fighter_names(sizes_of(parameters)))
        teams = self.possible_agents if self._leave else SEATS
        self.state_names = state_names(teams)
        self.agents: list[str] = []
        spaces = self._arena.spaces
        # Copies: a space draws samples of its own.
        self.observation_spaces = {
            agent: copy.deepcopy(spaces.single_observation_space) for agent in self.possible_agents
        }
        self.state_space = gymnasium.spaces.Box(
            -1.0, 1.0, (len(self.state_names),), dtype=np.float32
        )
        self.action_spaces = {
            agent: copy.deepcopy(spaces.single_action_space) for agent in self.possible_agents
        }

    def observation_space(self, agent: str) -> gymnasium.spaces.Space:
        """What this agent sees; always the same object."""
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> gymnasium.spaces.Space:
        """What this agent may do; always the same object."""
        return self.action_spaces[agent]

    def reset(
        self, seed: int | None = None, options: Mapping[str, Any] | None = None
    ) -> tuple[dict[str, np.ndarray], dict[str, dict]]:
        """Start an episode; as `MidrangeEnv.reset`, with "red_…" and "blue_…" options.

        Teams have the options engagement and episode only.
        """
        if isinstance(options, Mapping):
            # PettingZoo's own test gives every environment an option of this name.
            options = {name: value for name, value in options.items() if name != "options"}
        self._arena.reset(seed, options)
        self.agents = list(self.possible_agents)
        self._arena.actions[:] = 0
        return self._of_agents(self._rows()), {agent: {} for agent in self.agents}

    def step(
        self, actions: Mapping[str, np.ndarray]
    ) -> tuple[
        dict[str, np.ndarray], dict[str, float], dict[str, bool], dict[str, bool], dict[str, dict]
    ]:
        """One decision of all agents.

        Args:
            actions: [3] by agent, of its action space.

        Returns:
            By agent: observation float32 [features], reward, terminated, truncated, info.

        Raises:
            ResetNeeded: Before the first reset, or after the end of an episode.
            ValueError: An action missing or of another shape.
            TypeError: An action of another type.
            KeyboardInterrupt: Somebody has closed the window.
        """
        arena = self._arena
        if self.agents and set(actions) != set(self.agents):
            given = ", ".join(map(str, actions)) or "nobody"
            raise ValueError(f"actions of {given}: must be of {', '.join(self.agents)}")
        for agent in self.agents:
            row = arena.actions[self.possible_agents.index(agent)]
            row[:] = as_actions(actions[agent], row, f"{agent}: action")
        records = arena.step(arena.actions)
        terminations = arena.terminations.tolist()
        infos = [{} for _ in self.possible_agents]
        if len(records):
            by_side = [arena.infos(records, side)[0] for side in range(len(SEATS))]
            infos = [dict(by_side[agent.startswith(SEATS[1])]) for agent in self.possible_agents]
        elif self._leave:
            terminations = [not alive for alive in arena.living()]
        results = (
            self._of_agents(self._rows()),
            self._of_agents(arena.rewards.tolist()),
            self._of_agents(terminations),
            self._of_agents(arena.truncations.tolist()),
            self._of_agents(infos),
        )
        ended = results[2]
        self.agents = [] if len(records) else [name for name in self.agents if not ended[name]]
        return results

    def _rows(self) -> list[np.ndarray]:
        return [row.copy() for row in self._arena.observations]

    def _of_agents(self, values: list) -> dict:
        """Of what all fighters have, that of those who are still agents."""
        everybody = dict(zip(self.possible_agents, values, strict=True))
        return {agent: everybody[agent] for agent in self.agents}

    def state(self) -> np.ndarray:
        """The engagement as it is, float32 [len(state_names)]: for critics that see everything."""
        return self._arena.truth()

    def render(self) -> np.ndarray | None:
        """As `MidrangeEnv.render`."""
        return self._arena.render()

    def close(self) -> None:
        """Close the window, if there is one."""
        self._arena.close()


def parallel_env(**kwargs: Any) -> MidrangeParallelEnv:
    """The environment, as PettingZoo's tools make it."""
    return MidrangeParallelEnv(**kwargs)
