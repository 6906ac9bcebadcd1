"""MidrangeEnv: one agent against an opponent, as a Gymnasium environment, `Midrange-v0`.

The environment is registered when this module or `midrange_puffer.gym`, its public name, is
imported.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from midrange_puffer.envs.arena import RENDER_MODES, Arguments, documented
from midrange_puffer.envs.episodes import EpisodeArena
from midrange_puffer.game.actions import as_actions
from midrange_puffer.game.parameters import OPTIONS, checked_seed
from midrange_puffer.gymnasium_import import gymnasium

if TYPE_CHECKING:
    from midrange_puffer.envs.crews import Opponent

ENV_ID = "Midrange-v0"
gymnasium.register(
    ENV_ID,
    entry_point="midrange_puffer.envs.gym:MidrangeEnv",
    vector_entry_point="midrange_puffer.envs.gym_vector:make_vector_env",
)


@documented()
class MidrangeEnv(gymnasium.Env):
    """Mid-range air combat, one engagement at a time: an agent against an opponent.

    An episode equals, bit for bit, the one of `midrange_puffer.Midrange` with the same seed,
    engagement, episode and actions. The docstring of `Midrange` explains rewards and ends.
    `terminated`: the fight is decided. `truncated`: the time limit was reached with both alive.

    Info:
        Empty except at the end of an episode. Then it has score (win 1, draw 0.5, loss 0), win,
        draw, loss, mutual_kill, truncated, shots, hits, shots_against, hits_against,
        episode_length [decisions], episode_return and opponent (the name of the pilot or
        function, the class of the policy, or the file without its folder). If the agent has
        fired it also has hit_rate, launch_range [m] and the shares of its shots by the missile
        envelope: in_nez_share, between_share, wasted_share. With height these shares are missing.
    """

    metadata: dict[str, Any] = {"render_modes": list(RENDER_MODES)}  # noqa: RUF012 - an instance has more

    def __init__(
        self,
        opponent: "Opponent" = OPTIONS["opponent"].default,
        seat: str = OPTIONS["seat"].default,
        observation: str = OPTIONS["observation"].default,
        action_mode: str = OPTIONS["action_mode"].default,
        render_mode: str | None = None,
        isa: str = "auto",
        wingmen: "Opponent | None" = None,
        order_decisions: int = OPTIONS["order_decisions"].default,
        **parameters: float | str,
    ) -> None:
        given = Arguments(
            MidrangeEnv, 1, opponent, seat, observation, action_mode,
            order_decisions, render_mode, isa, 1, parameters,
        )  # fmt: skip
        self._arena = EpisodeArena(given, wingmen, auto_reset=False)
        self.metadata = self._arena.metadata
        self.render_mode = render_mode
        self.observation_space = self._arena.spaces.single_observation_space
        self.action_space = self._arena.spaces.single_action_space

    def reset(
        self, *, seed: int | None = None, options: Mapping[str, Any] | None = None
    ) -> tuple[np.ndarray, dict[str, Any]]:
        """Starts an episode.

        Args:
            seed: 0 <= seed < 2**64; episode 0 of this seed starts. None: the next episode of the
                present seed; at the first reset a seed is drawn.
            options: numbers by name. A quantity without an option is drawn. Teams have only
                "engagement" and "episode". "engagement": number of an engagement of the seed,
                counted from 0: the one that a `Midrange` or `MidrangeVectorEnv` of this seed plays
                in that place. "episode": number of one of its episodes, counted from 0; 0 if only
                "engagement" is given. "range" [m]: distance between the fighters.
                "off_boresight_deg", "enemy_off_boresight_deg": angle from this fighter's nose to
                the other fighter, positive to the left. "speed", "enemy_speed" [m/s]; "ammunition",
                "enemy_ammunition" (missiles).

        Returns:
            Observation float32 [features], and an empty info.

        Raises:
            ValueError: The seed or an option is out of range, or there is no such option.
            TypeError: The options are no dict.
        """
        super().reset(seed=None if seed is None else checked_seed(seed))
        self._arena.reset(seed, options)
        return self._arena.buffers.observations[0].copy(), {}

    def step(self, action: np.ndarray) -> tuple[np.ndarray, float, bool, bool, dict[str, Any]]:
        """Makes one decision.

        Args:
            action: [3], of the action space.

        Returns:
            Observation float32 [features], reward, terminated, truncated, info.

        Raises:
            ResetNeeded: There was no reset yet, or the episode has ended.
            ValueError: The action has another shape, or a level is outside.
            TypeError: The action has another type.
            KeyboardInterrupt: The user has closed the window.
        """
        arena = self._arena
        arena.actions[0] = as_actions(action, arena.actions[0], "action", arena.levels)
        records = arena.step(arena.actions)
        info = arena.infos(records)[0] if len(records) else {}
        buffers = arena.buffers
        return (
            buffers.observations[0].copy(),
            float(buffers.rewards[0]),
            bool(buffers.terminals[0]),
            bool(buffers.truncations[0]),
            info,
        )

    def render(self) -> np.ndarray | None:
        """Returns a picture, uint8 [height, width, 3], with "rgb_array"; None with "human".

        Raises:
            ResetNeeded: There was no reset yet.
        """
        return self._arena.render()

    def close(self) -> None:
        """Closes the window, if there is one."""
        self._arena.close()
