"""MidrangeVecEnv: many engagements at once for Stable-Baselines3, stepped by the C core."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from midrange_puffer.envs.arena import Arguments, documented
from midrange_puffer.envs.episodes import EpisodeArena
from midrange_puffer.game.parameters import OPTIONS
from midrange_puffer.gymnasium_import import gymnasium

# isort: split
from stable_baselines3.common.vec_env import VecEnv

if TYPE_CHECKING:
    from midrange_puffer.envs.crews import Opponent

Indices = int | Iterable[int] | None  # indices of engagements; None: all


@documented()
class MidrangeVecEnv(VecEnv):
    """`MidrangeVectorEnv` for `PPO`, `SAC` and the other algorithms of Stable-Baselines3.

    Its results equal, bit for bit, those of SB3's `DummyVecEnv` with `num_envs` `MidrangeEnv`s,
    without a Python call for each engagement. Engagement k plays the episodes of engagement k of
    the seed. There is one exception: opponents that are policies draw their actions from one stream
    of random numbers for all engagements. In the step in which an episode ends the next one starts.

    Infos:
        "TimeLimit.truncated" in every step. At the end of an episode also `terminal_observation`,
        the info of `MidrangeEnv`, and `is_success`, True for a win. SB3 prints the mean of
        `is_success` over the last 100 episodes as rollout/success_rate.

    `get_attr` finds these attributes of an engagement: `observation_space`, `action_space`,
    `render_mode`, `metadata`, and those that `set_attr` has added.
    """

    def __init__(
        self,
        num_envs: int = OPTIONS["num_envs"].default,
        opponent: "Opponent" = OPTIONS["opponent"].default,
        seat: str = OPTIONS["seat"].default,
        observation: str = OPTIONS["observation"].default,
        action_mode: str = OPTIONS["action_mode"].default,
        render_mode: str | None = None,
        isa: str = "auto",
        threads: int = 1,
        wingmen: "Opponent | None" = None,
        order_decisions: int = OPTIONS["order_decisions"].default,
        **parameters: float | str,
    ) -> None:
        given = Arguments(
            MidrangeVecEnv, num_envs, opponent, seat, observation, action_mode,
            order_decisions, render_mode, isa,
            threads, parameters,
        )  # fmt: skip
        self._arena = EpisodeArena(given, wingmen)
        self._added: list[dict[str, object]] = [{} for _ in range(self._arena.num_envs)]
        self.render_mode = render_mode  # `VecEnv.__init__` reads it by `get_attr`
        spaces = self._arena.spaces
        super().__init__(
            self._arena.num_envs, spaces.single_observation_space, spaces.single_action_space
        )
        self.metadata = self._arena.metadata

    def seed(self, seed: int | None = None) -> Sequence[int | None]:
        """Sets the seed for the next `reset`; None draws one.

        Returns:
            The seed, repeated for each engagement.
        """
        first, *_ = super().seed(seed)
        self._seeds = [first] * self.num_envs
        return self._seeds

    def reset(self) -> np.ndarray:
        """Starts an episode of every engagement: after `seed` the first one, otherwise the next.

        The options given to `set_options`, one dict for all engagements or a list [num_envs], hold
        for these episodes only. They are the options of `MidrangeEnv.reset`.

        Returns:
            Observations float32 [num_envs, features].

        Raises:
            ValueError: The seed or an option is out of range, there is no such option, or some
                engagements have options that others lack.
        """
        self._arena.reset(self._seeds[0], self._stacked_options())
        self._reset_seeds()
        self._reset_options()
        return self._arena.buffers.observations.copy()

    def _stacked_options(self) -> dict[str, list]:
        """Returns the options by name, each as a list over the engagements."""
        first, *others = self._options
        for other in others:
            if other.keys() != first.keys():
                raise ValueError(
                    f"options of {', '.join(first) or 'nothing'} for one engagement and of "
                    f"{', '.join(other) or 'nothing'} for another: all must be given the same"
                )
        return {name: [options[name] for options in self._options] for name in first}

    def step_async(self, actions: np.ndarray) -> None:
        """Stores the actions [num_envs, controls] of the step that `step_wait` makes."""
        self._actions = actions

    def step_wait(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, list[dict[str, Any]]]:
        """Makes one decision of every engagement.

        Returns:
            Observations float32 [num_envs, features], rewards float32 [num_envs], ends of episodes
            bool [num_envs], and an info for each engagement.

        Raises:
            ResetNeeded: There was no reset yet.
            ValueError: The actions have another shape, or a level is outside.
            TypeError: The actions have another type.
        """
        arena, buffers = self._arena, self._arena.buffers
        records = arena.step(self._actions)
        assert buffers.final_observations is not None  # because the arena resets by itself
        infos: list[dict[str, Any]] = [
            {"TimeLimit.truncated": truncated} for truncated in buffers.truncations.tolist()
        ]
        for env, info in zip(records["env"].tolist(), arena.infos(records), strict=True):
            infos[env] |= info | {
                "terminal_observation": buffers.final_observations[env].copy(),
                "is_success": bool(info["win"]),
            }
        ends = buffers.terminals | buffers.truncations
        return buffers.observations.copy(), buffers.rewards.copy(), ends, infos

    def get_images(self) -> list[np.ndarray | None]:
        """Returns a list with a picture of engagement 0, uint8 [height, width, 3]."""
        return [self._arena.render()]

    def close(self) -> None:
        """Closes the window, if there is one."""
        self._arena.close()

    def get_attr(self, attr_name: str, indices: Indices = None) -> list[Any]:
        """Returns an attribute of each of these engagements.

        Raises:
            AttributeError: There is no such attribute; or it is private, as in Gymnasium's
                wrappers.
        """
        if attr_name.startswith("_"):
            raise AttributeError(f"{attr_name}: a private attribute, which is not given")
        return [
            self._added[index][attr_name]
            if attr_name in self._added[index]
            else getattr(self, attr_name)
            for index in self._get_indices(indices)
        ]

    def set_attr(self, attr_name: str, value: object, indices: Indices = None) -> None:
        """Adds an attribute to these engagements, for `get_attr`.

        Raises:
            AttributeError: It is an attribute of the environment itself, which cannot be changed.
        """
        if hasattr(self, attr_name):
            raise AttributeError(
                f"{attr_name}: cannot be set; make a MidrangeVecEnv with other arguments"
            )
        for index in self._get_indices(indices):
            self._added[index][attr_name] = value

    def env_method(
        self, method_name: str, *method_args: object, indices: Indices = None, **kwargs: object
    ) -> list[Any]:
        """Returns the results of `render`: a picture for engagement 0, None for all others.

        Raises:
            AttributeError: The method is not `render`; engagements are stepped and reset together.
        """
        if method_name != "render":
            raise AttributeError(
                f"{method_name}: an engagement has no such method of its own, only render"
            )
        picture = self._arena.render(*method_args, **kwargs)
        return [None if index else picture for index in self._get_indices(indices)]

    def env_is_wrapped(
        self, wrapper_class: type[gymnasium.Wrapper], indices: Indices = None
    ) -> list[bool]:
        """Returns False for each engagement: a wrapper such as `VecMonitor` wraps all at once."""
        return [False for _ in self._get_indices(indices)]
