"""MidrangeParallelEnv: all fighters as agents, as a PettingZoo environment."""

import copy
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from midrange_puffer import _core
from midrange_puffer.envs.arena import RENDER_MODES, Arguments, documented
from midrange_puffer.envs.episodes import NO_OPPONENT, EpisodeArena
from midrange_puffer.game.actions import as_actions
from midrange_puffer.game.parameters import (
    OPTIONS,
    SEATS,
    fighter_names,
    has_height,
    is_team,
    sizes_of,
)
from midrange_puffer.game.settable import MAX_AMMUNITION
from midrange_puffer.gymnasium_import import gymnasium

# isort: split
from pettingzoo import ParallelEnv

# Scales of a state's numbers: a number is divided by its scale, then clipped to [-1, 1].
PLACE = 200_000.0  # m, from the middle of the plane
SPEED = 2_000.0  # m/s
AGE = 200.0  # s
ALTITUDE = 20_000.0  # m
_BODY = {"x": PLACE, "y": PLACE, "c": 1.0, "s": 1.0, "v": SPEED, "rudder": 1.0}
_FIGHTER = {"alive": 1.0} | _BODY | {"throttle": 1.0, "ammunition": float(MAX_AMMUNITION)}
_MISSILE = {"active": 1.0, "owner": 1.0} | _BODY | {"age": AGE}
_HIGH_BODY = {"z": ALTITUDE, "u": 1.0}  # after the others, in games with height
_BODY_NAMES = {"c": "heading_cos", "s": "heading_sin", "v": "speed"}
# With height the horizontal parts of the direction are not those of a heading.
_HIGH_NAMES = {"c": "direction_x", "s": "direction_y", "u": "direction_z", "v": "speed"}


def _scales(high: bool) -> tuple[dict[str, float], dict[str, float]]:
    """Returns the scales of a fighter's and of a missile's numbers in a state."""
    if high:
        return _FIGHTER | _HIGH_BODY | {"climb": 1.0}, _MISSILE | _HIGH_BODY
    return _FIGHTER, _MISSILE


def state_names(agents: Sequence[str], high: bool = False) -> tuple[str, ...]:
    """Returns the names of a state's numbers, in an engagement of these agents, red's first."""
    missiles = _core.MISSILES // _core.FIGHTERS * len(agents)
    slots = [f"missile_{slot}" for slot in range(missiles)]
    fighter, missile = _scales(high)
    names = _HIGH_NAMES if high else _BODY_NAMES
    return (
        "time_left",
        *(f"{agent}_{names.get(name, name)}" for agent in agents for name in fighter),
        *(f"{slot}_{names.get(name, name)}" for slot in slots for name in missile),
    )


STATE = state_names(SEATS)


def state_of(core: _core.Core) -> np.ndarray:
    """Returns the true state of engagement 0, float32 in [-1, 1]; `state_names` names its numbers.

    It consists of the share of the time limit that is left, all fighters, and all slots of
    missiles; a slot without a missile in the air has zeros. A missile's owner is given as 0 for the
    first fighter to 1 for the last one: red and blue in one against one.
    """
    dt, limit = core.parameters["physics_dt"], core.parameters["time_limit"]
    fighters, missiles = core.read("fighter"), core.read("missile")
    time = core.read("engagement")["time"][0] * dt
    of_fighter, of_missile = _scales(has_height(core.parameters))
    columns = [fighters[name][0] / scale for name, scale in of_fighter.items()]
    ages = missiles["age"] * dt
    owners = missiles["owner"] / (core.fighters - 1)
    missiles |= {"age": ages, "owner": owners}
    slots = [missiles[name][0] / scale for name, scale in of_missile.items()]
    slots = np.stack(slots, axis=1) * missiles["active"][0][:, None]
    left = 1 - time.ravel() / limit
    state = np.concatenate([left, np.stack(columns, axis=1).ravel(), slots.ravel()])
    return state.clip(-1, 1).astype(np.float32)


