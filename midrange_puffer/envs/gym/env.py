"""MidrangeEnv: one agent against an opponent, as a Gymnasium environment."""

import copy
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from midrange_puffer.envs.arena import Arena
from midrange_puffer.envs.crew import for_one
from midrange_puffer.envs.rendering import RENDER_MODES
from midrange_puffer.game.actions import as_actions
from midrange_puffer.game.parameters import OPTIONS, WINGMEN, checked_seed, resolve
from midrange_puffer.gymnasium_import import gymnasium

if TYPE_CHECKING:
    from midrange_puffer.envs.crew import Opponent


class MidrangeEnv(gymnasium.Env):
    """Mid-range air combat, one engagement at a time: an agent against an opponent.

    An episode is bit for bit that of `midrange_puffer.Midrange` of the same seed, engagement,
    episode and actions; its docstring says of rewards and ends. `terminated`: the fight is decided;
    `truncated`: the time limit was reached with both alive.

    Action space:
        discrete: MultiDiscrete([5, 3, 2]): levels of rudder (right ... left), throttle, fire.
        continuous: Box([-1, 0, 0], [1, 1, 1], (3,), float32): rudder, throttle, fire (above 0.5).
        Anything outside is clipped.

    Observation space:
        Box(-1, 1, (features,), float32), the table `midrange_puffer.FEATURES` or, with
        `observation="stg"`, `STG_FEATURES`.

    Info:
        Empty but at the end of an episode: score (win 1, draw 0.5, loss 0), win, draw, loss,
        mutual_kill, truncated, shots, hits, shots_against, hits_against, episode_length
        [decisions], episode_return, opponent (who flew: a pilot's or function's name, a policy's
        class, a file without its folder); with own shots also hit_rate, launch_range [m], and
        in_nez_share, between_share, wasted_share of them.

    Args:
        opponent: a pilot; a model: "trained" or a file (.pt, .onnx); a function by name
            ("module:name", "file.py:name"): observations float32 [n, features] -> actions [n, 3],
            where whole numbers are levels and others are controls; or a mix of these
            ("shooter:1,fighter.onnx:3": drawn for each episode). Or a policy on the CPU as of
            `checkpoint.load_policy`, or a function that is called with its observation float32
            [features] and returns an action of this environment's action space. Policies draw their
            actions, and begin every episode without memory.
        seat: the agent's, "red" or "blue".
        observation: "default" or "stg".
        action_mode: "discrete" or "continuous".
        render_mode: "human" shows every step in a window, as long as it lasts; with "rgb_array"
            `render` returns a picture.
        isa: instruction set, "auto" for the best this machine has.
        wingmen: with `red_size` or `blue_size` above 1, who flies the others of the agent's side;
            whatever may be an opponent. The agent is the first of its side; once it is dead it
            observes zeros until the fight is decided.
        **parameters: rows of csrc/params.h.

    Raises:
        ValueError: an argument of the wrong name, type or range.
        TypeError: an opponent that is none of these.
        UsageError: a model or a function that cannot be used; pygame is not installed, or there is
            no display for "human".
    """

    metadata: ClassVar[dict[str, Any]] = {"render_modes": list(RENDER_MODES)}

    def __init__(
        self,
        opponent: "Opponent" = OPTIONS["opponent"].default,
        seat: str = OPTIONS["seat"].default,
        observation: str = OPTIONS["observation"].default,
        action_mode: str = OPTIONS["action_mode"].default,
        render_mode: str | None = None,
        isa: str = "auto",
        wingmen: "Opponent" = WINGMEN,
        **parameters: float,
    ) -> None:
        self._arena = Arena(
            1,
            for_one(opponent, action_mode),
            seat,
            observation,
            action_mode,
            render_mode,
            auto_reset=False,
            isa=isa,
            threads=1,
            parameters=resolve(parameters, MidrangeEnv, teams=True),
            wingmen=for_one(wingmen, action_mode),
        )
        self.metadata = self._arena.metadata
        self.render_mode = render_mode
        # Copies: a space draws samples of its own.
        self.observation_space = copy.deepcopy(self._arena.spaces.single_observation_space)
        self.action_space = copy.deepcopy(self._arena.spaces.single_action_space)

    def reset(
        self, *, seed: int | None = None, options: Mapping[str, Any] | None = None
    ) -> tuple[np.ndarray, dict[str, Any]]:
        """Start an episode.

        Args:
            seed: 0 <= seed < 2**64, starts episode 0 of this seed. None: the next episode of the
                present seed, which is drawn at first.
            options: How to start. "engagement": which engagement of the seed, counted from 0; the
                one that a `Midrange` or `MidrangeVectorEnv` of this seed plays in that place.
                "episode": which of its episodes, counted from 0; 0 if only the engagement is given.
                Where the fighters are: "range" [m]; "off_boresight_deg", "enemy_off_boresight_deg":
                how far to the left (right if negative) of this fighter's nose the other one is;
                "speed", "enemy_speed" [m/s]; "ammunition", "enemy_ammunition". What is not given is
                drawn. Teams have "engagement" and "episode" only.

        Returns:
            Observation float32 [features], and an empty info.

        Raises:
            ValueError: A seed or option out of range, or an option that does not exist.
            TypeError: Options that are no dict.
        """
        super().reset(seed=None if seed is None else checked_seed(seed))
        self._arena.reset(seed, options)
        return self._arena.observations[0].copy(), {}

    def step(self, action: np.ndarray) -> tuple[np.ndarray, float, bool, bool, dict[str, Any]]:
        """One decision.

        Args:
            action: [3], of the action space.

        Returns:
            Observation float32 [features], reward, terminated, truncated, info.

        Raises:
            ResetNeeded: Before the first reset, or after the end of an episode.
            ValueError: An action of another shape.
            TypeError: An action of another type.
            KeyboardInterrupt: Somebody has closed the window.
        """
        arena = self._arena
        records = arena.step(as_actions(action, arena.actions[0], "action")[None])
        info = arena.infos(records)[0] if len(records) else {}
        return (
            arena.observations[0].copy(),
            float(arena.rewards[0]),
            bool(arena.terminations[0]),
            bool(arena.truncations[0]),
            info,
        )

    def render(self) -> np.ndarray | None:
        """A picture, uint8 [height, width, 3], with "rgb_array"; "human" shows without it.

        Raises:
            ResetNeeded: Before the first reset.
        """
        return self._arena.render()

    def close(self) -> None:
        """Close the window, if there is one."""
        self._arena.close()
