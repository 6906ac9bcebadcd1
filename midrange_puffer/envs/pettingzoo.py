"""MidrangeParallelEnv: both seats as agents, as a PettingZoo environment."""

import copy
from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from midrange_puffer.envs.arena import NOBODY, Arena
from midrange_puffer.envs.rendering import RENDER_MODES
from midrange_puffer.envs.truth import STATE
from midrange_puffer.game.actions import as_actions
from midrange_puffer.game.parameters import OPTIONS, SEATS, resolve
from midrange_puffer.gymnasium_import import gymnasium

# isort: split
from pettingzoo import ParallelEnv

AGENTS = tuple(f"{seat}_0" for seat in SEATS)


class MidrangeParallelEnv(ParallelEnv):
    """One engagement at a time of mid-range air combat between agents red_0 and blue_0.

    It is bit for bit that of `midrange_puffer.Midrange` with opponent "self", of the same seed,
    engagement, episode and actions. Both agents' episodes end at once: terminated when the fight is
    decided, truncated when the time limit was reached with both alive. Spaces, infos and arguments
    are those of `midrange_puffer.gym.MidrangeEnv`, where they apply; rewards are zero-sum.

    `state()` is the engagement as it is, whatever the agents know of it; `STATE` names its numbers.
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
            parameters=resolve(parameters, MidrangeParallelEnv),
        )
        self.metadata = {**self.metadata, **self._arena.metadata}
        self.render_mode = render_mode
        self.possible_agents = list(AGENTS)
        self.agents: list[str] = []
        spaces = self._arena.spaces
        # Copies: a space draws samples of its own.
        self.observation_spaces = {
            agent: copy.deepcopy(spaces.single_observation_space) for agent in AGENTS
        }
        self.state_space = gymnasium.spaces.Box(-1.0, 1.0, (len(STATE),), dtype=np.float32)
        self.action_spaces = {agent: copy.deepcopy(spaces.single_action_space) for agent in AGENTS}

    def observation_space(self, agent: str) -> gymnasium.spaces.Space:
        """What this agent sees; always the same object."""
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> gymnasium.spaces.Space:
        """What this agent may do; always the same object."""
        return self.action_spaces[agent]

    def reset(
        self, seed: int | None = None, options: Mapping[str, Any] | None = None
    ) -> tuple[dict[str, np.ndarray], dict[str, dict]]:
        """Start an episode; as `MidrangeEnv.reset`, with "red_…" and "blue_…" options."""
        if isinstance(options, Mapping):
            # PettingZoo's own test gives every environment an option of this name.
            options = {name: value for name, value in options.items() if name != "options"}
        self._arena.reset(seed, options)
        self.agents = list(AGENTS)
        return self._observations(), {agent: {} for agent in AGENTS}

    def step(
        self, actions: Mapping[str, np.ndarray]
    ) -> tuple[
        dict[str, np.ndarray], dict[str, float], dict[str, bool], dict[str, bool], dict[str, dict]
    ]:
        """One decision of both agents.

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
        if self.agents and set(actions) != set(AGENTS):
            given = ", ".join(map(str, actions)) or "nobody"
            raise ValueError(f"actions of {given}: must be of {', '.join(AGENTS)}")
        for agent in self.agents:
            row = arena.actions[AGENTS.index(agent)]
            row[:] = as_actions(actions[agent], row, f"{agent}: action")
        records = arena.step(arena.actions)
        infos = [{}, {}]
        if len(records):
            self.agents = []
            infos = [arena.infos(records, seat)[0] for seat in range(len(AGENTS))]
        return (
            self._observations(),
            _by_agent(arena.rewards.tolist()),
            _by_agent(arena.terminations.tolist()),
            _by_agent(arena.truncations.tolist()),
            _by_agent(infos),
        )

    def _observations(self) -> dict[str, np.ndarray]:
        return _by_agent([row.copy() for row in self._arena.observations])

    def state(self) -> np.ndarray:
        """The engagement as it is, float32 [len(STATE)]: for critics that see everything."""
        return self._arena.truth()

    def render(self) -> np.ndarray | None:
        """As `MidrangeEnv.render`."""
        return self._arena.render()

    def close(self) -> None:
        """Close the window, if there is one."""
        self._arena.close()


def _by_agent(values: list) -> dict:
    return dict(zip(AGENTS, values, strict=True))


def parallel_env(**kwargs: Any) -> MidrangeParallelEnv:
    """The environment, as PettingZoo's tools make it."""
    return MidrangeParallelEnv(**kwargs)