@documented()
class MidrangeParallelEnv(ParallelEnv):
    """Mid-range air combat, one engagement at a time, between agents red_0, … and blue_0, ….

    `red_size` and `blue_size` are their numbers. An episode equals, bit for bit, the one of
    `midrange_puffer.Midrange` with opponent "self" and the same seed, engagement, episode and
    actions. All episodes end together: terminated when the fight is decided, truncated when the
    time limit is reached with both sides alive. In teams an agent that dies is terminated at once,
    receives the reward of that decision, and leaves. The mean reward of red is minus the mean
    reward of blue. `state()` returns the true state, also in games with sensors.

    Info:
        Empty except at the end of an episode. Then it is the info of
        `midrange_puffer.gym.MidrangeEnv` without `opponent`, for the agent's side.
    """

    metadata: dict[str, Any] = {  # noqa: RUF012 - an instance has more
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
        order_decisions: int = OPTIONS["order_decisions"].default,
        **parameters: float | str,
    ) -> None:
        given = Arguments(
            MidrangeParallelEnv, 1, NO_OPPONENT, SEATS[0], observation, action_mode,
            order_decisions, render_mode,
            isa, 1, parameters,
        )  # fmt: skip
        self._arena = arena = EpisodeArena(given, auto_reset=False)
        self._in_team = is_team(arena.parameters)
        self.metadata = {**self.metadata, **arena.metadata}
        self.render_mode = render_mode
        self.possible_agents = list(fighter_names(sizes_of(arena.parameters)))
        self.agents: list[str] = []
        named = self.possible_agents if self._in_team else SEATS
        self.state_names = state_names(named, has_height(arena.parameters))
        self.state_space = gymnasium.spaces.Box(
            -1.0, 1.0, (len(self.state_names),), dtype=np.float32
        )
        # Copies, because each agent's space has its own random numbers.
        spaces = {agent: copy.deepcopy(arena.spaces) for agent in self.possible_agents}
        self.observation_spaces = {
            agent: both.single_observation_space for agent, both in spaces.items()
        }
        self.action_spaces = {agent: both.single_action_space for agent, both in spaces.items()}

    def observation_space(self, agent: str) -> gymnasium.spaces.Space:
        """Returns the agent's observation space; always the same object."""
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> gymnasium.spaces.Space:
        """Returns the agent's action space; always the same object."""
        return self.action_spaces[agent]

    def reset(
        self, seed: int | None = None, options: Mapping[str, Any] | None = None
    ) -> tuple[dict[str, np.ndarray], dict[str, dict]]:
        """Starts an episode.

        Args:
            seed: 0 <= seed < 2**64; episode 0 of this seed starts. None: the next episode of the
                present seed; at the first reset a seed is drawn.
            options: "engagement", "episode", "range" as in `MidrangeEnv.reset`; for red
                "red_off_boresight_deg", "red_speed", "red_ammunition"; for blue "blue_…". Teams
                have only "engagement" and "episode".

        Returns:
            By agent: observation float32 [features], and an empty info.

        Raises:
            ValueError: The seed or an option is out of range, or there is no such option.
            TypeError: The options are no dict.
        """
        if isinstance(options, Mapping):
            # PettingZoo's API test passes an option of this name to every environment.
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
        """Makes one decision of all agents.

        Args:
            actions: by agent [3], of its action space.

        Returns:
            By agent: observation float32 [features], reward, terminated, truncated, info.

        Raises:
            ResetNeeded: There was no reset yet, or the episode has ended.
            ValueError: An action is missing, has another shape, or has a level outside.
            TypeError: An action has another type.
            KeyboardInterrupt: The user has closed the window.
        """
        arena = self._arena
        if self.agents and set(actions) != set(self.agents):
            names = ", ".join(map(str, actions)) or "no agent"
            raise ValueError(f"actions of {names}: must be of {', '.join(self.agents)}")
        for agent in self.agents:
            row = arena.actions[self.possible_agents.index(agent)]
            row[:] = as_actions(actions[agent], row, f"{agent}: action", arena.levels)
        records = arena.step(arena.actions)
        terminations = arena.buffers.terminals.tolist()
        infos = [{} for _ in self.possible_agents]
        if len(records):
            by_side = [arena.infos(records, side)[0] for side in range(len(SEATS))]
            infos = [dict(by_side[agent.startswith(SEATS[1])]) for agent in self.possible_agents]
        elif self._in_team:
            terminations = [not alive for alive in arena.core.read("fighter")["alive"][0]]
        results = (
            self._of_agents(self._rows()),
            self._of_agents(arena.buffers.rewards.tolist()),
            self._of_agents(terminations),
            self._of_agents(arena.buffers.truncations.tolist()),
            self._of_agents(infos),
        )
        ended = results[2]
        self.agents = [] if len(records) else [name for name in self.agents if not ended[name]]
        return results

    def _rows(self) -> list[np.ndarray]:
        return [row.copy() for row in self._arena.buffers.observations]

    def _of_agents(self, values: list) -> dict:
        """Returns by agent the values of agents that have not left, from values of all fighters."""
        by_name = dict(zip(self.possible_agents, values, strict=True))
        return {agent: by_name[agent] for agent in self.agents}

    def state(self) -> np.ndarray:
        """Returns the true state, float32 [len(state_names)], for critics and logs."""
        return state_of(self._arena.core)

    def render(self) -> np.ndarray | None:
        """Returns a picture, uint8 [height, width, 3], with "rgb_array"; None with "human"."""
        return self._arena.render()

    def close(self) -> None:
        """Closes the window, if there is one."""
        self._arena.close()


def parallel_env(**kwargs: Any) -> MidrangeParallelEnv:
    """Makes the environment; PettingZoo's tools expect a function of this name."""
    return MidrangeParallelEnv(**kwargs)
