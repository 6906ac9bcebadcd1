"""Many engagements at once for Stable-Baselines3, by the C core itself."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from midrange_puffer.envs.arena import documented
from midrange_puffer.envs.episodes import EpisodeArena
from midrange_puffer.game.parameters import OPTIONS, WINGMEN
from midrange_puffer.gymnasium_import import gymnasium

# isort: split
from stable_baselines3.common.vec_env import VecEnv

if TYPE_CHECKING:
    from midrange_puffer.envs.crews import Opponent

Indices = int | Iterable[int] | None  # of engagements; None: all


@documented()
class MidrangeVecEnv(VecEnv):
    """`MidrangeVectorEnv` for Stable-Baselines3; give it to `PPO`, `SAC` and the rest.

    It gives the same as SB3's `DummyVecEnv` of `num_envs` times `MidrangeEnv`, bit for bit, without
    a Python call for each: engagement k plays the episodes of engagement k of the seed. (Policies
    on the other side draw from one stream for all engagements.) Where an episode ends the next one
    starts in the same step.

    Infos:
        "TimeLimit.truncated" always. At the end of an episode also `terminal_observation`, the info
        of `MidrangeEnv`, and `is_success`, True if it was won: SB3 prints its mean over the last
        100 episodes, as rollout/success_rate.

    Attributes of an engagement, for `get_attr`, are those of this class: `observation_space`,
    `action_space`, `render_mode`, `metadata`, and those that `set_attr` has added.
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
        wingmen: "Opponent" = WINGMEN,
        **parameters: float | str,
    ) -> None:
        self._arena = EpisodeArena(
            MidrangeVecEnv, num_envs, opponent, seat, observation, action_mode, render_mode, isa,
            threads, parameters, wingmen,
        )  # fmt: skip
        self._added: list[dict[str, object]] = [{} for _ in range(self._arena.num_envs)]
        self.render_mode = render_mode  # the constructor of `VecEnv` asks for it by `get_attr`
        spaces = self._arena.spaces
        super().__init__(
            self._arena.num_envs, spaces.single_observation_space, spaces.single_action_space
        )
        self.metadata = self._arena.metadata

    def seed(self, seed: int | None = None) -> Sequence[int | None]:
        """Sets the seed of the next `reset`; None draws one.

        Returns:
            The seed, once for each engagement: all are of one seed.
        """
        first, *_ = super().seed(seed)
        self._seeds = [first] * self.num_envs
        return self._seeds

    def reset(self) -> np.ndarray:
        """Starts an episode of every engagement: after `seed` the first, otherwise the next.

        The options given to `set_options`, once for all or as a list [num_envs], hold for these
        episodes alone; they are those of `MidrangeEnv.reset`.

        Returns:
            Observations float32 [num_envs, features].

        Raises:
            ValueError: a seed or an option out of range, or an option that does not exist; or not
                every engagement is given the same options.
        """
        self._arena.reset(self._seeds[0], self._stacked_options())
        self._reset_seeds()
        self._reset_options()
        return self._arena.observations.copy()

    def _stacked_options(self) -> dict[str, list]:
        """Returns the options of all engagements by name."""
        first, *others = self._options
        for other in others:
            if other.keys() != first.keys():
                raise ValueError(
                    f"options of {', '.join(first) or 'nothing'} for one engagement and of "
                    f"{', '.join(other) or 'nothing'} for another: all must be given the same"
                )
        return {name: [options[name] for options in self._options] for name in first}

    def step_async(self, actions: np.ndarray) -> None:
        """Takes the actions [num_envs, 3] of the step that `step_wait` makes."""
        self._actions = actions

    def step_wait(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, list[dict[str, Any]]]:
        """Makes one decision of every engagement.

        Returns:
            Observations float32 [num_envs, features], rewards float32 and ends bool [num_envs], and
            an info of each engagement.

        Raises:
            ResetNeeded: there was no reset yet.
            ValueError: actions of another shape.
            TypeError: actions of another type.
        """
        arena = self._arena
        records = arena.step(self._actions)
        final_observations = arena.final_observations
        assert final_observations is not None  # as the arena resets by itself
        infos: list[dict[str, Any]] = [
            {"TimeLimit.truncated": truncated} for truncated in arena.truncations.tolist()
        ]
        for env, info in zip(records["env"].tolist(), arena.infos(records), strict=True):
            observation = final_observations[env].copy()
            infos[env] |= info | {
                "terminal_observation": observation,
                "is_success": bool(info["win"]),
            }
        ends = arena.terminations | arena.truncations
        return arena.observations.copy(), arena.rewards.copy(), ends, infos

    def get_images(self) -> list[np.ndarray | None]:
        """Returns a picture of engagement 0, uint8 [height, width, 3], in a list."""
        return [self._arena.render()]

    def close(self) -> None:
        """Closes the window, if there is one."""
        self._arena.close()

    def get_attr(self, attr_name: str, indices: Indices = None) -> list[Any]:
        """Returns an attribute of each of these engagements.

        Raises:
            AttributeError: they have none of this name, or it is private, as with Gymnasium's
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
            AttributeError: the environment itself has it: its own do not change.
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
        """Returns the results of a method: of `render` the picture of engagement 0, others None.

        Raises:
            AttributeError: any other: the engagements are stepped and reset together.
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
        """Returns False for each: a wrapper such as `VecMonitor` is one of all engagements."""
        return [False for _ in self._get_indices(indices)]
