"""Many engagements at once for Gymnasium, by the C core itself."""

from collections.abc import Mapping
from copy import deepcopy
from typing import TYPE_CHECKING

import numpy as np

from midrange_puffer.envs.arena import Arena
from midrange_puffer.envs.gym.vector_base import VectorBase, final_infos, rendered
from midrange_puffer.game.parameters import OPTIONS, WINGMEN, resolve

if TYPE_CHECKING:
    from midrange_puffer.envs.crew import Opponent


class MidrangeVectorEnv(VectorBase):
    """`MidrangeEnv` many times over: an agent in one seat of each of `num_envs` engagements.

    Spaces, rewards, starting state and the end of an episode are those of `MidrangeEnv`, and so is
    every number: engagement k plays the episodes of engagement k of the seed, which `MidrangeEnv`
    plays alone with the options {"engagement": k, "episode": j}. Only policies in the other seat
    draw from one stream of random numbers for all engagements, and so act otherwise alone.

    Autoreset (AutoresetMode.SAME_STEP of Gymnasium 1):
        Where an episode ends the next one starts in the same step, and its first observation is
        returned; the last one is in the infos. Wrappers of Gymnasium 1 that are made for another
        autoreset mode, such as its NormalizeObservation, refuse this one.

    By `gymnasium.make_vec("Midrange-v0", …)` in Gymnasium 0.29:
        vectorization_mode="custom" gives this; by default it makes an AsyncVectorEnv of single
        environments, each in a process.

    Info:
        Empty but after a step in which engagements have ended. Then, in the places of these,
        `final_obs` (the observation at the end) and `final_info` (the info of `MidrangeEnv` at the
        end), with masks `_final_obs` and `_final_info`, as the installed Gymnasium's SyncVectorEnv
        gives them. In Gymnasium 1 `final_info` is a dict of arrays [num_envs] with a mask each; in
        Gymnasium 0.29 it is an array of dicts, and the first is called `final_observation`.

    Args:
        num_envs: engagements.
        opponent: as of `MidrangeEnv`; a function gets the observations of all engagements, float32
            [num_envs, features], which change afterwards, and returns actions [num_envs, 3].
        seat, observation, action_mode, isa, wingmen, **parameters: as of `MidrangeEnv`.
        copy: return arrays of the caller's own. False: `reset` and `step` return the environment's
            buffers, which the next step overwrites.
        render_mode: as of `MidrangeEnv`; engagement 0 is shown.
        threads: that step the engagements, and compute a policy in the other seat; the result does
            not depend on it.

    Raises:
        ValueError: an argument of the wrong name, type or range.
        TypeError: an opponent that is none of these.
        UsageError: a model file that cannot be used; pygame is not installed, or there is no
            display for "human".
    """

    def __init__(
        self,
        num_envs: int = OPTIONS["num_envs"].default,
        opponent: "Opponent" = OPTIONS["opponent"].default,
        seat: str = OPTIONS["seat"].default,
        observation: str = OPTIONS["observation"].default,
        action_mode: str = OPTIONS["action_mode"].default,
        copy: bool = True,
        render_mode: str | None = None,
        isa: str = "auto",
        threads: int = 1,
        wingmen: "Opponent" = WINGMEN,
        **parameters: float,
    ) -> None:
        self._arena = Arena(
            num_envs,
            opponent,
            seat,
            observation,
            action_mode,
            render_mode,
            auto_reset=True,
            isa=isa,
            threads=threads,
            parameters=resolve(parameters, MidrangeVectorEnv, teams=True),
            wingmen=wingmen,
        )
        spaces = deepcopy(self._arena.spaces)  # they carry random generators
        super().__init__(
            self._arena.num_envs, spaces.single_observation_space, spaces.single_action_space
        )
        self.metadata = self.metadata | self._arena.metadata
        self.render_mode = render_mode
        self._copy = copy

    @property
    def isa(self) -> str:
        """The instruction set in use."""
        return self._arena.isa

    def reset(
        self, *, seed: int | None = None, options: Mapping[str, object] | None = None
    ) -> tuple[np.ndarray, dict]:
        """Start an episode of every engagement.

        Args:
            seed: one for all; starts episode 0 of each. None: the next episodes of the present
                seed, which is drawn at first.
            options: as of `MidrangeEnv.reset`, each one for all engagements or [num_envs]; for the
                episodes that start now, not for those that follow by themselves.

        Returns:
            Observations float32 [num_envs, features], and no infos.

        Raises:
            ValueError: a seed or an option out of range, or an option that does not exist.
            TypeError: options that are no dict.
        """
        self._arena.reset(seed, options)
        return self._own(self._arena.observations), {}

    def step(
        self, actions: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, dict]:
        """One decision of every engagement.

        Args:
            actions: [num_envs, 3], whole numbers, or any numbers where they are continuous.

        Returns:
            Observations float32 [num_envs, features], rewards float32, terminations and truncations
            bool [num_envs], and infos.

        Raises:
            ResetNeeded: there was no reset yet.
            ValueError: actions of another shape.
            TypeError: actions of another type.
        """
        arena = self._arena
        records = arena.step(actions)
        infos = final_infos(arena, records) if len(records) else {}
        results = (arena.observations, arena.rewards, arena.terminations, arena.truncations)
        return (*map(self._own, results), infos)

    def _own(self, results: np.ndarray) -> np.ndarray:
        return results.copy() if self._copy else results

    def render(self) -> np.ndarray | tuple[np.ndarray, ...] | None:
        """A picture of engagement 0, uint8 [height, width, 3], with "rgb_array".

        With "human" there is none: `reset` and `step` show engagement 0 in a window.

        Returns:
            The picture, in Gymnasium 1 in a tuple.

        Raises:
            ResetNeeded: there was no reset yet.
        """
        picture = self._arena.render()
        return None if picture is None else rendered(picture)

    def close_extras(self, **kwargs: object) -> None:
        """Close the window, if there is one; `close` calls this."""
        self._arena.close()


def make_vector_env(
    num_envs: int, max_episode_steps: int | None = None, **kwargs: object
) -> MidrangeVectorEnv:
    """What `gymnasium.make_vec` calls; in Gymnasium 0.29 it gives a max_episode_steps always.

    Raises:
        ValueError: As `MidrangeVectorEnv`, or max_episode_steps is given.
    """
    if max_episode_steps is not None:
        raise ValueError(
            f"max_episode_steps = {max_episode_steps}: must be None; time_limit [s] ends an episode"
        )
    return MidrangeVectorEnv(num_envs, **kwargs)
